"""`fairlead dev --fleet fleet-claims`: jobs wait for a licence that a driver gives to one cluster at a time.

And the example driver of docs/fleet-claims, which serves a class of its own there.
"""

import json
import re
import sys
import unittest
import urllib.request

from harness.controlplane import ROOT
from harness.process import Process, wait_for
from harness.program import fairlead, json_lines
from test_dev import DevTest

NEEDS = ("fairlead",)

FLEET = "/apis/dra.fairlead.io/v1alpha1"
CLAIMS = f"{FLEET}/namespaces/team-ml/fleetresourceclaims"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/team-ml/workloads"
SEATS = "seats.example.com"


class LicenceStoryTest(DevTest):
    def test_a_round(self):
        dev = self.dev("--fleet", "fleet-claims", "--for", "300s")
        for pattern in (r"  admin     writes a Placement of all clusters",
                        r"  user      sim-1: a job that needs the site-licence",
                        r"  driver    gives licence site-licence to east",
                        r"  kueue     job sim-1 runs on east",
                        r"  user      sim-2: another one that needs it, too",
                        r"  admin     for-tonight: books a GPU",
                        r"  kueue     job sim-1 is finished",
                        r"  kueue     job sim-2 runs on east",
                        r"  fleet     east: pods of another team take all of its GPUs",
                        r"  user      sim-3: a third one",
                        r"  fleet     east: is not heard of any more: OCM taints it",
                        r"  ocm       Placement all selects north, west instead of east, north, west",
                        r"  driver    takes licence site-licence back",
                        r"  driver    gives licence site-licence to north",
                        r"  kueue     job sim-3 runs on north",
                        r"  fleet     east: is back",
                        r"  kueue     job sim-3 is finished",
                        r"  admin     site-licence: writes the licence anew"):
            self.wait_for_line(dev, pattern, timeout=120)
        dev.stop(60)
        self.assertNotIn("not possible", dev.text())
        self.assertNotIn("warning", dev.text())
        self.check_log()
        bookings = [event["body"]["status"]["allocation"]["availableOnClusters"] for event in self.intents()
                    if event["name"] == "for-tonight" and event["body"]["status"].get("allocation")]
        self.assertIn(["east"], bookings)

    def intents(self):
        done = fairlead("log", "cat", "--data", self.data)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [event for event in json_lines(done.stdout)
                if event["fact"] == "PatchIntended" and event["kind"] == "FleetResourceClaim"]


class ExampleDriverTest(DevTest):
    def request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, {"Content-Type": "application/json"}, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

    def create(self, path, kind, name, version="dra.fairlead.io/v1alpha1", **fields):
        metadata = {"name": name, **fields.pop("metadata", {})}
        self.request("POST", path, {"apiVersion": version, "kind": kind, "metadata": metadata, **fields})

    def claim(self, name):
        return self.request("GET", f"{CLAIMS}/{name}")

    def start(self):
        dev = self.dev("--fleet", "fleet-claims", "--for", "300s")
        self.url = wait_for("the hub's address", lambda: re.search(r"a hub at (\S+) and", dev.text()), 60)[1]
        self.wait_for_line(dev, r"  ocm       Placement all selects east, north, west")
        driver = Process("driver", [sys.executable, ROOT / "docs/fleet-claims/licence_driver.py", "--server", self.url,
                                    "--driver", SEATS, "--seats", "east=0", "--seats", "west=1", "--interval", "0.2"],
                         self.directory / "driver.txt").start()
        self.addCleanup(driver.kill)
        self.create(f"{FLEET}/fleetresourceclasses", "FleetResourceClass", "seats", driverName=SEATS)
        return dev, driver

    def job(self, name, claim):
        entries = json.dumps([{"name": "seat", "resourceClaimName": claim}])
        template = {"metadata": {"annotations": {"dra.fairlead.io/claims": entries}}, "spec": {
            "restartPolicy": "Never", "containers": [{"name": "main", "image": "sim", "resources": {
                "requests": {"nvidia.com/gpu": "1"}}}]}}
        self.create(WORKLOADS, "Workload", name, "kueue.x-k8s.io/v1beta2",
                    metadata={"annotations": {"fairlead.io/dev-length": "1m"}},
                    spec={"queueName": "training", "podSets": [{"name": "main", "count": 1, "template": template}]})

    def test_a_seat_is_given_for_the_cluster_that_has_one_and_comes_back(self):
        dev, driver = self.start()
        self.create(CLAIMS, "FleetResourceClaim", "one", spec={"resourceClassName": "seats"})
        self.job("uses-one", "one")
        self.wait_for_line(dev, r"  kueue     job uses-one runs on west")
        self.assertEqual(self.claim("one")["status"]["allocation"]["availableOnClusters"], ["west"])
        # The seat is taken: a claim that wants one at once has to wait until the first is deleted.
        self.create(CLAIMS, "FleetResourceClaim", "two", spec={
            "resourceClassName": "seats", "allocationMode": "Immediate"})
        self.wait_for_line(dev, r"  kueue     job uses-one is finished")
        self.assertNotIn("allocation", self.claim("two").get("status", {}))
        self.request("DELETE", f"{CLAIMS}/one")
        wait_for("the seat to go to the next claim", lambda: self.claim("two").get("status", {}).get("allocation"), 60)
        self.assertTrue(driver.running(), driver.tail())
        self.assertNotIn("the hub:", driver.text())
        dev.stop(60)
        self.check_log()


if __name__ == "__main__":
    unittest.main()
