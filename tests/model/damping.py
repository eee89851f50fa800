"""One cluster: layers 1 to 3 of the damping, over the whole history."""
from collections import defaultdict

from capacity import amount, amounts, candidates, cordoned, eligible, quantum, winner_of

DEFAULTS = {
    "ingestCoalesce": 1000, "shrinkWindow": 15000, "growWindow": 300000, "firstQuiet": 60000,
    "minGrowInterval": 60000, "growDeadbandPercent": 2, "deadbandMaxAge": 1800000, "flapPenalty": 1000,
    "flapSuppress": 3000, "flapReuse": 1000, "flapHalfLife": 900000, "flapSuppressMax": 3600000,
    "massShrinkPercent": 50, "massShrinkHold": 60000, "staleAfter": 300000, "lostAfter": 900000,
    "writeInterval": 5000,
}
FLAP_CEILING = 16000

# Where the pages can be read in two ways, which one the engine follows; docs/decisions/ has the reasons.
EDIT_SHRINKS_IN_A_HOLD = True      # or does the hold hold what an edit or a cordon would take at once
LOSS_IN_A_HOLD_HOLDS_ANEW = False


class Key:
    """Layer 2 of one (flavor, resource) of a cluster: the whole history, scanned."""

    def __init__(self):
        self.usable = []    # (time, value) where it changes; the value holds until the next
        self.growable = []  # the same without suppressed nodes
        self.accepted = None
        self.history = []   # (time, accepted)
        self.last_grow = None
        self.gap_since = None


def at(history, time):
    value = 0
    for when, v in history:
        if when <= time:
            value = v
    return value


def window(history, since, until):
    """All values that the step function has in [since, until]. Before its first step it is unknown."""
    values = [v for when, v in history if since < when <= until]
    if history and history[0][0] <= since:
        values.append(at(history, since))
    return values


class Flaps:
    def __init__(self):
        self.penalty, self.at, self.suppressed_since = 0, 0, None


TABLE = [round(65536 * 2 ** (-i / 64)) for i in range(64)]  # the only use of floating point: a constant


