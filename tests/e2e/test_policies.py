"""The policies of deploy/components/policies on a real API server, without a hub: what is refused, warned of and let
through."""

import http.client
import json
import unittest

from harness import deploy
from harness.apiserver import Refused
from harness.controlplane import ControlPlane
from harness.fleet import CLAIMS, QUEUES, claim, cluster_queue
from harness.process import wait_for

NEEDS = ("controlplane",)

POLICIES = deploy.DEPLOY / "components/policies"
BINDINGS = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings"
HIGH = "high-priority-queue"
HUB = "system:serviceaccount:fairlead:fairlead"


def assigning(nominal, *rows, name="probe"):
    """A claim: each row is (queue, {resource: amount})."""
    return {"apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterResourceClaim", "metadata": {"name": name},
            "spec": {"clusterName": name, "nominalResources": nominal, "resourceAssignments": [
                {"clusterQueueName": queue, "flavor": "f", "resources": resources} for queue, resources in rows]}}


class PoliciesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(ControlPlane()).add_server("hub")
        cls.server.install_crds(only=["clusterresourceclaims.galaxy.kubestellar.io", "clusterqueues.kueue.x-k8s.io"])
        found = deploy.objects(cls.server, "---\n".join(
            (POLICIES / name).read_text() for name in ("claims.yaml", "owned-quota.yaml")))
        assert len(found) == 4, found
        for item in found:
            plural = item["kind"].lower().replace("policy", "policies") if item["kind"].endswith("Policy") \
                else "validatingadmissionpolicybindings"
            cls.server.create(f"/apis/admissionregistration.k8s.io/v1/{plural}", item)
        # The server takes some seconds until a new policy is in force.
        wait_for("the claims' policy to be in force", lambda: cls.refused_by(assigning({"cpu": 1}, ("a", {"cpu": 2}))))
        cls.server.create(QUEUES, cluster_queue("first"))
        cls.server.create(CLAIMS, assigning({"cpu": "10"}, ("first", {"cpu": "1"}), name="first"))
        cls.server.merge(f"{CLAIMS}/first", {"spec": {"resourceAssignments": [
            {"clusterQueueName": "first", "flavor": "spot", "resources": {"cpu": "1"}}]}})
        wait_for("the queues' policy to be in force", lambda: cls.warnings_of("first", cls.at("spot", "cpu", "2")))

    # -- what is asked ------------------------------------------------------------------------------------------

    @classmethod
    def refused_by(cls, value):
        """The server's message where it refuses the creation, else ''. Nothing is stored."""
        status, answer = cls.server.raw("POST", f"{CLAIMS}?dryRun=All", json.dumps(value))
        return json.loads(answer)["message"] if status == 422 else ""

    @staticmethod
    def at(flavor, resource, amount):
        """An edit of a queue: that pair gets that amount."""
        def edit(queue):
            [pair] = [pair for group in queue["spec"]["resourceGroups"] for entry in group["flavors"]
                      if entry["name"] == flavor for pair in entry["resources"] if pair["name"] == resource]
            pair["nominalQuota"] = amount
        return edit

    @classmethod
    def put(cls, name, edit, headers=()):
        """(status, message, warnings) of a PUT of the edited queue; nothing is stored."""
        queue = cls.server.get(f"{QUEUES}/{name}")
        edit(queue)
        connection = http.client.HTTPSConnection("127.0.0.1", cls.server.port, timeout=30, context=cls.server.tls)
        try:
            connection.request("PUT", f"{QUEUES}/{name}?dryRun=All", body=json.dumps(queue), headers={
                "Content-Type": "application/json", "Authorization": f"Bearer {cls.server.plane.tokens['admin']}",
                **dict(headers)})
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read()).get("message", ""), answer.headers.get_all("Warning") or []
        finally:
            connection.close()

    @classmethod
    def warnings_of(cls, name, edit, headers=()):
        status, message, warnings = cls.put(name, edit, headers)
        assert status == 200, message
        return " ".join(warnings)

    # -- claims -------------------------------------------------------------------------------------------------

    def test_sums_above_the_ceiling_are_refused_and_equal_ones_are_not(self):
        over = "more is assigned than spec.nominalResources has of "
        cases = [
            ("equal", {"cpu": "1000"}, ["500", "500"], "cpu", ""),
            ("a milli above", {"cpu": "1000"}, ["500", "500001m"], "cpu", over + "cpu"),
            ("a byte above", {"memory": "1000Gi"}, ["500Gi", str(500 * 2**30 + 1)], "memory", over + "memory"),
            ("the same byte", {"memory": str(1000 * 2**30 + 1)}, ["500Gi", str(500 * 2**30 + 1)], "memory", ""),
            ("no float", {"cpu": "300m"}, ["100m", "0.2"], "cpu", ""),
            ("exa", {"memory": "9E"}, ["5E", "5E"], "memory", over + "memory"),
            ("whole numbers", {"cpu": 3}, [1, 2], "cpu", ""),
            ("whole numbers above", {"cpu": 3}, [1, 3], "cpu", over + "cpu"),
            ("exponents and signs", {"cpu": "1e3"}, ["+5e2", "500"], "cpu", ""),
            ("nothing of nothing", {"cpu": "0"}, ["0"], "cpu", ""),
        ]
        for name, nominal, amounts, resource, refusal in cases:
            with self.subTest(case=name):
                said = self.refused_by(assigning(nominal, *(
                    (f"queue-{i}", {resource: amount}) for i, amount in enumerate(amounts))))
                self.assertEqual(bool(said), bool(refusal), said)
                self.assertIn(refusal, said)

    def test_the_claim_that_the_kind_was_proposed_with_is_accepted(self):
        self.assertEqual(self.refused_by(claim("cluster9")), "")

    def test_a_resource_without_a_ceiling_is_refused(self):
        self.assertIn("spec.nominalResources does not have",
                      self.refused_by(assigning({"cpu": "10"}, ("queue", {"cpu": "1", "memory": "1Gi"}))))

    def test_an_alias_is_its_resource(self):
        """The fold reads both names as one resource, so refusing would be wrong, and so would be counting apart."""
        for nominal, first, second in (("gpu", "nvidia.com/gpu", "gpu"), ("nvidia.com/gpu", "gpu", "gpu")):
            with self.subTest(nominal=nominal):
                self.assertEqual(self.refused_by(assigning({nominal: "10"}, ("a", {first: 5}), ("b", {second: 5}))), "")
                self.assertIn("of nvidia.com/gpu", self.refused_by(
                    assigning({nominal: "10"}, ("a", {first: 5}), ("b", {second: 6}))))

    def test_500_rows_are_within_what_an_expression_may_cost(self):
        rows = [(f"queue-{i}", {"cpu": "2", "memory": "2Gi", "gpu": 1}) for i in range(500)]
        nominal = {"cpu": "1000", "memory": "1000Gi", "gpu": 500}
        self.assertEqual(self.refused_by(assigning(nominal, *rows)), "")
        self.assertIn("of cpu", self.refused_by(assigning({**nominal, "cpu": "999999m"}, *rows)))

    def test_a_claim_that_was_bad_before_can_be_labelled_and_deleted(self):
        name = "bad-before"
        self.server.merge(f"{BINDINGS}/fairlead-claims", {"spec": {"validationActions": ["Warn"]}}, user="admin")
        self.addCleanup(lambda: self.server.get(f"{CLAIMS}/{name}") and self.server.delete(f"{CLAIMS}/{name}"))
        bad = assigning({"cpu": "1"}, ("queue", {"cpu": "2"}), name=name)
        bad["metadata"]["finalizers"] = ["fairlead.io/claim"]
        wait_for("the binding to warn", lambda: self.server.raw("POST", CLAIMS, json.dumps(bad))[0] == 201)
        self.server.merge(f"{BINDINGS}/fairlead-claims", {"spec": {"validationActions": ["Deny"]}}, user="admin")
        wait_for("the binding to deny again", lambda: self.refused_by(assigning({"cpu": 1}, ("a", {"cpu": 2}))))
        with self.assertRaises(Refused):
            self.server.merge(f"{CLAIMS}/{name}", {"spec": {"nominalResources": {"cpu": "1500m"}}})
        self.server.merge(f"{CLAIMS}/{name}", {"metadata": {"labels": {"team": "a"}}})
        self.server.delete(f"{CLAIMS}/{name}")
        self.server.merge(f"{CLAIMS}/{name}", {"metadata": {"finalizers": None}})
        self.assertIsNone(self.server.get(f"{CLAIMS}/{name}"))

    # -- queues -------------------------------------------------------------------------------------------------

    def a_queue_of_a_claim(self):
        """The queue HIGH with a gpu under its own name, and a claim that names it by the alias."""
        queue = cluster_queue(HIGH)
        self.server.create(QUEUES, queue)
        self.server.merge(f"{QUEUES}/{HIGH}", {"spec": self.with_values(queue["spec"])})
        self.server.create(CLAIMS, claim())
        self.addCleanup(self.server.delete, f"{QUEUES}/{HIGH}")
        self.addCleanup(self.server.delete, f"{CLAIMS}/cluster2-resource-claim")
        wait_for("the claim to be a parameter", lambda: self.warnings_of(HIGH, self.at("on-demand", "cpu", "7")))

    @staticmethod
    def with_values(spec):
        for group in spec["resourceGroups"]:
            for entry in group["flavors"]:
                for pair in entry["resources"]:
                    pair["nominalQuota"] = {"cpu": "5", "memory": "8Gi"}.get(pair["name"], "4")
        return spec

    def test_a_changed_value_of_a_claims_pair_is_a_warning_that_names_the_claim(self):
        self.a_queue_of_a_claim()
        for resource, amount in (("cpu", "6"), ("cpu", "5001m"), ("memory", "9Gi"), ("nvidia.com/gpu", 3)):
            with self.subTest(resource=resource, amount=amount):
                said = self.warnings_of(HIGH, self.at("on-demand", resource, amount))
                self.assertIn("ClusterResourceClaim cluster2-resource-claim assigns this quota of on-demand", said)
        self.assertIn("cluster2-resource-claim", self.warnings_of(HIGH, self.without("on-demand")))

    @staticmethod
    def without(flavor):
        def edit(queue):
            for group in queue["spec"]["resourceGroups"]:
                group["flavors"] = [entry for entry in group["flavors"] if entry["name"] != flavor]
        return edit

    def test_what_changes_no_value_of_a_claim_is_let_through(self):
        self.a_queue_of_a_claim()

        def overridden(queue):
            queue["metadata"]["annotations"] = {"fairlead.io/override": "an outage of the claim's author"}
            self.at("on-demand", "cpu", "6")(queue)

        def overridden_without_a_reason(queue):
            overridden(queue)
            queue["metadata"]["annotations"]["fairlead.io/override"] = ""

        def labelled(queue):
            queue["metadata"]["labels"] = {"team": "a"}

        for name, edit in (("respelt", self.at("on-demand", "cpu", "5000m")), ("foreign", self.at("spot", "cpu", "6")),
                           ("respelt as a number", self.at("on-demand", "cpu", 5)), ("overridden", overridden),
                           ("labelled", labelled)):
            with self.subTest(case=name):
                self.assertEqual(self.warnings_of(HIGH, edit), "")
        self.assertIn("cluster2-resource-claim", self.warnings_of(HIGH, overridden_without_a_reason))
        as_hub = {"Impersonate-User": HUB, "Impersonate-Group": "system:masters"}
        self.assertEqual(self.warnings_of(HIGH, self.at("on-demand", "cpu", "6"), as_hub.items()), "")

    def test_a_patch_of_the_binding_makes_it_a_refusal(self):
        self.a_queue_of_a_claim()
        self.addCleanup(self.server.merge, f"{BINDINGS}/fairlead-owned-quota",
                        {"spec": {"validationActions": ["Warn"]}}, "admin")
        self.server.merge(f"{BINDINGS}/fairlead-owned-quota", {"spec": {"validationActions": ["Deny"]}}, user="admin")
        wait_for("the refusal", lambda: self.put(HIGH, self.at("on-demand", "cpu", "6"))[0] == 403)
        status, message, _ = self.put(HIGH, self.at("on-demand", "cpu", "6"))
        self.assertEqual(status, 403)
        self.assertIn("cluster2-resource-claim", message)
        # A field manager is no identity: anybody may say so.
        queue = self.server.get(f"{QUEUES}/{HIGH}")
        self.at("on-demand", "cpu", "6")(queue)
        with self.assertRaises(Refused):
            self.server.request("PUT", f"{QUEUES}/{HIGH}?fieldManager=fairlead&dryRun=All", queue)
        self.assertEqual(self.put(HIGH, self.at("on-demand", "cpu", "5000m"))[0], 200)


if __name__ == "__main__":
    unittest.main()
