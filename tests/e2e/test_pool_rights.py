"""The rights of the pool: what deploy/ grants on the hub, in a tenant and in a super cluster is what the program uses.

Three real API servers with RBAC write audit logs of the accounts that the manifests make.
"""

import base64
import json
import re
import unittest

from harness import deploy
from harness.audited import AuditLog, granted_in, served_names
from harness.controlplane import ControlPlane
from harness.fleet import CRDS, NODES, QUEUE_CRDS
from harness.hub import AT_ONCE, Hub

NEEDS = ("controlplane", "fairlead")

ACCOUNT = "system:serviceaccount:fairlead:fairlead"
PLACEMENTS = "scheduler.virtualcluster.io/placements"
REASON = "fairlead.io/pool-reason"
SUPER_CLUSTER = "scheduler.virtualcluster.io/superCluster"
NAMESPACES = "/api/v1/namespaces"
VIRTUAL_CLUSTERS = "/apis/tenancy.x-k8s.io/v1alpha1/namespaces/default/virtualclusters"
TENANT_ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/fairlead-pool-tenant"
MANIFESTS = {"hub": deploy.DEPLOY / "components/pool/tenants.yaml", "acme": deploy.DEPLOY / "pool/tenant.yaml",
             "r1": deploy.DEPLOY / "pool/super-cluster.yaml"}


