"""Devices of members: what is read of resource.k8s.io on real API servers, in each version, and what may be missing."""

import json
import signal
import unittest

from harness import deploy
from harness.audited import AuditLog, granted_in, served_names
from harness.controlplane import ControlPlane
from harness.fleet import KUEUE, NODES, QUEUE_CRDS
from harness.hub import AT_ONCE, Hub

NEEDS = ("controlplane", "fairlead")

ACCOUNT = "system:serviceaccount:fairlead:fairlead"
RIGHTS = deploy.DEPLOY / "member/watched.yaml"
ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/fairlead-watched"
DEVICES = "/apis/resource.k8s.io"
# By member: how its API server serves resource.k8s.io, and the version that the hub reads.
SERVED = {"new": (("--runtime-config=resource.k8s.io/v1beta2=true", "--feature-gates=DRADeviceTaintRules=true"), "v1"),
          "old": (("--runtime-config=resource.k8s.io/v1=false,resource.k8s.io/v1beta1=true",), "v1beta1"),
          "none": (("--runtime-config=resource.k8s.io/v1=false",), None)}
DEVICE = {"attributes": {"model": {"string": "H100"}, "slot": {"int": 3}, "firmware": {"version": "1.2.3"}},
          "capacity": {"memory": {"value": "80Gi"}}}
CORE = "/api/v1/namespaces/default"
PODSET = "kueue.x-k8s.io/podset"
DISPATCH = ("dra.dispatch=true", "multikueue.dispatcher=true")
QUOTA_KINDS = {"ResourceSlice", "DeviceClass", "ResourceClaim"}


