"""`members.mode: bindingPolicy` on a real API server with KubeStellar's CRD: the hub is the space of the workload.

The test plays what KubeStellar and the OCM work agent do: it matches the BindingPolicy's clauses against the hub's
objects, as the CRD says that they match, and writes what is selected to the member's API server.
"""

import unittest

from harness.controlplane import ControlPlane
from harness.fleet import (CLAIMS, CRDS, FLAVORS, MANAGED_CLUSTERS, QUEUES, add_nodes, claim, join_cluster, prepare_hub,
                           quantity, quota)
from harness.hub import AT_ONCE, Hub
from harness.process import stays
from test_hub import CLAIM, HIGH

NEEDS = ("controlplane", "fairlead")

POLICY = "/apis/control.kubestellar.io/v1alpha1/bindingpolicies/fairlead-cluster2"
WORKS = "/apis/work.open-cluster-management.io/v1/namespaces/cluster2/manifestworks"
NAMESPACES = "/api/v1/namespaces"
KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
LISTS = {("", "namespaces"): NAMESPACES, ("kueue.x-k8s.io", "resourceflavors"): FLAVORS,
         ("kueue.x-k8s.io", "localqueues"): f"{KUEUE}/localqueues", ("kueue.x-k8s.io", "clusterqueues"): QUEUES}


def selects(policy, labels):
    return any(all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items())
               for selector in policy["spec"].get("clusterSelectors", []))


def matches(clause, group, resource, metadata):
    def admits(names, name):
        return not names or "*" in names or name in names
    return (clause.get("apiGroup", group) == group and admits(clause.get("resources"), resource)
            and admits(clause.get("namespaces"), metadata.get("namespace", "*"))
            and admits(clause.get("objectNames"), metadata["name"]))


class SpaceTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("hub")
        cls.member = cls.plane.add_server("cluster2")
        cls.server.install_crds(only=(*CRDS, "bindingpolicies.control.kubestellar.io"))
        cls.member.install_crds(only=("clusterqueues.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io",
                                      "resourceflavors.kueue.x-k8s.io"))
        for name in ("cluster2", "team"):
            cls.server.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        prepare_hub(cls.server)
        add_nodes(cls.member)
        cls.server.create(f"{KUEUE}/namespaces/team/localqueues", {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
            "metadata": {"name": "jobs", "namespace": "team"}, "spec": {"clusterQueue": HIGH}})
        join_cluster(cls.server, "cluster2")

    # -- KubeStellar, as far as it matters here ---------------------------------------------------------------

    def selected(self):
        """What the policy selects: [(collection, object, createOnly)]."""
        policy = self.server.get(POLICY)
        labels = self.server.get(f"{MANAGED_CLUSTERS}/cluster2")["metadata"].get("labels", {})
        if not policy or not selects(policy, labels):
            return []
        found = []
        for (group, resource), path in LISTS.items():
            for item in self.server.get(path)["items"]:
                clauses = [c for c in policy["spec"]["downsync"] if matches(c, group, resource, item["metadata"])]
                if clauses:
                    found.append((resource, item, any(c.get("createOnly") for c in clauses)))
        return found

    def names(self):
        return sorted(f"{resource} {item['metadata']['name']}" for resource, item, _ in self.selected())

    def transport(self):
        """Brings the selected objects to the member, and tells of it in the policy's status."""
        group = {resource: name for name, resource in LISTS}
        for resource, item, create_only in sorted(self.selected(), key=lambda one: one[0] != "namespaces"):
            metadata = item["metadata"]
            path = LISTS[(group[resource], resource)]
            if "namespace" in metadata:
                path = f"{KUEUE}/namespaces/{metadata['namespace']}/{resource}"
            place = f"{path}/{metadata['name']}"
            if create_only and self.member.get(place):
                continue
            kept = {key: metadata[key] for key in ("name", "namespace") if key in metadata}
            self.member.apply(place, {"apiVersion": item.get("apiVersion") or self.server.get(place)["apiVersion"],
                                      "kind": item.get("kind") or self.server.get(place)["kind"], "metadata": kept,
                                      "spec": item.get("spec", {})}, manager="kubestellar", force=True)
        self.status([{"type": "Synced", "status": "True", "reason": "ReconcileSuccess", "message": "",
                      "lastTransitionTime": "2026-01-01T00:00:00Z"}])

    def status(self, conditions, errors=()):
        generation = self.server.get(POLICY)["metadata"]["generation"]
        self.server.merge(f"{POLICY}/status", {"status": {"observedGeneration": generation, "conditions": conditions,
                                                          "errors": list(errors)}}, user="admin")

    def agent(self, active="True"):
        """Applies the quota work at the member and reports; the kinds that it carries."""
        work = self.server.get(f"{WORKS}/fairlead-quota")
        if not work:
            return []
        manifests = work["spec"]["workload"]["manifests"]
        for manifest in manifests:
            self.member.apply(f"{QUEUES}/{manifest['metadata']['name']}", manifest, manager="agent", force=True)
        self.server.merge(f"{WORKS}/fairlead-quota/status", {"status": {
            "conditions": [{"type": kind, "status": "True", "reason": "Agent", "message": "",
                            "observedGeneration": work["metadata"]["generation"],
                            "lastTransitionTime": "2026-01-01T00:00:00Z"} for kind in ("Applied", "Available")],
            "resourceStatus": {"manifests": [
                {"resourceMeta": {"group": "kueue.x-k8s.io", "version": "v1beta2", "kind": "ClusterQueue",
                                  "resource": "clusterqueues", "name": m["metadata"]["name"], "namespace": "",
                                  "ordinal": number}, "conditions": [],
                 "statusFeedback": {"values": [{"name": "active", "fieldValue": {"type": "String",
                                                                                 "string": active}}]}}
                for number, m in enumerate(manifests)]}}}, user="admin")
        return [manifest["kind"] for manifest in manifests]

    def propagated(self):
        conditions = self.server.get(CLAIM).get("status", {}).get("conditions", [])
        return next((f"{c['status']}/{c['reason']}" for c in conditions if c["type"] == "Propagated"), "")

    # -- the test ---------------------------------------------------------------------------------------------

    def test_the_policy_brings_what_is_common_and_the_work_the_quota(self):
        hub = Hub(self.plane, self.server, {"cluster2": self.member},
                  settings=(AT_ONCE, "members.mode=bindingPolicy")).start()
        self.addCleanup(hub.finish)
        self.server.create(CLAIMS, claim())
        hub.wait_until("the policy", lambda: self.server.get(POLICY))
        hub.wait_until("the member's work", lambda: self.server.get(f"{WORKS}/fairlead-quota"))
        self.label_is_asked_for(hub)
        hub.wait_until("what is selected", lambda: self.names() == [
            "localqueues jobs", "namespaces team", "resourceflavors on-demand", "resourceflavors spot"])
        self.assertEqual([resource for resource, _, create_only in self.selected() if create_only], ["namespaces"])

        self.queue_waits_for_its_flavor(hub)
        self.assertEqual(self.member.get(f"{KUEUE}/namespaces/team/localqueues/jobs")["spec"]["clusterQueue"], HIGH)
        self.assertEqual(quota(self.member, HIGH, "on-demand", "cpu"), quantity("500"))
        hub.wait_until("all well", lambda: self.propagated() == "True/Propagated")

        self.status([], ["no such collector"])
        hub.wait_until("what the space says", lambda: self.propagated() == "False/SpaceRejected")
        self.server.merge(POLICY, {"spec": {"downsync": [{"createOnly": True}]}})
        hub.wait_until("the policy put right", lambda: "clusterqueues high-priority-queue" not in self.names())
        self.claim_goes(hub)
        hub.stop()
        hub.check_log()

    def label_is_asked_for(self, hub):
        hub.wait_until("the missing label told", lambda: self.propagated() == "False/ClusterNotLabelled")
        self.assertEqual(self.names(), [])
        self.server.merge(f"{MANAGED_CLUSTERS}/cluster2", {"metadata": {"labels": {"name": "cluster2"}}})

    def queue_waits_for_its_flavor(self, hub):
        self.assertEqual(set(self.agent(active="False")), {"ClusterQueue"})
        stays("no quota on the hub while the member's queue has no flavor",
              lambda: quota(self.server, HIGH, "on-demand", "cpu") == 0, seconds=3)
        self.transport()
        self.agent()
        hub.wait_until("quota on the hub", lambda: quota(self.server, HIGH, "on-demand", "cpu") == quantity("500"))

    def claim_goes(self, hub):
        self.server.delete(CLAIM)
        hub.wait_until("nothing on the hub", lambda: quota(self.server, HIGH, "on-demand", "cpu") == 0)

        def released():
            self.agent()
            return self.server.get(CLAIM) is None

        hub.wait_until("the claim to go", released)
        # KubeStellar deletes what is selected no more: a Namespace with everything in it, a flavor of the member's own.
        self.assertEqual(self.names(), ["namespaces team", "resourceflavors on-demand", "resourceflavors spot"])


if __name__ == "__main__":
    unittest.main()
