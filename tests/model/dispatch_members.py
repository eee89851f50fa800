"""The clusters that a hub dispatches to, as their lines show them: objects, what is used, at which cost, by whom.

Every question is answered by a scan. Only three things have a past: whether a line of the cluster was ever seen, since
when it is out of reach, and what each used device cost when its use was first seen.
"""
import devices
import devices_pools as p
import devices_search as s
import devices_values as v

KINDS = {"Node": "nodes", "ResourceSlice": "slices", "DeviceClass": "classes", "ResourceClaim": "claims",
         "ResourceClaimTemplate": "templates", "DeviceTaintRule": "rules", "Pod": "pods"}
POD_SET_LABEL = "kueue.x-k8s.io/podset"
WORKLOAD_ANNOTATION = "kueue.x-k8s.io/workload"
ENTRY_ANNOTATION = "resource.kubernetes.io/pod-claim-name"
EXTENDED_ANNOTATION = "resource.kubernetes.io/extended-resource-claim"


def identity(claim):
    """A claim that was deleted and made again is another one."""
    metadata = claim["metadata"]
    return metadata.get("namespace", ""), metadata["name"], metadata.get("uid")


def allocated(claim):
    return bool(claim.get("status", {}).get("allocation"))


def is_of_a_workload(pod):
    """A Pod that names no Workload or no pod set is ignored: it is no news of the cluster."""
    return pod["metadata"].get("labels", {}).get(POD_SET_LABEL) and annotations(pod).get(WORKLOAD_ANNOTATION)


def annotations(obj):
    return obj["metadata"].get("annotations", {})


class Member:
    """One cluster."""

    def __init__(self):
        self.objects = {}  # {(kind, namespace, name): object}
        self.watched = False
        self.out_of_reach = None  # since when its source is stale or lost
        self.news = None  # the time of its last line that was no duplicate
        self.pins = {}  # {(claim, device, share): (share's capacity or None, cost or None)}, the first seen first

    # -- lines

    def take(self, line):
        if line["type"] in ("SOURCE_STALE", "SOURCE_LOST"):
            self.out_of_reach = line["time"] if self.out_of_reach is None else self.out_of_reach
        elif line["type"] == "SOURCE_SYNCED":
            self.watched, self.out_of_reach = True, None
        elif line["object"]["kind"] in KINDS:
            self.take_object(line)

    def take_object(self, line):
        obj = line["object"]
        if self.ignores(obj):
            return
        key = (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
        self.watched = True
        if line["type"] != "DELETED" and self.content(self.objects.get(key)) != self.content(obj):
            self.objects[key] = obj
            self.news = line["time"]
        elif line["type"] == "DELETED" and self.objects.pop(key, None):
            self.news = line["time"]

    def ignores(self, obj):
        return obj["kind"] == "Pod" and not is_of_a_workload(obj)

    @staticmethod
    def content(obj):
        """An object without what every write changes."""
        if obj is None:
            return None
        return dict(obj, metadata={name: value for name, value in obj["metadata"].items() if name != "resourceVersion"})

    def all(self, kind):
        return [self.objects[key] for key in sorted(self.objects) if key[0] == kind]

    # -- use

    def pools(self):
        return p.pools_of(self.all("ResourceSlice"), self.all("DeviceTaintRule"))

    def pin(self):
        """At the end of a moment's lines: what is used for the first time costs from now on what it costs now."""
        pools, pins = self.pools(), {}
        for claim in filter(allocated, self.all("ResourceClaim")):
            for result in claim["status"]["allocation"].get("devices", {}).get("results", []):
                if result.get("adminAccess"):
                    continue
                device = (result["driver"], result["pool"], result["device"])
                published = pools[device[:2]].device(device[2]) if device[:2] in pools else None
                consumed = result.get("consumedCapacity")
                shared = "shareID" in result or consumed is not None
                share = {name: v.quantity(q) for name, q in (consumed or {}).items()} if shared else None
                pins[identity(claim), device, result.get("shareID")] = (share, published.cost if published else None)
        kept = {key: pin for key, pin in self.pins.items() if key in pins}
        self.pins = kept | {key: pin for key, pin in pins.items() if key not in kept}

    def use(self, ignored=lambda claim, device: False):
        """What the claims use, but for the uses that are ignored."""
        use = p.Use()
        for (claim, device, _), (share, cost) in self.pins.items():
            if not ignored(claim, device):
                use.add(device, share, cost)
        return use

    # -- whose

    def claims_of(self, namespace, workload):
        """{identity: (claim, podSet)} of the allocated claims that belong to a Workload's Pods."""
        pods = {pod["metadata"]["uid"]: pod for pod in self.all("Pod")
                if pod["metadata"]["namespace"] == namespace and annotations(pod).get(WORKLOAD_ANNOTATION) == workload}
        found = {}
        for claim in filter(allocated, self.all("ResourceClaim")):
            owners = [o["uid"] for o in claim["metadata"].get("ownerReferences", []) if o["kind"] == "Pod"]
            owners += [r["uid"] for r in claim["status"].get("reservedFor", []) if r["resource"] == "pods"]
            named = [pods[uid] for uid in owners if uid in pods]
            if named and claim["metadata"]["namespace"] == namespace:
                first = min(named, key=v.name_of)
                found[identity(claim)] = (claim, first["metadata"]["labels"][POD_SET_LABEL])
        return found

    # -- fitting

    def given(self):
        """The extended resources that its classes give."""
        return {c["spec"]["extendedResourceName"] for c in self.all("DeviceClass")
                if c["spec"].get("extendedResourceName")}

    def cluster(self, namespace, flavors, extended, use, steps):
        world = {field: self.all(kind) for kind, field in KINDS.items()}
        made = devices.Cluster(dict(world, namespace=namespace, flavors=flavors, extendedResources=sorted(extended)),
                               steps)
        made.use = use
        return made


class Again(s.Search):
    """Whether a pod can take just the devices that it has: a search that sees no other ones."""

    def __init__(self, recorded, *arguments):
        """`recorded`: {(entry, request and alternative, device): share}."""
        super().__init__(*arguments)
        self.recorded = recorded

    def takeable(self, c, request, ask, device, must):
        key = (self.claims[c].entry, self.claims[c].request_name(request, ask), device.id)
        share = s.share_of(ask, device) if device.shared else None
        if key not in self.recorded or self.recorded[key] != share:
            return False
        return super().takeable(c, request, ask, device, must)
