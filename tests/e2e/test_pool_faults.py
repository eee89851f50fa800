"""The super cluster pool on real API servers: capacity that goes and comes back, kills, claims on the same cluster."""

import itertools
import signal
import unittest

from harness.fleet import CLAIMS, FLAVORS, QUEUES, add_node, claim, prepare_hub, quantity, quota
from harness.process import wait_for
from harness.program import stop_points, stopping
from pool_world import PLACEMENTS, QUICK, REASON, SUPER_CLUSTER, PoolWorld, node

NEEDS = ("controlplane", "fairlead", "stop points")

DRAINED = 'pool={clusters: [{cluster: r1, drain: true}, {cluster: "*"}], settle: 0s}'
HALF = "pool={clusters: [{cluster: r1, percent: 50}], settle: 0s}"


class PoolFaultsTest(PoolWorld):
    def placed(self, hub, cpu="12", memory="24Gi", on='{"id-r1":6}'):
        self.create_namespace(self.acme, "web", cpu, memory)
        self.wait_for(hub, self.acme, "web", PLACEMENTS, on)

    def running_pod(self, hub, name, on="id-r1"):
        self.create_pod(self.acme, "web", name)
        self.wait_for(hub, self.acme, f"web/pods/{name}", SUPER_CLUSTER, on)
        self.bind_pod(self.acme, "web", name)

    def test_a_cluster_that_shrinks_gives_up_what_pods_do_not_need(self):
        hub = self.running_hub()
        self.placed(hub)
        for name in ("a", "b"):
            self.running_pod(hub, name)
        self.r1.delete("/api/v1/nodes/r1-2")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":4,"id-r2":2}')
        # Nothing moves back.
        self.r1.create("/api/v1/nodes", node("r1-2"))
        self.r1.merge("/api/v1/nodes/r1-2", {"spec": {"taints": None}}, user="admin")
        self.create_namespace(self.bolt, "db", "8", "16Gi")
        self.wait_for(hub, self.bolt, "db", PLACEMENTS, '{"id-r1":4}')
        self.assertEqual(self.annotation(self.acme, "web", PLACEMENTS), '{"id-r1":4,"id-r2":2}')
        hub.stop()
        hub.check_log()

    def test_a_drained_cluster_stays_listed_while_pods_run_there(self):
        hub = self.running_hub()
        self.placed(hub)
        self.running_pod(hub, "a")
        hub.stop()
        hub = self.hub(DRAINED, data=hub.data).start()
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":0,"id-r2":6}')
        self.assertEqual(self.annotation(self.acme, "web/pods/a", SUPER_CLUSTER), "id-r1")
        self.remove_pod(self.acme, "web", "a")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r2":6}')
        hub.stop()
        hub.check_log()

    def test_a_cluster_that_comes_back_keeps_its_slices(self):
        hub = self.running_hub(QUICK, 'pool={clusters: [{cluster: "*"}], lostGrace: 5m, settle: 0s}')
        self.placed(hub)
        self.r1.kill()
        self.wait_for(hub, self.acme, "web", REASON, "ClusterUnavailable: id-r1")
        self.r1.start()
        self.wait_for(hub, self.acme, "web", REASON, None)
        self.assertEqual(self.annotation(self.acme, "web", PLACEMENTS), '{"id-r1":6}')
        self.create_pod(self.acme, "web", "a")
        self.wait_for(hub, self.acme, "web/pods/a", SUPER_CLUSTER, "id-r1")
        hub.stop()
        hub.check_log()

    @staticmethod
    def answers(hub):
        try:
            return hub.http("/healthz")[0] == 200
        except OSError:
            return False

    def test_a_kill_at_every_write_leaves_what_an_undisturbed_run_leaves(self):
        hub = self.running_hub(program=stopping())
        self.placed(hub)
        hub.stop()
        sizes = itertools.cycle((("8", "16Gi", '{"id-r1":4}'), ("12", "24Gi", '{"id-r1":6}')))
        names = (f"p{number}" for number in itertools.count())
        for number, point in enumerate(each for each in stop_points() if not each.startswith("snapshot.")):
            with self.subTest(point):
                hub.start({"FAIRLEAD_STOP_AT": f"{point}:{1 + number % 2}"})
                pod, wanted = next(names), None
                self.create_pod(self.acme, "web", pod, "500m", "1Gi")

                def ended():
                    nonlocal wanted
                    cpu, memory, wanted = next(sizes)
                    self.set_quota(self.acme, "web", cpu, memory)
                    return not hub.process.running()

                wait_for(f"the hub to end at {point}", ended)
                self.assertEqual(hub.process.child.returncode, -signal.SIGKILL, hub.process.tail())
                hub.start()
                # What is waited for below may be there already, and a program that has not begun dies of SIGTERM.
                hub.wait_until("the hub to answer", lambda: self.answers(hub))
                self.wait_for(hub, self.acme, "web", PLACEMENTS, wanted)
                self.wait_for(hub, self.acme, f"web/pods/{pod}", SUPER_CLUSTER, "id-r1")
                self.remove_pod(self.acme, "web", pod)
                hub.stop()
        hub.check_log()

    def test_claims_get_what_the_pool_leaves_of_a_cluster(self):
        self.addCleanup(lambda: [self.server.clear(path) for path in (CLAIMS, QUEUES, FLAVORS)])
        prepare_hub(self.server)
        for number in (1, 2):
            self.r1.delete(f"/api/v1/nodes/r1-{number}")
            add_node(self.r1, f"r1-{number}", "on-demand", {"cpu": "8", "memory": "32Gi", "pods": "110"})
        hub = self.running_hub(HALF, of=("r1",))
        whole = {"cpu": "16", "memory": "64Gi"}
        self.server.create(CLAIMS, {**claim("r1"), "spec": {
            "clusterName": "r1", "nominalResources": whole, "resourceAssignments": [
                {"clusterQueueName": "high-priority-queue", "flavor": "on-demand", "resources": whole}]}})
        self.placed(hub, "8", "16Gi", '{"id-r1":4}')

        def granted(wanted):
            found = quota(self.server, "high-priority-queue", "on-demand", "cpu")
            assert found == quantity(wanted), f"{found} instead of {wanted}"
            return True

        hub.wait_until("the claim's half", lambda: granted("8"))
        self.set_quota(self.acme, "web", "10", "20Gi")
        self.wait_for(hub, self.acme, "web", REASON, "DoesNotFit: 1 more slices of cpu 2, memory 4Gi")
        self.r1.delete("/api/v1/nodes/r1-2")
        hub.wait_until("half of what is left", lambda: granted("4"))
        # What is placed has nowhere to go, and stays.
        self.assertEqual(self.annotation(self.acme, "web", PLACEMENTS), '{"id-r1":4}')
        hub.stop()
        hub.check_log()


if __name__ == "__main__":
    unittest.main()
