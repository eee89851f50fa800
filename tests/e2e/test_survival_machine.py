"""`fairlead hub` on a machine that fails it: a full disk, a clock that jumps, huge objects, flapping nodes."""

import concurrent.futures
import http.client
import json
import random
import shutil
import threading
import time
import unittest

from harness.fleet import CLAIMS, NODES, QUEUES, add_node, claim
from harness.hub import Hub
from harness.process import wait_for
from harness.program import fairlead
from survival import EXHAUSTIVE, LESS, WHOLE, Faults, SurvivalTest
from test_hub import HIGH, LOW

NEEDS = ("controlplane", "fairlead", "fault shim")

FLAPPING_NODES = 5000 if EXHAUSTIVE else 600
FLAPS = 6 if EXHAUSTIVE else 3
FLIPS, CUTS = (1000, 200) if EXHAUSTIVE else (20, 5)
# Exit codes: the answer of `verify` is no, and a hub that cannot go on.
BROKEN, FAILED = 1, 3


class MachineTest(SurvivalTest):
    def setUp(self):
        super().setUp()
        self.faults = Faults(self.plane.directory / "faults")

    def test_a_full_disk_ends_the_hub_and_room_brings_it_back(self):
        hub = self.undisturbed_first()
        hub.stop()
        hub.start(self.faults.environment)
        self.wait_for_rest(hub)
        acknowledged = hub.stat()["last_seq"]
        self.faults.tell(disk_full=True)
        self.show(LESS)
        self.assertEqual(hub.process.wait(30), FAILED, hub.process.tail())
        self.assertTrue(hub.said("the disk is full"), hub.process.tail())
        self.assertEqual(hub.stat()["last_seq"], acknowledged)
        hub.start(self.faults.environment)
        self.assertEqual(hub.process.wait(30), FAILED, hub.process.tail())
        self.faults.tell(disk_full=False)
        hub.start(self.faults.environment)
        self.check_survived(hub)

    def test_a_clock_that_is_set_back_an_hour_holds_up_nothing(self):
        hub = self.undisturbed_first()
        hub.stop()
        hub.start(self.faults.environment)
        self.wait_for_rest(hub)
        self.faults.tell(clock_seconds=-3600)
        self.assertTrue(wait_for("a word about the clock", lambda: hub.said("the clock is behind the log")))
        self.show(LESS)
        self.wait_for_convergence(hub)
        hub.stop()
        hub.start(self.faults.environment)
        self.assertTrue(wait_for("a word about the clock", lambda: hub.said("the clock is behind the log")))
        self.show(WHOLE)
        self.wait_for_convergence(hub)
        self.faults.tell(clock_seconds=+3600)
        self.show(LESS)
        self.check_survived(hub)

    def test_windows_end_in_time_after_the_clock_was_set_back(self):
        hub = self.hub(settings=("debounce={firstQuiet: 1s, shrinkWindow: 5s, growWindow: 5s, minGrowInterval: 0s, "
                                 "ingestCoalesce: 0s, writeInterval: 0s, massShrinkPercent: 0}",))
        hub.start(self.faults.environment)
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        self.faults.tell(clock_seconds=-3600)
        self.show(LESS)
        self.wait_for_cpu(hub, "500", "400", timeout=60)
        hub.stop()
        hub.check_log()

    def test_the_largest_objects_that_etcd_takes(self):
        hub = self.undisturbed_first()
        # What no rule reads: it is not logged.
        self.say_of_node("on-demand-1", "x" * 1_400_000)
        # What is logged unchanged.
        values = [f"value-{number:06}" for number in range(90_000)]
        self.server.merge(f"{QUEUES}/{LOW}", {"spec": {"namespaceSelector": {
            "matchExpressions": [{"key": "k", "operator": "In", "values": values}]}}})
        self.show(LESS)
        self.wait_for_cpu(hub, "500", "400")
        self.server.merge(f"{QUEUES}/{LOW}", {"spec": {"namespaceSelector": None}})
        self.server.merge(f"{QUEUES}/{LOW}", {"spec": {"namespaceSelector": {}}})
        longest = max(len(json.dumps(event)) for event in hub.events(kind="ClusterQueue"))
        self.assertGreater(longest, 1_000_000)
        self.assertLess(max(len(json.dumps(event)) for event in hub.events(kind="Node")), 10_000)
        self.check_survived(hub)

    def say_of_node(self, name, text):
        self.member.merge(f"{NODES}/{name}/status", {"status": {"conditions": [
            {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": text}]}}, user="admin")

    def test_flipped_bits_and_torn_tails_of_a_real_log(self):
        """On copies: `fairlead log verify` says so, and a start refuses."""
        hub = self.undisturbed_first()
        self.show(LESS)
        self.wait_for_convergence(hub)
        self.wait_for_rest(hub)  # a commit that is not acknowledged yet may be torn
        hub.kill()
        journals = sorted((hub.data / "log").glob("*.log"))
        self.assertTrue(journals)
        journal = max(journals, key=lambda path: path.stat().st_size)
        size = journal.stat().st_size
        chance = random.Random(size)
        with self.subTest("flips", seed=size):
            for _ in range(FLIPS):
                place = chance.randrange(size)
                self.check_flipped(hub, journal.name, place, 1 << chance.randrange(8))
        for cut in sorted({0, 1, size - 1, *(chance.randrange(size) for _ in range(CUTS))}):
            with self.subTest("torn", bytes=cut):
                self.check_torn(hub, journal.name, cut)

    def copy(self, hub):
        copy = self.plane.directory / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(hub.data, copy)
        return copy

    def check_flipped(self, hub, name, place, bit):
        copy = self.copy(hub)
        data = bytearray((copy / "log" / name).read_bytes())
        data[place] ^= bit
        (copy / "log" / name).write_bytes(data)
        done = fairlead("log", "verify", "--data", copy)
        self.assertEqual(done.returncode, BROKEN, f"bit {bit} of byte {place}: {done.stdout}{done.stderr}")

    def check_torn(self, hub, name, cut):
        """What was acknowledged is missing: it is refused, never taken for a shorter history."""
        copy = self.copy(hub)
        with open(copy / "log" / name, "r+b") as file:
            file.truncate(cut)
        verified = fairlead("log", "verify", "--data", copy)
        self.assertEqual(verified.returncode, BROKEN, verified.stdout + verified.stderr)
        opened = Hub(self.plane, self.server, {"cluster2": self.member}, data=copy).start()
        self.assertEqual(opened.process.wait(30), FAILED, opened.process.tail())

    def connect(self):
        self.local.connection = http.client.HTTPSConnection("127.0.0.1", self.member.port, context=self.member.tls)

    def ask(self, method, path, body, content_type="application/json"):
        headers = {"Authorization": f"Bearer {self.plane.tokens['admin']}", "Content-Type": content_type}
        self.local.connection.request(method, path, json.dumps(body), headers)
        answer = self.local.connection.getresponse()
        text = answer.read()
        assert answer.status < 300, text

    def node(self, number):
        resources = {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}
        return {"apiVersion": "v1", "kind": "Node",
                "metadata": {"name": f"n{number}", "labels": {"pool": ("on-demand", "spot")[number % 2]}},
                "status": {"allocatable": resources, "capacity": resources, "conditions": [
                    {"type": "Ready", "status": "True", "reason": "KubeletReady"}]}}

    def flap(self, number, ready):
        self.ask("PATCH", f"{NODES}/n{number}/status", {"status": {"conditions": [
            {"type": "Ready", "status": ready, "reason": "Flap"}]}}, "application/merge-patch+json")

    def all_of(self, work):
        began = time.monotonic()
        for done in [self.connections.submit(work, number) for number in range(FLAPPING_NODES)]:
            done.result()
        return time.monotonic() - began

    def test_thousands_of_nodes_that_flap_cost_hardly_a_write(self):
        """With the default windows, as a hub runs."""
        self.member.clear(NODES)
        self.local = threading.local()
        self.connections = concurrent.futures.ThreadPoolExecutor(4, initializer=self.connect)
        self.addCleanup(self.connections.shutdown)
        self.all_of(lambda number: self.ask("POST", NODES, self.node(number)))
        self.all_of(lambda number: self.ask("PATCH", f"{NODES}/n{number}", {"spec": {"taints": None}},
                                            "application/merge-patch+json"))
        hub = self.hub(settings=("debounce.firstQuiet=2s",)).start()
        self.server.create(CLAIMS, claim())
        half = str(min(500, FLAPPING_NODES // 2))
        self.wait_for_cpu(hub, half, half, timeout=120)
        self.wait_for_rest(hub)
        before, seq = len(hub.events(fact="PatchIntended")), hub.stat()["last_seq"]
        for ready in ("False", "True") * FLAPS:
            took = self.all_of(lambda number, said=ready: self.flap(number, said))
        written = len(hub.events(fact="PatchIntended")) - before
        observed = hub.stat()["last_seq"] - seq
        print(f"{FLAPPING_NODES} nodes, {2 * FLAPS} changes each, {took:.1f} s a round: {observed} events, "
              f"{written} writes", flush=True)
        self.assertGreater(observed, FLAPPING_NODES)
        self.assertLess(written, observed / 100)
        self.wait_for_rest(hub, timeout=120)
        hub.stop()
        hub.check_log()


if __name__ == "__main__":
    unittest.main()
