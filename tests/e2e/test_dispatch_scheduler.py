"""Dispatch by devices, end to end: Fairlead nominates a cluster, and the real scheduler there allocates."""

import os
import unittest

from device_world import World
from harness.dispatch import DispatchTest
from harness.hollow import DRIVER, SLICES, request
from harness.multikueue import WORKLOADS

NEEDS = ("controlplane", "scheduler", "fairlead")


def setUpModule():
    DispatchTest.open_clusters()


def gpu(node, *numbers):
    return [f"gpu.example.com/{node}/gpu-{number}" for number in numbers]


def taint(effect):
    return [{"key": "example.com/hot", "effect": effect}]


class ScheduledTest(DispatchTest):
    def setUp(self):
        super().setUp()
        self.w1, self.w2 = self.clusters.values()

    def assert_runs(self, cluster, pod, node, devices):
        self.assertEqual(cluster.node_of(pod), node)
        self.assertEqual([device for _, device in cluster.allocation(pod)], devices)

    def test_a_workload_gets_what_was_reserved_for_it(self):
        self.w1.nodes("a")
        self.w1.gpus("a", 2)
        self.w2.nodes("a", "b")
        self.w2.gpus("a", 1)
        self.w2.gpus("b", 2)
        for name, count in (("one", 1), ("pair", 2)):
            self.template(name, request("gpu", count=count))
        self.w1.pod("of-the-cluster-itself", template="one")
        self.w1.allocation("of-the-cluster-itself")
        self.started("fit", "w1", "w2")

        self.wants("train", template="pair")
        self.wait_for_nomination("train", "fit-w2")
        self.assertEqual(self.reserved("train"), [("b", gpu("b", 0, 1))])
        self.wait_for_devices(used=1, reserved=2, free=2)

        pod, = self.dispatch("train")
        self.assert_runs(self.w2, pod, "b", gpu("b", 0, 1))
        self.wait_for_devices(used=3, free=2)
        claim = self.w2.allocated_claim(pod)["metadata"]["name"]
        reservation = self.audit("why", "train")["reservation"]
        self.assertEqual((reservation["pods"], reservation["replacedBy"]), ([], [f"team/{claim}"]))
        self.survives_a_kill()
        self.wait_for_devices(used=3, free=2)

    def test_one_after_the_other_and_the_third_waits_for_the_first(self):
        for cluster in (self.w1, self.w2):
            cluster.nodes("a")
            cluster.gpus("a", 1)
        self.template("one", request("gpu"))
        self.started("row", "w1", "w2")
        for number, worker in (("1", "row-w1"), ("2", "row-w2")):
            self.wants(f"job-{number}", template="one")
            self.wait_for_nomination(f"job-{number}", worker)
        self.wants("job-3", template="one")
        lacking = "row-w1: NoDevices one/gpu; row-w2: NoDevices one/gpu"
        self.assertEqual(self.wait_for_reason("job-3", "NoCluster")["message"], lacking)
        first, = self.dispatch("job-1")
        second, = self.dispatch("job-2")
        self.assert_runs(self.w1, first, "a", gpu("a", 0))
        self.assert_runs(self.w2, second, "a", gpu("a", 0))
        self.wait_for_devices(used=2)
        self.survives_a_kill()
        self.assertEqual(self.devices_reserved("job-3")["reason"], "NoCluster")

        self.w1.finish(first)  # before Kueue says so
        self.wait_for_nomination("job-3", "row-w1")
        self.wait_for_devices(used=1, reserved=1)
        self.end("job-1")
        third, = self.dispatch("job-3")
        self.assert_runs(self.w1, third, "a", gpu("a", 0))
        self.wait_for_devices(used=2)

    def test_a_gang_goes_where_all_of_it_has_room(self):
        self.w1.nodes("a", "b")
        self.w2.nodes("a", "b", "c")
        for cluster, nodes in ((self.w1, "ab"), (self.w2, "abc")):
            for node in nodes:
                cluster.gpus(node, 2)
        self.template("pair", request("gpu", count=2))
        self.started("gang", "w1", "w2")
        self.wants("train", count=3, template="pair")
        self.wait_for_nomination("train", "gang-w2")
        workers = self.audit("why-not", "train")["clusters"]
        self.assertEqual([(row["reason"], row["detail"]) for row in workers], [("GangTooBig", "main"), ("", "")])
        places = {node: gpu(node, 0, 1) for node in "abc"}
        self.assertEqual(dict(self.reserved("train")), places)
        self.wait_for_devices(reserved=6, free=4)

        pods = self.dispatch("train")
        found = {self.w2.node_of(pod): [device for _, device in self.w2.allocation(pod)] for pod in pods}
        self.assertEqual(found, places)
        self.wait_for_devices(used=6, free=4)
        self.assertEqual(self.reserved("train"), [])

    def test_a_tainted_device_is_not_allocated(self):
        for cluster, effect in ((self.w1, "NoSchedule"), (self.w2, "NoExecute")):
            cluster.nodes("a")
            cluster.gpus("a", 2, {"gpu-0": taint(effect)})
        self.template("one", request("gpu"))
        self.template("pair", request("gpu", count=2))
        self.started("hot", "w1", "w2")
        self.wants("both", template="pair")
        self.wait_for_reason("both", "NoCluster")
        for cluster in (self.w1, self.w2):
            cluster.pod("both", template="pair")
            self.assertIn("cannot allocate all claims", cluster.unschedulable("both"))
        for name, cluster in (("job-1", self.w1), ("job-2", self.w2)):
            self.wants(name, template="one")
            self.wait_for_reason(name, "Reserved")
            pod, = self.dispatch(name)
            self.assert_runs(cluster, pod, "a", gpu("a", 1))
        self.wants("job-3", template="one")
        self.wait_for_reason("job-3", "NoCluster")
        self.wait_for_devices(used=2, tainted=2)

        self.w2.gpus("a", 2)
        self.wait_for_nomination("job-3", "hot-w2")
        pod, = self.dispatch("job-3")
        self.assert_runs(self.w2, pod, "a", gpu("a", 0))

    def test_an_error_on_one_node_keeps_a_workload_from_its_cluster(self):
        for cluster in (self.w1, self.w2):
            cluster.nodes("a", "b")
            cluster.gpus("b", 1)
        self.w1.slice("a", [{"name": "gpu-0"}], nodeName="a")  # without the attribute that is asked for
        by_model = [{"cel": {"expression": f'device.attributes["{DRIVER}"].model == "h100"'}}]
        self.template("h100", request("gpu", selectors=by_model))
        self.started("flawed", "w1", "w2")
        self.wants("job-1", template="h100")
        self.wait_for_nomination("job-1", "flawed-w2")
        rows = [(row["reason"], row["detail"]) for row in self.audit("why-not", "job-1")["clusters"]]
        self.assertEqual(rows, [("SelectorError", "h100/gpu"), ("", "")])
        self.w1.pod("stuck", template="h100")
        self.assertIn("CEL runtime error: no such key: model", self.w1.unschedulable("stuck"))
        self.w1.server.delete(f"{self.w1.pods}/stuck")

        pod, = self.dispatch("job-1")
        self.assert_runs(self.w2, pod, "b", gpu("b", 0))
        self.wants("job-2", template="h100")
        self.assertEqual(self.wait_for_reason("job-2", "NoCluster")["message"],
                         "flawed-w1: SelectorError h100/gpu; flawed-w2: NoDevices h100/gpu")
        self.w1.server.delete(f"{SLICES}/a")
        self.wait_for_nomination("job-2", "flawed-w1")
        pod, = self.dispatch("job-2")
        self.assert_runs(self.w1, pod, "b", gpu("b", 0))

    def test_an_extended_resource_is_allocated_where_it_was_reserved(self):
        for cluster, count in ((self.w1, 1), (self.w2, 2)):
            cluster.nodes("a")
            cluster.gpus("a", count)
        self.started("classic", "w1", "w2")
        self.wants("infer", resources={"example.com/gpu": "2"})
        self.wait_for_nomination("infer", "classic-w2")
        self.assertEqual(self.reserved("infer"), [("a", gpu("a", 0, 1))])
        pod, = self.dispatch("infer")
        self.assert_runs(self.w2, pod, "a", gpu("a", 0, 1))
        self.wait_for_devices(used=2, free=1)
        self.assertEqual(self.reserved("infer"), [])

    def test_equal_pods_are_not_sent_where_the_first_takes_what_the_second_needs(self):
        def parts(cluster, node, *names):
            costs = {"full": "2", "half-0": "1", "half-1": "1"}
            cluster.slice(f"{node}-sets", [], pool=node, slices=2, nodeName=node,
                          sharedCounters=[{"name": "gpu", "counters": {"slices": {"value": "2"}}}])
            cluster.slice(f"{node}-parts", [
                {"name": name, "attributes": {}, "consumesCounters": [
                    {"counterSet": "gpu", "counters": {"slices": {"value": costs[name]}}}]} for name in names],
                pool=node, slices=2, nodeName=node)
        for cluster in (self.w1, self.w2):
            cluster.nodes("a")
        parts(self.w1, "a", "full", "half-0", "half-1")
        parts(self.w2, "a", "half-0", "half-1", "full")
        self.template("one", request("gpu"))
        self.started("parts", "w1", "w2")
        self.wants("pair", template="one", count=2)
        self.wait_for_nomination("pair", "parts-w2")
        rows = [(row["reason"], row["detail"]) for row in self.audit("why-not", "pair")["clusters"]]
        self.assertEqual(rows, [("GangTooBig", "main"), ("", "")])
        for number in (0, 1):
            self.w1.pod(f"alone-{number}", template="one")
        self.assertEqual(sorted(bool(self.w1.verdict(f"alone-{number}")) for number in (0, 1)), [False, True])
        for pod in self.dispatch("pair"):
            self.assertEqual(self.w2.node_of(pod), "a")

    def test_a_sidecar_needs_its_devices_beside_the_containers(self):
        for cluster, count in ((self.w1, 1), (self.w2, 2)):
            cluster.nodes("a")
            cluster.gpus("a", count)
        amount = {"example.com/gpu": "1"}
        sidecar = [{"name": "side", "image": "none", "restartPolicy": "Always",
                    "resources": {"requests": amount, "limits": amount}}]
        self.started("beside", "w1", "w2")
        self.wants("infer", resources=amount, initContainers=sidecar)
        self.wait_for_nomination("infer", "beside-w2")
        self.w1.pod("alone", resources=amount, initContainers=sidecar)
        self.assertIsNone(self.w1.verdict("alone"))
        pod, = self.dispatch("infer")
        self.assertEqual(len(self.w2.allocation(pod)), 2)

    def test_a_node_with_a_device_plugin_has_room_for_its_amount(self):
        for cluster, amount in ((self.w1, "4"), (self.w2, "8")):
            cluster.nodes("a", allocatable={"example.com/gpu": amount})
        self.started("plugin", "w1", "w2")
        self.wants("eight", resources={"example.com/gpu": "8"})
        self.wait_for_nomination("eight", "plugin-w2")
        self.w1.pod("alone", resources={"example.com/gpu": "8"})
        self.assertIn("Insufficient example.com/gpu", self.w1.unschedulable("alone"))
        pod, = self.dispatch("eight")
        self.assertEqual(self.w2.node_of(pod), "a")
        self.assertEqual(self.audit("why", "eight")["reservation"]["pods"][0]["claims"][0]["ofPlugin"], 8)
        # What is reserved is gone for the next one, as it is for the scheduler.
        self.wants("next", resources={"example.com/gpu": "5"})
        self.wait_for_reason("next", "NoCluster")
        self.w2.pod("late", resources={"example.com/gpu": "5"})
        self.assertIn("Insufficient example.com/gpu", self.w2.unschedulable("late"))


