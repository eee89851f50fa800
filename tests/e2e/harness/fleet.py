"""The objects of the end-to-end scenarios: a hub with two queues, a member cluster with nodes, one claim."""

import re

from .apiserver import Refused

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
GALAXY = "/apis/galaxy.kubestellar.io/v1alpha1"
QUEUES = f"{KUEUE}/clusterqueues"
FLAVORS = f"{KUEUE}/resourceflavors"
CLAIMS = f"{GALAXY}/clusterresourceclaims"
NODES = "/api/v1/nodes"
MANAGED_CLUSTERS = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
WORKS = "/apis/work.open-cluster-management.io/v1/manifestworks"
# Those that Fairlead reads or writes; without the megabyte of Workload's schema.
CRDS = ("clusterresourceclaims.galaxy.kubestellar.io", "clustermetrics.galaxy.kubestellar.io",
        "clusterqueues.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io",
        "admissionchecks.kueue.x-k8s.io", "multikueueconfigs.kueue.x-k8s.io", "multikueueclusters.kueue.x-k8s.io",
        "managedclusters.cluster.open-cluster-management.io", "manifestworks.work.open-cluster-management.io",
        "clusterprofiles.multicluster.x-k8s.io")
# Of a member whose queues are watched.
QUEUE_CRDS = ("clusterqueues.kueue.x-k8s.io", "localqueues.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io")
RESOURCES = ("cpu", "memory", "nvidia.com/gpu")

_SUFFIXES = {"": 10**9, "n": 1, "u": 10**3, "m": 10**6, "k": 10**12, "M": 10**15, "G": 10**18, "T": 10**21,
             "P": 10**24, "E": 10**27, **{f"{c}i": 10**9 * 1024**(i + 1) for i, c in enumerate("KMGTPE")}}


def quantity(text):
    """A Quantity in nano units: values are compared, never texts."""
    match = re.fullmatch(r"([+-]?)(\d*)(?:\.(\d*))?([numkMGTPE]|[KMGTPE]i|)", str(text))
    assert match, f"no Quantity: {text!r}"
    sign, whole, fraction, suffix = match.groups()
    fraction = fraction or ""
    nano = int((whole or "0") + fraction) * _SUFFIXES[suffix] // 10**len(fraction)
    return -nano if sign == "-" else nano


def cluster_queue(name, flavors=("on-demand", "spot"), cohort=None):
    """All our pairs at 0; `spot` cpu of 7 where no claim names it is the administrator's own."""
    groups = [{"coveredResources": list(RESOURCES), "flavors": [
        {"name": flavor, "resources": [{"name": r, "nominalQuota": "0"} for r in RESOURCES]} for flavor in flavors]}]
    spec = {"resourceGroups": groups, "namespaceSelector": {}}
    if cohort:
        spec["cohortName"] = cohort
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}


def flavor(name):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": name},
            "spec": {"nodeLabels": {"pool": name}}}


def claim(cluster="cluster2"):
    """The claim that the kind was proposed with."""
    share = {"cpu": "500", "memory": "500Gi", "gpu": "5"}
    return {"apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterResourceClaim",
            "metadata": {"name": f"{cluster}-resource-claim"},
            "spec": {"clusterName": cluster,
                     "nominalResources": {"cpu": "1000", "memory": "1000Gi", "gpu": "10"},
                     "resourceAssignments": [
                         {"clusterQueueName": "high-priority-queue", "flavor": "on-demand", "resources": share},
                         {"clusterQueueName": "low-priority-queue", "flavor": "spot", "resources": share}]}}


def add_node(server, name, pool, allocatable=None):
    """A Ready node; without `allocatable` of 100 cpu, 100Gi and 1 GPU: ten of them are what the claim assigns."""
    allocatable = allocatable or {"cpu": "100", "memory": "100Gi", "nvidia.com/gpu": "1", "pods": "110"}
    server.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"pool": pool}}})
    server.merge(f"{NODES}/{name}/status", {"status": {
        "allocatable": allocatable, "capacity": allocatable,
        "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}}, user="admin")
    # The API server taints every new node as not ready; on a real cluster the node controller takes that away.
    server.merge(f"{NODES}/{name}", {"spec": {"taints": None}}, user="admin")


def remove_node(server, name):
    try:
        server.delete(f"{NODES}/{name}")
    except Refused as refused:
        if refused.code != 404:
            raise


def add_nodes(server, pools=("on-demand", "spot"), each=5):
    for pool in pools:
        for number in range(each):
            add_node(server, f"{pool}-{number}", pool)


def join_cluster(server, name):
    """A ManagedCluster that is accepted and available, as OCM's registration leaves it."""
    server.create(MANAGED_CLUSTERS, {
        "apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
        "metadata": {"name": name}, "spec": {"hubAcceptsClient": True}})
    server.merge(f"{MANAGED_CLUSTERS}/{name}/status", {"status": {"conditions": [
        {"type": "ManagedClusterConditionAvailable", "status": "True", "reason": "Seen", "message": "",
         "lastTransitionTime": "2026-01-01T00:00:00Z"}]}}, user="admin")


def prepare_hub(server):
    """Flavors and queues; the claim is the test's."""
    for name in ("on-demand", "spot"):
        server.create(FLAVORS, flavor(name))
    for name in ("high-priority-queue", "low-priority-queue"):
        server.create(QUEUES, cluster_queue(name))


def quota(server, queue, flavor_name, resource):
    """The nominalQuota of one pair in nano units; None where the queue or the pair is not there."""
    found = server.get(f"{QUEUES}/{queue}") or {"spec": {}}
    for group in found["spec"].get("resourceGroups") or []:
        for entry in group["flavors"]:
            if entry["name"] == flavor_name:
                for pair in entry["resources"]:
                    if pair["name"] == resource:
                        return quantity(pair["nominalQuota"])
    return None


def quotas(server):
    """Every pair of both queues, by (queue, flavor, resource)."""
    return {(queue, pool, resource): quota(server, queue, pool, resource)
            for queue in ("high-priority-queue", "low-priority-queue") for pool in ("on-demand", "spot")
            for resource in RESOURCES}


def set_quota(server, queue, flavor_name, resource, value, user="human"):
    """What `kubectl edit` does: reads the queue, changes one number, writes the whole list."""
    groups = server.get(f"{QUEUES}/{queue}")["spec"]["resourceGroups"]
    for group in groups:
        for entry in group["flavors"]:
            for pair in entry["resources"]:
                if entry["name"] == flavor_name and pair["name"] == resource:
                    pair["nominalQuota"] = value
    server.merge(f"{QUEUES}/{queue}", {"spec": {"resourceGroups": groups}}, user=user)
