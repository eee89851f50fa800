"""A claim is deleted: what goes from the member, what stays there, and what the claim says meanwhile."""

import unittest

from harness.fleet import CLAIMS, FLAVORS, QUEUES, claim, cluster_queue, flavor, quantity, quota
from harness.hub import AT_ONCE
from harness.work_agent import FINALIZER
from test_hub import CLAIM, HIGH, LOW, WatchedMemberTest

NEEDS = ("controlplane", "fairlead")

IN_USE = "kueue.x-k8s.io/resource-in-use"  # Kueue's own finalizer on flavors and queues


class ClaimDeletionTest(WatchedMemberTest):
    """The member has the flavor on-demand already, and a queue of its own that uses it."""

    def setUp(self):
        super().setUp()
        stood = flavor("on-demand")
        stood["metadata"]["finalizers"] = [IN_USE]
        self.member.create(FLAVORS, stood)
        self.member.create(QUEUES, cluster_queue("own", flavors=("on-demand",)))

    def started(self):
        hub = self.hub(settings=(AT_ONCE, "members.mode=manifestWork")).start()
        self.server.create(CLAIMS, claim())
        self.until(hub, "quota on the hub", lambda: quota(self.server, HIGH, "on-demand", "cpu") == quantity("500"))
        return hub

    def gone(self):
        return self.server.get(CLAIM) is None

    def check_what_stays(self):
        for name in ("on-demand", "spot"):
            self.assertNotIn("deletionTimestamp", self.member.get(f"{FLAVORS}/{name}")["metadata"])
        self.assertIsNotNone(self.member.get(f"{QUEUES}/own"))
        for name in (HIGH, LOW):
            self.assertIsNone(self.member.get(f"{QUEUES}/{name}"))

    def released(self):
        """reason and message of the condition Released."""
        return self.condition("Released")[1:]

    def test_the_members_flavors_stay_also_one_that_stood_before(self):
        hub = self.started()
        self.server.delete(CLAIM)
        self.until(hub, "the claim to go", self.gone)
        self.check_what_stays()
        hub.stop()
        hub.check_log()

    def test_a_work_of_an_earlier_version_learns_to_leave_them_before_it_is_deleted(self):
        hub = self.started()
        hub.stop()
        self.server.merge(self.WORK, {"spec": {"deleteOption": None}}, user="admin")
        self.agent.act()
        self.assertIn(f"{FLAVORS}/on-demand", self.agent.owned["fairlead-quota"])
        self.server.delete(CLAIM)
        hub = self.hub(settings=(AT_ONCE, "members.mode=manifestWork"), data=hub.data).start()
        self.until(hub, "the claim to go", self.gone)
        self.check_what_stays()
        self.assertEqual(len([event for event in hub.events(fact="PatchIntended", kind="ManifestWork")
                              if event["reason"]["rule"] == "members/orphan"]), 1)

    def test_the_claim_says_what_its_deletion_waits_for(self):
        hub = self.started()
        self.member.merge(f"{QUEUES}/{HIGH}", {"metadata": {"finalizers": [IN_USE]}}, user="admin")
        self.server.delete(CLAIM)
        self.until(hub, "the claim to name the work", lambda: self.released()[0] == "WaitingForWork")
        self.until(hub, "the claim to name the queue", lambda: self.released()[1].endswith(
            f"waits for its finalizers: {FINALIZER}; the member still has ClusterQueue {HIGH}"))
        self.member.merge(f"{QUEUES}/{HIGH}", {"metadata": {"finalizers": None}}, user="admin")
        self.until(hub, "the claim to go", self.gone)
        self.check_what_stays()


if __name__ == "__main__":
    unittest.main()
