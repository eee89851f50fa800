"""The connector alone against a real API server: the hidden tests of the unit suite `unit/kube`."""

import os
import pathlib
import re
import subprocess
import unittest

from harness.controlplane import ControlPlane

NEEDS = ("controlplane", "fairlead")


def unit_tests():
    """The program of unit/kube, of the build tree that $FAIRLEAD is in."""
    return pathlib.Path(os.environ["FAIRLEAD"]).parent / "tests/unit/kube/test-unit-kube"


class ConnectorTest(unittest.TestCase):
    def test_it_watches_and_writes(self):
        with ControlPlane() as plane:
            hub = plane.add_server("hub")
            hub.install_crds()
            done = subprocess.run([unit_tests(), "[.real]"], capture_output=True, text=True, timeout=300,
                                  env={**os.environ, "FAIRLEAD_TEST_KUBECONFIG": str(hub.kubeconfig())})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        passed = re.search(r"\((\d+) assertions in (\d+) test cases\)", done.stdout)
        self.assertEqual(passed and passed[2], "4", done.stdout)


if __name__ == "__main__":
    unittest.main()
