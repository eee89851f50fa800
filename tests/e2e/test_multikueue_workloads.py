"""`fairlead hub` between OCM Placements and MultiKueue, on a real API server: Workloads, take-over, missing rights."""

import random
import time
import unittest

from harness.apiserver import Refused
from harness.controlplane import ROOT
from harness.fleet import CLAIMS, add_nodes, claim, prepare_hub, quantity, quota
from harness.hub import AT_ONCE, Hub
from harness.multikueue import (CHECKS, CONFIGS, WINDOWS, WORKERS, WORKLOADS, MultiKueueTest, condition)
from harness.process import stays, wait_for

NEEDS = ("controlplane", "fairlead")
CLEARING_POLICY = ROOT / "docs/dispatcher/clear-nominations.yaml"
POLICIES = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
ADDON_FINALIZER = "kueue-addon.open-cluster-management.io/admissioncheck-cleanup"
CHANCE = random.SystemRandom()


def setUpModule():
    # Kueue's dispatching is left to us.
    MultiKueueTest.open((*WINDOWS, "multikueue.dispatcher=true", "multikueue.adoptOcmAddon=true"))


class WorkloadsTest(MultiKueueTest):
    def status_of(self, name):
        return self.server.get(f"{WORKLOADS}/{name}")["status"]

    def states_of(self, name):
        return {each["name"]: each["state"] for each in self.status_of(name)["admissionChecks"]}

    def wait_for_states(self, name, **states):
        self.hub.wait_until(f"{name} to have {states}", lambda: self.states_of(name) == states, timeout=10)

    def evict(self, name, **checks):
        """As Kueue does it: quota back, every check Pending, its own choice of clusters forgotten."""
        self.kueue_says(name, {"admissionChecks": self.states(checks), "conditions": [
            condition("QuotaReserved", "False", "Pending"), condition("Evicted", "True", "AdmissionCheck")]})


class ReadyTest(WorkloadsTest):
    def test_our_check_is_ready_again_after_each_eviction_and_others_are_left_alone(self):
        self.started("jobs", "abe")
        checks = {"multikueue": "Pending", "kueue": "Pending", "provisioning": "Pending"}
        self.workload("job", checks, reserved=False)
        for _ in range(3):
            self.wait_for_states("job", **{**checks, "multikueue": "Ready"})
            self.evict("job", **checks)
        self.wait_for_states("job", **{**checks, "multikueue": "Ready"})
        others = [each for each in self.status_of("job")["admissionChecks"] if each["name"] != "multikueue"]
        self.assertEqual(others, self.states({name: "Pending" for name in ("kueue", "provisioning")}))
        self.rest()
        wrote = [each for each in self.writes() if each.request.path.endswith("/job/status")]
        self.assertEqual([each.code for each in wrote if each.code != 409], [200] * 4)
        self.assertEqual({each.request.query["force"] for each in wrote}, {"true"})
        self.survives_a_kill()

    def test_retry_and_rejected_are_answered_like_pending(self):
        self.started("states", "bea")
        for state in ("Retry", "Rejected"):
            self.workload(f"job-{state.lower()}", {"multikueue": state}, reserved=False)
            self.wait_for_states(f"job-{state.lower()}", multikueue="Ready")

    def test_a_kill_between_eviction_and_answer_is_made_up_for(self):
        self.started("evicted", "cal")
        self.workload("job", {"multikueue": "Pending"})
        self.wait_for_states("job", multikueue="Ready")
        self.hub.kill()
        self.evict("job", multikueue="Pending")
        self.start_hub()
        self.wait_for_states("job", multikueue="Ready")

    def test_a_check_without_a_placement_does_not_hold_workloads(self):
        self.check("multikueue", "nowhere")
        self.wait_for_condition("multikueue", "False", "PlacementNotFound")
        self.workload("job", {"multikueue": "Pending", "kueue": "Pending"})
        self.wait_for_states("job", multikueue="Ready", kueue="Pending")

    def test_a_finished_workload_is_left_alone(self):
        self.started("over", "deb")
        self.workload("job", {"multikueue": "Pending"}, reserved=False)
        self.wait_for_states("job", multikueue="Ready")
        self.finished("job")
        self.rest()
        self.kueue_says("job", {"admissionChecks": self.states({"multikueue": "Pending"})})
        self.stays_quiet(1)


