"""The rights that deploy/ grants are those that the program uses: no fewer, no more, and a missing one is named.

A real API server with RBAC writes an audit log of the account; the hub runs with the account's token through claims,
ManifestWorks, BindingPolicies and MultiKueue.
"""

import base64
import json
import pathlib
import re
import unittest

from harness import deploy
from harness.audited import AuditLog, granted_by, granted_in, served_names
from harness.controlplane import ControlPlane, assets
from harness.fleet import (CLAIMS, MANAGED_CLUSTERS, QUEUE_CRDS, QUEUES, add_node, claim, prepare_hub, quantity, quota,
                           remove_node)
from harness.fleet_claims import CLAIMS as FLEET_CLAIMS
from harness.fleet_claims import CRDS as FLEET_CRDS
from harness.fleet_claims import SCHEDULINGS, FleetObjects
from harness.hub import AT_ONCE, Hub
from harness.multikueue import (CHECKS, CONFIGS, CONTROLLER, DECISIONS, MULTIKUEUE_CRDS, NAMESPACE, PLACEMENTS, SECRETS,
                                WINDOWS, WORKERS, WORKLOADS, MultiKueueTest)
from harness.process import Deadline, wait_for
from harness.work_agent import WorkAgent

NEEDS = ("controlplane", "fairlead")

ACCOUNT = "system:serviceaccount:fairlead:fairlead"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
READ, WRITE = (f"{RBAC}/clusterroles/fairlead-{name}" for name in ("read", "write"))
EVENTS = f"{RBAC}/namespaces/default/roles/fairlead-events"
READS = (READ, f"{RBAC}/namespaces/{NAMESPACE}/roles/fairlead-read",
         f"{RBAC}/namespaces/fairlead/roles/fairlead-members")
POLICIES = "bindingpolicies.control.kubestellar.io"
CLAIM = f"{CLAIMS}/cluster2-resource-claim"
WORKS = "/apis/work.open-cluster-management.io/v1/namespaces/cluster2/manifestworks"
HIGH = "high-priority-queue"
# The Secret that the Role of a component allows.
NAMES = {"members": "cluster2-kubeconfig", "profile-access": "cluster2-fairlead"}
FAIRLEAD_SPACE = "/api/v1/namespaces/fairlead"
PROFILES = "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/fairlead/clusterprofiles"
# Does what OCM's plugin does, with the credentials that are mounted in a Pod.
PLUGIN = """#!/bin/sh
cluster=$(printf %s "$KUBERNETES_EXEC_INFO" | sed -n 's/.*"clusterName": *"\\([^"]*\\)".*/\\1/p')
token=$({kubectl} --cache-dir {cache} --kubeconfig {kubeconfig} -n fairlead \\
  get secret "$cluster-${{1#--managed-serviceaccount=}}" -o 'go-template={{{{.data.token|base64decode}}}}') || exit 1
printf '{{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {{"token": "%s"}}}}' \\
  "$token"
"""
ADDON_FINALIZER = "kueue-addon.open-cluster-management.io/admissioncheck-cleanup"


def without(rules, missing):
    """`rules` less everything about one resource, one right each."""
    return [{"apiGroups": [group], "resources": [resource], "verbs": rule["verbs"],
             **({"resourceNames": rule["resourceNames"]} if "resourceNames" in rule else {})}
            for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]
            if f"{resource}.{group}".rstrip(".") != missing]


