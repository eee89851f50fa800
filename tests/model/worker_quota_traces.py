"""Random traces for queues that follow their workers, from a seed: small worlds, short windows.

The model runs along, so that an edited queue carries the quota that it has. All windows of the lists and all lines are
whole seconds. Where lists change, the windows of the damping are not: at one instant a list and a quota would be
judged in an order that no page decides. Where they do not, many windows end exactly when something happens.
"""
import copy
import json
import random

import multikueue_objects as o
import worker_quota
from capacity import amount
from multikueue_world import KUEUE, meta

FLAVORS = ["od", "spot"]
RESOURCES = ["cpu", "memory"]
GALAXY = "galaxy.kubestellar.io/v1alpha1"
FEATURES = ("lists", "terms", "bad terms", "annotation", "checks", "sources", "unwatched", "claims", "local queues",
            "member queues", "hands", "two lists", "two queues", "automated", "base", "fractions", "writeInterval",
            "deadband", "alien", "frozen", "recreated", "lost early",
            "late first", "late claims", "new claims", "new terms", "bad terms stay",
            "stopped")
# "late first": values that do not hold still until growWindow; "late claims": capacity that a claim waits for;
# "new claims": a claim that did not name the queue before; "new terms": a queue made again with terms that are bad;
# "bad terms stay": terms that are bad on a queue without quota-from.


def queue_object(name, quota, annotations=None, checks=()):
    """`quota`: {flavor: {resource: text}}."""
    resources = sorted({r for texts in quota.values() for r in texts})
    out = o.obj(KUEUE, "ClusterQueue", name, spec={"resourceGroups": [{"coveredResources": resources, "flavors": [
        {"name": f, "resources": [{"name": r, "nominalQuota": texts[r]} for r in resources]}
        for f, texts in quota.items()]}]})
    if annotations:
        out["metadata"]["annotations"] = dict(annotations)
    if checks:
        out["spec"]["admissionChecksStrategy"] = {"admissionChecks": [{"name": c} for c in checks]}
    return out


def local_queue(name, queue):
    return o.obj(KUEUE, "LocalQueue", name, "team", {"clusterQueue": queue})


def stop(r, queue):
    """The queue, held, drained, inactive or none of it."""
    how = r.choice(["Hold", "HoldAndDrain", "None", "inactive", "active", "unknown"])
    if how.startswith("H") or how == "None":
        queue["spec"]["stopPolicy"] = how
    else:
        status = {"inactive": "False", "active": "True"}.get(how, "Unknown")
        queue["status"] = {"conditions": [{"type": "Active", "status": status, "reason": how.title()}]}
    return queue


def node():
    out = o.obj("v1", "Node", "n", spec={}, status={
        "allocatable": {"cpu": "1", "memory": "1Gi"}, "conditions": [{"type": "Ready", "status": "True"}]})
    out["metadata"]["labels"] = {"type": "od"}
    return out


