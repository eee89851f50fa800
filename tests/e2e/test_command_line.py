"""Bad usage and bad input of the commands that need no cluster: exit code 2, one clear reason, nothing half printed."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from harness.program import binary, fairlead, json_lines

NEEDS = ("fairlead",)

BAD_INPUT = 2
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}


class CommandLineCase(unittest.TestCase):
    """A folder, and the incident of the README."""

    INCIDENT = [pathlib.Path(__file__).resolve().parents[2] / "docs/incident" / name
                for name in ("hub.yaml", "nodes.jsonl")]

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    @staticmethod
    def on_a_terminal(*arguments, stream="stderr", **environment):
        """The exit code, and what came to this stream, which was a terminal."""
        terminal, other_end = os.openpty()
        streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: other_end}
        try:
            done = subprocess.run([binary(), *map(str, arguments)], stdin=subprocess.DEVNULL, **streams, timeout=60,
                                  env={**os.environ, "TERM": "xterm", **environment})
            os.close(other_end)
            said = b""
            try:
                while piece := os.read(terminal, 65536):
                    said += piece
            except OSError:  # the other end is closed
                pass
            return done.returncode, said.decode()
        finally:
            os.close(terminal)

    def refused(self, *arguments, says=(), stdin=""):
        done = fairlead(*arguments, stdin=stdin, timeout=20)
        self.assertEqual(done.returncode, BAD_INPUT, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        for words in says:
            self.assertIn(words, done.stderr)
        self.assertNotIn("terminate called", done.stderr)
        return done.stderr

    def incident(self):
        """The data directory of the incident."""
        data = self.folder / "incident"
        done = fairlead("plan", "--log", data, *self.INCIDENT)
        self.assertEqual(done.returncode, 0, done.stderr)
        return data


class CommandLineTest(CommandLineCase):
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
        # In a list of commands the first sentence of each, in its own help all.
        self.assertNotIn("Three worlds", fairlead("--help").stdout)
        self.assertIn("Three worlds", fairlead("whatif", "--help").stdout)

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

    def test_a_kind_in_a_version_that_is_not_read_is_named_once(self):
        def obj(version, kind, name):
            return {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
        given = [obj("kueue.x-k8s.io/v1alpha1", "AdmissionCheck", "a"), obj("example.com/v1", "AdmissionCheck", "x"),
                 obj("kueue.x-k8s.io/v1alpha1", "AdmissionCheck", "b"), obj("kueue.x-k8s.io/v1beta1", "Cohort", "c")]
        done = fairlead("plan", "-", stdin="\n".join(map(json.dumps, given)))
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertEqual(done.stderr, "fairlead plan: warning: -:1: AdmissionCheck of kueue.x-k8s.io/v1alpha1 is not "
                                      "read, only v1beta2,v1beta1: its objects count as absent\n")

    def test_sources_that_kueue_refuses_by_default_are_named(self):
        source = ('{name: memory, driver: d.example.com, deviceSelector: {cel: {expression: "true"}}}')
        for kind, words in (("capacity", "KueueDRAIntegrationConsumableCapacity"), ("counter", "")):
            mapping = f"[{{name: m, deviceClassNames: [c], sources: [{{{kind}: {source}}}]}}]"
            done = fairlead("plan", "-", "--set", f"dra.deviceClassMappings={mapping}", stdin="")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(bool(done.stderr), bool(words), done.stderr)
            self.assertIn(words, done.stderr)

    def test_a_damaged_log_is_never_answered_from_without_a_word(self):
        data = self.incident()
        questions = [("audit", "quota"), ("audit", "history", "training"),
                     ("audit", "why", "training", "on-demand", "cpu"),
                     ("audit", "quota", "--as-of", "2026-11-21T14:30:00Z"), ("audit", "diff", "seq:2", "-1s"),
                     ("whatif", "--set", "debounce.growWindow=1m")]
        whole = {question: fairlead(*question, "--data", data).stdout for question in questions}
        self.assertTrue(all(whole.values()))
        packs = max((data / "log").glob("*.sst"), key=lambda file: file.stat().st_size)
        good, refused = packs.read_bytes(), 0
        for at in range(0, len(good), max(1, len(good) // 12)):
            packs.write_bytes(good[:at] + bytes([good[at] ^ 16]) + good[at + 1:])
            verified = fairlead("log", "verify", "--data", data)
            for question in questions:
                done = fairlead(*question, "--data", data)
                if done.returncode == 0:
                    self.assertEqual(done.stdout, whole[question], f"{question}, byte {at}: {verified.stdout}")
                else:
                    refused += 1
                    self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)
        self.assertGreater(refused, 0)

    def test_a_place_behind_the_lost_end_is_refused_and_one_before_is_answered(self):
        data = self.incident()
        last = json.loads(fairlead("log", "stat", "-o", "json", "--data", data).stdout)["last_seq"]
        # A cut end that was acknowledged: the log of a shorter history under the mark of the longer one.
        shorter, bundle = self.folder / "shorter", self.folder / "part"
        for command in (("export", bundle, "--data", data, "--to", "seq:20"), ("import", bundle, "--data", shorter)):
            self.assertEqual(fairlead("log", *command).returncode, 0)
        (shorter / "acknowledged").write_bytes((data / "acknowledged").read_bytes())
        for question in (("audit", "quota"), ("audit", "quota", "--as-of", "2026-11-21T14:30:00Z"),
                         ("audit", "quota", "--as-of", f"seq:{last}"), ("whatif", "--set", "debounce.growWindow=1m"),
                         ("snapshot", "take")):
            done = fairlead(*question, "--data", shorter)
            self.assertEqual((done.returncode, done.stdout), (3, ""), question)
            self.assertIn("damaged at seq", done.stderr)
        before = ("audit", "quota", "--as-of", "seq:12")
        done = fairlead(*before, "--data", shorter)
        self.assertEqual((done.returncode, done.stdout), (0, fairlead(*before, "--data", data).stdout), done.stderr)

    def test_a_what_if_ends_where_it_was_asked_to(self):
        data = self.incident()
        back = "2026-11-21T14:13:00Z"  # the node is back at 14:12:00; history's window ends at 14:17:00
        for difference, span in (("onlyWhatIf", ("--to", "2026-11-21T14:16:30Z")), ("time", ()),
                                 ("onlyWhatIf", ("--from", "2026-11-21T14:12:30Z", "--to", "2026-11-21T14:16:30Z")),
                                 ("time", ("--to", "2026-11-21T15:00:00Z"))):
            result = self.shorter_window(data, *span)
            self.assertEqual([(row["difference"], row["whatIf"]["time"]) for row in result["differences"]],
                             [(difference, back)], span)
            if span:
                self.assertEqual(result["to"]["time"], span[-1])
        before = self.shorter_window(data, "--to", "2026-11-21T14:16:30Z")["to"]["seq"]
        self.assertEqual(self.shorter_window(data, "--to", f"seq:{before}")["differences"], [])
        self.refused("whatif", "--set", "debounce.growWindow=1m", "--data", data, "--from", "2026-11-21T14:16:30Z",
                     "--to", "2026-11-21T14:12:30Z", says=["no events"])

    def test_a_state_that_the_log_does_not_name_is_not_believed(self):
        data, part, shorter = self.incident(), self.folder / "part", self.folder / "shorter"
        for command in (("snapshot", "take", "--data", data),
                        ("log", "export", part, "--data", data, "--to", "seq:46"),  # without the Checkpoint behind it
                        ("log", "import", part, "--data", shorter)):
            self.assertEqual(fairlead(*command).returncode, 0, command)
        for place in (("--data", shorter), ("--bundle", part)):
            verified = fairlead("log", "verify", *place)
            self.assertEqual(verified.returncode, 0, verified.stderr)
            self.assertIn("snapshot 46 is not used", verified.stdout)
        self.assertEqual(fairlead("audit", "quota", "--data", shorter).stdout,
                         fairlead("audit", "quota", "--as-of", "seq:46", "--data", data).stdout)
        self.refused("log", "prune", "--before", "seq:20", "--data", shorter, says=["fairlead snapshot take"])
        self.assertNotIn("is not used", fairlead("log", "verify", "--data", data).stdout)

    def shorter_window(self, data, *span):
        done = fairlead("whatif", "--set", "debounce.growWindow=1m", "-o", "json", "--data", data, *span)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_places_and_files_that_would_lose_something_are_refused(self):
        data = self.incident()
        self.refused("log", "prune", "--before", "seq:9999", "--data", data, says=["behind the end of the log"])
        self.refused("log", "export", "/dev/null", "--data", data, says=["no regular file"])
        self.refused("audit", "history", "training", "--from", "seq:9", "--to", "seq:3", "--data", data, says=["--to"])
        for name in ("NOSUCH", "training"):  # a ClusterQueue is no worker list
            self.refused("audit", "history", f"multikueueconfig/{name}", "--data", data,
                         says=[f'"{name}"', "there are"])
        self.refused("snapshot", "list", "--data", self.folder, says=["no Fairlead log"])
        self.refused("snapshot", "prune", "--keep", "1", "--data", self.folder / "nowhere", says=["nowhere"])

    def test_a_data_directory_is_its_owners_alone(self):
        mask = os.umask(0)
        try:
            data = self.incident()
            self.assertEqual(fairlead("snapshot", "take", "--data", data).returncode, 0)
            self.assertEqual(fairlead("log", "export", self.folder / "bundle", "--data", data).returncode, 0)
        finally:
            os.umask(mask)
        for path in (data, self.folder / "bundle", *data.rglob("*")):
            self.assertEqual(oct(path.stat().st_mode & 0o777), "0o700" if path.is_dir() else "0o600", path)

    def test_a_data_directory_that_others_may_write_is_refused(self):
        for mode in (0o770, 0o702):
            data = self.folder / f"open-{mode}"
            data.mkdir()
            data.chmod(mode)
            self.refused("plan", "--log", data, *self.INCIDENT,
                         says=[f"{data}: expected a directory that", f"{mode:o}"])
            self.assertEqual(list(data.iterdir()), [])

    def run_with(self, redirections, *arguments):
        """As a shell runs it with these redirections."""
        script = f'exec "$@" {redirections}'
        return subprocess.run(["sh", "-c", script, "sh", str(binary()), *map(str, arguments)], timeout=60,
                              capture_output=True, text=True)

    def test_closed_standard_descriptors_are_not_given_to_files_of_the_log(self):
        kubeconfig = self.file("kubeconfig", json.dumps({
            "current-context": "c", "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
            "clusters": [{"name": "c", "cluster": {"server": "http://127.0.0.1:1"}}],
            "users": [{"name": "u", "user": {"token": "t"}}]}))
        for closed in ("2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"):
            with self.subTest(closed=closed):
                data = self.folder / f"data{len(closed)}"
                hub = subprocess.Popen(["sh", "-c", f'exec "$@" {closed}', "sh", str(binary()), "hub", "--data", data,
                                        "--kubeconfig", kubeconfig], stdin=subprocess.DEVNULL)
                try:
                    with self.assertRaises(subprocess.TimeoutExpired):  # it logs that the server cannot be reached
                        hub.wait(timeout=2)
                finally:
                    hub.terminate()
                    hub.wait(timeout=20)
                verified = fairlead("log", "verify", "--data", data)
                self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
                for path in data.rglob("*"):
                    content = path.read_bytes() if path.is_file() else b""
                    self.assertFalse(b"Connection refused" in content or b"epoch started" in content, path)

    def test_output_that_cannot_be_written_is_named(self):
        data = self.incident()
        what_if = ("whatif", "--data", data, "--set", "debounce.growWindow=1m")
        for command in (("plan", *self.INCIDENT), ("audit", "quota", "--data", data), ("log", "cat", "--data", data),
                        ("snapshot", "take", "--data", data), what_if, ("--help",), ("--version",)):
            for redirection in (">/dev/full", ">&-"):
                with self.subTest(command=command[:2], redirection=redirection):
                    done = self.run_with(redirection, *command)
                    self.assertEqual(done.returncode, 3, done.stderr)
                    self.assertIn("standard output cannot be written", done.stderr)

    def test_standard_input_that_cannot_be_read_is_named(self):
        for redirection, words in (("<&-", "standard input is closed"), ("</", "standard input is a directory")):
            done = self.run_with(redirection, "plan", "-")
            self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""), done.stderr)
            self.assertIn(words, done.stderr)
        terminal, other_end = os.openpty()
        self.addCleanup(os.close, terminal)
        self.addCleanup(os.close, other_end)
        done = subprocess.run([binary(), "plan", "-"], stdin=other_end, capture_output=True, text=True, timeout=20)
        self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""), done.stderr)
        self.assertIn("standard input is a terminal", done.stderr)

    def test_an_unknown_option_is_named_before_what_is_missing(self):
        self.refused("--bogus", says=["--bogus"])
        self.refused("plan", "--bogus", says=["--bogus"])
        self.refused("log", "cat", "--bogus", says=["--bogus"])

    def test_a_directory_in_the_place_of_a_file_is_named(self):
        for command in (("plan", self.folder), ("plan", "-", "--config", self.folder)):
            self.refused(*command, says=[f"{self.folder}: expected a file, got a directory"])
        for command in (("stat", "--bundle", self.folder), ("import", self.folder, "--data", self.folder / "new")):
            self.refused("log", *command, says=[f"{self.folder} is no file"])

    def test_an_until_out_of_range_says_what_is_in_range(self):
        self.refused("plan", "--until", "9999-01-01T00:00:00Z", *self.INCIDENT, says=["--until", "2262-04-11"])
        self.refused("plan", "--until", "", *self.INCIDENT, says=["--until", "expected an RFC 3339 time"])
        self.refused("plan", "--until", "1969-12-31T23:59:59Z", *self.INCIDENT,
                     says=["--until 1969-12-31T23:59:59Z", "before", "1970-01-01T00:00:00Z"])

    def test_replay_takes_no_speed_that_it_cannot_keep(self):
        data = self.incident()
        for flag in ("--verify", "--until-differs"):
            self.refused("replay", flag, "--speed", "2", "--data", data, says=["--speed", flag])
        for speed in ("0", "-1", "nan", "inf", "fast"):
            said = self.refused("replay", f"--speed={speed}", "--data", data,
                                says=["--speed", "expected a number above 0", f'"{speed}"'])
            self.assertLess(len(said), 200)

    def test_short_work_shows_no_progress_on_a_terminal(self):
        data = self.incident()
        for command in (("replay", "--verify"), ("whatif", "--set", "debounce.shrinkWindow=5m")):
            with self.subTest(command=command[0]):
                self.assertEqual(self.on_a_terminal(*command, "--data", data), (0, ""))
                piped = fairlead(*command, "--data", data)
                self.assertEqual((piped.returncode, piped.stderr), (0, ""))

    def test_a_history_is_coloured_on_a_terminal_alone(self):
        question = ("audit", "history", "training", "--data", self.incident())
        piped = fairlead(*question)
        self.assertEqual(piped.returncode, 0, piped.stderr)
        self.assertNotIn("\x1b", piped.stdout)
        code, shown = self.on_a_terminal(*question, stream="stdout")
        self.assertEqual(code, 0)
        self.assertIn("\x1b[31m", shown, "a fall")
        shown = shown.replace("\r\n", "\n")
        self.assertEqual(re.sub(r"\x1b\[\d+m", "", shown), piped.stdout)
        self.assertLessEqual(max(map(len, piped.stdout.splitlines())), 80)
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            with self.subTest(**environment):
                code, plain = self.on_a_terminal(*question, stream="stdout", **environment)
                self.assertEqual((code, plain.replace("\r\n", "\n")), (0, piped.stdout))
        as_json = self.on_a_terminal(*question, "-o", "json", stream="stdout")
        self.assertNotIn("\x1b", as_json[1])

    def test_a_pruned_log_answers_what_it_can_and_says_what_it_cannot(self):
        data = self.incident()
        last = json.loads(fairlead("log", "stat", "-o", "json", "--data", data).stdout)["last_seq"]
        question = ("audit", "history", "training", "--from", "seq:30", "-o", "json", "--data", data)
        whole = json.loads(fairlead(*question).stdout)["rows"]
        for command in (("snapshot", "take"), ("log", "prune", "--before", "seq:30")):
            done = fairlead(*command, "--data", data)
            self.assertEqual(done.returncode, 0, done.stderr)
        last += 1  # the epoch of `snapshot take`, whose state was saved
        rows = json.loads(fairlead(*question).stdout)["rows"]
        self.assertEqual(rows, whole)
        self.assertEqual({row["writer"] for row in rows}, {"fairlead"})
        # Only the end has a state: none of the kept writes can be decided again.
        bundle = self.folder / "pruned.bundle"
        self.assertEqual(fairlead("log", "export", bundle, "--data", data).returncode, 0)
        for where in (("--data", data), ("--bundle", bundle)):
            done = fairlead("replay", "--verify", *where)
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            self.assertIn(f"writes before seq {last + 1}: the log was pruned", done.stdout)
            self.assertIn("nothing could be compared", done.stdout)
            self.assertNotIn("the same", done.stdout)
            report = json.loads(fairlead("replay", "--verify", "-o", "json", *where).stdout)
            self.assertEqual((report["compared"], report["state_from_seq"]), (0, last))
            self.assertGreater(report["not_compared"], 0)
            for place in ("seq:5", "seq:35", "2026-11-21T14:08:00Z"):
                self.refused("audit", "quota", "--as-of", place, *where, says=["begins at seq", f"seq {last}"])
        self.refused("log", "cat", "--from", "seq:5", "--data", data, says=["begins at seq"])
        why = fairlead("audit", "why", "training", "on-demand", "gpu", "--data", data)
        self.assertEqual(why.returncode, 0, why.stderr)
        self.assertIn("configuration seq 2, pruned, digest", why.stdout)
        self.assertNotIn(" at -", why.stdout)

    def test_pruning_snapshots_leaves_what_a_pruned_log_begins_with(self):
        data = self.incident()
        for command in (("snapshot", "take"), ("log", "prune", "--before", "seq:30")):
            done = fairlead(*command, "--data", data)
            self.assertEqual(done.returncode, 0, done.stderr)
        quotas = fairlead("audit", "quota", "--data", data).stdout
        for keep in ("0", "1"):
            done = fairlead("snapshot", "prune", "--keep", keep, "--data", data)
            self.assertEqual((done.returncode, done.stderr), (0, ""), done.stderr)
            why = "kept 46: the log was pruned and begins at seq 30"
            self.assertEqual(why in done.stdout, keep == "0", done.stdout)
            after = fairlead("audit", "quota", "--data", data)
            self.assertEqual((after.returncode, after.stdout), (0, quotas), after.stderr)
        kept = json_lines(fairlead("snapshot", "prune", "--keep", "0", "--data", data, "-o", "json").stdout)
        self.assertEqual([row["kept"] for row in kept], [46])

    def test_a_damaged_snapshot_is_named_and_neither_counted_nor_removed(self):
        data = self.incident()
        for _ in range(2):
            self.assertEqual(fairlead("snapshot", "take", "--data", data).returncode, 0)
        newest = max((data / "snapshots").iterdir())
        content = newest.read_bytes()
        newest.write_bytes(content[:99] + bytes([content[99] ^ 16]) + content[100:])
        rows = json_lines(fairlead("snapshot", "list", "--data", data, "-o", "json").stdout)
        fault = "its bytes are not what was written"
        self.assertEqual([(row["seq"], row["fault"]) for row in rows], [(46, ""), (48, fault)])
        self.assertEqual((rows[1]["time"], rows[0]["time"]), (None, "2026-11-21T14:17:05Z"))
        self.assertIn(f"BAD: {fault}", fairlead("snapshot", "list", "--data", data).stdout)
        done = fairlead("snapshot", "prune", "--keep", "1", "--data", data)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        self.assertIn("snapshot 48 is left and not counted", done.stderr)
        self.assertEqual(len(list((data / "snapshots").iterdir())), 2)
        done = fairlead("snapshot", "prune", "--keep", "0", "--data", data)  # the log has its beginning
        self.assertEqual((done.returncode, done.stdout), (0, "removed 46\n"), done.stderr)

    def test_a_span_without_an_event_has_no_change(self):
        data = self.incident()
        quiet = ("--from", "2026-11-21T14:08:00Z", "--to", "2026-11-21T14:11:00Z")
        done = fairlead("audit", "history", "training", *quiet, "--data", data)
        self.assertEqual((done.returncode, done.stdout.count("\n"), done.stderr), (0, 2, ""), done.stderr)
        self.assertIn("from 2026-11-21T14:08:00Z (seq ", done.stdout)
        answer = json.loads(fairlead("audit", "history", "training", *quiet, "--data", data, "-o", "json").stdout)
        self.assertEqual((answer["rows"], answer["note"]), ([], None))
        for places in (("2026-11-21T14:11:00Z", "2026-11-21T14:08:00Z"), ("seq:9", "seq:3"),
                       ("seq:37", "2026-11-21T14:08:00Z"), ("2026-11-21T14:11:00Z", "seq:9")):
            self.refused("audit", "history", "training", "--from", places[0], "--to", places[1], "--data", data,
                         says=["--to", "is before --from"])
        # What came since the end, as a program asks that looks again and again.
        done = fairlead("audit", "history", "training", "--from", "seq:46", "--data", data)
        self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 1), done.stderr)
        self.refused("audit", "history", "training", "--from", "seq:46", "--to", "seq:40", "--data", data)

    def test_a_flavor_that_a_queue_never_had_is_named(self):
        data = self.incident()
        for pair in (("--flavor", "nope"), ("--resource", "tpu"), ("--flavor", "nope", "--resource", "gpu")):
            done = fairlead("audit", "history", "training", *pair, "--data", data)
            self.assertEqual((done.returncode, done.stdout.count("\n")), (0, 1), done.stderr)
            self.assertIn(f'"{pair[1]}"', done.stderr)
            self.assertIn("it had: on-demand", done.stderr)
        # It is there, and did not change in the span.
        done = fairlead("audit", "history", "training", "--resource", "gpu", "--from", "seq:44", "--data", data)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)

    def test_replay_refuses_a_span_in_which_nothing_lies(self):
        data = self.incident()
        for span in (("--from", "30", "--to", "10"), ("--from", "seq:100"),
                     ("--from", "2026-11-21T14:08:00Z", "--to", "2026-11-21T14:11:00Z")):
            self.refused("replay", "--verify", *span, "--data", data, says=["--from"])

    def test_reports_about_a_span_name_what_was_not_seen_in_it(self):
        silence = self.file("silence.jsonl", "".join(
            json.dumps({"type": f"SOURCE_{what}", "cluster": "cluster2", "time": f"2026-11-21T15:{minute}:00Z"}) + "\n"
            for what, minute in (("STALE", "00"), ("SYNCED", "10"))))
        data = self.folder / "silent"
        self.assertEqual(fairlead("plan", "--log", data, *self.INCIDENT, silence).returncode, 0)
        for command in (("replay", "--verify"), ("whatif", "--set", "debounce.shrinkWindow=5m")):
            with self.subTest(command=command[0]):
                [row] = json.loads(fairlead(*command, "-o", "json", "--data", data).stdout)["unseen"]
                self.assertEqual((row["what"], row["to"]["time"]), ("Silent", "2026-11-21T15:10:00Z"))
                self.assertIn(f"not seen: {row['text']}\n", fairlead(*command, "--data", data).stdout)
                before = json.loads(fairlead(*command, "-o", "json", "--to", "seq:40", "--data", data).stdout)
                self.assertEqual(before["unseen"], [])
        folded = json.loads(fairlead("replay", "-o", "json", "--data", data).stdout)
        self.assertNotIn("unseen", folded)

    def test_a_plan_that_keeps_its_log_can_be_asked_and_replayed(self):
        files = self.INCIDENT
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
