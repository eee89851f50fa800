"""`fairlead hub` while things break: itself, the API server, the connection, the history that it watches."""

import random
import time
import unittest

from harness.fleet import CLAIMS, CRDS, add_node, claim, prepare_hub, quotas, remove_node
from harness.hub import Hub
from harness.process import stays
from test_hub import HubTest

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
