"""Pods of tenants that ask for devices: the super cluster that Fairlead chooses allocates them by a real scheduler."""

import unittest

from harness import hollow
from harness.hollow import HollowCluster, pod_spec, request
from harness.syncer import Syncer
from pool_world import NAMESPACES, PLACEMENTS, REASON, SUPER_CLUSTER, PoolWorld

NEEDS = ("controlplane", "scheduler", "fairlead")

DEVICES = f"{hollow.RESOURCE}/namespaces/web"
AMOUNTS = {"cpu": "1", "memory": "1Gi"}
LACKING = "Devices: id-r1: NoDevices one/gpu; id-r2: NoDevices one/gpu"
BOTH = '{"id-r1":2,"id-r2":2}'


class PoolSchedulerTest(PoolWorld):
    """Two super clusters with one GPU each; the namespace of acme's `web` is `acme-web` in both."""

    super_arguments = hollow.ARGUMENTS

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.clusters = {}
        for server in (cls.r1, cls.r2):
            server.create(NAMESPACES, {"metadata": {"name": "acme-web", "annotations": {
                "tenancy.x-k8s.io/cluster": "acme", "tenancy.x-k8s.io/namespace": "web"}}})
            cls.clusters[f"id-{server.name}"] = HollowCluster(server, namespace="acme-web")
        cls.syncers = {name: Syncer(cls.acme, "web", cluster) for name, cluster in cls.clusters.items()}

    def setUp(self):
        super().setUp()
        for cluster in self.clusters.values():
            self.addCleanup(cluster.clear)
            cluster.device_class("gpu", extended="example.com/gpu")
            cluster.gpus(f"{cluster.server.name}-1", 1)
        self.create_namespace(self.acme, "web", "8", "16Gi", **{PLACEMENTS: BOTH})
        self.keep("resourceclaimtemplates", "ResourceClaimTemplate", "one", {"spec": self.one_gpu()})

    @staticmethod
    def one_gpu():
        return hollow.claim_spec(request("gpu"))

    def keep(self, resource, kind, name, spec):
        """Creates an object of the tenant that is deleted after the test."""
        self.acme.create(f"{DEVICES}/{resource}", {**hollow.REAL, "kind": kind, "metadata": {"name": name},
                                                   "spec": spec})
        self.addCleanup(self.acme.raw, "DELETE", f"{DEVICES}/{resource}/{name}")

    # -- the tenant and the syncers --------------------------------------------------------------------------

    def create(self, name, resources=(), **fields):
        spec = pod_spec(resources={**AMOUNTS, **dict(resources)}, **fields)
        self.acme.create(f"{NAMESPACES}/web/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"automountServiceAccountToken": False, **spec}})

    def create_in(self, hub, where, name, **fields):
        """A Pod that Fairlead places there, and that the syncer of that cluster brings there; its devices."""
        self.create(name, **fields)
        return self.follow(hub, where, name)

    def follow(self, hub, where, name):
        self.wait_for(hub, self.acme, f"web/pods/{name}", SUPER_CLUSTER, where)
        self.syncers[where].copy(name)
        self.clusters[where].node_of(name)
        return [device for _, device in self.clusters[where].allocation(name)]

    def started_hub(self):
        hub = self.running_hub()
        self.wait_for(hub, self.acme, "web", PLACEMENTS, BOTH)
        return hub

    def written(self):
        """What Fairlead writes in the tenant, with the version of each object."""
        items = [self.acme.get(f"{NAMESPACES}/web"), *self.acme.get(f"{NAMESPACES}/web/pods")["items"]]
        return {item["metadata"]["name"]: item["metadata"]["resourceVersion"] for item in items}

    def waits(self, hub, name):
        self.wait_for(hub, self.acme, f"web/pods/{name}", REASON, LACKING)
        self.assertIsNone(self.annotation(self.acme, f"web/pods/{name}", SUPER_CLUSTER))

    # -- the tests -------------------------------------------------------------------------------------------

    def test_a_third_pod_waits_until_the_device_of_the_first_is_free(self):
        hub = self.started_hub()
        self.assertEqual(self.create_in(hub, "id-r1", "first", template="one"), ["gpu.example.com/r1-1/gpu-0"])
        self.assertEqual(self.create_in(hub, "id-r2", "second", template="one"), ["gpu.example.com/r2-1/gpu-0"])
        self.create("third", template="one")
        self.waits(hub, "third")
        before = self.written()
        hub.kill()
        hub = self.running_hub(data=hub.data)
        self.create("fourth", template="one")
        self.waits(hub, "fourth")
        self.remove_pod(self.acme, "web", "fourth")
        self.assertEqual(self.written(), before)

        self.remove_pod(self.acme, "web", "first")
        hub.wait_until("the pod to be gone", lambda: [
            event for event in hub.events(fact="ObjectGone", source="tenant/acme") if event["name"] == "first"])
        self.assertIsNone(self.annotation(self.acme, "web/pods/third", SUPER_CLUSTER))
        self.syncers["id-r1"].remove("first")
        self.assertEqual(self.follow(hub, "id-r1", "third"), ["gpu.example.com/r1-1/gpu-0"])
        self.wait_for(hub, self.acme, "web/pods/third", REASON, None)
        hub.stop()
        hub.check_log()

    def test_a_pod_goes_where_the_device_is_free(self):
        own = self.clusters["id-r1"].in_namespace("default")
        own.template("one", request("gpu"))
        own.pod("of-the-cluster-itself", template="one")
        own.allocation("of-the-cluster-itself")
        self.addCleanup(own.clear)
        hub = self.started_hub()
        self.assertEqual(self.create_in(hub, "id-r2", "infer", template="one"), ["gpu.example.com/r2-1/gpu-0"])
        own.finish("of-the-cluster-itself")
        self.assertEqual(self.create_in(hub, "id-r1", "next", template="one"), ["gpu.example.com/r1-1/gpu-0"])
        hub.stop()
        hub.check_log()

    def test_an_extended_resource_is_a_device_of_the_class_that_gives_it(self):
        hub = self.started_hub()
        gpu = {"resources": {"example.com/gpu": "1"}}
        self.assertEqual(self.create_in(hub, "id-r1", "infer", **gpu), ["gpu.example.com/r1-1/gpu-0"])
        self.assertEqual(self.create_in(hub, "id-r2", "next", template="one"), ["gpu.example.com/r2-1/gpu-0"])
        self.create("waits", template="one")
        self.waits(hub, "waits")
        self.remove_pod(self.acme, "web", "infer")
        self.syncers["id-r1"].remove("infer")
        self.assertEqual(self.follow(hub, "id-r1", "waits"), ["gpu.example.com/r1-1/gpu-0"])
        hub.stop()
        hub.check_log()

    def test_pods_that_share_a_claim_share_its_cluster(self):
        self.keep("resourceclaims", "ResourceClaim", "shared", self.one_gpu())
        entry = [{"name": "gpu", "resourceClaimName": "shared"}]
        hub = self.started_hub()
        for name in ("one", "two"):
            self.create(name, resourceClaims=entry)
            self.wait_for(hub, self.acme, f"web/pods/{name}", SUPER_CLUSTER, "id-r1")
            self.syncers["id-r1"].copy(name)
            self.assertEqual(self.clusters["id-r1"].node_of(name), "r1-1")
        users = self.r1.get(f"{self.clusters['id-r1'].claims}/shared")["status"]["reservedFor"]
        self.assertEqual(sorted(user["name"] for user in users), ["one", "two"])
        self.assertEqual(self.create_in(hub, "id-r2", "other", template="one"), ["gpu.example.com/r2-1/gpu-0"])
        hub.stop()
        hub.check_log()


if __name__ == "__main__":
    unittest.main()
