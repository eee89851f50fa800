"""Pods of the super cluster pool that ask for devices, on real API servers."""

import json
import unittest

from harness.program import fairlead
from pool_world import NAMESPACES, PLACEMENTS, REASON, SUPER_CLUSTER, PoolWorld

NEEDS = ("controlplane", "fairlead")

DEVICES = "/apis/resource.k8s.io/v1"
REAL = {"apiVersion": "resource.k8s.io/v1"}
REQUESTS = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}}
TOOK = {"devices": {"results": [{"request": "r", "driver": "gpu.example.com", "pool": "a", "device": "gpu-0"}]}}


class PoolDevicesTest(PoolWorld):
    """Two super clusters with one GPU each. Their syncers, schedulers and drivers are played by the test."""

    def setUp(self):
        super().setUp()
        for server in (self.r1, self.r2):
            self.keep(server, f"{DEVICES}/deviceclasses", "DeviceClass", "gpu", spec={
                "selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}]})
            self.keep(server, f"{DEVICES}/resourceslices", "ResourceSlice", "a", spec={
                "driver": "gpu.example.com", "nodeName": f"{server.name}-1", "devices": [{"name": "gpu-0"}],
                "pool": {"name": "a", "generation": 1, "resourceSliceCount": 1}})
            if not server.get(f"{NAMESPACES}/acme-web"):
                server.create(NAMESPACES, {"metadata": {"name": "acme-web", "annotations": {
                    "tenancy.x-k8s.io/cluster": "acme", "tenancy.x-k8s.io/namespace": "web"}}})
        self.create_namespace(self.acme, "web", "8", "16Gi", **{PLACEMENTS: '{"id-r1":2,"id-r2":2}'})
        self.keep(self.acme, f"{DEVICES}/namespaces/web/resourceclaimtemplates", "ResourceClaimTemplate", "h100",
                  spec={"spec": REQUESTS})

    def keep(self, server, path, kind, name, metadata=None, **fields):
        """Creates an object that is deleted after the test."""
        server.create(path, {**REAL, "kind": kind, "metadata": {"name": name, **(metadata or {})}, **fields})
        self.addCleanup(server.raw, "DELETE", f"{path}/{name}")

    def allocate(self, server, namespace, name, metadata=None, used_by=None):
        path = f"{DEVICES}/namespaces/{namespace}/resourceclaims"
        self.keep(server, path, "ResourceClaim", name, metadata, spec=REQUESTS)
        status = {"allocation": TOOK}
        if used_by:
            status["reservedFor"] = [{"resource": "pods", **used_by}]
        server.merge(f"{path}/{name}/status", {"status": status}, user="admin")

    def create_device_pod(self, name):
        self.acme.create(f"{NAMESPACES}/web/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {
                "automountServiceAccountToken": False,
                "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "h100"}],
                "containers": [{"name": "main", "image": "none", "resources": {
                    "claims": [{"name": "gpu"}], "requests": {"cpu": "1", "memory": "1Gi"},
                    "limits": {"cpu": "1", "memory": "1Gi"}}}]}})
        return self.acme.get(f"{NAMESPACES}/web/pods/{name}")["metadata"]["uid"]

    def run_in(self, server, name, uid):
        """What the syncer, the claims' controller and the scheduler of a super cluster make of a tenant's pod."""
        server.raw("POST", f"{NAMESPACES}/acme-web/serviceaccounts", json.dumps({"metadata": {"name": "default"}}))
        pods = f"{NAMESPACES}/acme-web/pods"
        server.create(pods, {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "annotations": {"tenancy.x-k8s.io/uid": uid}},
            "spec": {"automountServiceAccountToken": False, "containers": [{"name": "main", "image": "none"}]}})
        self.addCleanup(server.raw, "DELETE", f"{pods}/{name}?gracePeriodSeconds=0")
        there = {"name": name, "uid": server.get(f"{pods}/{name}")["metadata"]["uid"]}
        self.allocate(server, "acme-web", f"{name}-gpu", {
            "annotations": {"resource.kubernetes.io/pod-claim-name": "gpu"},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", **there}]}, there)

    def test_a_pod_goes_where_its_device_is_free_and_the_next_one_when_it_is_released(self):
        self.allocate(self.r1, "default", "taken")
        hub = self.hub().start()
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":2,"id-r2":2}')
        uid = self.create_device_pod("infer")
        self.wait_for(hub, self.acme, "web/pods/infer", SUPER_CLUSTER, "id-r2")
        self.audit_names_the_device(hub)
        self.create_device_pod("second")
        lacking = "Devices: id-r1: NoDevices gpu/r; id-r2: NoDevices gpu/r"
        self.wait_for(hub, self.acme, "web/pods/second", REASON, lacking)
        self.run_in(self.r2, "infer", uid)
        hub.wait_until("the claim in r2", lambda: [
            event for event in hub.events(fact="ObjectObserved", source="r2") if event["name"] == "infer-gpu"])
        hub.kill()  # what is reserved and used is known again from the log
        hub = self.hub(data=hub.data).start()
        self.remove_pod(self.acme, "web", "infer")
        hub.wait_until("the pod to be gone", lambda: [
            event for event in hub.events(fact="ObjectGone", source="tenant/acme") if event["name"] == "infer"])
        self.assertEqual(self.annotation(self.acme, "web/pods/second", SUPER_CLUSTER), None)
        self.r2.delete(f"{DEVICES}/namespaces/acme-web/resourceclaims/infer-gpu")
        self.wait_for(hub, self.acme, "web/pods/second", SUPER_CLUSTER, "id-r2")
        self.wait_for(hub, self.acme, "web/pods/second", REASON, None)
        hub.stop()
        hub.check_log()

    def audit_names_the_device(self, hub):
        last = f"seq:{hub.events()[-1]['seq']}"
        done = fairlead("audit", "why", "--pod", "acme/web/infer", "--as-of", last, "--data", hub.data, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["reservation"]["cluster"], "r2")
        self.assertEqual(answer["reservation"]["pods"][0]["node"], "r2-1")
        self.assertEqual([row["devices"]["reason"] for row in answer["clusters"]], ["NoDevices", ""])
        used_by = answer["clusters"][0]["devices"]["requests"][0]["devices"][0]["usedBy"]
        self.assertEqual([user["name"] for user in used_by], ["default/taken"])


if __name__ == "__main__":
    unittest.main()
