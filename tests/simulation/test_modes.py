#!/usr/bin/env python3
"""Modes of the simulator that take a failure or an incident: a failing seed made smaller, an export as the workload.

    test_modes.py shrink SIMULATOR             one that has mutants
    test_modes.py incident SIMULATOR FAIRLEAD
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

SIMULATOR = FAIRLEAD = ""
# A mistake that shows only after a server went back to a backup.
MUTANT = "ingest/restore-unnoticed"
SEEDS = range(1, 9)


def simulate(*arguments, mutant=""):
    """The exit code and what was printed."""
    done = subprocess.run([SIMULATOR, *map(str, arguments)], env={**os.environ, "FAIRLEAD_MUTANT": mutant}, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)
    return done.returncode, done.stdout


def numbers(storm):
    """The numbers of a storm file by their names."""
    rows = (line.partition("#")[0].split() for line in storm.splitlines())
    return {row[0]: int(row[1]) for row in rows if row}


def checker(output):
    return re.search(r"^FAILED (.+?) (?:at|\()", output, re.MULTILINE).group(1)


class ShrinkTest(unittest.TestCase):
    def test_a_failing_seed_becomes_a_smaller_storm_that_fails_alike(self):
        options = ["--hours", 1, "--quiet"]
        failed = next((seed for seed in SEEDS if simulate("--seed", seed, *options, mutant=MUTANT)[0]), None)
        self.assertIsNotNone(failed, f"no seed of {SEEDS} finds {MUTANT}")
        self.assertEqual(simulate("--seed", failed, *options)[0], 0, "the seed fails without the mutant, too")
        _, output = simulate("--seed", failed, *options, mutant=MUTANT)
        _, whole = simulate("--seed", failed, "--hours", 1, "--print")
        code, shrunken = simulate("--seed", failed, "--hours", 1, "--shrink", mutant=MUTANT)
        self.assertEqual(code, 1)
        storm = shrunken[:shrunken.index("\nseed ", shrunken.index("\nseed ") + 1) + 1]
        small, large = numbers(storm), numbers(whole)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "small.storm"
            file.write_text(storm)
            code, again = simulate("--scenario", file, "--quiet", mutant=MUTANT)
            self.assertEqual((code, checker(again)), (1, checker(output)))
            self.assertEqual(simulate("--scenario", file, "--quiet")[0], 0)
        # Every number is as it was or smaller, and of what can go wrong little is left.
        for name, value in small.items():
            self.assertLessEqual(value, large.get(name, value), name)
        self.assertLess(len(small), len(large) * 2 / 3, storm)


class IncidentTest(unittest.TestCase):
    """What `fairlead dev` logged, exported, is the workload."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        data = pathlib.Path(cls.folder.name) / "data"
        cls.bundle = pathlib.Path(cls.folder.name) / "incident.bundle"
        for arguments in (["dev", "--speed", "300", "--for", "12s", "--data", data],
                          ["log", "export", cls.bundle, "--data", data]):
            subprocess.run([FAIRLEAD, *arguments], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           timeout=300)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_its_facts_are_the_workload_of_a_run_in_which_nothing_goes_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            calm = pathlib.Path(folder) / "calm.storm"
            calm.write_text("seed 1\n")
            code, output = simulate("--from-bundle", self.bundle, "--scenario", calm)
        self.assertEqual(code, 0, output[-2000:])
        incident = re.search(r"^incident: (\d+) members, (\d+) changes in ", output, re.MULTILINE)
        self.assertGreaterEqual(int(incident.group(1)), 1)
        self.assertGreater(int(incident.group(2)), 20)
        # What people and machines did is done again, and the hub of the run answers with writes of its own.
        self.assertIn("incident POST hub/apis/galaxy.kubestellar.io/v1alpha1/clusterresourceclaims", output)
        self.assertRegex(output, r" incident PATCH \S+/nodes/\S+ 200")
        self.assertRegex(output, r" hub-0 PATCH hub/apis/kueue.x-k8s.io/v1beta2/clusterqueues/\S+ 200")
        self.assertNotRegex(output, r" incident \S+ \S+ 4\d\d")

    def test_faults_are_added_around_it(self):
        code, output = simulate("--from-bundle", self.bundle, "--seeds", "1..4")
        self.assertEqual(code, 0, output[-2000:])
        faults = re.search(r"^faults by kind:(.*)$", output, re.MULTILINE).group(1)
        self.assertGreater(len(faults.split()), 20, faults)

    def test_what_is_no_bundle_is_refused(self):
        code, output = simulate("--from-bundle", __file__, "--seed", 1)
        self.assertNotEqual(code, 0)
        self.assertIn("--from-bundle", output)


if __name__ == "__main__":
    mode, SIMULATOR, *rest = sys.argv[1:]
    if mode == "incident":
        (FAIRLEAD,) = rest
    unittest.main(argv=[sys.argv[0], {"shrink": "ShrinkTest", "incident": "IncidentTest"}[mode]])
