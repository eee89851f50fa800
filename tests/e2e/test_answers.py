"""Every question, to logs of every kind: each answer is what ui/*answers.d.ts declares of it, and each declared kind is
answered. Other tests hold their answers against the same (harness/answers.py)."""

import concurrent.futures
import json
import pathlib
import re
import tempfile
import unittest

from harness import answers
from harness.page import Served, target_of
from harness.process import wait_for
from harness.program import ROOT, fairlead, json_lines
from test_audit_pool import DAY, POOL
from test_page import INCIDENT

NEEDS = ("fairlead",)

PLANS = {"incident": INCIDENT, "edits": [ROOT / "docs/quota/edits.jsonl"], "day": ["--set", POOL, DAY],
         "quota": [ROOT / "docs/quota/hub.yaml", ROOT / "docs/quota/day.jsonl"],
         "waiting": [ROOT / "docs/incident/hub.yaml", ROOT / "docs/waiting/lost-capacity.jsonl"],
         "worker": [ROOT / "docs/waiting/worker.jsonl"]}
FLEETS = ("claims", "devices", "fleet-claims", "multikueue", "pool")
# Hub objects that have a history of their own.
NAMED = {"Cohort": "cohort", "ResourceFlavor": "resourceflavor", "AdmissionCheck": "admissioncheck",
         "LocalQueue": "localqueue", "MultiKueueConfig": "multikueueconfig"}
MANY = 6  # of the objects of a kind, and moments of a log, spread over it


