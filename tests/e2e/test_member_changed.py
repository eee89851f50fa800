"""The quota that the member has is changed there by hand: the claim says so, and the agent brings it back."""

import unittest

from harness.fleet import CLAIMS, claim, quantity, quota, set_quota
from harness.hub import AT_ONCE
from test_hub import HIGH, WatchedMemberTest

NEEDS = ("controlplane", "fairlead")

TOUCH = "fairlead.io/apply-again"


class MemberChangedTest(WatchedMemberTest):
    """The agent acts as that of OCM does since 1.1: on works whose spec or labels changed, and else after minutes."""

    def act(self):
        self.agent.act_on_changes()

    def propagated(self):
        return self.condition("Propagated")

    def at_member(self):
        return quota(self.member, HIGH, "on-demand", "cpu")

    def test_the_claim_names_it_and_the_work_is_touched_once(self):
        hub = self.hub(settings=(AT_ONCE, "members.mode=manifestWork")).start()
        self.server.create(CLAIMS, claim())
        self.until(hub, "the claim to be propagated", lambda: self.propagated()[0] == "True")
        generation = self.server.get(self.WORK)["metadata"]["generation"]
        set_quota(self.member, HIGH, "on-demand", "cpu", "63", user="admin")
        hub.wait_until("the claim to name it", lambda: self.propagated()[1] == "MemberDiffers")
        self.assertIn(f"ClusterQueue {HIGH} of cluster2: on-demand cpu: 63 instead of 500", self.propagated()[2])
        self.assertEqual(self.at_member(), quantity("63"))
        self.until(hub, "the member to have its quota again", lambda: self.at_member() == quantity("500"), timeout=90)
        self.until(hub, "the claim to be propagated again", lambda: self.propagated()[0] == "True")
        touches = [event for event in hub.events(fact="PatchIntended", kind="ManifestWork")
                   if event["reason"]["rule"] == "members/touch"]
        self.assertEqual(len(touches), 1)
        metadata = self.server.get(self.WORK)["metadata"]
        self.assertIn(TOUCH, metadata["labels"])
        self.assertEqual(metadata["generation"], generation)
        hub.stop()
        hub.check_log()


if __name__ == "__main__":
    unittest.main()
