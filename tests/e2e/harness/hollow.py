"""A cluster without kubelets that allocates devices: a real API server, kube-scheduler and the controllers of claims.

    plane.add_server("w1", arguments=hollow.ARGUMENTS)
    w1 = HollowCluster(plane.servers["w1"])
    w1.nodes("a", "b")
    w1.gpus("a", 8)
    w1.device_class("gpu")
    w1.template("two", request("gpu", count=2))
    w1.pod("train", template="two")
    w1.allocation("train")            # [("gpu", "gpu.example.com/a/gpu-0"), ...]

Nothing runs in the Pods: they are bound and stay Pending, and a Pod that is deleted stays Terminating.
"""

import copy

from .process import wait_for

RESOURCE = "/apis/resource.k8s.io/v1"
NODES = "/api/v1/nodes"
SLICES = f"{RESOURCE}/resourceslices"
CLASSES = f"{RESOURCE}/deviceclasses"
RULES = "/apis/resource.k8s.io/v1beta2/devicetaintrules"
DRIVER = "gpu.example.com"

# DeviceTaintRule is behind a gate, on the API server and on both clients of it.
GATE = "--feature-gates=DRADeviceTaintRules=true"
ARGUMENTS = (GATE, "--runtime-config=resource.k8s.io/v1beta2=true")
CONTROLLERS = "resourceclaim-controller,device-taint-eviction-controller"

# What the scheduler says of a Pod that no Node can have: of all Nodes, or of the one on which its allocator failed.
REFUSALS = {"Unschedulable": ("nodes are available",),
            "SchedulerError": ("CEL runtime error", "is currently being updated")}

# Seconds: the parts share two cores with other suites, and their clients back off.
LONG = 180

UNSCHEDULABLE = "no Node"  # is no name of a Node
REAL = {"apiVersion": "resource.k8s.io/v1"}


def device(name, **fields):
    return {"name": name, "attributes": {"model": {"string": "h100"}}, **fields}


def request(name, device_class="gpu", **fields):
    return {"name": name, "exactly": {"deviceClassName": device_class, **fields}}


def pod_spec(template=None, resources=None, **fields):
    """spec of a Pod with one container, which uses the claim of `template` and asks for `resources`."""
    container = {"name": "main", "image": "none", "resources": {}}
    if resources:
        container["resources"] = {"requests": resources, "limits": resources}
    if template:
        container["resources"]["claims"] = [{"name": template}]
        fields["resourceClaims"] = [{"name": template, "resourceClaimTemplateName": template}]
    return {"containers": [container], **fields}


def claim_spec(*requests, constraints=()):
    return {"devices": {"requests": list(requests), "constraints": list(constraints)}}


def claim_template(name, *requests, constraints=()):
    return {**REAL, "kind": "ResourceClaimTemplate", "metadata": {"name": name},
            "spec": {"spec": claim_spec(*requests, constraints=constraints)}}


