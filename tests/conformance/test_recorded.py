"""What the hub, a kubectl session and the tests really send, sent again to the model and to a fresh real server."""

import concurrent.futures
import copy
import pathlib
import subprocess
import tempfile
import unittest

from harness import controlplane
from harness.fleet import (CLAIMS, MANAGED_CLUSTERS, WORKS, add_node, add_nodes, claim, prepare_hub, quantity, quota,
                           remove_node, set_quota)
from harness.hub import AT_ONCE, Hub
from harness.interceptor import Interceptor
from model_server import ROOT, ModelServer
from recording import Plain, Replay, difference, worth_sending
from test_kubectl import CLAIM, QUEUE

NEEDS = ("controlplane", "fairlead")

# The model gives a Node no taints of its own.
SERVER = {"arguments": ("--disable-admission-plugins=TaintNodesByCondition",)}

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status:
  allocatable: {cpu: "4", memory: 16Gi}
  conditions: [{type: Ready, status: "True", reason: KubeletReady}]
"""


class Recorded(unittest.TestCase):
    maxDiff = 6000

    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(controlplane.ControlPlane())

    def fresh(self, name):
        """A real server with our CRDs, all that it says of them published: a client asks other things before."""
        server = self.plane.add_server(name, **SERVER)
        crds = server.install_crds([ROOT / "schema/crd"])
        server.wait_for_openapi({name.split(".", 1)[1] for name in crds})
        return server

    def recorded(self, name):
        """A fresh real server and the interceptor in front of it."""
        server = self.fresh(name)
        between = self.enterContext(Interceptor(server))
        # What the harness does goes through it too.
        seen = copy.copy(server)
        seen.port = between.port
        return server, seen, between

    def check(self, server, exchanges, at_least):
        """Both answer the whole recording in the same way, and their watches from the beginning too."""
        server.process.kill()  # two at a time are enough
        recording = worth_sending(exchanges)
        self.assertGreater(len(recording), at_least)
        fresh = self.fresh(server.name + "-again")
        model = self.enterContext(ModelServer())
        real, double = Replay(Plain(fresh)), Replay(model)
        collections = sorted({one.path for one in recording if one.watches})
        for server in (real, double):
            server.begin(collections)
        # Both are asked at the same time, since a watch lasts a second.
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            different = self.compare(recording, lambda one: pool.map(lambda replay: replay.send(one), (real, double)))
            histories = [(path, [pool.submit(replay.history, path) for replay in (real, double)])
                         for path in collections]
        notifications = 0
        for path, (expected, found) in histories:
            with self.subTest(f"every line of a watch of {path}"):
                notifications += len(expected.result()["body"])
                self.assertEqual(difference(expected.result(), found.result()), "")
        fresh.process.kill()
        print(f"{len(recording)} requests of {len(exchanges)} compared, {different} differ; {notifications} "
              f"notifications of {len(collections)} watches", flush=True)

    def compare(self, recording, send):
        """How many of the recording's requests, sent in its order, get different answers."""
        different = 0
        for number, one in enumerate(recording):
            expected, found = send(one)
            with self.subTest(f"{number}: {one}"):
                different += expected != found
                self.assertEqual(difference(expected, found), "")
        return different


class HubTest(Recorded):
    def test_a_hub_and_its_tests(self):
        server, seen, between = self.recorded("hub")
        prepare_hub(seen)
        add_nodes(seen, each=2)
        seen.create(MANAGED_CLUSTERS, {
            "apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
            "metadata": {"name": "cluster2"}, "spec": {"hubAcceptsClient": True}})
        seen.merge(f"{MANAGED_CLUSTERS}/cluster2/status", {"status": {"conditions": [
            self.condition("ManagedClusterConditionAvailable")]}}, "admin")
        seen.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "cluster2"}})
        for mode in ("manifestWork", "none"):
            hub = Hub(self.plane, seen, {"cluster2": seen}, settings=(AT_ONCE, f"members.mode={mode}"),
                      kubeconfig=between.kubeconfig())
            self.addCleanup(hub.kill)
            hub.start()
            self.live(hub, seen, mode)
            hub.stop()
        self.check(server, between.exchanges, at_least=60)

    def live(self, hub, seen, mode):
        """What a hub meets in a day: a claim, a lost node, a human, an invalid edit, an end."""
        seen.create(CLAIMS, claim())
        if mode == "manifestWork":
            self.wait_for_cpu(hub, seen, "200")
        else:
            self.wait_for_cpu(hub, seen, "200")
            remove_node(seen, "on-demand-0")
            self.wait_for_cpu(hub, seen, "100")
            add_node(seen, "on-demand-0", "on-demand")
            self.wait_for_cpu(hub, seen, "200")
            set_quota(seen, "high-priority-queue", "on-demand", "cpu", "7")
            self.wait_for_cpu(hub, seen, "200")
            edited = seen.get(f"{CLAIMS}/cluster2-resource-claim")["spec"]["resourceAssignments"]
            edited[0]["resources"]["cpu"] = "501"
            seen.merge(f"{CLAIMS}/cluster2-resource-claim", {"spec": {"resourceAssignments": edited}})
        seen.delete(f"{CLAIMS}/cluster2-resource-claim")
        hub.wait_until("the claim to be gone", lambda: self.agent_reports(seen) and seen.get(
            f"{CLAIMS}/cluster2-resource-claim") is None)

    def wait_for_cpu(self, hub, seen, value):
        hub.wait_until(f"{value} cpu", lambda: self.agent_reports(seen) and quota(
            seen, "high-priority-queue", "on-demand", "cpu") == quantity(value))

    def agent_reports(self, seen):
        """Plays the member's work agent, which applies at once what it receives."""
        for work in seen.get(WORKS)["items"]:
            generation = work["metadata"]["generation"]
            done = {condition["observedGeneration"] for condition in work.get("status", {}).get("conditions", [])}
            if done != {generation}:
                place = WORKS.replace("manifestworks", f"namespaces/cluster2/manifestworks/{work['metadata']['name']}")
                conditions = [self.condition(kind, observedGeneration=generation) for kind in ("Applied", "Available")]
                seen.merge(f"{place}/status", {"status": {"conditions": conditions}}, "admin")
        return True

    def condition(self, kind, **more):
        return {"type": kind, "status": "True", "reason": "Seen", "message": "",
                "lastTransitionTime": "2026-01-01T00:00:00Z", **more}


