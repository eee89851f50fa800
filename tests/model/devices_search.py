"""Whether the claims of one pod can be met on one node, and with which devices: the plain search, depth first.

Claims, requests and alternatives are tried in the order in which they are written, devices by pool, slice and place in
the slice; the first full solution counts. Nothing is skipped that the rules do not skip, so worlds must be small.
"""
import collections

import devices_values as v

RESULTS_MAX = 32  # devices of one claim

# A device that was taken: by which claim (its index), for which request and alternative, and what its share takes of
# each capacity (None for a device that is not shared).
Taken = collections.namedtuple("Taken", "claim request ask device share")


class Unfit(Exception):
    """The search ends on this node. `kind` and `detail` name the reason where there is one."""

    def __init__(self, kind=None, detail=None):
        super().__init__(kind, detail)
        self.kind, self.detail = kind, detail


class TooMany(Exception):
    """An alternative would give a claim more devices than it can have."""


class Budget(Exception):
    """More devices were tried than may be."""


class Ask:
    """What `exactly` or one of `firstAvailable` asks for."""

    def __init__(self, fields, name=None):
        self.name = name  # of the alternative
        self.class_name = fields.get("deviceClassName", "")
        self.selectors = fields.get("selectors") or []
        self.mode = fields.get("allocationMode") or "ExactCount"
        self.count = fields.get("count") or 1
        self.admin = bool(fields.get("adminAccess"))
        self.tolerations = fields.get("tolerations") or []
        self.capacity = {n: v.quantity(q) for n, q in ((fields.get("capacity") or {}).get("requests") or {}).items()}


class Request:
    def __init__(self, fields):
        self.name = fields["name"]
        if fields.get("firstAvailable"):
            self.asks = [Ask(a, a["name"]) for a in fields["firstAvailable"]]
        else:
            self.asks = [Ask(fields["exactly"])] if fields.get("exactly") else []


class Claim:
    """What a pod asks for with one entry: `name` is shown in results, `entry` in reasons."""

    def __init__(self, name, spec, entry=None):
        devices = spec.get("devices") or {}
        self.name, self.entry = name, entry or name
        self.requests = [Request(r) for r in devices.get("requests") or []]
        self.constraints = devices.get("constraints") or []

    def request_name(self, request, ask):
        return "%s/%s" % (request.name, ask.name) if ask.name else request.name


