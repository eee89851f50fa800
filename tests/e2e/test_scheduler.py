"""The real scheduler on a hollow cluster: what suites about devices stand on must be there and allocate."""

import sys
import unittest

from harness import hollow
from harness.controlplane import ROOT, ControlPlane
from harness.hollow import HollowCluster, request

sys.path.append(str(ROOT / "tests/model"))
import devices  # noqa: E402

NEEDS = ("controlplane", "scheduler")

BROKEN = {"key": "example.com/broken", "effect": "NoExecute"}
RESOURCE = "example.com/gpu"


def on(node):
    return {"nodeSelector": {"kubernetes.io/hostname": node}}


class Scheduler(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("w1", arguments=hollow.ARGUMENTS)
        cls.cluster = HollowCluster(cls.server)

    def setUp(self):
        self.addCleanup(self.cluster.clear)
        self.cluster.device_class("gpu", extended=RESOURCE)
        self.cluster.nodes("a", "b")

    def model(self, template, node):
        """The devices that the model gives a Pod of the template on a node, in the cluster as it is."""
        items = {kind: self.server.get(path)["items"] for kind, path in
                 (("nodes", hollow.NODES), ("slices", hollow.SLICES), ("classes", hollow.CLASSES),
                  ("claims", self.cluster.claims), ("templates", self.cluster.templates))}
        entries = [{"name": template, "resourceClaimTemplateName": template}]
        pod = {"spec": {"containers": [], "resourceClaims": entries, **on(node)}}
        answer = devices.answer_cluster({**items, "podSets": [{"name": "main", "count": 1, "template": pod}]})
        if not answer["fits"]:
            return answer["reason"], answer["detail"]
        return [(d["request"], f"{d['driver']}/{d['pool']}/{d['device']}") for d in answer["pods"][0]["devices"]]

    def test_a_template_s_claim_is_allocated_as_the_model_says_and_given_back(self):
        cluster = self.cluster
        cluster.gpus("a", 4, {"gpu-1": [{"key": "hot", "effect": "NoSchedule"}]})
        cluster.gpus("b", 1)
        cluster.template("pair", request("gpu", count=2))
        expected = self.model("pair", "a")
        self.assertEqual(expected, [("gpu", f"gpu.example.com/a/gpu-{i}") for i in (0, 2)])

        cluster.pod("train", template="pair", **on("a"))
        claim = cluster.allocated_claim("train")
        self.assertEqual(cluster.allocation("train"), expected)
        self.assertEqual(cluster.node_of("train"), "a")
        self.assertEqual(claim["metadata"]["annotations"]["resource.kubernetes.io/pod-claim-name"], "pair")
        term = claim["status"]["allocation"]["nodeSelector"]["nodeSelectorTerms"][0]
        self.assertEqual(term["matchFields"], [{"key": "metadata.name", "operator": "In", "values": ["a"]}])

        self.assertEqual(self.model("pair", "a"), ("NoDevices", "pair/gpu"))
        cluster.pod("waits", template="pair", **on("a"))
        self.assertIn("cannot allocate all claims", cluster.unschedulable("waits"))
        cluster.finish("train")
        self.assertEqual(cluster.allocation("waits"), expected)

    def test_an_extended_resource_gets_a_claim(self):
        self.cluster.gpus("b", 2)
        self.cluster.pod("infer", resources={RESOURCE: "2"})
        claim = self.cluster.allocated_claim("infer")
        self.assertEqual(claim["metadata"]["annotations"]["resource.kubernetes.io/extended-resource-claim"], "true")
        self.assertEqual(self.cluster.allocation("infer"),
                         [("container-0-request-0", f"gpu.example.com/b/gpu-{i}") for i in (0, 1)])

    def test_an_error_on_one_node_keeps_the_pod_from_every_node(self):
        cluster = self.cluster
        cluster.slice("a", [{"name": "gpu-0"}], nodeName="a")
        cluster.slice("b", [hollow.device("gpu-0")], nodeName="b")
        h100 = f'device.attributes["{hollow.DRIVER}"].model == "h100"'
        cluster.template("h100", request("gpu", selectors=[{"cel": {"expression": h100}}]))
        cluster.pod("p", template="h100")
        self.assertIn("CEL runtime error: no such key: model", cluster.unschedulable("p"))
        cluster.slice("a", [{"name": "gpu-0"}], nodeName="a", slices=2)
        cluster.template("all", request("gpu", allocationMode="All"))
        cluster.pod("q", template="all")
        self.assertIn("resource pool gpu.example.com/a is currently being updated", cluster.unschedulable("q"))

    def test_a_taint_evicts_the_pod_that_uses_the_device(self):
        cluster = self.cluster
        cluster.gpus("a", 2)
        cluster.template("one", request("gpu"))
        for pod in ("first", "second"):
            cluster.pod(pod, template="one")
            cluster.allocation(pod)
        self.assertEqual(cluster.allocation("first"), [("gpu", "gpu.example.com/a/gpu-0")])
        cluster.gpus("a", 2, {"gpu-0": [BROKEN]})
        cluster.wait_for_eviction("first")
        self.assertNotIn("deletionTimestamp", self.server.get(f"{cluster.pods}/second")["metadata"])
        cluster.taint_by_rule("all-of-a", {"pool": "a"})
        cluster.wait_for_eviction("second")


if __name__ == "__main__":
    unittest.main()
