"""A claim's status that another writer overwrites or wipes: the hub writes it again, once a minute at most."""

import json
import unittest

from harness.fleet import CLAIMS
from test_hub import CLAIM, HubTest

NEEDS = ("controlplane", "fairlead")

NAME = CLAIM.rpartition("/")[2]
AUDITED = {"type": "Audited", "status": "True", "reason": "Seen", "message": "by another manager",
           "lastTransitionTime": "2026-01-01T00:00:00Z"}


class ClaimStatusTest(HubTest):
    def status(self):
        return self.server.get(CLAIM).get("status", {})

    def ours(self):
        """What the hub wrote, but for the place in the log that it was derived at."""
        status = self.status()
        status.pop("seq", None)
        status["conditions"] = sorted((c for c in status.get("conditions", []) if c["type"] != "Audited"),
                                      key=lambda condition: condition["type"])
        return status

    def patch(self, *operations):
        self.server.kubectl("patch", CLAIMS.rpartition("/")[2], NAME, "--subresource=status", "--type=json",
                            "-p", json.dumps(operations))

    def restores(self, hub):
        return [event for event in hub.events(fact="PatchIntended", kind="ClusterResourceClaim")
                if event["reason"]["rule"] == "claims/restore-status"]

    def settled(self):
        states = {c["type"]: c["status"] for c in self.status().get("conditions", [])}
        return states.get("FullyGranted") == "True" and states.get("Propagated") == "True"

    def test_a_hundred_overwrites_and_a_wipe_are_answered_with_one_write_a_minute_after_the_last(self):
        hub = self.started_with_claim()
        hub.wait_until("the claim to say that all is well", self.settled)
        before = self.ours()
        self.patch({"op": "add", "path": "/status/conditions/-", "value": AUDITED})
        for number in range(100):
            self.server.merge(f"{CLAIM}/status", {"status": {"capacity": [{"resource": "cpu", "accepted": str(number)}],
                                                             "unassigned": {"cpu": str(number)}}}, user="admin")
        self.server.kubectl("patch", CLAIMS.rpartition("/")[2], NAME, "--subresource=status", "--type=merge",
                            "-p", json.dumps({"status": {"capacity": None, "grants": None, "overcommitted": None,
                                                         "unassigned": None, "seq": None, "observedGeneration": None,
                                                         "conditions": [AUDITED]}}))
        self.assertEqual(self.ours(), {"conditions": []})
        hub.wait_until("the status to be as it was", lambda: self.ours() == before, timeout=90)
        self.assertIn(AUDITED, self.status()["conditions"])
        self.assertEqual(len(self.restores(hub)), 1)
        # The first overwrite is in the log; that another follows says nothing new, nor does our own echo.
        restore = self.restores(hub)[0]
        seen = [event for event in hub.events(fact="ObjectObserved", kind="ClusterResourceClaim")
                if event["seq"] >= min(restore["reason"]["because"])]
        self.assertEqual(len(seen), 1)
        hub.stop()
        hub.check_log()


if __name__ == "__main__":
    unittest.main()
