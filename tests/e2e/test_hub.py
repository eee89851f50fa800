"""`fairlead hub` on a real API server: quotas follow the claim and the nodes."""

import signal
import unittest

from harness.apiserver import Refused
from harness.controlplane import ControlPlane
from harness.fleet import (CLAIMS, CRDS, FLAVORS, MANAGED_CLUSTERS, NODES, QUEUE_CRDS, QUEUES, WORKS, add_node,
                           add_nodes, claim, flavor, join_cluster, prepare_hub, quantity, quota, quotas, remove_node,
                           set_quota)
from harness.hub import AT_ONCE, Hub
from harness.process import stays, wait_for
from harness.work_agent import WorkAgent

NEEDS = ("controlplane", "fairlead")

HIGH, LOW = "high-priority-queue", "low-priority-queue"
CLAIM = f"{CLAIMS}/cluster2-resource-claim"
FLAVOR_CRD = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/resourceflavors.kueue.x-k8s.io"


class HubTest(unittest.TestCase):
    """API servers for a module, or for a class with `options` of its own.

    Each test has two queues, ten nodes on one member cluster and new data.
    """

    options = {}
    of_module = None

    @classmethod
    def setUpClass(cls):
        if cls.options:
            cls.start(cls.enterClassContext(ControlPlane()))
            return
        if HubTest.of_module is None:
            HubTest.of_module = unittest.enterModuleContext(ControlPlane())
            unittest.addModuleCleanup(setattr, HubTest, "of_module", None)
        cls.start(HubTest.of_module)

    @classmethod
    def start(cls, plane):
        """Servers that an earlier class of the module started are used on: each test clears what it made."""
        cls.plane = plane
        if not plane.servers:
            for name in ("hub", "cluster2"):
                plane.add_server(name, **cls.options)
            plane.servers["hub"].install_crds(only=CRDS)
        cls.server, cls.member = plane.servers["hub"], plane.servers["cluster2"]

    def setUp(self):
        self.addCleanup(self.clear)
        prepare_hub(self.server)
        add_nodes(self.member)

    def clear(self):
        for server in (self.server, self.member):
            if server.process.running():
                server.resume()
            else:
                server.start()
        for path in (CLAIMS, WORKS, QUEUES, FLAVORS, MANAGED_CLUSTERS):
            self.server.clear(path)
        self.member.clear(NODES)

    def hub(self, **options):
        hub = Hub(self.plane, self.server, {"cluster2": self.member}, **options)
        # Cleanups run last in, first out: the hub is gone before its objects are.
        self.addCleanup(hub.finish)
        return hub

    def started_with_claim(self, **options):
        hub = self.hub(**options).start()
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        return hub

    def wait_for_cpu(self, hub, high, low, timeout=30):
        """Until the two pairs of the claim have these values."""
        wanted = (quantity(high), quantity(low))

        def equal():
            seen = (quota(self.server, HIGH, "on-demand", "cpu"), quota(self.server, LOW, "spot", "cpu"))
            assert seen == wanted, f"{seen} instead of {wanted}"
            return True

        hub.wait_until(f"cpu quotas {high} and {low}", equal, timeout)

    def generations(self):
        return [self.server.get(f"{QUEUES}/{name}")["metadata"]["generation"] for name in (HIGH, LOW)]


