"""The model's search with what the allocator of Kubernetes does otherwise, one named difference at a time.

A world in which model and allocator disagree is explained when the model with some of these differences gives the
allocator's answer, device for device. So each disagreement has a name, and one that has none is a defect of ours.
"""
import itertools
import json

import devices
import devices_pools as p
import devices_search as s
import devices_values as v

# Fairlead decides these otherwise on purpose: it judges pools over the whole cluster, counters by (driver, pool) and
# set by set, holds distinctAttribute within a request too, and pins usage.
LISTED = ("pools as the node sees them", "counters by pool name", "an over-used set blocks its pool",
          "distinctAttribute forgets", "usage is not pinned")
# These are side effects of how the allocator is written.
UNLISTED = (
    # A device that a pod takes while it is used, or takes twice, with adminAccess costs its counters twice.
    "adminAccess costs counters again",
    # In a slice with perDeviceNodeSelection, selectors are asked of devices that do not reach the node.
    "selectors before nodes",
    # ... and bindingConditions of such a device move its pool behind the others.
    "bindingConditions out of reach",
    # A DeviceTaintRule without a selector taints every device (the API says: none).
    "a rule without selector taints all",
    # A device in use without consumedCapacity (it has no capacity) costs its counters again with the next share.
    "a share without capacity is no share",
)
ALL = LISTED + UNLISTED


class SeenPool(p.Pool):
    """A pool as the allocator gathers it for one node; `status` is OBSOLETE where it drops the pool."""

    def __init__(self, key, world, every, rules):
        self.whole = p.Pool(key, every, rules)
        self.key = key
        seen = [x for x in in_order(every, world["node"]) if relevant(p.spec_of(x), world["node"])]
        newest = max((generation(x) for x in seen), default=None)
        seen = [x for x in seen if generation(x) == newest]
        self.slices = sorted(seen, key=v.name_of)
        self.devices = [d for d in p.Pool(key, seen, rules).devices] if seen else []
        self.others, self.sets, self.status = [], {}, "OBSOLETE"
        if seen:
            self.status = self.judge_seen(seen, every, rules)
        for device in self.devices:
            device.pool = self

    def judge_seen(self, seen, every, rules):
        count = p.spec_of(seen[0])["pool"]["resourceSliceCount"]
        all_of_it = None
        if len(seen) != count:
            if any(generation(x) > generation(seen[0]) for x in every):
                return "OBSOLETE"
            all_of_it = [x for x in every if generation(x) == generation(seen[0])]
            if len(all_of_it) != count:
                return "INCOMPLETE"
        names = [d.id for d in self.devices]
        sets = p.Pool(self.key, seen, rules)
        self.sets = sets.sets
        if all_of_it and len(all_of_it) != len(seen):
            self.others = [d for d in p.Pool(self.key, all_of_it, rules).devices if d.id not in names]
        if len(names) > len(set(names)) or len(sets.set_names) > len(set(sets.set_names)):
            return "INVALID"
        return "COMPLETE" if all(c in self.sets for d in self.devices + self.others for c in d.cost) else "INVALID"

    def has_slice_for(self, node):
        return self.status != "OBSOLETE"

    def device(self, name):
        return next((d for d in self.devices + self.others if d.id[2] == name), None)


def generation(x):
    return p.spec_of(x)["pool"]["generation"]


def in_order(slices, node):
    """The slices of the node come first."""
    def is_own(spec):
        return spec.get("nodeName") == v.name_of(node) and not spec.get("sharedCounters")
    own = [x for x in slices if is_own(p.spec_of(x))]
    return own + [x for x in slices if x not in own]


def relevant(spec, node):
    if spec.get("sharedCounters"):
        return True
    if spec.get("perDeviceNodeSelection"):
        return any(p.reaches(d, node) for d in spec.get("devices", []))
    return p.reaches(spec, node)


