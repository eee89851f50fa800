"""What the questions about one moment should be answered with: quota, why, why-not, and a diff of two moments.

Answers are flat: {path: value}, amounts as integers, times in milliseconds since 1970.
"""
import json

from audit_events import configuration, lines_of, milliseconds, quotas_of
from audit_oracle import Replayed, steps_of
from capacity import amount, amounts, canonical, cordoned, eligible, flavor_of, quantum, tolerates


class Moment:
    """The state that the events give at one moment."""

    def __init__(self, events, seq=None, time=None):
        self.events = [e for e in events if (seq is None or e["seq"] <= seq)
                       and (time is None or milliseconds(e["logTime"]) <= time)]
        self.event_times = [milliseconds(e["logTime"]) for e in self.events]
        self.seq = self.events[-1]["seq"]
        self.event_time = milliseconds(self.events[-1]["logTime"])
        self.time = self.event_time if time is None else time
        self.config = [e for e in self.events if e["fact"] == "ConfigChanged"][-1]
        self.hub = Replayed(configuration(self.config))
        self.hub.run(lines_of(self.events), until=self.time)
        self.desired = self.hub.desired(self.time)
        self.queues = self.standing()
        self.live = self.hub.live_claims()

    def standing(self):
        """{queue: (quota as text, seq)}: as the watch showed it last."""
        queues = {}
        for e in self.events:
            if e.get("kind") == "ClusterQueue" and e["fact"] == "ObjectObserved":
                queues[e["name"]] = (quotas_of(e["facts"]), e["seq"])
            elif e.get("kind") == "ClusterQueue" and e["fact"] == "ObjectGone":
                queues.pop(e["name"], None)
        return queues

    def spelling(self, queue, resource):
        """As the queue spells it; canonical where it does not cover it."""
        for _, name in self.queues.get(queue, ({}, 0))[0]:
            if canonical(name) == canonical(resource):
                return name
        return canonical(resource)

    # the rows of `audit quota`

    def pairs(self):
        """{(queue, flavor, canonical resource)}: the current quota, and what claims name."""
        out = {(q, f, canonical(r)) for q, (quota, _) in self.queues.items() for f, r in quota}
        return out | {p for spec in self.hub.valid_specs.values() for p in pairs_of(spec)}

    def nominal(self, pair):
        for (flavor, resource), text in self.queues.get(pair[0], ({}, 0))[0].items():
            if (flavor, canonical(resource)) == pair[1:]:
                return amount(pair[2], text)
        return None

    def named(self, pair):
        return any(pair in pairs_of(spec) for spec in self.hub.valid_specs.values())

    def wished(self, pair):
        return self.desired.get(pair[0], {}).get(pair[1:]) if self.ours(pair) else None

    def base(self, pair):
        text = self.hub.queues.get(pair[0], {}).get("base", {}).get("fairlead.io/base-quota")
        value = json.loads(text).get(pair[1], {}).get(pair[2]) if text else None
        return 0 if value is None else amount(pair[2], value)

    def grants(self, pair):
        """[{claim, cluster, assigned, granted, contributes, reason}], by claim name."""
        out = []
        for name, spec in sorted(self.hub.valid_specs.items()):
            if pair not in pairs_of(spec):
                continue
            cluster = self.hub.cluster(spec["clusterName"])
            assigned = next(amounts(a["resources"])[pair[2]] for a in spec["resourceAssignments"]
                            if (a["clusterQueueName"], a["flavor"]) == pair[:2] and pair[2] in amounts(a["resources"]))
            row = {"claim": name, "cluster": spec["clusterName"], "assigned": assigned, "granted": 0, "contributes": 0}
            if self.live.get(spec["clusterName"]) != name:
                row["reason"] = "ClusterAlreadyClaimed"
            elif not cluster.known:
                row["reason"] = "CapacityUnknown" if pair[0] in self.queues else "QueueNotFound"
            else:
                step = steps_of(spec, cluster)[pair]
                row["step"] = step
                row["granted"] = step["granted"]
                row["contributes"] = 0 if cluster.away else step["granted"]
                row["reason"] = self.reason(pair, step)
            out.append(row)
        return out

    def reason(self, pair, step):
        if pair[0] not in self.queues:
            return "QueueNotFound"
        if step["granted"] >= step["wanted"]:
            return ""
        if step["minimumsAbove"]:
            return "MinimumsAboveCapacity"
        return "ClusterCapacity" if step["granted"] < step["afterFlavor"] else "FlavorCapacity"

    def quota(self, queue=""):
        out = {}
        for pair in self.pairs():
            if queue and pair[0] != queue:
                continue
            key = (pair[0], pair[1], self.spelling(pair[0], pair[2]))
            out[key] = {"nominal": self.nominal(pair), "desired": self.wished(pair),
                        "base": self.base(pair), "ours": self.ours(pair), "overbookPercent": self.hub.overbook,
                        "grants": [{k: v for k, v in g.items() if k != "step"} for g in self.grants(pair)]}
        return out

    def ours(self, pair):
        """A claim names it, or did and it is not taken back yet."""
        if self.named(pair):
            return True
        return pair in self.hub.ours and self.nominal(pair) not in (None, self.base(pair))

    # what `audit why` reports of one claim's row

    def why_grant(self, pair, row):
        spec = self.hub.valid_specs[row["claim"]]
        cluster = self.hub.cluster(spec["clusterName"])
        step = row.get("step", {})
        out = {k: row[k] for k in ("cluster", "assigned", "granted", "contributes", "reason")}
        for name in ("wanted", "flavorBound", "afterFlavor", "totalBound"):
            out[name] = step.get(name)
        minimums = [amounts(a.get("minResources")).get(pair[2], 0) for a in spec["resourceAssignments"]
                    if (a["clusterQueueName"], a["flavor"]) == pair[:2]]
        priorities = [a.get("priority") or 0 for a in spec["resourceAssignments"]
                      if (a["clusterQueueName"], a["flavor"]) == pair[:2]]
        out["minimum"], out["priority"] = minimums[0], priorities[0]
        for name, default in (("nominalPolicy", "Fixed"), ("shrinkPolicy", "Proportional"), ("flavorCapacity", "Auto")):
            out[name] = spec.get(name, default)
        out["claim"] = self.claim(row["claim"])
        out["presence"] = self.presence(cluster)
        out["capacity"] = self.capacity(cluster, pair[2])
        out["nodes"] = self.nodes(cluster, pair[1], pair[2])
        return out

    def claim(self, name):
        """Which edit is in force, of which object."""
        edited, before = None, None
        seen = None
        for e in self.events:
            if e.get("kind") != "ClusterResourceClaim" or e["name"] != name:
                continue
            if e["fact"] == "ObjectGone":
                edited = before = None
            elif e["fact"] == "ObjectObserved":
                seen = e
                content = (e["uid"], e["facts"]["spec"], e["facts"]["debounce"])
                if content != before:
                    edited, before = e, content
        return {"name": name, "uid": seen["uid"], "generation": seen["generation"], "seq": seen["seq"],
                "editedSeq": edited["seq"], "editedTime": milliseconds(edited["logTime"]),
                "termsSeq": edited["seq"], "winner": name in self.live.values(), "deleting": False, "fault": None}

    def presence(self, cluster):
        opens = None
        if cluster.away:
            opens = "when its source is back for growWindow" if not cluster.live else \
                cluster.returned + cluster.settings["growWindow"]
        return {"known": cluster.known, "liveness": "lost" if cluster.lost else "live" if cluster.live else "stale",
                "hubOpens": opens, "detached": False,
                "hold": {"since": cluster.held_since, "until": cluster.hold["until"]} if cluster.hold else None,
                "source": self.source(cluster.name), "sourceChange": self.source_change(cluster.name),
                "namesNoNode": self.source(cluster.name) == "clusterMetrics"
                and self.metrics(cluster.name)[-1:] == [{}]}

    def first_of(self, name):
        """(first event of a Node, first event of a ClusterMetrics) of the cluster; None where there is none."""
        def first(fits):
            return next((e for e in self.events if e["fact"] in ("ObjectObserved", "ObjectGone") and fits(e)), None)
        return (first(lambda e: e["kind"] == "Node" and e["source"] == name),
                first(lambda e: e["kind"] == "ClusterMetrics" and e["name"] == name))

    def source(self, name):
        node, metrics = self.first_of(name)
        return "nodes" if node else "clusterMetrics" if metrics else None

    def source_change(self, name):
        """The Nodes that came where a ClusterMetrics gave an accepted value; sources are in their default order."""
        node, metrics = self.first_of(name)
        if not node or not metrics or metrics["seq"] > node["seq"]:
            return None
        before = Moment(self.events, time=milliseconds(node["logTime"]) - 1) \
            if milliseconds(node["logTime"]) > self.event_times[0] else None
        if before is None or not before.hub.cluster(name).known:
            return None
        return {"from": "clusterMetrics", "to": "nodes", "at": milliseconds(node["logTime"]), "seq": node["seq"]}

    def metrics(self, name):
        """The nodes that each ClusterMetrics of the cluster named."""
        return [e["facts"]["nodes"] for e in self.events if e.get("kind") == "ClusterMetrics" and e["name"] == name]

    def offered(self, cluster, key):
        return sum(amounts(n["status"]["allocatable"]).get(key[1], 0) for n in cluster.nodes.values()
                   if self.counts(n, *key))

    def counts(self, node, flavor, resource):
        winner = flavor_of(node, self.hub.flavors, self.hub.uses(), resource)
        return winner == flavor and eligible(node, self.hub.flavors[winner])

    def capacity(self, cluster, resource):
        out = {}
        for key, value in cluster.keys.items():
            if key[1] != resource:
                continue
            move = cluster.moves.get(key)
            out[key[0]] = {
                "offered": self.offered(cluster, key), "usable": value.usable[-1][1], "growing": value.growable[-1][1],
                "accepted": 0 if value.accepted is None else value.accepted, "state": cluster.state(key),
                "layer": cluster.layer(key, self.time),
                "moved": None if move is None else {"from": move[0], "to": move[1], "at": move[2], "by": move[3]},
                "percent": cluster.headroom["percent"].get(resource, 0),
                "reserved": amount(resource, cluster.headroom["reserved"].get(resource, 0))}
        return out

    def nodes(self, cluster, flavor, resource):
        out = {}
        for name, node in cluster.nodes.items():
            winner = flavor_of(node, self.hub.flavors, self.hub.uses(), resource)
            flap = cluster.flaps.get(name)
            suppressed = flap is not None and flap.suppressed_since is not None
            out[name] = {
                "seq": node["seq"], "flavor": winner or "",
                "amount": amounts(node["status"]["allocatable"]).get(resource, 0),
                "eligible": winner is not None and eligible(node, self.hub.flavors[winner]),
                "counts": self.counts(node, flavor, resource), "reasons": self.reasons(node, winner, flavor),
                "suppressedSince": flap.suppressed_since if suppressed else None,
                "suppressedUntil": cluster.until_reuse(flap) if suppressed else None}
        return out

    def reasons(self, node, winner, flavor):
        """Why a node does not count for the flavor."""
        if winner is None:
            return {"no flavor"}
        out = set()
        if winner != flavor:
            out.add("flavor " + winner)
        if not any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"]["conditions"]):
            out.add("NotReady")
        if cordoned(node):
            out.add("cordoned")
        flavor_spec = self.hub.flavors[winner]["spec"]
        for taint in node["spec"].get("taints", []):
            if taint["effect"] not in ("NoSchedule", "NoExecute"):
                continue
            known = any(same_taint(t, taint) for t in flavor_spec.get("nodeTaints", []))
            if not known and not any(tolerates(t, taint) for t in flavor_spec.get("tolerations", [])):
                out.add("taint %s" % taint["key"])
        return out

    # what `audit why-not` reports

    def guards(self, pair):
        """{(guard, cluster or None): {"until"[, "since"][, "seq"]}} of all that keeps the pair from being written, or
        from growing.
        """
        if not self.ours(pair):
            return {("NotOurs", None): until(None)}
        out = {}
        if pair[0] not in self.queues:
            out[("QueueAbsent", None)] = until(None)
        desired, nominal = self.wished(pair), self.nominal(pair)
        if desired is None and pair[0] in self.queues:
            out[("CapacityUnknown", None)] = until(None)
        elif nominal is not None and desired != nominal:
            out.update(self.write_guards(pair[0]))
        for grant in self.grants(pair):
            cluster = self.hub.cluster(grant["cluster"])
            if grant["reason"] == "ClusterAlreadyClaimed":
                out[("ClusterAlreadyClaimed", grant["cluster"])] = until(None)
                continue
            if self.source(grant["cluster"]) is None:
                out[("NoCapacitySource", grant["cluster"])] = until(None)
                continue
            if cluster.away:
                out[("HubClosed", grant["cluster"])] = until(
                    self.presence(cluster)["hubOpens"] if cluster.live else None)
            if grant["granted"] < grant.get("step", grant).get("wanted", grant["assigned"]):
                out[("Capacity", grant["cluster"])] = until(None)
            out.update(self.capacity_guards(pair, grant, cluster))
        return out

    def capacity_guards(self, pair, grant, cluster):
        """The layer that holds the flavor's own value; those of others where they count through the total."""
        layers = {key[0]: cluster.layer(key, self.time) for key in cluster.keys if key[1] == pair[2]}
        own = layers.pop(pair[1], ("none", None, None))
        step = grant.get("step")
        reported = [(pair[1], own)]
        damped = self.undamped(pair) != self.desired.get(pair[0], {}).get(pair[1:])
        if step and (step["granted"] < step["afterFlavor"] or (damped and own[0] == "none")):
            reported += layers.items()
        return {(name[0].upper() + name[1:], grant["cluster"], flavor): {"since": since, "until": end}
                for flavor, (name, since, end) in reported if name != "none"}

    def write_guards(self, queue):
        """Why a queue that should be written is not: its last write is on its way, or was just now."""
        sent = [e for e in self.events if e["fact"] == "PatchIntended" and e["kind"] == "ClusterQueue"
                and e["name"] == queue]
        if not sent:
            return {}
        after = [e for e in self.events if e["seq"] > sent[-1]["seq"]]
        if not any(e.get("intent") == sent[-1]["seq"] for e in after):
            return {("UnansweredWrite", None): {"until": None, "seq": sent[-1]["seq"]}}
        if not any(e["fact"] == "ObjectObserved" and (e["kind"], e["name"]) == ("ClusterQueue", queue) for e in after):
            return {("WriteNotSeenYet", None): until(None)}
        wrote = milliseconds(sent[-1]["logTime"])
        due = wrote + self.hub.settings["writeInterval"]
        wish = {pair: self.wished(pair) for pair in self.pairs() if pair[0] == queue}
        if due <= self.time or any(v is not None and v < (self.nominal(p) or 0) for p, v in wish.items()):
            return {}
        return {("WriteInterval", None): {"since": wrote, "until": due, "seq": sent[-1]["seq"]}}

    # what `audit diff` compares

    def for_diff(self):
        capacity, grants, claims, quotas = {}, {}, {}, {}
        for name, cluster in self.hub.clusters.items():
            for key, value in cluster.keys.items():
                capacity[(name, *key)] = {"accepted": 0 if value.accepted is None else value.accepted,
                                          "usable": value.usable[-1][1], "state": cluster.state(key)}
        for pair in self.pairs():
            for grant in self.grants(pair):
                grants[(grant["claim"], *pair)] = {k: grant[k] for k in ("assigned", "granted", "reason")}
            quotas[pair] = {"nominal": self.nominal(pair), "desired": self.wished(pair)}
        for name in self.hub.claims:
            claim = self.claim(name)
            claims[name] = {k: claim[k] for k in ("editedSeq", "generation", "uid", "winner")}
        return {"capacity": capacity, "grants": grants, "claims": claims, "quotas": quotas}

    def undamped(self, pair):
        """What would be desired if nothing were damped."""
        if not self.ours(pair):
            return None
        total = 0
        for name in self.live.values():
            spec = self.hub.valid_specs[name]
            if pair in pairs_of(spec):
                cluster = self.hub.cluster(spec["clusterName"])
                usable = {key: value.usable[-1][1] for key, value in cluster.keys.items()}
                total += steps_of(spec, cluster, usable)[pair]["granted"]
        if self.hub.overbook != 100:
            unit = quantum(pair[2])
            total = total * self.hub.overbook // 100 // unit * unit
        return self.base(pair) + total


def until(end):
    """A guard of which only its end is known."""
    return {"until": end}


def same_taint(a, b):
    return (a["key"], a.get("value", ""), a["effect"]) == (b["key"], b.get("value", ""), b["effect"])


def pairs_of(spec):
    return {(a["clusterQueueName"], a["flavor"], canonical(r)) for a in spec["resourceAssignments"]
            for r in a["resources"]}