class Cluster:
    def __init__(self, name, settings, headroom):
        self.name, self.settings, self.headroom = name, settings, headroom
        self.nodes, self.flaps, self.was_eligible = {}, {}, {}
        self.keys = {}
        self.mapped = set()         # pairs (flavor, resource)
        self.uses = {}              # of the hub, by which nodes are counted
        self.first_known = None
        self.last_change = None
        self.known = False
        self.live, self.lost, self.returned = True, False, None
        self.away = False           # was lost, and has not been back for a grow window
        self.at_once = False        # a claim was edited
        self.flush = set()          # pairs of which a node was cordoned
        self.moved = set()          # pairs of which an edit of queues or claims took nodes away
        self.flavor, self.was_cordoned = {}, {}  # of nodes: {resource: winner}
        self.hold = None            # {"until", "before"}
        self.observed_totals = None  # of the observation before this one

    # layer 1
    def penalty(self, flap, now):
        steps = (now - flap.at) * 64 // self.settings["flapHalfLife"]
        return ((flap.penalty * TABLE[steps % 64]) >> 16) >> (steps // 64)

    def count_node(self, name, flavors):
        """Which flavors the node is eligible for, {candidates: winner}, and which wins each of its resources."""
        node, won = self.nodes[name], {}
        for names in self.sets(flavors) | {tuple(sorted(flavors))}:
            won[names] = winner_of(node, names, flavors)
        self.was_eligible[name] = {names: w for names, w in won.items()
                                   if w is not None and eligible(node, flavors[w])}
        self.flavor[name] = {r: won[candidates(r, self.uses, flavors)] for r in amounts(node["status"]["allocatable"])}
        return won

    def sets(self, flavors):
        """The candidates of all resources that are used; all flavors where none is."""
        used = {candidates(r, self.uses, flavors) for r, names in self.uses.items() if set(names) & set(flavors)}
        return used or {tuple(sorted(flavors))}

    def judge_node(self, name, flavors, now, settings):
        node, before = self.nodes[name], self.was_eligible.get(name, {})
        if self.see_cordon(name):
            self.flush |= {(w, r) for r, w in self.flavor.get(name, {}).items() if w is not None}
        won = self.count_node(name, flavors)
        after = self.was_eligible[name]
        lost = any(names in before and won[names] is not None and names not in after for names in self.sets(flavors))
        if lost and not cordoned(node) and settings["flapPenalty"] > 0:
            flap = self.flaps.setdefault(name, Flaps())
            flap.penalty = min(FLAP_CEILING, self.penalty(flap, now) + settings["flapPenalty"])
            flap.at = now
            if flap.penalty >= settings["flapSuppress"] and flap.suppressed_since is None:
                flap.suppressed_since = now

    def adopt(self, uses, flavors):
        """Queues and claims use other flavors: every node is counted again, which is no flap."""
        before = self.offered(flavors, False)
        self.uses = uses
        for name in self.nodes:
            self.count_node(name, flavors)
        after = self.offered(flavors, False)
        self.moved |= {key for key, value in before.items() if after.get(key, 0) < value}

    def map_pairs(self, flavors):
        for node in self.nodes.values():
            for resource, names in self.uses.items():
                if set(names) & set(flavors):
                    self.mapped.add((winner_of(node, candidates(resource, self.uses, flavors), flavors), resource))

    def see_cordon(self, name):
        """Whether the node was cordoned since it was last looked at: the falls of its flavors are an order then."""
        is_cordoned = name in self.nodes and cordoned(self.nodes[name])
        new = is_cordoned and not self.was_cordoned.get(name, True)
        if name in self.nodes:
            self.was_cordoned[name] = is_cordoned
        return new

    def release_suppressed(self, now):
        for flap in self.flaps.values():
            if flap.suppressed_since is None:
                continue
            if now >= flap.suppressed_since + self.settings["flapSuppressMax"]:
                flap.penalty, flap.at = min(self.penalty(flap, now), self.settings["flapReuse"] - 1), now
                flap.suppressed_since = None
            elif self.penalty(flap, now) < self.settings["flapReuse"]:
                flap.suppressed_since = None

    def offered(self, flavors, skip_suppressed):
        cap = defaultdict(int)
        for name, node in self.nodes.items():
            flap = self.flaps.get(name)
            if skip_suppressed and flap and flap.suppressed_since is not None:
                continue
            for r, v in amounts(node["status"]["allocatable"]).items():
                flavor = self.was_eligible.get(name, {}).get(candidates(r, self.uses, flavors))
                if flavor is not None:
                    cap[(flavor, r)] += v
        return cap

    def usable(self, flavors, skip_suppressed):
        cap = self.offered(flavors, skip_suppressed)
        result = {}
        for (f, r), v in cap.items():
            percent = self.headroom["percent"].get(r, 0)
            reserved = amount(r, self.headroom["reserved"].get(r, 0))
            result[(f, r)] = max(0, v * (100 - percent) // 100 - reserved)
        return result

    def totals(self, usable):
        out = defaultdict(int)
        for (_, r), v in usable.items():
            out[r] += v
        return dict(out)

    def take_usable(self, flavors, now, observed, cordon_only):
        usable, growable = self.usable(flavors, False), self.usable(flavors, True)
        changed = False
        for key in set(self.keys) | set(usable) | set(growable):
            state = self.keys.setdefault(key, Key())
            for history, value in ((state.usable, usable.get(key, 0)), (state.growable, growable.get(key, 0))):
                if not history:
                    if now > self.first_known:  # the cluster had none of it before
                        history.append((self.first_known, 0))
                    history.append((now, value))
                    changed = True
                elif history[-1][1] != value:
                    changed = True
                    if history[-1][0] == now:
                        history[-1] = (now, value)
                    else:
                        history.append((now, value))
            if self.known and state.accepted is None:
                state.accepted = 0
                state.history.append((self.first_known, 0))
        if changed:
            self.last_change = now
        if observed:
            self.observe(self.totals(usable), now, cordon_only)
        elif self.observed_totals:
            self.observed_totals["totals"] = self.totals(usable)  # a flavor was edited: no loss of the next observation

    # layer 3
    def shows_loss(self, before, now_totals):
        if not self.nodes and before["nodes"] > 0:
            return True
        percent = self.settings["massShrinkPercent"]
        return any((v - now_totals.get(r, 0)) * 100 > v * percent for r, v in before["totals"].items() if v > 0)

    def observe(self, totals, now, cordon_only):
        before = self.observed_totals
        self.observed_totals = {"totals": totals, "nodes": len(self.nodes)}
        if self.settings["massShrinkPercent"] == 0 or self.settings["massShrinkHold"] == 0:
            return
        if self.hold:
            self.hold = None  # a second observation: it shows the loss still, or no longer
            if not LOSS_IN_A_HOLD_HOLDS_ANEW:
                return
        if before and self.known and self.live and not cordon_only and self.shows_loss(before, totals):
            self.hold = {"until": now + self.settings["massShrinkHold"]}

    # layer 2
    def settle(self, now):
        s = self.settings
        if self.live and self.returned is not None and now - self.returned >= s["growWindow"]:
            self.away = False
        if self.hold and now >= self.hold["until"]:
            self.hold = None
        if self.first_known is None:
            return
        if not self.known:
            quiet = now - self.last_change >= s["firstQuiet"]
            late = now - self.first_known >= s["growWindow"]
            if not (quiet or late):
                return
            self.known = True
            for key in self.keys.values():
                key.accepted = key.growable[-1][1] if quiet else min(v for _, v in key.growable)
                key.history.append((now, key.accepted))
        for (flavor, resource), key in self.keys.items():
            at_once = self.at_once or (flavor, resource) in self.flush | self.moved
            if self.lost:
                continue  # the member is untouched
            if self.hold:
                if at_once and EDIT_SHRINKS_IN_A_HOLD and key.accepted > at(key.usable, now):
                    key.accepted = at(key.usable, now)
                    key.history.append((now, key.accepted))
                continue
            shrink = at(key.usable, now) if at_once else max(window(key.usable, now - s["shrinkWindow"], now))
            grow = min(window(key.growable, now - s["growWindow"], now))
            if self.returned is not None and now - self.returned < s["growWindow"] or now == self.returned:
                key.gap_since = None  # the window starts at the return, and so does the gap
            if grow > key.accepted and (self.returned is None or now - self.returned >= s["growWindow"]):
                key.gap_since = now if key.gap_since is None else key.gap_since
            else:
                key.gap_since = None
            if key.accepted > shrink:
                key.accepted = shrink
                key.history.append((now, shrink))
                if grow <= shrink:
                    key.gap_since = None
            elif key.accepted < grow and self.may_grow(key, grow, resource, now):
                key.accepted, key.last_grow, key.gap_since = grow, now, None
                key.history.append((now, grow))

    def may_grow(self, key, grow, resource, now):
        s = self.settings
        if not self.live or key.gap_since is None:
            return False
        if key.last_grow is not None and now - key.last_grow < s["minGrowInterval"]:
            return False
        if s["growDeadbandPercent"] == 0 or s["deadbandMaxAge"] == 0:
            return True
        deadband = max(quantum(resource), grow * s["growDeadbandPercent"] // 100)
        if grow - key.accepted >= deadband or now - key.gap_since >= s["deadbandMaxAge"]:
            return True
        return grow in window(key.history, now - s["deadbandMaxAge"], now)

    def deadlines(self):
        s = self.settings
        times = set()
        if self.first_known is not None and not self.known:
            times |= {self.last_change + s["firstQuiet"], self.first_known + s["growWindow"]}
        for key in self.keys.values():
            for when, _ in key.usable + key.growable:
                times |= {when + s["shrinkWindow"], when + s["growWindow"]}
            if key.last_grow is not None:
                times.add(key.last_grow + s["minGrowInterval"])
            if key.gap_since is not None:
                times.add(key.gap_since + s["deadbandMaxAge"])
        if self.hold:
            times.add(self.hold["until"])
        if self.returned is not None:
            times.add(self.returned + s["growWindow"])
        for flap in self.flaps.values():
            if flap.suppressed_since is not None:
                times.add(flap.suppressed_since + s["flapSuppressMax"])
                step = 0
                while ((flap.penalty * TABLE[step % 64]) >> 16) >> (step // 64) >= s["flapReuse"]:
                    step += 1
                times.add(flap.at + -(-step * s["flapHalfLife"] // 64))
        return times