class Maker:
    """One trace: `config` and `settings` are those of the two models, `make()` the lines."""

    def __init__(self, seed, features=None):
        self.r = r = random.Random(seed)
        self.on = on = set(features) if features is not None else {f for f in FEATURES if r.random() < 0.3}
        self.clusters = ["w%d" % i for i in range(1, r.randint(2, 4) + 1)]
        self.places = ["p", "q"] if "two lists" in on else ["p"]
        self.names = ["qa", "qb"] if "two queues" in on else ["qa"]
        self.locals = ["l1", "l2", "l3"] if "local queues" in on else ["l1"]
        moving = bool(on & {"lists", "frozen", "two lists", "checks", "automated"})
        odd = 1 if moving else 0
        self.config = {"debounce": {
            "ingestCoalesce": 0, "shrinkWindow": r.choice([3000 * odd + odd, 3000 + odd, 5000 + 3 * odd]),
            "growWindow": r.choice([10000 + 7 * odd, 20000 + 13 * odd]),
            "firstQuiet": r.choice([4000 + 17 * odd, 6000 + 19 * odd] if "late first" in on else
                                   [1011 * odd, 1000 + 17 * odd, 2000 + 19 * odd]),
            "minGrowInterval": r.choice([0, 7000 + 29 * odd, 15000 + 31 * odd]),
            "growDeadbandPercent": r.choice([2, 10, 30]) if "deadband" in on else 0,
            "deadbandMaxAge": r.choice([25000 + 37 * odd, 60000 + 41 * odd]), "flapPenalty": 0,
            "massShrinkPercent": 0, "massShrinkHold": 0,
            # What claims contribute changes at once, so that an exchange of workers is a fall and then a rise.
            "writeInterval": r.choice([3000 + 43 * odd, 8000 + 47 * odd])
            if "writeInterval" in on and not (moving and "claims" in on) else 0},
            "headroom": {"percent": {}, "reserved": {}}, "overbookPercent": 100}
        both = 11 if "two lists" in on else 0  # a cluster may leave one list and enter the other
        known = 3000 if "claims" in on and "late claims" not in on else 0  # by then every claim's capacity is known
        self.settings = {"settle": r.choice([known + both, max(known, 2000) + both]),
                         "moveWindow": r.choice([10000 * (both > 0) + both, 10000 + both, 20000 + both]),
                         "emptyGrace": r.choice([15000, 40000]), "credentialGrace": 30000}
        self.hub = worker_quota.Hub(self.config, self.settings)
        self.lines, self.now, self.hands = [], 0, 0

    def make(self):
        self.start()
        self.flush()
        for _ in range(self.r.randint(6, 40)):
            self.now += self.r.choice([1, 1, 1, 2, 2, 3, 5, 5, 8, 10, 15, 20, 30, 60]) * 1000
            self.hub.advance(self.now)
            kinds = self.kinds()
            for kind in self.r.sample(kinds, min(len(kinds), self.r.choice([1, 1, 1, 2]))):
                getattr(self, kind)()
            self.flush()
        return self.lines

    def flush(self):
        self.hub.moment(copy.deepcopy([x for x in self.lines if x["time"] == self.now]), self.now)
        self.gone = set()

    def see(self, obj, type_="MODIFIED", cluster="hub"):
        self.lines.append(dict(o.line(self.now, obj, type_), cluster=cluster))

    def kinds(self):
        chosen = {"decide": ("lists", "frozen"), "terms": ("terms", "bad terms"), "annotation": ("annotation",),
                  "check": ("checks",), "source": ("sources",), "arrive": ("unwatched",), "metrics": ("claims",),
                  "claim": ("claims",), "point": ("local queues",), "hand": ("hands",), "automate": ("automated",),
                  "recreate": ("recreated",), "hold": ("stopped",)}
        out = [kind for kind, features in chosen.items() if self.on & set(features)]
        return sorted(set(out + ["member", "member"])) * 2

    def start(self):
        r, on = self.r, self.on
        for f in FLAVORS:
            self.see(o.obj(KUEUE, "ResourceFlavor", f, spec={"nodeLabels": {"type": f}}), "ADDED")
        for p in self.places:
            self.see(o.placement(p), "ADDED")
            self.see(o.check("k-" + p, p), "ADDED")
            self.see(o.decision(p, 0, self.selection()), "ADDED")
        self.annotated = {q: {} for q in self.names}
        for q in self.names:
            if "base" in on and r.random() < 0.7:
                self.annotated[q]["fairlead.io/base-quota"] = json.dumps({"od": {"cpu": "3", "memory": "1Gi"}})
            self.annotated[q]["fairlead.io/quota-from"] = "workers"
            if "terms" in on and r.random() < 0.5:
                self.annotated[q].update(self.some_terms())
            quota = {f: {x: "0" if r.random() < 0.5 else self.quantity(x) for x in RESOURCES} for f in FLAVORS}
            self.see(queue_object(q, quota, self.annotated[q], self.checks_of(q)), "ADDED")
        for number, name in enumerate(self.locals):
            self.see(local_queue(name, self.names[number % len(self.names)]), "ADDED")
        self.unwatched = [c for c in self.clusters if on & {"unwatched", "claims"} and r.random() < 0.5]
        self.down = {}
        for c in self.clusters:
            self.see(o.secret(c), "ADDED")
            if c not in self.unwatched:
                self.watch(c)
        self.capacity, self.claimants = {}, {}
        if "claims" in on:
            for c in self.unwatched:
                self.claimants[c] = None
                self.metrics(c)
                self.claim(c)

    def checks_of(self, queue):
        return ["k-" + p for p in self.places] if queue == "qa" else ["k-" + self.places[-1]]

    def selection(self):
        if not self.on & {"lists"} and self.r.random() < 0.7:
            return self.clusters
        return self.r.sample(self.clusters, self.r.randint(1, len(self.clusters)))

    def quantity(self, resource):
        n = self.r.randint(0, 20)
        if "fractions" in self.on and self.r.random() < 0.4:
            return "%dm" % (n * 1000 + 500) if resource == "cpu" else "%dMi" % (n * 1024 + 17)
        return str(n) if resource == "cpu" else "%dGi" % n

    # The members

    def member_quota(self):
        flavors = self.r.sample(FLAVORS, self.r.randint(1, 2)) + (["alien"] if "alien" in self.on else [])
        resources = self.r.sample(RESOURCES, self.r.randint(1, 2))
        return {f: {x: self.quantity(x) for x in resources} for f in flavors}

    def watch(self, c):
        self.see(node(), "ADDED", c)
        for name in ("x", "y") if "member queues" in self.on else ("x",):
            self.see(queue_object(name, self.member_quota()), "ADDED", c)
        for name in self.locals:
            self.see(local_queue(name, self.r.choice(["x", "y"]) if "member queues" in self.on else "x"), "ADDED", c)

    def member(self):
        r, c = self.r, self.r.choice(self.clusters)
        if c in self.unwatched:
            return
        name = r.choice(["x", "y"] if "member queues" in self.on else ["x"])
        there = name in self.hub.member_queues[c]
        if there and "member queues" in self.on and r.random() < 0.1:
            self.see(queue_object(name, self.member_quota()), "DELETED", c)
        else:
            queue = queue_object(name, self.member_quota())
            if "stopped" in self.on and r.random() < 0.5:
                stop(r, queue)
            self.see(queue, "MODIFIED" if there else "ADDED", c)

    def hold(self):
        """A LocalQueue of a member is held, or goes on."""
        r, c = self.r, self.r.choice(self.clusters)
        there = sorted(self.hub.member_local[c])
        if there:
            name = r.choice(there)
            self.see(stop(r, local_queue(name[1], self.hub.member_local[c][name])), "MODIFIED", c)

    def arrive(self):
        """A cluster is watched from now on."""
        # For a queue that follows no worker its claim would go from metrics to Nodes, which is another page.
        follows = not self.on & {"bad terms", "annotation", "checks"}
        left = [c for c in self.unwatched if follows or c not in self.claimants]
        if left:
            self.unwatched.remove(left[-1])
            self.watch(left[-1])

    def point(self):
        """A LocalQueue goes, comes or leads elsewhere, here or at a member."""
        r = self.r
        c = r.choice(["hub"] + [c for c in self.clusters if c not in self.unwatched])
        targets = self.names + ["elsewhere"] if c == "hub" else ["x", "y"]
        there = self.hub.local if c == "hub" else self.hub.member_local[c]
        name = r.choice(self.locals + ["other"])
        if ("team", name) in there and r.random() < 0.4:
            self.see(local_queue(name, there[("team", name)]), "DELETED", c)
        else:
            self.see(local_queue(name, r.choice(targets)), "MODIFIED", c)

    def source(self):
        r, watched = self.r, [c for c in self.clusters if c not in self.unwatched]
        # A silent worker that never reported holds the first write back; no page says what happens if its list goes.
        early = "lost early" in self.on and not self.on & {"lists", "frozen", "checks", "annotation", "two lists"}
        if not early:
            watched = [c for c in watched if all(f.ready and f.shares.get(c) and f.shares[c].known
                                                 for f in self.hub.followers.values())]
        if not watched:
            return
        c = r.choice(watched)
        if any("object" not in x and x["time"] == self.now for x in self.lines):
            return
        kind = {None: ["STALE", "LOST"], "STALE": ["LOST", "SYNCED", "SYNCED"], "LOST": ["SYNCED"]}[self.down.get(c)]
        kind = r.choice(kind)
        self.down[c] = None if kind == "SYNCED" else kind
        self.lines.append({"type": "SOURCE_" + kind, "cluster": c, "time": self.now})

    # Claims of clusters that are not watched

    def claim(self, c=None):
        r = self.r
        c = c or r.choice(sorted(self.claimants) or [None])
        if c is None or c not in self.unwatched or self.claimants[c] is False and "new claims" not in self.on:
            return
        name = "claim-" + c
        new = o.obj(GALAXY, "ClusterResourceClaim", name, spec={
            "clusterName": c, "nominalResources": {"cpu": "1000", "memory": "1000Gi"}, "resourceAssignments": [
                {"clusterQueueName": q, "flavor": f, "resources": {x: self.quantity(x) for x in RESOURCES}}
                for q in self.names for f in r.sample(FLAVORS, r.randint(1, 2))]})
        new["metadata"].update(creationTimestamp="1970-01-01T00:00:00Z", generation=1 + len(self.lines))
        if self.claimants[c] and r.random() < 0.3:
            self.see(new, "DELETED")
            self.claimants[c] = False
        else:
            self.see(new, "MODIFIED" if self.claimants[c] else "ADDED")
            self.claimants[c] = True

    def metrics(self, c=None):
        r = self.r
        c = c or r.choice(sorted(self.claimants) or [None])
        if c is None or c not in self.unwatched or 0 < self.now < 10000 and "late claims" not in self.on:
            return
        nodes = [{"name": "n%d" % i, "labels": {"type": f}, "allocatableResources": {
            "cpu": str(r.randint(5, 30)), "memory": "%dGi" % r.randint(5, 30)}} for i, f in enumerate(FLAVORS)]
        self.see(o.obj(GALAXY, "ClusterMetrics", c, status={"nodes": nodes}))

    # The hub

    def decide(self):
        p = self.r.choice(self.places)
        if "frozen" in self.on and self.r.random() < 0.25:
            self.see(o.decision(p, 0, []))
        elif "lists" in self.on:
            self.see(o.decision(p, 0, self.selection()))

    def edit(self, queue, change=None, checks=None):
        """The queue as it is, with its annotations as they are now."""
        if queue not in self.hub.objects or queue in self.gone:
            return
        quota = {}
        for (f, x), value in self.hub.queues[queue]["quota"].items():
            quota.setdefault(f, {})[x] = "%dm" % value if x == "cpu" else str(value)
        if change:
            change(quota)
        strategy = self.hub.objects[queue]["spec"].get("admissionChecksStrategy", {}).get("admissionChecks", [])
        checks = [each["name"] for each in strategy] if checks is None else checks
        self.see(queue_object(queue, quota, self.annotated[queue], checks))

    def some_terms(self):
        r, out = self.r, {}
        if r.random() < 0.7:
            out["fairlead.io/quota-percent"] = str(r.choice([0, 33, 50, 99, 100, 110, 250, 1000]))
        if r.random() < 0.5:
            out["fairlead.io/quota-reserve"] = json.dumps({r.choice(FLAVORS): {
                x: self.quantity(x) for x in r.sample(RESOURCES, r.randint(1, 2))}})
        if "bad terms" in self.on and r.random() < 0.5:
            out.update(r.choice([{"fairlead.io/quota-percent": "half"}, {"fairlead.io/quota-percent": "1001"},
                                 {"fairlead.io/quota-percent": "-1"}, {"fairlead.io/quota-reserve": "[]"},
                                 {"fairlead.io/quota-reserve": "{"}]))
        return out

    def terms(self):
        q = self.r.choice(self.names)
        for key in ("fairlead.io/quota-percent", "fairlead.io/quota-reserve"):
            self.annotated[q].pop(key, None)
        if "fairlead.io/quota-from" in self.annotated[q] or "bad terms stay" in self.on:
            self.annotated[q].update(self.some_terms())
        self.edit(q)

    def annotation(self):
        q = self.r.choice(self.names)
        if "claims" in self.on:
            return
        was = self.annotated[q].pop("fairlead.io/quota-from", None)
        if "bad terms stay" not in self.on:
            for key in ("fairlead.io/quota-percent", "fairlead.io/quota-reserve"):
                self.annotated[q].pop(key, None)
        if was is None or self.r.random() < 0.2:
            self.annotated[q]["fairlead.io/quota-from"] = self.r.choice(["workers", "workers", "workers", "others"])
        self.edit(q)

    def check(self):
        """A check goes or comes, or the queue names other ones."""
        r, p = self.r, self.r.choice(self.places)
        if "claims" in self.on:
            return
        if r.random() < 0.5:
            q = r.choice(self.names)
            self.edit(q, checks=r.choice([[], self.checks_of(q), ["k-" + p], ["stranger"]]))
        elif self.hub.lists.get("AdmissionCheck", "k-" + p):
            self.see(self.hub.lists.get("AdmissionCheck", "k-" + p), "DELETED")
        else:
            self.see(o.check("k-" + p, p), "ADDED")

    def hand(self):
        def change(quota):
            quota[self.r.choice(FLAVORS)]["cpu"] = self.quantity("cpu")
        if self.hands < 3:  # the fourth overwrite within ten minutes is not put back, which is another page
            self.hands += 1
            self.edit(self.r.choice(self.names), change)

    def recreate(self):
        q = self.r.choice(self.names)
        if q not in self.hub.objects:
            if "new terms" not in self.on:
                self.annotated[q] = {"fairlead.io/quota-from": "workers"}
            quota = {f: {x: self.quantity(x) for x in RESOURCES} for f in FLAVORS}
            self.see(queue_object(q, quota, self.annotated[q], self.checks_of(q)), "ADDED")
        elif self.r.random() < 0.4 and not any(x["time"] == self.now and meta(x.get("object", {})).get("name") == q
                                               for x in self.lines):
            self.see(self.hub.objects[q], "DELETED")
            self.gone.add(q)

    def automate(self):
        p = self.r.choice(self.places)
        there = copy.deepcopy(self.hub.lists.get("MultiKueueConfig", p))
        if there is not None:
            there["spec"]["quotaManagement"] = self.r.choice(["Automated", "Manual"])
            self.see(there)
