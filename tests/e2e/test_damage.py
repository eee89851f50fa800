"""Every file of a data directory, altered, cut or lost: each command says that the log is damaged, names the file where
one can be named, and never gives another answer than it gave of the whole. Nothing is repaired or removed."""

import json
import pathlib
import shutil
import tempfile
import unittest

from harness.program import fairlead

NEEDS = ("fairlead",)

INCIDENT = [pathlib.Path(__file__).resolve().parents[2] / "docs/incident" / name
            for name in ("hub.yaml", "nodes.jsonl")]
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: none
contexts: [{name: none, context: {cluster: none, user: none}}]
clusters: [{name: none, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: none, user: {}}]
"""
VERIFY = ("log", "verify")
READING = [VERIFY, ("log", "stat", "-o", "json"), ("audit", "quota"), ("audit", "history", "training"),
           ("replay",), ("replay", "--verify"), ("snapshot", "verify")]


def without_size(text):
    """Files that are not needed count in the bytes of `log stat` all the same."""
    return "\n".join(part for part in text.split(",") if '"bytes"' not in part)


class DamageTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(
            dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None)))
        self.data = self.folder / "data"
        self.done("plan", "--log", self.data, *INCIDENT)
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.write_text(KUBECONFIG)

    def done(self, *arguments):
        done = fairlead(*arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def imported(self, to):
        """A data directory of the events up to `to`, in tables."""
        shorter, bundle = self.folder / f"until-{to}", self.folder / "bundle"
        self.done("log", "export", bundle, "--data", self.data, "--to", f"seq:{to}")
        self.done("log", "import", bundle, "--data", shorter)
        return shorter

    def hub(self, data):
        done = fairlead("hub", "--kubeconfig", self.kubeconfig, "--data", data, timeout=20)
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        return done.stderr

    def files(self, data):
        return {path.relative_to(data): path.read_bytes() for path in sorted(data.rglob("*")) if path.is_file()}

    def altered(self, content):
        yield "removed", None
        for name, size in (("emptied", 0), ("halved", len(content) // 2)):
            if size < len(content):
                yield name, content[:size]
        for at in sorted({0, len(content) // 2, len(content) - 1}):
            if at >= 0 and content:
                yield f"byte {at} altered", content[:at] + bytes([content[at] ^ 16]) + content[at + 1:]

    def test_every_file(self):
        for data in (self.data, self.imported(20)):
            self.done("snapshot", "take", "--data", data)
            whole = {command: self.done(*command, "--data", data) for command in READING}
            refused = set()
            for name, content in self.files(data).items():
                for change, altered in self.altered(content):
                    with self.subTest(data=data.name, file=str(name), change=change):
                        if self.one_file(data, name, altered, whole):
                            refused.add(name.name.split("-")[0] if name.suffix == "" else name.suffix)
            self.assertLessEqual({"acknowledged", "CURRENT", "MANIFEST", ".sst"}, refused)

    def one_file(self, data, name, altered, whole):
        """Whether the damage was reported."""
        before = (data / name).read_bytes()
        (data / name).unlink() if altered is None else (data / name).write_bytes(altered)
        try:
            reported = {command for command in READING if self.reports(command, data, name, whole[command])}
            # The command that reads everything reports it, whichever other does.
            if reported - {("snapshot", "verify")}:
                self.assertIn(VERIFY, reported)
            # A hub needs the events, not their index, which is damaged alone where a fold is as before. (A replay that
            # verifies reads the index too: for what was not seen in its span.)
            if {("audit", "quota"), ("replay",)} <= reported:
                self.assertIn("the log is damaged", self.hub(data))
            self.assertEqual(self.files(data).get(name), altered)
            return bool(reported)
        finally:
            (data / name).write_bytes(before)

    def reports(self, command, data, name, whole):
        done = fairlead(*command, "--data", data)
        if done.returncode == 0:
            if command[0] != "snapshot" or name.suffix != ".snapshot":  # there is one less
                self.assertEqual(without_size(done.stdout), without_size(whole), command)
            return False
        said = done.stdout + done.stderr
        self.assertIn(done.returncode, (1, 3), done.stderr)
        if done.returncode == 3:
            self.assertEqual(done.stdout, "")
            self.assertIn("the log is damaged", done.stderr)
            self.assertIn('docs/operating.md, "The log is damaged"', done.stderr)
        # Of a log whose MANIFEST is cut only the latest events may be left: then those that are missing are named.
        if (name.name == "CURRENT" or name.name.startswith("MANIFEST-")) and "the next events" not in said:
            self.assertIn(name.name.split("-")[0], said)
        return True

    def test_a_cut_end_is_noticed_by_the_snapshot_behind_it(self):
        shorter = self.imported(20)
        self.done("snapshot", "take", "--data", self.data)
        shutil.copytree(self.data / "snapshots", shorter / "snapshots")
        snapshot = next((shorter / "snapshots").iterdir())
        said = {command: fairlead(*command, "--data", shorter) for command in READING}
        for command, done in said.items():
            answers_no = command[0] in ("log", "snapshot")
            self.assertEqual(done.returncode, 1 if answers_no else 3, done.stdout + done.stderr)
            self.assertIn(snapshot.name, done.stdout + done.stderr)
            self.assertIn("21", done.stdout + done.stderr)
        self.assertIn("damaged at seq 21", self.hub(shorter))
        self.assertTrue(snapshot.exists())
        # What was before can be asked for, and taken along.
        self.done("audit", "quota", "--as-of", "seq:20", "--data", shorter)
        self.done("log", "export", self.folder / "rest", "--data", shorter, "--to", "seq:20")
        self.done("log", "import", self.folder / "rest", "--data", self.folder / "again")
        self.assertEqual(self.done(*VERIFY, "--data", self.folder / "again").split()[1], "20")

    def test_a_log_whose_mark_is_lost_can_be_gone_on_with(self):
        (self.data / "acknowledged").unlink()
        self.assertIn('"acknowledged" is gone or damaged', self.hub(self.data))
        self.assertEqual(fairlead("audit", "quota", "--data", self.data).returncode, 3)
        again = self.imported(45)
        self.assertIn("45 events", self.done(*VERIFY, "--data", again))

    def test_a_log_that_lost_everything_is_not_replayed_as_if_it_were_right(self):
        for file in (self.data / "log").glob("*.log"):
            file.unlink()
        for how in ((), ("--verify",), ("--until-differs",), ("--speed", "1000000")):
            done = fairlead("replay", *how, "--data", self.data)
            self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)

    def test_pruning_leaves_snapshots_of_before_in_peace(self):
        self.done("snapshot", "take", "--data", self.data)
        self.done("log", "prune", "--before", "seq:40", "--data", self.data)
        for command in (VERIFY, ("log", "stat"), ("audit", "quota"), ("log", "prune", "--before", "seq:45")):
            self.done(*command, "--data", self.data)

    def test_a_log_that_plan_left_is_whole_beside_its_snapshot(self):
        decision = {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "PlacementDecision",
                    "metadata": {"name": "s-1", "namespace": "kueue-system",
                                 "labels": {"cluster.open-cluster-management.io/placement": "s"}},
                    "status": {"decisions": [{"clusterName": "east", "reason": ""}]}}
        check = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck", "metadata": {"name": "k"},
                 "spec": {"controllerName": "open-cluster-management.io/placement",
                          "parameters": {"apiGroup": "cluster.open-cluster-management.io", "kind": "Placement",
                                         "name": "s"}}}
        data = self.folder / "worker"
        objects = "".join(json.dumps({"type": "ADDED", "object": each}) + "\n" for each in (decision, check))
        # The worker's cause is the event with which its moment closed, which the plan's intent follows at that time.
        planned = fairlead("plan", "--log", data, "-", "--set", "multikueue.settle=0s", stdin=objects)
        self.assertIn("AdmissionCheck", planned.stdout, planned.stderr)
        for command in (("snapshot", "take"), ("snapshot", "verify"), ("replay", "--verify")):
            self.done(*command, "--data", data)


if __name__ == "__main__":
    unittest.main()
