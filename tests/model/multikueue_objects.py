"""Objects in their real shapes, and lines of `fairlead plan` with them, for traces and tests of the MultiKueue path."""
import copy
import json

from multikueue import at
from multikueue_world import CLUSTER_NAME_LABEL, KUEUE, KUEUES_OWN, MARK, OURS, OWNER, PLACEMENT_LABEL

NAMESPACE = "kueue-system"
OCM = "cluster.open-cluster-management.io/"
QUEUE = "team"


def line(time, obj, type_="MODIFIED"):
    return {"type": type_, "time": time, "cluster": "hub", "object": copy.deepcopy(obj)}


def stamp(ms):
    """A time of a line or a write, to the millisecond; objects carry whole seconds."""
    return at(ms) if ms % 1000 == 0 else at(ms)[:-1] + ".%03dZ" % (ms % 1000)


def render(lines):
    """The text of a trace, as `fairlead plan` reads it."""
    return "".join(json.dumps(dict(entry, time=stamp(entry["time"]))) + "\n" for entry in lines)


def obj(api, kind, name, namespace=None, spec=None, status=None):
    out = {"apiVersion": api, "kind": kind, "metadata": {"name": name, "uid": "uid-%s-%s" % (kind.lower(), name)}}
    if namespace:
        out["metadata"]["namespace"] = namespace
    if spec is not None:
        out["spec"] = spec
    if status is not None:
        out["status"] = status
    return out


def placement(name, addons=()):
    """`addons` are (resource name, score name, weight) of its AddOn prioritizers."""
    spec = {"clusterSets": ["fleet"]}
    if addons:
        spec["prioritizerPolicy"] = {"mode": "Exact", "configurations": [
            {"scoreCoordinate": {"type": "AddOn", "addOn": {"resourceName": r, "scoreName": s}}, "weight": w}
            for r, s, w in addons] + [
            {"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Steady"}, "weight": 3}]}
    return obj(OCM + "v1beta1", "Placement", name, NAMESPACE, spec)


def decision(place, index, clusters):
    out = obj(OCM + "v1beta1", "PlacementDecision", "%s-decision-%d" % (place, index), NAMESPACE,
              status={"decisions": [{"clusterName": c, "reason": ""} for c in clusters]})
    out["metadata"]["labels"] = {PLACEMENT_LABEL: place, OCM + "decision-group-index": "0",
                                 OCM + "decision-group-name": ""}
    return out


def score(cluster, resource, values, valid_until=None):
    status = {"scores": [{"name": n, "value": v} for n, v in sorted(values.items())]}
    if valid_until is not None:
        status["validUntil"] = at(valid_until)
    out = obj(OCM + "v1alpha1", "AddOnPlacementScore", resource, cluster, status=status)
    out["metadata"]["uid"] += "-" + cluster
    return out


def secret(cluster, profile="placement", key="kubeconfig"):
    name = "multikueue-%s" % cluster if profile == "cluster" else "kueue-admin-%s-kubeconfig" % cluster
    out = obj("v1", "Secret", name, NAMESPACE)
    out.update(type="Opaque", data={key: "YXBpVmVyc2lvbjogdjEK"})
    return out


def cluster_profile(cluster, providers=("kubeconfig",), labelled=True):
    name = "profile-of-" + cluster if labelled else cluster
    out = obj("multicluster.x-k8s.io/v1alpha1", "ClusterProfile", name, NAMESPACE,
              {"displayName": cluster, "clusterManager": {"name": "ocm"}},
              {"accessProviders": [{"name": p, "cluster": {"server": "https://127.0.0.1:6443"}} for p in providers]})
    if labelled:
        out["metadata"]["labels"] = {CLUSTER_NAME_LABEL: cluster}
    return out


def check(name, place, annotations=None, finalizers=()):
    """Our AdmissionCheck; `place` None leaves the parameters out, a dict is taken for them."""
    out = obj(KUEUE, "AdmissionCheck", name, spec={"controllerName": OURS})
    out["metadata"]["generation"] = 1
    if annotations:
        out["metadata"]["annotations"] = {"fairlead.io/multikueue." + k: v for k, v in annotations.items()}
    if finalizers:
        out["metadata"]["finalizers"] = list(finalizers)
    if place is not None:
        out["spec"]["parameters"] = place if isinstance(place, dict) else {
            "apiGroup": "cluster.open-cluster-management.io", "kind": "Placement", "name": place}
    return out


def kueue_check(name, config):
    return obj(KUEUE, "AdmissionCheck", name, spec={"controllerName": KUEUES_OWN, "parameters": {
        "apiGroup": "kueue.x-k8s.io", "kind": "MultiKueueConfig", "name": config}})


def own(out, owner):
    """Marks an object as written by us."""
    out["metadata"]["labels"] = dict([MARK])
    out["metadata"]["annotations"] = {OWNER: owner}
    del out["metadata"]["uid"]
    return out


def config(name, clusters, owned=True):
    out = obj(KUEUE, "MultiKueueConfig", name, spec={"clusters": list(clusters)})
    return own(out, "placement/" + name) if owned else out


def multikueue_cluster(name, location, owner=None):
    out = obj(KUEUE, "MultiKueueCluster", name, spec={
        "clusterSource": {"kubeConfig": {"location": location, "locationType": "Secret"}}})
    return own(out, owner) if owner else out


def crd(max_items):
    """Of MultiKueueConfig, cut down to what limits the list."""
    def version(name):
        clusters = {"type": "array", "items": {"type": "string"}, "maxItems": max_items, "minItems": 1}
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"clusters": clusters}}}}
        return {"name": name, "served": True, "storage": name == "v1beta2", "schema": {"openAPIV3Schema": schema}}
    return obj("apiextensions.k8s.io/v1", "CustomResourceDefinition", "multikueueconfigs.kueue.x-k8s.io", spec={
        "group": "kueue.x-k8s.io", "scope": "Cluster", "names": {
            "kind": "MultiKueueConfig", "listKind": "MultiKueueConfigList", "plural": "multikueueconfigs",
            "singular": "multikueueconfig"}, "versions": [version("v1beta1"), version("v1beta2")]})


def policy(name, label=None):
    """A MutatingAdmissionPolicy; `label` is whether it says that it clears nominations."""
    out = obj("admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy", name, spec={"failurePolicy": "Ignore"})
    if label is not None:
        out["metadata"]["labels"] = {"fairlead.io/clears-nominations": label}
    return out


def workload(name, checks, state="Pending", reserved=True, cluster=None, finished=False, evicted=False, uid=""):
    """A Workload whose status lists `checks`; those of Kueue's own kind too, as the ClusterQueue has them."""
    out = obj(KUEUE, "Workload", name, "jobs", {"active": True, "queueName": QUEUE, "podSets": [
        {"name": "main", "count": 1, "template": {"spec": {"restartPolicy": "Never", "containers": [
            {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}}}]}, {})
    out["metadata"]["uid"] += uid
    conditions = {"QuotaReserved": reserved, "Finished": finished, "Evicted": evicted}
    out["status"] = {
        "admissionChecks": [{"name": c, "state": state, "message": "", "lastTransitionTime": at(0)} for c in checks],
        "conditions": [{"type": t, "status": "True", "reason": t, "message": "", "lastTransitionTime": at(0)}
                       for t, there in conditions.items() if there]}
    if cluster:
        out["status"]["clusterName"] = cluster
    return out
