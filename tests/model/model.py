"""The hub: what the pages say about capacity, damping, grants and quotas, once more and as plainly as possible.

Nothing here is fast or shared with the engine: windows are scans over the whole history, times are integer
milliseconds, amounts are integers (cpu in milli, everything else in units). The trace is a list of lines as
`fairlead plan` reads them, already as Python dictionaries with a time in milliseconds.
"""
import json
from collections import defaultdict

from capacity import amount, amounts, canonical, facts, grants_of, quantum, valid
from damping import DEFAULTS, Cluster

# Where the pages can be read in two ways, this is the engine's; see also damping.py.
LOSING_CLAIM_OWNS_PAIRS = True   # a pair that only a claim names whose cluster is taken: base + 0, or not ours


class Hub:
    """Runs a trace; `writes` is [(time, queue, {(flavor, resource): amount})] of ClusterQueue specs."""

    def __init__(self, config):
        self.settings = dict(DEFAULTS, **config.get("debounce", {}))
        self.headroom = config.get("headroom", {"percent": {"cpu": 5, "memory": 5}, "reserved": {}})
        self.overbook = config.get("overbookPercent", 100)
        self.flavors, self.clusters, self.claims, self.queues = {}, {}, {}, {}
        self.valid_specs = {}
        self.gone = set()  # flavors that left the hub while a claim names them: they count as they were
        self.ours = set()  # pairs that had a grant of ours while the queue was there: back to 0 when it goes
        self.last_write = {}
        self.writes = []
        self.coalesced = {}  # (cluster, node) -> [end of window, pending line or None, time of first]

    def cluster(self, name):
        if name not in self.clusters:
            self.clusters[name] = Cluster(name, self.settings, self.headroom)
        return self.clusters[name]

    def run(self, lines, until=None):
        """Until no deadline is left, or to `until`, deadlines then included."""
        times = sorted({line["time"] for line in lines})
        index, now = 0, None
        while True:
            due = {t for t in self.deadlines() if now is None or t > now} if now is not None else set()
            if index < len(times):
                due.add(times[index])
            if not due or (until is not None and min(due) > until):
                break
            now = min(due)
            taken = []
            if index < len(times) and times[index] == now:
                taken = [line for line in lines if line["time"] == now]
                index += 1
            self.step(taken, now)
        return self.writes

    def deadlines(self):
        times = set()
        for cluster in self.clusters.values():
            times |= cluster.deadlines()
        for entry in self.coalesced.values():
            if entry["pending"]:
                times.add(entry["end"])
        for name in self.queues:
            if name in self.last_write:
                times.add(self.last_write[name] + self.settings["writeInterval"])
        return times

    def step(self, lines, now):
        touched, cordons = set(), defaultdict(set)
        for line in lines:
            if line.get("object", {}).get("kind") == "Node":
                self.coalesce(line, now, touched)
            else:
                self.take(line, now, touched)
        for (cluster_name, node_name), entry in sorted(self.coalesced.items()):
            if entry["pending"] and entry["end"] <= now:
                pending, entry["pending"] = entry["pending"], []
                entry["end"] = now + self.settings["ingestCoalesce"]
                self.take(pending[-1], now, touched)
        for cluster in self.clusters.values():
            cluster.release_suppressed(now)
        for name, cluster in self.clusters.items():
            if cluster.first_known is not None:
                for node in list(cluster.nodes):
                    cluster.judge_node(node, self.flavors, now, self.settings)
        self.close(now, touched)

    def close(self, now, touched):
        """Decides, by the flavors that are used now. Our own write may make a place for another: then once more."""
        uses = self.uses()
        for name, cluster in self.clusters.items():
            if cluster.uses != uses:
                cluster.adopt(uses, self.flavors)
            cluster.map_pairs(self.flavors)
            if cluster.first_known is not None:
                cluster.take_usable(self.flavors, now, name in touched, bool(cluster.flush))
            cluster.settle(now)
            cluster.at_once, cluster.flush, cluster.moved = False, set(), set()
        self.write(now)
        if self.uses() != uses:
            self.close(now, set())

    def uses(self):
        """{canonical resource: flavors} that stand together in a queue or in a row of a valid claim."""
        uses = defaultdict(set)
        for queue in self.queues.values():
            for flavor, resource in queue["quota"]:
                uses[canonical(resource)].add(flavor)
        for spec in self.valid_specs.values():
            for a in spec["resourceAssignments"]:
                for resource in a["resources"]:
                    uses[canonical(resource)].add(a["flavor"])
        return dict(uses)

    def coalesce(self, line, now, touched):
        key = (line["cluster"], line["object"]["metadata"]["name"])
        entry = self.coalesced.setdefault(key, {"end": 0, "first": None, "pending": []})
        known = entry["pending"][-1] if entry["pending"] else entry.get("last")
        if self.same(known, line):
            return
        entry["last"] = line
        if now == entry["first"] or now >= entry["end"] and not entry["pending"]:
            entry["first"] = now
            entry["end"] = now + self.settings["ingestCoalesce"]
            self.take(line, now, touched)
        else:
            entry["pending"].append(line)

    @staticmethod
    def same(a, b):
        return facts(a) == facts(b)

    def take(self, line, now, touched):
        kind = line.get("object", {}).get("kind")
        gone = line["type"] == "DELETED"
        if line["type"].startswith("SOURCE_"):
            cluster = self.cluster(line["cluster"])
            if line["type"] == "SOURCE_SYNCED":
                if not cluster.live or cluster.lost:
                    cluster.returned = now
                touched.add(line["cluster"])  # a relist is an observation
                cluster.live, cluster.lost = True, False
            elif line["type"] == "SOURCE_STALE":
                cluster.live = False
            else:
                cluster.live, cluster.lost, cluster.away = False, True, True
        elif kind == "Node":
            cluster = self.cluster(line["cluster"])
            name = line["object"]["metadata"]["name"]
            if cluster.first_known is None:
                cluster.first_known = cluster.last_change = now
            if gone:
                if cluster.see_cordon(name):  # of this moment, too: who takes a node away may cordon it first
                    cluster.flush |= {(w, r) for r, w in cluster.flavor.get(name, {}).items() if w is not None}
                cluster.nodes.pop(name, None)
                cluster.was_eligible.pop(name, None)
                cluster.was_cordoned.pop(name, None)
                cluster.flavor.pop(name, None)
            else:
                cluster.nodes[name] = line["object"]
            touched.add(line["cluster"])
        elif kind == "ResourceFlavor":
            name = line["object"]["metadata"]["name"]
            if gone and name in self.flavors and self.named(name):
                self.gone.add(name)
            else:
                self.gone.discard(name)
                self.keep(self.flavors, line, gone)
        elif kind == "ClusterQueue":
            name = line["object"]["metadata"]["name"]
            if gone:
                self.queues.pop(name, None)
                self.ours = {p for p in self.ours if p[0] != name}
            else:
                self.queues[name] = {
                    "base": line["object"]["metadata"].get("annotations", {}),
                    "quota": {(f["name"], r["name"]): amount(r["name"], r["nominalQuota"])
                              for g in line["object"]["spec"]["resourceGroups"] for f in g["flavors"]
                              for r in f["resources"]},
                    "groups": [{canonical(r["name"]) for f in g["flavors"] for r in f["resources"]}
                               for g in line["object"]["spec"]["resourceGroups"]]}
        elif kind == "ClusterResourceClaim":
            name = line["object"]["metadata"]["name"]
            spec = line["object"]["spec"]
            before = self.claims.get(name)
            if gone:
                self.claims.pop(name, None)
                self.valid_specs.pop(name, None)
            else:
                self.claims[name] = line["object"]
                if valid(spec):
                    self.valid_specs[name] = spec
            if before is not None and (gone or before["spec"] != spec):
                self.cluster(before["spec"]["clusterName"]).at_once = True
            for flavor in [f for f in self.gone if not self.named(f)]:
                self.gone.discard(flavor)
                del self.flavors[flavor]

    def named(self, flavor):
        return any(a["flavor"] == flavor for spec in self.valid_specs.values() for a in spec["resourceAssignments"])

    @staticmethod
    def keep(where, line, gone):
        name = line["object"]["metadata"]["name"]
        if gone:
            where.pop(name, None)
        else:
            where[name] = line["object"]

    def live_claims(self):
        """The claim that counts, of each cluster."""
        best = {}
        for name, claim in self.claims.items():
            if claim["metadata"].get("deletionTimestamp") or name not in self.valid_specs:
                continue
            cluster = claim["spec"]["clusterName"]
            age = (claim["metadata"].get("creationTimestamp", ""), claim["metadata"].get("uid", ""))
            if cluster not in best or age < best[cluster][0]:
                best[cluster] = (age, name)
        return {cluster: name for cluster, (_, name) in best.items()}

    def desired(self, now):
        sums, known_pairs, named_now = defaultdict(int), set(), set()
        live = self.live_claims()
        for claim_name, spec in self.valid_specs.items():
            cluster_name = spec["clusterName"]
            cluster = self.cluster(cluster_name)
            pairs = {(a["clusterQueueName"], a["flavor"], canonical(r)) for a in spec["resourceAssignments"]
                     for r in a["resources"]}
            if not LOSING_CLAIM_OWNS_PAIRS and live.get(cluster_name) != claim_name:
                continue
            named_now |= pairs
            if not cluster.known:
                continue
            known_pairs |= pairs
            if live.get(cluster_name) != claim_name:
                continue  # contributes 0
            if cluster.away:
                continue
            accepted = {k: v.accepted for k, v in cluster.keys.items()}
            for pair, granted in grants_of(spec, accepted, cluster.mapped).items():
                sums[pair] += granted
        out = defaultdict(dict)
        for pair in self.ours | known_pairs:
            queue, flavor, resource = pair
            if pair in named_now and pair not in known_pairs:
                continue  # all of its claims are unknown
            total, unit = sums[pair], quantum(resource)
            if self.overbook != 100:
                total = total * self.overbook // 100 // unit * unit
            annotation = self.queues.get(queue, {}).get("base", {}).get("fairlead.io/base-quota")
            base = json.loads(annotation) if annotation else {}
            value = base.get(flavor, {}).get(resource)
            out[queue][(flavor, resource)] = total + (amount(resource, value) if value is not None else 0)
        return out

    def assigned(self, queue):
        """Pairs of the queue that a claim in force assigns, with a known value: they stand in it, also with 0."""
        return {(a["flavor"], canonical(r)) for cluster, name in self.live_claims().items()
                if self.cluster(cluster).known
                for a in self.valid_specs[name]["resourceAssignments"] if a["clusterQueueName"] == queue
                for r in a["resources"]}

    def make_places(self, queue, quota, pairs):
        """`quota` with places for what is assigned or above 0: a new flavor comes with zeros for all resources."""
        covered = {resource for _, resource in quota}
        assigned = self.assigned(queue)
        placed = dict(quota)
        for flavor, resource in sorted(pairs):
            wanted = (flavor, resource) in assigned or pairs[flavor, resource] > 0
            if wanted and resource in covered and flavor in self.flavors and flavor not in self.gone:
                for each in next(group for group in self.queues[queue]["groups"] if resource in group):
                    placed.setdefault((flavor, each), 0)
        return placed

    def write(self, now):
        for queue, pairs in sorted(self.desired(now).items()):
            if queue not in self.queues:
                continue
            quota = self.queues[queue]["quota"]
            placed = self.make_places(queue, quota, pairs)
            emit = {k: v for k, v in pairs.items() if k in placed and k[0] in self.flavors and k[0] not in self.gone}
            self.ours |= {(queue, *k) for k in emit}
            if placed == quota and all(quota[k] == v for k, v in emit.items()):
                continue
            lowers = any(v < placed[k] for k, v in emit.items())
            last = self.last_write.get(queue)
            if not lowers and last is not None and now - last < self.settings["writeInterval"]:
                continue
            quota.update({**placed, **emit})
            self.last_write[queue] = now
            self.writes.append((now, queue, dict(quota)))
