"""Objects and lines of the pool's traces."""
import json

import pool_values as v


def line(time, cluster, obj, type_="ADDED"):
    return {"type": type_, "time": time, "cluster": cluster, "object": obj}


def source(time, cluster, kind):
    return {"type": "SOURCE_" + kind, "time": time, "cluster": cluster}


def obj(kind, name, namespace=None, notes=None, uid=None, api="v1", **fields):
    meta = {"name": name}
    if namespace:
        meta["namespace"] = namespace
    if uid:
        meta["uid"] = uid
    if notes:
        meta["annotations"] = dict(notes)
    return {"apiVersion": api, "kind": kind, "metadata": meta, **fields}


def node(name, ready=True, unschedulable=False, taints=(), **allocatable):
    spec = {"unschedulable": True} if unschedulable else {}
    if taints:
        spec["taints"] = list(taints)
    own = {k.replace("gpu", "nvidia.com/gpu"): q for k, q in allocatable.items()}
    texts = {"cpu": "8", "memory": "32Gi", **own}
    return obj("Node", name, spec=spec, status={
        "allocatable": texts, "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]})


def virtual_cluster(name, phase="Running", space=True, limit=None, uid=None):
    status = {"phase": phase}
    if space:
        status["clusterNamespace"] = name
    notes = {v.LIMIT: limit} if limit is not None else None
    return obj("VirtualCluster", name, "default", notes, uid or "vc-" + name, "tenancy.x-k8s.io/v1alpha1", spec={},
               status=status)


def namespace(name, notes=None, uid=None):
    return obj("Namespace", name, notes=notes, uid=uid or "u-" + name)


def quota(space, name="q", scoped=False, **hard):
    spec = {"hard": {k.replace("requests_", "requests."): q for k, q in hard.items()}}
    if scoped:
        spec["scopes"] = ["BestEffort"]
    return obj("ResourceQuota", name, space, spec=spec)


def pod(space, name, requests=None, notes=None, bound=False, gated=False, claims=False, phase=None, uid=None):
    spec = {"containers": [{"name": "c", "resources": {"requests": dict(requests or {})}}]}
    if bound:
        spec["nodeName"] = "n"
    if gated:
        spec["schedulingGates"] = [{"name": "g"}]
    if claims:
        spec["resourceClaims"] = [{"name": "r", "resourceClaimName": "x"}]
    out = obj("Pod", name, space, notes, uid or "p-%s-%s" % (space, name), spec=spec)
    if phase:
        out["status"] = {"phase": phase}
    return out


def super_namespace(tenant, space, uid=None, n=None, unit=None):
    notes = {v.KEY + "cluster": tenant, v.KEY + "namespace": space}
    if uid is not None:
        notes[v.KEY + "uid"] = uid
    if n is not None:
        notes[v.PLACEMENTS] = n if isinstance(n, str) else v.placements_text(n)
    if unit is not None:
        notes[v.SLICE] = unit
    return obj("Namespace", "%s-%s" % (tenant, space), notes=notes)


def config_map(data):
    return obj("ConfigMap", "supercluster-info", "kube-system", data=data)


def slice_text(cpu, memory):
    return json.dumps({"cpu": cpu, "memory": memory})
