"""Pools of devices: which slices count, which nodes a device reaches, its taints, and what of a pool is in use."""
import devices_values as v


def spec_of(obj):
    return obj["spec"]


def reaches(said, node):
    """`said` is a slice's spec or a device: both name their nodes with the same fields."""
    if said.get("nodeName"):
        return said["nodeName"] == v.name_of(node)
    if said.get("allNodes"):
        return True
    return bool(said.get("nodeSelector")) and v.node_matches(said["nodeSelector"], node)


class Device:
    """A device of a slice that counts."""

    def __init__(self, pool, spec, fields, rules):
        self.pool, self.spec, self.fields = pool, spec, fields
        self.id = (spec["driver"], spec["pool"]["name"], fields["name"])
        self.shared = bool(fields.get("allowMultipleAllocations"))
        self.binds = bool(fields.get("bindingConditions"))
        self.capacity = fields.get("capacity", {})
        self.taints = fields.get("taints", []) + [r["spec"]["taint"] for r in rules if self.chosen(r["spec"])]
        # {(counter set, counter): amount}
        self.cost = {(c["counterSet"], name): v.quantity(counter["value"])
                     for c in fields.get("consumesCounters", []) for name, counter in c["counters"].items()}

    def chosen(self, rule):
        """Whether a DeviceTaintRule selects this device; one without a selector selects each."""
        selector = rule.get("deviceSelector") or {}
        return all(selector.get(field) in (None, own) for field, own in zip(("driver", "pool", "device"), self.id))

    def reaches(self, node):
        return reaches(self.fields if self.spec.get("perDeviceNodeSelection") else self.spec, node)

    def attribute(self, name):
        """(type, value) of the fully qualified name; None where the device has none."""
        domain, _, identifier = name.rpartition("/")
        attributes = self.fields.get("attributes", {})
        found = attributes.get(name) or (attributes.get(identifier) if domain == self.id[0] else None)
        for kind in ("int", "bool", "string", "version"):
            if found and kind in found:
                return kind, found[kind]
        return None


class Pool:
    """The slices of one (driver, pool) that count: those of the highest generation, by name."""

    def __init__(self, key, slices, rules):
        self.key = key
        newest = max(spec_of(s)["pool"]["generation"] for s in slices)
        self.slices = sorted((s for s in slices if spec_of(s)["pool"]["generation"] == newest), key=v.name_of)
        self.devices = [Device(self, spec, d, rules) for spec in map(spec_of, self.slices)
                        for d in spec.get("devices") or []]
        self.sets = {}  # {(counter set, counter): value}
        self.set_names = []
        for counter_set in (c for s in self.slices for c in spec_of(s).get("sharedCounters") or []):
            self.set_names.append(counter_set["name"])
            for name, counter in counter_set["counters"].items():
                self.sets[counter_set["name"], name] = v.quantity(counter["value"])
        self.status = self.judge()

    def judge(self):
        counts = {spec_of(s)["pool"]["resourceSliceCount"] for s in self.slices}
        names = [d.id for d in self.devices]
        if (len(counts) > 1 or len(self.slices) > min(counts) or len(names) > len(set(names))
                or len(self.set_names) > len(set(self.set_names))):
            return "INVALID"
        if len(self.slices) < min(counts):
            return "INCOMPLETE"
        return "COMPLETE" if all(c in self.sets for d in self.devices for c in d.cost) else "INVALID"

    def has_slice_for(self, node):
        """Slices with counters are for every node."""
        for spec in map(spec_of, self.slices):
            said = spec["devices"] if spec.get("perDeviceNodeSelection") and spec.get("devices") else [spec]
            if spec.get("sharedCounters") or any(reaches(s, node) for s in said):
                return True
        return False

    def device(self, name):
        return next((d for d in self.devices if d.id[2] == name), None)


def pools_of(slices, rules):
    """{(driver, pool): Pool}"""
    found = {}
    for s in slices:
        found.setdefault((spec_of(s)["driver"], spec_of(s)["pool"]["name"]), []).append(s)
    return {key: Pool(key, found[key], rules) for key in sorted(found)}


class Use:
    """What is used or reserved: whole devices, and shares with the capacity that they take."""

    def __init__(self):
        self.whole = set()  # ids
        self.shares = {}  # {id: {capacity: amount}}
        self.costs = {}  # {id: {(counter set, counter): amount}}; None: it was not published when it was first seen
        self.plugins = {}  # {(node, resource): amount} of what device plugins serve

    def add(self, identity, share, cost):
        """`share`: what a share takes of each capacity; None: the whole device."""
        if share is None:
            self.whole.add(identity)
        else:
            taken = self.shares.setdefault(identity, {})
            for name, amount in share.items():
                taken[name] = taken.get(name, 0) + amount
        if identity not in self.costs:
            self.costs[identity] = cost

    def add_of_plugins(self, amounts):
        for key, amount in amounts.items():
            self.plugins[key] = self.plugins.get(key, 0) + amount

    def add_claim(self, claim, pools):
        """The results of an allocated claim that is seen for the first time now."""
        for result in claim["status"]["allocation"].get("devices", {}).get("results", []):
            if result.get("adminAccess"):
                continue
            identity = (result["driver"], result["pool"], result["device"])
            pool = pools.get(identity[:2])
            device = pool and pool.device(identity[2])
            shared = "shareID" in result or "consumedCapacity" in result
            share = {n: v.quantity(q) for n, q in result.get("consumedCapacity", {}).items()} if shared else None
            self.add(identity, share, device.cost if device else None)

    def copy(self):
        other = Use()
        other.whole, other.costs = set(self.whole), dict(self.costs)
        other.shares = {identity: dict(taken) for identity, taken in self.shares.items()}
        other.plugins = dict(self.plugins)
        return other


def in_use(claims, pools):
    use = Use()
    for claim in claims:
        if claim.get("status", {}).get("allocation"):
            use.add_claim(claim, pools)
    return use