def spread(things):
    things = list(things)
    return things[::len(things) // MANY + 1]


def made(folder, name):
    """The log of a plan, or of `fairlead dev --fleet name`."""
    how = ["plan", *PLANS[name], "--log"] if name in PLANS else \
        ["dev", "--fleet", name, "--speed", "1000", "--seed", "7", "--for", "3s", "--data"]
    done = fairlead(*how, folder / name)
    assert done.returncode == 0, done.stderr
    return folder / name


class Asker:
    """Asks a served log each question about what is in it. Served holds each answer against its declaration."""

    def __init__(self, served, events):
        self.served = served
        self.objects = sorted({(event["source"], event["kind"], event.get("namespace", ""), event["name"])
                               for event in events if event["fact"] == "ObjectObserved"})
        self.moments = spread(event["seq"] for event in events)

    def ask(self, path, **parameters):
        """The answer; none about what was not there yet."""
        status, _, text = self.served.request(target_of(path, parameters))
        assert status in (200, 400, 404), (path, parameters, text)
        return json.loads(text) if status == 200 else None

    def audit(self, subject, queue="", flavor="", resource="", **parameters):
        named = {"queue": queue, "flavor": flavor, "resource": resource, **parameters}
        return self.ask(f"/audit/{subject}", **{name: value for name, value in named.items() if value})

    def page(self, subject, **parameters):
        return self.ask(f"/ui/api/{subject}", **parameters)

    def of_kind(self, kind, source="hub"):
        return [f"{namespace}/{name}" if namespace else name for at, of, namespace, name in self.objects
                if of == kind and at == source]

    def about_objects(self):
        self.audit("admissions")
        self.audit("diff", from_=self.moments[0], to=self.moments[len(self.moments) // 2])
        self.audit("diff", from_=self.moments[len(self.moments) // 2])
        for kind, word in NAMED.items():
            for name in spread(self.of_kind(kind)):
                self.audit("history", f"{word}/{name}")
                for moment in self.moments if kind == "MultiKueueConfig" else []:
                    self.audit("why", f"{word}/{name}", as_of=moment)
                    self.page("series", list=name)
        for name in spread(self.of_kind("Workload")):
            for moment in self.moments:
                self.audit("why", f"workload/{name}", as_of=moment)
            self.audit("why-not", f"workload/{name}")

    def about_waits(self):
        for name in spread(self.of_kind("Workload")):
            for moment in self.moments:
                self.audit("waiting", workload=name, as_of=moment)
            self.audit("waiting", workload=name, from_=self.moments[0], to=self.moments[-1])
        self.audit("waiting")
        for queue in spread(self.of_kind("ClusterQueue")):
            self.audit("waiting", queue)
        for source, kind, _, name in spread(each for each in self.objects if each[1] == "Node"):
            self.audit("blocked-by", object=f"node/{name}")
            self.audit("blocked-by", object=f"cluster/{source}")

    def about_quotas(self):
        for moment in self.moments:
            for row in spread((self.audit("quota", as_of=moment) or {"rows": []})["rows"]):
                for subject in ("why", "why-not"):
                    self.audit(subject, row["queue"], row["flavor"], row["resource"], as_of=moment)
        for queue in spread(self.of_kind("ClusterQueue")):
            self.audit("history", queue)
            self.audit("why", queue)
            self.audit("diff", queue, from_=self.moments[0])
            pairs = (self.page("series", queue=queue) or {"pairs": []})["pairs"]
            for pair in pairs[:1]:
                self.page("sparks", of=json.dumps([[queue, pair["flavor"], pair["resource"]]]))

    def about_tenants(self):
        for source in sorted({source for source, *_ in self.objects if source.startswith("tenant/")}):
            tenant = source.removeprefix("tenant/")
            self.page("series", tenant=tenant)
            for name in (f"{tenant}/{each}" for each in spread(self.of_kind("Namespace", source))):
                self.audit("history", namespace=name)
                self.page("series", namespace=name)
                self.page("pool", namespace=name)
                for moment in self.moments:
                    self.audit("why", namespace=name, as_of=moment)
            for name in (f"{tenant}/{each}" for each in spread(self.of_kind("Pod", source))):
                self.audit("why-not", pod=name)
                for moment in self.moments:
                    self.audit("why", pod=name, as_of=moment)

    def of_the_page(self):
        self.page("log", seq=1, chain="00")
        self.page("changes", seqs=",".join(map(str, self.moments)), times="true")
        overview = self.page("overview", span="all")
        for queue in self.of_kind("ClusterQueue")[:1]:
            self.page("waiting", queue=queue, from_=overview["from"], to=overview["to"])
        for cluster in self.page("pool")["superClusters"]:
            self.page("series", superCluster=cluster["id"])
        for source in sorted({source for source, kind, *_ in self.objects if kind == "Node"}):
            self.page("series", cluster=source)
            self.page("suppressed", cluster=source)
        self.page("proof", begin="true")
        queues = self.of_kind("ClusterQueue")
        about = {"set_": "debounce.growWindow=1h", **({"queue": queues[0]} if queues else {})}
        wait_for("the what-if", lambda: (self.page("whatif", **about) or {"whatIf": "refused"})["whatIf"])
        self.ask("/audit/whatif", set_=about["set_"])
        wait_for("the proof", lambda: self.page("proof")["state"] == "done")


class AnswersTest(unittest.TestCase):
    def test_each_answer_is_as_declared_and_each_declared_kind_is_answered(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        answers.seen.clear()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            logs = list(pool.map(lambda name: made(folder, name), [*PLANS, *FLEETS]))
        for data in logs:
            with self.subTest(log=data.name):
                for command in (["replay", "--verify"], ["log", "verify"]):
                    self.assertEqual(fairlead(*command, "--data", data, "-o", "json").returncode, 0)
                served = Served(folder, "--data", data)
                asker = Asker(served, json_lines(fairlead("log", "cat", "--data", data).stdout))
                asker.about_objects()
                asker.about_quotas()
                asker.about_waits()
                asker.about_tenants()
                asker.of_the_page()
                served.stop()
        for command in (["snapshot", "take"], ["snapshot", "list"], ["whatif", "--set", "debounce.growWindow=1h"],
                        ["usage"], ["usage", "--idle-candidates"]):
            self.assertEqual(fairlead(*command, "--data", logs[0], "-o", "json").returncode, 0)
        declared = {name for names in answers.by_kind().values() for name in names} | set(answers.LINES.values())
        self.assertEqual(declared - answers.seen - {"Objection"}, set())

    def test_what_is_not_as_declared_is_found(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        asked = ("audit", "quota", "--data", made(folder, "incident"), "-o", "json")
        for where, value, found in [("ours", "yes", "rows/0/ours"), ("colour", 1, "'colour'"),
                                    ("last", {}, "rows/0/last"), ("base", None, "rows/0/base")]:
            answer = json.loads(fairlead(*asked).stdout)
            answer["rows"][0][where] = value
            with self.assertRaises(AssertionError) as raised:
                answers.check_output(asked, json.dumps(answer))
            self.assertIn(found, str(raised.exception))
        self.assertRaises(AssertionError, answers.check, {**answer, "kind": "Other"})

    def test_each_kind_that_the_program_prints_is_declared(self):
        text = "".join(path.read_text() for folder in ("replay", "engine/main/service")
                       for path in (ROOT / folder).rglob("*.cpp"))
        printed = set(re.findall(r'"kind"(?:, |\] = )"(\w+)"', text)) - {"ResourceClaim"}
        self.assertGreater(len(printed), 15)
        self.assertEqual(printed - set(answers.by_kind()), set())
        self.assertEqual([kind for kind in answers.by_kind() if f'"{kind}"' not in text], [])


if __name__ == "__main__":
    unittest.main()