class DispatcherTest(WorkloadsTest):
    def apply_policy(self):
        self.addCleanup(self.remove_policy)
        self.server.kubectl("apply", "-f", CLEARING_POLICY)

    def remove_policy(self):
        self.server.kubectl("delete", "--ignore-not-found", "-f", CLEARING_POLICY)

    def wait_for_dispatcher(self, status, reason):
        return self.wait_for_condition("multikueue", status, reason, "DispatcherReady")

    def kueue_names(self, name, worker):
        """As Kueue's manager writes; None if the server refuses a cluster beside nominations, or takes both."""
        try:
            self.kueue_says(name, {
                "clusterName": worker, "conditions": [condition("QuotaReserved"), condition("Admitted")],
                "admission": {"clusterQueue": "queue", "podSetAssignments": [{"name": "main"}]},
                "admissionChecks": self.states({"multikueue": "Ready"})})
        except Refused as refusal:
            self.assertIn("mutually exclusive", str(refusal))
            return None
        placed = self.status_of(name)
        return None if "nominatedClusterNames" in placed else placed

    def test_nothing_is_nominated_without_a_policy_that_clears_nominations(self):
        self.server.create(POLICIES, {
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy",
            "metadata": {"name": "other"}, "spec": {
                "matchConstraints": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"],
                                                        "operations": ["CREATE"], "resources": ["configmaps"]}]},
                "reinvocationPolicy": "Never",
                "mutations": [{"patchType": "JSONPatch", "jsonPatch": {
                    "expression": "[JSONPatch{op: 'remove', path: '/data'}]"}}]}})
        self.addCleanup(self.server.delete, f"{POLICIES}/other")
        self.started("ready", "eva")
        message = self.wait_for_dispatcher("False", "ClearingPolicyMissing")
        self.assertIn("docs/dispatcher/clear-nominations.yaml", message)
        self.workload("job", {"multikueue": "Pending"})
        self.wait_for_states("job", multikueue="Ready")
        self.rest()
        self.assertNotIn("nominatedClusterNames", self.status_of("job"))
        self.apply_policy()
        self.assertIn("fairlead-clear-nominations", self.wait_for_dispatcher("True", "DispatcherReady"))
        self.wait_for_nomination("job", "ready-eva")
        seen = self.hub.events(kind="MutatingAdmissionPolicy", name="fairlead-clear-nominations")
        self.assertEqual([event["version"] for event in seen], ["v1"])
        # The server takes some seconds until a new policy is in force.
        placed = self.hub.wait_until("Kueue's choice of a cluster", lambda: self.kueue_names("job", "ready-eva"))
        self.assertEqual(placed["clusterName"], "ready-eva")
        self.survives_a_kill()
        self.remove_policy()
        self.wait_for_dispatcher("False", "ClearingPolicyMissing")
        self.workload("late", {"multikueue": "Pending"})
        self.wait_for_states("late", multikueue="Ready")
        self.rest()
        self.assertNotIn("nominatedClusterNames", self.status_of("late"))

    def test_workloads_are_nominated_and_a_leaver_gets_nothing_new(self):
        self.apply_policy()
        self.started("pool", "eli", "flo", moveWindow="2s")
        self.wait_for_dispatcher("True", "DispatcherReady")
        ours = {"multikueue": "Pending", "kueue": "Pending"}
        self.workload("early", ours)
        self.workload("waiting", ours, reserved=False)
        self.wait_for_nomination("early", "pool-eli", "pool-flo")
        self.wait_for_states("early", multikueue="Ready", kueue="Pending")
        self.assertNotIn("nominatedClusterNames", self.status_of("waiting"))
        # Kueue takes eli: the nomination goes with that, and may not come back while it runs there.
        admission = {"clusterQueue": "queue", "podSetAssignments": [{"name": "main"}]}
        self.takes("early", "pool-eli")
        self.rest()
        self.decide("pool", ["flo"])
        time.sleep(0.3)
        self.workload("late", ours)
        self.wait_for_nomination("late", "pool-flo")
        self.wait_for_list("pool", "flo", "eli")
        time.sleep(CHANCE.random())
        self.killed_and_back()
        self.rest()
        self.assertNotIn("nominatedClusterNames", self.status_of("early"))
        self.assertEqual(self.list_of("pool"), ["pool-flo", "pool-eli"])
        self.kueue_says("waiting", {"conditions": [condition("QuotaReserved")], "admission": admission,
                                    "admissionChecks": self.states({**ours, "multikueue": "Ready"})})
        self.wait_for_nomination("waiting", "pool-flo")
        # Evicted: no quota, no nomination. With quota again, it goes where new work goes.
        self.status(f"{WORKLOADS}/early", {"clusterName": None, "conditions": [
            condition("QuotaReserved", "False", "Pending"), condition("Evicted", "True", "ClusterGone")]})
        self.rest()
        self.assertNotIn("nominatedClusterNames", self.status_of("early"))
        self.wait_for_list("pool", "flo")
        self.survives_a_kill()


