"""`fairlead usage` as people and pipelines run it: each output, local days, a bundle, and what it refuses."""

import csv
import io
import json
import pathlib
import subprocess
import tempfile
import unittest

from harness.program import binary, fairlead

NEEDS = ("fairlead",)
DAY = pathlib.Path(__file__).resolve().parents[2] / "docs/usage/day.jsonl"
HEADER = ("from,to,side,cluster,key,uid,flavor,resource,granted,used,own,borrowed,idle,reserved,unknown,capacity,above,"
          "down,planned,firstSeq,lastSeq,digest")


def queue(time, nominal, used):
    return json.dumps({"type": "MODIFIED", "time": time, "object": {
        "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q", "uid": "u"},
        "spec": {"resourceGroups": [{"coveredResources": ["gpu"], "flavors": [
            {"name": "f", "resources": [{"name": "gpu", "nominalQuota": str(nominal)}]}]}]},
        "status": {"flavorsUsage": [{"name": "f", "resources": [{"name": "gpu", "total": str(used)}]}]}}}) + "\n"


class UsageTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def log(self, name, *inputs, text=None):
        data = self.folder / name
        done = fairlead("plan", "--log", data, *(inputs or ("-",)), stdin=text)
        self.assertEqual(done.returncode, 0, done.stderr)
        return data

    def usage(self, *arguments):
        done = fairlead("usage", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refused(self, *arguments, says):
        done = fairlead("usage", *arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn(says, done.stderr)

    def test_each_output_has_the_same_figures(self):
        data = self.log("day", DAY)
        asked = ("--data", data, "--from", "2026-11-21T09:00:00Z", "--to", "2026-11-21T15:00:00Z")
        text = subprocess.run([binary(), "usage", *asked, "-o", "csv"], capture_output=True, check=True).stdout.decode()
        self.assertTrue(text.startswith(HEADER + "\r\n"), text)
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        self.assertEqual([row["key"] for row in rows], ["research", "training"])
        training = rows[1]
        self.assertEqual({name: training[name] for name in ("granted", "used", "own", "borrowed", "idle", "capacity")},
                         {"granted": str(3600 * 40 * 17 // 6 + 32 * (190 * 60)), "used": str(30 * 4 * 3600),
                          "own": str(30 * 4 * 3600), "borrowed": "0", "capacity": "",
                          "idle": str(3600 * 40 * 17 // 6 + 32 * (190 * 60) - 30 * 4 * 3600)})
        document = json.loads(self.usage(*asked, "-o", "json"))
        self.assertEqual([row["used"] for row in document["rows"]], [row["used"] for row in rows])
        self.assertEqual((document["digest"], str(document["lastSeq"])), (training["digest"], training["lastSeq"]))
        table = self.usage(*asked)
        self.assertIn("120.00", table)
        self.assertTrue(table.endswith(f"chain {document['digest']}\n"))
        counters = self.usage("--data", data, "-o", "openmetrics")
        self.assertIn('fairlead_queue_used_resource_seconds_total{cluster_queue="training",flavor="on-demand",'
                      f'resource="nvidia.com/gpu"}} {training["used"]}\n', counters)
        self.assertTrue(counters.endswith("# EOF\n"))

    def test_a_bundle_answers_as_its_log_does(self):
        data, bundle = self.log("day", DAY), self.folder / "day.fairlead"
        self.assertEqual(fairlead("log", "export", bundle, "--data", data).returncode, 0)
        for asked in ([], ["--by", "owner", "-o", "csv"], ["--idle-candidates"], ["-o", "openmetrics"]):
            self.assertEqual(self.usage("--bundle", bundle, *asked), self.usage("--data", data, *asked))

    def test_local_days_have_the_hours_that_clocks_show(self):
        data = self.log("autumn", text=queue("2026-10-23T22:00:00Z", 1, 0) + queue("2026-10-26T23:00:00Z", 2, 0))
        asked = ("--data", data, "--from", "2026-10-23T22:00:00Z", "-o", "json", "--unit", "hours", "--time-zone",
                 "Europe/Berlin", "--to", "2026-10-26T23:00:00Z")
        report = json.loads(self.usage(*asked, "--every", "1d"))
        self.assertEqual([(row["from"], row["granted"]) for row in report["rows"]],
                         [("2026-10-23T22:00:00Z", "24.00"), ("2026-10-24T22:00:00Z", "25.00"),
                          ("2026-10-25T23:00:00Z", "24.00")])
        self.assertEqual(report["timeZone"], "Europe/Berlin")
        self.assertEqual(len(json.loads(self.usage(*asked, "--every", "1h"))["rows"]), 73)
        month = json.loads(self.usage("--data", data, "--from", "2026-10-23T22:00:00Z", "-o", "json", "--every",
                                      "month"))
        self.assertEqual(len(month["rows"]), 1)

    def test_what_means_nothing_is_refused(self):
        data = self.log("day", DAY)
        self.refused("--data", data, "--by", "team", says="--by: expected queue, cohort")
        self.refused("--data", data, "--from", "15:00", "--to", "14:00", says="--to (")
        self.refused("--data", data, "-o", "openmetrics", "--from", "14:00", says="expected no --from")
        self.refused("--data", data, "-o", "focus", "--by", "owner", says="-o focus is by queue")
        self.refused("--data", data, "--every", "2h", says="--every")


if __name__ == "__main__":
    unittest.main()