class ClaimTest(HubTest):
    def test_the_proposed_claim_gives_each_queue_what_it_assigns(self):
        hub = self.started_with_claim()
        self.assertEqual(quota(self.server, HIGH, "on-demand", "memory"), quantity("500Gi"))
        self.assertEqual(quota(self.server, HIGH, "on-demand", "nvidia.com/gpu"), quantity("5"))
        self.assertEqual(quota(self.server, LOW, "spot", "nvidia.com/gpu"), quantity("5"))
        self.assertEqual(quota(self.server, HIGH, "spot", "cpu"), 0)

        def granted():
            status = self.server.get(CLAIM).get("status", {})
            return {c["type"]: c["status"] for c in status.get("conditions", [])}.get("FullyGranted") == "True"

        hub.wait_until("the claim to say FullyGranted", granted)
        hub.stop()
        hub.check_log()

    def test_a_lost_node_takes_its_share_and_brings_it_back(self):
        hub = self.started_with_claim()
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500")
        add_node(self.member, "on-demand-0", "on-demand")
        self.wait_for_cpu(hub, "500", "500")
        hub.stop()
        hub.check_log()

    def test_a_cordoned_node_counts_no_more(self):
        hub = self.started_with_claim()
        self.member.kubectl("cordon", "spot-1")
        self.wait_for_cpu(hub, "500", "400")
        self.member.kubectl("uncordon", "spot-1")
        self.wait_for_cpu(hub, "500", "500")

    def test_an_edited_claim_moves_quota_and_a_deleted_one_takes_it(self):
        hub = self.started_with_claim()
        edited = self.server.get(CLAIM)["spec"]["resourceAssignments"]
        edited[0]["resources"]["cpu"] = "200"
        self.server.merge(CLAIM, {"spec": {"resourceAssignments": edited}})
        self.wait_for_cpu(hub, "200", "500")
        self.server.delete(CLAIM)
        self.wait_for_cpu(hub, "0", "0")
        hub.wait_until("the claim's finalizer to be released", lambda: self.server.get(CLAIM) is None)

    def test_an_invalid_edit_leaves_the_last_valid_claim_in_force(self):
        hub = self.started_with_claim()
        edited = self.server.get(CLAIM)["spec"]["resourceAssignments"]
        edited[0]["resources"]["cpu"] = "501"
        self.server.merge(CLAIM, {"spec": {"resourceAssignments": edited}})

        def invalid():
            conditions = self.server.get(CLAIM).get("status", {}).get("conditions", [])
            return {c["type"]: c["status"] for c in conditions}.get("Valid") == "False"

        hub.wait_until("Valid=False", invalid)
        self.wait_for_cpu(hub, "500", "500")

    def test_a_map_of_the_status_that_becomes_empty_is_accepted(self):
        """Of {} over keys that we own the server makes null, and refuses that with 422."""
        hub = self.hub().start()
        bare = claim()
        bare["spec"] |= {"nominalResources": {"cpu": "10"}, "resourceAssignments": []}
        self.server.create(CLAIMS, bare)

        def unassigned():
            return self.server.get(CLAIM).get("status", {}).get("unassigned")

        hub.wait_until("what is not assigned", lambda: unassigned() == {"cpu": "10"})
        self.server.merge(CLAIM, {"spec": {"nominalResources": {"cpu": None}}})
        hub.wait_until("nothing left to assign", lambda: unassigned() is None)
        self.assertEqual(self.server.get(CLAIM)["status"]["observedGeneration"], 2)
        self.assertEqual(hub.events(fact="PatchRejected"), [])
        hub.stop()
        hub.check_log()

    def test_a_relabelled_node_and_a_rewritten_node_write_nothing(self):
        hub = self.started_with_claim()
        before = self.generations()
        self.member.merge("/api/v1/nodes/spot-0", {"metadata": {"annotations": {"heartbeat": "1"}}})
        stays("the queues' generations", lambda: self.generations() == before, seconds=2)
        hub.stop()


class HumanTest(HubTest):
    def test_foreign_fields_of_our_queue_are_kept(self):
        hub = self.started_with_claim()
        set_quota(self.server, HIGH, "spot", "cpu", "8")
        self.server.merge(f"{QUEUES}/{HIGH}", {"spec": {"queueingStrategy": "StrictFIFO"}})
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500")
        self.assertEqual(quota(self.server, HIGH, "spot", "cpu"), quantity("8"))
        self.assertEqual(self.server.get(f"{QUEUES}/{HIGH}")["spec"]["queueingStrategy"], "StrictFIFO")

    def test_our_value_is_written_again_over_a_human_one_but_not_for_ever(self):
        hub = self.started_with_claim()
        for value in ("1", "2", "3"):
            set_quota(self.server, HIGH, "on-demand", "cpu", value)
            self.wait_for_cpu(hub, "500", "500")
        set_quota(self.server, HIGH, "on-demand", "cpu", "4")

        def conflict():
            conditions = self.server.get(CLAIM).get("status", {}).get("conditions", [])
            return {c["type"]: c["status"] for c in conditions}.get("OwnershipConflict") == "True"

        hub.wait_until("OwnershipConflict", conflict)
        self.assertEqual(quota(self.server, HIGH, "on-demand", "cpu"), quantity("4"))

    def test_kubectl_gets_a_conflict_with_the_owner_of_the_quota(self):
        self.started_with_claim()
        mine = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": HIGH},
                "spec": {"resourceGroups": []}}
        with self.assertRaises(Refused) as refused:
            self.server.apply(f"{QUEUES}/{HIGH}", mine, manager="kubectl")
        self.assertEqual(refused.exception.code, 409)
        self.assertIn('"fairlead"', refused.exception.status["message"])


