#!/usr/bin/env python3
"""From a change on a real API server to our patch acknowledged, against a bare PATCH of the same server.

    patch_latency.py --program FAIRLEAD [--list] [--only NAME] [--tiny] [--repeat N] [--directory DIR]

Prints one JSON line as fairlead-bench does; where there is no control plane the line says so ("skipped").

A hub with every window off follows a ClusterMetrics. A change lowers or raises one allocatable amount, one at a time:
measured is the time from before the change is sent until the answer to the ClusterQueue's apply is in the hub's log. So
it holds two writes of the server (the change, our apply), the delivery of the watch between them and the hub's syncs.
The bound is the time of one apply with a body of the same size to a queue of no claim, over one kept connection.
"""

import argparse
import datetime
import http.client
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

NAME = "patch/change to acknowledged, p99"
CLUSTER = "cluster2"
OURS, BARE = "high-priority-queue", "low-priority-queue"
WARM_UP = 20
PAUSE = 0.02  # seconds between changes: the claim's status is written behind the queue


def p99(values):
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]


def nanoseconds(rfc3339):
    """Of an RFC 3339 time in UTC, to the nanosecond."""
    whole, _, fraction = rfc3339.rstrip("Z").partition(".")
    since = datetime.datetime.fromisoformat(whole + "+00:00").timestamp()
    return int(since) * 10**9 + int(fraction.ljust(9, "0") or 0)


class Bench:
    """A control plane with one API server, and a hub whose one claim follows a ClusterMetrics."""

    def __init__(self, plane):
        from harness import fleet
        from harness.hub import Hub
        self.fleet = fleet
        self.server = plane.add_server("hub")
        self.server.install_crds(only=fleet.CRDS)
        fleet.prepare_hub(self.server)
        self.metrics = f"{fleet.GALAXY}/clustermetrics/{CLUSTER}"
        self.server.create(f"{fleet.GALAXY}/clustermetrics", {
            "apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterMetrics", "metadata": {"name": CLUSTER}})
        self.kept = http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=30, context=self.server.tls)
        self.cpu = 100
        self.change()
        claim = fleet.claim(CLUSTER)
        claim["spec"]["resourceAssignments"] = claim["spec"]["resourceAssignments"][:1]
        self.server.create(fleet.CLAIMS, claim)
        self.hub = Hub(plane, self.server).start()
        self.hub.wait_until("the first quota", lambda: fleet.quota(self.server, OURS, "on-demand", "cpu"))

    def send(self, path, body, content_type):
        """(answer, seconds) of one PATCH over the kept connection."""
        data = json.dumps(body)
        headers = {"Content-Type": content_type, "Accept": "application/json",
                   "Authorization": f"Bearer {self.server.plane.tokens['fairlead']}"}
        begin = time.perf_counter()
        self.kept.request("PATCH", path, body=data, headers=headers)
        answer = self.kept.getresponse()
        text = answer.read()
        took = time.perf_counter() - begin
        assert answer.status == 200, f"{answer.status}: {text[:300]}"
        return json.loads(text), took

    def change(self):
        """Changes the capacity; (time before it in nanoseconds, resourceVersion that it got)."""
        self.cpu = 100 + (self.cpu - 100 + 7) % 50
        node = {"name": "n", "labels": {"pool": "on-demand"}, "taints": [],
                "allocatableResources": {"cpu": str(self.cpu), "memory": "900Gi", "nvidia.com/gpu": "9"}}
        begin = time.time_ns()
        answer, _ = self.send(f"{self.metrics}/status", {"status": {"nodes": [node]}}, "application/merge-patch+json")
        return begin, answer["metadata"]["resourceVersion"]

    def changes(self, count):
        """Milliseconds of `count` changes, each from its sending to the logged answer of our apply."""
        watched = self.watch()
        begun = {}
        for _ in range(count):
            begin, version = self.change()
            begun[version] = begin
            self.until_written(watched)
            time.sleep(PAUSE)
        watched.close()
        time.sleep(0.5)
        return self.acknowledged(begun)

    def watch(self):
        query = f"watch=true&fieldSelector=metadata.name%3D{OURS}&timeoutSeconds=3000"
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.port, timeout=60, context=self.server.tls)
        connection.request("GET", f"{self.fleet.QUEUES}?{query}", headers={
            "Authorization": f"Bearer {self.server.plane.tokens['admin']}"})
        return connection.getresponse()

    def until_written(self, watched):
        while True:
            flavors = json.loads(watched.readline())["object"]["spec"]["resourceGroups"][0]["flavors"]
            if flavors[0]["resources"][0]["nominalQuota"] in (self.cpu, str(self.cpu)):
                return

    def acknowledged(self, begun):
        """The hub's own account: the change's event, the intent behind it, the answer to that."""
        waiting, intents, took = [], {}, []
        for event in self.hub.events():
            if event["fact"] == "ObjectObserved" and event.get("resourceVersion") in begun:
                waiting.append(begun[event["resourceVersion"]])
            elif event["fact"] == "PatchIntended" and event["name"] == OURS and waiting:
                intents[event["seq"]] = waiting.pop()
                assert not waiting, "a change without a write of its own"
            elif event["fact"] == "PatchAccepted" and event["intent"] in intents:
                took.append((nanoseconds(event["logTime"]) - intents.pop(event["intent"])) / 1e6)
        assert len(took) == len(begun), f"{len(begun)} changes, {len(took)} answers"
        return took

    def bare(self, count):
        """Milliseconds of `count` applies of a whole list of groups, as the hub sends it."""
        path = f"{self.fleet.QUEUES}/{BARE}"
        took = []
        for number in range(count):
            queue = self.server.get(path) if number == 0 else queue
            groups = queue["spec"]["resourceGroups"]
            groups[0]["flavors"][0]["resources"][0]["nominalQuota"] = str(100 + number % 50)
            body = {"apiVersion": queue["apiVersion"], "kind": "ClusterQueue", "spec": {"resourceGroups": groups},
                    "metadata": {key: queue["metadata"][key] for key in ("name", "uid", "resourceVersion")}}
            queue, seconds = self.send(f"{path}?fieldManager=fairlead&force=true", body, "application/apply-patch+yaml")
            took.append(seconds * 1e3)
            time.sleep(PAUSE)
        return took


