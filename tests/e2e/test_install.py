"""deploy/ on a real API server: applied twice, admitted, run as its Pod is run, and taken away again.

There is no kubelet: the StatefulSet's own controller makes the Pod and its volume claim, and the test runs what the Pod
says: arguments, user, no capabilities, a read-only root, the account mounted where a Pod has it.
"""

import base64
import http.client
import json
import pathlib
import shutil
import unittest

from harness import deploy
from harness.apiserver import Refused
from harness.controlplane import ControlPlane
from harness.fleet import CLAIMS, CRDS, QUEUE_CRDS, add_node, claim, join_cluster, prepare_hub, quantity, quota
from harness.process import free_port, wait_for
from harness.program import binary, fairlead
from harness.work_agent import WorkAgent

NEEDS = ("controlplane", "fairlead", "root")

PODS = "/api/v1/namespaces/fairlead/pods"
VOLUME_CLAIM = "/api/v1/namespaces/fairlead/persistentvolumeclaims/data-fairlead-0"
CLAIM = f"{CLAIMS}/cluster2-resource-claim"
OWN_CRD = "clusterresourceclaims.galaxy.kubestellar.io"
USER = "65532"
CONFIGURATION = json.dumps({
    "apiVersion": "fairlead.io/v1alpha1", "kind": "Configuration", "claims": {"create": False},
    "capacity": {"headroom": {"percent": {}, "reserved": {}}},
    "members": {"kubeconfigs": [{"cluster": "cluster2", "secretRef": "fairlead/cluster2-kubeconfig"}]},
    "debounce": {"ingestCoalesce": "0s", "shrinkWindow": "0s", "growWindow": "0s", "firstQuiet": "0s",
                 "minGrowInterval": "0s", "writeInterval": "0s", "massShrinkPercent": 0}}) + "\n"