class QuietTest(HubTest):
    def test_recommend_only_writes_nothing_but_records(self):
        hub = self.hub(arguments=("--recommend-only",)).start()
        self.server.create(CLAIMS, claim())
        before = quotas(self.server)
        hub.wait_until("the claim to reach the log", lambda: hub.events(kind="ClusterResourceClaim"))
        stays("the quotas as they were", lambda: quotas(self.server) == before, seconds=5)
        self.assertNotIn("status", self.server.get(CLAIM))
        hub.stop()
        hub.check_log()

    def test_the_default_windows_hold_growth_back(self):
        hub = self.hub(settings=("debounce.firstQuiet=1s", "debounce.shrinkWindow=1s")).start()
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500")
        add_node(self.member, "on-demand-0", "on-demand")
        stays("400 while the grow window runs",
              lambda: quota(self.server, HIGH, "on-demand", "cpu") == quantity("400"), seconds=5)

    def test_a_changed_configuration_is_taken_in_on_sighup_and_recorded(self):
        hub = self.hub(settings=()).start()
        hub.wait_until("the log to begin", lambda: hub.stat()["last_seq"] > 0)
        recorded = len(hub.events(fact="ConfigChanged"))
        text = hub.config.read_text().replace('"capacity": {', '"debounce": {"growWindow": "1s"}, "capacity": {')
        hub.config.write_text(text)
        hub.process.signal(signal.SIGHUP)
        hub.wait_until("one more ConfigChanged", lambda: len(hub.events(fact="ConfigChanged")) == recorded + 1)

    def test_health_and_metrics_answer(self):
        hub = self.started_with_claim()
        self.assertEqual(hub.http("/healthz")[0], 200)
        self.assertEqual(hub.http("/readyz")[0], 200)
        status, text = hub.http("/metrics")
        self.assertEqual(status, 200)
        self.assertIn("rest_client_requests_total", text)

    def test_a_second_hub_on_the_same_data_is_refused(self):
        first = self.started_with_claim()
        second = self.hub(data=first.data).start()
        self.assertEqual(second.process.wait(30), 3, second.process.tail())
        first.check_running()


class ManifestWorkTest(HubTest):
    """The member is a ManagedCluster that gets its quota by a ManifestWork."""

    WORK = "/apis/work.open-cluster-management.io/v1/namespaces/cluster2/manifestworks/fairlead-quota"

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        # Another class of the module may have made it: an apply makes it or finds it.
        cls.server.apply("/api/v1/namespaces/cluster2", {"apiVersion": "v1", "kind": "Namespace",
                                                         "metadata": {"name": "cluster2"}})

    def setUp(self):
        super().setUp()
        join_cluster(self.server, "cluster2")


class WatchedMemberTest(ManifestWorkTest):
    """The member has Kueue, and `self.agent` applies its works there whenever `act` is called."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.member.install_crds(only=QUEUE_CRDS)

    def setUp(self):
        super().setUp()
        self.addCleanup(self.clear_member)
        self.agent = WorkAgent(self.server, self.member, "cluster2")

    def clear_member(self):
        for path in (QUEUES, FLAVORS):
            self.member.clear(path)

    def act(self):
        """What the agent does before each look of `until`."""
        self.agent.act()

    def until(self, hub, what, condition, timeout=30):
        """The agent acts until it is so. A conflict with a write of the hub is for its next look."""
        def look():
            try:
                self.act()
            except Refused as refused:
                if refused.code not in (404, 409):
                    raise
            return condition()
        hub.wait_until(what, look, timeout)

    def condition(self, kind):
        """status, reason and message of the claim's condition; empty texts while it has none."""
        conditions = (self.server.get(CLAIM) or {}).get("status", {}).get("conditions", [])
        return next(((c["status"], c["reason"], c["message"]) for c in conditions if c["type"] == kind), ("", "", ""))


