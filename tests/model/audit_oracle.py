"""The model with a memory, for answers about the past: which layer holds a value and until when, what moved it last,
how a grant came about, and what a configuration costs in over- and under-quota.
"""
from collections import defaultdict

import model
from audit_events import configuration, lines_of
from capacity import Row, amounts, canonical, divide, quantum
from damping import Cluster, at, window


class Watched(Cluster):
    """A cluster that remembers what moved its values, and why."""

    def __init__(self, name, settings, headroom):
        super().__init__(name, settings, headroom)
        self.moves = {}              # key -> (from, to, time, by)
        self.held_since = None
        self.second_at = None        # when a second observation ended a hold
        self.was_lost = False        # before this moment
        self.held_before = None      # the hold in force before this moment

    def observe(self, totals, now, cordon_only):
        held = self.hold is not None
        super().observe(totals, now, cordon_only)
        if held and self.hold is None:
            self.second_at = now
        if self.hold is not None and not held:
            self.held_since = now

    def settle(self, now):
        before = {key: (value.accepted, value.last_grow, value.gap_since) for key, value in self.keys.items()}
        expired = self.hold is not None and now >= self.hold["until"]
        edited, flushed, moved = self.at_once, set(self.flush), set(self.moved)
        super().settle(now)
        for key, value in self.keys.items():
            old = before.get(key, (None,))[0]
            if old is None or value.accepted == old:
                continue
            if value.accepted > old:
                by = self.gave_way(key, now, *before[key])
            else:
                causes = (("claimEdit", edited), ("cordon", key in flushed), ("flavorUse", key in moved),
                          ("massShrinkHold", expired),
                          ("secondObservation", self.second_at == now), ("sourceBack", self.was_lost))
                by = {next((name for name, is_it in causes if is_it), "shrinkWindow")}
                if any(when == now - self.settings["shrinkWindow"] for when, _ in value.usable):
                    by.add("shrinkWindow")  # both at this moment: either is true
            self.moves[key] = (old, value.accepted, now, by)
        self.was_lost = self.lost
        self.held_before = self.hold

    def gave_way(self, key, now, accepted, last_grow, gap_since):
        """The bars that held the value until this moment, in which it grew: what held it a millisecond ago and does
        not now (all times are whole ones). Each of them is true. The grow window is one if its least value was lower
        than what is accepted now: then no other bar held *this* growth for want of size.
        """
        s, value, then, out = self.settings, self.keys[key], now - 1, set()
        target = value.accepted
        closed = self.returned is not None and then < self.returned + s["growWindow"]
        opened = accepted if closed else min(window(value.growable, then - s["growWindow"], then), default=0)
        if closed or self.returned == now or opened < target:
            out.add("growWindow")
        if last_grow is not None and then < last_grow + s["minGrowInterval"]:
            out.add("minGrowInterval")
        if self.held_before and at(value.growable, then) > accepted:
            if self.second_at == now:
                out.add("secondObservation")
            if now >= self.held_before["until"]:
                out.add("massShrinkHold")
        wanted = max(opened, target)
        if self.too_small(key, wanted, then, accepted, gap_since):
            if now - gap_since >= s["deadbandMaxAge"]:
                out.add("deadbandMaxAge")
            if wanted > target:
                out.add("deadband")  # it fell to what had been accepted lately
        return out

    def too_small(self, key, wanted, then, accepted, gap_since):
        """Whether the deadband held a growth to `wanted`."""
        s, value = self.settings, self.keys[key]
        if gap_since is None or gap_since > then or s["growDeadbandPercent"] == 0 or s["deadbandMaxAge"] == 0:
            return False
        if wanted - accepted >= max(quantum(key[1]), wanted * s["growDeadbandPercent"] // 100):
            return False
        aged = then - gap_since >= s["deadbandMaxAge"]
        return not aged and wanted not in window(value.history, then - s["deadbandMaxAge"], then)

    # which layer holds a value

    def state(self, key):
        value = self.keys[key]
        usable = value.usable[-1][1]
        if self.lost:
            return "Lost"
        if not self.known:
            return "Unknown"
        if self.hold:
            return "Held"
        if not self.live:
            return "Stale"
        if value.accepted > usable:
            return "Shrinking"
        return "Growing" if value.accepted < usable else "Accepted"

    def layer(self, key, now):
        """(name, since, until); since and until None where the pages give none."""
        s, value = self.settings, self.keys[key]
        usable = value.usable[-1][1]
        if self.lost:
            return ("lost", None, None)
        if not self.known:
            until = min(self.last_change + s["firstQuiet"], self.first_known + s["growWindow"])
            return ("firstQuiet", self.last_change, until)
        if value.accepted > usable:
            if self.hold:
                return ("massShrinkHold", self.held_since, self.hold["until"])
            fell = self.fits_since(value.usable, now, lambda v: v < value.accepted)
            return ("shrinkWindow", fell, fell + s["shrinkWindow"])
        if value.accepted == usable:
            return ("none", None, None)
        return self.growing_layer(key, now)

    def growing_layer(self, key, now):
        s, value = self.settings, self.keys[key]
        if not self.live:
            return ("frozen", None, None)
        growing = value.growable[-1][1]
        if growing <= value.accepted:
            return ("flapSuppress", *self.suppression(key))
        if self.hold:
            return ("massShrinkHold", self.held_since, self.hold["until"])
        grow = min(window(value.growable, now - s["growWindow"], now))
        opens = self.returned + s["growWindow"] if self.returned is not None else 0
        if grow <= value.accepted or now < opens:
            rose = max(self.fits_since(value.growable, now, lambda v: v > value.accepted), self.returned or 0)
            return ("growWindow", rose, rose + s["growWindow"])
        if value.last_grow is not None and now < value.last_grow + s["minGrowInterval"]:
            return ("minGrowInterval", value.last_grow, value.last_grow + s["minGrowInterval"])
        return ("deadband", value.gap_since, value.gap_since + s["deadbandMaxAge"])

    def suppression(self, key):
        """From the first suppression of a node that counts for the key to the end of the last."""
        flaps = [self.flaps[name] for name, node in self.nodes.items()
                 if name in self.flaps and self.flavor.get(name, {}).get(key[1]) == key[0]
                 and key[0] in self.was_eligible.get(name, {}).values()
                 and self.flaps[name].suppressed_since is not None
                 and amounts(node["status"]["allocatable"]).get(key[1], 0) > 0]
        return min(flap.suppressed_since for flap in flaps), max(self.until_reuse(flap) for flap in flaps)

    def until_reuse(self, flap):
        """When a suppressed node will count for growing again, if it stays well."""
        s, step = self.settings, 0
        while self.penalty(flap, flap.at + -(-step * s["flapHalfLife"] // 64)) >= s["flapReuse"]:
            step += 1
        return min(flap.suppressed_since + s["flapSuppressMax"], flap.at + -(-step * s["flapHalfLife"] // 64))

    @staticmethod
    def fits_since(steps, now, fits):
        """Since when the value of the step function fits; None if it does not now."""
        since = None
        for when, v in steps:
            if when > now:
                break
            since = None if not fits(v) else (when if since is None else since)
        return since


class Replayed(model.Hub):
    """The hub, with clusters that remember, and with what whatif's totals are made of."""

    def __init__(self, config):
        super().__init__(config)
        self.spans = []       # (from, to, {key: (over, under)})
        self.carried = {}     # queue -> {(cluster, flavor, resource): amount}
        self.gauges, self.gauged = {}, None
        self.metered = False
        self.written = 0
        self.stood = set()    # queues that were written since they are there

    def cluster(self, name):
        if name not in self.clusters:
            self.clusters[name] = Watched(name, self.settings, self.headroom)
        return self.clusters[name]

    def step(self, lines, now):
        if self.metered and self.gauged is not None:
            self.spans.append((self.gauged, now, self.gauges))
        super().step(lines, now)
        if self.metered:
            for _, queue, _ in self.writes[self.written:]:
                self.carried[queue] = self.contributions(queue)
                self.stood.add(queue)
            self.written = len(self.writes)
            self.stood &= set(self.queues)
            for queue in set(self.carried) - set(self.queues):
                del self.carried[queue]
            for queue in set(self.queues) - self.stood:
                self.carried[queue] = self.contributions_as_desired(queue, now)
            self.gauges, self.gauged = self.measure(), now

    def contributions(self, queue):
        out = {}
        for cluster_name, claim_name in self.live_claims().items():
            cluster = self.cluster(cluster_name)
            if not cluster.known or cluster.away:
                continue
            for pair, row in steps_of(self.valid_specs[claim_name], cluster).items():
                if pair[0] == queue and (pair[1], pair[2]) in self.queues[queue]["quota"]:
                    out[(cluster_name, pair[1], pair[2])] = row["granted"]
        return out

    def contributions_as_desired(self, queue, now):
        """What a queue carries that was never written: the pairs whose nominal quota was the desired one."""
        wish = self.desired(now).get(queue, {})
        return {key: granted for key, granted in self.contributions(queue).items()
                if wish.get(key[1:]) == self.queues[queue]["quota"][key[1:]]}

    def measure(self):
        """{(cluster, flavor or "", resource): (over-quota, under-quota)}, as replay/whatif/totals.h defines them."""
        promised = defaultdict(int)
        for carried in self.carried.values():
            for key, granted in carried.items():
                promised[key] += granted
        out = {}
        live = self.live_claims()
        for name, cluster in self.clusters.items():
            if cluster.first_known is None:
                continue
            spec = self.valid_specs.get(live.get(name), {"resourceAssignments": []})
            usable, wanted, mine = defaultdict(int), defaultdict(int), defaultdict(int)
            for (flavor, resource), value in cluster.keys.items():
                usable[self.gauge(spec, cluster, flavor, resource)] += value.usable[-1][1]
            for a in spec["resourceAssignments"]:
                for resource, assigned in amounts(a["resources"]).items():
                    wanted[self.gauge(spec, cluster, a["flavor"], resource)] += assigned
            for (who, flavor, resource), granted in promised.items():
                if who == name:
                    mine[self.gauge(spec, cluster, flavor, resource)] += granted
            for key in set(usable) | set(wanted) | set(mine):
                out[(name, *key)] = (max(0, mine[key] - usable[key]),
                                     max(0, min(usable[key], wanted[key]) - mine[key]))
        return out

    @staticmethod
    def gauge(spec, cluster, flavor, resource):
        mode = spec.get("flavorCapacity", "Auto")
        bounds = mode == "Strict" or (mode == "Auto" and (flavor, resource) in cluster.mapped)
        return (flavor if bounds else "", resource)


def steps_of(spec, cluster, values=None):
    """{(queue, flavor, resource): the division's steps}; `values` instead of what is accepted."""
    accepted = values or {key: value.accepted for key, value in cluster.keys.items()}
    mode, policy = spec.get("flavorCapacity", "Auto"), spec.get("shrinkPolicy", "Proportional")
    nominal, out = amounts(spec["nominalResources"]), {}
    for resource in sorted({canonical(r) for a in spec["resourceAssignments"] for r in a["resources"]}):
        unit = quantum(resource)
        total = sum(v for (_, r), v in accepted.items() if r == resource)
        rows = []
        for a in spec["resourceAssignments"]:
            assigned = amounts(a["resources"]).get(resource)
            if assigned is None:
                continue
            wanted = assigned
            if spec.get("nominalPolicy") == "TrackCapacity" and total > nominal[resource] > 0:
                wanted = assigned * total // nominal[resource] // unit * unit
            minimum = amounts(a.get("minResources")).get(resource, 0)
            rows.append(Row(a["clusterQueueName"], a["flavor"], wanted, minimum, a.get("priority") or 0))
            out[(a["clusterQueueName"], a["flavor"], resource)] = {
                "assigned": assigned, "wanted": wanted, "totalBound": total, "flavorBound": None, "minimum": minimum,
                "minimumsAbove": False}
        for flavor in sorted({r.flavor for r in rows}):
            mine = [r for r in rows if r.flavor == flavor]
            if mode == "Strict" or (mode == "Auto" and (flavor, resource) in cluster.mapped):
                split(mine, accepted.get((flavor, resource), 0), unit, policy, out, resource, "flavorBound")
            else:
                for r in mine:
                    r.granted = r.assigned
        for r in rows:
            out[(r.queue, r.flavor, resource)]["afterFlavor"] = r.granted
            r.assigned, r.minimum = r.granted, min(r.minimum, r.granted)
        split(rows, total, unit, policy, out, resource, "totalBound")
        for r in rows:
            out[(r.queue, r.flavor, resource)]["granted"] = r.granted
    return out


def split(rows, bound, unit, policy, out, resource, name):
    short = sum(r.assigned for r in rows) > bound and sum(r.minimum for r in rows) > bound // unit * unit
    for r in rows:
        out[(r.queue, r.flavor, resource)][name] = bound
    divide(rows, bound, unit, policy)
    for r in rows:
        if r.granted < r.assigned:  # what cut it last is why it has no more
            out[(r.queue, r.flavor, resource)]["minimumsAbove"] = short


# ------------------------------------------------------------------------------- what another configuration would do


def totals_of(hub, end):
    """What whatif says of a world, from its spans: over-quota and under-quota integrated to `end`."""
    spans = hub.spans + ([(hub.gauged, end, hub.gauges)] if hub.gauged is not None else [])
    over_time, over, under, since, shrinks, slowest = 0, defaultdict(int), defaultdict(int), {}, 0, 0
    for begin, until, gauges in spans:
        for key in set(gauges) | set(since):
            above, below = gauges.get(key, (0, 0))
            if above > 0:
                since.setdefault(key, begin)
                over_time += until - begin
            elif key in since:
                slowest = max(slowest, begin - since.pop(key))
                shrinks += 1
            over[key[2]] += above * (until - begin)
            under[key[2]] += below * (until - begin)
    slowest = max([slowest, *(end - begin for begin in since.values())])
    return {"overQuotaSeconds": over_time // 1000, "safeShrinks": shrinks, "slowestShrinkSeconds": slowest // 1000,
            "queueWrites": len(hub.writes),
            "overQuotaResourceHours": {r: resource_hours(r, n) for r, n in over.items() if resource_hours(r, n)},
            "underQuotaResourceHours": {r: resource_hours(r, n) for r, n in under.items() if resource_hours(r, n)}}


def resource_hours(resource, sum_):
    """cpu and devices in thousandths, everything else in units."""
    return sum_ * (1000 if quantum(resource) == 1 else 1) // (3600 * 1000)


def world(events, changed, end):
    """History's facts under its configuration with `changed` settings; metered to `end`."""
    config = configuration([e for e in events if e["fact"] == "ConfigChanged"][0])
    config["debounce"].update({k: v for k, v in changed.items() if k in config["debounce"]})
    config.update({k: v for k, v in changed.items() if k == "overbookPercent"})
    hub = Replayed(config)
    hub.metered = True
    hub.run(lines_of(events), until=end)
    return hub