class KubectlTest(Recorded):
    SESSION = [
        ("apply", "-f", "-", QUEUE), ("apply", "-f", "-", QUEUE),
        ("apply", "-f", "-", QUEUE.replace("nominalQuota: 10", "nominalQuota: 11")),
        ("apply", "-f", "-", QUEUE.replace("cohortName", "cohort")),
        ("apply", "--server-side", "-f", "-", CLAIM),
        ("apply", "--server-side", "--field-manager=other", "-f", "-", CLAIM.replace('gpu: "10"', 'gpu: "9"')),
        ("apply", "--server-side", "--field-manager=other", "--force-conflicts", "-f", "-",
         CLAIM.replace('gpu: "10"', 'gpu: "9"')),
        ("apply", "--server-side", "--dry-run=server", "-f", "-", CLAIM.replace('gpu: "10"', 'gpu: "8"')),
        ("apply", "--server-side", "-f", "-", QUEUE.replace("nominalQuota: 10", "nominalQuota: 12")),
        ("create", "-f", "-", QUEUE.replace("research", "second")), ("create", "-f", "-", QUEUE),
        ("create", "--dry-run=server", "-f", "-", QUEUE.replace("research", "third")),
        ("replace", "-f", "-", QUEUE.replace("research", "second").replace("all", "others")),
        ("get", "cq"), ("get", "cq", "-o", "wide"), ("get", "cq", "research", "-o", "yaml"), ("get", "crc"),
        ("get", "cq", "-A", "-o", "json"), ("get", "cq", "nope"), ("get", "cq,crc"), ("get", "nopes"),
        ("get", "cq", "--chunk-size=1"), ("get", "cq", "-l", "team=a"), ("get", "crd"), ("get", "nodes"),
        ("get", "cq", "--field-selector=metadata.name=research"),
        ("get", "cq", "research", "--show-managed-fields", "-o", "json"),
        ("describe", "cq", "research"), ("describe", "crc"),
        ("label", "cq", "research", "team=a"), ("annotate", "cq", "research", "note=x"),
        ("patch", "cq", "research", "--type=merge", "-p", '{"spec":{"stopPolicy":"Hold"}}'),
        ("patch", "cq", "research", "--type=json", "-p", '[{"op":"replace","path":"/spec/stopPolicy","value":"None"}]'),
        ("patch", "cq", "research", "--subresource=status", "--type=merge", "-p", '{"status":{"pendingWorkloads":7}}'),
        ("patch", "cq", "research", "--type=merge", "-p", '{"spec":{"stopPolicy":"Never"}}'),
        ("create", "namespace", "team-a"), ("create", "configmap", "settings", "--from-literal=a=b"),
        ("create", "secret", "generic", "key", "--from-literal=a=b"), ("get", "secret", "key", "-o", "yaml"),
        ("get", "configmap", "settings", "-n", "default"), ("get", "cm", "-n", "team-a"),
        ("create", "-f", "-", NODE), ("cordon", "n1"), ("taint", "node", "n1", "a=b:NoSchedule"), ("uncordon", "n1"),
        ("get", "nodes", "-o", "wide"), ("get", "node", "n1", "-o", "json"), ("delete", "node", "n1"),
        ("get", "cq", "-w", "--request-timeout=2s"),
        ("wait", "--for=jsonpath={.spec.stopPolicy}=None", "cq/research", "--timeout=5s"),
        ("explain", "clusterqueue.spec.resourceGroups"), ("explain", "crc.spec", "--recursive"),
        ("api-resources",), ("api-versions",), ("version",), ("get", "--raw", "/readyz"),
        ("delete", "cq", "second", "--dry-run=server"), ("delete", "cq", "second"), ("delete", "cq", "--all"),
        ("delete", "cq", "nope"), ("delete", "cm", "settings"), ("delete", "secret", "key", "--now"),
        ("delete", "crc", "cluster2-resource-claim", "--cascade=foreground", "--wait=false"),
    ]

    def test_a_persons_session(self):
        server, _, between = self.recorded("kubectl")
        config = between.kubeconfig("admin")
        cache = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for *arguments, last in self.SESSION:
            stdin = last if "\n" in last else None
            words = arguments if stdin else [*arguments, last]
            subprocess.run([str(self.plane.assets / "kubectl"), f"--kubeconfig={config}", f"--cache-dir={cache}",
                            *words], input=stdin, capture_output=True, text=True, timeout=60)
        self.check(server, between.exchanges, at_least=70)
