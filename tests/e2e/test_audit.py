"""`fairlead audit` and `whatif` on a real hub: over its data while it runs, over HTTP, and after it ended."""

import json
import pathlib

from harness.fleet import CLAIMS, add_node, quantity, quota, remove_node, set_quota
from harness.page import Served
from harness.program import fairlead
from test_hub import HIGH, HubTest

NEEDS = ("controlplane", "fairlead")
PAIR = (HIGH, "on-demand", "cpu")


class AuditTest(HubTest):
    def audit(self, hub, *arguments, server=False):
        """The answer as JSON; over the data directory, or of the running hub."""
        where = ("--server", f"http://127.0.0.1:{hub.port}") if server else ("--data", hub.data)
        done = fairlead("audit", *arguments, *where, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def value(self, hub, as_of, **options):
        rows = self.audit(hub, "quota", HIGH, "--as-of", as_of, **options)["rows"]
        return next(row for row in rows if (row["flavor"], row["resource"]) == PAIR[1:])

    def changed_twice(self):
        hub = self.started_with_claim()
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500")
        add_node(self.member, "on-demand-0", "on-demand")
        self.wait_for_cpu(hub, "500", "500")

        def settled():
            seen = [row["seen"] for row in self.history(hub)]
            assert len(seen) == 3 and all(seen), seen
            return True

        hub.wait_until("three changes, all seen again", settled)
        return hub

    def history(self, hub, **options):
        rows = self.audit(hub, "history", HIGH, "--flavor", "on-demand", "--resource", "cpu", **options)["rows"]
        return [row for row in rows if row["writer"] == "fairlead"]

    def test_audit_answers_while_the_hub_runs_and_after(self):
        hub = self.changed_twice()
        rows = self.history(hub)
        self.assertEqual([(row["old"], row["new"]) for row in rows], [("0", "500"), ("500", "400"), ("400", "500")])
        self.assertEqual({row["answer"]["outcome"] for row in rows}, {"accepted"})
        for row, value in zip(rows, ("500", "400", "500")):
            seen = f"seq:{row['seen']['seq']}"
            self.assertEqual(self.value(hub, seen)["nominal"], value)
            self.assertEqual(self.value(hub, seen, server=True), self.value(hub, seen))
            self.assertEqual(self.value(hub, row["seen"]["time"])["desired"], value)
        # The end of the log is what kubectl sees now.
        end = self.audit(hub, "quota", HIGH)["rows"]
        for row in end:
            self.assertEqual(quantity(row["nominal"]), quota(self.server, HIGH, row["flavor"], row["resource"]))
        # A clean end adds events to the log: places are named.
        last = f"seq:{rows[2]['seen']['seq']}"
        questions = [("history", HIGH, "--to", last),
                     ("diff", f"seq:{rows[0]['seq']}", f"seq:{rows[1]['seen']['seq']}"),
                     ("why", *PAIR, "--as-of", f"seq:{rows[1]['seen']['seq']}"),
                     ("why-not", HIGH, "on-demand", "gpu", "--as-of", f"seq:{rows[1]['seen']['seq']}")]
        running = [self.audit(hub, *question) for question in questions]
        self.assertEqual([self.audit(hub, *question, server=True) for question in questions], running)
        self.hub_serves_the_log(hub, last)
        self.page_is_served_by_the_hub(hub, rows)
        hub.stop()
        self.assertEqual([self.audit(hub, *question) for question in questions], running)
        self.index_says_what_the_log_says(hub)
        hub.check_log()

    def index_says_what_the_log_says(self, hub):
        """The index that a hub leaves, a damaged one and none: the page draws the same."""
        index = pathlib.Path(hub.data) / "moments"
        self.assertEqual(index.stat().st_mode & 0o777, 0o600)
        kept = index.read_bytes()
        drawn = []
        for content in (kept, kept[:-1] + bytes([kept[-1] ^ 1]), b"", None):
            index.unlink()
            if content is not None:
                index.write_bytes(content)
                index.chmod(0o600)
            page = Served(self.plane.directory, "--data", hub.data)
            self.addCleanup(page.stop)
            drawn.append([page.ask("/ui/api/overview"), page.ask("/ui/api/series", queue=HIGH)])
            self.assertEqual(index.exists(), content is not None, "`serve` writes nothing")
            index.touch()
        self.assertIsNone(drawn[0][0]["building"])
        self.assertTrue(drawn[0][1]["pairs"])
        self.assertEqual(drawn, drawn[:1] * 4)

    def hub_serves_the_log(self, hub, last):
        """`log cat` of the running hub prints what its data directory prints; `log stat` counts no less."""
        server = ("--server", f"http://127.0.0.1:{hub.port}")
        for output in ("json", "text"):
            question = ("log", "cat", "--to", last, "-o", output)
            both = [fairlead(*question, *where) for where in (server, ("--data", hub.data))]
            self.assertEqual([done.returncode for done in both], [0, 0], both[0].stderr)
            self.assertGreater(both[0].stdout.count("\n"), 20)
            self.assertEqual(both[0].stdout, both[1].stdout)
        stat = json.loads(fairlead("log", "stat", "-o", "json", *server).stdout)
        self.assertEqual((stat["first_seq"], stat["chain"]), (1, "ok"))
        self.assertGreaterEqual(stat["last_seq"], int(last.removeprefix("seq:")))
        refused = fairlead("log", "cat", "--kind", "Nodule", *server)
        self.assertEqual(refused.returncode, 2, refused.stderr)
        self.assertIn("Nodule", refused.stderr)

    def page_is_served_by_the_hub(self, hub, rows):
        """The audit page at /ui/ of `--listen`: its lines have the values of `audit history`."""
        page = Served.at(f"http://127.0.0.1:{hub.port}/ui/")
        self.assertEqual(page.request("/ui/")[0], 200)
        self.assertEqual(page.request("/ui/", Host="evil.example")[0], 421)
        pairs = page.ask("/ui/api/series", queue=HIGH, flavor=PAIR[1], resource=PAIR[2])["pairs"]
        steps = {step[1]: (step[2], step[3]) for step in pairs[0]["lines"]["nominal"]}
        for row in rows:
            self.assertIn((row["new"], "fairlead"), steps.values())
        self.assertEqual(next(page.versions()), str(page.ask("/ui/api/log")["last_seq"]))

    def test_a_moment_in_which_no_hub_ran_is_marked(self):
        hub = self.started_with_claim()
        hub.stop()
        hub.start()
        set_quota(self.server, HIGH, "on-demand", "cpu", "7")  # something for the second hub to do
        self.wait_for_cpu(hub, "500", "500")
        start = hub.events(fact="EpochStarted")[1]
        between = start["logTime"][:len("2026-01-01T00:00:00.000")] + "Z"
        last = f"seq:{start['seq']}"
        for server in (True, False):
            for question in (("quota", HIGH, "--as-of", between), ("why", *PAIR, "--as-of", between),
                             ("history", HIGH, "--to", last)):
                unseen, = self.audit(hub, *question, server=server)["unseen"]
                ends = (unseen["what"], unseen["from"]["seq"], unseen["to"]["seq"])
                self.assertEqual(ends, ("NoHub", start["seq"] - 1, start["seq"]))
            self.assertEqual(self.audit(hub, "quota", HIGH, "--as-of", last, server=server)["unseen"], [])
            hub.stop() if server else hub.check_log()

    def test_a_bundle_answers_as_the_data_that_it_was_made_of(self):
        hub = self.changed_twice()
        rows = self.history(hub)
        hub.stop()
        bundle = self.plane.directory / "history.bundle"
        done = fairlead("log", "export", bundle, "--data", hub.data)
        self.assertEqual(done.returncode, 0, done.stderr)
        seen = [f"seq:{row['seen']['seq']}" for row in rows]
        for question in (("audit", "quota", "--as-of", seen[1]), ("audit", "quota", HIGH),
                         ("audit", "history", HIGH), ("audit", "history", HIGH, "--from", seen[0], "--to", seen[1]),
                         ("audit", "diff", seen[0], seen[1]), ("audit", "why", *PAIR, "--as-of", seen[1]),
                         ("audit", "why", *PAIR), ("audit", "why-not", HIGH, "on-demand", "gpu"),
                         ("whatif", "--set", "debounce.shrinkWindow=1h"),
                         ("whatif", "--set", "debounce.growWindow=0s")):
            for form in ("json", "text"):
                with self.subTest(question, form=form):
                    answers = [fairlead(*question, *where, "-o", form)
                               for where in (("--data", hub.data), ("--bundle", bundle))]
                    self.assertEqual(answers[0].returncode, 0, answers[0].stderr)
                    self.assertNotEqual(answers[0].stdout, "")
                    self.assertEqual([(one.returncode, one.stdout) for one in answers],
                                     [(0, answers[0].stdout)] * 2, answers[1].stderr)
        damaged = bytearray(bundle.read_bytes())
        damaged[len(damaged) // 2] ^= 1
        bundle.write_bytes(damaged)
        done = fairlead("audit", "quota", "--bundle", bundle)
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout, "")

    def test_why_names_the_write_the_node_and_the_claim(self):
        hub = self.changed_twice()
        lost = self.history(hub)[1]
        why = self.audit(hub, "why", *PAIR, "--as-of", f"seq:{lost['seen']['seq']}")
        self.assertEqual(why["written"]["seq"], lost["seq"])
        self.assertEqual(why["value"]["nominal"], "400")
        grant = why["grants"][0]
        self.assertEqual((grant["assigned"], grant["granted"], grant["flavorBound"]), ("500", "400", "400"))
        self.assertEqual(grant["claim"]["uid"],
                         self.server.get(f"{CLAIMS}/cluster2-resource-claim")["metadata"]["uid"])
        counted = [node["name"] for node in grant["nodes"] if node["counts"]]
        self.assertEqual(counted, [f"on-demand-{number}" for number in range(1, 5)])
        gone = [event["seq"] for event in hub.events(fact="ObjectGone")]
        self.assertIn(gone[0], [event["seq"] for event in grant["capacity"][0]["because"]])
        text = fairlead("audit", "why", *PAIR, "--as-of", f"seq:{lost['seen']['seq']}", "--data", hub.data).stdout
        self.assertIn("4 x 100", text)
        self.assertIn("Node on-demand-0 of cluster2 gone", text)

    def test_a_human_write_has_a_writer_of_its_own(self):
        hub = self.started_with_claim()
        set_quota(self.server, HIGH, "on-demand", "cpu", "1")
        self.wait_for_cpu(hub, "500", "500")

        def recorded():
            rows = self.audit(hub, "history", HIGH, "--flavor", "on-demand", "--resource", "cpu")["rows"]
            written = [(row["writer"], row["old"], row["new"]) for row in rows[-2:]]
            assert written == [("foreign", "500", "1"), ("fairlead", "1", "500")], written
            return True

        hub.wait_until("the foreign write and our answer to it", recorded)

    def test_what_is_not_there_is_said_with_what_is(self):
        hub = self.started_with_claim()
        for where in (("--data", hub.data), ("--server", f"http://127.0.0.1:{hub.port}")):
            done = fairlead("audit", "why", "hihg-priority-queue", "on-demand", "cpu", *where)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("high-priority-queue", done.stderr)
            done = fairlead("audit", "quota", "--as-of", "2020-01-01T00:00:00Z", *where)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("before the log begins", done.stderr)
        status, body = hub.http("/audit/quota?colour=red")
        self.assertEqual(status, 400)
        self.assertIn("colour", json.loads(body)["error"])
        done = fairlead("audit", "quota", "--server", "http://127.0.0.1:1")
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_a_longer_window_would_have_kept_the_quota(self):
        hub = self.changed_twice()
        hub.stop()
        done = fairlead("whatif", "--data", hub.data, "--set", "debounce.shrinkWindow=1h", "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads(done.stdout)
        only = [(row["difference"], row["object"]) for row in result["differences"]]
        self.assertEqual(only, [("onlyHistory", f"ClusterQueue {HIGH}")] * 2)
        intents = {event["seq"]: event["logTime"] for event in hub.events(fact="PatchIntended")}
        for row in result["differences"]:  # the control's writes name those that the hub really made
            self.assertEqual(row["history"]["writtenTime"], intents[row["history"]["seq"]])
        totals = result["totals"]
        self.assertEqual(totals["whatIf"]["queueWrites"] + 2, totals["sameConfiguration"]["queueWrites"])
        self.assertEqual(totals["history"]["queueWrites"], totals["sameConfiguration"]["queueWrites"])
        same = fairlead("whatif", "--data", hub.data, "--set", "debounce.growWindow=0s", "-o", "json")
        self.assertEqual(json.loads(same.stdout)["differences"], [])
        # Nothing was silent for so long: no difference, also from right behind each write, before its answer.
        for seq in [0, *intents]:
            done = fairlead("whatif", "--data", hub.data, "--set", "debounce.staleAfter=6m", "--from", f"seq:{seq + 1}",
                            "-o", "json")
            result = json.loads(done.stdout)
            self.assertEqual(result["differences"], [], f"from seq {seq + 1}")
            self.assertEqual(result["totals"]["sameConfiguration"], result["totals"]["whatIf"])
