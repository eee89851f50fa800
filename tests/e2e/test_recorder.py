"""A hub that only records, as deploy/overlays/recommend-only installs it, on a real API server without Fairlead's CRD.

It has rights to read and no other, uses each, asks for nothing else, and names the writer of each quota.
Its log goes on under a hub that writes, and back.
"""

import base64
import json
import os
import unittest
from unittest import mock

from harness import deploy
from harness.audited import AuditLog, granted_in, served_names
from harness.controlplane import ControlPlane
from harness.fleet import (CLAIMS, FLAVORS, QUEUE_CRDS, QUEUES, add_node, claim, cluster_queue,
                           flavor, quantity, quota, remove_node)
from harness.hub import AT_ONCE, Hub
from harness.process import wait_for
from harness.program import fairlead

NEEDS = ("controlplane", "fairlead")

ACCOUNT = "system:serviceaccount:fairlead:fairlead"
COHORTS = "/apis/kueue.x-k8s.io/v1beta2/cohorts"
HIGH = "high-priority-queue"
QUEUE = f"{QUEUES}/{HIGH}"
PAIR = (HIGH, "on-demand", "cpu")
SECRET = "cluster2-kubeconfig"


class RecorderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.audit = AuditLog(cls.plane.directory, ACCOUNT)
        cls.server = cls.plane.add_server("hub", arguments=cls.audit.arguments)
        cls.member = cls.plane.add_server("cluster2")
        # Kueue's alone: neither Fairlead's, nor OCM's.
        cls.server.install_crds(only=(*QUEUE_CRDS, "cohorts.kueue.x-k8s.io", "workloads.kueue.x-k8s.io",
                                      "multikueueclusters.kueue.x-k8s.io"))
        cls.member.install_crds(only=QUEUE_CRDS)
        cls.found = cls.installed()

    @classmethod
    def installed(cls):
        """Applies the overlay with the component that reads Secrets of members; its objects."""
        folder = deploy.composed(cls.plane.directory / "recorder", ["members"], [
            {"target": {"kind": "Role", "name": "fairlead-members"}, "patch": json.dumps(
                [{"op": "replace", "path": "/rules/0/resourceNames", "value": [SECRET]}])}],
            beginning="overlays/recommend-only")
        found = deploy.objects(cls.server, deploy.kustomize(folder))
        deploy.apply(cls.server, folder)
        secret = base64.b64encode(cls.member.kubeconfig("fairlead", inline=True).read_bytes()).decode()
        cls.server.apply(f"/api/v1/namespaces/fairlead/secrets/{SECRET}", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": SECRET, "namespace": "fairlead"},
            "data": {"kubeconfig": secret}}, force=True)
        return found

    def setUp(self):
        self.audit.begin()
        for name in ("on-demand", "spot"):
            self.server.create(FLAVORS, flavor(name))
        for number in range(4):
            add_node(self.member, f"on-demand-{number}", "on-demand")

    def tearDown(self):
        for path in (CLAIMS, QUEUES, FLAVORS, COHORTS):
            if self.server.get(path):
                self.server.clear(path)
        self.member.clear("/api/v1/nodes")

    def hub(self, arguments=("--record",), data=None, kubeconfig=None, ready=True):
        """The program with the overlay's settings. Without `kubeconfig`: with the account's token."""
        hub = Hub(self.plane, self.server, data=data, kubeconfig=kubeconfig or deploy.account_kubeconfig(self.server),
                  config=json.dumps({
                      "apiVersion": "fairlead.io/v1alpha1", "kind": "Configuration", "claims": {"create": False},
                      "capacity": {"headroom": {"percent": {}, "reserved": {}}},
                      "members": {"kubeconfigs": [{"cluster": "cluster2", "secretRef": f"fairlead/{SECRET}"}]}}) + "\n",
                  settings=(AT_ONCE, *deploy.settings(self.found)), arguments=arguments)
        self.addCleanup(hub.finish)
        hub.start()
        if ready:
            hub.wait_until("the hub to be ready", hub.ready)
        return hub

    def ask(self, hub, *arguments):
        done = fairlead("audit", *arguments, "--data", hub.data, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def rows(self, hub):
        """[(old, new, writer, managers)] of the pair's history, the newest manager first."""
        answer = self.ask(hub, "history", HIGH, "--flavor", "on-demand", "--resource", "cpu")
        return [(row["old"], row["new"], row["writer"],
                 [(by["manager"], by["operation"]) for by in row.get("by", [])]) for row in answer["rows"]]

    def wait_for_rows(self, hub, wanted):
        def equal():
            found = self.rows(hub)
            assert found == wanted, f"{found}\n{wanted}"
            return True
        hub.wait_until(f"{len(wanted)} rows", equal)

    @staticmethod
    def observations(hub):
        return len(hub.events(fact="ObjectObserved", kind="ClusterQueue"))

    @staticmethod
    def queue(cpu):
        value = cluster_queue(HIGH)
        value["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = str(cpu)
        return value

    def edit(self, sed):
        """`kubectl edit` with a person who types `sed`."""
        with mock.patch.dict(os.environ, {"KUBE_EDITOR": f"sed -i {sed}"}):
            self.server.kubectl("edit", "clusterqueue", HIGH)

    # -- the tests ----------------------------------------------------------------------------------------------

    def test_history_names_every_writer(self):
        hub = self.hub()
        wanted = []

        def then(old, new, *managers):
            wanted.append((old, new, "foreign", list(managers)))
            self.wait_for_rows(hub, wanted)

        kubectl = self.server.kubectl
        kubectl("create", "-f", "-", stdin=json.dumps(self.queue(10)))
        then(None, "10", ("kubectl-create", "Update"))
        # A manager that labels it or reports its status wrote no quota, and costs no event.
        before = self.observations(hub)
        kubectl("label", "clusterqueue", HIGH, "team=a")
        self.server.merge(f"{QUEUE}/status", {"status": {"pendingWorkloads": 3}}, user="admin")
        kubectl("patch", "clusterqueue", HIGH, "--type=merge", "-p", self.patch(12))
        then("10", "12", ("kubectl-patch", "Update"))
        self.assertEqual(self.observations(hub), before + 1)
        self.edit(r"'0,/nominalQuota: \"12\"/s//nominalQuota: \"13\"/'")
        then("12", "13", ("kubectl-edit", "Update"))
        kubectl("replace", "-f", "-", stdin=json.dumps(self.queue(14)))
        then("13", "14", ("kubectl-replace", "Update"))
        apply = ("apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller", "-f", "-")
        kubectl(*apply, stdin=json.dumps(self.queue(15)))
        then("14", "15", ("argocd-controller", "Apply"))
        # A second owner of the same values is no change; who changes them next is their only owner.
        kubectl("apply", "--server-side", "--field-manager=helm", "-f", "-", stdin=json.dumps(self.queue(15)))
        self.server.merge(QUEUE, json.loads(self.patch(16)), user="human")
        then("15", "16", ("human", "Update"))
        text = fairlead("audit", "history", HIGH, "--data", hub.data).stdout
        self.assertRegex(text, r"foreign\s+by argocd-controller \(Apply,\s+20[-\d]+T[\d:]+Z\)\n")
        why = fairlead("audit", "why", *PAIR, "--data", hub.data).stdout
        self.assertRegex(why, r"last change   15 -> 16 by human \(Update, 20[-\d]+T[\d:]+Z\), seen by seq \d+ at")
        value = [row["nominal"] for row in self.ask(hub, "quota", HIGH)["rows"] if row["flavor"] == "on-demand"]
        self.assertIn("16", value)
        hub.stop()
        hub.check_log()

    def patch(self, cpu):
        return json.dumps({"spec": {"resourceGroups": self.queue(cpu)["spec"]["resourceGroups"]}})

    def test_it_reads_what_it_may_and_writes_nothing(self):
        [arguments] = [container["args"] for container in deploy.template(self.found)["containers"]]
        self.assertIn("--record", arguments)
        granted = granted_in(self.found)
        self.assertEqual({verb for _, _, verb in granted}, {"list", "watch"})
        self.assertEqual({resource for _, resource, _ in granted}, {
            "secrets", *(f"{name}.kueue.x-k8s.io" for name in (
                "clusterqueues", "cohorts", "localqueues", "multikueueclusters", "resourceflavors", "workloads"))})
        hub = self.hub()
        self.server.create(QUEUES, self.queue(10))
        self.server.create(COHORTS, {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Cohort",
                                     "metadata": {"name": "all"}, "spec": {}})
        hub.wait_until("the queue and the Nodes in the log", lambda: (
            hub.events(fact="ObjectObserved", kind="ClusterQueue") and
            hub.events(fact="ObjectObserved", kind="Cohort") and
            len(hub.events(fact="ObjectObserved", kind="Node")) >= 4))
        begin = hub.stat()["last_seq"]
        remove_node(self.member, "on-demand-3")
        self.server.merge(QUEUE, json.loads(self.patch(7)))
        hub.wait_until("both changes", lambda: hub.events(fact="ObjectGone", kind="Node") and
                       self.rows(hub)[-1][1] == "7")
        differs = self.ask(hub, "diff", f"seq:{begin}", f"seq:{hub.stat()['last_seq']}")
        self.assertEqual([(row["queue"], row["from"]["nominal"], row["to"]["nominal"]) for row in differs["quotas"]],
                         [(HIGH, "10", "7")])
        self.assertTrue(differs["capacity"], differs)
        self.assertEqual(differs["unseen"], [])
        self.assertEqual(self.audit.refusals(), [])
        # The end of its streams makes it ask where the store is, which is what `list` is for. (A server that starts
        # refuses for a moment what it allows later.)
        self.server.restart()
        served = served_names(self.server)

        def every_use():
            unused = self.audit.unused(granted, served)
            assert not unused, f"granted and not used: {unused}"
            return True
        hub.wait_until("every right to be used", every_use, timeout=180)
        self.assertEqual({verb for _, _, verb in self.audit.used()}, {"list", "watch"})
        self.assertEqual({request["requestURI"] for request in self.audit.requests()
                          if request["verb"] not in ("get", "list", "watch")}, set())
        self.assertEqual(hub.events(fact="PatchIntended"), [])
        hub.stop()
        hub.check_log()

    def test_its_log_goes_on_under_a_hub_that_writes_and_back(self):
        self.server.create(QUEUES, self.queue(10))
        self.server.create(QUEUES, cluster_queue("low-priority-queue"))
        recorder = self.hub()
        self.wait_for_rows(recorder, [(None, "10", "foreign", self.rows(recorder)[0][3])])
        recorder.stop()

        self.server.install_crds(only=[name for name in (
            "clusterresourceclaims.galaxy.kubestellar.io", "managedclusters.cluster.open-cluster-management.io")
            if name not in served_names(self.server)])
        wait_for("the claim's CRD to be served", lambda: self.server.raw("GET", CLAIMS)[0] == 200)
        wanted = claim()
        wanted["spec"]["resourceAssignments"] = [
            {"clusterQueueName": HIGH, "flavor": "on-demand", "resources": {"cpu": "500"}}]
        self.server.create(CLAIMS, wanted)
        writer = self.hub((), recorder.data, self.server.kubeconfig("fairlead"))
        writer.wait_until("the claim's quota", lambda: quota(self.server, *PAIR) == quantity("400"))
        writer.wait_until("the write in the history", lambda: self.rows(writer)[-1][:3] == ("10", "400", "fairlead"))
        writer.stop()
        written = len(writer.events(fact="PatchIntended"))
        self.assertGreater(written, 0)

        self.audit.begin()
        again = self.hub(data=recorder.data)
        remove_node(self.member, "on-demand-3")
        self.server.merge(QUEUE, json.loads(self.patch(9)))
        again.wait_until("the change that is not set back", lambda: self.rows(again)[-1] == (
            "400", "9", "foreign", [("human", "Update")]))
        again.wait_until("the lost node", lambda: again.events(fact="ObjectGone", kind="Node"))
        again.stop()
        self.assertEqual(len(again.events(fact="PatchIntended")), written)
        self.assertEqual({verb for _, _, verb in self.audit.used()} - {"list", "watch"}, set())
        self.assertEqual([event["configuration"].get("record", False)
                          for event in again.events(fact="ConfigChanged")], [True, False, True])
        # What the log holds of claims is from before: an answer that rests on them says so.
        unseen = self.ask(again, "quota", HIGH)["unseen"]
        self.assertIn("ClusterResourceClaim", json.dumps(unseen))
        again.check_log()

    def test_record_and_recommend_only_are_two_things(self):
        for words in (("--record", "--recommend-only"), ("--set", "record=true", "--recommend-only")):
            done = fairlead("hub", *words, "--data", self.plane.directory / "none", "--kubeconfig",
                            self.server.kubeconfig())
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("--recommend-only", done.stderr)


if __name__ == "__main__":
    unittest.main()
