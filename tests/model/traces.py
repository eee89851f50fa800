"""Random traces for `fairlead plan`, from a seed: small fleets, short windows, each feature on now and then."""
import json
import random

from capacity import amount, canonical, quantum

FLAVORS = {
    "any": {},
    "big": {"nodeLabels": {"type": "od", "size": "big"}},
    "od": {"nodeLabels": {"type": "od"}},
    "spot": {"nodeLabels": {"type": "spot"},
             "nodeTaints": [{"key": "spot", "value": "true", "effect": "NoSchedule"}],
             "tolerations": [{"key": "lease", "operator": "Exists"}]},
}
LEASED = "leased"  # told apart from `any` by its taint alone
FLAVORS_WITH_TAINTS = {**FLAVORS, LEASED: {
    "nodeTaints": [{"key": "lease", "value": "x", "effect": "NoExecute"},
                   {"key": "soft", "effect": "PreferNoSchedule"}]}}
QUEUES = ["qa", "qb", "qc"]
TAINTS = [{"key": "spot", "value": "true", "effect": "NoSchedule"},
          {"key": "lease", "value": "x", "effect": "NoExecute"},
          {"key": "broken", "effect": "NoExecute"}, {"key": "soft", "effect": "PreferNoSchedule"}]


def rfc3339(ms):
    seconds, rest = divmod(ms, 1000)
    text = "1970-01-01T%02d:%02d:%02d" % (seconds // 3600, seconds // 60 % 60, seconds % 60)
    return text + (".%03d" % rest if rest else "") + "Z"


def line(time, kind, obj, type_="ADDED", cluster="hub"):
    api = {"Node": "v1", "ClusterResourceClaim": "galaxy.kubestellar.io/v1alpha1"}.get(kind, "kueue.x-k8s.io/v1beta2")
    return {"type": type_, "time": time, "cluster": cluster, "object": {"apiVersion": api, "kind": kind, **obj}}


class Maker:
    ABSENCES = 0.35  # how often flavors leave the hub for a while
    SPARSE = 0.35    # how often queues lack flavors that claims assign in them
    LAYOUT = 0.4     # how often resources stand in groups of their own flavors, and queues of others come and go

    def __init__(self, seed, features=None):
        self.r = random.Random(seed)
        r = self.r
        self.on = features if features is not None else {f for f in (
            "flavors", "taints", "cordon", "flap", "minimum", "priority", "track", "base", "overbook", "clusters",
            "secondclaim", "edits", "stale", "mass", "writeInterval", "coalesce", "respell", "gpu", "labels",
            "deadband", "late", "claimdelete", "fraction", "modes", "reserved") if r.random() < 0.35}
        self.absences = random.Random("flavor absences %d" % seed)  # its own: the rest of a trace stays as it is
        if features is None and self.absences.random() < self.ABSENCES:
            self.on.add("absences")
        self.sparse = random.Random("sparse queues %d" % seed)
        if features is None and self.sparse.random() < self.SPARSE:
            self.on.add("sparse")
        self.flavors = r.sample(sorted(FLAVORS), r.randint(2, 4)) if "flavors" in self.on else ["od"]
        self.layout = random.Random("layouts %d" % seed)
        if features is None and self.layout.random() < self.LAYOUT:
            self.on.add("layout")
        if "layout" in self.on:
            self.on.discard("sparse")
            self.flavors = self.flavors + [LEASED] + [f for f in ("any", "big") if f not in self.flavors]
        self.clusters = ["c1", "c2"] if "clusters" in self.on else ["c1"]
        self.resources = ["cpu", "memory"] + (["gpu"] if "gpu" in self.on else [])
        self.groups = self.split() if "layout" in self.on else [(self.resources, self.flavors)]
        self.lines = []
        self.nodes = {}

    def split(self):
        """The resource groups of all queues: (resources, flavors), where no flavor is in two."""
        r = self.layout
        cut = r.randint(1, len(self.resources) - 1)
        flavors = r.sample(self.flavors, len(self.flavors))
        first, second = r.randint(1, len(flavors) - 1), r.choice([0, 0, 1])  # now and then nothing uses the last
        ends = len(flavors) - second if first < len(flavors) - second else len(flavors)
        return [(self.resources[:cut], flavors[:first]), (self.resources[cut:], flavors[first:ends])]

    def resources_of(self, flavor):
        return next((resources for resources, flavors in self.groups if flavor in flavors), [])

    def config(self):
        r, on = self.r, self.on
        debounce = {
            "ingestCoalesce": r.choice([1000, 2000]) if "coalesce" in on else 0,
            "shrinkWindow": r.choice([0, 3000, 5000]), "growWindow": r.choice([0, 10000, 20000]),
            "firstQuiet": r.choice([0, 4000]), "minGrowInterval": r.choice([0, 7000, 15000]),
            "growDeadbandPercent": r.choice([2, 10, 30]) if "deadband" in on else 0,
            "deadbandMaxAge": r.choice([25000, 60000]),
            "flapPenalty": 1000 if "flap" in on else 0, "flapHalfLife": 64000, "flapSuppress": 2500,
            "flapReuse": 700, "flapSuppressMax": r.choice([40000, 200000]),
            "massShrinkPercent": 50 if "mass" in on else 0, "massShrinkHold": 12000,
            "writeInterval": r.choice([3000, 8000]) if "writeInterval" in on else 0,
        }
        headroom = {"percent": {"cpu": r.choice([0, 5]), "memory": 7},
                    "reserved": {"cpu": "500m", "memory": "64Mi"} if "reserved" in on else {}}
        return {"debounce": debounce, "headroom": headroom,
                "overbookPercent": r.choice([110, 150, 133]) if "overbook" in on else 100}

    def quantity(self, resource, low, high):
        n = self.r.randint(low, high)
        if resource == "cpu":
            if "fraction" in self.on and self.r.random() < 0.4:
                return "%dm" % (n * 1000 + self.r.choice([0, 250, 500]))
            return str(n)
        if resource == "memory":
            return "%d%s" % ((n, "Gi") if "fraction" not in self.on or self.r.random() < 0.5 else (n * 1024 + 17, "Mi"))
        return str(n)

    def node(self, name):
        r, on = self.r, self.on
        labels = {}
        kind = r.choice(["od", "od", "spot", "none"]) if "flavors" in on else "od"
        if kind != "none":
            labels["type"] = kind
        if r.random() < 0.4:
            labels["size"] = "big"
        spec = {}
        if "taints" in on and r.random() < 0.3:
            spec["taints"] = [r.choice(TAINTS)]
        allocatable = {canonical_gpu(x): self.quantity(x, 2, 12) for x in self.resources}
        return {"metadata": {"name": name, "labels": labels}, "spec": spec,
                "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}}

    def claim(self, name, cluster):
        r, on = self.r, self.on
        assignments, total = [], {x: 0 for x in self.resources}
        pairs = [(q, f) for q in QUEUES for f in self.flavors if self.resources_of(f)]
        for queue, flavor in r.sample(pairs, r.randint(1, min(4, len(pairs)))):
            resources = {}
            mine = self.resources_of(flavor)
            for x in r.sample(mine, r.randint(1, len(mine))):
                resources[x] = self.quantity(x, 0, 30)
            a = {"clusterQueueName": queue, "flavor": flavor, "resources": resources}
            if "minimum" in on and r.random() < 0.5:
                a["minResources"] = {x: halved(q) for x, q in resources.items()}
            if "priority" in on and r.random() < 0.7:
                a["priority"] = r.randint(-2, 3)
            assignments.append(a)
        spec = {"clusterName": cluster,
                "nominalResources": {x: ("200Gi" if x == "memory" else "200") for x in self.resources},
                "resourceAssignments": assignments}
        if "priority" in on and "fraction" not in on:
            spec["shrinkPolicy"] = "Priority"
        if "track" in on:
            spec["nominalPolicy"] = "TrackCapacity"
            spec["nominalResources"] = {x: self.total(assignments, x) for x in self.resources}
        if "modes" in on:
            spec["flavorCapacity"] = r.choice(["Strict", "TotalOnly"])
        return {"metadata": {"name": name, "uid": "uid-" + name, "generation": 1,
                             "creationTimestamp": "1970-01-01T00:00:0%dZ" % (len(self.lines) % 10)}, "spec": spec}

    @staticmethod
    def total(assignments, resource):
        """All that is assigned of it, and at least one: so that capacity is often above it."""
        name = canonical(resource)
        total = sum(amount(name, a["resources"][resource]) for a in assignments if resource in a["resources"])
        total = max(total, quantum(name))
        return "%dm" % total if name == "cpu" else str(total)

    def queue(self, name):
        annotations = {}
        if "base" in self.on and self.r.random() < 0.6:
            annotations["fairlead.io/base-quota"] = json.dumps({self.flavors[0]: {"cpu": "3", "memory": "1Gi"}})
        groups = []
        for resources, of_group in self.groups:
            names = [canonical_gpu(x) for x in resources]
            flavors = [{"name": f, "resources": [
                {"name": x, "nominalQuota": self.r.choice(["0", "0", "7"])} for x in names]} for f in of_group]
            if "sparse" in self.on:
                flavors = flavors[:1] + [f for f in flavors[1:] if self.sparse.random() < 0.4]
            groups.append({"coveredResources": names, "flavors": flavors})
        if "layout" in self.on:
            annotations = {}  # it may name a pair that is in no group
        return {"metadata": {"name": name, "annotations": annotations}, "spec": {
            "namespaceSelector": {}, "resourceGroups": groups}}

    def add_queues_of_others(self, last):
        """Queues that no claim names use flavors with other resources, for a while."""
        r, more = self.layout, []
        for name in ("qx", "qy")[:r.randint(0, 2)]:
            resource, start = canonical_gpu(r.choice(self.resources)), r.randint(0, max(1, last // 500)) * 500
            flavors = [{"name": f, "resources": [{"name": resource, "nominalQuota": "1"}]}
                       for f in r.sample(self.flavors, r.randint(1, len(self.flavors)))]
            queue = {"metadata": {"name": name}, "spec": {"resourceGroups": [
                {"coveredResources": [resource], "flavors": flavors}]}}
            more.append(line(start, "ClusterQueue", queue))
            if r.random() < 0.6:
                more.append(line(start + r.choice([500, 3000, 25000]), "ClusterQueue", queue, "DELETED"))
        self.lines = sorted(self.lines + more, key=lambda x: x["time"])

    def make(self):
        r, on = self.r, self.on
        for f in self.flavors:
            self.lines.append(line(0, "ResourceFlavor", {"metadata": {"name": f}, "spec": FLAVORS_WITH_TAINTS[f]}))
        queues = {q: self.queue(q) for q in QUEUES}
        for q in QUEUES:
            if not ("late" in on and q == "qc"):
                self.lines.append(line(0, "ClusterQueue", queues[q]))
        claims = {c: self.claim("claim-" + c, c) for c in self.clusters}
        for c in self.clusters:
            self.lines.append(line(0, "ClusterResourceClaim", claims[c]))
            for i in range(r.randint(1, 5)):
                self.nodes[(c, "n%d" % i)] = self.node("n%d" % i)
                self.lines.append(line(0, "Node", self.nodes[(c, "n%d" % i)], cluster=c))
        second = None
        time, quiet_until = 0, 0
        for _ in range(r.randint(3, 40)):
            time += r.choice([0, 500, 1000, 1000, 2000, 3000, 5000, 9000, 20000])
            c = r.choice(self.clusters)
            what = r.random()
            if what < 0.08 and "edits" in on:
                edited = self.claim("claim-" + c, c)
                edited["metadata"] = dict(claims[c]["metadata"], generation=claims[c]["metadata"]["generation"] + 1)
                claims[c] = edited
                self.lines.append(line(time, "ClusterResourceClaim", edited, "MODIFIED"))
            elif what < 0.11 and "secondclaim" in on and second is None:
                second = self.claim("other", c)
                second["metadata"]["creationTimestamp"] = "1970-01-02T00:00:00Z"
                self.lines.append(line(time, "ClusterResourceClaim", second))
            elif what < 0.14 and "claimdelete" in on and c in claims and len(claims) > 0:
                self.lines.append(line(time, "ClusterResourceClaim", claims.pop(c), "DELETED"))
                on.discard("edits")
            elif what < 0.2 and "stale" in on and time > 25000:
                kind = r.choice(["SOURCE_STALE", "SOURCE_LOST"])
                self.lines.append({"type": kind, "cluster": c, "time": time})
                time += r.choice([1000, 8000, 30000])
                self.lines.append({"type": "SOURCE_SYNCED", "cluster": c, "time": time})
            elif what < 0.23 and "late" in on and "qc" in queues:
                self.lines.append(line(time, "ClusterQueue", queues.pop("qc")))
            else:
                self.change_node(time, c)
        if "absences" in on:
            self.take_flavors_away(time)
        if "layout" in self.on:
            self.add_queues_of_others(time)
        return self.lines

    def take_flavors_away(self, last):
        """Flavors leave the hub and most come back, now and then selecting other nodes."""
        r, absences = self.absences, []
        for f in r.sample(self.flavors, r.randint(1, len(self.flavors))):
            start = r.randint(1, max(1, last // 500)) * 500
            gone = {"metadata": {"name": f}, "spec": FLAVORS_WITH_TAINTS[f]}
            absences.append(line(start, "ResourceFlavor", gone, "DELETED"))
            if r.random() < 0.8:
                back = FLAVORS_WITH_TAINTS[f] if r.random() < 0.8 else {"nodeLabels": {"size": "big"}}
                absences.append(line(start + r.choice([500, 3000, 25000]), "ResourceFlavor",
                                     {"metadata": {"name": f}, "spec": back}))
        self.lines = sorted(self.lines + absences, key=lambda x: x["time"])

    def change_node(self, time, c):
        r, on = self.r, self.on
        name = "n%d" % r.randint(0, 6)
        node = self.nodes.get((c, name))
        if node is None:
            self.nodes[(c, name)] = self.node(name)
            self.lines.append(line(time, "Node", self.nodes[(c, name)], cluster=c))
            return
        node = json.loads(json.dumps(node))
        if "layout" in on and self.layout.random() < 0.15:
            node["spec"]["taints"] = self.layout.sample(TAINTS, self.layout.randint(0, 2))
        choice = r.random()
        if choice < 0.12:
            del self.nodes[(c, name)]
            self.lines.append(line(time, "Node", node, "DELETED", c))
            return
        ready = node["status"]["conditions"][0]
        if choice < 0.25 and "cordon" in on and ready["status"] == "True":
            node["spec"] = dict(node["spec"], unschedulable=not node["spec"].get("unschedulable", False))
        elif choice < 0.7 and not node["spec"].get("unschedulable"):
            ready["status"] = "False" if ready["status"] == "True" else "True"
        elif choice < 0.8 and "labels" in on:
            node["metadata"]["labels"] = {"type": r.choice(["od", "spot"]),
                                          **({"size": "big"} if r.random() < 0.5 else {})}
        elif choice < 0.85 and "respell" in on:
            q = node["status"]["allocatable"]["cpu"]
            if not q.endswith("m"):
                node["status"]["allocatable"]["cpu"] = q + "000m"
        else:
            x = r.choice(self.resources)
            node["status"]["allocatable"][canonical_gpu(x)] = self.quantity(x, 2, 12)
        self.nodes[(c, name)] = node
        self.lines.append(line(time, "Node", node, "MODIFIED", c))


def canonical_gpu(resource):
    return "nvidia.com/gpu" if resource == "gpu" else resource


def halved(quantity):
    digits = quantity.rstrip("GiMmk")
    return str(int(digits) // 2 // 1000 * 1000 if quantity.endswith("m") else int(digits) // 2) + quantity[len(digits):]


def render(lines):
    out = []
    for entry in lines:
        out.append(json.dumps(dict(entry, time=rfc3339(entry["time"]))))
    return "\n".join(out) + "\n"
