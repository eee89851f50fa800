"""The runner itself: a suite that cannot run says so by name and count, and fails where CI is set."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

RUN = pathlib.Path(__file__).resolve().with_name("run.py")
MODULE = """
import unittest
NEEDS = {needs}
class Case(unittest.TestCase):
    def test_one(self): self.assertTrue({one})
    def test_two(self): pass
"""


class RunnerTest(unittest.TestCase):
    def run_module(self, needs=(), one=True, ci=False, arguments=()):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "test_made_up.py").write_text(MODULE.format(needs=needs, one=one))
            env = {key: text for key, text in os.environ.items() if key != "CI"}
            env.update(KUBEBUILDER_ASSETS=folder, FAIRLEAD=f"{folder}/none", **({"CI": "true"} if ci else {}))
            done = subprocess.run([sys.executable, RUN, "--folder", folder, "test_made_up", *arguments], env=env,
                                  capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_a_suite_that_passes(self):
        self.assertEqual(self.run_module()[0], 0)
        self.assertEqual(self.run_module(ci=True)[0], 0)

    def test_a_suite_that_fails(self):
        self.assertEqual(self.run_module(one=False)[0], 1)

    def test_what_is_missing_is_named_and_counted(self):
        for needs, what in ((("controlplane",), "no control plane"), (("fairlead",), "no fairlead program")):
            code, text = self.run_module(needs=needs)
            self.assertEqual(code, 77)
            self.assertIn("SKIPPED test_made_up.Case.test_one: " + what, text)
            self.assertIn("SKIPPED 2 of 2 tests", text)

    def test_what_is_missing_on_ci_is_a_failure(self):
        code, text = self.run_module(needs=("controlplane",), ci=True)
        self.assertEqual(code, 1)
        self.assertIn("SKIPPED 2 of 2 tests", text)

    def test_no_test_at_all_is_a_failure(self):
        self.assertEqual(self.run_module(arguments=("-k", "nothing-of-this-name"))[0], 1)


if __name__ == "__main__":
    unittest.main()