class AddOnTest(WorkloadsTest):
    """What the OCM add-on made and left is taken over (adoptOcmAddon)."""

    def left_by_the_add_on(self, placement, cluster):
        self.server.create(WORKERS, {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueCluster",
            "metadata": {"name": f"{placement}-{cluster}"},
            "spec": {"clusterSource": {"kubeConfig": {"location": f"kueue-admin-{cluster}-kubeconfig",
                                                      "locationType": "Secret"}}}})
        self.server.create(CONFIGS, {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueConfig", "metadata": {"name": placement},
            "spec": {"clusters": [f"{placement}-{cluster}"]}})

    def test_its_objects_are_marked_in_place_and_its_finalizer_is_released(self):
        self.left_by_the_add_on("addon", "gus")
        self.secret("gus")
        self.placement("addon")
        self.decide("addon", ["gus"])
        uids = [self.server.get(path)["metadata"]["uid"] for path in (f"{CONFIGS}/addon", f"{WORKERS}/addon-gus")]
        self.check("multikueue", "addon", finalizers=[ADDON_FINALIZER])
        self.hub.wait_until("the marks", lambda: sorted(self.marked()) == ["addon", "addon-gus"])
        self.wait_for_condition("multikueue", "True", "Active")
        self.assertEqual([self.server.get(path)["metadata"]["uid"]
                          for path in (f"{CONFIGS}/addon", f"{WORKERS}/addon-gus")], uids)
        self.assertEqual(self.generation("addon"), 1, "the list itself was written")
        self.running("job", "addon-gus", {"multikueue": "Ready"})
        self.survives_a_kill()
        self.server.delete(f"{CHECKS}/multikueue")
        self.stays_quiet(1)
        self.assertIsNotNone(self.server.get(f"{CHECKS}/multikueue"))
        self.finished("job")
        self.hub.wait_until("the check to go", lambda: self.server.get(f"{CHECKS}/multikueue") is None)
        self.assertIsNone(self.server.get(f"{CONFIGS}/addon"))
        self.hub.wait_until("the worker to go", lambda: not self.marked())

    def test_a_profile_beside_a_secret_is_taken_in_place(self):
        self.started("access", "hew")
        worker = self.server.get(f"{WORKERS}/access-hew")
        self.profile("hew")
        self.hub.wait_until("the profile", lambda: self.server.get(f"{WORKERS}/access-hew")["spec"] == {
            "clusterSource": {"clusterProfileRef": {"name": "hew"}}})
        self.assertEqual(self.server.get(f"{WORKERS}/access-hew")["metadata"]["uid"], worker["metadata"]["uid"])
        self.assertEqual(self.generation("access"), 1)


