"""Devices: the allocator of Kubernetes' scheduler, the model and our own search give random worlds the same answer.

Worlds of one pod and one node; tests/conformance/devices makes them and says what each difference comes from: a sample
about everything, and one about the rules that meet least often. Gangs in clusters, which the allocator cannot judge,
are compared between the model and ours. `compare_devices.py` runs more.
"""

import os
import pathlib
import subprocess
import sys
import unittest

from harness.controlplane import oracle

NEEDS = ("allocator-oracle",)

COMPARE = pathlib.Path(__file__).resolve().parent / "devices/compare_devices.py"
OURS = os.environ.get("FAIRLEAD_DEVICES_FIT", "")
RARE = "admin,counters,counts,multi claims,same pool,used"


class Devices(unittest.TestCase):
    def compare(self, *options):
        command = [sys.executable, str(COMPARE), "--oracle", str(oracle("allocator-oracle")), *options,
                   "--seconds", "180"]
        done = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_the_model_answers_as_the_allocator(self):
        self.compare("--model", "--seeds", "0..800")

    def test_what_explains_a_difference_is_met(self):
        out = self.compare("--model", "--seeds", "0..300", "--features", RARE)
        for name in ("counters by pool name", "an over-used set blocks its pool", "adminAccess costs counters again"):
            self.assertIn(name, out)

    @unittest.skipUnless(os.access(OURS, os.X_OK), "no fairlead-devices-fit (the build makes it)")
    def test_our_search_answers_as_both(self):
        self.compare("--ours", OURS, "--model", "--seeds", "1500..2300")

    @unittest.skipUnless(os.access(OURS, os.X_OK), "no fairlead-devices-fit (the build makes it)")
    def test_our_search_places_gangs_as_the_model(self):
        self.compare("--ours", OURS, "--model", "--clusters", "--seeds", "0..500")


if __name__ == "__main__":
    unittest.main()
