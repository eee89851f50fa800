"""`fairlead serve`: every answer is that of the command, what is asked badly is refused in one sentence."""

import concurrent.futures
import gzip
import itertools
import json
import pathlib
import random
import re
import shutil
import socket
import tempfile
import unittest
import urllib.error
import urllib.request

from harness.page import PageCase, Served
from harness.process import Process, wait_for
from harness.program import binary, fairlead, json_lines
from harness.times import nanoseconds, rfc3339

NEEDS = ("fairlead",)

BAD_INPUT, FAILED = 2, 3
INCIDENT = [pathlib.Path(__file__).resolve().parents[2] / "docs/incident" / name
            for name in ("hub.yaml", "nodes.jsonl")]
PAIR = {"queue": "training", "flavor": "on-demand", "resource": "cpu"}
HOSTILE = ["<img src=x onerror=alert(1)>", "\u202eeueuq\u202c", "q" * 253, "a&b=c d#e", "'; rm -rf /"]


def value_at(steps, ns):
    """The value of the step in force."""
    value = None
    for step in steps:
        if nanoseconds(step[0]) > ns:
            break
        value = step[2]
    return value


def queue(name):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name}, "spec": {
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
            {"name": name, "resources": [{"name": "cpu", "nominalQuota": "7"}]}]}]}}


def long_plan():
    """Input of `plan` that makes a log of several blocks."""
    begin = nanoseconds("2026-01-01T00:00:00Z")
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1", "labels": {"padding": "x" * 60}}}
    return "\n".join(json.dumps({"type": "MODIFIED", "cluster": "c1", "time": rfc3339(begin + n * 10**9),
                                 "object": {**node, "status": {"allocatable": {"cpu": str(n + 1)}}}})
                     for n in range(1500))


