"""What `fairlead serve` answers for the views of the page that compare: what-ifs and worker lists. The values are those
of the commands."""

import json
import random

from harness.page import PageCase
from harness.process import Process, wait_for
from harness.program import binary, fairlead
from harness.times import nanoseconds, rfc3339
from test_audit_pool import DAY, POOL
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


class PoolTest(ViewTest):
    def moments_of(self, series, overview, number):
        """Every step, and as many moments at random."""
        dice = random.Random(29)
        steps = {nanoseconds(step[0]) for share in series["shares"] for line in share["lines"].values()
                 for step in line}
        begin, end = nanoseconds(overview["from"]), nanoseconds(overview["to"])
        return sorted(steps | {dice.randint(begin, end) for _ in range(number)})

    def compare(self, served, data, namespace, number):
        """Each moment of a namespace with `audit why`. Returns how many there were."""
        overview = served.ask("/ui/api/overview")
        series = served.ask("/ui/api/series", namespace=namespace, points="5000")
        lines = {share["id"]: share["lines"] for share in series["shares"]}
        compared = 0
        for moment in self.moments_of(series, overview, number):
            asked = f"/audit/why?namespace={namespace}&as-of={rfc3339(moment)}"
            status, _, text = served.request(asked)
            if status == 400:  # it was not there yet
                values = {value_at(line, moment) for of in lines.values() for line in of.values()}
                self.assertEqual(values, {None}, text)
                continue
            why = json.loads(text)
            decided = {name: int(value) for name, of in lines.items()
                       if name and (value := value_at(of["decided"], moment)) is not None}
            self.assertEqual(decided, why["placements"], f"{namespace} at {rfc3339(moment)}")
            self.assertEqual(value_at(lines[""]["expected"], moment) or "0", str(why["expected"]))
            if compared % 20 == 0:
                said = self.done("audit", "why", "--namespace", namespace, "--as-of", rfc3339(moment), "--data", data,
                                 "-o", "json")
                self.assertEqual(text, said)
            compared += 1
        return compared

    def test_other_writers_and_silent_super_clusters_are_in_the_history_of_a_namespace(self):
        """After the day r1 falls silent, somebody clears the placements of acme/web, and r1 is heard again."""
        cleared = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "web"}}
        lines = [{"type": "SOURCE_STALE", "cluster": "r1", "time": "2026-11-22T01:00:00Z"},
                 {"type": "MODIFIED", "cluster": "tenant/acme", "time": "2026-11-22T01:10:00Z", "object": cleared},
                 {"type": "SOURCE_SYNCED", "cluster": "r1", "time": "2026-11-22T01:20:00Z"}]
        data = self.plan("--set", POOL, DAY, "-", stdin="\n".join(map(json.dumps, lines)))
        served = self.serve("--data", data)
        history = served.ask("/audit/history", namespace="acme/web")
        silent = [row for row in history["unseen"] if row["source"] == "r1"][-1:]
        self.assertEqual([(row["what"], row["from"]["time"], row["to"]["time"]) for row in silent],
                         [("Silent", lines[0]["time"], lines[2]["time"])])
        foreign = [row["time"] for row in history["rows"] if row["writer"] == "foreign" and row["old"] is not None]
        self.assertEqual(foreign, [lines[1]["time"]])
        overview = served.ask("/ui/api/overview", buckets="2000", span="all")
        self.assertEqual(overview["totals"]["foreign"], 1)
        self.assertEqual([row[3] for row in overview["buckets"] if row[0] <= lines[1]["time"]][-1], 1)

    def test_a_namespace_at_every_step_is_what_audit_why_says(self):
        data = self.plan("--set", POOL, DAY)
        served = self.serve("--data", data)
        self.assertGreater(self.compare(served, data, "acme/web", 40), 40)
        pool = served.ask("/ui/api/pool")
        self.assertEqual([row["id"] for row in pool["superClusters"]], ["r1", "r2"])
        self.assertEqual({row["tenant"]: row["namespaces"] for row in pool["tenants"]}, {"acme": 1, "bolt": 1})
        states = {f"{row['tenant']}/{row['namespace']}": row for row in pool["namespaces"]}
        why = served.ask("/audit/why", namespace="acme/web")
        web = states["acme/web"]
        self.assertEqual((web["placements"], web["expected"], web["reason"]),
                         (why["placements"], why["expected"], why["reason"]))
        self.assertEqual(served.ask("/ui/api/overview")["pool"]["namespaces"], 2)
        # Healthy super clusters are steady, also where no quota depends on their capacity.
        self.assertEqual({row["state"] for row in served.ask("/ui/api/overview")["clusters"]}, {"steady"})
        placed = next(share for share in served.ask("/ui/api/series", namespace="acme/web")["shares"]
                      if share["id"] == "r1")["lines"]["placed"]
        history = served.ask("/audit/history", namespace="acme/web")["rows"]
        self.assertEqual([step[3] for step in placed], ["fairlead"] * len(placed))
        self.assertLessEqual({int(step[2]) for step in placed if step[2]}, {row["new"].get("r1", 0) for row in history})
        for kind, name in (("superCluster", "r1"), ("tenant", "acme")):
            series = served.ask("/ui/api/series", **{kind: name})
            self.assertEqual([row["resource"] for row in series["resources"]][:2], ["cpu", "memory"])
        held = next(row for row in pool["superClusters"] if row["id"] == "r2")["held"]
        resources = served.ask("/ui/api/series", superCluster="r2")["resources"]
        self.assertEqual({row["resource"]: row["lines"]["held"][-1][2] for row in resources
                          if row["lines"]["held"]}, held)

    def test_namespaces_of_a_living_pool_are_what_audit_why_says(self):
        data = self.dev("--fleet", "pool")
        served = self.serve("--data", data)
        names = [f"{row['tenant']}/{row['namespace']}" for row in served.ask("/ui/api/pool")["namespaces"]]
        self.assertGreater(len(names), 2)
        self.assertGreater(sum(self.compare(served, data, name, 20) for name in names), 60)

    def test_bad_questions_are_refused_in_one_sentence(self):
        served = self.serve("--data", self.plan("--set", POOL, DAY))
        for path, parameters, words in [
                ("/ui/api/pool", {"namespace": "acme/wep"}, "expected TENANT/NAME"),
                ("/ui/api/pool", {"namespace": "acme"}, "expected TENANT/NAME"),
                ("/ui/api/pool", {"tenant": "acm"}, "no tenant is called"),
                ("/ui/api/pool", {"superCluster": "r9"}, "no super cluster has the id"),
                ("/ui/api/series", {"namespace": "acme/wep"}, "known: acme/web"),
                ("/ui/api/series", {"tenant": "acme", "queue": "q"}, "expected one of queue"),
                ("/ui/api/series", {"tenant": "acme", "flavor": "f"}, "no flavor"),
                ("/ui/api/changes", {}, "seqs: expected 1 to 1000 numbers"),
                ("/ui/api/changes", {"seqs": "1,x"}, "seqs: expected numbers with commas")]:
            with self.subTest(path=path, parameters=parameters):
                said = served.refusal(path, **parameters)
                self.assertIn(words, said)
                self.assertEqual(said.count("\n"), 0)


