"""`fairlead hub` while things break: itself, the API server, the connection, the history that it watches."""

import datetime
import json
import random
import threading
import time
import unittest

from harness.apiserver import Refused
from harness.fleet import (CLAIMS, CRDS, QUEUES, add_node, claim, prepare_hub, quantity, quota, quotas,
                           remove_node)
from harness.hub import AT_ONCE, Hub
from harness.process import stays
from harness.program import fairlead
from test_hub import CLAIM, HIGH, HubTest

NEEDS = ("controlplane", "fairlead")


class RestartTest(HubTest):
    def test_a_restart_writes_nothing_and_takes_in_what_happened_meanwhile(self):
        hub = self.started_with_claim()
        before, seq = self.generations(), hub.stat()["last_seq"]
        hub.stop()
        hub.start()
        hub.wait_until("the new epoch", lambda: hub.stat()["last_seq"] > seq)
        stays("the queues' generations", lambda: self.generations() == before, seconds=3)
        hub.stop()
        remove_node(self.member, "on-demand-0")
        remove_node(self.member, "spot-0")
        add_node(self.member, "spot-0", "spot")
        hub.start()
        self.wait_for_cpu(hub, "400", "500")
        hub.stop()
        hub.check_log()

    def test_a_killed_api_server_delays_and_loses_nothing(self):
        hub = self.started_with_claim()
        self.server.kill()
        remove_node(self.member, "on-demand-0")
        hub.wait_until("the lost node in the log", lambda: hub.events(fact="ObjectGone", name="on-demand-0"))
        self.server.start()
        self.wait_for_cpu(hub, "400", "500", timeout=120)  # a watch that failed backs off first
        self.member.restart()
        remove_node(self.member, "spot-0")
        self.wait_for_cpu(hub, "400", "400", timeout=120)
        hub.stop()
        hub.check_log()

    def test_a_silent_api_server_is_noticed_and_forgiven(self):
        hub = self.started_with_claim()
        self.member.pause()
        stays("the hub runs", hub.check_running, seconds=5)
        self.member.resume()
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500", timeout=60)


    def test_a_server_with_nothing_to_say_is_not_taken_for_a_lost_one(self):
        """Bookmarks come once a minute: a stream is proved sooner where less silence counts."""
        hub = self.started_with_claim(settings=(AT_ONCE, "debounce.staleAfter=16s", "debounce.lostAfter=24s"))
        began = hub.stat()["last_seq"]
        time.sleep(40)
        self.wait_for_cpu(hub, "500", "500")
        hub.stop()
        silences = [event for fact in ("SourceStale", "SourceLost") for event in hub.events(fact=fact)]
        self.assertEqual([event for event in silences if event["seq"] > began], [])


class ConflictTest(HubTest):
    """Another writer sets the queue's status all the time, as Kueue does on a busy hub."""

    def begin_to_write(self):
        self.ends = threading.Event()
        self.pause = 0  # seconds
        for _ in range(3):  # on a slow machine one alone is often too slow to come between
            writer = threading.Thread(target=self.write_statuses)
            writer.start()
            self.addCleanup(writer.join)
        self.addCleanup(self.ends.set)

    def write_statuses(self):
        number = 0
        while not self.ends.wait(self.pause):
            number += 1
            try:
                self.server.merge(f"{QUEUES}/{HIGH}/status", {"status": {"pendingWorkloads": number}}, user="admin")
            except Refused as refused:
                if refused.code == 404:  # the queue is gone
                    return

    def test_what_a_conflict_kept_back_comes_when_the_write_interval_is_over(self):
        hub = self.started_with_claim(settings=(AT_ONCE, "debounce.writeInterval=2s"))
        self.begin_to_write()
        conflicts = []

        def conflict_or_quota():
            conflicts[:] = [event for event in hub.events(fact="PatchRejected") if event["httpCode"] == 409]
            return conflicts or quota(self.server, HIGH, "on-demand", "cpu") == quantity(wanted)

        for base in range(1, 25):
            time.sleep(2.5)
            wanted = str(500 + base)
            self.server.merge(f"{QUEUES}/{HIGH}", {"metadata": {"annotations": {
                "fairlead.io/base-quota": json.dumps({"on-demand": {"cpu": str(base)}})}}})
            hub.wait_until(f"cpu quota {wanted} or a conflict", conflict_or_quota, timeout=90)
            if conflicts:
                break
        # Without a pause the three can win every time. From here on they write as often as Kueue may.
        self.pause = 1
        self.wait_for_cpu(hub, wanted, "500", timeout=90)
        self.assertTrue(conflicts, "no other writer was faster: the test tests nothing")
        hub.stop()
        hub.check_log()


