"""Workloads that claim devices, between a hub and hollow clusters: of Kueue alone the test plays a part.

    class Placed(DispatchTest):
        def test_a_pod_gets_its_device(self):
            self.clusters["w2"].nodes("a")
            self.clusters["w2"].gpus("a", 1)
            self.template("one", request("gpu"))
            self.started("site", "w1", "w2")       # the Placement and its list
            self.wants("train", template="one")    # a Workload with quota
            self.wait_for_nomination("train", "site-w2")
            pod, = self.dispatch("train")          # Kueue: clusterName, and the Pods of the worker's job
            self.clusters["w2"].node_of(pod)
"""

import json
import re

from . import hollow
from .controlplane import ROOT
from .hollow import HollowCluster, pod_spec
from .multikueue import WINDOWS, WORKLOADS, MultiKueueTest, condition
from .process import wait_for
from .program import fairlead

NAMES = ("w1", "w2")
TEMPLATES = f"{hollow.RESOURCE}/namespaces/team/resourceclaimtemplates"
POD_SET, WORKLOAD = "kueue.x-k8s.io/podset", "kueue.x-k8s.io/workload"
# What was reserved goes only when the member's scheduler has allocated it, or when it is tested that it goes.
SETTINGS = ("multikueue.dispatcher=true", "dra.dispatch=true", "dra.quota=false", "dra.admitTimeout=0s",
            "dra.placeTimeout=0s")


class DispatchTest(MultiKueueTest):
    """Two members with a scheduler each, in `clusters`; their class `gpu` exists, everything else is the test's."""

    @classmethod
    def open_clusters(cls, *settings):
        """For setUpModule."""
        cls.open((*WINDOWS, *SETTINGS, *settings), members=NAMES, member_arguments=hollow.ARGUMENTS)
        cls.server.kubectl("apply", "-f", ROOT / "docs/dispatcher/clear-nominations.yaml")
        cls.clusters = {name: HollowCluster(member, namespace="team") for name, member in cls.members.items()}

    def setUp(self):
        super().setUp()
        for cluster in self.clusters.values():
            cluster.device_class("gpu", extended="example.com/gpu")

    def clear(self):
        super().clear()
        self.server.request("DELETE", TEMPLATES)
        for cluster in self.clusters.values():
            cluster.clear()

    def template(self, name, *requests, constraints=()):
        """On the hub, where Kueue's quota looks at it, and on the members: MultiKueue copies none."""
        self.server.create(TEMPLATES, hollow.claim_template(name, *requests, constraints=constraints))
        for cluster in self.clusters.values():
            cluster.template(name, *requests, constraints=constraints)

    # -- Kueue -----------------------------------------------------------------------------------------------

    def wants(self, name, count=1, **fields):
        """A Workload with quota, of `count` Pods of hollow.pod_spec(), of members as they are."""
        self.wait_for_sight()
        self.workload(name, {"multikueue": "Pending"}, count=count, spec=pod_spec(**fields))

    def dispatch(self, name):
        """The nominated worker admits the Workload and its job makes the Pods; their names."""
        worker, = self.server.get(f"{WORKLOADS}/{name}")["status"]["nominatedClusterNames"]
        # The server takes some seconds until the policy that clears nominations is in force.
        wait_for(f"Kueue to give {name} to {worker}", lambda: self.admitted(name, worker))
        spec = self.server.get(f"{WORKLOADS}/{name}")["spec"]
        return [self.pod_of_worker(worker, name, pod_set, number)
                for pod_set in spec["podSets"] for number in range(pod_set["count"])]

    def admitted(self, name, worker, *conditions):
        self.kueue_says(name, {
            "clusterName": worker, "admissionChecks": self.states({"multikueue": "Ready"}),
            "admission": {"clusterQueue": "queue", "podSetAssignments": [{"name": "main"}]},
            "conditions": [condition("QuotaReserved"), condition("Admitted"), *conditions]})
        return self.server.get(f"{WORKLOADS}/{name}")["status"]["clusterName"] == worker

    def pod_of_worker(self, worker, workload, pod_set, number):
        name = f"{workload}-{pod_set['name']}-{number}"
        self.clusters[worker.rpartition("-")[2]].create_pod(
            name, pod_set["template"]["spec"], {POD_SET: pod_set["name"]}, {WORKLOAD: workload})
        return name

    def end(self, name):
        """The job of a Workload was done."""
        self.admitted(name, self.server.get(f"{WORKLOADS}/{name}")["status"]["clusterName"],
                      condition("Finished", reason="Succeeded"))

    # -- what is to be seen ----------------------------------------------------------------------------------

    def wait_for_sight(self):
        """Until Fairlead has seen what the members have, and which devices are in use."""
        def items(path):
            return [(name, item) for name in self.clusters for item in self.members[name].get(path)["items"]]
        some = next(iter(self.clusters.values()))
        standing = {(name, item["metadata"]["resourceVersion"])
                    for path in (hollow.NODES, hollow.SLICES, hollow.CLASSES, some.templates)
                    for name, item in items(path)}
        # Of a claim not every change is one that is read.
        standing |= {(name, item["metadata"]["uid"]) for name, item in items(some.claims)
                     if item.get("status", {}).get("allocation")}

        def all_seen():
            events = self.hub.events(fact="ObjectObserved")
            missing = standing - {(event["source"], event["resourceVersion"]) for event in events} - {
                (event["source"], event["uid"]) for event in events if event["facts"].get("allocation")}
            assert not missing, f"not seen: {missing}"
            return True
        self.hub.wait_until("the members' objects to be seen", all_seen)

    def audit(self, question, name):
        """`why` or `why-not` of a Workload, now."""
        last = f"seq:{self.hub.events()[-1]['seq']}"
        done = fairlead("audit", question, f"workload/team/{name}", "--as-of", last, "--data", self.hub.data,
                        "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def reserved(self, name):
        """[(node, [device])] of each Pod whose devices are still reserved."""
        return [(pod["node"], [device["device"] for claim in pod["claims"] for device in claim["devices"]])
                for pod in self.audit("why", name)["reservation"]["pods"]]

    def device_states(self):
        """{state: how many devices of all clusters}, without those that are none."""
        found = re.findall(r'fairlead_devices{state="(\w+)"} (\d+)', self.hub.http("/metrics")[1])
        return {state: int(count) for state, count in found if int(count)}

    def wait_for_devices(self, **states):
        """Until so many devices are in each state; in those left out: none."""
        def equal():
            found = self.device_states()
            assert found == states, f"{found} instead of {states}"
            return True
        self.hub.wait_until(f"the devices to be {states}", equal)