class PoolRightsTest(unittest.TestCase):
    """A hub, a tenant and a super cluster, each entered with the account of its manifest."""

    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.audits = {}
        for name in MANIFESTS:
            folder = cls.plane.directory / f"audit-{name}"
            folder.mkdir()
            cls.audits[name] = AuditLog(folder, ACCOUNT)
            cls.plane.add_server(name, arguments=cls.audits[name].arguments)
        cls.hub_server, cls.acme, cls.r1 = (cls.plane.servers[name] for name in MANIFESTS)
        cls.hub_server.install_crds(only=[name for name in (*CRDS, "virtualclusters.tenancy.x-k8s.io")
                                          if name != "clusterresourceclaims.galaxy.kubestellar.io"])
        cls.r1.install_crds(only=QUEUE_CRDS)
        cls.r1.create(f"{NAMESPACES}/kube-system/configmaps", {
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "supercluster-info"}, "data": {"id": "one"}})
        cls.r1.create(NODES, {
            "apiVersion": "v1", "kind": "Node", "metadata": {"name": "r1-1"},
            "status": {"allocatable": {"cpu": "16", "memory": "64Gi", "pods": "110"},
                       "conditions": [{"type": "Ready", "status": "True"}]}})
        # The server taints each new Node until a kubelet reports it ready.
        cls.r1.merge(f"{NODES}/r1-1", {"spec": {"taints": None}}, user="admin")
        cls.install()

    @classmethod
    def install(cls):
        """What docs/pool.md tells an administrator to apply, and the Secrets with the accounts' kubeconfigs."""
        folder = deploy.composed(cls.plane.directory / "with-pool", ("members", "pool"), [
            {"target": {"kind": "Role", "name": "fairlead-members"}, "patch": json.dumps(
                [{"op": "replace", "path": "/rules/0/resourceNames", "value": ["r1-kubeconfig"]}])}])
        for name in ("kueue-system", "acme"):
            deploy.ensure_namespace(cls.hub_server, name)
        deploy.apply(cls.hub_server, folder)
        for server in (cls.acme, cls.r1):
            server.kubectl("apply", "--server-side", "-f", MANIFESTS[server.name])
        cls.secret("acme", "admin-kubeconfig", "admin-kubeconfig", cls.acme)
        cls.secret("fairlead", "r1-kubeconfig", "kubeconfig", cls.r1)
        cls.hub_server.create(VIRTUAL_CLUSTERS, {
            "apiVersion": "tenancy.x-k8s.io/v1alpha1", "kind": "VirtualCluster", "metadata": {"name": "acme"},
            "status": {"phase": "Running", "clusterNamespace": "acme"}})

    @classmethod
    def secret(cls, namespace, name, key, server):
        kubeconfig = server.kubeconfig_of({"token": deploy.token(server)}, inline=True)
        cls.hub_server.apply(f"{NAMESPACES}/{namespace}/secrets/{name}", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": namespace},
            "data": {key: base64.b64encode(kubeconfig.encode()).decode()}}, force=True)

    def setUp(self):
        for audit in self.audits.values():
            audit.begin()

    def run_hub(self):
        hub = Hub(self.plane, self.hub_server, {"r1": {"secretRef": "fairlead/r1-kubeconfig"}},
                  kubeconfig=deploy.account_kubeconfig(self.hub_server),
                  settings=(AT_ONCE, 'pool={clusters: [{cluster: "*"}], settle: 0s}'))
        self.addCleanup(hub.finish)
        return hub.start()

    def annotation(self, path, key):
        return self.acme.get(f"{NAMESPACES}/{path}")["metadata"].get("annotations", {}).get(key)

    def create_namespace(self, name, cpu="4", memory="8Gi"):
        self.acme.create(NAMESPACES, {"metadata": {"name": name}})
        self.acme.create(f"{NAMESPACES}/{name}/serviceaccounts", {"metadata": {"name": "default"}})
        self.acme.create(f"{NAMESPACES}/{name}/resourcequotas", {
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "quota"},
            "spec": {"hard": {"cpu": cpu, "memory": memory}}})

    def create_pod(self, namespace, name):
        amounts = {"cpu": "1", "memory": "1Gi"}
        self.acme.create(f"{NAMESPACES}/{namespace}/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"automountServiceAccountToken": False, "containers": [
                {"name": "main", "image": "none", "resources": {"requests": amounts, "limits": amounts}}]}})

    def granted(self, name):
        return granted_in(deploy.objects(self.plane.servers[name], MANIFESTS[name].read_text()))

    def unused(self, name):
        return set(self.audits[name].unused(self.granted(name), served_names(self.plane.servers[name])))

    # -- the tests -----------------------------------------------------------------------------------------

    def test_nothing_is_refused_and_nothing_is_granted_in_vain(self):
        hub = self.run_hub()
        self.create_namespace("web")
        hub.wait_until("slices", lambda: self.annotation("web", PLACEMENTS) == '{"one":2}')
        self.create_pod("web", "a")
        hub.wait_until("a cluster", lambda: self.annotation("web/pods/a", SUPER_CLUSTER) == "one")
        self.create_namespace("big", "400", "800Gi")
        hub.wait_until("a reason", lambda: self.annotation("big", REASON))
        hub.wait_until("the Event on the VirtualCluster", lambda: [
            event for event in self.hub_server.get(f"{NAMESPACES}/default/events")["items"]
            if event["reason"] == "PoolExhausted"])
        for name, audit in self.audits.items():
            self.assertEqual(audit.refusals(), [], name)
        # The end of its streams makes the hub ask where the store is, which is what `list` is for.
        for server in self.plane.servers.values():
            server.restart()

        def every_use():
            left = {name: self.unused(name) for name in self.audits}
            assert not any(left.values()), f"granted and not used: {left}"
            return True
        hub.wait_until("every right to be used", every_use, timeout=180)
        hub.stop()
        hub.check_log()

    def test_a_log_line_names_the_right_that_a_tenant_does_not_grant(self):
        rules = self.acme.get(TENANT_ROLE)["rules"]
        self.addCleanup(self.put_rules, rules)
        for number, (kind, path, key, wanted) in enumerate((
                ("namespaces", "db", PLACEMENTS, '{"one":2}'), ("pods", "db/pods/a", SUPER_CLUSTER, "one"))):
            with self.subTest(kind=kind):
                self.put_rules([{**rule, "resources": [resource],
                                 "verbs": [verb for verb in rule["verbs"] if (resource, verb) != (kind, "patch")]}
                                for rule in rules for resource in rule["resources"]])
                hub = self.run_hub()
                if number == 0:
                    self.create_namespace("db")
                else:
                    self.create_pod("db", "a")
                line = re.compile(rf'cannot patch resource \\*"{kind}')
                hub.wait_until(f"a line that names {kind}", lambda line=line: line.search(hub.process.text()))
                self.assertNotEqual(self.annotation(path, key), wanted)
                self.put_rules(rules)
                hub.wait_until("the write", lambda: self.annotation(path, key) == wanted)
                hub.stop()

    def put_rules(self, rules):
        self.acme.apply(TENANT_ROLE, {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": rules,
            "metadata": {"name": "fairlead-pool-tenant"}}, manager="kubectl", force=True)

    def test_no_other_secret_may_be_read(self):
        kubectl = self.hub_server.kubectl
        for name, namespace, wanted in (("admin-kubeconfig", "acme", "yes"), ("other", "acme", "no"),
                                        ("", "acme", "no"), ("", "", "no")):
            place = ["-n", namespace] if namespace else ["--all-namespaces"]
            done = kubectl("auth", "can-i", "list", f"secrets/{name}" if name else "secrets", "--as", ACCOUNT, *place,
                           check=False)
            self.assertEqual(done.stdout.strip(), wanted, (name, namespace))

    def test_the_accounts_of_tenants_and_super_clusters_make_nothing(self):
        for name in ("acme", "r1"):
            verbs = {(resource, verb) for _, resource, verb in self.granted(name) if verb not in ("list", "watch")}
            wanted = {("namespaces", "patch"), ("pods", "patch"), ("events", "create")} if name == "acme" else set()
            self.assertEqual(verbs, wanted)


if __name__ == "__main__":
    unittest.main()