class SameAnswerTest(DispatchTest):
    """What Fairlead says fits is what the scheduler schedules, and what it says does not fit is not scheduled."""

    def test_in_a_random_world(self):
        self.compare(1)

    def test_in_another_random_world(self):
        self.compare(2)

    def compare(self, number):
        # FAIRLEAD_SEED=100: others than those of each run.
        seed = int(os.environ.get("FAIRLEAD_SEED", "0")) + number
        world, placement = World(seed, self.clusters), f"world-{seed}"
        for name, cluster in self.clusters.items():
            world.publish(name, cluster)
        self.started(placement, *self.clusters)
        with self.subTest(seed=seed):
            answers = [self.compare_wish(world, placement, wish) for wish in world.wishes]
            self.assertEqual({fits for both in answers for fits in both}, {True, False}, "a world that asks too little")

    def compare_wish(self, world, placement, wish):
        """Whether it fits in each cluster, says Fairlead; and the schedulers are asked."""
        self.template(wish.name, *wish.requests, constraints=wish.constraints)
        self.wants(wish.name, count=wish.count, template=wish.name, **wish.spec)
        reason = self.wait_for_reason(wish.name, "Reserved", "NoCluster")["reason"]
        answer = self.audit("why-not", wish.name)
        fits = {row["cluster"]: not row["reason"] for row in answer["clusters"]}
        self.assertEqual(reason == "Reserved", any(fits.values()), answer)
        chosen = reason == "Reserved" and answer["nominated"][0].removeprefix(f"{placement}-")
        pods = {name: self.pods_in(name, wish, name == chosen) for name in self.clusters}
        places = {name: [self.clusters[name].verdict(pod) for pod in pods[name]] for name in pods}
        self.assertEqual({name: all(nodes) for name, nodes in places.items()}, fits,
                         f"{wish}\n{places}\n{world.pools}\n{answer['clusters']}")
        if chosen and wish.count == 1:
            self.assert_same_devices(self.clusters[chosen], pods[chosen][0], answer["reservation"]["pods"][0])
        self.give_up(wish, places, pods, chosen)
        self.wait_for_use()
        return tuple(fits.values())

    def give_up(self, wish, places, pods, chosen):
        """No Pod waits for devices while the next wish is tried: an error may end when a device is taken."""
        if not chosen:
            self.server.delete(f"{WORKLOADS}/{wish.name}")
        for name, cluster in self.clusters.items():
            for pod, node in zip(pods[name], places[name]):
                if node is None:
                    cluster.server.delete(f"{cluster.pods}/{pod}")

    def pods_in(self, name, wish, is_chosen):
        """The Pods of the Workload; in a cluster that was not chosen, Pods without a Workload."""
        if is_chosen:
            return self.dispatch(wish.name)
        pods = [f"{wish.name}-{number}" for number in range(wish.count)]
        for pod in pods:
            self.clusters[name].pod(pod, template=wish.name, **wish.spec)
        return pods

    def assert_same_devices(self, cluster, pod, reserved):
        """A scheduler may prefer another Node; on the one that was reserved it takes what was reserved."""
        if cluster.node_of(pod) == reserved["node"]:
            self.assertEqual(cluster.allocation(pod), [
                (device["request"], device["device"]) for claim in reserved["claims"] for device in claim["devices"]])

    def wait_for_use(self):
        """Until Fairlead knows of all that was allocated, and nothing is reserved beside it."""
        used = sum(len(cluster.devices_in_use()) for cluster in self.clusters.values())

        def known():
            states = self.device_states()
            assert (states.get("used", 0), states.get("reserved", 0)) == (used, 0), f"{states}, used are {used}"
            return True
        self.hub.wait_until(f"{used} used devices", known)


if __name__ == "__main__":
    unittest.main()
