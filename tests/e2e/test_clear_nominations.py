"""The policy of docs/dispatcher on a real API server: Kueue can give a nominated Workload a cluster."""

import unittest

from harness.apiserver import Refused
from harness.controlplane import ROOT, ControlPlane
from harness.process import wait_for

NEEDS = ("controlplane",)
POLICY = ROOT / "docs/dispatcher/clear-nominations.yaml"
WORKLOADS = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads"
PLACED = {"clusterName": "gpu-a", "admission": {"clusterQueue": "queue", "podSetAssignments": [{"name": "main"}]}}


def condition(kind, status="True"):
    return {"type": kind, "status": status, "reason": kind, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}


class ClearNominationsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(ControlPlane()).add_server("hub")
        cls.server.install_crds(only=["workloads.kueue.x-k8s.io"])

    def says(self, manager, name, status):
        """As Kueue and Fairlead write: forced apply of the status. The status that is there then."""
        return self.server.apply(f"{WORKLOADS}/{name}/status", {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": name}, "status": status},
            manager=manager, force=True)["status"]

    def nominated(self, name):
        self.server.create(WORKLOADS, {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": name},
            "spec": {"queueName": "user-queue", "podSets": [{"name": "main", "count": 1, "template": {
                "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "job"}]}}}]}})
        self.says("fairlead", name, {"nominatedClusterNames": ["gpu-a", "gpu-b"]})

    def placed(self, name):
        """The status after Kueue has named a cluster; None if the server refuses both fields at a time."""
        try:
            return self.says("kueue", name, {**PLACED, "conditions": [condition("QuotaReserved")]})
        except Refused as refusal:
            self.assertIn("mutually exclusive", str(refusal))
            return None

    def clears(self, name):
        status = self.placed(name)
        return status is not None and "nominatedClusterNames" not in status

    def test_a_nomination_goes_with_the_choice_of_a_cluster_and_with_an_eviction(self):
        self.nominated("first")
        self.assertFalse(self.clears("first"), "there is nothing to clear nominations for")
        self.nominated("second")
        self.server.kubectl("apply", "-f", POLICY)
        # The server takes some seconds until a new policy is in force.
        wait_for("the policy to be in force", lambda: self.clears("first"))
        self.assertTrue(self.clears("second"))
        self.nominated("evicted")
        waiting = self.says("kueue", "evicted", {"conditions": [condition("QuotaReserved")]})
        self.assertEqual(waiting["nominatedClusterNames"], ["gpu-a", "gpu-b"])
        evicted = [condition("QuotaReserved", "False"), condition("Evicted")]
        self.assertNotIn("nominatedClusterNames", self.says("kueue", "evicted", {"conditions": evicted}))
        again = self.says("fairlead", "evicted", {"nominatedClusterNames": ["gpu-b"]})
        self.assertEqual(again["nominatedClusterNames"], ["gpu-b"])


if __name__ == "__main__":
    unittest.main()
