"""Objects of members and Workloads in their real shapes, for traces of the dispatcher."""
import dispatch_members as m
import multikueue_objects as o

NAMESPACE = "jobs"
DRIVER = "gpu.example.com"
EXTENDED, IMPLICIT = "example.com/gpu", "deviceclass.resource.kubernetes.io/gpu"
RESOURCE = "resource.k8s.io/v1"


def node(name, ready=True, cordoned=False, plugin=0):
    made = o.obj("v1", "Node", name, spec={"unschedulable": True} if cordoned else {}, status={
        "allocatable": {"cpu": "64", **({EXTENDED: str(plugin)} if plugin else {})},
        "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]})
    made["metadata"]["labels"] = {"kubernetes.io/hostname": name, "zone": "ab" if name in "ab" else "cd"}
    return made


def device(name, model="h100", taint=None, cost=None, memory=None):
    """`cost`: of the counter set of its pool; `memory`: it is shared and has so much."""
    made = {"name": name, "attributes": {"model": {"string": model}}}
    if taint:
        made["taints"] = [{"key": "health", "value": "bad", "effect": taint}]
    if cost:
        made["consumesCounters"] = [{"counterSet": "card", "counters": {"slices": {"value": str(cost)}}}]
    if memory:
        made.update(allowMultipleAllocations=True, capacity={"memory": {"value": "%dGi" % memory}})
    return made


def resource_slice(name, pool, devices=None, counters=None, generation=1, slices=1):
    spec = {"driver": DRIVER, "pool": {"name": pool, "generation": generation, "resourceSliceCount": slices},
            "nodeName": pool}
    if counters:
        spec["sharedCounters"] = [{"name": "card", "counters": {"slices": {"value": str(counters)}}}]
    else:
        spec["devices"] = devices
    return o.obj(RESOURCE, "ResourceSlice", name, spec=spec)


def device_class(name, *expressions, extended=None):
    spec = {"selectors": [{"cel": {"expression": e}} for e in expressions]}
    if extended:
        spec["extendedResourceName"] = extended
    return o.obj(RESOURCE, "DeviceClass", name, spec=spec)


def request(**fields):
    return {"name": "gpu", "exactly": {"deviceClassName": "gpu", **fields}}


def either(*alternatives):
    return {"name": "gpu", "firstAvailable": [
        {"name": "a%d" % i, "deviceClassName": "gpu", **fields} for i, fields in enumerate(alternatives)]}


def template(name, *requests, constraints=()):
    devices = {"requests": list(requests), **({"constraints": list(constraints)} if constraints else {})}
    return o.obj(RESOURCE, "ResourceClaimTemplate", name, NAMESPACE, {"spec": {"devices": devices}})


def taint_rule(name, **selector):
    return o.obj("resource.k8s.io/v1beta2", "DeviceTaintRule", name, spec={
        "deviceSelector": selector, "taint": {"key": "rule", "value": "x", "effect": "NoExecute"}})


def pod(name, workload, pod_set, uid):
    made = o.obj("v1", "Pod", name, NAMESPACE)
    made["metadata"].update(uid=uid, labels={m.POD_SET_LABEL: pod_set}, annotations={m.WORKLOAD_ANNOTATION: workload})
    return made


def claim(name, uid, results=(), owner=None, entry=None, extended=False):
    """`results`: (pool, device, what a share consumes or None); without any it is not allocated. `owner`: a Pod."""
    made = o.obj(RESOURCE, "ResourceClaim", name, NAMESPACE, {"devices": {"requests": [request()]}}, {})
    made["metadata"]["uid"] = uid
    if owner:
        made["metadata"]["ownerReferences"] = [{
            "apiVersion": "v1", "kind": "Pod", "name": owner["metadata"]["name"], "uid": owner["metadata"]["uid"],
            "controller": True}]
    if extended or entry:
        made["metadata"]["annotations"] = {m.EXTENDED_ANNOTATION: "true"} if extended else {m.ENTRY_ANNOTATION: entry}
    if results:
        made["status"]["allocation"] = {"devices": {"results": [
            result(i, *taken) for i, taken in enumerate(results)]}}
        if owner:
            made["status"]["reservedFor"] = [{"resource": "pods", "name": owner["metadata"]["name"],
                                              "uid": owner["metadata"]["uid"]}]
    return made


def result(i, pool, name, memory=None):
    made = {"request": "gpu", "driver": DRIVER, "pool": pool, "device": name}
    if memory:
        made.update(shareID="00000000-0000-4000-8000-%012d" % i, consumedCapacity={"memory": "%dGi" % memory})
    return made


def workload(name, check, pod_sets, priority, created, uid):
    """`pod_sets`: (name, count, {"templates", "resources", "zone"})."""
    made = o.workload(name, [check], uid=uid)
    made["metadata"]["creationTimestamp"] = o.at(created)
    if priority is not None:
        made["spec"]["priority"] = priority
    made["spec"]["podSets"] = [{"name": each, "count": count, "template": {"spec": pod_spec(**fields)}}
                               for each, count, fields in pod_sets]
    return made


def pod_spec(templates=(), resources=None, zone=None):
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1", **(resources or {})}}}
    spec = {"restartPolicy": "Never", "containers": [container]}
    if templates:
        spec["resourceClaims"] = [{"name": t, "resourceClaimTemplateName": t} for t in templates]
    if zone:
        spec["nodeSelector"] = {"zone": zone}
    return spec
