"""Devices that a member's drivers publish become quota, on real API servers: Dynamic Resource Allocation."""

import unittest

from harness.fleet import CLAIMS, NODES, QUEUES, add_node, quantity, quota
from harness.program import fairlead
from test_hub import CLAIM, HIGH, HubTest

NEEDS = ("controlplane", "fairlead")

DEVICES = "/apis/resource.k8s.io/v1"
SLICES = f"{DEVICES}/resourceslices"
CLASSES = f"{DEVICES}/deviceclasses"
CLASS = "gpu.nvidia.com"
GPU = "nvidia.com/gpu"


def device_class(name=CLASS, **spec):
    spec.setdefault("selectors", [{"cel": {"expression": f'device.driver == "{CLASS}"'}}])
    return {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}


def resource_slice(name, node, devices, pool=None, generation=1, of=1):
    return {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": {"driver": CLASS, "nodeName": node, "devices": devices,
                     "pool": {"name": pool or node, "generation": generation, "resourceSliceCount": of}}}


def gpus(*numbers, tainted=()):
    """Devices as a driver publishes them; those in `tainted` are unhealthy."""
    return [{"name": f"gpu-{n}", "attributes": {"type": {"string": "gpu"}},
             **({"taints": [{"key": "unhealthy", "effect": "NoExecute"}]} if n in tainted else {})} for n in numbers]


class DevicesTest(HubTest):
    """A member with one node whose GPUs a driver publishes: it has no device plugin."""

    def setUp(self):
        super().setUp()
        self.member.clear(NODES)
        add_node(self.member, "gpu-node", "on-demand", {"cpu": "100", "memory": "100Gi", "pods": "110"})

    def clear(self):
        super().clear()
        self.member.clear(SLICES)
        self.member.clear(CLASSES)

    def published(self, *numbers, **options):
        self.member.create(CLASSES, device_class(extendedResourceName=GPU))
        self.member.create(SLICES, resource_slice("gpu-node-a", "gpu-node", gpus(*numbers)))
        hub = self.hub(**options).start()
        self.server.create(CLAIMS, {
            "apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterResourceClaim",
            "metadata": {"name": "cluster2-resource-claim"},
            "spec": {"clusterName": "cluster2", "nominalResources": {"gpu": "10"},
                     "resourceAssignments": [{"clusterQueueName": HIGH, "flavor": "on-demand",
                                              "resources": {"gpu": "8"}}]}})
        return hub

    def taint(self, numbers, tainted):
        self.member.merge(f"{SLICES}/gpu-node-a", {"spec": {"devices": gpus(*numbers, tainted=tainted)}})

    def wait_for_gpus(self, hub, count, timeout=30):
        def equal():
            seen = quota(self.server, HIGH, "on-demand", GPU)
            assert seen == quantity(str(count)), f"{seen} instead of {count}"
            return True
        hub.wait_until(f"{HIGH} to have {count} GPUs", equal, timeout)

    def slice_events(self, hub, name):
        return [event for event in hub.events(fact="ObjectObserved", source="cluster2")
                if event.get("kind") == "ResourceSlice" and event.get("name") == name]

    def condition(self, kind):
        status = self.server.get(CLAIM).get("status", {})
        return next((c for c in status.get("conditions", []) if c["type"] == kind), None)

    def test_a_tainted_device_leaves_the_quota_and_comes_back(self):
        hub = self.published(*range(8))
        self.wait_for_gpus(hub, 8)
        self.taint(range(8), {3})
        self.wait_for_gpus(hub, 7)
        why = fairlead("audit", "why", HIGH, "on-demand", GPU, "--data", hub.data)
        self.assertIn("7 of 8 count", why.stdout, why.stderr)
        self.assertIn("not counted, taint unhealthy:NoExecute", why.stdout)
        self.taint(range(8), set())
        self.wait_for_gpus(hub, 8)
        hub.wait_until("DevicesKnown", lambda: (self.condition("DevicesKnown") or {}).get("status") == "True")
        hub.stop()
        hub.check_log()

    def test_a_new_generation_that_is_not_complete_changes_nothing(self):
        hub = self.published(*range(8))
        self.wait_for_gpus(hub, 8)
        generation = self.server.get(f"{QUEUES}/{HIGH}")["metadata"]["generation"]
        self.member.create(SLICES, resource_slice("gpu-node-b", "gpu-node", gpus(0, 1, 2, 3), generation=2, of=2))
        hub.wait_until("the slice to be in the log", lambda: self.slice_events(hub, "gpu-node-b"))
        self.member.create(SLICES, resource_slice("gpu-node-c", "gpu-node", gpus(4, 5, 6, 7, 8), generation=2, of=2))
        self.member.delete(f"{SLICES}/gpu-node-a")
        # Nine devices now; the claim assigns eight, so nothing is written.
        hub.wait_until("nine devices to count", lambda: "9 of 9 count" in fairlead(
            "audit", "why", HIGH, "on-demand", GPU, "--data", hub.data).stdout)
        self.assertEqual(self.server.get(f"{QUEUES}/{HIGH}")["metadata"]["generation"], generation)
        hub.stop()
        hub.check_log()

    def test_a_rewritten_slice_is_no_event(self):
        hub = self.published(*range(4))
        self.wait_for_gpus(hub, 4)
        for number in range(5):
            self.member.merge(f"{SLICES}/gpu-node-a", {"metadata": {"labels": {"round": str(number)}}})
        self.taint(range(4), {0})
        self.wait_for_gpus(hub, 3)
        # As published at first, and with the taint.
        self.assertEqual(len(self.slice_events(hub, "gpu-node-a")), 2)
        hub.stop()
        hub.check_log()

    def test_a_class_that_is_not_understood_is_said_on_the_claim(self):
        hub = self.published(*range(2))
        self.wait_for_gpus(hub, 2)
        self.member.merge(f"{CLASSES}/{CLASS}", {"spec": {"selectors": [
            {"cel": {"expression": 'device.attributes["gpu.nvidia.com"].type.split("p").size() == 2'}}]}})
        self.wait_for_gpus(hub, 0)

        def said():
            condition = self.condition("DevicesKnown") or {}
            return condition.get("reason") == "SelectorUnsupported" and CLASS in condition["message"]
        hub.wait_until("SelectorUnsupported", said)
        hub.stop()
        hub.check_log()


if __name__ == "__main__":
    unittest.main()
