"""A person's session with kubectl against the model: every command must work and say what kubectl says."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from harness import controlplane
from model_server import ModelServer

NEEDS = ("controlplane",)

QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  cohortName: all
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: on-demand
      resources: [{name: cpu, nominalQuota: 10}, {name: memory, nominalQuota: 20Gi}]
"""
CLAIM = """
apiVersion: galaxy.kubestellar.io/v1alpha1
kind: ClusterResourceClaim
metadata: {name: cluster2-resource-claim}
spec:
  clusterName: cluster2
  nominalResources: {cpu: "1000", memory: 1000Gi, gpu: "10"}
  resourceAssignments:
  - {clusterQueueName: high-priority-queue, flavor: on-demand, resources: {cpu: "500", memory: 500Gi, gpu: "5"}}
  - {clusterQueueName: low-priority-queue,  flavor: spot,      resources: {cpu: "500", memory: 500Gi, gpu: "5"}}
"""


class Kubectl(unittest.TestCase):
    def setUp(self):
        self.model = self.enterContext(ModelServer())
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.kubeconfig = self.model.kubeconfig(self.directory)

    def command(self, *arguments):
        return [str(controlplane.assets() / "kubectl"), f"--kubeconfig={self.kubeconfig}",
                f"--cache-dir={self.directory / 'cache'}", *arguments]

    def run_kubectl(self, *arguments, stdin=None, env=None):
        return subprocess.run(self.command(*arguments), input=stdin, capture_output=True, text=True, timeout=60,
                              env={**os.environ, **(env or {})})

    def says(self, expected, *arguments, **more):
        """Runs a command that must succeed without a warning and print `expected` somewhere."""
        done = self.run_kubectl(*arguments, **more)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"kubectl {' '.join(arguments)}: {done.stdout}")
        self.assertIn(expected, done.stdout)
        return done.stdout

    def test_apply_get_and_describe(self):
        self.says("clusterqueue.kueue.x-k8s.io/research created", "apply", "-f", "-", stdin=QUEUE)
        self.says("clusterqueue.kueue.x-k8s.io/research unchanged", "apply", "-f", "-", stdin=QUEUE)
        self.says("clusterqueue.kueue.x-k8s.io/research configured", "apply", "-f", "-",
                  stdin=QUEUE.replace("nominalQuota: 10", "nominalQuota: 11"))
        table = self.says("NAME       COHORT   PENDING WORKLOADS", "get", "cq")
        self.assertIn("research   all", table)
        self.says("BestEffortFIFO", "get", "clusterqueues", "-o", "wide")
        self.says("nominalQuota: 11", "get", "cq", "research", "-o", "yaml")
        self.assertEqual(json.loads(self.says("", "get", "cq", "-o", "json"))["items"][0]["spec"]["cohortName"], "all")
        self.says("clusterqueue.kueue.x-k8s.io/research", "get", "cq", "-o", "name")
        self.says("Events:                 <none>", "describe", "cq", "research")

    def test_server_side_apply_and_its_conflict(self):
        self.says("serverside-applied", "apply", "--server-side", "-f", "-", stdin=CLAIM)
        self.says("cluster2", "get", "crc")
        refused = self.run_kubectl("apply", "--server-side", "--field-manager=other", "-f", "-",
                                   stdin=CLAIM.replace("gpu: \"10\"", "gpu: \"9\""))
        self.assertEqual(refused.returncode, 1)
        self.assertIn('conflict with "kubectl": .spec.nominalResources.gpu', refused.stderr)
        self.says("serverside-applied", "apply", "--server-side", "--field-manager=other", "--force-conflicts",
                  "-f", "-", stdin=CLAIM.replace("gpu: \"10\"", "gpu: \"9\""))

    def test_a_move_from_client_side_to_server_side_apply(self):
        self.says("created", "apply", "-f", "-", stdin=QUEUE)
        self.says("serverside-applied", "apply", "--server-side", "-f", "-",
                  stdin=QUEUE.replace("nominalQuota: 10", "nominalQuota: 12"))
        self.says("nominalQuota: 12", "get", "cq", "research", "-o", "yaml")

    def test_edit_label_annotate_and_patch(self):
        self.says("created", "create", "-f", "-", stdin=QUEUE)
        self.says("labeled", "label", "cq", "research", "team=a")
        self.says("research", "get", "cq", "-l", "team=a")
        self.says("annotated", "annotate", "cq", "research", "note=x")
        self.says("edited", "edit", "cq", "research", env={"KUBE_EDITOR": "sed -i s/BestEffortFIFO/StrictFIFO/"})
        self.says("patched", "patch", "cq", "research", "--type=merge", "-p", '{"spec":{"stopPolicy":"Hold"}}')
        self.says("patched", "patch", "cq", "research", "--type=json",
                  "-p", '[{"op":"replace","path":"/spec/stopPolicy","value":"None"}]')
        self.says("patched", "patch", "cq", "research", "--subresource=status", "--type=merge",
                  "-p", '{"status":{"pendingWorkloads":7}}')
        seen = json.loads(self.says("", "get", "cq", "research", "-o", "json"))
        self.assertEqual(seen["spec"]["queueingStrategy"], "StrictFIFO")
        self.assertEqual(seen["spec"]["stopPolicy"], "None")
        self.assertEqual(seen["metadata"]["generation"], 4)
        self.assertEqual(seen["status"], {"pendingWorkloads": 7})

    def test_what_is_wrong_is_said_as_by_a_real_server(self):
        wrong = self.run_kubectl("apply", "-f", "-", stdin=QUEUE.replace("cohortName", "cohort"))
        self.assertEqual(wrong.returncode, 1)
        self.assertIn('strict decoding error: unknown field "spec.cohort"', wrong.stderr)
        self.says("created", "create", "-f", "-", stdin=QUEUE)
        again = self.run_kubectl("create", "-f", "-", stdin=QUEUE)
        self.assertIn('(AlreadyExists)', again.stderr)
        missing = self.run_kubectl("get", "cq", "nope")
        self.assertEqual(missing.stderr,
                         'Error from server (NotFound): clusterqueues.kueue.x-k8s.io "nope" not found\n')

    def test_core_kinds(self):
        self.says("namespace/team-a created", "create", "namespace", "team-a")
        self.says("configmap/settings created", "create", "configmap", "settings", "--from-literal=a=b")
        self.says("secret/key created", "create", "secret", "generic", "key", "--from-literal=a=b")
        self.assertEqual(json.loads(self.says("", "get", "secret", "key", "-o", "json"))["data"], {"a": "Yg=="})
        self.says("team-a", "get", "ns")
        self.says("namespace \"team-a\" deleted", "delete", "ns", "team-a")
        node = json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"},
                           "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
        self.says("node/n1 created", "create", "-f", "-", stdin=node)
        self.says("node/n1 cordoned", "cordon", "n1")
        self.says("node/n1 tainted", "taint", "node", "n1", "a=b:NoSchedule")
        self.says("node/n1 uncordoned", "uncordon", "n1")
        self.says("n1", "get", "nodes")

    def test_delete_waits_until_it_is_gone(self):
        self.says("created", "create", "-f", "-", stdin=QUEUE)
        self.says('clusterqueue.kueue.x-k8s.io "research" deleted', "delete", "cq", "research")
        self.says("created", "create", "-f", "-", stdin=QUEUE)
        self.says("deleted", "delete", "cq", "--all")
        done = self.run_kubectl("get", "cq")
        self.assertEqual(done.stderr, "No resources found\n")

    def test_watch_prints_changes(self):
        self.says("created", "create", "-f", "-", stdin=QUEUE)
        watching = subprocess.Popen(self.command("get", "cq", "-w", "--output-watch-events"), text=True,
                                    stdout=subprocess.PIPE)
        self.addCleanup(watching.stdout.close)
        self.addCleanup(watching.wait)
        self.addCleanup(watching.kill)
        self.assertIn("EVENT", watching.stdout.readline())
        self.assertIn("ADDED      research", watching.stdout.readline())
        self.says("deleted", "delete", "cq", "research")
        self.assertIn("DELETED    research", watching.stdout.readline())

    def test_explain_and_discovery(self):
        self.says("coveredResources\t<[]string> -required-", "explain", "clusterqueue.spec.resourceGroups")
        self.says("resourceAssignments", "explain", "crc.spec", "--recursive")
        self.says("name\t<string>", "explain", "crc.metadata")
        resources = self.says("clusterresourceclaims", "api-resources")
        self.assertIn("cq", resources)
        self.says("kueue.x-k8s.io/v1beta1", "api-versions")
        self.says("Server Version: v1.", "version")
        self.says("clusterqueues.kueue.x-k8s.io", "get", "crd")
        self.says("ok", "get", "--raw", "/readyz")
