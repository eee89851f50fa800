#!/usr/bin/env python3
"""Runs every bench at its smallest and holds the output against its format. Times are not judged.

    test_bench.py FAIRLEAD_BENCH
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
SERVED = ["devices/decision, first fit", "devices/decision, nothing fits", "devices/decision, gang of 64",
          "patch/change to acknowledged, p99", "replication/kubernetes, 1 event, p99",
          "replication/kubernetes, 64 events, p99", "replication/kubernetes, 1,024 events, p99",
          "replication/etcd, 1 event, p99", "replication/etcd, 64 events, p99", "replication/etcd, 1,024 events, p99",
          "replication/change to acknowledged at 1 events/s, p50",
          "replication/change to acknowledged at 100 events/s, p50",
          "replication/change to acknowledged at 1,000 events/s, p50", "replication/etcd bytes an event",
          "replication/etcd bytes an hour", "replication/fail-over after a kill",
          "fleet/start, CPU until all lists are folded", "fleet/memory at rest",
          "fleet/connections a member", "fleet/1,000 heartbeats, CPU", "fleet/change to acknowledged under flips, p99",
          "fleet/question", "fleet/SIGTERM"]
WEBHOOK = {"webhook/served, median", "webhook/served, p99"}
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "bench"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


class BenchTest(unittest.TestCase):
    def test_every_bench_gives_a_row(self):
        with tempfile.TemporaryDirectory() as directory:
            done = run(SCRIPT, "--program", PROGRAM, "--directory", directory, "--tiny", "--repeat", "1", "--json")
            self.assertIn(done.returncode, (0, 1), done.stderr)
            self.assertEqual(list(pathlib.Path(directory).iterdir()), [], "a bench left something behind")
        answer = json.loads(done.stdout)
        names = run(PROGRAM, "--list").stdout.splitlines()
        self.assertEqual([row["name"] for row in answer["rows"]], [*names, *SERVED])
        self.assertEqual(len(set(names)), len(names))
        self.assertLessEqual(WEBHOOK, set(names))
        for row in answer["rows"]:
            with self.subTest(row["name"]):
                if "skipped" in row:
                    self.assertIn(row["name"], SERVED)
                    self.assertIn("control plane", row["skipped"])
                    continue
                for key in ("measured", "bound", "ratio", "limit"):
                    self.assertTrue(math.isfinite(row[key]) and row[key] >= 0, key)
                self.assertTrue(row["bound_is"] and row["unit"])
                self.assertIn(row["better"], ("more", "less"))
        self.assertLessEqual({"cores", "cpu", "compiler", "kernel", "time"}, set(answer["conditions"]))

    def test_the_table_has_a_line_for_each_bench(self):
        with tempfile.TemporaryDirectory() as directory:
            done = run(SCRIPT, "--program", PROGRAM, "--directory", directory, "--tiny", "--repeat", "1",
                       "--only", "append/1 ")
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 4, done.stdout + done.stderr)
        self.assertTrue(lines[0].startswith("what"))
        self.assertTrue(lines[1].startswith("append/1 x 300 B"))
        self.assertRegex(lines[1], r">= 0\.9 +(ok|MISSED)")
        self.assertIn("cores", lines[3])

    def test_without_a_control_plane_the_row_says_so(self):
        with tempfile.TemporaryDirectory() as directory:
            bare = {**os.environ, "KUBEBUILDER_ASSETS": directory}
            for form, wanted in (((), "not run  no control plane"), (("--json",), '"skipped": "no control plane')):
                done = subprocess.run([SCRIPT, "--program", PROGRAM, "--only", "patch/", *form], env=bare,
                                      capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(wanted, done.stdout)

    def test_what_does_not_exist_is_bad_usage(self):
        self.assertEqual(run(PROGRAM, "--only", "nothing/").returncode, 2)
        self.assertEqual(run(PROGRAM, "--repeat", "0").returncode, 2)
        self.assertEqual(run(PROGRAM, "--nonsense").returncode, 2)
        self.assertEqual(run(PROGRAM, "--perturb", "nothing").returncode, 2)

    def test_the_self_test_perturbs_the_libraries(self):
        with tempfile.TemporaryDirectory() as directory:
            for kind in ("worse-codec", "doubled-hash", "better-codec"):
                for row in ("append CPU/1024 x 300 B", "read/events decoded"):
                    done = run(PROGRAM, "--only", row, "--perturb", kind, "--tiny", "--repeat", "2",
                               "--directory", directory)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertGreater(json.loads(done.stdout)["ratio"], 0)


if __name__ == "__main__":
    unittest.main()