# In a mount namespace of its own: what a kubelet mounts, and nothing else that can be written.
AS_A_POD = r"""
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount /run/image
cp "$POD/account/"* /run/secrets/kubernetes.io/serviceaccount/
cp "$PROGRAM" /run/image/fairlead
mount -t tmpfs tmpfs /var/lib
mkdir /var/lib/fairlead
mount --bind "$POD/volume" /var/lib/fairlead
mount -t tmpfs tmpfs /etc
mkdir /etc/fairlead
cp "$POD/config/"* /etc/fairlead/
for place in /etc /run /var/lib / /tmp; do mount -o remount,bind,ro "$place" 2>/dev/null || [ "$place" = /tmp ]; done
exec setpriv --reuid "$RUN_AS" --regid "$RUN_AS" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
  --pdeathsig KILL env -i PATH=/usr/bin:/bin KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT="$PORT" \
  /run/image/fairlead "$@"
"""


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
        cls.plane.add_controller_manager(cls.server, "statefulset,garbagecollector,namespace")

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

    # -- the tests ----------------------------------------------------------------------------------------------

    def test_each_overlay_is_applied_twice_and_removed(self):
        for name in sorted(path.name for path in (deploy.DEPLOY / "overlays").iterdir()):
            folder = deploy.DEPLOY / "overlays" / name
            with self.subTest(overlay=name):
                if "monitoring.coreos.com" in deploy.kustomize(folder):
                    if deploy.operator_crds() is None:
                        self.skipTest("no CRDs of the Prometheus operator (scripts/controlplane fetches them)")
                    self.server.install_crds([deploy.operator_crds()])
                self.applied(folder)
                self.removed(folder)

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
        found = self.applied(deploy.DEPLOY / "overlays/hub")
        self.addCleanup(self.removed, deploy.DEPLOY / "overlays/hub")
        spec = deploy.template(found)
        spec["volumes"].append({"name": "data", "emptyDir": {}})
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "trial"}, "spec": spec}
        self.server.create(f"{PODS}?dryRun=All", pod)
        for path, value in ((("securityContext", "runAsNonRoot"), False),
                            (("containers", 0, "securityContext", "allowPrivilegeEscalation"), True),
                            (("containers", 0, "securityContext", "capabilities"), {})):
            careless = json.loads(json.dumps(pod))
            place = careless["spec"]
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = value
            with self.subTest(path=path), self.assertRaises(Refused) as refused:
                self.server.create(f"{PODS}?dryRun=All", careless)
            self.assertIn("restricted", str(refused.exception))

    def test_the_pod_follows_a_quota_and_comes_back_on_its_volume(self):
        folder = self.prepare_overlay()
        found = self.applied(folder)
        self.prepare_world()
        self.prepare_pod(found)
        run = self.start_pod(found)
        wanted = claim()
        wanted["spec"]["resourceAssignments"] = [
            {"clusterQueueName": "high-priority-queue", "flavor": "on-demand", "resources": {"cpu": "500"}}]
        self.server.create(CLAIMS, wanted)
        self.wait_for_cpu(run, "400")
        self.assertEqual((self.volume / "data").stat().st_uid, int(USER))
        self.assertEqual(run.stop(), 0)

        run = self.start_pod(found)
        self.assertIn("epoch=2", run.text())
        add_node(self.member, "late", "on-demand")
        self.wait_for_cpu(run, "500")
        self.assertEqual(run.stop(), 0)
        done = fairlead("log", "verify", "--data", self.volume / "data")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.rehearse()

        self.removed(folder)
        self.assertIsNotNone(self.server.get(VOLUME_CLAIM))
        self.assertIsNotNone(self.server.get(CLAIM))
        self.assertIsNone(self.server.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/fairlead-read"))

    def test_what_backup_and_rehearsal_apply_is_accepted(self):
        folder = deploy.DEPLOY / "overlays/hub"
        self.applied(folder)
        self.addCleanup(self.removed, folder)
        for name in ("rehearse", "restore", "export"):
            text = (deploy.DEPLOY / f"backup/{name}.yaml").read_text().replace("SNAPSHOT", "fairlead-data-1")
            if name == "restore":
                text = text.replace("data-fairlead-0", "data-restored")  # the claim itself is there
            shown = self.server.kubectl("create", "--dry-run=server", "-f", "-", stdin=text)
            self.assertIn("created (server dry run)", shown)
        [job] = [item for item in deploy.objects(self.server, (deploy.DEPLOY / "backup/rehearse.yaml").read_text())
                 if item["kind"] == "Job"]
        self.server.create(f"{PODS}?dryRun=All", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "rehearsal"},
                                                  "spec": job["spec"]["template"]["spec"]})
        text = (deploy.DEPLOY / "backup/export.yaml").read_text()
        self.addCleanup(self.server.kubectl, "delete", "--wait=false", "-f", "-", stdin=text)
        for _ in range(2):
            self.server.kubectl("apply", "--server-side", "-f", "-", stdin=text)
        [job] = [item for item in deploy.objects(self.server, text) if item["kind"] == "CronJob"]
        self.server.create(f"{PODS}?dryRun=All", {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "backup"},
                                                  "spec": job["spec"]["jobTemplate"]["spec"]["template"]["spec"]})

    # -- what a kubelet would do ----------------------------------------------------------------------------------

    def prepare_overlay(self):
        folder = deploy.composed(self.plane.directory / "overlay", ["members"], [
            {"target": {"kind": "Role", "name": "fairlead-members"}, "patch": json.dumps(
                [{"op": "replace", "path": "/rules/0/resourceNames", "value": ["cluster2-kubeconfig"]}])}])
        (folder / "config.yaml").write_text(CONFIGURATION)
        overlay = json.loads((folder / "kustomization.yaml").read_text())
        overlay["configMapGenerator"] = [{"name": "fairlead", "namespace": "fairlead", "behavior": "replace",
                                          "files": ["config.yaml"]}]
        (folder / "kustomization.yaml").write_text(json.dumps(overlay))
        return folder

    def prepare_world(self):
        secret = base64.b64encode(self.member.kubeconfig("fairlead", inline=True).read_bytes()).decode()
        self.server.create("/api/v1/namespaces/fairlead/secrets", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cluster2-kubeconfig"},
            "data": {"kubeconfig": secret}})
        prepare_hub(self.server)
        for number in range(4):
            add_node(self.member, f"on-demand-{number}", "on-demand")
        join_cluster(self.server, "cluster2")
        self.agent = WorkAgent(self.server, self.member, "cluster2")

    def prepare_pod(self, found):
        """The files of the Pod's mounts, as the API server has them."""
        self.pod = self.plane.directory / "pod"
        account, config, self.volume = (self.pod / name for name in ("account", "config", "volume"))
        for folder in (account, config, self.volume):
            folder.mkdir(parents=True)
        (account / "token").write_text(deploy.token(self.server))
        (account / "namespace").write_text("fairlead")
        shutil.copy(self.plane.authority.certificate, account / "ca.crt")
        [mounted] = [volume["configMap"]["name"] for volume in deploy.template(found)["volumes"]
                     if volume["name"] == "config"]
        content = self.server.get(f"/api/v1/namespaces/fairlead/configmaps/{mounted}")["data"]
        for name, text in content.items():
            (config / name).write_text(text)
        # As a volume with an fsGroup.
        shutil.chown(self.volume, "root", int(USER))
        self.volume.chmod(0o2770)
        for path in self.pod.rglob("*"):
            if path.is_file():
                path.chmod(0o644)

    def rehearse(self):
        """The Job of deploy/backup on a copy of the volume of a hub that has stopped."""
        copy = self.pod / "copy"
        shutil.copytree(self.volume, copy)
        [job] = [item for item in deploy.objects(self.server, (deploy.DEPLOY / "backup/rehearse.yaml").read_text())
                 if item["kind"] == "Job"]
        words = [word.replace("/var/lib/fairlead", str(copy))
                 for word in job["spec"]["template"]["spec"]["containers"][0]["args"]]
        done = fairlead(*words)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("would have written the same", done.stdout)

    def start_pod(self, found):
        spec = deploy.template(found)
        [container] = spec["containers"]
        self.assertEqual(str(spec["securityContext"]["runAsUser"]), USER)
        self.assertEqual({mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]},
                         {"data": "/var/lib/fairlead", "config": "/etc/fairlead"})
        self.assertIn("--listen=:8080", container["args"])
        self.port = free_port()
        words = [f"--listen=127.0.0.1:{self.port}" if word == "--listen=:8080" else word for word in container["args"]]
        run = self.plane.process(
            "pod", ["unshare", "-m", "--propagation", "private", "sh", "-c", AS_A_POD, "sh", *words],
            {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "POD": str(self.pod), "RUN_AS": USER,
             "PROGRAM": str(pathlib.Path(binary()).resolve()), "PORT": str(self.server.port)})
        run.start()
        self.probed = container
        wait_for("the Pod to be ready", lambda: self.answers(run, "readinessProbe"), timeout=30)
        self.assertTrue(self.answers(run, "livenessProbe"))
        return run

    def answers(self, run, probe):
        """Whether the container's probe passes."""
        assert run.running(), run.tail()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", self.probed[probe]["httpGet"]["path"])
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def wait_for_cpu(self, run, value):
        def equal():
            assert run.running(), run.tail()
            self.agent.act()
            seen = quota(self.server, "high-priority-queue", "on-demand", "cpu")
            assert seen == quantity(value), f"{seen}\n{run.tail()}"
            return True
        wait_for(f"cpu quota {value}", equal, timeout=30)


if __name__ == "__main__":
    unittest.main()
