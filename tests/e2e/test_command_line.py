"""Bad usage and bad input of the commands that need no cluster: exit code 2, one clear reason, nothing half printed."""

import json
import pathlib
import tempfile
import unittest

from harness.program import fairlead, json_lines

NEEDS = ("fairlead",)

BAD_INPUT = 2
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}


class CommandLineTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def refused(self, *arguments, says=(), stdin=""):
        done = fairlead(*arguments, stdin=stdin, timeout=20)
        self.assertEqual(done.returncode, BAD_INPUT, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        for words in says:
            self.assertIn(words, done.stderr)
        self.assertNotIn("terminate called", done.stderr)
        return done.stderr

    def test_unknown_commands_and_flags(self):
        self.refused("plam", says=["plam", "--help"])
        self.refused("plan", "--untill", "x", "-", says=["--untill"])
        self.refused("plan", says=["files"])
        self.refused("plan", "-o", "xml", "-", says=["xml"])
        self.refused()

    def test_help_is_no_error(self):
        for arguments in (("--help",), ("plan", "--help"), ("log", "--help"), ("--version",)):
            done = fairlead(*arguments)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("fairlead" if arguments == ("--version",) else "-", done.stdout)

    def test_an_unknown_configuration_key_names_file_line_and_key(self):
        config = self.file("config.yaml", "claims: {create: true}\ndebounces: {}\n")
        self.refused("plan", "-", "--config", config, says=[f"{config}:2: debounces: unknown key"])

    def test_a_bad_configuration_value_names_what_was_expected(self):
        config = self.file("config.yaml", "debounce:\n  growWindow: soon\n")
        self.refused("plan", "-", "--config", config, says=[f"{config}:2: debounce.growWindow: expected a duration"])

    def test_a_configuration_that_is_no_yaml_or_not_there(self):
        config = self.file("config.yaml", "claims: {create: true\n")
        self.refused("plan", "-", "--config", config, says=[f"{config}:", "expected YAML"])
        self.refused("plan", "-", "--config", self.folder / "nothing.yaml", says=["nothing.yaml"])

    def test_a_bad_set_says_which_one(self):
        for setting, words in [("debounce.growWindow", "expected PATH=VALUE"),
                               ("debounce.grow=1s", "debounce.grow: unknown key"),
                               ("debounce.staleAfter=0s", "more than 0s"), ("claims={", "expected YAML")]:
            text = self.refused("plan", "-", "--set", "claims.create=false", "--set", setting, says=[words])
            self.assertEqual(text.count(f"--set {setting}"), 1)

    def test_an_empty_input_writes_nothing(self):
        done = fairlead("plan", "-", stdin="")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_input_that_is_not_understood_names_file_and_line(self):
        good = json.dumps({"type": "ADDED", "object": NODE, "time": "2026-01-01T00:00:01Z"})
        for line, words in [
                ("{]", "expected"), ('{"type":"ADDED","object":{"kind":"Node"}}', "name"),
                ('{"type":"ADDED","object":{"metadata":{"name":"x"}}}', "kind"),
                (json.dumps({"type": "GROWN", "object": NODE}), "GROWN"),
                (json.dumps({"type": "ADDED", "object": NODE, "time": "2026-01-01T00:00:00Z"}), "time"),
                (json.dumps({"type": "ADDED", "object": NODE, "time": "yesterday"}), "yesterday")]:
            with self.subTest(line=line):
                path = self.file("input.jsonl", f"{good}\n{line}\n")
                self.refused("plan", path, says=[f"{path}:2", words])

    def test_a_file_that_is_not_there(self):
        self.refused("plan", self.folder / "nothing.yaml", says=["nothing.yaml"])

    def test_kinds_that_fairlead_does_not_read_are_skipped(self):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "n"}}
        done = fairlead("plan", "-", stdin=json.dumps(pod))
        self.assertEqual((done.returncode, json_lines(done.stdout)), (0, []), done.stderr)

    def test_a_plan_that_keeps_its_log_can_be_asked_and_replayed(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        files = [root / "docs/incident/hub.yaml", root / "docs/incident/nodes.jsonl"]
        data = self.folder / "kept"
        planned = fairlead("plan", "--log", data, *files)
        self.assertEqual(planned.returncode, 0, planned.stderr)
        self.assertEqual(planned.stdout, fairlead("plan", *files).stdout)
        played = fairlead("replay", "--speed", "1000000", "--data", data)
        self.assertEqual((played.returncode, played.stdout), (0, planned.stdout), played.stderr)
        for command in (("replay", "--verify"), ("log", "verify"), ("audit", "quota", "training")):
            done = fairlead(*command, "--data", data)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        self.refused("plan", "--log", data, *files, says=["there is a log already"])


if __name__ == "__main__":
    unittest.main()