class DevicesTest(unittest.TestCase):
    """A hub and its members, each entered with the account of deploy/member/watched.yaml."""

    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("hub")
        cls.server.install_crds()
        cls.audits, cls.members = {}, {}
        cls.rules = cls.start_member("new").get(ROLE)["rules"]

    @classmethod
    def start_member(cls, name):
        """Each API server takes memory and time, so those of one test are started and killed by it."""
        folder = cls.plane.directory / f"audit-{name}"
        folder.mkdir()
        cls.audits[name] = AuditLog(folder, ACCOUNT)
        member = cls.members[name] = cls.plane.add_server(
            name, arguments=[*SERVED[name][0], *cls.audits[name].arguments])
        member.install_crds(only=QUEUE_CRDS)
        member.kubectl("apply", "--server-side", "-f", RIGHTS)
        member.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
        return member

    def setUp(self):
        self.set_rules("new", self.rules)
        self.audits["new"].begin()

    def member_of_this_test(self, name):
        member = self.start_member(name)
        self.addCleanup(member.kill)

    def set_rules(self, name, rules):
        self.members[name].apply(ROLE, {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "rules": rules,
            "metadata": {"name": "fairlead-watched"}}, manager="kubectl", force=True)

    def run_hub(self, *names, settings=()):
        members = {}
        for name in names:
            path = self.plane.directory / f"kubeconfig-{name}.json"
            path.write_text(self.members[name].kubeconfig_of({"token": deploy.token(self.members[name])}))
            path.chmod(0o600)
            members[name] = {"file": str(path)}
        self.hub = Hub(self.plane, self.server, members, settings=(AT_ONCE, *settings))
        self.addCleanup(self.hub.finish)
        return self.hub.start()

    def publish(self, name, device="gpu-0"):
        """A slice with one device, a class, a claim and a template, in the version that the member serves."""
        member, version = self.members[name], SERVED[name][1]
        flat = version == "v1beta1"

        def create(resource, kind, spec, namespace="", named="gpu"):
            path = f"{DEVICES}/{version}/{namespace and f'namespaces/{namespace}/'}{resource}"
            self.addCleanup(member.raw, "DELETE", f"{path}/{named}")
            member.create(path, {"apiVersion": f"resource.k8s.io/{version}", "kind": kind, "metadata": {"name": named},
                                 "spec": spec})
        create("resourceslices", "ResourceSlice", {
            "driver": "gpu.example.com", "nodeName": "n1",
            "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": device, **({"basic": DEVICE} if flat else DEVICE)}]})
        create("deviceclasses", "DeviceClass", {
            "selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}],
            "extendedResourceName": "example.com/gpu",
            "config": [{"opaque": {"driver": "gpu.example.com", "parameters": {"not": "kept"}}}]})
        ask = {"deviceClassName": "gpu"}
        claim = {"devices": {"requests": [{"name": "r", **(ask if flat else {"exactly": ask})}]}}
        create("resourceclaims", "ResourceClaim", claim, "default")
        create("resourceclaimtemplates", "ResourceClaimTemplate", {"spec": claim}, "default")

    def facts(self, source):
        """{kind: facts} of the newest event about each kind of devices of that member."""
        return {event["kind"]: event["facts"] for event in self.hub.events(fact="ObjectObserved", source=source)
                if event["group"] == "resource.k8s.io"}

    def wait_for_kinds(self, source, kinds):
        self.hub.wait_until(f"{sorted(kinds)} of {source}", lambda: set(self.facts(source)) == kinds)

    def make_pod(self, name, labels=None):
        """A Pod as Kueue makes it for Workload `job` if it has the label; no server schedules it."""
        member = self.members["new"]
        self.addCleanup(member.raw, "DELETE", f"{CORE}/pods/{name}")
        member.create(f"{CORE}/pods", {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels or {}, "annotations": {"kueue.x-k8s.io/workload": "job"}},
            "spec": {"serviceAccountName": "runner", "automountServiceAccountToken": False, "containers": [{
                "name": "c", "image": "i", "env": [{"name": "PASSWORD", "value": "not-kept"}],
                "resources": {"limits": {"example.com/gpu": "1"}}}]}})

    def pods(self, fact="ObjectObserved"):
        return self.hub.events(fact=fact, source="new", kind="Pod")

    def nodes_are_known(self, source):
        return bool(self.hub.events(fact="ObjectObserved", source=source, kind="Node"))

    # -- the tests -----------------------------------------------------------------------------------------

    def test_equal_objects_have_equal_facts_in_each_version(self):
        self.member_of_this_test("old")
        hub = self.run_hub("new", "old")
        for name in ("new", "old"):
            self.publish(name)
            self.wait_for_kinds(name, QUOTA_KINDS)
        read = {name: self.facts(name) for name in ("new", "old")}
        for facts in read.values():
            facts["DeviceClass"].pop("created")
        self.assertEqual(read["new"], read["old"])
        self.assertEqual(read["new"]["ResourceSlice"]["devices"], [{"name": "gpu-0", **DEVICE}])
        self.assertEqual(read["new"]["ResourceClaim"]["requests"], [{
            "name": "r", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}}])
        versions = {event["version"] for event in hub.events(fact="ObjectObserved", source="old", kind="ResourceSlice")}
        self.assertEqual(versions, {"v1beta1"})
        self.assertFalse(any("not" in str(facts) for facts in read["new"].values()))
        hub.stop()
        hub.check_log()

    def test_changes_and_ends_are_seen_and_repetitions_are_not(self):
        hub = self.run_hub("new")
        self.publish("new")
        self.wait_for_kinds("new", QUOTA_KINDS)
        slices = f"{DEVICES}/v1/resourceslices/gpu"
        before = len(hub.events(source="new", kind="ResourceSlice"))
        # Labels are nothing that is read; a taint is.
        self.members["new"].merge(slices, {"metadata": {"labels": {"a": "b"}}}, user="admin")
        taint = {"key": "broken", "effect": "NoExecute", "timeAdded": "2026-01-01T00:00:00Z"}
        self.members["new"].merge(slices, {"spec": {"devices": [{"name": "gpu-0", **DEVICE, "taints": [taint]}]}},
                                  user="admin")
        hub.wait_until("the taint", lambda: self.facts("new")["ResourceSlice"]["devices"][0].get("taints") == [
            {"key": "broken", "effect": "NoExecute"}])
        self.members["new"].delete(slices)
        hub.wait_until("the end", lambda: hub.events(fact="ObjectGone", source="new", kind="ResourceSlice"))
        self.assertEqual(len(hub.events(source="new", kind="ResourceSlice")), before + 2)
        hub.stop()
        hub.check_log()

    def test_templates_are_read_where_pods_are_placed(self):
        hub = self.run_hub("new", settings=("dra.quota=false",))
        self.publish("new")
        hub.wait_until("the Node", lambda: self.nodes_are_known("new"))
        self.assertEqual(self.facts("new"), {})
        self.assertNotIn("resourceslices", "".join(uri["requestURI"] for uri in self.audits["new"].requests()))
        hub.stop()
        self.assertFalse(hub.said("resourceclaimtemplates"))
        hub = self.run_hub("new", settings=("dra.quota=false", *DISPATCH))
        self.wait_for_kinds("new", {*QUOTA_KINDS, "ResourceClaimTemplate"})
        hub.stop()
        hub.check_log()

    def test_of_a_pod_that_kueue_made_its_workload_and_pod_set_are_read(self):
        member = self.members["new"]
        member.create(f"{CORE}/serviceaccounts", {
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "runner"}})
        self.addCleanup(member.delete, f"{CORE}/serviceaccounts/runner")
        self.make_pod("other")
        self.make_pod("p0", {PODSET: "workers"})
        hub = self.run_hub("new", settings=DISPATCH)
        hub.wait_until("the Pod of the list", lambda: [event["name"] for event in self.pods()] == ["p0"])
        self.make_pod("p1", {PODSET: "workers"})
        hub.wait_until("the Pod of the watch", lambda: [event["name"] for event in self.pods()] == ["p0", "p1"])
        for event in self.pods():
            self.assertEqual(event["facts"], {
                "workload": "job", "podSet": "workers", "requests": {}, "bound": False, "gated": False,
                "resourceClaims": False, "over": False, "deleting": False})
        # Whatever else changes is nothing that is read. One that loses the label is gone for us.
        member.merge(f"{CORE}/pods/p0", {"metadata": {"labels": {"a": "b"}}}, user="admin")
        member.merge(f"{CORE}/pods/p1", {"metadata": {"labels": {PODSET: None}}}, user="admin")
        hub.wait_until("its end", lambda: [event["name"] for event in self.pods("ObjectGone")] == ["p1"])
        self.assertEqual(len(self.pods()), 2)
        asked = [uri["requestURI"] for uri in self.audits["new"].requests() if "/pods" in uri["requestURI"]]
        self.assertTrue(asked)
        self.assertEqual([uri for uri in asked if "labelSelector=kueue.x-k8s.io%2Fpodset" not in uri], [])
        hub.stop()
        hub.check_log()
        self.assertNotIn("not-kept", str(hub.events()))

    def test_a_workload_is_read_with_its_pod_sets_and_priority(self):
        workloads = f"{KUEUE}/namespaces/default/workloads"
        gpus = {"resources": {"requests": {"example.com/gpu": "2"}, "limits": {"example.com/gpu": "2"}}}
        template = {"spec": {
            "restartPolicy": "Never", "nodeSelector": {"pool": "h100"},
            "resourceClaims": [{"name": "nic", "resourceClaimTemplateName": "one-nic"}],
            "tolerations": [{"key": "gpu", "operator": "Exists"}],
            "containers": [{"name": "main", "image": "job", **gpus}]}}
        plain = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "job"}]}}
        made = self.server.create(workloads, {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "job"},
            "spec": {"queueName": "q", "priority": 7, "podSets": [
                {"name": "leader", "count": 1, "template": plain},
                {"name": "workers", "count": 4, "template": template}]}})
        self.addCleanup(self.server.delete, f"{workloads}/job")
        hub = self.run_hub("new", settings=DISPATCH)

        def facts():
            return [event["facts"] for event in hub.events(fact="ObjectObserved", kind="Workload", name="job")]
        hub.wait_until("the Workload", lambda: len(facts()) == 1)
        pod_set = {"name": "workers", "count": 4, "nodeSelector": {"pool": "h100"},
                   "resourceClaims": [{"name": "nic", "resourceClaimTemplateName": "one-nic"}],
                   "extendedResources": {"example.com/gpu": 2}, "tolerations": [{"operator": "Exists", "key": "gpu"}]}
        self.assertEqual(facts()[0]["podSets"], [pod_set])
        self.assertEqual(facts()[0]["priority"], 7)
        self.assertEqual(facts()[0]["created"], made["metadata"]["creationTimestamp"])
        # Kueue admits fewer Pods; which flavors it assigned is not read.
        self.server.apply(f"{workloads}/job/status", {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "job"},
            "status": {"admission": {"clusterQueue": "q", "podSetAssignments": [
                {"name": "leader", "count": 1},
                {"name": "workers", "count": 3, "flavors": {"example.com/gpu": "f"}}]}}},
            manager="kueue", force=True)
        hub.wait_until("the count", lambda: facts()[-1]["podSets"] == [{**pod_set, "admitted": 3}])
        self.assertEqual(len(facts()), 2)
        hub.stop()
        hub.check_log()

    def test_a_reload_brings_devices_into_use(self):
        hub = self.run_hub("new")
        hub.wait_until("the Node", lambda: self.nodes_are_known("new"))
        configuration = json.loads(hub.config.read_text())
        hub.config.write_text(json.dumps({**configuration, "dra": {"quota": False}}))
        hub.process.signal(signal.SIGHUP)
        hub.wait_until("the configuration", lambda: len(hub.events(fact="ConfigChanged")) == 2)
        self.publish("new")
        hub.config.write_text(json.dumps({**configuration, "dra": {"quota": True, "fleetClaims": True}}))
        hub.process.signal(signal.SIGHUP)
        self.wait_for_kinds("new", {*QUOTA_KINDS, "ResourceClaimTemplate"})
        hub.stop()
        hub.check_log()

    def test_rules_are_read_where_they_are_served(self):
        rules = f"{DEVICES}/v1beta2/devicetaintrules"
        hub = self.run_hub("new")
        self.members["new"].create(rules, {
            "apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": "all"},
            "spec": {"deviceSelector": {"driver": "gpu.example.com"}, "taint": {"key": "k", "effect": "NoExecute"}}})
        self.addCleanup(self.members["new"].delete, f"{rules}/all")
        self.wait_for_kinds("new", {"DeviceTaintRule"})
        self.assertEqual(self.facts("new")["DeviceTaintRule"], {
            "deviceSelector": {"driver": "gpu.example.com"}, "taint": {"key": "k", "effect": "NoExecute"}})
        hub.stop()
        hub.check_log()

    def test_a_member_without_devices_is_as_before(self):
        self.member_of_this_test("none")
        hub = self.run_hub("none")
        hub.wait_until("the Node", lambda: self.nodes_are_known("none"))
        self.members["none"].delete(f"{NODES}/n1")
        hub.wait_until("its end", lambda: hub.events(fact="ObjectGone", source="none", kind="Node"))
        self.members["none"].create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}})
        self.assertEqual(self.audits["none"].refusals(), [])
        self.assertFalse(hub.said("resourceslices"))
        self.assertIn('watch_synced{cluster="none",kind="ResourceSlice"} 0', hub.http("/metrics")[1])
        self.assertIn('watch_synced{cluster="none",kind="Node"} 1', hub.http("/metrics")[1])
        hub.stop()
        hub.check_log()

    def test_a_missing_right_is_named_and_all_else_goes_on(self):
        bare = [rule for rule in self.rules
                if rule["apiGroups"] != ["resource.k8s.io"] and rule["resources"] != ["pods"]]
        self.set_rules("new", bare)
        self.publish("new")
        hub = self.run_hub("new", settings=DISPATCH)
        for resource in ("resourceslices", "deviceclasses", "resourceclaims", "resourceclaimtemplates", "pods"):
            hub.wait_until(f"a line about {resource}", lambda name=resource: hub.said(f"{name}: 403"))
        hub.wait_until("the Node", lambda: self.nodes_are_known("new"))
        self.assertEqual(self.facts("new"), {})
        self.assertFalse(hub.events(fact="SourceStale"))
        self.assertFalse(hub.events(fact="SourceLost", source="new"))
        self.set_rules("new", self.rules)
        self.wait_for_kinds("new", {*QUOTA_KINDS, "ResourceClaimTemplate"})
        hub.stop()
        hub.check_log()

    def test_nothing_is_refused_and_nothing_is_granted_in_vain(self):
        hub = self.run_hub("new", settings=DISPATCH)
        hub.wait_until("the Node", lambda: self.nodes_are_known("new"))
        member, audit = self.members["new"], self.audits["new"]
        granted = granted_in(deploy.objects(member, RIGHTS.read_text()))
        served = served_names(member)
        self.assertEqual(audit.refusals(), [])  # (a server that starts refuses, before it has read its roles)
        # The end of its streams makes the hub ask where the store is, which is what `list` is for.
        member.restart()

        def every_use():
            # A stream that did not end before the restart goes on by `watch` alone.
            watched = {resource for _, resource, verb in audit.used() if verb == "watch"}
            left = [right for right in audit.unused(granted, served)
                    if right[2] != "list" or right[1] not in watched]
            assert not left, f"granted and not used: {left}"
            return True
        hub.wait_until("every right to be used", every_use, timeout=120)
        self.assertEqual({verb for _, _, verb in granted}, {"list", "watch"})
        hub.stop()
        hub.check_log()


if __name__ == "__main__":
    unittest.main()
