"""The super cluster pool on real API servers: a hub, two tenants, two super clusters."""

import base64
import json
import re
import time
import unittest

from harness.controlplane import ControlPlane
from harness.fleet import CRDS, NODES
from harness.hub import AT_ONCE, Hub
from harness.process import stays
from harness.program import fairlead

NEEDS = ("controlplane", "fairlead")

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


class PoolTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = plane = cls.enterClassContext(ControlPlane())
        for name in ("hub", "acme", "bolt", "r1", "r2"):
            plane.add_server(name)
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

    def hub(self, *settings, **options):
        hub = Hub(self.plane, self.server, {"r1": self.r1, "r2": self.r2},
                  settings=(AT_ONCE, POOL, *settings), **options)
        self.addCleanup(hub.finish)
        return hub

    # -- the tests -----------------------------------------------------------------------------------------

    def test_quotas_become_placements_and_pods_get_clusters(self):
        hub = self.hub().start()
        self.create_namespace(self.acme, "web", "12", "24Gi")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":6}')
        self.create_namespace(self.bolt, "db", "8", "16Gi")
        self.wait_for(hub, self.bolt, "db", PLACEMENTS, '{"id-r2":4}')
        self.create_pod(self.acme, "web", "a")
        self.wait_for(hub, self.acme, "web/pods/a", SUPER_CLUSTER, "id-r1")
        self.create_pod(self.bolt, "db", "large", "7", "2Gi")
        self.wait_for(hub, self.bolt, "db/pods/large", SUPER_CLUSTER, "id-r2")
        self.set_quota(self.bolt, "db", "64", "128Gi")
        self.wait_for(hub, self.bolt, "db", REASON, "DoesNotFit: 28 more slices of cpu 2, memory 4Gi")
        self.assertEqual(self.annotation(self.bolt, "db", PLACEMENTS), '{"id-r2":4}')
        self.audit_tells_what_is_placed(hub)
        hub.stop()
        hub.check_log()

    def audit_tells_what_is_placed(self, hub):
        """The running hub and its data directory give the same answers."""
        last = f"seq:{hub.events()[-1]['seq']}"
        for question in (("why", "--namespace", "acme/web"), ("why-not", "--namespace", "bolt/db"),
                         ("why", "--pod", "bolt/db/large")):
            told = [fairlead("audit", *question, "--as-of", last, *where, "-o", "json")
                    for where in (("--server", f"http://127.0.0.1:{hub.port}"), ("--data", hub.data))]
            self.assertEqual([done.returncode for done in told], [0, 0], told[0].stderr)
            self.assertEqual(told[0].stdout, told[1].stdout)
        self.assertEqual(json.loads(told[0].stdout)["superCluster"], "id-r2")

    def test_an_edit_moves_slices_and_what_cannot_be_read_is_put_right(self):
        hub = self.hub().start()
        self.create_namespace(self.acme, "web", "12", "24Gi")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":6}')
        for written, wanted in (('{"id-r2": 2}', '{"id-r1":4,"id-r2":2}'), ("nonsense", '{"id-r1":4,"id-r2":2}'),
                                ('{"id-r2":5,"id-r1":1}', '{"id-r2":5,"id-r1":1}')):
            self.acme.merge(f"{NAMESPACES}/web", {"metadata": {"annotations": {PLACEMENTS: written}}})
            self.wait_for(hub, self.acme, "web", PLACEMENTS, wanted)
        self.acme.merge(f"{NAMESPACES}/web", {"metadata": {"annotations": {SLICE: "{}"}}})
        self.wait_for(hub, self.acme, "web", REASON, "BadSlice")
        self.acme.merge(f"{NAMESPACES}/web", {"metadata": {"annotations": {SLICE: None}}})
        self.wait_for(hub, self.acme, "web", REASON, None)
        self.acme.delete(f"{NAMESPACES}/web/resourcequotas/quota")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, "{}")
        hub.stop()
        hub.check_log()

    def test_slices_leave_a_lost_cluster_and_a_restart_changes_nothing(self):
        hub = self.hub(QUICK).start()
        self.create_namespace(self.acme, "web", "12", "24Gi")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":6}')
        self.r1.kill()
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r2":6}', timeout=90)
        self.create_pod(self.acme, "web", "a")
        self.wait_for(hub, self.acme, "web/pods/a", SUPER_CLUSTER, "id-r2")
        self.r1.start()
        hub.kill()
        written = len(hub.events(fact="PatchIntended"))
        hub = self.hub(QUICK, data=hub.data).start()
        hub.wait_until("the hub to plan", lambda: hub.said("the hub is synced"))
        time.sleep(3)
        stays("no write", lambda: len(hub.events(fact="PatchIntended")) == written, seconds=3)
        self.assertEqual(self.annotation(self.acme, "web", PLACEMENTS), '{"id-r2":6}')
        hub.stop()
        hub.check_log()

    def test_a_tenant_that_cannot_be_reached_is_set_aside_alone(self):
        self.server.delete(f"{NAMESPACES}/acme/secrets/admin-kubeconfig")
        hub = self.hub().start()
        self.create_namespace(self.bolt, "db", "8", "16Gi")
        self.wait_for(hub, self.bolt, "db", PLACEMENTS, '{"id-r1":4}')
        self.create_namespace(self.acme, "web", "12", "24Gi", **{PLACEMENTS: '{"id-r2":2}'})
        stays("nothing is written", lambda: self.annotation(self.acme, "web", PLACEMENTS) == '{"id-r2":2}', seconds=3)
        self.set_secret("acme", self.acme.kubeconfig("fairlead", inline=True).read_text())
        # What stood there at first sight stays; the rest is placed.
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r2":6}')
        hub.stop()
        hub.check_log()

    def test_a_tenant_is_read_and_annotated_with_the_documented_rights_and_no_more(self):
        self.acme.apply("/apis/rbac.authorization.k8s.io/v1/clusterroles/pool-tenant", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "pool-tenant"},
            "rules": [
                {"apiGroups": [""], "resources": ["namespaces", "pods"], "verbs": ["get", "list", "watch", "patch"]},
                {"apiGroups": [""], "resources": ["resourcequotas"], "verbs": ["get", "list", "watch"]}]}, force=True)
        _, token = self.acme.account("pool", role="pool-tenant")
        self.set_secret("acme", self.acme.kubeconfig_of({"token": token}, inline=True))
        hub = self.hub().start()
        self.create_namespace(self.acme, "web", "12", "24Gi")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":6}')
        self.create_pod(self.acme, "web", "a")
        self.wait_for(hub, self.acme, "web/pods/a", SUPER_CLUSTER, "id-r1")
        codes = re.findall(r'rest_client_requests_total\{cluster="tenant/acme",code="(\S+)"\}', hub.http("/metrics")[1])
        # (An error counts what was asked before the Secret was read.)
        self.assertEqual(set(codes) - {"<error>"}, {"200"})


if __name__ == "__main__":
    unittest.main()