class RightsTest(MultiKueueTest):
    """A hub that may not read Secrets."""

    @classmethod
    def setUpClass(cls):
        MultiKueueTest.close_hub()
        cls.addClassCleanup(MultiKueueTest.start_hub)
        cls.member = cls.plane.add_server("cluster2")
        prepare_hub(cls.server)
        add_nodes(cls.member)
        cls.hub = Hub(cls.plane, cls.server, {"cluster2": cls.member}, settings=(*WINDOWS, AT_ONCE),
                      kubeconfig=cls.between.kubeconfig("limited"))
        cls.addClassCleanup(cls.hub.finish)
        cls.addClassCleanup(cls.close_hub)

    def tearDown(self):
        self.check_accepted(besides=(403, 409))
        self.hub.stop()

    def grant(self, *, secrets=True, configs=True):
        groups = ["galaxy.kubestellar.io", "cluster.open-cluster-management.io", "multicluster.x-k8s.io",
                  "work.open-cluster-management.io", "apiextensions.k8s.io"]
        kueue = ["clusterqueues", "localqueues", "resourceflavors", "workloads", "admissionchecks",
                 "multikueueclusters", *(["multikueueconfigs"] if configs else [])]
        reading = {"verbs": ["get", "list", "watch"]}
        self.server.grant("limited", [
            {"apiGroups": groups, "resources": ["*"], "verbs": ["*"]},
            {"apiGroups": ["kueue.x-k8s.io"], "resources": ["*"], **reading},
            {"apiGroups": ["kueue.x-k8s.io"], "resources": [*kueue, *(f"{kind}/status" for kind in kueue)],
             "verbs": ["*"]},
            {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]},
            *([{"apiGroups": [""], "resources": ["secrets"], **reading}] if secrets else [])])

    def refused(self, path):
        """How often the server has said no to the hub at a path with this end."""
        return len([each for each in self.between.exchanges[self.begin:]
                    if each.request.path.endswith(path) and each.code == 403])

    def test_missing_rights_on_secrets_are_named_and_quotas_go_on(self):
        self.grant(secrets=False)
        self.start_hub()
        self.server.create(CLAIMS, claim())
        self.hub.wait_until("the quota", lambda: quota(self.server, "high-priority-queue", "on-demand", "cpu")
                            == quantity("500"))
        self.secret("ira")
        self.placement("blind")
        self.decide("blind", ["ira"])
        self.check("multikueue", "blind")
        message = self.wait_for_condition("multikueue", "False", "CredentialsMissing")
        self.assertIn("Secrets in namespace kueue-system cannot be read", message)
        self.assertIn("blind", message)
        self.assertIn("without a credential: ira", message)
        self.stays_quiet(2)
        self.assertLessEqual(self.refused("/secrets"), 6, "asked again and again")
        self.check_accepted(besides=(409,))
        self.grant()
        self.killed_and_back()  # it would ask again by itself after half a minute
        self.wait_for_list("blind", "ira")
        self.wait_for_condition("multikueue", "True", "Active")
        self.survives_a_kill()
        self.check_accepted(besides=(409,))

    def names(self, words):
        """Whether a condition of the check says so."""
        return any(words in each["message"] for each in self.conditions("multikueue").values())

    def is_refused(self, name):
        self.hub.wait_until("the refusal", lambda: self.refused(f"/multikueueconfigs/{name}"))
        stays("few attempts", lambda: self.refused(f"/multikueueconfigs/{name}") <= 2, seconds=4)
        self.assertTrue(self.hub.said("multikueueconfigs", name, "forbidden"), self.hub.process.tail())
        self.hub.wait_until("the condition to name it", lambda: self.names(f"MultiKueueConfig {name}"), 5)

    def test_a_refused_change_is_named_and_tried_again_later(self):
        self.grant()
        self.start_hub()
        self.started("change", "jed")
        self.grant(configs=False)
        self.secret("jim")
        self.decide("change", ["jed", "jim"])
        self.is_refused("change")
        self.assertEqual(self.conditions("multikueue")["Active"]["status"], "True")
        self.grant()
        self.wait_for_list("change", "jed", "jim", timeout=30)
        self.hub.wait_until("the condition to be well again", lambda: not self.names("MultiKueueConfig change"), 10)

    def test_a_refused_first_list_is_named_and_tried_again_later(self):
        self.grant(configs=False)
        self.start_hub()
        self.secret("joe")
        self.placement("first")
        self.decide("first", ["joe"])
        self.check("multikueue", "first")
        self.is_refused("first")
        self.grant()
        self.wait_for_list("first", "joe", timeout=30)
        self.wait_for_condition("multikueue", "True", "Active")


class StartTest(MultiKueueTest):
    """What a hub meets that starts too early."""

    def tearDown(self):
        # 404 is how a server says that a kind is not served.
        self.check_accepted(besides=(404, 409))

    def test_a_crd_that_comes_later_is_waited_for(self):
        late = "multikueueconfigs.kueue.x-k8s.io"
        path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{late}"
        self.hub.stop()
        self.server.delete(path)
        wait_for("the CRD to go", lambda: self.server.get(path) is None and self.server.get(CONFIGS) is None)
        self.addCleanup(lambda: self.server.get(path) or self.server.install_crds(only=[late]))
        self.start_hub()
        self.secret("kay")
        self.placement("later")
        self.decide("later", ["kay"])
        self.check("multikueue", "later")
        self.hub.wait_until("the Placement to be known", lambda: self.hub.events(kind="Placement", name="later"), 60)
        time.sleep(3)
        asked = [each.code for each in self.writes() if "multikueueconfigs" in each.request.path]
        said = [each["message"] for each in self.conditions("multikueue").values()]
        self.server.install_crds(only=[late])
        self.wait_for_list("later", "kay", timeout=60)
        self.wait_for_condition("multikueue", "True", "Active")
        # The first answer says that nothing is served; from then on it is asked with a growing pause.
        self.assertLessEqual(len(asked), 2, f"asked again and again: {asked}")
        self.assertEqual(set(asked) - {404}, set())
        self.assertTrue([text for text in said if "MultiKueueConfig" in text], f"no condition names it: {said}")

    def test_a_hub_that_starts_with_its_api_server_keeps_what_it_wrote(self):
        self.started("reboot", "lou", "max")
        self.rest()
        before = self.versions()
        self.hub.kill()
        self.server.restart()
        self.start_hub()
        self.stays_quiet(6)
        self.assertEqual(self.versions(), before)


if __name__ == "__main__":
    unittest.main()