class RightsTest(FleetObjects, MultiKueueTest):
    """One API server, one member; each test has a hub of its own."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.audit = AuditLog(cls.plane.directory, ACCOUNT)
        cls.server = cls.plane.add_server("hub", arguments=cls.audit.arguments)
        cls.member = cls.plane.add_server("cluster2")
        cls.server.install_crds(only=[name for name in (*MULTIKUEUE_CRDS, POLICIES,
                                                        "cohorts.kueue.x-k8s.io", "topologies.kueue.x-k8s.io")
                                      if name != "clusterresourceclaims.galaxy.kubestellar.io"])
        cls.member.install_crds(only=(*QUEUE_CRDS, "cohorts.kueue.x-k8s.io", "workloads.kueue.x-k8s.io"))
        for name in (NAMESPACE, "team", "cluster2", "cluster3"):
            deploy.ensure_namespace(cls.server, name)

    def setUp(self):
        self.addCleanup(self.forget)
        self.audit.begin()

    def tearDown(self):
        pass

    def forget(self):
        for path in (CLAIMS, "/apis/work.open-cluster-management.io/v1/manifestworks", QUEUES,
                     "/apis/kueue.x-k8s.io/v1beta2/resourceflavors", MANAGED_CLUSTERS, CHECKS, CONFIGS, WORKERS,
                     "/apis/control.kubestellar.io/v1alpha1/bindingpolicies"):
            if self.server.get(path):
                self.server.clear(path)
        for path in (PLACEMENTS, DECISIONS, WORKLOADS, SECRETS):
            self.server.request("DELETE", path)
        for path in ("/api/v1/nodes", QUEUES, "/apis/kueue.x-k8s.io/v1beta2/resourceflavors"):
            self.member.clear(path)

    def installed(self, *components):
        """Applies the overlay hub with these components; (objects, granted rights)."""
        folder = deploy.composed(self.plane.directory / ("with-" + "-".join(components)), components, [
            {"target": {"kind": "Role", "name": f"fairlead-{component}"}, "patch": json.dumps(
                [{"op": "replace", "path": "/rules/0/resourceNames", "value": [name]}])}
            for component, name in NAMES.items() if component in components])
        found = deploy.objects(self.server, deploy.kustomize(folder))
        deploy.apply(self.server, folder)
        wait_for("the claim's CRD to be served", lambda: self.server.raw("GET", CLAIMS)[0] == 200)
        return found, granted_in(found)

    def run_hub(self, found, *more):
        secret = base64.b64encode(self.member.kubeconfig("fairlead", inline=True).read_bytes()).decode()
        self.server.apply("/api/v1/namespaces/fairlead/secrets/cluster2-kubeconfig", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cluster2-kubeconfig", "namespace": "fairlead"},
            "data": {"kubeconfig": secret}}, force=True)
        self.hub = Hub(self.plane, self.server, kubeconfig=deploy.account_kubeconfig(self.server), config=json.dumps({
            "apiVersion": "fairlead.io/v1alpha1", "kind": "Configuration",
            "capacity": {"headroom": {"percent": {}, "reserved": {}}},
            "members": {"kubeconfigs": [{"cluster": "cluster2", "secretRef": "fairlead/cluster2-kubeconfig"}]}}) + "\n",
            settings=(AT_ONCE, *WINDOWS, "claims.statusInterval=0s", *deploy.settings(found), *more),
            arguments=self.arguments)
        self.addCleanup(self.hub.finish)
        self.hub.start()
        self.hub.wait_until("the hub to be ready", self.hub.ready)

    # -- what is done, and with which rights ------------------------------------------------------------------

    def step(self, act, effect, *rights, meanwhile=lambda: None):
        """Does `act` and waits for `effect`. While `denying`, `rights` are missing at first, and come one by one
        when a log line has named each."""
        rights = rights if self.denying else ()
        begin = len(self.hub.process.text())
        for right in rights:
            self.deny(right)
        act()
        for resource, verb in rights:
            plain = resource.split(".")[0]
            wanted = re.compile(rf'cannot {verb} resource \\*"{plain}' if plain != "events"
                                else "an Event could not be sent: HTTP 403")
            self.hub.wait_until(f"a line that names {verb} of {resource}",
                                lambda line=wanted: meanwhile() or line.search(self.hub.process.text()[begin:]))
            self.grant((resource, verb))
            self.named.add((resource, verb))
        self.hub.wait_until(f"{getattr(effect, '__name__', effect)} after {rights or 'a step'}", effect, timeout=45)

    def deny(self, right):
        self.missing.append(right)
        self.put_rules()

    def grant(self, right):
        self.missing.remove(right)
        self.put_rules()

    def put_rules(self):
        for path, rules in self.rules.items():
            left = [{"apiGroups": [group], "resources": [resource], "verbs": [verb]}
                    for rule in rules for group in rule["apiGroups"] for resource in rule["resources"]
                    for verb in rule["verbs"] if (f"{resource}.{group}".rstrip("."), verb) not in self.missing]
            self.set_rules(path, left)

    def set_rules(self, path, rules):
        """As kubectl would, so that the manifests can be applied again."""
        where = path.split("/")
        metadata = {"name": where[-1], **({"namespace": where[-3]} if "namespaces" in where else {})}
        self.server.apply(path, {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": metadata, "rules": rules,
                                 "kind": "Role" if "namespace" in metadata else "ClusterRole"},
                          manager="kubectl", force=True)

    def perform(self, denying):
        """Everything that the account may write, once: claims, works and MultiKueue's objects come and go."""
        self.denying, self.missing, self.named = denying, [], set()
        self.rules = {path: self.server.get(path)["rules"] for path in (WRITE, EVENTS)}
        self.agent = WorkAgent(self.server, self.member, "cluster2")
        self.claims()
        self.workers()
        self.claim_goes()

    def claims(self):
        galaxy, kueue, work = "galaxy.kubestellar.io", "kueue.x-k8s.io", "work.open-cluster-management.io"
        self.nodes_and_queues()
        self.step(self.cluster2_joins, self.claim, (f"clusterresourceclaims.{galaxy}", "create"))
        self.step(self.assign, lambda: self.server.get(f"{WORKS}/fairlead-quota"),
                  (f"clusterresourceclaims/status.{galaxy}", "patch"), (f"manifestworks.{work}", "create"),
                  ("events", "create"))
        self.step(self.agent.act, lambda: self.cpu("300"), (f"clusterqueues.{kueue}", "patch"))
        self.step(lambda: remove_node(self.member, "on-demand-3"), self.nothing_waits)
        # An Event is of a condition that was written: a later status may take the place of one that still waits.
        self.step(lambda: remove_node(self.member, "on-demand-2"),
                  lambda: self.at_member("200") and self.fully_granted() == "False",
                  (f"manifestworks.{work}", "patch"))
        self.step(lambda: add_node(self.member, "on-demand-4", "on-demand"),
                  lambda: self.agent.act() or self.cpu("300"))

    def workers(self):
        kueue = "kueue.x-k8s.io"
        self.step(self.a_check_on_a_placement, lambda: self.list_of("pool") == ["pool-cluster2"],
                  (f"admissionchecks/status.{kueue}", "patch"), (f"multikueueclusters.{kueue}", "create"),
                  (f"multikueueconfigs.{kueue}", "create"))
        self.step(self.another_cluster, lambda: self.list_of("pool") == ["pool-cluster2", "pool-cluster3"],
                  (f"multikueueconfigs.{kueue}", "patch"))
        self.step(self.worker_is_edited, lambda: self.secret_of_worker() != "other",
                  (f"multikueueclusters.{kueue}", "patch"))
        self.step(lambda: self.workload("job", {"multikueue": "Pending"}), self.nominated,
                  (f"workloads/status.{kueue}", "patch"))
        self.step(lambda: self.server.delete(f"{CHECKS}/multikueue"), self.no_check,
                  (f"multikueueconfigs.{kueue}", "delete"), (f"multikueueclusters.{kueue}", "delete"),
                  (f"admissionchecks.{kueue}", "patch"))

    def claim_goes(self):
        self.step(lambda: self.server.delete(CLAIM),
                  lambda: self.agent.act() or self.server.get(CLAIM) is None,
                  ("manifestworks.work.open-cluster-management.io", "delete"),
                  ("clusterresourceclaims.galaxy.kubestellar.io", "patch"), meanwhile=self.agent.act)

    def nodes_and_queues(self):
        prepare_hub(self.server)
        for number in range(4):
            add_node(self.member, f"on-demand-{number}", "on-demand")

    def cluster2_joins(self):
        self.server.create(MANAGED_CLUSTERS, {
            "apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
            "metadata": {"name": "cluster2", "labels": {"name": "cluster2"}}, "spec": {"hubAcceptsClient": True}})
        self.status(f"{MANAGED_CLUSTERS}/cluster2", {"conditions": [
            {"type": "ManagedClusterConditionAvailable", "status": "True", "reason": "Seen", "message": "",
             "lastTransitionTime": "2026-01-01T00:00:00Z"}]})

    def claim(self):
        return self.server.get(CLAIM)

    def assign(self):
        self.server.merge(CLAIM, {"spec": {"resourceAssignments": [
            {"clusterQueueName": HIGH, "flavor": "on-demand", "resources": {"cpu": "300"}}]}})

    def cpu(self, value):
        return quota(self.server, HIGH, "on-demand", "cpu") == quantity(value)

    def at_member(self, value):
        self.agent.act()
        return quota(self.member, HIGH, "on-demand", "cpu") == quantity(value)

    def fully_granted(self):
        conditions = self.claim().get("status", {}).get("conditions", [])
        return next((each["status"] for each in conditions if each["type"] == "FullyGranted"), None)

    def nothing_waits(self):
        return "fairlead_writes_waiting 0\n" in self.hub.http("/metrics")[1]

    def a_check_on_a_placement(self):
        for cluster in ("cluster2", "cluster3"):
            self.secret(cluster)
        self.placement("pool")
        self.decide("pool", ["cluster2"])
        self.check("multikueue", "pool", [ADDON_FINALIZER])

    def another_cluster(self):
        self.decide("pool", ["cluster2", "cluster3"])

    def worker_is_edited(self):
        self.server.merge(f"{WORKERS}/pool-cluster2", {"spec": {"clusterSource": {"kubeConfig": {
            "location": "other", "locationType": "Secret"}}}})

    def secret_of_worker(self):
        return self.server.get(f"{WORKERS}/pool-cluster2")["spec"]["clusterSource"]["kubeConfig"]["location"]

    def use_lists(self, granted):
        """The end of its streams makes the hub ask where the store is, which is what `list` is for. A server that
        starts refuses for a moment what it allows later; a streaming list follows then, and it is ended again."""
        for last in (False, False, True):
            self.server.restart()
            try:
                self.hub.wait_until("every right to be used", lambda: self.every_use(granted), timeout=90)
                return
            except Deadline:
                if last:
                    raise

    def no_check(self):
        return not self.marked() and self.server.get(f"{CHECKS}/multikueue") is None

    def nominated(self):
        return self.server.get(f"{WORKLOADS}/job")["status"].get("nominatedClusterNames")

    # -- the tests ----------------------------------------------------------------------------------------------

    def test_nothing_is_refused_and_nothing_is_granted_in_vain(self):
        found, granted = self.installed("dispatcher", "ocm-addon", "members")
        self.run_hub(found)
        self.perform(denying=False)
        self.assertEqual(self.audit.refusals(), [])
        self.use_lists(granted)
        self.assertEqual({resource for _, resource, _ in self.audit.used()} & {POLICIES}, set())
        self.hub.stop()
        self.hub.check_log()

    def test_a_log_line_names_each_right_to_write_that_is_missing(self):
        found, granted = self.installed("dispatcher", "ocm-addon", "members")
        self.run_hub(found)
        self.perform(denying=True)
        writes = {(resource, verb) for _, resource, verb in granted if verb not in ("list", "watch")}
        self.assertEqual(self.named, writes)

    def test_a_log_line_names_each_kind_that_may_not_be_read(self):
        found, granted = self.installed("dispatcher", "ocm-addon", "members")
        roles = {path: self.server.get(path)["rules"] for path in READS}
        served = served_names(self.server)
        self.run_hub(found, "claims.create=false")
        read = sorted({(path, resource) for path, rules in roles.items()
                       for _, resource, _ in granted_by(rules) if resource in served})
        self.assertGreater(len(read), 15)
        for path, resource in read:
            with self.subTest(role=path, resource=resource):
                self.hub.kill()
                self.set_rules(path, without(roles[path], resource))
                begin = len(self.hub.process.text())
                self.hub.start()
                wanted = re.compile(rf'cannot (watch|list) resource "{resource.split(".")[0]}"')
                self.hub.wait_until(f"a line that names {resource}",
                                    lambda line=wanted: line.search(self.hub.process.text()[begin:]))
                self.set_rules(path, roles[path])

    def test_a_space_of_kubestellar_uses_its_rights(self):
        found, granted = self.installed("bindingpolicy", "members")
        policies = {right for right in granted if right[1] == POLICIES}
        self.assertEqual({verb for _, _, verb in policies}, {"list", "watch", "create", "patch", "delete"})
        self.run_hub(found)
        policy = "/apis/control.kubestellar.io/v1alpha1/bindingpolicies/fairlead-cluster2"
        self.nodes_and_queues()
        self.server.create("/apis/kueue.x-k8s.io/v1beta2/namespaces/team/localqueues", {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
            "metadata": {"name": "jobs", "namespace": "team"}, "spec": {"clusterQueue": HIGH}})
        self.cluster2_joins()
        self.hub.wait_until("the claim", self.claim)
        self.assign()
        self.hub.wait_until("the policy", lambda: self.server.get(policy))
        self.server.merge(policy, {"spec": {"downsync": [{"createOnly": True}]}}, user="admin")
        self.hub.wait_until("the policy put right", lambda: len(self.server.get(policy)["spec"]["downsync"]) > 0
                            and self.server.get(policy)["spec"]["downsync"] != [{"createOnly": True}])
        self.server.delete(f"{MANAGED_CLUSTERS}/cluster2")
        self.hub.wait_until("the policy to go", lambda: self.server.get(policy) is None)
        self.assertEqual(self.audit.refusals(), [])
        used = {verb for _, resource, verb in self.audit.used() if resource == POLICIES}
        self.assertEqual(used, {"watch", "create", "patch", "delete"})

    def test_fleet_claims_use_their_rights(self):
        self.server.install_crds(only=FLEET_CRDS)
        for name in FLEET_CRDS:
            self.addCleanup(self.server.delete, f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")
        found, granted = self.installed("dispatcher", "fleet-claims", "members")
        ours = {(resource, verb) for _, resource, verb in granted if resource.endswith("dra.fairlead.io")}
        self.assertEqual({verb for _, verb in ours}, {"list", "watch", "create", "patch", "delete"})
        self.run_hub(found, "claims.create=false")
        self.a_check_on_a_placement()
        self.licences()
        self.template_of_licences("licence")
        self.workload("job", {"multikueue": "Pending"}, annotations=self.entries(("l", None, "licence")))
        self.hub.wait_until("a selection", lambda: self.server.get(f"{SCHEDULINGS}/job"), timeout=45)
        self.allocate("job-l")
        self.hub.wait_until("a nomination", self.nominated, timeout=45)
        self.takes("job", "pool-cluster2")
        self.finished("job")
        self.hub.wait_until("the claim to go", lambda: self.server.get(f"{FLEET_CLAIMS}/job-l") is None, timeout=45)
        self.assertEqual(self.audit.refusals(), [])
        used = {(resource, verb) for _, resource, verb in self.audit.used()}
        self.assertEqual({right for right in ours if right[1] != "list"} - used, set())

    def provider_file(self, found):
        """What --clusterprofile-provider-file of the Pod names, as a file here, with PLUGIN in the place of the
        program that the init container copies."""
        pod = deploy.template(found)
        [container], [copies] = pod["containers"], pod["initContainers"]
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        mounts = {mount["mountPath"]: volumes.get(mount["name"]) for mount in container["volumeMounts"]}
        [path] = [pathlib.PurePosixPath(word.partition("=")[2]) for word in container["args"]
                  if word.startswith("--clusterprofile-provider-file=")]
        text = self.server.get(f"{FAIRLEAD_SPACE}/configmaps/{mounts[str(path.parent)]['configMap']['name']}") \
            ["data"][path.name]
        [provider] = json.loads(text)["providers"]
        command = provider["execConfig"]["command"]
        self.assertEqual(copies["command"][-1], command)
        [shared] = copies["volumeMounts"]
        self.assertEqual(volumes[shared["name"]], mounts[str(pathlib.PurePosixPath(command).parent)])
        self.assertEqual(shared["mountPath"], str(pathlib.PurePosixPath(command).parent))
        plugin, providers = (self.plane.directory / name for name in ("cp-creds", "providers.json"))
        plugin.write_text(PLUGIN.format(kubectl=assets() / "kubectl", cache=self.plane.directory / "kubectl",
                                        kubeconfig=deploy.account_kubeconfig(self.server)))
        plugin.chmod(0o700)
        providers.write_text(text.replace(command, str(plugin)))
        return providers

    def test_the_plugin_of_profile_access_uses_its_right(self):
        found, granted = self.installed("profile-access")
        self.arguments = ("--clusterprofile-provider-file", self.provider_file(found))
        of_member = json.loads(self.member.kubeconfig_of({}, {"extensions": [
            {"name": "client.authentication.k8s.io/exec", "extension": {"clusterName": "cluster2"}}]}, inline=True))
        self.server.create(PROFILES, {
            "apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
            "metadata": {"name": "cluster2"}, "spec": {"clusterManager": {"name": "open-cluster-management"}}})
        self.addCleanup(self.server.delete, f"{PROFILES}/cluster2")
        self.status(f"{PROFILES}/cluster2", {"accessProviders": [
            {"name": "open-cluster-management", "cluster": of_member["clusters"][0]["cluster"]}]})
        token = self.member.account("profile-access")[1]
        self.server.create(f"{FAIRLEAD_SPACE}/secrets", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cluster2-fairlead"},
            "data": {"token": base64.b64encode(token.encode()).decode()}})
        self.nodes_and_queues()
        self.run_hub(found, 'members.kubeconfigs=[{"cluster": "cluster2", "clusterProfile": "fairlead/cluster2"}]')
        self.hub.wait_until("the member's Nodes", lambda: len(
            self.hub.events(fact="ObjectObserved", source="cluster2", kind="Node")) == 4, timeout=45)
        self.assertEqual(self.audit.refusals(), [])
        ours = {right for right in granted if right[1] == "secrets" and right[0] == "fairlead"}
        self.assertEqual(ours, {("fairlead", "secrets", "get")})
        self.assertEqual(ours - self.audit.used(), set())

    def test_to_recommend_takes_no_right_to_write(self):
        found = deploy.objects(self.server, deploy.kustomize(deploy.DEPLOY / "overlays/recommend"))
        self.assertEqual({verb for _, _, verb in granted_in(found)}, {"list", "watch"})
        self.installed()
        for path in (WRITE, EVENTS):
            self.set_rules(path, [])
        self.arguments = ("--recommend-only",)
        self.run_hub(found, "members.kubeconfigs=[]")
        prepare_hub(self.server)
        self.cluster2_joins()
        self.server.create(CLAIMS, claim())
        self.hub.wait_until("a recommendation", lambda: '"kind":"ClusterResourceClaim"' in self.hub.process.text())
        self.assertEqual(self.audit.refusals(), [])
        self.assertEqual({verb for _, _, verb in self.audit.used()} - {"list", "watch"}, set())

    def every_use(self, granted):
        unused = self.audit.unused(granted, served_names(self.server))
        assert not unused, f"granted and not used: {unused}"
        return True


if __name__ == "__main__":
    unittest.main()
