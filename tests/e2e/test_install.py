"""deploy/ on a real API server: applied twice, admitted, run as its Pod is run, and taken away again.

There is no kubelet: the StatefulSet's own controller makes the Pod and its volume claim, and the test runs what the Pod
says: arguments, user, no capabilities, a read-only root, the account mounted where a Pod has it.
"""

import json
import shutil
import unittest

from harness import deploy, pod
from harness.apiserver import Refused
from harness.controlplane import ControlPlane
from harness.fleet import CLAIMS, CRDS, QUEUE_CRDS, add_node
from harness.process import wait_for
from harness.program import fairlead

NEEDS = ("controlplane", "fairlead", "root")

PODS = "/api/v1/namespaces/fairlead/pods"
VOLUME_CLAIM = "/api/v1/namespaces/fairlead/persistentvolumeclaims/data-fairlead-0"
CLAIM = f"{CLAIMS}/cluster2-resource-claim"
OWN_CRD = "clusterresourceclaims.galaxy.kubestellar.io"


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("hub")
        cls.member = cls.plane.add_server("cluster2")
        cls.server.install_crds(only=[name for name in CRDS if name != OWN_CRD])
        cls.member.install_crds(only=QUEUE_CRDS)
        for name in ("kueue-system", "cluster2"):
            deploy.ensure_namespace(cls.server, name)
        cls.plane.add_controller_manager(
            cls.server, "statefulset,garbagecollector,namespace,persistentvolumeclaim-protection-controller")

    def versions(self, folder):
        """resourceVersions of the overlay's objects, by kind and name."""
        shown = json.loads(self.server.kubectl("get", "-k", folder, "-o", "json"))
        return {(item["kind"], item["metadata"]["name"]): item["metadata"]["resourceVersion"]
                for item in shown["items"]}

    def applied(self, folder):
        """Applies an overlay, twice; its objects. The second time changes nothing."""
        deploy.apply(self.server, folder)
        if OWN_CRD in deploy.kustomize(folder):
            self.server.kubectl("wait", "--for=condition=Established", f"crd/{OWN_CRD}")
        # The StatefulSet's status is its controller's: it is written once more when the Pod is there.
        wait_for("the Pod", lambda: self.server.get(f"{PODS}/fairlead-0"))
        wait_for("the StatefulSet to be observed", lambda: self.server.get(
            "/apis/apps/v1/namespaces/fairlead/statefulsets/fairlead")["status"].get("replicas") == 1)
        before = self.versions(folder)
        self.assertGreater(len(before), 7)
        deploy.apply(self.server, folder)
        self.assertEqual(self.versions(folder), before)
        return deploy.objects(self.server, deploy.kustomize(folder))

    def removed(self, folder):
        """What docs/install.md says of taking it away."""
        self.server.kubectl("delete", "-k", folder, "-l", "fairlead.io/keep!=true")
        wait_for("the StatefulSet's Pod to go", lambda: self.server.get(f"{PODS}/fairlead-0") is None)

    def install_operator_crds(self, name):
        folder = deploy.operator_crds(name)
        if folder is None:
            self.skipTest(f"no CRDs of {name or 'the Prometheus operator'} (scripts/controlplane fetches them)")
        self.server.install_crds([folder])

    # -- the tests ----------------------------------------------------------------------------------------------

    def test_each_overlay_is_applied_twice_and_removed(self):
        for name in sorted(path.name for path in (deploy.DEPLOY / "overlays").iterdir()):
            folder = deploy.DEPLOY / "overlays" / name
            with self.subTest(overlay=name):
                if "monitoring.coreos.com" in deploy.kustomize(folder):
                    self.install_operator_crds("")
                self.applied(folder)
                self.removed(folder)

    def left_of(self, *folders):
        """Kinds and names of what scripts/uninstall would take away besides `folders`."""
        arguments = [word for folder in folders for word in ("--except", folder)]
        return deploy.uninstall(self.server, *arguments, "--dry-run").splitlines()

    def test_the_way_to_a_smaller_overlay_and_back_leaves_nothing_behind(self):
        hub, strict, record = (deploy.DEPLOY / "overlays" / name for name in ("hub", "strict", "recommend-only"))
        # While the webhook of `strict` is there nothing is edited: its Service leads nowhere here.
        self.applied(hub)
        self.server.clear(CLAIMS)
        self.server.create(CLAIMS, pod.wanted_claim())
        self.addCleanup(self.server.clear, CLAIMS)
        queue = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
        self.server.create(queue, {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
                                   "metadata": {"name": "legacy"}, "spec": {"stopPolicy": "Hold"}})
        self.addCleanup(self.server.clear, queue)
        for larger in (strict, hub):
            with self.subTest(larger=larger.name):
                deploy.apply(self.server, larger)
                deploy.apply(self.server, record)
                self.assertIn("ClusterRole fairlead-write", self.left_of(record))
                deploy.uninstall(self.server, "--except", record)
                self.assertEqual(self.left_of(record), [])
                # Nothing is asked that nobody answers.
                self.server.merge(f"{queue}/legacy", {"spec": {"stopPolicy": "None"}})
                self.server.merge(f"{queue}/legacy", {"spec": {"stopPolicy": "Hold"}})
        self.applied(strict)
        deploy.uninstall(self.server)
        self.assertEqual(self.left_of(), [])
        for path in (VOLUME_CLAIM, CLAIM, "/api/v1/namespaces/fairlead"):
            self.assertIsNotNone(self.server.get(path))
        self.server.merge(f"{queue}/legacy", {"spec": {"stopPolicy": "None"}})

    def test_the_certificate_of_cert_manager_is_applied_twice_and_removed(self):
        self.install_operator_crds("cert-manager")
        folder = deploy.composed(self.plane.directory / "cert-manager", ["webhook-cert-manager"])
        found = self.applied(folder)
        [issued] = [item["spec"] for item in found if item["kind"] == "Certificate" and "isCA" not in item["spec"]]
        # What is mounted is what is issued, for the name that the API server calls.
        [mounted] = [volume["secret"]["secretName"] for volume in deploy.template(found)["volumes"]
                     if volume["name"] == "webhook"]
        self.assertEqual(issued["secretName"], mounted)
        [hooks] = [item for item in found if item["kind"] == "ValidatingWebhookConfiguration"]
        service = hooks["webhooks"][0]["clientConfig"]["service"]
        self.assertEqual(issued["dnsNames"], [f"{service['name']}.{service['namespace']}.svc"])
        self.assertEqual(hooks["metadata"]["annotations"],
                         {"cert-manager.io/inject-ca-from": "fairlead/fairlead-webhook"})
        # The hub itself may read no Secret.
        self.assertEqual([item["metadata"]["name"] for item in found if item["kind"] == "Role"
                          and any("secrets" in rule["resources"] for rule in item["rules"])
                          and item["metadata"]["namespace"] == "fairlead"], [])
        self.removed(folder)

    def test_the_network_policies_let_in_what_is_served_and_out_what_is_asked(self):
        folder = deploy.composed(self.plane.directory / "network", ["profile-access", "secure-listener", "webhook"])
        found = deploy.objects(self.server, deploy.kustomize(folder))
        [container] = deploy.template(found)["containers"]
        policies = [item["spec"] for item in found if item["kind"] == "NetworkPolicy"]
        labels = {"app.kubernetes.io/name": "fairlead"}
        self.assertEqual([policy["podSelector"]["matchLabels"] for policy in policies], [labels] * len(policies))
        self.assertEqual({kind for policy in policies for kind in policy["policyTypes"]}, {"Ingress", "Egress"})
        allowed = {}  # port: who may come in
        for policy in policies:
            for rule in policy.get("ingress", []):
                for port in rule["ports"]:
                    allowed[port["port"]] = rule.get("from")
        scrape = [{"namespaceSelector": {"matchLabels": {"fairlead.io/scrape": "true"}}}]
        # The API server has no label: every address may reach the webhook.
        self.assertEqual(allowed, {8080: scrape, 8443: scrape, 9443: None})
        self.assertEqual({port["containerPort"] for port in container["ports"]}, set(allowed))
        asked = {(port["protocol"], port["port"]): rule.get("to") for policy in policies
                 for rule in policy.get("egress", []) for port in rule["ports"]}
        cluster_proxy = [{"namespaceSelector": {"matchLabels": {
            "kubernetes.io/metadata.name": "open-cluster-management-addon"}}}]
        self.assertEqual(asked, {("TCP", 443): None, ("TCP", 6443): None, ("UDP", 53): None, ("TCP", 53): None,
                                 ("TCP", 9092): cluster_proxy})

    def test_the_overlay_of_the_guide_is_one(self):
        page = (deploy.DEPLOY.parent / "docs/install.md").read_text()
        overlay, configuration = (block.removeprefix("yaml\n") for block in page.split("```")[1:4:2])
        folder = deploy.composed(self.plane.directory / "guide", [])
        away = json.loads((folder / "kustomization.yaml").read_text())["resources"][0].removesuffix("/overlays/hub")
        (folder / "kustomization.yaml").write_text(overlay.replace("../deploy", away).replace("REGISTRY", "a.test"))
        (folder / "config.yaml").write_text(configuration)
        found = deploy.objects(self.server, deploy.kustomize(folder))
        self.assertEqual(deploy.template(found)["containers"][0]["image"], "a.test/fairlead:0.1.0")
        self.assertIn("--record", deploy.template(found)["containers"][0]["args"])
        [config] = [item["data"] for item in found if item["kind"] == "ConfigMap"]
        self.assertEqual(config, {"config.yaml": configuration})

    def test_a_careless_pod_is_refused_in_the_namespace(self):
        folder = deploy.composed(self.plane.directory / "careful", ["profile-access"])
        found = self.applied(folder)
        self.addCleanup(self.removed, folder)
        spec = deploy.template(found)
        spec["volumes"].append({"name": "data", "emptyDir": {}})
        trial = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "trial"}, "spec": spec}
        self.server.create(f"{PODS}?dryRun=All", trial)
        for path, value in ((("securityContext", "runAsNonRoot"), False),
                            (("containers", 0, "securityContext", "allowPrivilegeEscalation"), True),
                            (("containers", 0, "securityContext", "capabilities"), {}),
                            (("initContainers", 0, "securityContext"), {})):
            careless = json.loads(json.dumps(trial))
            place = careless["spec"]
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value
            with self.subTest(path=path), self.assertRaises(Refused) as refused:
                self.server.create(f"{PODS}?dryRun=All", careless)
            self.assertIn("restricted", str(refused.exception))

    def test_the_pod_follows_a_quota_and_comes_back_on_its_volume(self):
        folder = pod.overlay(self.plane.directory / "overlay")
        found = self.applied(folder)
        agent = pod.prepare_world(self.server, self.member)
        self.pod = pod.Pod(self.plane, self.server, found)
        run = self.pod.start_in_namespace()
        self.server.create(CLAIMS, pod.wanted_claim())
        pod.wait_for_cpu(self.server, agent, run, "400")
        self.assertEqual((self.pod.volume / "data").stat().st_uid, int(pod.USER))
        # One instant of the volume while the hub runs, as deploy/backup/snapshot.yaml takes it.
        run.pause()
        shutil.copytree(self.pod.volume, self.pod.folder / "instant")
        run.resume()
        self.assertEqual(run.stop(), 0)
        for command in (("log", "verify"), ("replay", "--verify")):
            done = fairlead(*command, "--data", self.pod.folder / "instant/data")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

        run = self.pod.start_in_namespace()
        self.assertIn("epoch=2", run.text())
        add_node(self.member, "late", "on-demand")
        pod.wait_for_cpu(self.server, agent, run, "500")
        self.assertEqual(run.stop(), 0)
        done = fairlead("log", "verify", "--data", self.pod.volume / "data")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.rehearse()

        self.removed(folder)
        self.assertIsNotNone(self.server.get(VOLUME_CLAIM))
        self.assertIsNotNone(self.server.get(CLAIM))
        self.assertIsNone(self.server.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/fairlead-read"))

    def test_the_rehearsal_of_an_upgrade_is_admitted(self):
        folder = deploy.DEPLOY / "overlays/hub"
        self.applied(folder)
        self.addCleanup(self.removed, folder)
        text = (deploy.DEPLOY / "backup/rehearse.yaml").read_text()
        shown = self.server.kubectl("apply", "--server-side", "--dry-run=server", "-f", "-",
                                    stdin=text.replace("SNAPSHOT", "fairlead-data-1"))
        self.assertEqual(shown.count("serverside-applied (server dry run)"), 2, shown)
        [job] = [item for item in deploy.objects(self.server, text) if item["kind"] == "Job"]
        self.server.create(f"{PODS}?dryRun=All", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "rehearsal"},
                                                  "spec": job["spec"]["template"]["spec"]})

    def test_the_nightly_export_is_applied_twice_and_its_pod_admitted(self):
        folder = deploy.DEPLOY / "overlays/hub"
        self.applied(folder)
        self.addCleanup(self.removed, folder)
        text = (deploy.DEPLOY / "backup/export.yaml").read_text()
        self.addCleanup(self.server.kubectl, "delete", "--wait=false", "-f", "-", stdin=text)
        for _ in range(2):
            self.server.kubectl("apply", "--server-side", "-f", "-", stdin=text)
        [job] = [item for item in deploy.objects(self.server, text) if item["kind"] == "CronJob"]
        self.server.create(f"{PODS}?dryRun=All", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "backup"},
                                                  "spec": job["spec"]["jobTemplate"]["spec"]["template"]["spec"]})

    def test_a_snapshot_is_taken_and_restored(self):
        self.install_operator_crds("snapshots")
        folder = deploy.DEPLOY / "overlays/hub"
        self.applied(folder)
        self.addCleanup(self.removed, folder)
        backup = deploy.DEPLOY / "backup"
        for _ in range(2):
            self.server.kubectl("create", "-f", backup / "snapshot.yaml")
        snapshots = self.server.get("/apis/snapshot.storage.k8s.io/v1/namespaces/fairlead/volumesnapshots")["items"]
        self.assertEqual([item["spec"]["source"]["persistentVolumeClaimName"] for item in snapshots],
                         ["data-fairlead-0"] * 2)
        name = snapshots[0]["metadata"]["name"]

        # As restore.yaml says.
        self.server.kubectl("-n", "fairlead", "scale", "statefulset/fairlead", "--replicas=0")
        wait_for("the Pod to go", lambda: self.server.get(f"{PODS}/fairlead-0") is None)
        self.server.kubectl("-n", "fairlead", "delete", "pvc/data-fairlead-0")
        self.assertIsNone(self.server.get(VOLUME_CLAIM))
        text = (backup / "restore.yaml").read_text().replace("SNAPSHOT", name)
        self.server.kubectl("apply", "--server-side", "-f", "-", stdin=text)
        volume = self.server.get(VOLUME_CLAIM)
        self.assertEqual(volume["spec"]["dataSourceRef"], {
            "apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot", "name": name})
        self.server.kubectl("apply", "--server-side", "-f", "-", stdin=text)
        self.assertEqual(self.server.get(VOLUME_CLAIM)["spec"], volume["spec"])
        self.server.kubectl("-n", "fairlead", "scale", "statefulset/fairlead", "--replicas=1")
        wait_for("the Pod", lambda: self.server.get(f"{PODS}/fairlead-0"))
        spec = self.server.get(f"{PODS}/fairlead-0")["spec"]
        self.assertIn("data-fairlead-0", [volume.get("persistentVolumeClaim", {}).get("claimName")
                                          for volume in spec["volumes"]])
        # It took the claim that was there, and made none in its place.
        self.assertEqual(self.server.get(VOLUME_CLAIM)["metadata"]["uid"], volume["metadata"]["uid"])

    def rehearse(self):
        """The Job of deploy/backup on a copy of the volume of a hub that has stopped."""
        copy = self.pod.folder / "copy"
        shutil.copytree(self.pod.volume, copy)
        [job] = [item for item in deploy.objects(self.server, (deploy.DEPLOY / "backup/rehearse.yaml").read_text())
                 if item["kind"] == "Job"]
        words = [word.replace("/var/lib/fairlead", str(copy))
                 for word in job["spec"]["template"]["spec"]["containers"][0]["args"]]
        done = fairlead(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("would have written the same", done.stdout)


if __name__ == "__main__":
    unittest.main()