def row(measured, bound):
    ratios = [p99(ours) / p99(theirs) for ours, theirs in zip(measured, bound)]
    ratio = statistics.median(ratios)
    return {"name": NAME, "unit": "ms", "measured": statistics.median(map(p99, measured)),
            "bound": statistics.median(map(p99, bound)),
            "bound_is": "a bare PATCH of the same kind to the same server, p99", "ratio": ratio, "better": "less",
            "limit": 3, "ok": ratio <= 3, "ratios": ratios,
            "measured_medians": [statistics.median(turn) for turn in measured],
            "bound_medians": [statistics.median(turn) for turn in bound]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", choices=(NAME,), default=NAME)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--directory", help="on a disk: the hub's log and etcd's go there, and are removed")
    options = parser.parse_args()
    if options.list:
        print(NAME)
        return 0
    from harness.controlplane import ControlPlane, assets
    if not assets():
        print(json.dumps({"name": NAME, "ok": True, "skipped": "no control plane: run scripts/controlplane"}))
        return 0
    tempfile.tempdir = options.directory and str(pathlib.Path(options.directory).resolve())
    os.environ["FAIRLEAD"] = str(options.program.resolve())
    count = 5 if options.tiny else 300
    measured, bound = [], []
    with ControlPlane() as plane:
        bench = Bench(plane)
        bench.changes(WARM_UP)
        bench.bare(WARM_UP)
        for turn in range(options.repeat):
            order = (bench.bare, bench.changes) if turn % 2 == 0 else (bench.changes, bench.bare)
            for side in order:
                (bound if side == bench.bare else measured).append(side(count))
        bench.hub.stop()
    print(json.dumps(row(measured, bound)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
