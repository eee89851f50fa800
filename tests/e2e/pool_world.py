"""What the suites of the super cluster pool share: real API servers of a hub, two tenants and two super clusters."""

import base64
import json
import unittest

from harness.controlplane import ControlPlane
from harness.fleet import CRDS, NODES
from harness.hub import AT_ONCE, Hub

PLACEMENTS = "scheduler.virtualcluster.io/placements"
SLICE = "scheduler.virtualcluster.io/slice"
SUPER_CLUSTER = "scheduler.virtualcluster.io/superCluster"
REASON = "fairlead.io/pool-reason"
TENANCY = "/apis/tenancy.x-k8s.io/v1alpha1/namespaces"
NAMESPACES = "/api/v1/namespaces"
# A cluster that is silent is soon lost, and soon after that its slices move.
QUICK = "debounce={staleAfter: 3s, lostAfter: 6s}"
POOL = 'pool={clusters: [{cluster: "*"}], lostGrace: 3s, settle: 0s}'


def node(name, cpu="8", memory="32Gi"):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
            "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "110"},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


class PoolWorld(unittest.TestCase):
    super_arguments = ()  # more command line of the super clusters' servers

    @classmethod
    def setUpClass(cls):
        cls.plane = plane = cls.enterClassContext(ControlPlane())
        for name in ("hub", "acme", "bolt"):
            plane.add_server(name)
        for name in ("r1", "r2"):
            plane.add_server(name, arguments=cls.super_arguments)
        cls.server, cls.acme, cls.bolt, cls.r1, cls.r2 = plane.servers.values()
        cls.server.install_crds(only=(*CRDS, "virtualclusters.tenancy.x-k8s.io"))
        for server in (cls.r1, cls.r2):
            server.create(f"{NAMESPACES}/kube-system/configmaps", {
                "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "supercluster-info"},
                "data": {"id": f"id-{server.name}"}})

    def setUp(self):
        for server in (self.r1, self.r2):
            for number in (1, 2):
                name = f"{server.name}-{number}"
                server.create(NODES, node(name))
                # The server taints each new Node until a kubelet reports it ready.
                server.merge(f"{NODES}/{name}", {"spec": {"taints": None}}, user="admin")
        for name in ("acme", "bolt"):
            self.create_tenant(name)
        self.addCleanup(self.clear)

    def clear(self):
        for server in (self.r1, self.r2):
            if not server.process.running():
                server.start()
            server.clear(NODES)
        for tenant in (self.acme, self.bolt):
            for name in ("web", "db"):
                self.remove_namespace(tenant, name)
        for server in (self.server, self.acme, self.bolt):
            for namespace in ("default", "web", "db"):
                if server.get(f"{NAMESPACES}/{namespace}"):
                    server.raw("DELETE", f"{NAMESPACES}/{namespace}/events")
        for name in ("acme", "bolt"):
            self.server.raw("DELETE", f"{TENANCY}/default/virtualclusters/{name}")
            self.server.raw("DELETE", f"{NAMESPACES}/{name}/secrets/admin-kubeconfig")

    # -- what tenants do -----------------------------------------------------------------------------------

    def create_tenant(self, name):
        """A VirtualCluster that runs, and the Secret with its kubeconfig."""
        server = self.plane.servers[name]
        self.server.raw("POST", NAMESPACES, json.dumps({"metadata": {"name": name}}))
        self.set_secret(name, server.kubeconfig("fairlead", inline=True).read_text())
        self.server.create(f"{TENANCY}/default/virtualclusters", {
            "apiVersion": "tenancy.x-k8s.io/v1alpha1", "kind": "VirtualCluster", "metadata": {"name": name},
            "status": {"phase": "Running", "clusterNamespace": name}})

    def set_secret(self, tenant, kubeconfig):
        self.server.apply(f"{NAMESPACES}/{tenant}/secrets/admin-kubeconfig", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "admin-kubeconfig", "namespace": tenant},
            "data": {"admin-kubeconfig": base64.b64encode(kubeconfig.encode()).decode()}}, force=True)

    def create_namespace(self, tenant, name, cpu, memory, **annotations):
        if not tenant.get(f"{NAMESPACES}/{name}"):
            tenant.create(NAMESPACES, {"metadata": {"name": name}})
        tenant.merge(f"{NAMESPACES}/{name}", {"metadata": {"annotations": annotations}}, user="admin")
        tenant.raw("POST", f"{NAMESPACES}/{name}/serviceaccounts", json.dumps({"metadata": {"name": "default"}}))
        self.set_quota(tenant, name, cpu, memory)

    def set_quota(self, tenant, namespace, cpu, memory):
        tenant.apply(f"{NAMESPACES}/{namespace}/resourcequotas/quota", {
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "quota", "namespace": namespace},
            "spec": {"hard": {"cpu": cpu, "memory": memory}}}, force=True)

    def create_pod(self, tenant, namespace, name, cpu="1500m", memory="2Gi"):
        amounts = {"cpu": cpu, "memory": memory}
        tenant.create(f"{NAMESPACES}/{namespace}/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"automountServiceAccountToken": False, "containers": [
                {"name": "main", "image": "none", "resources": {"requests": amounts, "limits": amounts}}]}})

    def bind_pod(self, tenant, namespace, name, host="vn"):
        """What a syncer does once the pod has a node in its super cluster."""
        tenant.create(f"{NAMESPACES}/{namespace}/pods/{name}/binding", {
            "apiVersion": "v1", "kind": "Binding", "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": host}})

    def remove_pod(self, tenant, namespace, name):
        tenant.raw("DELETE", f"{NAMESPACES}/{namespace}/pods/{name}?gracePeriodSeconds=0")

    def remove_namespace(self, tenant, name):
        """No controller ends Namespaces here: what is in it goes, and its annotations."""
        if not tenant.get(f"{NAMESPACES}/{name}"):
            return
        for kind in ("pods", "resourcequotas"):
            for item in tenant.get(f"{NAMESPACES}/{name}/{kind}")["items"]:
                tenant.raw("DELETE", f"{NAMESPACES}/{name}/{kind}/{item['metadata']['name']}?gracePeriodSeconds=0")
        tenant.merge(f"{NAMESPACES}/{name}", {"metadata": {"annotations": None}}, user="admin")

    # -- what is seen --------------------------------------------------------------------------------------

    def annotation(self, tenant, path, key):
        return tenant.get(f"{NAMESPACES}/{path}")["metadata"].get("annotations", {}).get(key)

    def wait_for(self, hub, tenant, path, key, wanted, timeout=90):
        def equal():
            found = self.annotation(tenant, path, key)
            assert found == wanted, f"{tenant.name} {path}: {found} instead of {wanted}"
            return True
        hub.wait_until(f"{key} of {tenant.name} {path} to be {wanted}", equal, timeout)

    def events(self, server, namespace, name):
        """The reasons of the Events about an object."""
        return [event["reason"] for event in server.get(f"{NAMESPACES}/{namespace}/events")["items"]
                if event["involvedObject"]["name"] == name]

    @staticmethod
    def is_synced(hub, cluster):
        """Its objects are listed, and its id is known, which is followed by name and so in no metric."""
        try:
            page = hub.http("/metrics")[1]
        except OSError:
            return False  # not listening yet
        listed = all(f'watch_synced{{cluster="{cluster}",kind="{kind}"}} 1' in page
                     for kind in ("Node", "Namespace", "Pod", "ResourceSlice", "DeviceClass", "ResourceClaim"))
        return listed and hub.events(fact="ObjectObserved", source=cluster, kind="ConfigMap")

    def running_hub(self, *settings, of=("r1", "r2"), **options):
        """A hub that knows these super clusters: until it knows a second one, the first gets all slices."""
        hub = self.hub(*settings, **options).start()
        hub.wait_until("the capacity of the super clusters", lambda: all(self.is_synced(hub, each) for each in of),
                       timeout=90)
        return hub

    def hub(self, *settings, **options):
        hub = Hub(self.plane, self.server, {"r1": self.r1, "r2": self.r2},
                  settings=(AT_ONCE, POOL, *settings), **options)
        self.addCleanup(hub.finish)
        return hub