class HollowCluster:
    """The scheduler and the controllers beside `server`, which was started with ARGUMENTS.

    Pods, claims and templates are those of `namespace`.
    """

    def __init__(self, server, controllers=CONTROLLERS, namespace="default"):
        self.server, self.plane = server, server.plane
        self._enter(namespace)
        self.controllers = self.plane.add_controller_manager(server, controllers, GATE)
        self.scheduler = self.plane.add_scheduler(server, GATE)

    def _enter(self, namespace):
        self.pods = f"/api/v1/namespaces/{namespace}/pods"
        self.claims = f"{RESOURCE}/namespaces/{namespace}/resourceclaims"
        self.templates = f"{RESOURCE}/namespaces/{namespace}/resourceclaimtemplates"

    def in_namespace(self, namespace):
        """The same cluster with another namespace."""
        there = copy.copy(self)
        there._enter(namespace)
        return there

    # -- what a cluster has --------------------------------------------------------------------------------

    def nodes(self, *names, labels=None, allocatable=None):
        """Nodes that are Ready. Admission taints each new one until its kubelet has reported, which is us here."""
        status = {"allocatable": {"cpu": "64", "memory": "256Gi", "pods": "110", **(allocatable or {})},
                  "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}
        for name in names:
            own = {"kubernetes.io/hostname": name, **(labels or {})}
            self.server.create(NODES, {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": own}})
            self.server.merge(f"{NODES}/{name}/status", {"status": status}, user="admin")
            self.server.merge(f"{NODES}/{name}", {"spec": {"taints": None}}, user="admin")

    def slice(self, name, devices, pool=None, driver=DRIVER, generation=1, slices=1, **reach):
        """One ResourceSlice, as it is from now on. `reach`: nodeName, nodeSelector, allNodes or the devices' own."""
        own = {"name": pool or name, "generation": generation, "resourceSliceCount": slices}
        made = {**REAL, "kind": "ResourceSlice", "metadata": {"name": name},
                "spec": {"driver": driver, "pool": own, **({"devices": devices} if devices else {}), **reach}}
        self.server.apply(f"{SLICES}/{name}", made, "driver", force=True)

    def gpus(self, node, count, taints=None):
        """The pool of a node with so many devices gpu-0, gpu-1, ...; `taints`: {device: its taints}."""
        devices = [device(f"gpu-{i}") for i in range(count)]
        for one in devices:
            if one["name"] in (taints or {}):
                one["taints"] = taints[one["name"]]
        self.slice(f"{node}-gpus", devices, pool=node, nodeName=node)

    def device_class(self, name, *expressions, extended=None):
        spec = {"selectors": [{"cel": {"expression": e}} for e in expressions or [f'device.driver == "{DRIVER}"']]}
        if extended:
            spec["extendedResourceName"] = extended
        self.server.create(CLASSES, {**REAL, "kind": "DeviceClass", "metadata": {"name": name}, "spec": spec})

    def template(self, name, *requests, constraints=()):
        self.server.create(self.templates, claim_template(name, *requests, constraints=constraints))

    def taint_by_rule(self, name, selector, effect="NoExecute"):
        self.server.create(RULES, {
            "apiVersion": "resource.k8s.io/v1beta2", "kind": "DeviceTaintRule", "metadata": {"name": name},
            "spec": {"deviceSelector": selector, "taint": {"key": "example.com/broken", "effect": effect}}})

    # -- pods ----------------------------------------------------------------------------------------------

    def pod(self, name, template=None, resources=None, labels=None, annotations=None, **spec):
        """A Pod of pod_spec()."""
        self.create_pod(name, pod_spec(template, resources, **spec), labels, annotations)

    def create_pod(self, name, spec, labels=None, annotations=None):
        self.server.create(self.pods, {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "labels": labels or {}, "annotations": annotations or {}}, "spec": spec})

    def claims_of(self, pod):
        """The ResourceClaims whose owner is the Pod."""
        return [claim for claim in self.server.get(self.claims)["items"]
                if any(o["kind"] == "Pod" and o["name"] == pod for o in claim["metadata"].get("ownerReferences", []))]

    def allocated_claim(self, pod):
        """The Pod's claim, as soon as it is allocated and reserved for the Pod."""
        def allocated():
            for claim in self.claims_of(pod):
                status = claim.get("status", {})
                if status.get("allocation") and any(r["name"] == pod for r in status.get("reservedFor", [])):
                    return claim
            return None
        return wait_for(f"a claim of Pod {pod} to be allocated", self.explained(pod, allocated), LONG)

    def allocation(self, pod):
        """[(request, driver/pool/device)] of the Pod's claim, as soon as there is one."""
        results = self.allocated_claim(pod)["status"]["allocation"]["devices"]["results"]
        return [(r["request"], f"{r['driver']}/{r['pool']}/{r['device']}") for r in results]

    def node_of(self, pod):
        """The Node that the scheduler binds the Pod to."""
        return wait_for(f"Pod {pod} to be bound", self.explained(
            pod, lambda: self.server.get(f"{self.pods}/{pod}")["spec"].get("nodeName")), LONG)

    def unschedulable(self, pod):
        """Why the Pod is not bound, as soon as the scheduler says so."""
        return wait_for(f"Pod {pod} to be unschedulable", lambda: self.said_of(pod), LONG)

    def said_of(self, pod):
        conditions = self.server.get(f"{self.pods}/{pod}").get("status", {}).get("conditions", [])
        return next((c.get("message", "") for c in conditions
                     if c["type"] == "PodScheduled" and c["status"] == "False"), None)

    def verdict(self, pod):
        """The Node that the Pod is bound to, or None once the scheduler has said that it can have none."""
        def said():
            found = self.server.get(f"{self.pods}/{pod}")
            conditions = found.get("status", {}).get("conditions", [])
            refused = any(c["type"] == "PodScheduled" and words in c.get("message", "")
                          for c in conditions for words in REFUSALS.get(c.get("reason"), ()))
            return found["spec"].get("nodeName") or (refused and UNSCHEDULABLE)
        node = wait_for(f"the scheduler to judge Pod {pod}", self.explained(pod, said), LONG)
        return None if node == UNSCHEDULABLE else node

    def devices_in_use(self):
        """{"driver/pool/device"} of all allocated claims of the namespace."""
        return {f"{r['driver']}/{r['pool']}/{r['device']}" for claim in self.server.get(self.claims)["items"]
                for r in claim.get("status", {}).get("allocation", {}).get("devices", {}).get("results", [])}

    def explained(self, pod, condition):
        """`condition`, whose failure has what the scheduler says of the Pod and whether the parts run."""
        def checked():
            for process in (self.scheduler, self.controllers):
                assert process.running(), process.tail()
            found = condition()
            assert found, f"the scheduler says: {self.said_of(pod)}"
            return found
        return checked

    def finish(self, pod):
        """The Pod has succeeded: the controller takes its claim away."""
        assert self.claims_of(pod), f"Pod {pod} has no claim"
        self.server.merge(f"{self.pods}/{pod}/status", {"status": {"phase": "Succeeded"}}, user="admin")
        wait_for(f"Pod {pod} to lose its claim", lambda: not self.claims_of(pod), LONG)

    def wait_for_eviction(self, pod):
        """Deleted, or gone: without a kubelet a Pod that was bound stays."""
        def deleted():
            found = self.server.get(f"{self.pods}/{pod}")
            return found is None or "deletionTimestamp" in found["metadata"]
        wait_for(f"Pod {pod} to be deleted", deleted, LONG)

    def clear(self):
        """Takes everything away but the parts, at once: no kubelet ends Pods, and the controller takes its time."""
        for path in (self.pods, RULES, self.claims, self.templates, CLASSES, SLICES, NODES):
            wait_for(f"{path} to be empty", lambda path=path: self.emptied(path), LONG)

    def emptied(self, path):
        """Deletes what is there; whether nothing was. What else takes it away meanwhile may be faster."""
        items = self.server.get(path)["items"]
        for item in items:
            place = f"{path}/{item['metadata']['name']}"
            self.server.raw("PATCH", place, '{"metadata": {"finalizers": null}}', "application/merge-patch+json")
            self.server.raw("DELETE", f"{place}?gracePeriodSeconds=0")
        return not items