class ChangeTest(ViewTest):
    def test_what_an_event_changed_is_the_difference_to_the_record_before(self):
        data = self.plan(*INCIDENT)
        served = self.serve("--data", data)
        events = [json.loads(line) for line in self.done("log", "cat", "--data", data).splitlines()]
        changes = served.ask("/ui/api/changes", seqs=",".join(str(event["seq"]) for event in events))["changes"]
        said = {(event.get("kind"), event.get("name"), changes.get(str(event["seq"]))) for event in events}
        for expected in [("Node", "gpu-6", "gpu-6: new"), ("Node", "gpu-6", "gpu-6: Ready -> NotReady"),
                         ("Node", "gpu-6", "gpu-6: NotReady -> Ready"),
                         ("ClusterQueue", "training", "training: on-demand nvidia.com/gpu nominalQuota 48 -> 40")]:
            self.assertIn(expected, said)
        accepted = [str(event["seq"]) for event in events if event["fact"] == "PatchAccepted"]
        self.assertFalse(set(accepted) & set(changes))
        # The chips of `audit why` say the same.
        why = served.ask("/audit/why", queue="training", flavor="on-demand", resource="gpu",
                         as_of="2026-11-21T14:07:00Z")
        facts = [fact["changed"] for grant in why["grants"] for capacity in grant["capacity"]
                 for fact in capacity["because"]]
        self.assertIn("gpu-6: Ready -> NotReady", facts)
