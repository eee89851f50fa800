"""How people ask: times as they say them, tables that fit, examples, typing errors, links of the page."""

import json
import os
import re
import unittest

from harness.program import fairlead, json_lines
from test_command_line import CommandLineCase

NEEDS = ("fairlead",)


class AskingTest(CommandLineCase):
    def answer(self, *arguments, **environment):
        """What a question prints, and what it says beside that."""
        done = fairlead(*arguments, env={**os.environ, **environment})
        self.assertEqual(done.returncode, 0, f"{arguments}\n{done.stderr}")
        return done.stdout, done.stderr

    def test_times_are_read_as_people_say_them(self):
        place = ("--data", self.incident())  # whose last event is at 14:17:05
        plain = self.answer("audit", "quota", *place, "--as-of", "2026-11-21T14:07:00Z")
        self.assertIn("as of 2026-11-21T14:07:00Z (seq 36)", plain[0])
        for time in ("14:07", "2026-11-21 14:07", "end-10m5s", "-10m5s", "now-10m5s", "14:07:00Z", "today 14:07"):
            self.assertEqual(self.answer("audit", "quota", *place, "--as-of", time), plain, time)
        self.assertIn("as of 2026-11-20T00:00:00Z",
                      self.answer("audit", "quota", *place, "--as-of", "yesterday")[0])
        self.assertIn("as of 2026-11-18T14:17:05Z", self.answer("audit", "quota", *place, "--as-of", "-3d")[0])
        # The same grammar in each command, which says which moment it took.
        history, _ = self.answer("audit", "history", "training", *place, "--from", "14:05", "--to", "14:10")
        self.assertIn("from 2026-11-21T14:05:00Z (seq 28) to 2026-11-21T14:10:00Z", history)
        self.assertIn("from 2026-11-21T14:05:00Z (seq 27)", self.answer("audit", "diff", "14:05", "14:07", *place)[0])
        events, notes = self.answer("log", "cat", *place, "--from", "14:12", "--where", "time<\"2026-11-21 14:15\"")
        self.assertEqual({line["logTime"] for line in json_lines(events)}, {"2026-11-21T14:12:00Z"})
        self.assertEqual(notes, "fairlead log: --from 14:12 is 2026-11-21T14:12:00Z, "
                                "time 2026-11-21 14:15 is 2026-11-21T14:15:00Z\n")
        # As text each event says what it changed, also where the record before is not printed.
        for selected in (("--where", "name=gpu-6", "--from", "14:01"), ("--object", "gpu-6", "--last", "2")):
            self.assertEqual(self.answer("log", "cat", "-o", "text", *place, *selected)[0],
                             "28 2026-11-21T14:06:40Z cluster2 ObjectObserved Node gpu-6: Ready -> NotReady\n"
                             "37 2026-11-21T14:12:00Z cluster2 ObjectObserved Node gpu-6: NotReady -> Ready\n")
        self.assertIn("from 2026-11-21T14:10:00Z", self.answer(
            "whatif", *place, "--set", "debounce.shrinkWindow=10m", "--from", "14:10")[0])
        self.answer("replay", "--verify", *place, "--from", "14:00")
        self.refused("audit", "quota", *place, "--as-of", "noon",
                     says=["--as-of: expected a seq", "yesterday", '"noon"'])

    def test_times_are_read_and_shown_in_a_zone(self):
        place = ("--data", self.incident())
        for options, environment in ((("--time-zone", "Europe/Berlin"), {}), (("--local",), {"TZ": "Europe/Berlin"})):
            text, _ = self.answer("audit", "why", "training", "on-demand", "gpu", *place, "--as-of", "15:07", *options,
                                  **environment)
            self.assertIn("at 2026-11-21T15:07:00+01:00 (seq 36)", text)
            self.assertIn("by seq 30 at 2026-11-21T15:06:55+01:00", text)
            self.assertNotRegex(text, r"T[0-9:.]+Z")
            table, _ = self.answer("log", "cat", "-o", "text", *place, "--from", "15:17:05", *options, **environment)
            self.assertIn("45 2026-11-21T15:17:05+01:00", table)
        # TZ alone changes nothing, whatever the machine's zone is.
        asked = ("audit", "quota", *place, "--as-of", "14:07")
        self.assertEqual(self.answer(*asked, TZ="Asia/Tokyo"), self.answer(*asked, TZ="UTC"))
        # Machines get UTC, and a time that was shown is understood without the zone.
        as_json, _ = self.answer("audit", "quota", *place, "--as-of", "2026-11-21T15:07:00+01:00", "-o", "json",
                                 "--time-zone", "Asia/Tokyo")
        self.assertEqual(json.loads(as_json)["asOf"]["time"], "2026-11-21T14:07:00Z")
        self.refused("audit", "quota", *place, "--time-zone", "Europe/Nowhere", says=["--time-zone", "Europe/Nowhere"])

    def test_a_time_that_a_history_prints_can_be_asked_back(self):
        data = self.folder / "fleet"
        done = fairlead("dev", "--speed", "600", "--seed", "7", "--for", "6s", "--data", data)
        self.assertEqual(done.returncode, 0, done.stderr)
        history, _ = self.answer("audit", "history", "low-priority-queue", "--data", data, "--resource", "cpu",
                                 "--exact")
        rows = [line.split() for line in history.splitlines() if re.match("20.* fairlead( |$)", line)]
        self.assertTrue(rows, history)
        # A time is after all events of that time: of several writes the last one counts.
        last = {(time, flavor, resource): new for time, _, flavor, resource, _, new, *_ in rows}
        for time, seq, flavor, resource, _, of_seq, *_ in rows:
            for moment, new in ((time, last[time, flavor, resource]), (f"seq:{seq}", of_seq)):
                asked = ("audit", "quota", "low-priority-queue", "--data", data, "--as-of", moment, "-o", "json")
                quotas = json.loads(self.answer(*asked)[0])["rows"]
                self.assertIn((flavor, resource, new),
                              [(row["flavor"], row["resource"], row["nominal"]) for row in quotas], moment)

    def test_tables_fit_a_terminal_and_amounts_are_readable(self):
        place = ("--data", self.incident())
        quotas, _ = self.answer("audit", "quota", *place)
        self.assertLessEqual(max(map(len, quotas.splitlines())), 80)
        self.assertRegex(quotas, r"training +on-demand +nvidia.com/gpu +48 +2026-11-21T14:17:00Z by fairlead")
        wide, _ = self.answer("audit", "quota", *place, "-o", "wide")
        self.assertIn("cluster2 48", wide)
        rows = json.loads(self.answer("audit", "quota", *place, "-o", "json")[0])["rows"]
        self.assertEqual([(row["used"], row["last"]["writer"], row["last"]["new"]) for row in rows],
                         [(None, "fairlead", "190"), (None, "fairlead", "48")])
        plan = json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q"},
                           "spec": {"resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [{
                               "name": "f", "resources": [{"name": "cpu", "nominalQuota": "547200m"},
                                                          {"name": "memory", "nominalQuota": "782758232064"}]}]}]}})
        data = self.folder / "amounts"
        self.assertEqual(fairlead("plan", "--log", data, "-", stdin=plan).returncode, 0)
        self.assertRegex(self.answer("audit", "quota", "--data", data)[0], r"cpu +547\.2 (.*\n)+.*memory +729Gi ")
        exact = self.answer("audit", "quota", "--data", data, "--exact")[0]
        self.assertRegex(exact, r"cpu +547200m (.*\n)+.*memory +764412336Ki ")

    def test_every_help_page_fits_and_has_two_examples(self):
        def pages(*path):
            text, _ = self.answer(*path, "--help")
            yield path, text
            below = text.partition("Subcommands:")[2].partition("Examples:")[0]
            for name in re.findall(r"^  ([a-z-]+) ", below, re.MULTILINE):
                yield from pages(*path, name)
        found = dict(pages())
        self.assertGreater(len(found), 25)
        for path, text in found.items():
            with self.subTest(path=path):
                self.assertLessEqual(max(map(len, text.splitlines())), 80)
                examples = text.partition("Examples:\n")[2].splitlines()
                self.assertEqual(len([line for line in examples if "fairlead" in line]), 2, text)
        self.assertEqual(self.answer("audit")[0], found[("audit",)])

    def test_a_typing_error_is_answered_with_what_was_meant(self):
        place = ("--data", self.incident())
        self.refused("audti", says=["did you mean audit?"])
        self.refused("audit", "histroy", says=["did you mean history?"])
        self.refused("plan", "--untill", "x", "-", says=["did you mean --until?"])
        self.refused("audit", "quota", "trainig", *place, says=["training (did you mean this?)"])
        self.refused("audit", "why", "training", "ondemand", *place, says=["on-demand (did you mean this?)"])

    def test_names_of_the_log_are_completed(self):
        data = str(self.incident())

        def words(*before):
            return self.answer("completion", "words", "--", *before)[0].split()
        self.assertEqual(words("audit", "why", "--data", data, ""), ["training"])
        self.assertEqual(words("audit", "why", "training", "--data", data, "on"), ["on-demand"])
        self.assertEqual(words("audit", "why-not", "training", "on-demand", f"--data={data}", ""),
                         ["cpu", "nvidia.com/gpu"])
        self.assertEqual(words("audit", "history", "training", "--data", data, "--flavor", ""), ["on-demand"])
        self.assertEqual(words("log", "cat", "--data", data, "--where", "cluster="), ["cluster=cluster2"])
        self.assertEqual(words("log", "cat", "--kind", "PatchI"), ["PatchIntended"])
        self.assertEqual(words("dev", "--fleet", "p"), ["pool"])
        self.assertEqual(words("plan", "--set", "debounce.growW"), ["debounce.growWindow="])
        self.assertEqual(words("audit", "quota", "--as-of", "y"), ["yesterday"])
        self.assertEqual(words("man", "audit", "why-"), ["why-not"])
        self.assertEqual(words("audit", "quota", "--data", self.folder / "nothing", ""), [])

    def test_a_man_page_has_the_examples_and_is_shown_on_a_terminal(self):
        page, _ = self.answer("man", "log", "stat")
        self.assertIn(".SH EXAMPLES", page)
        self.assertIn("\\-\\-data", page)
        code, shown = self.on_a_terminal("man", "log", "stat", stream="stdout", PAGER="cat", MANPAGER="cat")
        self.assertEqual(code, 0)
        self.assertNotIn(".SH", shown)
        self.assertIn("hash chain", shown)

    def test_why_answers_for_all_quotas_of_a_queue(self):
        place = ("--data", self.incident(), "--as-of", "14:13")
        for subject in ("why", "why-not"):
            both, _ = self.answer("audit", subject, "training", *place)
            each = [self.answer("audit", subject, "training", "on-demand", resource, *place)[0]
                    for resource in ("cpu", "nvidia.com/gpu")]
            self.assertEqual(both, "\n".join(each))
            self.assertEqual(self.answer("audit", subject, "training", "on-demand", *place)[0], both)
        many = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "many"},
                "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
                    {"name": f"f{i}", "resources": [{"name": "cpu", "nominalQuota": "1"}]} for i in range(9)]}]}}
        data = self.folder / "many"
        self.assertEqual(fairlead("plan", "--log", data, "-", stdin=json.dumps(many)).returncode, 0)
        self.refused("audit", "why", "many", "--data", data, says=["has 9 quotas: name a ResourceFlavor", "f0 cpu"])
        self.assertIn("many / f3 / cpu", self.answer("audit", "why", "many", "f3", "--data", data)[0])

    def test_a_diff_of_exchanged_moments_says_so(self):
        place = ("--data", self.incident())
        self.assertEqual(self.answer("audit", "diff", "14:05", "14:07", *place)[1], "")
        self.assertIn("the first moment is the later one", self.answer("audit", "diff", "14:07", "14:05", *place)[1])

    def test_a_plan_is_summed_up_and_can_be_asked_for_changes(self):
        table, _ = self.answer("plan", "-o", "table", *self.INCIDENT)
        self.assertRegex(table.splitlines()[-1], r"^8 writes to \d objects: .*2 claims/grow, 1 claims/shrink")
        code, shown = self.on_a_terminal("plan", "-o", "table", *self.INCIDENT, stream="stdout")
        self.assertEqual((code, re.sub(r"\x1b\[\d+m", "", shown.replace("\r\n", "\n"))), (0, table))
        self.assertIn("\x1b[31m", shown, "a shrink")
        self.assertEqual(fairlead("plan", "--detailed-exitcode", *self.INCIDENT).returncode, 4)
        done = fairlead("plan", "--detailed-exitcode", "-o", "table", "-", stdin="")
        self.assertEqual((done.returncode, done.stdout.splitlines()[-1]), (0, "nothing would be written"))
        lines, _ = self.answer("plan", *self.INCIDENT)
        yaml, _ = self.answer("plan", "-o", "yaml", *self.INCIDENT)
        self.assertEqual(yaml.count("---\n"), len(json_lines(lines)))
        self.assertIn("rule: claims/shrink", yaml)

    def test_an_export_replaces_a_file_only_if_it_is_told_to(self):
        data, file = self.incident(), self.file("kept", "precious")
        self.refused("log", "export", file, "--data", data, says=[f"{file} is there already", "--force"])
        self.assertEqual(file.read_text(), "precious")
        self.answer("log", "export", file, "--data", data, "--force")
        self.answer("log", "verify", "--bundle", file)

    def test_a_link_of_the_page_is_answered(self):
        data = self.incident()
        link = ("http://127.0.0.1:1/ui/#view=queue&queue=training&flavor=on-demand&resource=gpu"
                "&at=2026-11-21T14%3A07%3A00Z")
        text, said = self.answer("audit", "--url", link, "--data", data)
        command = ["audit", "why", "training", "on-demand", "gpu", "--as-of", "2026-11-21T14:07:00Z", "--data",
                   str(data)]
        self.assertEqual(said, " ".join(["fairlead", *command]) + "\n")
        self.assertEqual(text, self.answer(*command)[0])
        for fragment, words in (("", "quota"), ("view=queue&queue=training", "history training"),
                                ("view=diff&a=14%3A05&b=14%3A07", "diff 14:05 14:07")):
            said = self.answer("audit", "--url", f"file:///x/ui/#{fragment}", "--data", data)[1]
            self.assertTrue(said.startswith(f"fairlead audit {words}"), said)
        where = "view=log&where=kind%3DNode+name~%22a+b%22"
        self.assertEqual(self.answer("audit", "--url", f"http://127.0.0.1:1/ui/#{where}")[0],
                         "fairlead log cat --where 'kind=Node name~\"a b\"' --last 200 --server http://127.0.0.1:1\n")
        other = self.answer("audit", "--url", "http://127.0.0.1:1/ui/#seq=5&chain=abcd", "--data", data)[1]
        self.assertIn("the link is of another log", other)
        self.refused("audit", "--url", "http://127.0.0.1:1/", says=["--url: expected a link of the audit page"])



if __name__ == "__main__":
    unittest.main()
