"""What docs/operating.md tells an administrator to do is enough: the rights of deploy/, its backup, its answers."""

import base64
import json
import re
import unittest

from harness import deploy
from harness.fleet import CLAIMS, claim, remove_node
from harness.hub import AT_ONCE
from harness.program import fairlead
from test_hub import CLAIM, HubTest

NEEDS = ("controlplane", "fairlead")
EVENTS = "/api/v1/namespaces/default/events"


# Every kind that the hub reads is served here: what is not served cannot be refused.
OPTIONAL_CRDS = ("placements.cluster.open-cluster-management.io",
                 "placementdecisions.cluster.open-cluster-management.io",
                 "addonplacementscores.cluster.open-cluster-management.io", "workloads.kueue.x-k8s.io",
                 "bindingpolicies.control.kubestellar.io")


class GuideTest(HubTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server.install_crds(only=OPTIONAL_CRDS)

    def account_of(self, folder):
        """A kubeconfig of the account that the manifests of `folder` make; they are taken away after the test."""
        deploy.ensure_namespace(self.server, "kueue-system")
        deploy.apply(self.server, folder)
        self.addCleanup(self.server.kubectl, "delete", "-k", folder, "-l", "fairlead.io/keep!=true")
        return deploy.account_kubeconfig(self.server)

    def hub_with_the_guides_rights(self):
        return self.hub(kubeconfig=self.account_of(deploy.DEPLOY / "overlays/hub")).start()

    def events(self):
        """(type, reason) of the Events about this claim."""
        uid = self.server.get(CLAIM)["metadata"]["uid"]
        return [(event["type"], event["reason"]) for event in self.server.get(EVENTS)["items"]
                if event["involvedObject"].get("uid") == uid]

    def granted(self):
        conditions = self.server.get(CLAIM).get("status", {}).get("conditions", [])
        return {each["type"]: each["status"] for each in conditions}.get("FullyGranted")

    def test_the_rights_are_enough_and_the_claim_has_events(self):
        warning = ("Warning", "FlavorCapacity")
        hub = self.hub_with_the_guides_rights()
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        # While the nodes are listed the first grants may be small.
        hub.wait_until("the claim to say so", lambda: self.granted() == "True")
        before = self.events().count(warning)
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500")
        hub.wait_until("the Event", lambda: self.events().count(warning) == before + 1)
        self.assertRegex(self.server.kubectl("describe", "clusterresourceclaim", "cluster2-resource-claim"),
                         r"Warning +FlavorCapacity")
        hub.stop()
        self.assertNotIn('code="403"', hub.metrics)
        self.assertIn("fairlead_notices_lost_total 0", hub.metrics)
        hub.check_log()

    def test_of_secrets_those_of_kueue_are_known_and_none_is_in_the_log(self):
        hub = self.hub_with_the_guides_rights()
        for namespace in ("default", "kueue-system"):
            for key in ("kubeconfig", "other"):
                self.server.kubectl("create", "secret", "generic", f"guide-{key}", "-n", namespace,
                                    f"--from-literal={key}=quiet-{key}")
                self.addCleanup(self.server.kubectl, "delete", "secret", f"guide-{key}", "-n", namespace)

        def seen():
            return {event["name"]: event for event in hub.events(fact="ObjectObserved", kind="Secret")}

        hub.wait_until("both to be logged", lambda: set(seen()) >= {"guide-kubeconfig", "guide-other"})
        first = seen()
        self.server.kubectl("patch", "secret", "guide-other", "-n", "kueue-system", "-p",
                            '{"stringData": {"other": "quieter"}}')
        hub.wait_until("the rotation", lambda: seen()["guide-other"]["facts"] != first["guide-other"]["facts"])
        hub.stop()
        self.assertEqual({event["namespace"] for event in hub.events(kind="Secret")}, {"kueue-system"})
        self.assertEqual(first["guide-kubeconfig"]["facts"]["keys"], ["kubeconfig"])
        text = json.dumps(hub.events()) + hub.process.text()
        for plain in ("quiet-other", "quiet-kubeconfig", "quieter"):
            for form in (plain, base64.b64encode(plain.encode()).decode()):
                self.assertNotIn(form, text)
        hub.check_log()

    def test_the_agents_rights_are_those_of_what_its_works_hold(self):
        # On this server, which knows Kueue's kinds as a member would.
        self.server.kubectl("apply", "-k", deploy.DEPLOY / "member")
        self.addCleanup(self.server.kubectl, "delete", "clusterrole", "fairlead-work")
        self.server.kubectl("create", "clusterrolebinding", "fairlead-work", "--clusterrole=fairlead-work",
                            "--user=agent")
        self.addCleanup(self.server.kubectl, "delete", "clusterrolebinding", "fairlead-work")
        for kind in ("clusterqueues", "resourceflavors", "localqueues"):
            for verb in ("get", "create", "patch", "delete"):
                self.assertEqual(self.server.kubectl("auth", "can-i", verb, f"{kind}.kueue.x-k8s.io",
                                                     "--as=agent").strip(), "yes", f"{verb} {kind}")

    def test_quotas_do_without_the_rights_of_other_paths(self):
        hub = self.hub(kubeconfig=self.account_of(deploy.DEPLOY / "base")).start()
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        line = r'cannot be read on the hub: going on without it.*kind="?(\w+)"? namespace="?([^\s"]+)'
        refused = re.findall(line, hub.process.text())
        self.assertEqual(sorted(refused), [
            ("AddOnPlacementScore", "*"), ("CustomResourceDefinition", "*"), ("MultiKueueCluster", "*"),
            ("Placement", "kueue-system"), ("PlacementDecision", "kueue-system"), ("Secret", "kueue-system")])
        hub.stop()
        hub.check_log()

    def test_a_backup_of_a_running_hub_is_a_log_to_go_on_with(self):
        hub = self.started_with_claim(settings=(AT_ONCE, "log.snapshotEvery=20"))
        backup, restored = hub.data.parent / "backup.fairlead", hub.data.parent / "restored"
        for command in (("log", "export", backup, "--data", hub.data), ("log", "import", backup, "--data", restored),
                        ("log", "verify", "--data", restored), ("replay", "--verify", "--bundle", backup),
                        ("snapshot", "verify", "--data", restored)):
            done = fairlead(*command)
            self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}{done.stderr}")
        self.assertRegex(fairlead("snapshot", "list", "--data", restored).stdout, r"\d+ +2\d{3}-")
        hub.stop()
        remove_node(self.member, "on-demand-0")
        second = self.hub(data=restored).start()
        self.wait_for_cpu(second, "400", "500")
        self.assertTrue(re.search(r"folded=\"?\d+\"? snapshot=\"?[1-9]", second.process.text()), second.process.tail())
        second.stop()
        second.check_log()
        snapshots = fairlead("snapshot", "verify", "--data", restored)
        self.assertEqual(snapshots.returncode, 0, snapshots.stdout)


# Imported for its setting only.
del HubTest

if __name__ == "__main__":
    unittest.main()