class PageTest(PageCase):
    def incident(self):
        data = self.folder / "incident"
        self.done("plan", "--log", data, *INCIDENT)
        return data

    # -- the answers --------------------------------------------------------------------------------

    def same_as_commands(self, served, place):
        middle = "2026-11-21T14:10:00Z"
        questions = [
            ("quota", [], {}), ("quota", ["training", "--as-of", middle], {"queue": "training", "as_of": middle}),
            ("history", ["training"], {"queue": "training"}),
            ("history", ["training", "--from", "seq:9", "--to", middle],
             {"queue": "training", "from_": "seq:9", "to": middle}),
            ("diff", ["seq:9", "-1s"], {"from_": "seq:9", "to": "-1s"}),
            ("why", [*PAIR.values(), "--as-of", middle], {**PAIR, "as_of": middle}),
            ("why-not", [*PAIR.values(), "--as-of", "-5m"], {**PAIR, "as_of": "-5m"}),
            ("admissions", [], {})]
        for subject, arguments, parameters in questions:
            with self.subTest(subject=subject, arguments=arguments):
                said = self.done("audit", subject, *arguments, *place, "-o", "json")
                self.assertEqual(served.text(f"/audit/{subject}", **parameters), said)
        for arguments, parameters in [
                ([], {}), (["--where", "kind=Node time>14:05"], {"where": "kind=Node time>14:05"}),
                (["--last", "7"], {"last": "7"}), (["--from", "seq:3", "--to", "seq:5", "--raw"],
                                                   {"from_": "seq:3", "to": "seq:5", "raw": "true"})]:
            with self.subTest(arguments=arguments):
                said = self.done("log", "cat", *arguments, *place)
                self.assertTrue(said)
                self.assertEqual(served.ask("/log/cat", **parameters)["text"], said)
        self.assertEqual(served.ask("/log/stat")["text"], self.done("log", "stat", *place, "-o", "json"))

    def test_every_answer_is_that_of_the_command(self):
        data = self.incident()
        self.same_as_commands(self.serve("--data", data), ("--data", data))

    def test_open_starts_the_browser_with_the_page(self):
        seen, browser = self.folder / "seen", self.folder / "browser"
        browser.write_text(f'#!/bin/sh\nprintf "%s %s" "$#" "$1" >"{seen}.new" && mv "{seen}.new" "{seen}"\n')
        browser.chmod(0o755)
        data = self.incident()
        served = self.serve("--data", data, "--open", BROWSER=str(browser))
        wait_for("the browser", seen.exists)
        self.assertEqual(seen.read_text(), f"1 {served.url}")
        # Without one the page is there all the same.
        served = self.serve("--data", data, "--open", BROWSER=str(self.folder / "none"))
        said = wait_for("a word about it", lambda: "--open: cannot run" in served.output.read_text())
        self.assertTrue(said)
        self.assertEqual(served.ask("/ui/api/log")["kind"], "Log")

    def test_a_bundle_answers_as_its_log_does(self):
        data, bundle = self.incident(), self.folder / "bundle"
        self.done("log", "export", bundle, "--data", data)
        served = self.serve("--bundle", bundle)
        self.same_as_commands(served, ("--bundle", bundle))
        log = served.ask("/ui/api/log")
        self.assertEqual(log["place"], ["--bundle", str(bundle)])
        self.assertIn("fairlead log export", served.refusal("/log/export"))

    def test_it_says_which_log_it_is_and_whether_a_link_was_made_for_it(self):
        data = self.incident()
        served = self.serve("--data", data)
        log, stat = served.ask("/ui/api/log"), json.loads(self.done("log", "stat", "--data", data, "-o", "json"))
        self.assertEqual((log["last_seq"], log["last_time"], log["damage"], log["link"]),
                         (stat["last_seq"], stat["last_time"], None, None))
        self.assertEqual(log["chain"], json.loads(self.done("log", "verify", "--data", data, "-o", "json"))["digest"])
        for seq, chain, link in [(log["last_seq"], log["chain"][:16], "same"), (log["last_seq"], "0" * 16, "other"),
                                 (log["last_seq"] + 1, log["chain"], "behind")]:
            self.assertEqual(served.ask("/ui/api/log", seq=seq, chain=chain)["link"], link)

    def test_the_histogram_and_the_present_state_are_those_of_the_log(self):
        data = self.incident()
        served = self.serve("--data", data)
        events = json_lines(self.done("log", "cat", "--data", data))
        overview = served.ask("/ui/api/overview", buckets=50, span="all")
        self.assertLessEqual(len(overview["buckets"]), 50)
        self.assertEqual(sum(bucket[1] for bucket in overview["buckets"]), len(events))
        writes = sum(event["fact"] == "PatchIntended" for event in events)
        self.assertEqual((overview["totals"]["events"], overview["totals"]["ours"]), (len(events), writes))
        self.assertGreater(writes, 0)
        rows = json.loads(self.done("audit", "quota", "--data", data, "-o", "json"))["rows"]
        reported = {(one["queue"], pair["flavor"], pair["resource"]): (pair["nominal"], pair["desired"])
                    for one in overview["queues"] for pair in one["pairs"]}
        self.assertEqual(reported, {(row["queue"], row["flavor"], row["resource"]): (row["nominal"], row["desired"])
                                    for row in rows})

    def test_the_first_view_is_where_something_moves(self):
        data = self.incident()
        served = self.serve("--data", data)
        whole, first = (served.ask("/ui/api/overview", **span) for span in ({"span": "all"}, {}))
        self.assertEqual(whole["from"], "1970-01-01T00:00:00Z")
        self.assertEqual((first["from"][:14], first["to"]), ("2026-11-21T13:", whole["to"]))
        self.assertGreater(len(first["buckets"]), 5)
        bundle = self.folder / "bundle"
        self.done("log", "export", bundle, "--data", data)
        page = self.folder / "page.html"
        for place in (("--data", data), ("--bundle", bundle)):
            said = self.done("serve", "--save", page, "--queue", "training", *place)
            self.assertIn(f"training from {first['from']} to {first['to']}", said)

    def test_a_silent_member_is_in_the_history_of_its_queue(self):
        silent = "\n".join(json.dumps({"type": kind, "cluster": "cluster2", "time": f"2026-11-21T14:{minute}:00Z"})
                           for kind, minute in (("SOURCE_STALE", 20), ("SOURCE_SYNCED", 26)))
        data = self.folder / "silent"
        self.done("plan", "--log", data, *INCIDENT, "-", stdin=silent)
        asked = ("training", "--data", data, "-o", "json")
        history = json.loads(self.done("audit", "history", *asked))
        why = json.loads(self.done("audit", "why", "training", "on-demand", "cpu", "--as-of",
                                   "2026-11-21T14:22:00Z", *asked[1:]))
        self.assertEqual(len(why["unseen"]), 1)
        self.assertEqual(history["unseen"], why["unseen"])
        # The queue is not steady while the source of its capacity is silent.
        data = self.folder / "stale"
        self.done("plan", "--log", data, *INCIDENT, "-", stdin=silent.split("\n", maxsplit=1)[0])
        self.assertEqual(self.serve("--data", data).ask("/ui/api/overview")["queues"][0]["states"], ["held"])

    def test_a_queue_that_is_not_as_it_should_be_is_not_steady(self):
        data = self.folder / "unanswered"
        self.done("plan", "--no-feedback", "--log", data, *INCIDENT)
        row, = self.serve("--data", data).ask("/ui/api/overview")["queues"]
        self.assertEqual(row["states"], ["write unanswered"])
        self.assertNotEqual(row["pairs"][0]["nominal"], row["pairs"][0]["desired"])

    def test_the_proof_is_that_of_the_commands(self):
        data = self.incident()
        served = self.serve("--data", data)
        self.assertEqual(served.ask("/ui/api/proof")["state"], "none")
        served.ask("/ui/api/proof", begin="true")
        proof = wait_for("the verification", lambda: (got := served.ask("/ui/api/proof"))["state"] == "done" and got)
        replay = json.loads(self.done("replay", "--verify", "--data", data, "-o", "json"))
        self.assertEqual((proof["chain"], proof["error"], proof["replay"]["events"], proof["replay"]["compared"]),
                         ("ok", None, replay["events"], replay["compared"]))
        self.assertIsNone(proof["replay"]["differsAt"])

    # -- what is refused ----------------------------------------------------------------------------

    def test_bad_questions_are_refused_in_one_sentence(self):
        served = self.serve("--data", self.incident())
        for path, parameters, words in [
                ("/audit/quota", {"as_of": "noon"}, "--as-of: expected a seq"),
                ("/audit/quota", {"queue": "trainin"}, "known: training"),
                ("/audit/quota", {"colour": "red"}, "unknown parameter"),
                ("/audit/what", {}, "expected quota"), ("/log/what", {}, "expected stat, cat, position or export"),
                ("/log/cat", {"where": "colour=red"}, "--where: expected one of kind"),
                ("/log/cat", {"last": "0"}, "--last: expected a number"),
                ("/ui/api/what", {}, "expected log, overview, series, sparks, pool, suppressed, waiting, usage, chang"),
                ("/ui/api/suppressed", {"cluster": "cluster9"}, "known: cluster2"),
                ("/ui/api/changes", {"seqs": "1", "times": "yes"}, "times: expected true"),
                ("/ui/api/series", {}, "expected one of queue, cluster, list, namespace"),
                ("/ui/api/series", {"queue": "trainin"}, "known: training"),
                ("/ui/api/series", {"queue": "training", "flavor": "gold"}, "known: "),
                ("/ui/api/series", {"queue": "training", "points": "0"}, "points: expected a number from 1 to"),
                ("/ui/api/sparks", {"of": "[1"}, "of: expected 1 to 100 times [queue, flavor, resource]"),
                ("/ui/api/sparks", {"of": '[["training", "on-demand"]]'}, "of: expected 1 to 100 times"),
                ("/ui/api/overview", {"from_": "noon"}, "from: expected a seq"),
                ("/ui/api/overview", {"from_": "-1m", "to": "-2m"}, "is before from"),
                ("/ui/api/overview", {"span": "some"}, "span: expected all"),
                ("/ui/api/overview", {"buckets": "9999"}, "buckets: expected a number from 1 to 2000"),
                ("/ui/api/log", {"seq": "x", "chain": "0"}, "seq: expected a number"),
                ("/ui/api/proof", {"begin": "now"}, "begin: expected true")]:
            with self.subTest(path=path, parameters=parameters):
                said = served.refusal(path, **parameters)
                self.assertIn(words, said)
                self.assertEqual(said.count("\n"), 0)
        self.assertEqual(served.request("/ui/nothing.js")[0], 404)
        self.assertEqual(served.request("/")[0], 404)

    def test_only_loopback_is_served_and_a_wrong_place_is_named(self):
        data = self.incident()
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        for code, arguments, words in [
                (BAD_INPUT, ("--data", data, "--listen", "0.0.0.0:0"), "expected an address of this machine alone"),
                (BAD_INPUT, ("--data", data, "--listen", "here"), "--listen: expected ADDRESS:PORT"),
                (BAD_INPUT, ("--data", data, "--frame-ancestors", "https://a; script-src *"), '"https://a;"'),
                (BAD_INPUT, ("--data", data, "--frame-ancestors", "*"), "--frame-ancestors: expected origins"),
                (BAD_INPUT, ("--data", data, "--bundle", "x"), "Requires at most 1 options be given from"),
                (BAD_INPUT, ("--data", self.folder / "none"), "none"),
                (FAILED, ("--data", data, "--listen", f"127.0.0.1:{taken.getsockname()[1]}"), "cannot listen on")]:
            done = fairlead("serve", *arguments, timeout=20)
            self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
            self.assertIn(words, done.stderr)

    def test_what_a_browser_may_do_is_in_the_headers(self):
        served = self.serve("--data", self.incident())
        page = served.request("/ui/")
        for target in ("/ui/", "/ui/api/log", "/audit/quota", "/nothing"):
            headers = served.request(target)[1]
            self.assertTrue(headers["Content-Security-Policy"].startswith("default-src 'self'"), target)
            self.assertEqual((headers["X-Content-Type-Options"], headers["Referrer-Policy"]),
                             ("nosniff", "no-referrer"))
            self.assertIsNone(headers["Access-Control-Allow-Origin"])
        self.assertEqual((page[0], page[1]["Content-Type"]), (200, "text/html; charset=utf-8"))
        self.assertEqual(served.request("/audit/quota")[1]["Cache-Control"], "no-store")
        self.assertIn("frame-ancestors 'none'", page[1]["Content-Security-Policy"])
        named = self.serve("--data", self.folder / "incident", "--frame-ancestors", "https://portal.example 'self'")
        for target in ("/ui/", "/audit/quota"):
            policy = named.request(target)[1]["Content-Security-Policy"]
            self.assertTrue(policy.endswith("; frame-ancestors https://portal.example 'self'"), policy)
        for host, status in [("localhost", 200), ("127.0.0.1:8787", 200), ("[::1]:1", 200), ("evil.example", 421),
                             ("127.0.0.1.evil.example:8787", 421)]:
            self.assertEqual(served.request("/audit/quota", Host=host)[0], status, host)

    def test_files_are_compressed_and_kept_and_answers_are_compressed(self):
        served = self.serve("--data", self.incident())
        taken = {"Accept-Encoding": "br, gzip"}

        def sent(target, **headers):
            request = urllib.request.Request(served.base + target, headers=headers)
            try:
                with urllib.request.urlopen(request, timeout=60) as reply:
                    return reply.status, reply.headers, reply.read()
            except urllib.error.HTTPError as other:
                with other:
                    return other.code, other.headers, other.read()

        index = served.request("/ui/")[2]
        files = re.findall(r'(?:href|src)="(v-[0-9a-f]{16}/[^"]+)"', index)
        self.assertEqual(files, re.findall(r'(?:href|src)="([^"#]+)"', index), "a file without the digest")
        self.assertLess({"icon.svg", "page.css", "main.js"}, {name.split("/")[1] for name in files})
        for target in ["/ui/", *(f"/ui/{name}" for name in files)]:
            plain, packed = sent(target), sent(target, **taken)
            self.assertEqual((plain[1]["Content-Encoding"], packed[1]["Content-Encoding"]), (None, "gzip"), target)
            self.assertEqual(gzip.decompress(packed[2]), plain[2], target)
            self.assertEqual(packed[1]["Vary"], "Accept-Encoding")
            kept = "no-cache" if target == "/ui/" else "public, max-age=31536000, immutable"
            self.assertEqual(packed[1]["Cache-Control"], kept, target)
            again = sent(target, **taken, **{"If-None-Match": packed[1]["ETag"]})
            self.assertEqual((again[0], again[2]), (304, b""), target)
            self.assertEqual(sent(target, **{"If-None-Match": 'W/"other"'})[0], 200)
        # Of another version it is not kept.
        self.assertEqual(sent("/ui/main.js")[1]["Cache-Control"], "no-cache")
        self.assertEqual(sent("/ui/v-0000000000000000/main.js")[0], 404)
        answer = sent("/audit/why?queue=training&flavor=on-demand&resource=cpu", **taken)
        self.assertEqual((answer[1]["Content-Encoding"], answer[1]["Cache-Control"]), ("gzip", "no-store"))
        self.assertEqual(gzip.decompress(answer[2]).decode(), served.text("/audit/why", **PAIR))

    def test_requests_have_limits(self):
        served = self.serve("--data", self.incident())
        port = int(served.base.rsplit(":", 1)[1])

        def head(request):
            with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
                connection.sendall(request)
                return connection.makefile("rb").readline().split()[1]

        end = b" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
        self.assertEqual(head(b"GET /audit/quota?queue=" + b"x" * 8192 + end), b"414")
        self.assertEqual(head(b"POST /audit/quota" + end), b"405")
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            answers = list(pool.map(lambda _: served.request("/audit/quota")[0], range(64)))
        self.assertEqual(answers, [200] * 64)
        # A client that never ends its request holds nothing up.
        idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(40)]
        for one in idle:
            self.addCleanup(one.close)
            one.sendall(b"GET /audit/")
        self.assertEqual(served.request("/audit/quota")[0], 200)

    # -- other logs ---------------------------------------------------------------------------------

    def test_names_of_any_kind_are_data(self):
        data = self.folder / "hostile"
        self.done("plan", "--log", data, "-", stdin="\n".join(json.dumps(queue(name)) for name in HOSTILE))
        served = self.serve("--data", data)
        self.assertEqual({one["queue"] for one in served.ask("/ui/api/overview")["queues"]}, set(HOSTILE))
        for name in HOSTILE:
            self.assertEqual(served.text("/audit/quota", queue=name),
                             self.done("audit", "quota", name, "--data", data, "-o", "json"))
            pairs = served.ask("/ui/api/series", queue=name)["pairs"]
            self.assertEqual([(pair["flavor"], pair["lines"]["nominal"][-1][2]) for pair in pairs], [(name, "7")])

    def test_an_empty_log_is_no_error(self):
        data = self.folder / "empty"
        self.done("plan", "--log", data, "-", stdin="")
        shutil.rmtree(data / "snapshots", ignore_errors=True)
        served = self.serve("--data", data)
        log = served.ask("/ui/api/log")
        self.assertIsNone(log["damage"])
        overview = served.ask("/ui/api/overview")
        self.assertEqual((overview["queues"], overview["building"]), ([], None))

    def long_log(self):
        """A data directory with several blocks of events, in tables."""
        plan, data, bundle = self.folder / "plan", self.folder / "long", self.folder / "long.bundle"
        self.done("plan", "--log", plan, "-", stdin=long_plan())
        self.done("log", "export", bundle, "--data", plan)
        self.done("log", "import", bundle, "--data", data)
        return data

    def test_a_damaged_log_is_shown_up_to_the_damage_and_says_so(self):
        data = self.long_log()
        packs = max((data / "log").glob("*.sst"), key=lambda file: file.stat().st_size)
        good, shown = packs.read_bytes(), set()
        # Not the footer of the table, in its last bytes: without that the log does not open.
        for at in range(0, len(good) - 1000, max(1, len(good) // 6)):
            packs.write_bytes(good[:at] + bytes([good[at] ^ 16]) + good[at + 1:])
            stat = json.loads(fairlead("log", "stat", "--data", data, "-o", "json").stdout)
            served = Served(self.folder, "--data", data)
            overview = served.ask("/ui/api/overview")
            self.assertIsNone(overview["building"])
            if stat["chain"] == "ok":
                self.assertIsNone(overview["damage"])
            else:
                self.assertIn("Keep a copy of the data directory", overview["damage"])
                self.assertEqual(overview["totals"]["events"], int(stat["chain"].removeprefix("broken@")) - 1)
                shown.add(overview["totals"]["events"])
                self.assertEqual(served.request("/audit/quota?as-of=seq:1499")[0], 500)
                served.ask("/ui/api/proof", begin="true")
                proof = wait_for("the proof", lambda: (got := served.ask("/ui/api/proof"))["state"] == "done" and got)
                self.assertEqual(proof["chain"], stat["chain"])
            served.stop()
        self.assertGreater(len(shown), 1)


class DevLogTest(unittest.TestCase):
    """A log that `dev` wrote: seeded, living."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.data = self.folder / "data"

    def dev(self, length):
        return Process("dev", [binary(), "dev", "--speed", "300", "--seed", "7", "--for", length, "--data", self.data],
                       self.folder / "dev.txt").start()

    def test_500_random_moments_under_the_cursor_are_what_audit_quota_says(self):
        dev = self.dev("12s")
        wait_for("the end of dev", lambda: not dev.running(), timeout=120)
        served = Served(self.folder, "--data", self.data)
        self.addCleanup(served.stop)
        overview = served.ask("/ui/api/overview")
        begin, end = nanoseconds(overview["from"]), nanoseconds(overview["to"])
        series = {one["queue"]: served.ask("/ui/api/series", queue=one["queue"], points=5000)["pairs"]
                  for one in overview["queues"]}
        self.assertFalse(any(pair["reduced"] or pair["leftOut"] for pairs in series.values() for pair in pairs))
        few = served.ask("/ui/api/series", queue=overview["queues"][0]["queue"], points=5)["pairs"]
        self.assertTrue(any(pair["leftOut"] for pair in few))
        # Many small charts in one answer are those of each.
        of = [[name, pairs[0]["flavor"], pairs[0]["resource"]] for name, pairs in series.items()]
        of.append(["no", "such", "pair"])
        *together, unknown = served.ask("/ui/api/sparks", of=json.dumps(of), points=50)["series"]
        self.assertIsNone(unknown)
        for (name, flavor, resource), one in zip(of[:-1], together, strict=True):
            alone = served.ask("/ui/api/series", queue=name, flavor=flavor, resource=resource, points=50)
            self.assertEqual(one["pairs"], alone["pairs"])
        dice, compared = random.Random(19), 0
        for number in range(500):
            name = dice.choice(sorted(series))
            moment = dice.randint(begin, end)
            if number % 3 == 0:  # a step itself
                steps = [step for pair in series[name] for line in pair["lines"].values() for step in line]
                moment = nanoseconds(dice.choice(steps)[0])
            answer = served.ask("/audit/quota", queue=name, as_of=rfc3339(moment))
            if number % 50 == 0:
                said = fairlead("audit", "quota", name, "--as-of", rfc3339(moment), "--data", self.data, "-o", "json")
                self.assertEqual(answer, json.loads(said.stdout))
            for row in answer["rows"]:
                lines = next(pair["lines"] for pair in series[name]
                             if (pair["flavor"], pair["resource"]) == (row["flavor"], row["resource"]))
                for line in ("nominal", "desired"):
                    self.assertEqual(value_at(lines[line], moment), row[line], f"{row} at {rfc3339(moment)}")
                    compared += 1
        self.assertGreater(compared, 2000)

    def test_dev_serves_the_page_of_its_own_log(self):
        dev = self.dev("300s")
        self.addCleanup(dev.kill)
        said = wait_for("the URL", lambda: re.match(r"Look at it: (http://127\.0\.0\.1:\d+)/ui/\n", dev.text()))
        served = Served.at(said.group(1) + "/ui/")
        self.assertEqual(served.request("/ui/")[0], 200)
        wait_for("queues", lambda: len(served.ask("/ui/api/overview")["queues"]) == 2, timeout=60)
        seqs = [int(version) for version in itertools.islice(served.versions(), 3)]
        self.assertEqual(seqs, sorted(set(seqs)))
        self.assertLessEqual(seqs[-1], served.ask("/ui/api/log")["last_seq"])
        place = ("--as-of", f"seq:{seqs[0]}", "--data", self.data, "-o", "json")
        self.assertEqual(served.text("/audit/quota", as_of=f"seq:{seqs[0]}"), fairlead("audit", "quota", *place).stdout)
        dev.stop(60)

    def test_the_log_of_a_hub_that_runs_is_followed(self):
        dev = self.dev("8s")
        wait_for("a log", lambda: fairlead("log", "stat", "--data", self.data).returncode == 0, timeout=60)
        served = Served(self.folder, "--data", self.data)
        self.addCleanup(served.stop)
        first = served.ask("/ui/api/log")["last_seq"]
        versions = set(itertools.islice(served.versions(), 3))
        self.assertEqual(len(versions), 3)
        wait_for("more events", lambda: served.ask("/ui/api/overview")["totals"]["events"] > first + 20, timeout=60)
        wait_for("the end of dev", lambda: not dev.running(), timeout=60)
        stat = json.loads(fairlead("log", "stat", "--data", self.data, "-o", "json").stdout)
        self.assertEqual(served.ask("/ui/api/overview")["totals"]["events"], stat["events"])
