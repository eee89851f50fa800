"""What the model of the pool remembers: super clusters with their damped capacity, tenants, namespaces, Pods."""
from collections import defaultdict

import pool_devices
import pool_values as v
from capacity import amount, amounts
from damping import Cluster

FLAVOR = ""  # one for all nodes: P is keyed by (cluster, resource)


class Capacity(Cluster):
    """U of all eligible nodes together, times the pool's percent, through every layer of the damping."""

    def __init__(self, name, settings, headroom, percent, tolerations):
        super().__init__(name, settings, headroom)
        self.part = percent
        self.flavors = {FLAVOR: {"spec": {"tolerations": tolerations}}}
        self.hundredths = {}

    def usable(self, flavors, skip_suppressed):
        cap = defaultdict(int)
        for name, node in self.nodes.items():
            flap = self.flaps.get(name)
            suppressed = flap is not None and flap.suppressed_since is not None
            if self.was_eligible.get(name) and not (skip_suppressed and suppressed):
                for r, value in amounts(node["status"]["allocatable"]).items():
                    cap[r] += value
        whole, hundredths = {}, {}
        for r, value in cap.items():
            percent, reserved = self.headroom["percent"].get(r, 0), amount(r, self.headroom["reserved"].get(r, 0))
            whole[r] = max(0, value * (100 - percent) // 100 - reserved)
            hundredths[r] = max(0, value * (100 - percent) - 100 * reserved)
        if not skip_suppressed:
            self.hundredths = hundredths
        return {(FLAVOR, r): value * self.part // 100 for r, value in whole.items()}

    def settle(self, now):
        if not self.known and self.first_known is not None:
            if not self.live:
                return  # no first value while stale or lost: growth is frozen, and its windows start at the return
            since = self.returned if self.returned is not None else self.first_known
            self.first_known, self.last_change = max(self.first_known, since), max(self.last_change, since)
        super().settle(now)

    def totals(self, usable):
        # Layer 3 judges before percent, and without rounding: half of the example's nodes are not more than 50 %.
        return dict(self.hundredths)

    def holds_alone(self, requests):
        """Whether the allocatable of one eligible node holds them, nothing subtracted."""
        sizes = [amounts(n["status"]["allocatable"]) for name, n in self.nodes.items() if self.was_eligible.get(name)]
        return any(all(size.get(r, 0) >= a for r, a in requests.items()) for size in sizes)

    def pool(self, resource):
        key = self.keys.get((FLAVOR, resource))
        return key.accepted or 0 if key else 0


class Member:
    def __init__(self, name, settings, entry, headroom, tolerations):
        self.name, self.drain = name, entry.get("drain", False)
        own = entry.get("headroom", {})
        self.capacity = Capacity(name, settings, {**headroom, **own}, entry.get("percent", 100), tolerations)
        self.info = None       # data of the ConfigMap
        self.supers = {}       # name -> facts of a super cluster's Namespace
        self.devices = pool_devices.SuperCluster()
        self.lost_at = self.back_at = None
        self.touched = False

    def wanted_id(self):
        if self.info is None or "id" not in self.info:
            return self.name
        return self.info["id"] if v.ID.fullmatch(self.info["id"]) else None

    def observe_node(self, node, gone, now):
        c, name = self.capacity, node["metadata"]["name"]
        if c.first_known is None:
            c.first_known = c.last_change = now
        if gone:
            c.see_cordon(name)
            for where in (c.nodes, c.was_eligible, c.was_cordoned, c.flavor):
                where.pop(name, None)
        else:
            c.nodes[name] = node
        self.touched = True

    def observe_source(self, kind, now):
        c = self.capacity
        if kind == "SOURCE_SYNCED":
            if not c.live or c.lost:
                c.returned = now
            if c.lost:
                self.lost_at, self.back_at = None, now
            c.live, c.lost = True, False
            self.touched = True
        elif kind == "SOURCE_STALE":
            c.live = False
        else:
            if not c.lost:
                self.lost_at, self.back_at = now, None
            c.live, c.lost, c.away = False, True, True

    def step(self, now):
        """All events of the time are in: the layers of the damping decide."""
        c = self.capacity
        c.release_suppressed(now)
        if c.first_known is not None:
            for node in list(c.nodes):
                c.judge_node(node, c.flavors, now, c.settings)
            c.take_usable(c.flavors, now, self.touched, bool(c.flush))
        c.settle(now)
        c.at_once, c.flush, self.touched = False, set(), False


class Text:
    """The reason of one object: the current one, since when, and the last one that was written."""

    def __init__(self, found):
        self.current, self.since, self.last = None, None, found
        self.before = (None, None)  # as it was when this time began

    def begin(self):
        self.before = (self.current, self.since)

    def say(self, text, now):
        if text != self.current:
            self.current = text
            self.since = self.before[1] if text == self.before[0] and text is not None else now

    def due(self, latch, settle):
        """When the current text may be written, None if it is not known yet."""
        if self.current is None:
            return self.since
        if speaks_of_clusters(self.current):
            return None if latch is None else max(self.since, latch) + settle
        return self.since + settle

    def written(self, latch, settle, now):
        if self.current is None:
            self.last = None
        else:
            due = self.due(latch, settle)
            if due is not None and now >= due:
                self.last = self.current
        return self.last


def speaks_of_clusters(text):
    return text.startswith(("Devices", "DoesNotFit", "ClusterUnavailable", "UnknownResource", "NamespaceNotPlaced"))


class Written:
    """An object of a tenant that we may write."""

    def __init__(self, obj):
        self.uid = obj["metadata"].get("uid")
        self.notes = dict(obj["metadata"].get("annotations") or {})
        self.deleting = bool(obj["metadata"].get("deletionTimestamp"))
        self.text = Text(self.notes.get(v.REASON))
        self.last_write = None

    def see(self, obj):
        self.notes = dict(obj["metadata"].get("annotations") or {})
        self.deleting = bool(obj["metadata"].get("deletionTimestamp"))


class Namespace(Written):
    def __init__(self, tenant, obj):
        super().__init__(obj)
        self.tenant, self.name = tenant, obj["metadata"]["name"]
        self.n = None            # None: not taken up
        self.unit, self.grown = None, {}
        self.edit, self.last_observed = None, None
        self.wanting = self.refused = None
        self.good = v.slice_of(self.notes.get(v.SLICE))  # the last one that could be read, in the pool or not

    def see(self, obj):
        super().see(obj)
        self.good = v.slice_of(self.notes.get(v.SLICE)) or self.good

    def key(self):
        return self.tenant.name, self.name

    def active(self):
        """Takes part in decisions."""
        return self.tenant.connected() and not self.deleting

    def total(self):
        return sum((self.n or {}).values())

    def observe_placements(self, slices_max):
        """An edit is a value that differs from the last observed one and from n."""
        value = v.placements_of(self.notes.get(v.PLACEMENTS), slices_max)
        if self.n is None or value is None or value == self.last_observed:
            return
        self.last_observed = value
        self.edit = value if value != self.n else None

    def policy(self, default):
        own = self.notes.get(v.POLICY)
        return own if own in ("pack", "spread") else default


class Pod(Written):
    def __init__(self, obj):
        super().__init__(obj)
        self.super = self.observed = self.reservation = None
        self.waits_since = None
        self.read(obj)

    def see(self, obj):
        super().see(obj)
        self.read(obj)

    def read(self, obj):
        spec = self.spec = obj.get("spec", {})
        self.requests = {r: a for r, a in v.pod_requests(spec).items() if a}
        self.bound, self.gated = bool(spec.get("nodeName")), bool(spec.get("schedulingGates"))
        self.over = obj.get("status", {}).get("phase") in ("Succeeded", "Failed")
        seen = self.notes.get(v.SUPER)
        if seen != self.observed:
            self.super = self.observed = seen
            if self.reservation and self.reservation.id != seen:
                self.reservation = None

    def template(self):
        """As what makes pods has them."""
        return {"spec": self.spec}


class Tenant:
    def __init__(self, name):
        self.name = name
        self.error, self.live, self.seen = False, True, False
        self.limit = None
        self.namespaces, self.quotas, self.pods = {}, {}, {}
        self.claims, self.templates = {}, {}  # {(namespace, name): object}

    def connected(self):
        return self.live and not self.error