def rounded(asked, policy):
    """What a request for so much takes; None where the policy has nothing that large."""
    if policy.get("validValues"):
        return min((value for value in map(v.quantity, policy["validValues"]) if value >= asked), default=None)
    if policy.get("validRange"):
        limits = {name: v.quantity(q) for name, q in policy["validRange"].items()}
        least = limits["min"]
        taken = max(asked, least)
        if "step" in limits:
            taken = least + -((least - taken) // limits["step"]) * limits["step"]
        return taken if taken <= limits.get("max", taken) else None
    return asked


def share_of(ask, device):
    """{capacity: amount} that the request takes of the device; None where it lacks one or its policy says no."""
    if any(name not in device.capacity for name in ask.capacity):
        return None
    share = {}
    for name, capacity in device.capacity.items():
        policy = capacity.get("requestPolicy") or {}
        if name in ask.capacity:
            share[name] = rounded(ask.capacity[name], policy)
        else:
            share[name] = v.quantity(policy.get("default", capacity["value"]))
        if share[name] is None:
            return None
    return share


def covers(constraint, request, ask):
    names = constraint.get("requests") or []
    return not names or request.name in names or bool(ask.name) and "%s/%s" % (request.name, ask.name) in names


class Search:
    """The search on one node beside `use`. `steps`: a list with the number of devices that may still be tried."""

    def __init__(self, pools, classes, use, node, claims, steps):
        self.pools, self.classes, self.use, self.node, self.claims = pools, classes, use, node, claims
        self.steps = steps
        self.taken = []
        self.order = self.devices_in_order()
        self.alls = {}  # {(claim, request, alternative): devices}
        self.matching = {}  # what matches() said, {(ask, device): bool}

    def devices_in_order(self):
        def last(pool):
            return any(d.binds and d.reaches(self.node) for d in pool.devices)
        usable = [p for p in self.pools.values() if p.status == "COMPLETE"]
        usable.sort(key=lambda p: (last(p), p.key))
        return [d for p in usable for d in p.devices if d.reaches(self.node)]

    # -- before the search

    def solutions(self):
        """Each solution in order, a list of Taken. Unfit ends it, at any time."""
        for c, claim in enumerate(self.claims):
            self.check_constraints(claim)
            least = 0
            for r, request in enumerate(claim.requests):
                counts = [self.count_of(claim, (c, r, a), ask) for a, ask in enumerate(request.asks)]
                if not counts:
                    raise Unfit("Unsupported", "%s/%s" % (claim.entry, request.name))
                least += min(counts)
            if least > RESULTS_MAX:
                raise Unfit("Unsupported", claim.entry)
        yield from self.place_claim(0)

    def check_constraints(self, claim):
        for constraint in claim.constraints:
            if not constraint.get("matchAttribute") and not constraint.get("distinctAttribute"):
                raise Unfit("Unsupported", claim.entry)

    def count_of(self, claim, key, ask):
        """How many devices the alternative takes."""
        request = claim.requests[key[1]]
        if ask.class_name not in self.classes:
            raise Unfit("ClassNotFound", ask.class_name)
        if ask.mode not in ("ExactCount", "All") or any("cel" not in s for s in ask.selectors):
            raise Unfit("Unsupported", "%s/%s" % (claim.entry, request.name))
        if ask.mode == "ExactCount":
            return ask.count
        for pool in self.pools.values():
            if pool.status != "COMPLETE" and pool.has_slice_for(self.node):
                raise Unfit("PoolUpdating", "/".join(pool.key))
        self.alls[key] = [d for d in self.order if self.matches(claim, request, ask, d)
                          and self.large_enough(d, share_of(ask, d), [])]
        return len(self.alls[key])

    def matches(self, claim, request, ask, device):
        """Whether all selectors are true. An error makes the node unfit."""
        if (ask, device) not in self.matching:
            self.matching[ask, device] = self.selectors_hold(claim, request, ask, device)
        return self.matching[ask, device]

    def selectors_hold(self, claim, request, ask, device):
        blamed = ask.class_name
        for selectors in (self.classes[ask.class_name]["spec"].get("selectors") or [], ask.selectors):
            for selector in selectors:
                try:
                    if not v.selected(selector["cel"]["expression"], device.id[0], device.fields):
                        return False
                except v.Failed:
                    raise Unfit("SelectorError", blamed) from None
            blamed = "%s/%s" % (claim.entry, request.name)
        return True

    # -- the search

    def place_claim(self, c):
        if c == len(self.claims):
            yield list(self.taken)
            return
        try:
            yield from self.place_request(c, 0)
        except TooMany:
            return

    def place_request(self, c, r):
        claim = self.claims[c]
        if r == len(claim.requests):
            yield from self.place_claim(c + 1)
            return
        all_exceed = True
        for a in range(len(claim.requests[r].asks)):
            try:
                yield from self.place_devices((c, r, a), 0, 0)
                all_exceed = False
            except TooMany:
                pass
        if all_exceed:
            raise TooMany  # whatever devices the requests before took: others would not help

    def place_devices(self, key, n, start):
        """The n-th device and the following ones of an alternative, of those from place `start` of the order on."""
        c, r, a = key
        claim, request = self.claims[c], self.claims[c].requests[r]
        ask = request.asks[a]
        fixed = self.alls.get(key)
        count = ask.count if fixed is None else len(fixed)
        if count == 0:
            return  # All takes at least one
        if n == count:
            yield from self.place_request(c, r + 1)
            return
        if sum(t.claim == c for t in self.taken) + count - n > RESULTS_MAX:
            raise TooMany
        choice = range(start, len(self.order)) if fixed is None else [n]
        for i in choice:
            device = (self.order if fixed is None else fixed)[i]
            if not self.takeable(c, request, ask, device, fixed is not None):
                continue
            self.taken.append(Taken(c, request, ask, device, share_of(ask, device) if device.shared else None))
            try:
                yield from self.place_devices(key, n + 1, i + 1)
            finally:
                self.give_back()

    def give_back(self):
        return self.taken.pop()

    # -- one device

    def takeable(self, c, request, ask, device, must):
        """`must`: a request for all devices needs this one."""
        self.steps[0] -= 1
        if self.steps[0] < 0:
            raise Budget
        claim = self.claims[c]
        if not self.is_free(c, ask, device) or not must and not self.matches(claim, request, ask, device):
            return False
        if not v.tolerated(device.taints, ask.tolerations) or not self.counters_fit(device):
            return False
        if not all(self.constraint_holds(k, c, request, ask, device) for k in claim.constraints):
            if must:
                raise Unfit
            return False
        return self.large_enough(device, share_of(ask, device), self.taken)

    def is_free(self, c, ask, device):
        takers = [] if device.shared else [t for t in self.taken if t.device is device]
        if ask.admin:
            return not any(t.claim == c for t in takers)
        return device.id not in self.use.whole and not takers

    def counters_fit(self, device):
        if not device.cost:
            return True
        costs = {i: cost for i, cost in self.use.costs.items() if i[:2] == device.pool.key}
        if None in costs.values():
            return False
        if device.shared and (device.id in self.use.shares or any(t.device is device for t in self.taken)):
            return True
        for taken in self.taken:
            if taken.device.pool is device.pool:
                costs.setdefault(taken.device.id, taken.device.cost)
        return all(device.pool.sets[counter] - sum(cost.get(counter, 0) for cost in costs.values()) >= own
                   for counter, own in device.cost.items())

    def constraint_holds(self, constraint, c, request, ask, device):
        if not covers(constraint, request, ask):
            return True
        name = constraint.get("matchAttribute") or constraint["distinctAttribute"]
        own = device.attribute(name)
        others = [t.device.attribute(name) for t in self.taken if t.claim == c and covers(constraint, t.request, t.ask)]
        if own is None:
            return False
        if constraint.get("matchAttribute"):
            return all(other == own for other in others)
        return own not in others

    def large_enough(self, device, share, taken):
        if share is None:
            return False
        used = dict(self.use.shares.get(device.id, {}))
        for t in taken:
            if t.device is device and t.share:
                for name, amount in t.share.items():
                    used[name] = used.get(name, 0) + amount
        return all(used.get(name, 0) + amount <= v.quantity(device.capacity[name]["value"])
                   for name, amount in share.items())
