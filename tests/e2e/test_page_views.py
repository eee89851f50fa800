"""What `fairlead serve` answers for the views of the page that compare: what-ifs and worker lists. The values are those
of the commands."""

import json
import random

from harness.page import PageCase
from harness.process import Process, wait_for
from harness.program import binary, fairlead
from harness.times import nanoseconds, rfc3339
from test_page import INCIDENT, value_at

NEEDS = ("fairlead",)

SETTINGS = ("debounce.growWindow=10s", "debounce.shrinkWindow=0s")
SET = [word for setting in SETTINGS for word in ("--set", setting)]


class ViewTest(PageCase):
    def plan(self, *inputs, stdin=None):
        data = self.folder / "data"
        self.done("plan", "--log", data, *inputs, stdin=stdin)
        return data

    def dev(self, *arguments):
        data = self.folder / "data"
        dev = Process("dev", [binary(), "dev", "--speed", "300", "--seed", "7", "--for", "12s", "--data", data,
                              *arguments], self.folder / "dev.txt").start()
        wait_for("the end of dev", lambda: not dev.running(), timeout=120)
        return data


class WhatIfTest(ViewTest):
    def whole(self, served, path, **parameters):
        """The answer once it is folded."""
        return wait_for("the what-if",
                        lambda: not (answer := served.ask(path, **parameters)).get("building") and answer)

    def test_the_answer_is_that_of_the_command_and_the_lines_those_of_its_writes(self):
        data = self.dev()
        served = self.serve("--data", data)
        last = served.ask("/ui/api/log")["last_seq"]
        for place in ({"to": f"seq:{last}"}, {"from_": "seq:100", "to": f"seq:{last - 50}"}, {"from_": "-20m"}):
            options = [word for name, value in place.items() for word in (f"--{name.rstrip('_')}", value)]
            said = self.done("whatif", *SET, *options, "--data", data, "-o", "json")
            self.whole(served, "/audit/whatif", set=SETTINGS, **place)
            self.assertEqual(served.text("/audit/whatif", set=SETTINGS, **place), said)
            shown = self.whole(served, "/ui/api/whatif", set=SETTINGS, queue="low-priority-queue", points="5000",
                               **place)
            self.assertEqual(shown["whatIf"].pop("differencesLeftOut"), 0)
            self.assertEqual(shown["whatIf"], json.loads(said))
            # Each write of the other world that differs from history is a step of its line.
            writes = [row["whatIf"]["time"] for row in shown["whatIf"]["differences"]
                      if row["whatIf"] and row["object"] == "ClusterQueue low-priority-queue"]
            steps = {step[0] for pair in shown["series"]["pairs"] for step in pair["lines"]["nominal"]}
            self.assertTrue(writes)
            self.assertLessEqual(set(writes), steps)

    def test_the_windows_in_force_are_reported_without_a_setting(self):
        served = self.serve("--data", self.plan(*INCIDENT))
        answer = served.ask("/ui/api/whatif")
        self.assertEqual((answer["whatIf"], answer["series"], answer["building"]), (None, None, None))
        values = {one["name"]: one["value"] for one in answer["settings"]}
        self.assertEqual((len(values), values["growWindow"], values["massShrinkPercent"]), (17, "5m0s", "50"))

    def test_bad_questions_are_refused_in_one_sentence(self):
        served = self.serve("--data", self.plan(*INCIDENT))
        for path, parameters, words in [
                ("/audit/whatif", {}, "expected --set"),
                ("/audit/whatif", {"set": "debounce.nope=1s"}, "unknown key"),
                ("/audit/whatif", {"set": SETTINGS, "colour": "red"}, "unknown parameter"),
                ("/audit/whatif", {"set": SETTINGS, "from_": "noon"}, "--from: expected a seq"),
                ("/audit/whatif", {"set": SETTINGS, "from_": "seq:9", "to": "seq:3"}, "no events from seq 9"),
                ("/ui/api/whatif", {"set": SETTINGS, "queue": "trainin"}, "known: training"),
                ("/ui/api/whatif", {"set": SETTINGS, "points": "0"}, "points: expected a number from 1 to")]:
            with self.subTest(path=path, parameters=parameters):
                said = served.refusal(path, **parameters)
                self.assertIn(words, said)
                self.assertEqual(said.count("\n"), 0)

    def test_a_growing_log_is_answered_to_its_end_of_then(self):
        data = self.folder / "data"
        dev = Process("dev", [binary(), "dev", "--speed", "300", "--seed", "9", "--for", "8s", "--data", data],
                      self.folder / "dev.txt").start()
        wait_for("a log", lambda: fairlead("log", "stat", "--data", data).returncode == 0, timeout=60)
        served = self.serve("--data", data)
        early = self.whole(served, "/audit/whatif", set=SETTINGS)
        wait_for("the end of dev", lambda: not dev.running(), timeout=120)
        late = self.whole(served, "/audit/whatif", set=SETTINGS)
        self.assertLess(early["to"]["seq"], late["to"]["seq"])
        self.assertEqual(late, json.loads(self.done("whatif", *SET, "--data", data, "-o", "json")))


