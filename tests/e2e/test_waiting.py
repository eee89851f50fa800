"""Who waits and why, who used what: Workloads as Kueue writes them, on real API servers of a hub and of a worker.

No Kueue runs here. The statuses are those that Kueue 0.19 wrote in a trial (reason Pending), and what 0.20 writes with
its gate UnadmittedWorkloadsObservability (reasons of its own).
"""

import csv
import io
import json
import time
import unittest

from harness.controlplane import ControlPlane
from harness.fleet import KUEUE, QUEUES
from harness.hub import AT_ONCE, Hub
from harness.program import fairlead
from harness.times import rfc3339

NEEDS = ("controlplane", "fairlead")

KINDS = ("clusterqueues", "localqueues", "resourceflavors", "cohorts", "workloads", "admissionchecks",
         "multikueueconfigs", "multikueueclusters")
V1BETA2 = "kueue.x-k8s.io/v1beta2"
WORKLOADS = f"{KUEUE}/namespaces/default/workloads"
QUEUE = f"{QUEUES}/gpus"
NO_QUOTA = ("couldn't assign flavors to pod set main: insufficient unused quota for cpu in flavor od, {} more needed")


def now():
    return rfc3339(time.time_ns())[:19] + "Z"


class WaitingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server, cls.worker = cls.plane.add_server("hub"), cls.plane.add_server("w1")
        for server in (cls.server, cls.worker):
            server.install_crds(only=[f"{kind}.kueue.x-k8s.io" for kind in KINDS])
            server.create(f"{KUEUE}/resourceflavors", {
                "apiVersion": V1BETA2, "kind": "ResourceFlavor", "metadata": {"name": "od"}, "spec": {}})

    def setUp(self):
        self.ticks = 0
        for server in (self.server, self.worker):
            self.queue(server, 48)
            self.addCleanup(server.clear, QUEUES)
            self.addCleanup(server.clear, f"{KUEUE}/localqueues")
            self.addCleanup(server.clear, f"{KUEUE}/workloads")

    def hub(self, *settings, arguments=("--record",)):
        hub = Hub(self.plane, self.server, members={"w1": self.worker}, arguments=arguments,
                  settings=(AT_ONCE, "usage.interval=0s", "members.workloads=true", *settings)).start()
        self.addCleanup(hub.finish)
        hub.wait_until("the hub to be ready", hub.ready)
        return hub

    # -- Kueue's part -------------------------------------------------------------------------------------------

    @staticmethod
    def queue(server, cpu):
        server.create(QUEUES, {
            "apiVersion": V1BETA2, "kind": "ClusterQueue", "metadata": {"name": "gpus"},
            "spec": {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
                {"name": "od", "resources": [{"name": "cpu", "nominalQuota": str(cpu)}]}]}]}})
        server.create(f"{KUEUE}/namespaces/default/localqueues", {
            "apiVersion": V1BETA2, "kind": "LocalQueue", "metadata": {"name": "team"},
            "spec": {"clusterQueue": "gpus"}})

    @staticmethod
    def workload(server, name, cpu, labels=None):
        server.create(WORKLOADS, {
            "apiVersion": V1BETA2, "kind": "Workload", "metadata": {"name": name, "labels": labels or {}},
            "spec": {"queueName": "team", "active": True, "priority": 0, "podSets": [{
                "name": "main", "count": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [
                    {"name": "c", "image": "job", "resources": {"requests": {"cpu": str(cpu)}}}]}}}]}})

    @staticmethod
    def says(server, name, conditions, **status):
        """Kueue's forced apply of the whole status; {type: (status, reason, message)}."""
        server.apply(f"{WORKLOADS}/{name}/status", {
            "apiVersion": V1BETA2, "kind": "Workload", "metadata": {"name": name, "namespace": "default"},
            "status": {"conditions": [
                {"type": type_, "status": value, "reason": reason, "message": message,
                 "lastTransitionTime": now()} for type_, (value, reason, message) in conditions.items()],
                **status}}, manager="kueue", force=True)

    def admit(self, server, name, cpu):
        self.says(server, name, {"QuotaReserved": ("True", "QuotaReserved", "Quota reserved in ClusterQueue gpus"),
                                 "Admitted": ("True", "Admitted", "The workload is admitted")},
                  admission={"clusterQueue": "gpus", "podSetAssignments": [
                      {"name": "main", "count": 1, "flavors": {"cpu": "od"}, "resourceUsage": {"cpu": str(cpu)}}]})
        self.uses(server, cpu)

    @staticmethod
    def uses(server, cpu):
        row = [{"name": "od", "resources": [{"name": "cpu", "total": str(cpu), "borrowed": "0"}]}]
        server.merge(f"{QUEUE}/status", {"status": {"flavorsUsage": row, "flavorsReservation": row}}, user="admin")

    # -- the answers --------------------------------------------------------------------------------------------

    def ask(self, hub, *arguments):
        done = fairlead("audit", *arguments, "--data", hub.data, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def wait(self, hub, name):
        """The only wait of a Workload."""
        [wait] = self.ask(hub, "waiting", f"default/{name}")["waits"]
        return wait

    def last(self, hub, name):
        return self.wait(hub, name)["intervals"][-1]

    def tick(self):
        """Makes an event: an answer ends with the last one of the log, and shows what came before it."""
        self.ticks += 1
        self.server.apply(f"{QUEUES}/clock", {
            "apiVersion": V1BETA2, "kind": "ClusterQueue", "metadata": {"name": "clock"},
            "spec": {"stopPolicy": ("None", "Hold")[self.ticks % 2]}}, force=True)

    def until(self, hub, name, **wanted):
        """Waits until the last interval of a Workload has these values; the interval."""
        def equal():
            self.tick()
            at = self.last(hub, name)
            assert {key: at[key] for key in wanted} == wanted, at
            return True
        hub.wait_until(f"{name}: {wanted}", equal)
        return self.last(hub, name)

    # -- the tests ----------------------------------------------------------------------------------------------

    def test_a_lowered_quota_is_named_as_the_cause(self):
        hub = self.hub()
        self.workload(self.server, "train", 44)
        self.until(hub, "train", **{"class": "queue", "reason": ""})
        self.uses(self.server, 8)
        self.says(self.server, "train", {"QuotaReserved": ("False", "Pending", NO_QUOTA.format(4))},
                  resourceRequests=[{"name": "main", "resources": {"cpu": "44"}}])
        at = self.until(hub, "train", **{"class": "quota", "reason": "Pending", "fit": "quota", "where": "hub"})
        self.assertEqual(at["message"], NO_QUOTA.format(4))
        self.assertEqual(at["shortage"], [{"flavor": "od", "resource": "cpu", "amount": "4", "source": source}
                                          for source in ("message", "quota")])

        self.server.kubectl("patch", "clusterqueue", "gpus", "--type=json", "-p", json.dumps(
            [{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": "40"}]))
        at = self.until(hub, "train", fit="no")
        [edit] = hub.events(fact="ObjectObserved", kind="ClusterQueue", source="hub", name="gpus")[-1:]
        self.assertEqual(at["causes"], [edit["seq"]])

        self.server.kubectl("patch", "clusterqueue", "gpus", "--type=json", "-p", json.dumps(
            [{"op": "replace", "path": "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota", "value": "60"}]))
        self.until(hub, "train", fit="now")
        self.admit(self.server, "train", 44)
        hub.wait_until("its admission", lambda: self.wait(hub, "train")["end"] == "admitted")

        answer = self.ask(hub, "waiting", "default/train")
        self.assertEqual(set(answer), {
            "namespace", "name", "uid", "queue", "clusterQueue", "created", "asOf", "state", "waited", "waits",
            "workers", "firstSeq", "lastSeq", "digest"})
        self.assertEqual(answer["state"], "admitted")
        intervals = answer["waits"][0]["intervals"]
        for one, other in zip(intervals, intervals[1:]):
            self.assertEqual(one["to"], other["from"])
        self.assertEqual([at["fit"] for at in intervals if at["class"] == "quota"], ["quota", "no", "now"])
        self.assertEqual(self.ask(hub, "waiting")["workloads"], [])
        hub.stop()
        hub.check_log()

    def test_reasons_of_kueue_0_20(self):
        hub = self.hub()
        self.workload(self.server, "new", 50)
        for reason, wanted in (("PendingEvaluation", "queue"), ("ExceedsMaxQuota", "quota"), ("OnHold", "hold"),
                               ("NoMatchingFlavor", "config"), ("TopologyPlacementFailed", "topology"),
                               ("WaitingForPreemptedWorkloads", "preemption"), ("DRAResourcesUnresolved", "device"),
                               ("NewInKueue021", "unknown")):
            self.says(self.server, "new", {"QuotaReserved": ("False", reason, reason)})
            self.until(hub, "new", **{"class": wanted, "reason": reason})
        self.server.kubectl("patch", "workload", "new", "--type=merge", "-p", '{"spec":{"active":false}}')
        self.until(hub, "new", **{"class": "hold", "reason": "Deactivated"})
        [row] = self.ask(hub, "waiting", "--queue", "gpus")["workloads"]
        self.assertEqual((row["name"], row["class"], row["clusterQueue"]), ("new", "hold", "gpus"))
        self.assertEqual(fairlead("audit", "waiting", "default/nobody", "--data", hub.data).returncode, 1)

    def test_a_worker_tells_why_its_copy_waits(self):
        hub = self.hub()
        self.workload(self.server, "remote", 4)
        self.says(self.server, "remote", {"QuotaReserved": ("True", "QuotaReserved", "Quota reserved")},
                  nominatedClusterNames=["w1"],
                  admissionChecks=[{"name": "mk", "state": "Pending", "message": "", "lastTransitionTime": now()}])
        at = self.until(hub, "remote", **{"class": "worker"})
        self.assertEqual(at["checks"], [{"name": "mk", "state": "Pending"}])
        self.workload(self.worker, "remote", 4, labels={"kueue.x-k8s.io/multikueue-origin": "multikueue"})
        self.says(self.worker, "remote", {"QuotaReserved": ("False", "NoMatchingFlavor", "no flavor")})

        def of_worker():
            self.tick()
            [worker] = self.ask(hub, "waiting", "default/remote")["workers"]
            assert worker["cluster"] == "w1", worker
            at = worker["intervals"][-1]
            assert (at["class"], at["reason"], at["where"]) == ("config", "NoMatchingFlavor", "worker"), at
            return True
        hub.wait_until("the copy's reason", of_worker)

    def test_use_adds_up_and_a_second_report_has_the_same_bytes(self):
        hub = self.hub()
        self.workload(self.server, "job", 30)
        self.admit(self.server, "job", 30)
        hub.wait_until("its use", lambda: '"total":30000' in json.dumps(
            hub.events(fact="ObjectObserved", kind="ClusterQueue", source="hub"), separators=(",", ":")))
        time.sleep(1.5)
        self.says(self.server, "job", {"Finished": ("True", "Succeeded", "Job finished successfully")})
        self.uses(self.server, 0)
        hub.wait_until("its end", lambda: not hub.events(fact="ObjectObserved", kind="ClusterQueue", source="hub")[-1][
            "facts"]["usage"][0]["total"])
        hub.stop()

        def report(*arguments):
            done = fairlead("usage", *arguments, "--data", hub.data)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done.stdout
        text = report("--by", "queue", "-o", "csv")
        self.assertEqual(report("--by", "queue", "-o", "csv"), text)
        [row] = [row for row in csv.DictReader(io.StringIO(text)) if row["side"] == "hub"]
        self.assertEqual((row["key"], row["flavor"], row["resource"]), ("gpus", "od", "cpu"))
        granted, used, own, borrowed, idle = (
            float(row[name]) for name in ("granted", "used", "own", "borrowed", "idle"))
        self.assertGreater(used, 30)
        self.assertAlmostEqual(used, own + borrowed, places=6)
        self.assertAlmostEqual(granted, own + idle, places=6)
        answer = json.loads(report("--by", "namespace", "-o", "json"))
        [row] = [row for row in answer["rows"] if row["side"] == "hub"]
        self.assertEqual(row["key"], "default")
        self.assertAlmostEqual(float(row["used"]), used, delta=30)
        self.assertEqual(len(answer["digest"]), 64)


if __name__ == "__main__":
    unittest.main()
