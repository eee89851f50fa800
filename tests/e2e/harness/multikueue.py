"""A hub between OCM and Kueue: the test plays OCM's placement controller and Kueue's manager."""

import base64
import itertools
import json
import random
import time
import unittest

from .canary import CANARY
from .controlplane import ControlPlane
from .fleet import CRDS, KUEUE, MANAGED_CLUSTERS, QUEUE_CRDS
from .hub import Hub
from .interceptor import Interceptor
from .process import stays

OCM = "/apis/cluster.open-cluster-management.io"
NAMESPACE = "kueue-system"
CHECKS, CONFIGS = f"{KUEUE}/admissionchecks", f"{KUEUE}/multikueueconfigs"
WORKERS = f"{KUEUE}/multikueueclusters"
WORKLOADS = f"{KUEUE}/namespaces/team/workloads"
SECRETS = f"/api/v1/namespaces/{NAMESPACE}/secrets"
PLACEMENTS = f"{OCM}/v1beta1/namespaces/{NAMESPACE}/placements"
DECISIONS = f"{OCM}/v1beta1/namespaces/{NAMESPACE}/placementdecisions"
PROFILES = f"/apis/multicluster.x-k8s.io/v1alpha1/namespaces/{NAMESPACE}/clusterprofiles"
CONTROLLER = "open-cluster-management.io/placement"
MULTIKUEUE_CRDS = (*CRDS, "placements.cluster.open-cluster-management.io",
                   "placementdecisions.cluster.open-cluster-management.io",
                   "addonplacementscores.cluster.open-cluster-management.io", "workloads.kueue.x-k8s.io")
DEVICES_RESERVED = "fairlead.io/DevicesReserved"
MOMENT = "2026-01-01T00:00:00Z"
# moveWindow is long enough for a blink on a slow machine; cases that wait for a move shorten it by annotation.
WINDOWS = ("multikueue.settle=500ms", "multikueue.moveWindow=4s", "multikueue.drainTimeout=30s",
           "multikueue.emptyGrace=30s", "multikueue.credentialGrace=4s")
# Seconds: what the hub does within one, if its machine has no other load.
LONG = 60
_serial = itertools.count(1)


def condition(kind, status="True", reason=None):
    return {"type": kind, "status": status, "reason": reason or kind, "message": "", "lastTransitionTime": MOMENT}


def best_score(number=1):
    """spec of a Placement that takes the `number` clusters with the highest gpuClusterAvailable."""
    return {"numberOfClusters": number, "prioritizerPolicy": {"mode": "Exact", "configurations": [
        {"weight": 1, "scoreCoordinate": {"type": "AddOn", "addOn": {
            "resourceName": "resource-usage-score", "scoreName": "gpuClusterAvailable"}}}]}}


