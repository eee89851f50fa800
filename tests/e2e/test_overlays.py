"""Each overlay of deploy/ is enough for what it is for: its account may do what the program does under its
configuration, and MultiKueue's three stories work under it without a request that is refused.

`test_rights` has every component at once: a right that one of them brings along hides that another needs it.
"""

import unittest

from harness import deploy, scenario_writes
from harness.audited import AuditLog, granted_in
from harness.controlplane import ControlPlane
from harness.fleet import MANAGED_CLUSTERS, QUEUES, prepare_hub
from harness.fleet_claims import CRDS as FLEET_CRDS
from harness.hub import AT_ONCE, Hub
from harness.multikueue import (CHECKS, CONFIGS, DECISIONS, MULTIKUEUE_CRDS, NAMESPACE, OCM, PLACEMENTS, SECRETS,
                                WINDOWS, WORKERS, WORKLOADS, MultiKueueTest, best_score, labelled)
from harness.process import free_port, wait_for

NEEDS = ("controlplane", "fairlead")

ACCOUNT = "system:serviceaccount:fairlead:fairlead"
GROUPS = ["system:serviceaccounts", "system:serviceaccounts:fairlead", "system:authenticated"]
REVIEWS = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
OWN_CRD = "clusterresourceclaims.galaxy.kubestellar.io"
OVERLAYS = sorted(path.name for path in (deploy.DEPLOY / "overlays").iterdir())
WRITING = ("ha", "hub", "monitored", "strict")
# What the hub does besides its plan.
EVENTS = ("default", "events", "create")


