"""`fairlead hub` and a member that shows more than is read, or more changes: it is stale, the others are unharmed."""

import datetime
import re
import unittest

from harness.endless import EndlessMember
from harness.fleet import CLAIMS, add_node, claim, quota, remove_node
from harness.hub import AT_ONCE, Hub
from test_hub import HIGH, HubTest

NEEDS = ("controlplane", "fairlead")

BOUND = 200
CHANGES = 600


def time_of(event):
    return datetime.datetime.fromisoformat(event["logTime"][:26].rstrip("Z") + "+00:00")


class BoundedMemberTest(HubTest):
    settings = (f"members.nodesMax={BOUND}",)

    def setUp(self):
        super().setUp()
        self.endless = self.enterContext(EndlessMember(self.plane.directory))
        self.prepare()
        self.running = Hub(self.plane, self.server,
                           {"cluster2": self.member, "cluster3": {"file": str(self.endless.kubeconfig)}},
                           settings=(AT_ONCE, *self.settings))
        self.addCleanup(self.running.finish)
        self.running.start()
        for cluster in ("cluster2", "cluster3"):
            self.server.create(CLAIMS, claim(cluster))

    def prepare(self):
        pass

    def capacity_known(self):
        status = (self.server.get(f"{CLAIMS}/cluster3-resource-claim") or {}).get("status", {})
        return {c["type"]: (c["status"], c["reason"]) for c in status.get("conditions", [])}.get("CapacityKnown")

    def overflows(self):
        metrics = self.running.http("/metrics")[1]
        found = re.search(r'^watch_overflows_total\{cluster="cluster3"\} (\d+)$', metrics, re.M)
        return int(found[1]) if found else 0

    def nodes(self):
        """Those of cluster3 that the log has, the most that it had at one time, and the events about them."""
        events = [event for event in self.running.events(kind="Node", source="cluster3") if "name" in event]
        live, most = set(), 0
        for event in events:
            (live.add if event["fact"] == "ObjectObserved" else live.discard)(event["name"])
            most = max(most, len(live))
        return live, most, events

    def quota_of_high(self):
        return quota(self.server, HIGH, "on-demand", "cpu") or 0

    def check_other_member(self):
        hub = self.running
        before = self.quota_of_high()
        remove_node(self.member, "on-demand-0")
        hub.wait_until("the other member's loss in the quota", lambda: self.quota_of_high() < before)
        add_node(self.member, "on-demand-0", "on-demand")
        hub.wait_until("its node back in the quota", lambda: self.quota_of_high() == before)


class EndlessMemberTest(BoundedMemberTest):
    def test_it_is_stale_with_a_reason_and_the_others_go_on(self):
        hub = self.running
        hub.wait_until("the reason on the claim", lambda: self.capacity_known() == ("Unknown", "TooManyNodes"))
        hub.wait_until("a second attempt", lambda: self.overflows() > 1)
        self.check_other_member()
        self.assertTrue(hub.said(f"more than {BOUND} (members.nodesMax)"))

        overflows = self.overflows()
        _, most, events = self.nodes()
        # While a list is under way those of the one before are there still.
        self.assertLessEqual(most, 2 * (BOUND + 1))
        self.assertLessEqual(len(events), 2 * (BOUND + 1) * (overflows + 2))

        self.endless.calm(5)
        hub.wait_until("the member to be read again", lambda: self.capacity_known() == ("True", "Accepted"), timeout=60)
        self.assertEqual(len(self.nodes()[0]), 5)
        hub.stop()
        hub.check_log()


class RestlessMemberTest(BoundedMemberTest):
    settings = (f"members.nodesMax={BOUND}", f"members.changesPerMinute={CHANGES}")

    def prepare(self):
        self.endless.restless(5)

    def test_it_is_stale_with_a_reason_and_the_others_go_on(self):
        hub = self.running
        hub.wait_until("the reason on the claim", lambda: self.capacity_known() == ("Unknown", "TooManyChanges"))
        self.assertTrue(hub.said(f"more than {CHANGES} changes a minute (members.changesPerMinute)"))
        self.endless.calm(5)
        self.check_other_member()
        _, most, events = self.nodes()
        self.assertLessEqual(most, 6)
        # What may come at once, the change that exceeds it, and what was paid for meanwhile.
        seconds = (time_of(events[-1]) - time_of(events[0])).total_seconds()
        self.assertLessEqual(len(events), CHANGES + 1 + seconds * CHANGES / 60)
        self.assertLess(seconds, 60)
        hub.wait_until("the member to be read again", lambda: self.capacity_known() == ("True", "Accepted"),
                       timeout=120)
        self.assertEqual(len(self.nodes()[0]), 5)
        hub.stop()
        hub.check_log()


if __name__ == "__main__":
    unittest.main()