class WebhookTest(HubTest):
    """Kueue's webhook does not answer: the API server says 500 to every write of a ClusterQueue."""

    WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

    def break_webhook(self):
        rule = {"apiGroups": ["kueue.x-k8s.io"], "apiVersions": ["*"], "operations": ["UPDATE"],
                "resources": ["clusterqueues"]}
        self.server.create(self.WEBHOOKS, {
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "kueue"}, "webhooks": [{
                "name": "vclusterqueue.kb.io", "rules": [rule], "sideEffects": "None",
                "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "timeoutSeconds": 1,
                "clientConfig": {"url": "https://127.0.0.1:1/validate"}}]})
        self.addCleanup(self.server.clear, self.WEBHOOKS)

    def assign(self, cpu):
        edited = self.server.get(CLAIM)["spec"]["resourceAssignments"]
        edited[0]["resources"]["cpu"] = cpu
        self.server.merge(CLAIM, {"spec": {"resourceAssignments": edited}})

    def propagated(self):
        conditions = self.server.get(CLAIM).get("status", {}).get("conditions", [])
        return next((one for one in conditions if one["type"] == "Propagated"), {})

    def test_claim_and_why_not_name_the_answer_and_the_write_is_tried_ever_less_often(self):
        hub = self.started_with_claim()
        hub.wait_until("Propagated=True", lambda: self.propagated().get("status") == "True")
        self.break_webhook()
        self.assign("400")
        hub.wait_until("WriteUnavailable", lambda: self.propagated().get("reason") == "WriteUnavailable")
        self.assertRegex(self.propagated()["message"], f"^ClusterQueue {HIGH}: 500: .*failed calling webhook")
        hub.wait_until("three refusals", lambda: len(hub.events(fact="PatchRejected")) >= 3, timeout=60)
        times = [datetime.datetime.fromisoformat(event["logTime"][:26].rstrip("Z") + "+00:00")
                 for event in hub.events(fact="PatchRejected")]
        waits = [(after - before).total_seconds() for before, after in zip(times, times[1:])]
        # An outage: from the write interval on, here less than the second that is the least.
        self.assertTrue(1 <= waits[0] < 4 and 2 <= waits[1] < 5, waits)
        done = fairlead("audit", "why-not", HIGH, "on-demand", "cpu", "--data", hub.data)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "refused with 500: .*failed calling webhook")
        self.assertEqual(self.propagated()["status"], "False")
        self.server.clear(self.WEBHOOKS)
        self.wait_for_cpu(hub, "400", "500", timeout=60)
        hub.wait_until("Propagated=True", lambda: self.propagated().get("status") == "True")
        hub.stop()
        hub.check_log()


class CompactionTest(HubTest):
    options = {"compaction_interval": "2s", "watch_cache_size": 0}

    def test_a_compacted_history_is_listed_again(self):
        hub = self.started_with_claim()
        hub.process.pause()
        remove_node(self.member, "on-demand-0")
        remove_node(self.member, "spot-0")
        add_node(self.member, "spot-0", "spot")
        time.sleep(7)
        # With an empty watch cache the server can only say 410 to the hub's old resourceVersion.
        self.member.restart()
        hub.process.resume()
        self.wait_for_cpu(hub, "400", "500", timeout=60)
        hub.stop()
        hub.check_log()


class KillTest(HubTest):
    ROUNDS = 8

    def test_kill_9_at_random_moments_loses_no_event_and_ends_like_an_undisturbed_run(self):
        seed = random.SystemRandom().randrange(10**6)
        with self.subTest(seed=seed):
            self.disturbed_run(random.Random(seed))

    def disturbed_run(self, chance):
        hub = self.started_with_claim()
        for _ in range(self.ROUNDS):
            name = f"{chance.choice(('on-demand', 'spot'))}-{chance.randrange(5)}"
            remove_node(self.member, name)
            if chance.random() < 0.5:
                add_node(self.member, name, name.rsplit("-", 1)[0])
            time.sleep(chance.random() * 0.4)
            acknowledged = hub.stat()["last_seq"]
            hub.kill()
            self.assertGreaterEqual(hub.stat()["last_seq"], acknowledged, "an acknowledged event is gone")
            self.assertEqual(hub.stat()["chain"], "ok")
            hub.start()
            time.sleep(chance.random() * 0.6)
        remove_node(self.member, "spot-4")
        expected = self.undisturbed()

        def equal():
            seen = quotas(self.server)
            assert seen == expected, f"{seen} instead of {expected}"
            return True

        hub.wait_until("the state of an undisturbed run", equal)
        hub.stop()
        hub.check_log()

    def undisturbed(self):
        """What another hub, never killed, makes of the same nodes and claim."""
        fresh = self.plane.add_server("fresh")
        fresh.install_crds(only=CRDS)
        prepare_hub(fresh)
        other = Hub(self.plane, fresh, {"cluster2": self.member}).start()
        self.addCleanup(other.finish)
        fresh.create(CLAIMS, claim())
        last = []

        def settled():
            last.append(quotas(fresh))
            return len(last) > 10 and any(last[-1].values()) and last[-1] == last[-10]

        other.wait_until("the undisturbed run to settle", settled)
        other.stop()
        return last[-1]


if __name__ == "__main__":
    unittest.main()
