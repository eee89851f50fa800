"""kill -9 of `fairlead hub` at random moments, at every stop point, and around every request that it sends."""

import itertools
import os
import random
import signal
import time
import unittest

from harness.program import binary, stop_points, stopping
from harness.interceptor import Answer, Interceptor
from harness.process import Deadline, wait_for
from survival import EXHAUSTIVE, LESS, LONG_QUIET, WHOLE, SurvivalTest

NEEDS = ("controlplane", "fairlead", "stop points")

RANDOM_KILLS = 140 if EXHAUSTIVE else 4
WIRE_KILLS = 10 if EXHAUSTIVE else 1
ROUND_QUIET = 1


def passings():
    """Which passing of which stop point ends the process: while it starts, and in the middle of work."""
    for number, name in enumerate(stop_points()):
        if name.startswith("snapshot."):
            yield from ((name, 1), (name, 2))  # sums of use while it starts; when it ends the snapshot and the index
        elif EXHAUSTIVE:
            yield from ((name, passing) for passing in (1, 2, 3, 5))
        else:
            yield name, 1 + number % 3


class KillTest(SurvivalTest):
    """Each round changes the fleet, so that there is something to write, and ends the hub on its way."""

    def setUp(self):
        super().setUp()
        self.pictures = itertools.cycle((LESS, WHOLE))

    def survives(self, hub, acknowledged=0):
        """After a kill: nothing acknowledged is lost; started again it converges, and writes no more."""
        stat = hub.stat()
        self.assertEqual(stat["chain"], "ok")
        self.assertGreaterEqual(stat["last_seq"], acknowledged, "an acknowledged event is gone")
        hub.start()
        self.check_survived(hub, quiet=ROUND_QUIET)

    def test_at_random_moments(self):
        seed = int(os.environ.get("FAIRLEAD_SEED") or random.SystemRandom().randrange(10**6))
        print(f"seed {seed}", flush=True)
        chance = random.Random(seed)
        hub = self.undisturbed_first()
        with self.subTest(seed=seed):
            for _ in range(RANDOM_KILLS):
                if not hub.process.running():
                    hub.start()
                time.sleep(chance.random() * 0.8)
                self.show(next(self.pictures))
                time.sleep(chance.random() * 0.3)
                acknowledged = hub.stat()["last_seq"]
                hub.kill()
                self.survives(hub, acknowledged)
            hub.start()
            self.check_survived(hub, quiet=LONG_QUIET)

    def test_at_every_stop_point(self):
        hub = self.undisturbed_first(program=stopping())
        hub.stop()
        for name, passing in passings():
            with self.subTest(f"{name}:{passing}"):
                hub.kill()  # of a round that failed
                hub.start({"FAIRLEAD_STOP_AT": f"{name}:{passing}"})
                self.disturb_until_it_stops(hub)
                self.assertEqual(hub.process.child.returncode, -signal.SIGKILL, hub.process.tail())
                self.survives(hub)

    def disturb_until_it_stops(self, hub):
        """Each change gives it a batch of facts, writes to send and answers to log; its end a snapshot to take."""
        def stopped():
            self.show(next(self.pictures))
            if hub.process.env["FAIRLEAD_STOP_AT"].startswith("snapshot."):
                try:
                    self.wait_for_rest(hub)
                    hub.process.signal(signal.SIGTERM)
                except Deadline:
                    self.assertFalse(hub.process.running(), "the log does not rest")
            end = time.monotonic() + 2
            while time.monotonic() < end and hub.process.running():
                time.sleep(0.02)
            return not hub.process.running()
        wait_for("the stop point to be passed", stopped, timeout=30, interval=0)

    def test_a_stop_point_that_is_not_there_is_refused(self):
        hub = self.hub(program=stopping()).start({"FAIRLEAD_STOP_AT": "append.never:1"})
        self.assertEqual(hub.process.wait(30), 2, hub.process.tail())
        self.assertIn("append.never:1", hub.process.text())

    def test_when_a_write_has_left_and_when_the_server_has_carried_it_out(self):
        with Interceptor(self.server) as between:
            hub = self.undisturbed_first(kubeconfig=between.kubeconfig())
            for moment, _ in itertools.product(("left", "carried out"), range(WIRE_KILLS)):
                with self.subTest(moment):
                    hub.kill()  # of a round that failed
                    self.killed_by_the_wire(hub, between, moment)
                    self.survives(hub)

    def killed_by_the_wire(self, hub, between, moment):
        def kill(request):
            if request.writes():
                hub.process.signal(signal.SIGKILL)
                between.fault, between.carried_out = (lambda request: None), (lambda request: None)
                return Answer(503)  # its caller is killed
            return None
        hub.start()
        self.wait_for_convergence(hub)
        if moment == "left":
            between.fault = kill
        else:
            between.carried_out = kill
        self.show(next(self.pictures))
        self.assertEqual(hub.process.wait(30), -signal.SIGKILL)


class ShippedProgramTest(unittest.TestCase):
    def test_the_shipped_program_has_no_stop_points(self):
        text = binary().read_bytes()
        self.assertIn(b"FAIRLEAD_STOP_AT", stopping().read_bytes())
        for word in (b"FAIRLEAD_STOP_AT", b"append.half_written"):
            self.assertNotIn(word, text)


if __name__ == "__main__":
    unittest.main()
