#!/usr/bin/env python3
"""An example driver of fleet claims: a licence server that has so many seats in each cluster.

    kubectl proxy &
    licence_driver.py --server http://127.0.0.1:8001 --seats east=2 --seats west=1

In a pod it needs no --server: it uses the pod's own account, whose rights are in rights.yaml. It serves the classes
whose driverName is --driver. All that it knows is in the claims, so it may be stopped and started at any time:

- a claim takes a seat of the cluster in its status.allocation; `resourceHandle` is what a licence client would need;
- an Immediate claim gets the suitable cluster with most free seats; another one the cluster that Fairlead selected in
  the FleetScheduling of a Workload, after the driver has said there which clusters have no free seat;
- a claim whose deallocation is requested, and that nobody uses, gives its seat back; so does one that is deleted, which
  a finalizer keeps until then.
"""
import argparse
import json
import pathlib
import ssl
import sys
import time
import urllib.error
import urllib.request

API = "/apis/dra.fairlead.io/v1alpha1"
ACCOUNT = pathlib.Path("/var/run/secrets/kubernetes.io/serviceaccount")


class Server:
    """The API server of the hub."""

    def __init__(self, url):
        self.url, self.context, self.headers = url, None, {"Content-Type": "application/merge-patch+json"}
        if url is None:
            self.url = "https://kubernetes.default.svc"
            self.context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))

    def call(self, method, path, body=None):
        headers = dict(self.headers)
        if self.context is not None:  # read each time: the token is renewed
            headers["Authorization"] = "Bearer " + (ACCOUNT / "token").read_text()
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        with urllib.request.urlopen(request, context=self.context, timeout=30) as answer:
            return json.load(answer)

    def items(self, plural):
        return self.call("GET", f"{API}/{plural}")["items"]

    def patch(self, plural, obj, body, part=""):
        """A write from what was read: it fails where the object has changed since, and the next round repeats it."""
        meta = obj["metadata"]
        path = f"{API}/namespaces/{meta['namespace']}/{plural}/{meta['name']}{part}"
        body.setdefault("metadata", {})["resourceVersion"] = meta["resourceVersion"]
        return self.call("PATCH", path, body)


def allocation(claim):
    return claim.get("status", {}).get("allocation")


class Driver:
    def __init__(self, server, name, seats):
        self.server, self.name, self.seats = server, name, seats
        self.finalizer = name + "/seat"

    def round(self):
        classes = {c["metadata"]["name"]: c for c in self.server.items("fleetresourceclasses")
                   if c["driverName"] == self.name}
        claims = {(c["metadata"]["namespace"], c["metadata"]["name"]): c
                  for c in self.server.items("fleetresourceclaims") if c["spec"]["resourceClassName"] in classes}
        self.free = dict(self.seats)
        for claim in claims.values():
            for cluster in (allocation(claim) or {}).get("availableOnClusters", []):
                self.free[cluster] = self.free.get(cluster, 0) - 1
        for claim in claims.values():
            self.tried(self.settle, claim, classes[claim["spec"]["resourceClassName"]])
        for scheduling in self.server.items("fleetschedulings"):
            self.tried(self.answer, scheduling, claims)

    @staticmethod
    def tried(step, obj, *more):
        try:
            step(obj, *more)
        except urllib.error.HTTPError as error:
            if error.code not in (404, 409):  # it is gone, or has changed: the next round sees it
                raise

    def settle(self, claim, of_class):
        """Gives a seat back, or gives one to an Immediate claim."""
        meta, status = claim["metadata"], claim.get("status", {})
        unused = not status.get("reservedFor")
        if allocation(claim) and unused and (status.get("deallocationRequested") or "deletionTimestamp" in meta):
            claim = self.server.patch("fleetresourceclaims", claim, {"status": {"allocation": None}}, "/status")
            print(f"took back {meta['namespace']}/{meta['name']}", flush=True)
        if "deletionTimestamp" in meta:
            kept = [f for f in meta.get("finalizers", []) if f != self.finalizer]
            if not allocation(claim) and kept != meta.get("finalizers", []):
                self.server.patch("fleetresourceclaims", claim, {"metadata": {"finalizers": kept}})
        elif claim["spec"].get("allocationMode") == "Immediate" and not allocation(claim):
            suitable = of_class.get("suitableClusters", self.seats)
            best = max(sorted(suitable), key=lambda c: self.free.get(c, 0), default=None)
            self.give(claim, best)

    def answer(self, scheduling, claims):
        """Says which clusters have no free seat for the claims of a Workload; serves the selected one."""
        meta, spec = scheduling["metadata"], scheduling.get("spec", {})
        workload = self.server.call(
            "GET", f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{meta['namespace']}/workloads/{meta['name']}")
        wanted = {}
        for pods in workload["spec"]["podSets"]:
            notes = pods["template"].get("metadata", {}).get("annotations", {})
            for entry in json.loads(notes.get("dra.fairlead.io/claims", "[]")):
                name = entry.get("resourceClaimName") or f"{meta['name']}-{entry['name']}"
                claim = claims.get((meta["namespace"], name))
                if claim and not allocation(claim) and "deletionTimestamp" not in claim["metadata"]:
                    wanted[entry["name"]] = claim
        if not wanted:
            return
        unsuitable = [c for c in spec.get("potentialClusters", []) if self.free.get(c, 0) <= 0]
        # The entries of other drivers stay: a merge patch replaces the whole list.
        before = scheduling.get("status", {}).get("resourceClaims", [])
        after = [e for e in before if e["name"] not in wanted]
        after += [{"name": name, "unsuitableClusters": unsuitable} for name in sorted(wanted)]
        if sorted(before, key=lambda e: e["name"]) != sorted(after, key=lambda e: e["name"]):
            self.server.patch("fleetschedulings", scheduling, {"status": {"resourceClaims": after}}, "/status")
        for claim in wanted.values():
            self.give(claim, spec.get("selectedCluster"))

    def give(self, claim, cluster):
        meta = claim["metadata"]
        if not cluster or self.free.get(cluster, 0) <= 0:
            return
        if self.finalizer not in meta.get("finalizers", []):
            kept = [*meta.get("finalizers", []), self.finalizer]
            claim = self.server.patch("fleetresourceclaims", claim, {"metadata": {"finalizers": kept}})
        self.server.patch("fleetresourceclaims", claim, {"status": {"driverName": self.name, "allocation": {
            "resourceHandle": f"{self.name}@{cluster}", "availableOnClusters": [cluster], "shareable": False}}},
            "/status")
        self.free[cluster] -= 1
        print(f"gave {meta['namespace']}/{meta['name']} to {cluster}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--server", help="of the hub, such as that of `kubectl proxy`; default: that of the pod")
    parser.add_argument("--driver", default="licences.example.com", help="driverName of the classes that it serves")
    parser.add_argument("--seats", action="append", required=True, metavar="CLUSTER=NUMBER")
    parser.add_argument("--interval", type=float, default=2, help="seconds between two rounds")
    options = parser.parse_args()
    seats = {cluster: int(number) for cluster, number in (s.split("=") for s in options.seats)}
    driver = Driver(Server(options.server), options.driver, seats)
    while True:
        try:
            driver.round()
        except OSError as error:  # also what urllib raises
            print(f"the hub: {error}", file=sys.stderr, flush=True)
        time.sleep(options.interval)


if __name__ == "__main__":
    main()