class WorkerListTest(ViewTest):
    def test_a_list_at_random_moments_is_what_audit_why_says(self):
        data = self.dev("--fleet", "multikueue")
        served = self.serve("--data", data)
        overview = served.ask("/ui/api/overview")
        begin, end = nanoseconds(overview["from"]), nanoseconds(overview["to"])
        lists = {one["list"]: served.ask("/ui/api/series", list=one["list"], points="5000")["workers"]
                 for one in overview["lists"]}
        self.assertEqual(set(lists), {"best", "t4"})
        dice, compared, draining = random.Random(23), 0, 0
        for number in range(300):
            name = dice.choice(sorted(lists))
            moment = dice.randint(begin, end)
            if number % 3 == 0:  # a step itself
                steps = [step for worker in lists[name] for line in worker["lines"].values() for step in line]
                moment = nanoseconds(dice.choice(steps)[0])
            asked = {"queue": f"multikueueconfig/{name}", "as_of": rfc3339(moment)}
            status, _, text = served.request(f"/audit/why?queue={asked['queue']}&as-of={asked['as_of']}")
            if status == 400:  # the list is not known yet
                self.assertTrue(all(value_at(line, moment) is None
                                    for worker in lists[name] for line in worker["lines"].values()), text)
                continue
            why = json.loads(text)
            if number % 30 == 0:
                place = ("--as-of", asked["as_of"], "--data", data, "-o", "json")
                said = self.done("audit", "why", asked["queue"], *place)
                self.assertEqual(text, said)
            rows = {row["multiKueueCluster"]: row for row in why["workers"]}
            for worker in lists[name]:
                now = {line: value_at(steps, moment) for line, steps in worker["lines"].items()}
                row = rows.get(worker["multiKueueCluster"])
                frozen = why["frozenSince"] is not None
                expected = row and {"selected": row["selected"], "listed": row["listed"],
                                    "frozen": row["listed"] and frozen,
                                    "draining": row["listed"] and not row["selected"] and not frozen}
                self.assertEqual(now, expected or dict.fromkeys(now), f"{worker} at {rfc3339(moment)}")
                compared += 1
                draining += bool(now["draining"])
        self.assertGreater(compared, 300)
        self.assertGreater(draining, 10)

    def test_a_series_has_at_most_as_many_steps_as_points(self):
        served = self.serve("--data", self.dev("--fleet", "multikueue"))
        whole, few = (served.ask("/ui/api/series", list="best", points=str(points))["workers"] for points in (5000, 5))
        longest = max(len(line) for worker in whole for line in worker["lines"].values())
        self.assertGreater(longest, 5)
        self.assertLessEqual(max(len(line) for worker in few for line in worker["lines"].values()), 5)
        self.assertIn("known: ", served.refusal("/ui/api/series", list="bes"))
        self.assertIn("no flavor", served.refusal("/ui/api/series", list="best", flavor="spot"))
