"""The validating webhook in a hub, with the manifests of the component, on a real API server that calls its Service.

There is no kube-proxy: the Service's address is of the machine's own (127.200.0.0/24), and the hub listens on it.
"""

import base64
import json
import pathlib
import socket
import ssl
import tempfile
import time
import unittest

from harness import deploy
from harness.apiserver import Refused
from harness.controlplane import ControlPlane
from harness.fleet import (CLAIMS, CRDS, FLAVORS, NODES, QUEUES, add_node, claim, prepare_hub, quantity, quota)
from harness.hub import AT_ONCE, Hub
from harness.process import wait_for
from harness.program import fairlead, json_lines
from harness.webhook import CONFIGURATIONS

NEEDS = ("controlplane", "fairlead", "root")

RANGE = "127.200.0.0/24"
SERVICE = "/api/v1/namespaces/fairlead/services/fairlead-webhook"
SECRET = "/api/v1/namespaces/fairlead/secrets/fairlead-webhook"
HOST = "fairlead-webhook.fairlead.svc"
HIGH = "high-priority-queue"
FAIL = [{"target": {"kind": "ValidatingWebhookConfiguration", "name": "fairlead-webhook"}, "patch": json.dumps(
    [{"op": "replace", "path": f"/webhooks/{number}/failurePolicy", "value": "Fail"} for number in (0, 1)])}]
STRICT = "webhook.rules={%s}" % ", ".join(f"{rule}: deny" for rule in (
    "claimInvalid", "clusterTaken", "overCapacity", "nominalAboveCapacity", "unknownTarget", "belowUsage", "claimInUse",
    "ownedQuota", "badBase", "queueInUse", "flavorInUse", "clusterInUse"))


def changed(value, **spec):
    """A copy of a claim with other fields of its spec."""
    return {**value, "spec": {**value["spec"], **spec}}


class WebhookTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("hub", arguments=(f"--service-cluster-ip-range={RANGE}",))
        cls.member = cls.plane.add_server("cluster2")
        cls.server.install_crds(only=[name for name in CRDS if not name.startswith("clusterresourceclaims")])
        deploy.ensure_namespace(cls.server, "kueue-system")
        folder = deploy.composed(cls.plane.directory / "overlay", ["webhook"], FAIL)
        deploy.apply(cls.server, folder)
        cls.server.kubectl("wait", "--for=condition=Established", "crd/clusterresourceclaims.galaxy.kubestellar.io")
        cls.arguments = deploy.template(deploy.objects(cls.server, deploy.kustomize(folder)))["containers"][0]["args"]
        assert "--webhook-listen=:9443" in cls.arguments, cls.arguments
        cls.address = cls.server.get(SERVICE)["spec"]["clusterIP"]
        cls.kubeconfig = deploy.account_kubeconfig(cls.server)
        for pool in ("on-demand", "spot"):
            for number in range(5):
                add_node(cls.member, f"{pool}-{number}", pool, {"cpu": "200", "memory": "200Gi", "nvidia.com/gpu": "2",
                                                                "pods": "110"})

    def start_hub(self, *settings):
        [self_signed] = [word for word in self.arguments if word.startswith("--webhook-self-signed=")]
        hub = Hub(self.plane, self.server, members={"cluster2": self.member}, kubeconfig=self.kubeconfig,
                  settings=(AT_ONCE, *settings), arguments=(f"--webhook-listen={self.address}:443", self_signed))
        self.addCleanup(hub.finish)
        hub.start()
        hub.wait_until("the webhook", lambda: hub.said("the webhook listens") and self.answers())
        hub.wait_until("it to be ready", lambda: hub.http("/readyz")[0] == 200)
        hub.wait_until("who the hub is",
                       lambda: hub.said("own requests pass", "system:serviceaccount:fairlead:fairlead"))
        return hub

    def tearDown(self):
        self.doCleanups()
        # Without the webhook, which no process serves any more.
        kept = self.server.get(f"{CONFIGURATIONS}/fairlead-webhook")
        self.server.delete(f"{CONFIGURATIONS}/fairlead-webhook")

        def cleared():
            try:
                for path in (CLAIMS, QUEUES, FLAVORS):
                    self.server.clear(path)
            except Refused as refused:
                raise AssertionError(str(refused)) from None
            return True
        wait_for("the objects to be gone", cleared)
        kept["metadata"] = {"name": "fairlead-webhook", "labels": kept["metadata"]["labels"]}
        self.server.create(CONFIGURATIONS, kept)

    def answers(self):
        """Whether the API server reaches the webhook and trusts it: a claim that cannot be is refused by it."""
        status, answer = self.server.raw("POST", f"{CLAIMS}?dryRun=All", json.dumps(
            changed(claim("probe"), nominalResources={"cpu": "1"})))
        return status == 422 and "spec.resourceAssignments" in json.loads(answer)["message"]

    def kubectl(self, *arguments, value=None):
        """(exit code, stderr) of kubectl."""
        done = self.server.kubectl(*arguments, stdin=json.dumps(value) if value else None, check=False)
        return done.returncode, done.stderr

    def ready(self, *settings):
        """A hub that follows a claim: its queue has the quota."""
        prepare_hub(self.server)
        hub = self.start_hub(*settings)
        self.server.create(CLAIMS, claim())
        hub.wait_until("the quota", lambda: quota(self.server, HIGH, "on-demand", "cpu") == quantity("500"))
        return hub

    def owned_pair(self, amount, **metadata):
        queue = self.server.get(f"{QUEUES}/{HIGH}")
        queue["metadata"].pop("managedFields", None)
        queue["metadata"].setdefault("annotations", {}).update(metadata.get("annotations", {}))
        [pair] = [pair for group in queue["spec"]["resourceGroups"] for entry in group["flavors"]
                  if entry["name"] == "on-demand" for pair in entry["resources"] if pair["name"] == "cpu"]
        pair["nominalQuota"] = amount
        return queue

    # -- the tests ----------------------------------------------------------------------------------------------

    def test_a_wrong_claim_is_refused_in_the_words_of_the_schema(self):
        self.ready()
        code, said = self.kubectl("replace", "-f", "-", value=changed(claim(), nominalResources={
            "cpu": "1", "memory": "1000Gi", "gpu": "10"}))
        self.assertEqual(code, 1)
        self.assertIn('The ClusterResourceClaim "cluster2-resource-claim" is invalid: spec.resourceAssignments', said)
        taken = {**claim(), "metadata": {"name": "another"}}
        code, said = self.kubectl("create", "-f", "-", value=taken)
        self.assertEqual(code, 1)
        self.assertIn('The ClusterResourceClaim "another" is invalid: spec.clusterName', said)

    def test_what_is_only_warned_of_is_stored(self):
        self.ready()
        code, said = self.kubectl("replace", "-f", "-", value=self.owned_pair("7"))
        self.assertEqual(code, 0, said)
        self.assertIn("Warning:", said)
        self.assertIn("cluster2-resource-claim", said)
        self.assertIn("fairlead.io/base-quota", said)
        wait_for("the hub to set it back", lambda: quota(self.server, HIGH, "on-demand", "cpu") == quantity("500"))
        code, said = self.kubectl("replace", "-f", "-", value=self.owned_pair("500000m"))
        self.assertEqual((code, said), (0, ""))  # another spelling is no change

    def test_the_hub_writes_whatever_the_rules_are_and_others_do_not(self):
        hub = self.ready(STRICT)
        code, said = self.kubectl("replace", "-f", "-", value=self.owned_pair("7"))
        self.assertEqual(code, 1)
        self.assertIn("denied the request", said)
        self.assertIn("Forbidden", said)
        # The hub follows a smaller claim all the same: its writes are not asked about.
        rows = claim()["spec"]["resourceAssignments"]
        rows[0]["resources"]["cpu"] = "400"
        self.server.merge(f"{CLAIMS}/cluster2-resource-claim", {"spec": {
            "nominalResources": {"cpu": "900"}, "resourceAssignments": rows}})
        hub.wait_until("the smaller quota", lambda: quota(self.server, HIGH, "on-demand", "cpu") == quantity("400"))

        # Break-glass: with a reason it passes, is recorded, and the hub sets the value back.
        overridden = self.owned_pair("7", annotations={"fairlead.io/override": "rack 7 is being moved"})
        code, said = self.kubectl("replace", "-f", "-", value=overridden)
        self.assertEqual(code, 0, said)
        self.assertIn("Warning:", said)
        hub.wait_until("the quota set back", lambda: quota(self.server, HIGH, "on-demand", "cpu") == quantity("400"))

        def decisions():
            done = fairlead("audit", "admissions", "--data", hub.data, "-o", "json")
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        wait_for("both decisions in the log",
                 lambda: "rack 7 is being moved" in decisions() and "denied" in decisions())
        self.assertIn("ownedQuota", decisions())
        # A dry run leaves no record.
        before = len(hub.events(fact="AdmissionDecided"))
        self.server.merge(f"{QUEUES}/{HIGH}", {"metadata": {"annotations": {"fairlead.io/override": None}}},
                          user="admin")
        self.assertEqual(self.kubectl("replace", "--dry-run=server", "-f", "-", value=self.owned_pair("8"))[0], 1)
        self.server.create(FLAVORS, {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
                                     "metadata": {"name": "later"}, "spec": {}})
        hub.wait_until("what came later", lambda: hub.events(fact="ObjectObserved", name="later"))
        self.assertEqual(len(hub.events(fact="AdmissionDecided")), before)
        metrics = hub.http("/metrics")[1]
        self.assertIn('fairlead_webhook_requests_total{rule="ownedQuota",decision="denied"}', metrics)
        self.assertIn("fairlead_webhook_certificate_expire_time_seconds", metrics)

    def test_offline_and_online_find_the_same(self):
        hub = self.ready("webhook.rules={clusterTaken: warn}")
        good = claim()
        rows = json.loads(json.dumps(good["spec"]["resourceAssignments"]))
        rows[0]["resources"]["cpu"] = "5000"
        far = {**good["spec"]["nominalResources"], "cpu": "9000"}
        unknown = json.loads(json.dumps(good["spec"]["resourceAssignments"]))
        unknown[0].update(clusterQueueName="nowhere", flavor="none")
        cases = {
            "over capacity": changed(good, nominalResources=far, resourceAssignments=rows),
            "unknown targets": changed(good, resourceAssignments=unknown),
            "invalid": changed(good, nominalResources={"cpu": "1", "memory": "1000Gi", "gpu": "10"}),
            "taken": {**good, "metadata": {"name": "another"}},
            "an owned pair": self.owned_pair("7"),
            "a bad base": self.owned_pair("500", annotations={"fairlead.io/quota-percent": "much"}),
        }
        for name, value in cases.items():
            with self.subTest(name):
                verb = "create" if value["metadata"]["name"] == "another" else "replace"
                online = self.kubectl(verb, "--dry-run=server", "-f", "-", value=value)[1]
                with tempfile.TemporaryDirectory() as folder:
                    path = pathlib.Path(folder) / "proposed.json"
                    path.write_text(json.dumps(value))
                    done = fairlead("plan", "--data", hub.data, "--admit", path)
                findings = json_lines(done.stdout)
                self.assertTrue(findings, done.stderr)
                for finding in findings:
                    self.assertIn(finding["message"][:120], online)

    def test_a_hub_that_is_down_stops_others_and_itself_never(self):
        hub = self.ready()
        hub.kill()
        code, said = self.kubectl("replace", "-f", "-", value=self.owned_pair("7"))
        self.assertEqual(code, 1)
        self.assertIn("failed calling webhook", said)
        # A hub needs no answer of its own webhook to write: this one serves none.
        alone = Hub(self.plane, self.server, members={"cluster2": self.member}, kubeconfig=self.kubeconfig,
                    data=hub.data)
        self.addCleanup(alone.finish)
        alone.start()
        for number in range(3):
            node = f"{NODES}/on-demand-{number}"
            self.member.merge(node, {"spec": {"unschedulable": True}}, user="admin")
            self.addCleanup(self.member.merge, node, {"spec": {"unschedulable": None}}, user="admin")
        alone.wait_until("the quota of two nodes",
                         lambda: quota(self.server, HIGH, "on-demand", "cpu") == quantity("400"))
        self.assertIn("failed calling webhook", self.kubectl("replace", "-f", "-", value=self.owned_pair("7"))[1])
        alone.stop()
        hub.start()
        hub.wait_until("the webhook again", self.answers)

    def test_the_certificate_is_kept_and_made_anew(self):
        hub = self.ready()
        first = self.server.get(SECRET)["data"]
        context = ssl.create_default_context(cadata=base64.b64decode(first["ca.crt"]).decode())
        with socket.create_connection((self.address, 443)) as plain, \
                context.wrap_socket(plain, server_hostname=HOST) as tls:
            self.assertEqual(tls.version(), "TLSv1.3")
        for webhook in self.server.get(f"{CONFIGURATIONS}/fairlead-webhook")["webhooks"]:
            self.assertEqual(webhook["clientConfig"]["caBundle"], first["ca.crt"])
        # A restart takes up what is there.
        hub.stop()
        hub.start()
        hub.wait_until("the webhook again", self.answers)
        self.assertEqual(self.server.get(SECRET)["data"], first)
        # Applied again, the manifests leave it alone.
        deploy.apply(self.server, self.plane.directory / "overlay")
        self.assertEqual(self.server.get(SECRET)["data"], first)
        self.assertTrue(self.answers())
        # A Secret that was emptied: another authority, and no request fails but while it is exchanged.
        hub.stop()
        self.server.request("PATCH", SECRET, {"data": None}, "application/merge-patch+json")
        hub.start()
        hub.wait_until("the webhook again", self.answers)
        self.assertNotEqual(self.server.get(SECRET)["data"]["ca.crt"], first["ca.crt"])
        self.assertTrue(hub.said("serving certificate taken up", HOST))

    def test_a_claim_flood_is_judged(self):
        hub = self.ready()
        before = time.monotonic()
        for number in range(200):
            status, answer = self.server.raw("POST", f"{CLAIMS}?dryRun=All", json.dumps(claim(f"flood-{number}")))
            self.assertEqual(status, 201, answer)
        print(f"200 claims judged in {time.monotonic() - before:.1f} s", flush=True)
        page = hub.http("/metrics")[1]
        [count] = [line.split()[1] for line in page.splitlines() if line.startswith("fairlead_webhook_seconds_count ")]
        self.assertGreaterEqual(int(count), 200)


if __name__ == "__main__":
    unittest.main()
