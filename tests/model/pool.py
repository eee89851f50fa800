"""The super cluster pool, once more and as plainly as possible: what `fairlead plan` would write to tenants.

Times are integer milliseconds, amounts are integers (cpu in milli, everything else in units). A trace is a list of
lines as `fairlead plan` reads them, as dictionaries with a time in milliseconds. Each time is worked off as pool.md
says: all events, the rounds, the namespaces, the Pods; what was written is looked at again at the same time.
Where the page can be read in two ways, a comment says which one this is.
"""
import pool_devices
import pool_values as v
from damping import DEFAULTS
from pool_pods import Pods
from pool_rounds import Rounds, maximum, minus, plus, times
from pool_state import Member, Namespace, Pod, Tenant

POOL = {"clusters": [{"cluster": "*"}], "tenants": [], "policy": "pack", "partial": False, "quotas": "min",
        "tenantLimit": {}, "tolerations": [], "lostGrace": 600000, "settle": 2000, "slicesMax": 10000}
HEADROOM = {"percent": {"cpu": 5, "memory": 5}, "reserved": {}}
NOTHING = (0, 0)


class Hub:
    """Runs a trace; `writes` is [(time, cluster, kind, namespace, name, annotations)]."""

    def __init__(self, config=None):
        config = config or {}
        self.config = {**POOL, **config.get("pool", {})}
        self.settings = {**DEFAULTS, **config.get("debounce", {})}
        self.headroom = config.get("headroom", HEADROOM)
        self.now, self.members, self.tenants, self.owner_of = 0, {}, {}, {}
        self.unknown = {}     # id in some placement that no member has -> since when
        self.latch = None     # when texts that speak of clusters began to count
        self.writes = []
        self.devices = pool_devices.Devices(self, config.get("dra", {}))
        self.pods = Pods(self)
        for entry in self.config["tenants"]:
            self.tenants[entry["name"]] = Tenant(entry["name"])

    # Time

    def run(self, lines):
        when, now = sorted({x["time"] for x in lines}), None
        while True:
            due = {t for t in self.deadlines() if now is None or t > now} | {t for t in when if now is None or t > now}
            if not due:
                return self.writes
            now = min(due)
            self.moment([x for x in lines if x["time"] == now], now)

    def advance(self, until):
        """Works off the deadlines before `until`."""
        while True:
            due = [t for t in self.deadlines() if self.now < t < until]
            if not due:
                return
            self.moment([], min(due))

    def deadlines(self):
        times_, s = self.devices.deadlines(), self.settings
        for m in self.members.values():
            times_ |= m.capacity.deadlines()
            if m.lost_at is not None:
                times_.add(m.lost_at + self.config["lostGrace"])
            if m.back_at is not None:
                times_.add(m.back_at + s["growWindow"])
            times_.add(m.seen_at + s["growWindow"])
        times_ |= {t + self.config["lostGrace"] for t in self.unknown.values()}
        for one in self.written_objects():
            due = one.text.due(self.latch, self.config["settle"])
            if due is not None:
                times_.add(due)
            if one.last_write is not None:
                times_.add(one.last_write + s["writeInterval"])
        return times_

    def written_objects(self):
        for t in self.tenants.values():
            yield from t.namespaces.values()
            yield from t.pods.values()

    def moment(self, lines, now):
        self.now = now
        for one in self.written_objects():
            one.text.begin()
        # One time's events are a set: a tenant is one whatever the order of its lines and its VirtualCluster's.
        for line in sorted(lines, key=lambda x: x.get("object", {}).get("kind") != "VirtualCluster"):
            self.take(line, now)
        for m in self.members.values():
            m.step(now)
        self.devices.moment(now)
        self.take_up(now)
        for _ in range(1000):
            count = len(self.writes)
            Rounds(self, now).run()
            self.set_latch(now)
            self.leave_alone()
            self.write_namespaces(now)
            self.leave_alone()
            self.pods.choose(now)
            self.pods.write(now)
            if len(self.writes) == count:
                return
            self.take_up(now)
        raise RuntimeError("a time without an end")

    def set_latch(self, now):
        """Every live super cluster has its first P, or growWindow after it was first seen."""
        live = [m for m in self.ids().values() if m.capacity.live]
        if self.latch is None and all(m.capacity.known or now >= m.seen_at + self.settings["growWindow"] for m in live):
            self.latch = now

    # Events

    def take(self, line, now):
        cluster, kind = line["cluster"], line.get("object", {}).get("kind")
        gone = line["type"] == "DELETED"
        if cluster == "hub":
            if kind == "VirtualCluster":
                self.take_virtual_cluster(line["object"], gone)
        elif cluster.startswith("tenant/"):
            tenant = self.tenants.get(cluster[len("tenant/"):])
            if tenant is not None:
                self.take_tenant(tenant, line, kind, gone)
        else:
            self.take_member(self.member(cluster), line, kind, gone, now)

    def member(self, name):
        if name not in self.members:
            entries = {e["cluster"]: e for e in self.config["clusters"]}
            entry = entries.get(name, entries.get("*"))
            member = Member(name, self.settings, entry or {}, self.headroom, self.config["tolerations"])
            member.enters, member.seen_at = entry is not None, self.now
            self.members[name] = member
        return self.members[name]

    def take_member(self, member, line, kind, gone, now):
        member.devices.take(line)
        if line["type"].startswith("SOURCE_"):
            member.observe_source(line["type"], now)
        elif kind == "Node":
            member.observe_node(line["object"], gone, now)
        elif kind == "ConfigMap":
            m = line["object"]["metadata"]
            if (m.get("namespace"), m["name"]) == ("kube-system", "supercluster-info"):
                member.info = None if gone else line["object"].get("data", {})
        elif kind == "Namespace":
            m = line["object"]["metadata"]
            notes = m.get("annotations") or {}
            member.supers.pop(m["name"], None)
            if not gone and v.KEY + "cluster" in notes:
                member.supers[m["name"]] = {
                    "of": (notes[v.KEY + "cluster"], notes.get(v.KEY + "namespace")), "uid": notes.get(v.KEY + "uid"),
                    "n": v.placements_of(notes.get(v.PLACEMENTS), self.config["slicesMax"]) or {},
                    "unit": v.slice_of(notes.get(v.SLICE)) or NOTHING}

    def take_virtual_cluster(self, vc, gone):
        m = vc["metadata"]
        key = m["namespace"], m["name"]
        name = self.owner_of.get(key)
        if gone:
            self.owner_of.pop(key, None)
            self.tenants.pop(name, None)
            return
        phase = vc.get("status", {}).get("phase")
        if phase == "Running" and name is None:
            name = self.owner_of[key] = v.tenant_name(vc)
            self.tenants.setdefault(name, Tenant(name))
        tenant = self.tenants.get(name)
        if tenant is not None:
            tenant.error = phase == "Error" or tenant.error and phase != "Running"
            tenant.limit = v.limit_of((m.get("annotations") or {}).get(v.LIMIT))

    def take_tenant(self, tenant, line, kind, gone):
        if line["type"].startswith("SOURCE_"):
            tenant.live = line["type"] == "SOURCE_SYNCED"
            return
        m = line["object"]["metadata"]
        key = m.get("namespace"), m["name"]
        if kind == "ResourceQuota":
            tenant.quotas.pop(key, None)
            if not gone:
                tenant.quotas[key] = v.quota_facts(line["object"])
        elif kind == "Namespace":
            self.keep(tenant.namespaces, m["name"], gone, line["object"], lambda o: Namespace(tenant, o))
            if not gone:
                tenant.namespaces[m["name"]].observe_placements(self.config["slicesMax"])
        elif kind == "Pod":
            self.keep(tenant.pods, key, gone, line["object"], Pod)
        elif kind in ("ResourceClaim", "ResourceClaimTemplate"):
            where = tenant.claims if kind == "ResourceClaim" else tenant.templates
            where.pop(key, None)
            if not gone:
                where[key] = line["object"]

    @staticmethod
    def keep(where, key, gone, obj, make):
        if gone:
            where.pop(key, None)
        elif key not in where or where[key].uid != obj["metadata"].get("uid"):
            where[key] = make(obj)
        else:
            where[key].see(obj)

    # Who is in the pool

    def quota(self, s):
        several = [q for (space, _), q in s.tenant.quotas.items() if space == s.name]
        return v.total_quota(several, self.config["quotas"])

    def take_up(self, now):
        for _, tenant in sorted(self.tenants.items()):
            if not tenant.connected():
                continue
            first = not tenant.seen
            if tenant.namespaces or tenant.quotas or tenant.pods:
                tenant.seen = True
            for _, s in sorted(tenant.namespaces.items()):
                if s.n is not None or not self.quota(s) or s.good is None:
                    continue
                if first or not s.deleting:
                    self.begin(s, first, now)

    def begin(self, s, first, now):
        found = v.placements_of(s.notes.get(v.PLACEMENTS), self.config["slicesMax"]) or {}
        s.unit, s.last_observed, s.edit, s.n, s.grown = s.good, found, None, {}, {}
        if not first:
            s.edit = found or None
            return
        s.n = dict(found)
        s.n = Rounds(self, now).reduce(s, s.n, self.allowed(s, s.unit), s.n, s.unit, self.state)
        s.grown = dict.fromkeys(s.n, now)

    def leave_alone(self):
        """Without a quota, and no placement of ours is left."""
        for s in self.taken_up():
            if s.active() and not self.quota(s) and not s.n and v.REASON not in s.notes:
                if v.placements_of(s.notes.get(v.PLACEMENTS), self.config["slicesMax"]) == {}:
                    s.n = s.edit = s.unit = s.wanting = None

    def taken_up(self):
        return [s for _, t in sorted(self.tenants.items()) for _, s in sorted(t.namespaces.items())
                if s.n is not None]

    def wish_of(self, s, unit):
        """(N, why it is not what the quota says) of a slice."""
        quota = self.quota(s)
        if not quota:
            return 0, None
        n, why = v.expected(quota, unit, self.config["slicesMax"])
        return (s.total(), why) if why and why.startswith("TooManySlices") else (n, why)

    def wish(self, s):
        """(N, reason, a new slice that may come into force)."""
        n, why = self.wish_of(s, s.good)
        fresh = s.good if s.good != s.unit and s.total() > 0 and n > 0 and why is None else None
        bad = v.slice_of(s.notes.get(v.SLICE)) is None
        return n, "BadSlice" if bad else why, fresh

    # The tenant's limit

    def limit(self, tenant):
        if tenant.limit is not None:
            return tenant.limit
        return {d: v.amount(d, q) for d, q in self.config["tenantLimit"].items()}

    def rest_of_tenant(self, s):
        total = NOTHING
        for other in s.tenant.namespaces.values():
            if other is not s and other.n is not None:
                total = plus(total, times(other.total(), other.unit))
        return total

    def allowed(self, s, unit):
        """The most slices that the limit lets it have."""
        limit, rest = self.limit(s.tenant), self.rest_of_tenant(s)
        most = [max(0, limit[d] - r) // u for d, r, u in zip(v.DIMENSIONS, rest, unit) if d in limit]
        return min(most, default=1 << 62)

    def passes_limit(self, s, n, unit):
        limit, total = self.limit(s.tenant), plus(self.rest_of_tenant(s), times(n, unit))
        for d, t in zip(v.DIMENSIONS, total):
            if d in limit and t > limit[d]:
                return "TenantLimit: " + d
        return None

    # Clusters

    def ids(self):
        """{id: member}; of two with one id the first by name keeps it."""
        found = {}
        for _, m in sorted(self.members.items()):
            if m.enters and m.wanted_id() is not None:
                found.setdefault(m.wanted_id(), m)
        return found

    def track_unknown(self, now):
        known = self.ids()
        named = {i for s in self.taken_up() for i in s.n if i not in known}
        self.unknown = {i: self.unknown.get(i, now) for i in named}

    def state(self, i):
        m, grace = self.ids().get(i), self.config["lostGrace"]
        if m is None:
            since = self.unknown.get(i)  # None: it is named just now
            return "gone" if since is not None and self.now >= since + grace else "away"
        if m.drain:
            return "gone"
        if m.lost_at is not None:
            return "gone" if self.now >= m.lost_at + grace else "away"
        back = m.back_at is not None and self.now < m.back_at + self.settings["growWindow"]
        return "closed" if back or not m.capacity.live or not m.capacity.known else "open"

    def open_ids(self):
        return [i for i in self.ids() if self.state(i) == "open"]

    def pool(self, i):
        return tuple(self.ids()[i].capacity.pool(d) for d in v.DIMENSIONS)

    def pods_there(self, s, i):
        if s.n is None or i not in s.n:
            return []
        return [p for (space, _), p in s.tenant.pods.items() if space == s.name and p.super == i and not p.over]

    def requests_there(self, s, i):
        total = NOTHING
        for p in self.pods_there(s, i):
            total = plus(total, tuple(p.requests.get(d, 0) for d in v.DIMENSIONS))
        return total

    def needed(self, s, i, unit):
        return max(-(-p // u) for p, u in zip(self.requests_there(s, i), unit))

    def is_stranger(self, x):
        tenant = self.tenants.get(x["of"][0])
        s = tenant.namespaces.get(x["of"][1]) if tenant else None
        return s is None or s.n is None or bool(x["uid"]) and x["uid"] != s.uid

    def strangers(self, i):
        return [x for x in self.ids()[i].supers.values() if self.is_stranger(x)]

    @staticmethod
    def said(x, i):
        return times(x["n"].get(i, 0), x["unit"])

    def weight(self, s, i):
        """What a namespace holds at a cluster."""
        amount = maximum(times(s.n.get(i, 0), s.unit), self.requests_there(s, i))
        if not s.tenant.connected():
            for x in self.ids()[i].supers.values():
                if x["of"] == s.key() and not self.is_stranger(x):
                    amount = maximum(amount, self.said(x, i))
        return amount

    def held(self, i, but=None):
        total = NOTHING
        for s in self.taken_up():
            if s is not but:
                total = plus(total, self.weight(s, i))
        for x in self.strangers(i):
            total = plus(total, self.said(x, i))
        return total

    def room(self, s, i, unit):
        rest = minus(self.pool(i), self.held(i, but=s))
        return max(0, min(r // u for r, u in zip(rest, unit)))

    # Namespaces

    def reason(self, s):
        if s.n is None:
            return "BadSlice"  # in the pool, and its slice could not be read yet
        if not self.quota(s):
            return None
        n, why, fresh = self.wish(s)
        if why is not None:
            return why
        if fresh is not None and s.refused:
            unit, missing = fresh, n
            why = s.refused if s.refused != "DoesNotFit" else None
        else:
            unit, missing = s.unit, n - s.total()
            why = self.passes_limit(s, n, unit) if missing > 0 else None
        if why is not None:
            return why
        if missing > 0:
            return "DoesNotFit: %d more slices of cpu %s, memory %s" % (
                missing, v.quantity("cpu", unit[0]), v.quantity("memory", unit[1]))
        lost = [i for i in sorted(s.n) if s.n[i] and self.state(i) in ("away", "gone")]
        return "ClusterUnavailable: " + ",".join(lost) if lost else None

    def write_namespaces(self, now):
        for _, tenant in sorted(self.tenants.items()):
            for _, s in sorted(tenant.namespaces.items()):
                if s.n is None and not self.quota(s):
                    s.text.say(None, now)  # left alone, reason and all
                    continue
                if not s.active():
                    continue  # the value of its text stays, and has held since
                s.text.say(self.reason(s), now)
                found, desired = s.notes.get(v.PLACEMENTS), {}
                if s.n is not None and (s.n or found is not None):
                    desired[v.PLACEMENTS] = v.placements_text(s.n)
                if s.text.written(self.latch, self.config["settle"], now) is not None:
                    desired[v.REASON] = s.text.last
                moved = s.n is not None and v.placements_of(found, self.config["slicesMax"]) != s.n
                if moved or s.notes.get(v.REASON) != desired.get(v.REASON):
                    self.write(now, tenant, "Namespace", "", s, s.name, desired, (v.PLACEMENTS, v.REASON))

    def write(self, now, tenant, kind, space, one, name, desired, ours):
        """Accepted and observed at once; not within writeInterval of the last."""
        if one.last_write is not None and now < one.last_write + self.settings["writeInterval"]:
            return
        one.last_write = now
        for key in ours:
            if key in desired:
                one.notes[key] = desired[key]
            elif key == v.REASON:
                one.notes.pop(key, None)
        if kind == "Namespace":
            one.observe_placements(self.config["slicesMax"])
        self.writes.append((now, "tenant/" + tenant.name, kind, space, name, desired))