def labelled(key, value):
    """spec of a Placement that takes every cluster with that label."""
    return {"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {key: value}}}}]}


class MultiKueueTest(unittest.TestCase):
    """One API server and one hub for a module, see open(); each test has names of its own and leaves nothing behind."""

    # Lists of what the hub writes.
    written = (CHECKS, CONFIGS, WORKERS, WORKLOADS)

    @classmethod
    def open(cls, settings=WINDOWS, members=(), crds=(), member_arguments=()):
        """For setUpModule: starts everything. At the end of the module the hub's log is checked.

        `crds`: names of further CRDs of the hub.
        `members`: names of clusters with an API server of their own that has Kueue's queues and that the hub watches.
        `member_arguments`: more command line of these servers.
        """
        cls.plane = unittest.enterModuleContext(ControlPlane())
        cls.server = cls.plane.add_server("hub")
        cls.server.install_crds(only=(*MULTIKUEUE_CRDS, *crds))
        for name in (NAMESPACE, "team"):
            cls.make_namespace(name)
        cls.members = {name: cls.plane.add_server(name, arguments=member_arguments) for name in members}
        for member in cls.members.values():
            member.install_crds(only=QUEUE_CRDS)
            cls.make_namespace("team", member)
        cls.between = unittest.enterModuleContext(Interceptor(cls.server))
        cls.hub = Hub(cls.plane, cls.server, cls.members, settings=settings, kubeconfig=cls.between.kubeconfig())
        unittest.addModuleCleanup(cls.hub.finish)
        unittest.addModuleCleanup(cls.close_hub)
        cls.start_hub()

    @classmethod
    def close_hub(cls):
        if cls.hub.process.running():
            cls.hub.stop()
        cls.hub.check_log()

    @classmethod
    def start_hub(cls):
        cls.hub.start()
        cls.hub.wait_until("the hub to be ready", cls.ready)

    @classmethod
    def ready(cls):
        try:
            return cls.hub.http("/readyz")[0] == 200
        except OSError:
            return False

    @classmethod
    def make_namespace(cls, name, server=None):
        server = server or cls.server
        if server.get(f"/api/v1/namespaces/{name}") is None:
            server.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def setUp(self):
        self.begin = len(self.between.exchanges)
        self.addCleanup(self.clear)

    def clear(self):
        """The administrator takes everything away again; the hub removes what it made."""
        self.server.request("DELETE", WORKLOADS)
        self.server.clear(CHECKS)
        if self.hub.process.running():
            self.hub.wait_until("the hub to remove its objects", lambda: not self.marked(), timeout=LONG)
        for path in (PLACEMENTS, DECISIONS, SECRETS, PROFILES):
            self.server.request("DELETE", path)
        for path in (CONFIGS, WORKERS, MANAGED_CLUSTERS, f"{OCM}/v1alpha1/addonplacementscores"):
            self.server.clear(path)

    def marked(self):
        return [item["metadata"]["name"] for path in (CONFIGS, WORKERS)
                for item in (self.server.get(path) or {"items": []})["items"]
                if item["metadata"].get("labels", {}).get("app.kubernetes.io/managed-by") == "fairlead"]

    def tearDown(self):
        # A write may cross one of ours that is on its way (409); nothing else may be refused.
        self.check_accepted(besides=(409,))

    # -- the administrator -----------------------------------------------------------------------------------

    def started(self, placement, *clusters, finalizers=(), **windows):
        """A check `multikueue` on a Placement that selected these clusters, all of them in its list."""
        for cluster in clusters:
            self.secret(cluster)
        self.placement(placement)
        self.decide(placement, list(clusters))
        self.check("multikueue", placement, finalizers, **windows)
        self.wait_for_list(placement, *clusters)
        self.wait_for_condition("multikueue", "True", "Active")
        self.wait_for_condition("multikueue", "True", "AllClustersUsed", "AllClustersUsed")

    def check(self, name, placement, finalizers=(), **windows):
        """An AdmissionCheck on a Placement; `windows` as annotations, such as moveWindow="1s"."""
        self.server.create(CHECKS, {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck",
            "metadata": {"name": name, "finalizers": list(finalizers),
                         "annotations": {f"fairlead.io/multikueue.{key}": text for key, text in windows.items()}},
            "spec": {"controllerName": CONTROLLER, "parameters": {
                "apiGroup": "cluster.open-cluster-management.io", "kind": "Placement", "name": placement}}})

    def placement(self, name, spec=None):
        self.server.create(PLACEMENTS, {"apiVersion": "cluster.open-cluster-management.io/v1beta1",
                                        "kind": "Placement", "metadata": {"name": name, "namespace": NAMESPACE},
                                        "spec": spec or {}})

    def secret(self, cluster, name=None):
        """A kubeconfig for a cluster; called again it rotates."""
        text = json.dumps({"token": f"{CANARY}-{next(_serial)}"})
        name = name or f"kueue-admin-{cluster}-kubeconfig"
        self.server.apply(f"{SECRETS}/{name}", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": NAMESPACE},
            "data": {"kubeconfig": base64.b64encode(text.encode()).decode()}}, force=True)

    def profile(self, cluster):
        """A ClusterProfile with one access provider."""
        self.server.create(PROFILES, {
            "apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
            "metadata": {"name": cluster, "namespace": NAMESPACE,
                         "labels": {"open-cluster-management.io/cluster-name": cluster}},
            "spec": {"displayName": cluster, "clusterManager": {"name": "open-cluster-management"}}})
        self.status(f"{PROFILES}/{cluster}", {"accessProviders": [
            {"name": "open-cluster-management", "cluster": {"server": "https://127.0.0.1:1"}}]})

    def cluster(self, name, **labels):
        """A ManagedCluster with a credential."""
        self.make_namespace(name)
        self.server.create(MANAGED_CLUSTERS, {
            "apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
            "metadata": {"name": name, "labels": labels}, "spec": {"hubAcceptsClient": True}})
        self.secret(name)

    # -- OCM -------------------------------------------------------------------------------------------------

    def status(self, path, status, user="admin"):
        self.server.merge(f"{path}/status", {"status": status}, user=user)

    def score(self, cluster, value, name="gpuClusterAvailable"):
        path = f"{OCM}/v1alpha1/namespaces/{cluster}/addonplacementscores"
        if self.server.get(f"{path}/resource-usage-score") is None:
            self.server.create(path, {"apiVersion": "cluster.open-cluster-management.io/v1alpha1",
                                      "kind": "AddOnPlacementScore",
                                      "metadata": {"name": "resource-usage-score", "namespace": cluster}})
        self.status(f"{path}/resource-usage-score", {"scores": [{"name": name, "value": value}]})

    def decide(self, placement, *shards):
        """One PlacementDecision for each of `shards` (lists of clusters); those that were more are emptied."""
        present = {item["metadata"]["name"]: item for item in self.server.get(DECISIONS)["items"]
                   if item["metadata"]["labels"]["cluster.open-cluster-management.io/placement"] == placement}
        for number in range(max(len(shards), len(present))):
            name = f"{placement}-decision-{number + 1}"
            if name not in present:
                self.server.create(DECISIONS, {
                    "apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "PlacementDecision",
                    "metadata": {"name": name, "namespace": NAMESPACE, "labels": {
                        "cluster.open-cluster-management.io/placement": placement}}})
            chosen = shards[number] if number < len(shards) else []
            self.status(f"{DECISIONS}/{name}", {"decisions": [
                {"clusterName": cluster, "reason": ""} for cluster in chosen]})

    def place(self, name):
        """What OCM's controller would decide now: predicates by label, then the best scores."""
        spec = self.server.get(f"{PLACEMENTS}/{name}")["spec"]
        wanted = {key: text for predicate in spec.get("predicates", [])
                  for key, text in predicate["requiredClusterSelector"]["labelSelector"]["matchLabels"].items()}
        scores = {item["metadata"]["namespace"]: item["status"]["scores"][0]["value"]
                  for item in self.server.get(f"{OCM}/v1alpha1/addonplacementscores")["items"] if "status" in item}
        fitting = [item["metadata"]["name"] for item in self.server.get(MANAGED_CLUSTERS)["items"]
                   if wanted.items() <= item["metadata"].get("labels", {}).items()]
        fitting.sort(key=lambda cluster: (-scores.get(cluster, 0), cluster))
        self.decide(name, sorted(fitting[:spec.get("numberOfClusters", len(fitting))]))

    # -- Kueue's manager ---------------------------------------------------------------------------------------

    def workload(self, name, checks, reserved=True, annotations=None, count=1, spec=None):
        """A Workload with quota whose checks have these states, such as {"multikueue": "Pending"}.

        `annotations`, `count`, `spec`: of its pods.
        """
        spec = spec or {"containers": [{"name": "main", "image": "job"}]}
        self.server.create(WORKLOADS, {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": name, "namespace": "team"},
            "spec": {"queueName": "user-queue", "podSets": [{"name": "main", "count": count, "template": {
                "metadata": {"annotations": annotations or {}}, "spec": {"restartPolicy": "Never", **spec}}}]}})
        conditions = [condition("QuotaReserved")] if reserved else []
        self.kueue_says(name, {"conditions": conditions, "admissionChecks": self.states(checks), **(
            {"admission": {"clusterQueue": "queue", "podSetAssignments": [{"name": "main"}]}} if reserved else {})})

    @staticmethod
    def states(checks):
        return [{"name": name, "state": state, "message": "said by Kueue", "lastTransitionTime": MOMENT}
                for name, state in checks.items()]

    def kueue_says(self, name, status):
        """As Kueue writes: forced apply of the status, field manager `kueue`."""
        self.server.apply(f"{WORKLOADS}/{name}/status", {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": name, "namespace": "team"},
            "status": status}, manager="kueue", force=True)

    def running(self, name, worker, checks):
        """A Workload that runs on the MultiKueueCluster `worker`."""
        self.workload(name, checks)
        self.takes(name, worker)

    def takes(self, name, worker):
        """Kueue has made the Workload's copy on this worker the only one; nominations end with that."""
        self.status(f"{WORKLOADS}/{name}", {
            "clusterName": worker, "nominatedClusterNames": None,
            "conditions": [condition("QuotaReserved"), condition("Admitted")]})

    def finished(self, name):
        conditions = self.server.get(f"{WORKLOADS}/{name}")["status"]["conditions"]
        self.status(f"{WORKLOADS}/{name}", {"conditions": [*conditions, condition("Finished", reason="Succeeded")]})

    # -- what is to be seen --------------------------------------------------------------------------------------

    def list_of(self, placement):
        config = self.server.get(f"{CONFIGS}/{placement}")
        return config and config["spec"]["clusters"]

    def wait_for_list(self, placement, *clusters, timeout=LONG):
        """Until the config has the workers of these clusters, in this order; without any: until it is gone."""
        wanted = [f"{placement}-{cluster}" for cluster in clusters] or None

        def equal():
            seen = self.list_of(placement)
            assert seen == wanted, f"{seen} instead of {wanted}"
            return True
        self.hub.wait_until(f"the list {wanted}", equal, timeout)

    def wait_for_nomination(self, name, *workers):
        def equal():
            seen = self.server.get(f"{WORKLOADS}/{name}")["status"].get("nominatedClusterNames")
            assert seen == list(workers), f"{seen} instead of {workers}"
            return True
        self.hub.wait_until(f"the nomination of {name}", equal, timeout=LONG)

    def devices_reserved(self, name):
        """The condition of that name on a Workload, or {}."""
        conditions = self.server.get(f"{WORKLOADS}/{name}")["status"].get("conditions", [])
        return next((each for each in conditions if each["type"] == DEVICES_RESERVED), {})

    def wait_for_reason(self, name, *reasons):
        """Until DevicesReserved has one of these reasons; the condition."""
        def one_of_them():
            seen = self.devices_reserved(name)
            assert seen.get("reason") in reasons, f"{seen} instead of {reasons}"
            return seen
        return self.hub.wait_until(f"{name} to say {' or '.join(reasons)}", one_of_them, timeout=LONG)

    def conditions(self, check):
        status = (self.server.get(f"{CHECKS}/{check}") or {}).get("status", {})
        return {each["type"]: each for each in status.get("conditions", [])}

    def wait_for_condition(self, check, status, reason, kind="Active", timeout=LONG):
        """Until the check says so; the message."""
        def equal():
            seen = self.conditions(check).get(kind)
            assert seen and (seen["status"], seen["reason"]) == (status, reason), f"{seen}"
            return seen
        return self.hub.wait_until(f"{kind} {status} {reason}", equal, timeout)["message"]

    def generation(self, placement):
        return self.server.get(f"{CONFIGS}/{placement}")["metadata"]["generation"]

    def writes(self):
        """What the hub has written since the test began."""
        return [each for each in self.between.exchanges[self.begin:]
                if each.request.writes() and not each.request.path.endswith("/events")]

    def versions(self):
        """Every object that the hub writes: a write of it that changes anything changes its resourceVersion."""
        return {f"{path}/{item['metadata']['name']}": item["metadata"]["resourceVersion"]
                for path in self.written for item in self.server.get(path)["items"]}

    def rest(self, seconds=0.7):
        """Until the hub has written nothing for so long."""
        counts = []

        def still():
            counts.append(len(self.writes()))
            need = round(seconds / 0.1) + 1
            return len(counts) >= need and counts[-1] == counts[-need]
        self.hub.wait_until("the hub to rest", still)

    def stays_quiet(self, seconds):
        """Fails if the hub sends a write within `seconds`."""
        before = len(self.writes())

        def quiet():
            late = self.writes()[before:]
            assert not late, f"written in the quiet: {[(each.request, each.request.body) for each in late]}"
            return self.hub.check_running()
        stays("the quiet", quiet, seconds)

    def killed_and_back(self):
        """kill -9 and a start on the same data: the log verifies and is the same again, the hub goes on."""
        self.hub.kill()
        self.hub.check_log()
        self.start_hub()

    def killed_at_a_random_moment(self, within):
        wait = random.SystemRandom().random() * within
        with self.subTest(killed_after=wait):
            time.sleep(wait)
            self.killed_and_back()

    def survives_a_kill(self, seconds=1.0):
        """At rest: nothing is written after the return either."""
        self.rest()
        before = self.versions()
        self.killed_and_back()
        self.stays_quiet(seconds)
        self.assertEqual(self.versions(), before)

    def check_accepted(self, besides=()):
        """The server refused none of our writes but with the codes `besides`."""
        for each in self.writes():
            if each.code is not None and each.code >= 400 and each.code not in besides:
                self.fail(f"{each.code} for {each.request}: {each.request.body.decode()}\n{each.body.decode()}")

