"""Pods of the pool: which wait, where each goes, and what is written to it."""
import pool_values as v
from pool_rounds import minus, plus, times, within


class Pods:
    def __init__(self, hub):
        self.hub = hub

    def managed(self):
        """(tenant, namespace, name, Pod, Namespace) of all that may be written."""
        for _, tenant in sorted(self.hub.tenants.items()):
            for (space, name), p in sorted(tenant.pods.items()):
                s = tenant.namespaces.get(space)
                if s is not None and s.active() and self.hub.quota(s):
                    if not (p.over or p.deleting or p.bound):
                        yield tenant, space, name, p, s

    def unplaced(self, s, p):
        """Its superCluster is absent, not listed or gone."""
        return p.super is None or p.super not in (s.n or {}) or self.hub.state(p.super) == "gone"

    def waits(self, s, p):
        if p.gated:
            return False
        if self.unplaced(s, p):
            p.super = p.observed  # what was decided and not written yet is void where its id left the list
        return self.unplaced(s, p)

    def choose(self, now):
        waiting = []
        for tenant, space, name, p, s in self.managed():
            if not self.waits(s, p):
                p.waits_since = None
                continue
            p.waits_since = now if p.waits_since is None else p.waits_since
            waiting.append((p.waits_since, tenant.name, space, name, p, s))
        kept = {id(w[4]) for w in waiting}
        for tenant in self.hub.tenants.values():
            for (space, _), p in tenant.pods.items():
                s = tenant.namespaces.get(space)
                if s is None or not self.hub.quota(s):
                    p.text.say(None, now)  # not in the pool: left alone, reason and all
                if id(p) not in kept:
                    p.waits_since = None
        for *_, p, s in sorted(waiting, key=lambda w: w[:4]):
            self.place(p, s, now)

    def observed(self, s):
        """Ids with slices that the observed annotation lists."""
        found = v.placements_of(s.notes.get(v.PLACEMENTS), self.hub.config["slicesMax"]) or {}
        return [i for i, k in sorted((s.n or {}).items()) if k >= 1 and i in found]

    def place(self, p, s, now):
        best = []
        spread = s.policy(self.hub.config["policy"]) == "spread"
        for left, i in self.holding(p, s):
            why, alternatives, solution = self.hub.devices.answer(i, s.tenant, s.name, p)
            if why is None:
                best.append((alternatives, tuple(-a for a in left) if spread else left, i, solution))
        if best:
            *_, p.super, solution = min(best, key=lambda x: x[:3])
            self.hub.devices.reserve(p.super, s.tenant, s.name, p, solution, now)

    def holding(self, p, s):
        """(what its share has left, id) of the clusters where share and machine hold the pod."""
        need = tuple(p.requests.get(d, 0) for d in v.DIMENSIONS)
        for i in self.observed(s):
            left = minus(times(s.n[i], s.unit), self.hub.requests_there(s, i))
            if self.hub.state(i) == "open" and within(need, left) and self.machine_holds(p, i):
                yield left, i

    def machine_holds(self, p, i):
        """Every resource that it asks for, but for devices: in all, and one node alone."""
        there = [q for s in self.hub.taken_up() for q in self.hub.pods_there(s, i)]
        capacity = self.hub.ids()[i].capacity
        said = dict(zip(v.DIMENSIONS, self.said_by_others(i)))
        for r, amount in p.requests.items():
            used = sum(q.requests.get(r, 0) for q in there) + said.get(r, 0)
            if amount > capacity.pool(r) - used and not self.hub.devices.is_device(self.hub.ids()[i], r):
                return False
        return self.hub.ids()[i].capacity.holds_alone({
            r: a for r, a in p.requests.items() if not self.hub.devices.is_device(self.hub.ids()[i], r)})

    def said_by_others(self, i):
        """What super cluster namespaces of strangers and of tenants that are not connected say."""
        total = (0, 0)
        for x in self.hub.ids()[i].supers.values():
            tenant = self.hub.tenants.get(x["of"][0])
            if self.hub.is_stranger(x) or not tenant.connected():
                total = plus(total, self.hub.said(x, i))
        return total

    def reason(self, p, s):
        if p.gated or not self.unplaced(s, p):
            return None
        ids = self.observed(s)
        if not ids:
            return "NamespaceNotPlaced"
        usable = [i for i in ids if self.hub.state(i) == "open"]
        if not usable:
            return "ClusterUnavailable: " + ",".join(ids)
        for r in sorted(p.requests):
            if r not in v.DIMENSIONS and not any(
                    self.hub.ids()[i].capacity.pool(r) or self.hub.devices.is_device(self.hub.ids()[i], r)
                    for i in usable):
                return "UnknownResource: " + r
        holding = sorted(i for _, i in self.holding(p, s))
        if holding:
            return "Devices: " + "; ".join("%s: %s" % (i, self.hub.devices.answer(i, s.tenant, s.name, p)[0])
                                           for i in holding)
        return "DoesNotFit: " + ", ".join("%s %s" % (r, v.quantity(r, a)) for r, a in sorted(p.requests.items()))

    def write(self, now):
        for tenant, space, name, p, s in self.managed():
            p.text.say(self.reason(p, s), now)
            desired = {}
            if p.super is not None:
                desired[v.SUPER] = p.super
            if p.text.written(self.hub.latch, self.hub.config["settle"], now) is not None:
                desired[v.REASON] = p.text.last
            if any(p.notes.get(k) != desired.get(k) for k in (v.SUPER, v.REASON)):
                self.hub.write(now, tenant, "Pod", space, p, name, desired, (v.SUPER, v.REASON))
                p.observed = p.notes.get(v.SUPER)
