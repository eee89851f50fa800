"""`fairlead plan --admit`: what the webhook would say of proposed objects, without a cluster."""

import json
import pathlib
import tempfile
import unittest

from harness.program import fairlead, json_lines

NEEDS = ("fairlead",)

DENIED, BAD_INPUT = 1, 2


def claim(name="k", cpu="5", nominal="10", cluster="east", flavor="od", **metadata):
    return {"apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterResourceClaim",
            "metadata": {"name": name, **metadata},
            "spec": {"clusterName": cluster, "nominalResources": {"cpu": nominal},
                     "resourceAssignments": [
                         {"clusterQueueName": "q", "flavor": flavor, "resources": {"cpu": cpu}}]}}


def queue(nominal, usage="0", **metadata):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "q", **metadata},
            "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
                {"name": "od", "resources": [{"name": "cpu", "nominalQuota": nominal}]}]}]},
            "status": {"flavorsUsage": [{"name": "od", "resources": [{"name": "cpu", "total": usage}]}]}}


FLAVOR = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "od"}}
NODE = {"type": "ADDED", "cluster": "east",
        "object": {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"},
                   "status": {"allocatable": {"cpu": "10"}, "conditions": [{"type": "Ready", "status": "True"}]}}}
WITHOUT_HEADROOM = ("--set", "capacity.headroom.percent={}")


def gone(thing):
    return {"type": "DELETED", "object": thing}


class AdmitTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.live = self.file("live.json", FLAVOR, queue("0", usage="4"), claim(), NODE)

    def file(self, name, *objects):
        path = self.folder / name
        path.write_text("".join(json.dumps(thing) + "\n" for thing in objects))
        return path

    def judged(self, *proposed, arguments=(), expect=0):
        files = (self.live, "--admit", self.file("proposed.json", *proposed))
        done = fairlead("plan", *files, *WITHOUT_HEADROOM, *arguments)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return json_lines(done.stdout)

    def findings(self, *proposed, **how):
        return [(row["operation"], row["rule"], row["action"]) for row in self.judged(*proposed, **how)]

    def test_what_is_good_says_nothing(self):
        self.assertEqual(self.judged(claim(cpu="6"), queue("5"), FLAVOR), [])

    def test_each_rule(self):
        deny, warn = {"expect": DENIED}, {}
        for proposed, expected, how in (
                (claim(cpu="11"), ("UPDATE", "claimInvalid", "deny"), deny),
                (claim("k2", cpu="1", nominal="1"), ("CREATE", "clusterTaken", "deny"), deny),
                (claim(cpu="9", nominal="8"), ("UPDATE", "claimInvalid", "deny"), deny),
                (claim(flavor="tpu"), ("UPDATE", "unknownTarget", "warn"), warn),
                (claim(cpu="3"), ("UPDATE", "belowUsage", "warn"), warn),
                (gone(claim()), ("DELETE", "claimInUse", "warn"), warn),
                (queue("7"), ("UPDATE", "ownedQuota", "warn"), warn),
                (queue("5", annotations={"fairlead.io/base-quota": "x"}), ("UPDATE", "badBase", "deny"), deny),
                (gone(queue("5")), ("DELETE", "queueInUse", "warn"), warn),
                (gone(FLAVOR), ("DELETE", "flavorInUse", "warn"), warn)):
            with self.subTest(rule=expected[1], proposed=proposed):
                self.assertIn(expected, self.findings(proposed, **how))

    def test_capacity(self):
        self.assertEqual(self.findings(claim(cpu="11", nominal="12")),
                         [("UPDATE", "overCapacity", "warn"), ("UPDATE", "overCapacity", "warn"),
                          ("UPDATE", "nominalAboveCapacity", "warn")])

    def test_the_fields_of_a_line_and_the_order(self):
        rows = self.judged(queue("7"), claim("k2", cpu="11"), expect=DENIED)
        self.assertEqual([row["rule"] for row in rows], ["ownedQuota", "claimInvalid", "clusterTaken"])
        self.assertEqual(rows[1], {
            "cluster": "hub", "operation": "CREATE", "apiVersion": "galaxy.kubestellar.io/v1alpha1",
            "kind": "ClusterResourceClaim", "name": "k2", "rule": "claimInvalid", "action": "deny",
            "field": "spec.resourceAssignments", "message": "cpu sums to 11, spec.nominalResources has 10"})

    def test_the_configuration_decides_what_denies(self):
        self.assertEqual(self.findings(queue("7"), arguments=("--set", "webhook.rules.ownedQuota=deny"), expect=DENIED),
                         [("UPDATE", "ownedQuota", "deny")])
        self.assertEqual(self.findings(queue("7"), arguments=("--set", "webhook.rules={ownedQuota: off}")), [])

    def test_an_override_admits_all_but_an_invalid_claim(self):
        why = {"annotations": {"fairlead.io/override": "INC-7"}}
        self.assertEqual(self.findings(claim("k2", **why)), [("CREATE", "clusterTaken", "warn")])
        self.assertEqual(self.findings(claim("k2", cpu="11", **why), expect=DENIED),
                         [("CREATE", "claimInvalid", "deny"), ("CREATE", "clusterTaken", "warn")])

    def test_a_table_for_people(self):
        done = fairlead("plan", self.live, "--admit", self.file("p.json", queue("7")), "-o", "table")
        self.assertEqual(done.returncode, 0, done.stderr)
        head, row = done.stdout.splitlines()
        self.assertEqual(head.split(), ["ACTION", "OPERATION", "OBJECT", "RULE", "FIELD", "MESSAGE"])
        self.assertEqual(row.split()[:5], ["warn", "UPDATE", "ClusterQueue", "q", "ownedQuota"])

    def test_a_log_judges_as_the_objects_that_it_was_made_of(self):
        data = self.folder / "data"
        planned = fairlead("plan", self.live, "--log", data, *WITHOUT_HEADROOM)
        self.assertEqual(planned.returncode, 0, planned.stderr)
        proposed = self.file("p.json", queue("7"), claim("k2", cpu="11"), gone(FLAVOR), claim(cpu="3"))
        by_log = fairlead("plan", "--data", data, "--admit", proposed)
        by_objects = fairlead("plan", self.live, "--admit", proposed, *WITHOUT_HEADROOM)
        self.assertEqual((by_log.returncode, by_log.stdout), (DENIED, by_objects.stdout), by_log.stderr)
        self.assertEqual(len(json_lines(by_log.stdout)), 5)

    def test_bad_usage(self):
        proposed = self.file("p.json", FLAVOR)
        for arguments, words in (
                (("--admit", proposed), "expected either files with live objects or --data"),
                ((self.live, "--data", self.folder, "--admit", proposed), "expected either files"),
                (("--data", self.folder), "expected --admit"),
                (("-", "--admit", "-"), "not both"),
                ((self.live, "--admit", proposed, "-o", "state"), "-o state"),
                ((self.live, "--admit", self.folder / "none.yaml"), "none.yaml")):
            with self.subTest(arguments=arguments):
                done = fairlead("plan", *arguments, stdin="")
                self.assertEqual((done.returncode, done.stdout), (BAD_INPUT, ""), done.stderr)
                self.assertIn(words, done.stderr)

    def test_a_log_without_decisions_has_none_to_tell(self):
        data = self.folder / "data"
        self.assertEqual(fairlead("plan", self.live, "--log", data).returncode, 0)
        done = fairlead("audit", "admissions", "--data", data, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["rows"], [])
        reversed_span = fairlead("audit", "admissions", "--data", data, "--from", "9", "--to", "2")
        self.assertEqual(reversed_span.returncode, BAD_INPUT, reversed_span.stderr)


if __name__ == "__main__":
    unittest.main()