class OverlayTest(MultiKueueTest):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.audit = AuditLog(cls.plane.directory, ACCOUNT)
        cls.server = cls.plane.add_server("hub", arguments=cls.audit.arguments)
        cls.server.install_crds(only=[name for name in (*MULTIKUEUE_CRDS, *FLEET_CRDS, "cohorts.kueue.x-k8s.io",
                                                        "bindingpolicies.control.kubestellar.io") if name != OWN_CRD])
        monitoring = deploy.operator_crds()
        if monitoring:
            cls.server.install_crds([monitoring])
        cls.overlays = [name for name in OVERLAYS if monitoring or name != "monitored"]
        for name in (NAMESPACE, "team"):
            deploy.ensure_namespace(cls.server, name)

    def setUp(self):
        pass

    def tearDown(self):
        pass

    def installed(self, folder):
        found = deploy.objects(self.server, deploy.kustomize(folder))
        deploy.apply(self.server, folder)
        if any(item["metadata"]["name"] == OWN_CRD for item in found):
            self.server.kubectl("wait", "--for=condition=Established", f"crd/{OWN_CRD}")
        return found

    def may(self, namespace, resource, verb):
        """`kubectl auth can-i`, of the account."""
        name, _, group = resource.partition(".")
        plural, _, subresource = name.partition("/")
        answer = self.server.create(REVIEWS, {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": ACCOUNT, "groups": GROUPS, "resourceAttributes": {
                "group": group, "resource": plural, "subresource": subresource, "verb": verb,
                "namespace": namespace}}})
        return answer["status"]["allowed"]

    # -- rights --------------------------------------------------------------------------------------------------

    def test_what_the_plan_writes_is_granted_under_each_configuration(self):
        writes = scenario_writes.writes()
        self.assertIn((), writes)
        self.assertGreater(len(writes), 4)
        for components, wanted in writes.items():
            with self.subTest(components=components):
                self.installed(deploy.composed(
                    self.plane.directory / ("with-" + "-".join(components)), components))
                missing = [f"{verb} {resource} ({scenario})" for (resource, verb), scenario in wanted.items()
                           if not self.may("team", resource, verb)]
                self.assertEqual(missing, [])
                self.assertTrue(self.may(*EVENTS))

    def test_an_account_may_do_what_its_overlay_grants_and_nothing_that_another_does(self):
        everything = set()
        granted = {}
        for name in self.overlays:
            folder = deploy.DEPLOY / "overlays" / name
            granted[name] = granted_in(deploy.objects(self.server, deploy.kustomize(folder)))
            everything |= granted[name]
        self.assertLess(granted["recommend-only"], granted["recommend"])
        self.assertLess(granted["recommend"], granted["hub"])
        everything = {right for right in everything if right[1].split(".")[0] not in ("secrets", "tokenreviews")}
        for name in self.overlays:
            with self.subTest(overlay=name):
                folder = deploy.DEPLOY / "overlays" / name
                self.installed(folder)
                deploy.uninstall(self.server, "--except", folder)
                differing = [right for right in sorted(everything) if "webhook" not in right[1]
                             and self.may(*right) != any(
                                 (space, right[1], right[2]) in granted[name] for space in {right[0], ""})]
                self.assertEqual(differing, [])

    # -- stories -------------------------------------------------------------------------------------------------

    def arguments_of(self, found):
        """Those of the Pod, at addresses and in folders of this machine."""
        empty = self.plane.directory / "no-certificate"
        empty.mkdir(exist_ok=True)
        here = {"--data": None, "--config": None, "--listen": None, "--certificate": empty,
                "--listen-secure": f"127.0.0.1:{free_port()}", "--webhook-listen": f"127.0.0.1:{free_port()}"}
        words = []
        for word in deploy.template(found)["containers"][0]["args"][1:]:
            name, _, _ = word.partition("=")
            if name not in here:
                words.append(word)
            elif here[name] is not None:
                words.append(f"{name}={here[name]}")
        return words

    def run_hub(self, found):
        self.audit.begin()
        self.hub = Hub(self.plane, self.server, kubeconfig=deploy.account_kubeconfig(self.server),
                       config='{"apiVersion": "fairlead.io/v1alpha1", "kind": "Configuration"}\n',
                       settings=(AT_ONCE, *WINDOWS), arguments=self.arguments_of(found))
        self.addCleanup(self.hub.finish)
        self.hub.start()
        self.hub.wait_until("the hub to be ready", self.hub.ready)

    def arrange(self):
        self.addCleanup(self.forget)
        self.clusters_and_placements()

    def clusters_and_placements(self):
        """The clusters and Placements of the three stories, each with a check and a Workload that waits for it."""
        gpu = {"accelerator": "nvidia-tesla-t4"}
        for name, labels, score in (("ann", gpu, 10), ("bob", {}, 90)):
            self.cluster(name, **labels)
            self.score(name, score)
        for name, spec in (("all", None), ("t4", labelled("accelerator", "nvidia-tesla-t4")), ("best", best_score())):
            self.placement(name, spec)
            self.place(name)
            self.check(f"check-{name}", name, moveWindow="1s")
            self.workload(f"job-{name}", {f"check-{name}": "Pending"})

    def dispatched(self, name):
        states = self.server.get(f"{WORKLOADS}/job-{name}")["status"]["admissionChecks"]
        return [state["state"] for state in states] == ["Ready"]

    def stories(self):
        self.wait_for_list("all", "ann", "bob")
        self.wait_for_list("t4", "ann")
        self.wait_for_list("best", "bob")
        for name in ("all", "t4", "best"):
            self.wait_for_condition(f"check-{name}", "True", "Active")
            self.hub.wait_until(f"the Workload of {name} to be dispatched", lambda name=name: self.dispatched(name))
        self.score("ann", 100)
        self.place("best")
        self.wait_for_list("best", "ann")
        self.server.clear(CHECKS)
        self.hub.wait_until("the hub to remove its objects", lambda: not self.marked())

    def forget(self):
        self.server.request("DELETE", WORKLOADS)
        for path in (CHECKS, CONFIGS, WORKERS, QUEUES, "/apis/kueue.x-k8s.io/v1beta2/resourceflavors",
                     MANAGED_CLUSTERS, f"{OCM}/v1alpha1/addonplacementscores"):
            self.server.clear(path)
        for path in (PLACEMENTS, DECISIONS, SECRETS):
            self.server.request("DELETE", path)

    def under(self, name):
        """The overlay alone, and a hub as its Pod runs it."""
        folder = deploy.DEPLOY / "overlays" / name
        found = self.installed(folder)
        deploy.uninstall(self.server, "--except", folder)
        self.run_hub(found)
        return found

    def test_the_stories_work_under_each_overlay_that_writes(self):
        for name in [one for one in WRITING if one in self.overlays]:
            with self.subTest(overlay=name):
                self.under(name)
                self.arrange()
                self.stories()
                self.assertEqual(self.audit.refusals(), [])
                self.hub.stop()
                self.hub.check_log()
                self.forget()

    def test_the_stories_are_printed_by_the_overlay_that_recommends(self):
        self.under("recommend")
        self.arrange()
        # A list waits for its workers, which are not made.
        for kind, name in (("MultiKueueCluster", "all-ann"), ("MultiKueueCluster", "t4-ann"),
                           ("MultiKueueCluster", "best-bob"), ("Workload", "job-all"), ("Workload", "job-t4"),
                           ("Workload", "job-best")):
            self.hub.wait_until(f"{kind} {name} to be recommended", lambda kind=kind, name=name: any(
                f'"kind":"{kind}"' in line and f'"{name}"' in line for line in self.hub.process.text().splitlines()))
        self.only_read()

    def test_a_recorder_is_refused_nothing(self):
        self.under("recommend-only")
        prepare_hub(self.server)
        wait_for("a queue in the log", lambda: self.hub.events(fact="ObjectObserved", kind="ClusterQueue"))
        self.only_read()

    def only_read(self):
        self.assertEqual(self.audit.refusals(), [])
        self.assertEqual({verb for _, _, verb in self.audit.used()} - {"list", "watch"}, set())
        self.hub.stop()


if __name__ == "__main__":
    unittest.main()