class CreatedClaimTest(ManifestWorkTest):
    """The cluster has no claim, and at first no node."""

    def setUp(self):
        super().setUp()
        self.member.clear(NODES)

    def nominal(self):
        return (self.server.get(CLAIM) or {"spec": {}})["spec"].get("nominalResources")

    def test_it_is_created_with_the_first_node_and_grows_until_another_manager_edits_its_list(self):
        hub = self.hub(settings=(AT_ONCE, "claims.create=true")).start()
        stays("no claim of nothing", lambda: self.nominal() is None, seconds=3)
        add_node(self.member, "first", "on-demand", {"cpu": "10"})
        hub.wait_until("the claim", lambda: self.nominal() == {"cpu": "10"})
        add_node(self.member, "second", "on-demand", {"cpu": "10", "memory": "1Gi"})
        hub.wait_until("the resource that appeared", lambda: self.nominal() == {"cpu": "10", "memory": "1Gi"})
        managers = {entry["manager"] for entry in self.server.get(CLAIM)["metadata"]["managedFields"]
                    if "f:spec" in entry["fieldsV1"]}
        self.assertEqual(managers, {"fairlead"})
        self.server.merge(CLAIM, {"spec": {"nominalResources": {"cpu": "5"}}})
        add_node(self.member, "third", "on-demand", {"cpu": "10", "example.com/fpga": "1"})
        hub.wait_until("the new resource to be counted", lambda: hub.events(fact="ObjectObserved", name="third"))
        stays("the list of the other manager", lambda: self.nominal() == {"cpu": "5", "memory": "1Gi"}, seconds=4)
        hub.stop()
        hub.check_log()


class MemberTest(ManifestWorkTest):
    """With an OCM work agent that the test plays."""

    def agent_reports(self, status="True"):
        generation = self.server.get(self.WORK)["metadata"]["generation"]
        self.server.merge(f"{self.WORK}/status", {"status": {"conditions": [
            {"type": kind, "status": status, "reason": "Agent", "message": "", "observedGeneration": generation,
             "lastTransitionTime": "2026-01-01T00:00:00Z"} for kind in ("Applied", "Available")]}}, user="admin")

    def test_growth_reaches_the_member_before_the_hub_and_shrink_the_hub_before_the_member(self):
        hub = self.hub(settings=(AT_ONCE, "members.mode=manifestWork")).start()
        self.server.create(CLAIMS, claim())
        hub.wait_until("the member's work", lambda: self.server.get(self.WORK))
        stays("no quota on the hub before the member has it",
              lambda: quota(self.server, HIGH, "on-demand", "cpu") == 0, seconds=3)
        self.agent_reports()
        self.wait_for_cpu(hub, "500", "500")
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500")
        hub.stop()
        hub.check_log()

    def test_flavors_that_go_with_their_crd_and_come_back_take_nothing_from_hub_or_member(self):
        hub = self.hub(settings=(AT_ONCE, "members.mode=manifestWork")).start()
        self.server.create(CLAIMS, claim())
        hub.wait_until("the member's work", lambda: self.server.get(self.WORK))
        self.agent_reports()
        self.wait_for_cpu(hub, "500", "500")
        before, written = self.of_work(), self.written(hub)

        def unchanged():
            self.assertEqual(self.of_work(), before)
            seen = [quota(self.server, HIGH, "on-demand", "cpu"), quota(self.server, LOW, "spot", "cpu")]
            self.assertEqual(seen, [quantity("500")] * 2)
            return hub.check_running()

        def lacking():
            return [grant["flavor"] for grant in self.server.get(CLAIM)["status"]["grants"]
                    if grant["reason"] == "FlavorNotFound"]

        self.server.delete(FLAVOR_CRD)
        wait_for("the CRD to be gone", lambda: self.server.get(FLAVOR_CRD) is None, 60)
        hub.wait_until("the flavors' end to be in the log",
                       lambda: len(hub.events(fact="ObjectGone", kind="ResourceFlavor")) == 2, timeout=60)
        hub.wait_until("the claim to say so", lambda: set(lacking()) == {"on-demand", "spot"})
        stays("hub and member without flavors", unchanged, seconds=2)
        self.server.install_crds(only=("resourceflavors.kueue.x-k8s.io",))
        for name in ("on-demand", "spot"):
            self.server.create(FLAVORS, flavor(name))
        hub.wait_until("the claim to be granted again", lambda: not lacking(), timeout=120)
        stays("hub and member with flavors", unchanged, seconds=2)
        hub.stop()
        hub.check_log()
        self.assertEqual(self.written(hub), written)

    @staticmethod
    def written(hub):
        return [event["seq"] for kind in ("ClusterQueue", "ManifestWork")
                for event in hub.events(fact="PatchIntended", kind=kind)]

    def of_work(self):
        work = self.server.get(self.WORK)
        return work and (work["metadata"]["uid"], work["metadata"]["generation"])


if __name__ == "__main__":
    unittest.main()