class Search(s.Search):
    """`differences` is set on a subclass."""

    differences = frozenset()

    def __init__(self, *arguments):
        self.available, self.distinct, self.added = {}, {}, []
        super().__init__(*arguments)

    def differs(self, name):
        return name in self.differences

    def devices_in_order(self):
        def last(pool):
            return any(d.binds and (d.reaches(self.node) or self.differs("bindingConditions out of reach")
                                    and relevant(d.spec, self.node)) for d in pool.devices)
        usable = [pool for pool in self.pools.values() if pool.status == "COMPLETE"]
        usable.sort(key=lambda pool: (last(pool), pool.key))
        early = self.differs("selectors before nodes")
        return [d for pool in usable for d in pool.devices
                if d.reaches(self.node) or early and relevant(d.spec, self.node)]

    def matches(self, claim, request, ask, device):
        return super().matches(claim, request, ask, device) and device.reaches(self.node)

    # -- counters

    def shares(self, device):
        """Whether the device has a share already, so that the next one costs no counters."""
        used = self.use.shares.get(device.id)
        if self.differs("a share without capacity is no share"):
            used = used or None
        return device.shared and (used is not None or any(t.device is device for t in self.taken))

    def counters_fit(self, device):
        unpinned = self.differs("usage is not pinned")
        costs = {i: cost for i, cost in self.use.costs.items() if i[:2] == device.pool.key}
        if not device.cost or None in costs.values() and not unpinned:
            return not device.cost
        if self.shares(device):
            return True
        key = device.pool.key[1] if self.differs("counters by pool name") else device.pool.key
        if key not in self.available:
            self.available[key] = dict(device.pool.sets)
            for cost in filter(None, costs.values()):
                for counter in set(cost) & set(self.available[key]):
                    self.available[key][counter] -= cost[counter]
        taken = self.taken_costs(key, costs)
        checked = self.available[key] if self.differs("an over-used set blocks its pool") else device.cost
        return all(self.available[key].get(counter, 0) - sum(cost.get(counter, 0) for cost in taken)
                   >= device.cost.get(counter, 0) for counter in checked if counter in self.available[key])

    def taken_costs(self, key, costs):
        """What the pod's devices take of the counters under a key."""
        again = self.differs("adminAccess costs counters again")
        found, seen = [], set()
        for t in self.taken:
            own = t.device.pool.key[1] if self.differs("counters by pool name") else t.device.pool.key
            used = self.use.shares.get(t.device.id) if t.device.shared else None
            if self.differs("a share without capacity is no share"):
                used = used or None
            counted = (t.device.shared or not again) and t.device.id in seen or not again and t.device.id in costs
            if own == key and not counted and used is None:
                found.append(t.device.cost)
            seen.add(t.device.id)
        return found

    # -- the order of its checks: what a check leaves behind is seen by later ones

    def takeable(self, c, request, ask, device, must):
        if not self.is_free(c, ask, device):
            return False
        if not must and not (self.matches(self.claims[c], request, ask, device)
                             and self.large_enough(device, s.share_of(ask, device), self.taken)):
            return False
        if not self.counters_fit(device):
            return False
        return self.remembering(c, request, ask, device, must)

    # -- distinctAttribute, which remembers one value of each request and forgets it with any device of the request

    def remembering(self, c, request, ask, device, must):
        self.added = []
        taken = False
        try:
            taken = super().takeable(c, request, ask, device, must)
        finally:
            if not taken:
                for constraint in self.added:
                    self.forget(constraint, c, request)
        return taken

    def remembered(self, constraint, c):
        return self.distinct.setdefault((c, id(constraint)), {"values": {}, "count": 0})

    def forget(self, constraint, c, request):
        memory = self.remembered(constraint, c)
        memory["values"].pop(request.name, None)
        memory["count"] -= 1

    def constraint_holds(self, constraint, c, request, ask, device):
        name = constraint.get("distinctAttribute")
        if not name or not self.differs("distinctAttribute forgets") or not s.covers(constraint, request, ask):
            return super().constraint_holds(constraint, c, request, ask, device)
        memory, own = self.remembered(constraint, c), device.attribute(name)
        if own is None or memory["count"] and own in memory["values"].values():
            return False
        memory["values"][request.name] = own
        memory["count"] += 1
        self.added.append(constraint)
        return True

    def give_back(self):
        t = super().give_back()
        for constraint in self.claims[t.claim].constraints:
            if constraint.get("distinctAttribute") and self.differs("distinctAttribute forgets"):
                if s.covers(constraint, t.request, t.ask):
                    self.forget(constraint, t.claim, t.request)
        return t


def answer(world, differences=ALL, steps=devices.STEPS_MAX):
    """The model's answer with the differences of these names."""
    if "a rule without selector taints all" in differences:
        world = json.loads(json.dumps(world))
        for rule in world.get("rules", []):
            rule["spec"].setdefault("deviceSelector", {})

    def view(slices, rules):
        found = p.pools_of(slices, rules)
        if "pools as the node sees them" not in differences:
            return found
        return {key: SeenPool(key, world, [x for x in slices if (p.spec_of(x)["driver"], p.spec_of(x)["pool"]["name"])
                                           == key], rules) for key in found}
    reading = type("Reading", (Search,), {"differences": frozenset(differences)})
    return devices.answer(world, reading, view, steps)


class TooLong(Exception):
    """The search with all differences tries too many devices to say anything."""


def explanation(world, same, steps=devices.STEPS_MAX):
    """The fewest differences with which the model's answer is accepted by `same`; none at all: ()."""
    everything = answer(world, ALL, steps)
    if "error" in everything:
        raise TooLong
    if not same(everything):
        return ()
    for count in range(1, len(ALL)):
        for names in itertools.combinations(ALL, count):
            if same(answer(world, names, steps)):
                return names
    return ALL
