"""`fairlead audit` and `whatif` about the super cluster pool: the program on the log of the day in docs/pool, in place
and as a bundle."""

import json
import pathlib
import tempfile
import unittest

from harness.program import fairlead

NEEDS = ("fairlead",)

DAY = pathlib.Path(__file__).resolve().parents[2] / "docs/pool/day.jsonl"
POOL = 'pool.clusters=[{"cluster":"*"}]'
WEB = ("--namespace", "acme/web")
FIELDS = {"tenant", "namespace", "asOf", "seq", "slice", "expected", "placements", "reason", "clusters", "changes"}
OF_A_CLUSTER = {"id", "cluster", "state", "slices", "usable", "others", "room"}


def at(clock):
    return f"2026-11-21T{clock}Z"


class AuditPoolTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.data = cls.folder / "data"
        done = fairlead("plan", "--log", cls.data, "--set", POOL, DAY)
        assert done.returncode == 0, done.stderr

    def answer(self, *question, where=None):
        done = fairlead(*question, *(where or ("--data", self.data)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def document(self, *question, **options):
        return json.loads(self.answer("audit", *question, "-o", "json", **options))

    def test_why_traces_placements_to_the_node_that_was_lost(self):
        why = self.document("why", *WEB, "--as-of", at("01:00:15"))
        self.assertLessEqual(FIELDS, set(why))
        self.assertEqual((why["tenant"], why["namespace"], why["expected"]), ("acme", "web", 6))
        self.assertEqual(why["slice"], {"cpu": "2", "memory": "4Gi"})
        self.assertEqual(why["placements"], {"r1": 3, "r2": 3})
        self.assertIsNone(why["reason"])
        self.assertEqual(why["seq"], why["asOf"]["seq"])
        r1, r2 = why["clusters"]
        self.assertEqual(OF_A_CLUSTER | {"short"}, set(r1))
        self.assertEqual((r1["id"], r1["cluster"], r1["state"], r1["slices"], r1["room"], r1["short"]),
                         ("r1", "r1", "open", 3, 3, "cpu"))
        self.assertEqual((r1["usable"]["cpu"], r1["others"]), ("7600m", {"cpu": "0", "memory": "0"}))
        self.assertEqual((r2["slices"], r2["others"], r2["room"], r2["short"]),
                         (3, {"cpu": "8", "memory": "16Gi"}, 3, "cpu"))
        self.assertEqual([change["rule"] for change in why["changes"]], ["pool/place", "pool/overflow"])
        facts = [fact["text"] for fact in why["changes"][-1]["facts"]]
        self.assertIn("Node r1-2 of r1: NotReady, cpu 8", facts)
        self.assertIn("ResourceQuota web/quota of tenant/acme: cpu 12, memory 24Gi", facts)

    def test_why_not_says_what_is_missing_while_a_cluster_is_lost(self):
        why_not = self.document("why-not", *WEB, "--as-of", at("02:10:00"))
        self.assertLessEqual(FIELDS, set(why_not))
        self.assertEqual(why_not["reason"], "ClusterUnavailable: r1")
        self.assertEqual(why_not["placements"], {"r1": 3, "r2": 3})
        r1, r2 = why_not["clusters"]
        self.assertEqual((r1["state"], r1["room"]), ("gone", 0))
        self.assertEqual((r2["state"], r2["room"], r2["short"]), ("open", 3, "cpu"))
        before = self.document("why-not", *WEB, "--as-of", at("02:09:59"))
        self.assertEqual(before["clusters"][0]["state"], "away")
        text = self.answer("audit", "why-not", *WEB, "--as-of", at("02:10:00"))
        self.assertIn("ClusterUnavailable: r1", text)

    def test_history_names_each_change_and_its_rule(self):
        rows = self.document("history", *WEB)["rows"]
        self.assertEqual([(row["time"], row["old"], row["new"], row["writer"], row["rule"]) for row in rows], [
            (at("00:01:00"), None, {"r1": 6}, "fairlead", "pool/place"),
            (at("01:00:15"), {"r1": 6}, {"r1": 3, "r2": 3}, "fairlead", "pool/overflow"),
            (at("02:30:00"), {"r1": 3, "r2": 3}, {"r1": 1, "r2": 5}, "fairlead", "pool/move")])
        self.assertEqual([row["seq"] for row in rows], sorted(row["seq"] for row in rows))
        span = ("--from", at("01:00:00"), "--to", at("02:00:00"))
        self.assertEqual(self.document("history", *WEB, *span)["rows"], rows[1:2])
        self.assertEqual(self.document("history", *WEB, "--as-of", at("00:30:00"))["rows"], rows[:1])

    def test_why_not_of_a_pod_has_what_each_cluster_has_left_for_it(self):
        why_not = self.document("why-not", "--pod", "acme/web/large", "--as-of", at("02:25:00"))
        self.assertLessEqual(FIELDS | {"pod", "superCluster"}, set(why_not))
        self.assertIsNone(why_not["superCluster"])
        self.assertEqual((why_not["pod"], why_not["reason"]), ("large", "DoesNotFit: cpu 7, memory 2Gi"))
        r1, r2 = why_not["clusters"]
        self.assertEqual((r2["left"], r2["free"]["cpu"], r2["short"]),
                         ({"cpu": "6", "memory": "12Gi"}, "15200m", "cpu"))
        why = self.document("why", "--pod", "acme/web/c", "--as-of", at("02:35:00"))
        self.assertEqual(why["superCluster"], "r2")
        r1, r2 = why["clusters"]
        self.assertLessEqual(OF_A_CLUSTER | {"left", "free"}, set(r2))
        self.assertEqual((r1["state"], r1["slices"], r2["slices"]), ("gone", 1, 5))
        self.assertEqual(why["changes"][-1]["rule"], "pool/pod")
        placed = self.document("why", "--pod", "acme/web/a", "--as-of", at("00:02:00"))
        self.assertEqual(placed["superCluster"], "r1")
        # The other pod of the namespace has 1500m of its 6 slices; its own request is left out.
        self.assertEqual(placed["clusters"][0]["left"], {"cpu": "10500m", "memory": "22Gi"})

    def test_diff_and_whatif_tell_of_namespaces(self):
        diff = self.document("diff", at("02:29:00"), at("02:30:00"))
        changed = {(row["tenant"], row["namespace"]): (row["from"]["placements"], row["to"]["placements"])
                   for row in diff["namespaces"]}
        self.assertEqual(changed, {("acme", "web"): ('{"r1":3,"r2":3}', '{"r1":1,"r2":5}'),
                                   ("bolt", "db"): ('{"r2":4}', '{"r2":2}')})
        self.assertIn('placements {"r1":3,"r2":3} -> {"r1":1,"r2":5}',
                      self.answer("audit", "diff", at("02:29:00"), at("02:30:00")))
        what_if = json.loads(self.answer("whatif", "--set", "pool.policy=spread", "-o", "json"))
        self.assertIn("Namespace web of tenant/acme", [row["object"] for row in what_if["differences"]])
        same = json.loads(self.answer("whatif", "--set", "pool.policy=pack", "-o", "json"))
        self.assertEqual(same["differences"], [])
        self.answer("replay", "--verify")

    def test_a_bundle_answers_as_the_data_that_it_was_made_of(self):
        bundle, imported = self.folder / "bundle", self.folder / "imported"
        self.answer("log", "export", bundle)
        done = fairlead("log", "import", bundle, "--data", imported)
        self.assertEqual(done.returncode, 0, done.stderr)
        for question in (("audit", "why", *WEB), ("audit", "why-not", *WEB, "--as-of", at("02:10:00")),
                         ("audit", "history", *WEB), ("audit", "why", "--pod", "acme/web/a"),
                         ("audit", "diff", at("01:00:00"), at("02:10:00")),
                         ("whatif", "--set", "pool.policy=spread")):
            for form in ("json", "text"):
                answer = self.answer(*question, "-o", form)
                for where in (("--bundle", bundle), ("--data", imported)):
                    self.assertEqual(self.answer(*question, "-o", form, where=where), answer)

    def test_an_unknown_name_is_answered_with_what_is_known(self):
        for question, says in (
                (("why", "--namespace", "acne/web"), ("no tenant", "acme")),
                (("why", "--namespace", "acme/wep"), ("no namespace", "web")),
                (("why-not", "--pod", "acme/web/x"), ("no pod", "large")),
                (("history", "--namespace", "acme/wep"), ("no namespace", "web")),
                (("why", "--namespace", "web"), ("TENANT/NAME",)),
                (("why", "--pod", "acme/web"), ("TENANT/NAMESPACE/NAME",)),
                (("why",), ("--namespace", "ClusterQueue")),
                (("history",), ("--namespace", "ClusterQueue")),
                (("why", "training", "on-demand", "cpu", *WEB), ("one of",))):
            done = fairlead("audit", *question, "--data", self.data)
            self.assertEqual((done.returncode, done.stdout), (2, ""), question)
            for part in says:
                self.assertIn(part, done.stderr)


if __name__ == "__main__":
    unittest.main()
