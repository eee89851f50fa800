"""The quota of a hub ClusterQueue that follows its workers, once more and as plainly as possible.

`Hub` runs the model of the lists (multikueue.py) and that of claims and damping (model.py, damping.py) side by side
and adds the rule between them: which workers a queue has, what each of them gives, and what that makes of the queue.
"""
import json
import re
from collections import defaultdict

import damping
import model
import multikueue
from capacity import amount, canonical, grants_of, quantum
from multikueue_world import meta

PREFIX = "fairlead.io/quota-"

# Where the page can be read in two ways.
ROUNDS_AT_100 = False        # is a sum that is not a whole quantum rounded though the percentage is 100
QUIET_0_AWAITS_NONE = False  # with firstQuiet 0s: is a worker that is not watched not waited for either
OTHER_WORDS_ARE_UNREADABLE = True  # does another word in quota-from leave the last good terms, as a bad percentage does
WAITS_FOR_THE_LOST = True    # does a worker that was lost before it reported anything hold the first write back


class Share(damping.Cluster):
    """What one worker gives to one queue: layer 2 over the sums of its ClusterQueues, from when it is watched."""

    def __init__(self, name, settings, now):
        super().__init__(name, settings, {})
        self.since = now
        self.ready = False   # its first values are known, by its queues or by a claim, or the wait for them is over

    def take(self, values, now):
        """The sums are these now."""
        if self.first_known is None:
            self.first_known = self.last_change = now
        for pair in set(self.keys) | set(values):
            if pair not in self.keys:
                key = self.keys[pair] = damping.Key()
                key.growable = key.usable
                key.usable.append((self.first_known, 0))
                if self.known:
                    key.accepted = 0
                    key.history.append((self.first_known, 0))
            history, value = self.keys[pair].usable, values.get(pair, 0)
            if history[-1][1] != value:
                if history[-1][0] == now:
                    history.pop()
                history.append((now, value))
                self.last_change = now

    def like(self, cluster):
        """Its source is live, stale, lost or back as the cluster's."""
        if cluster is not None:
            self.live, self.lost, self.returned = cluster.live, cluster.lost, cluster.returned

    def settle(self, now):
        if self.first_known is None:
            return
        if not self.known:
            if not self.live:
                return  # what a silent source said last is no first value
            start = max(self.first_known, self.returned or 0)
            quiet = now - max(self.last_change, start) >= self.settings["firstQuiet"]
            if not quiet and now - start < self.settings["growWindow"]:
                return
            self.known = True
            for key in self.keys.values():
                key.accepted = damping.at(key.usable, now) if quiet else min(damping.window(key.usable, start, now))
                key.history.append((now, key.accepted))
        super().settle(now)

    def deadlines(self):
        times = super().deadlines() | {self.since + self.settings["growWindow"]}
        if not self.known and self.returned is not None:
            times |= {self.returned + self.settings["firstQuiet"], self.returned + self.settings["growWindow"]}
        return times


class Follower:
    """A queue with the annotation and a check of ours, from when it has both."""

    def __init__(self):
        self.ready = False   # every worker of the list was ready at one time
        self.shares = {}     # by worker


def terms_of(annotations):
    """(percent, {(flavor, resource): reserve}), or None where an annotation cannot be read."""
    percent, reserve = annotations.get(PREFIX + "percent", "100"), annotations.get(PREFIX + "reserve", "{}")
    if not re.fullmatch(r"\d+", percent) or int(percent) > 1000:
        return None
    try:
        return int(percent), {(flavor, canonical(r)): amount(canonical(r), text)
                              for flavor, texts in json.loads(reserve).items() for r, text in texts.items()}
    except (ValueError, AttributeError):
        return None


class Hub(model.Hub):
    """Runs lines one moment after another; `writes` as model.Hub has them."""

    def __init__(self, config, settings):
        super().__init__(config)
        self.lists = multikueue.Hub(settings)
        self.now = None
        self.objects = {}    # the hub's ClusterQueues, by name
        self.local = {}      # the hub's LocalQueues: {(namespace, name): ClusterQueue}
        self.member_local, self.member_queues = defaultdict(dict), defaultdict(dict)
        self.stopped = defaultdict(set)   # the members' queues that admit nothing: (kind, namespace, name)
        self.watched = set()
        self.terms, self.followers = {}, {}

    # Time

    def advance(self, before=None):
        """Every deadline before that time; to the end of all without one."""
        while self.now is not None:
            due = min((t for t in self.deadlines() if t > self.now), default=None)
            if due is None or before is not None and due >= before:
                return
            self.moment([], due)

    def run(self, lines):
        for time in sorted({line["time"] for line in lines}):
            self.advance(time)
            self.moment([line for line in lines if line["time"] == time], time)
        self.advance()
        return self.writes

    def deadlines(self):
        times = super().deadlines() | {self.lists.deadline()}
        for follower in self.followers.values():
            for share in follower.shares.values():
                times |= share.deadlines()
        return times - {None}

    def moment(self, lines, now):
        self.now = now
        self.lists.moment(lines, now)
        rest = []
        for line in lines:
            rest += self.take_here(line)
        self.step(rest, now)

    def take_here(self, line):
        """Takes queues and metrics; what is left of the line is for the model of claims."""
        cluster, kind = line.get("cluster", "hub"), line.get("object", {}).get("kind")
        gone, obj = line["type"] == "DELETED", line.get("object")
        if cluster != "hub" and obj:
            self.watched.add(cluster)
        if cluster != "hub" and kind in ("LocalQueue", "ClusterQueue"):
            key = (kind, meta(obj).get("namespace", ""), meta(obj)["name"])
            self.stopped[cluster].discard(key)
            if not gone and self.admits_nothing(obj):
                self.stopped[cluster].add(key)
        if kind == "LocalQueue":
            local = self.local if cluster == "hub" else self.member_local[cluster]
            self.put(local, (meta(obj)["namespace"], meta(obj)["name"]), None if gone else obj["spec"]["clusterQueue"])
        elif kind == "ClusterQueue" and cluster != "hub":
            self.put(self.member_queues[cluster], meta(obj)["name"], None if gone else self.quota_of(obj))
        elif kind == "ClusterQueue":
            self.put(self.objects, meta(obj)["name"], None if gone else obj)
            self.take_terms(meta(obj)["name"])
            if gone:
                self.last_write.pop(meta(obj)["name"], None)
            return [line]
        elif kind == "ClusterMetrics":
            return self.nodes_of(line)
        else:
            return [line]
        return []

    @staticmethod
    def put(where, key, value):
        if value is None:
            where.pop(key, None)
        else:
            where[key] = value

    @staticmethod
    def admits_nothing(obj):
        inactive = any(c["type"] == "Active" and c["status"] == "False"
                       for c in obj.get("status", {}).get("conditions", []))
        return inactive or obj["spec"].get("stopPolicy", "None") != "None"

    @staticmethod
    def quota_of(obj):
        return {(f["name"], canonical(r["name"])): amount(canonical(r["name"]), r["nominalQuota"])
                for g in obj["spec"]["resourceGroups"] for f in g["flavors"] for r in f["resources"]}

    def nodes_of(self, line):
        """The lines of Nodes with the same values."""
        cluster = meta(line["object"])["name"]
        listed = {} if line["type"] == "DELETED" else {n["name"]: n for n in line["object"]["status"]["nodes"]}
        before = self.cluster(cluster).nodes
        out = [{"type": "DELETED", "time": line["time"], "cluster": cluster, "object": dict(before[n], kind="Node")}
               for n in sorted(set(before) - set(listed))]
        for name, node in sorted(listed.items()):
            out.append({"type": "MODIFIED", "time": line["time"], "cluster": cluster, "object": {
                "kind": "Node", "metadata": {"name": name, "labels": node.get("labels", {})}, "spec": {},
                "status": {"allocatable": node["allocatableResources"],
                           "conditions": [{"type": "Ready", "status": "True"}]}}})
        return out

    # Which workers, and what they have

    def annotations(self, queue):
        return meta(self.objects[queue]).get("annotations", {})

    def placements_of(self, queue):
        """Of the checks of ours that the queue names; one whose parameters turned bad keeps its Placement."""
        strategy = self.objects[queue]["spec"].get("admissionChecksStrategy", {})
        names = {each["name"] for each in strategy.get("admissionChecks", [])}
        return sorted({p for check, p in self.lists.last_good.items() if check in names})

    def candidates_of(self, queue):
        """Its workers, and those that are selected to be."""
        chosen = {self.lists.cluster_of[(p, name)] for p in self.placements_of(queue)
                  for name in self.lists.chosen[p] if (p, name) in self.lists.cluster_of}
        return self.workers_of(queue) | chosen

    def workers_of(self, queue):
        lists, out = self.lists, set()
        for p in self.placements_of(queue):
            window = lists.setting(p, "moveWindow")
            for name in lists.members(p):
                away = lists.absent.lasted((p, name), window, self.now) and p not in lists.frozen.start
                only_held = away and not lists.may_go(p, name)
                if (p, name) in lists.cluster_of and (name in lists.chosen[p] or not only_held):
                    out.add(lists.cluster_of[(p, name)])
        return out

    def sums(self, queue, cluster):
        """The worker's quota behind LocalQueues of the same namespace and name, of what admits."""
        wanted, stopped = {key for key, target in self.local.items() if target == queue}, self.stopped[cluster]
        behind = {target for key, target in self.member_local[cluster].items()
                  if key in wanted and ("LocalQueue", *key) not in stopped}
        behind -= {name for kind, _, name in stopped if kind == "ClusterQueue"}
        out = defaultdict(int)
        for name in behind & set(self.member_queues[cluster]):
            for pair, value in self.member_queues[cluster][name].items():
                out[pair] += value
        return dict(out)

    # The rule

    def write(self, now):
        for queue in sorted(set(self.terms) | set(self.followers)):
            self.follow(queue, now)
        super().write(now)
        # It is the administrator's again when the queue follows no more, and when no claim names the pair and
        # what it had of ours is taken back.
        named = {(a["clusterQueueName"], a["flavor"], canonical(r)) for spec in self.valid_specs.values()
                 for a in spec["resourceAssignments"] for r in a["resources"]}
        wanted = super().desired(now)
        self.ours = {pair for pair in self.ours if pair[0] not in self.followers and
                     (pair in named or not self.as_desired(pair, wanted))}

    def as_desired(self, pair, wanted):
        queue, key = pair[0], pair[1:]
        quota = self.queues.get(queue, {}).get("quota", {})
        return key not in quota or quota[key] == wanted.get(queue, {}).get(key, quota[key])

    def take_terms(self, queue):
        """Of the queue as a line has just brought it: those that cannot be read leave the last good ones."""
        there = queue in self.objects
        word = self.annotations(queue).get(PREFIX + "from") if there else None
        if word is None or word != "workers" and not OTHER_WORDS_ARE_UNREADABLE:
            self.terms.pop(queue, None)
        elif word == "workers" and terms_of(self.annotations(queue)):
            self.terms[queue] = terms_of(self.annotations(queue))
        if not there:
            self.followers.pop(queue, None)

    def follow(self, queue, now):
        if queue not in self.terms or not self.placements_of(queue):
            self.followers.pop(queue, None)
            return
        follower, workers = self.followers.setdefault(queue, Follower()), self.workers_of(queue)
        candidates = self.candidates_of(queue)
        for name in set(follower.shares) - candidates:
            del follower.shares[name]
        for name in candidates - set(follower.shares):
            follower.shares[name] = Share(name, self.settings, now)
        for name, share in sorted(follower.shares.items()):
            share.like(self.clusters.get(name))
            if name in self.watched:
                share.take(self.sums(queue, name), now)
            share.settle(now)
        for name in sorted(candidates):
            follower.shares[name].ready |= self.is_ready(queue, name, follower.shares[name], now)
        if workers and all(follower.shares[name].ready for name in workers):
            follower.ready = True

    def is_ready(self, queue, name, share, now):
        if name in self.watched:
            return share.known or share.lost and not WAITS_FOR_THE_LOST
        if self.claimed(queue, name) and self.cluster(name).known:
            return True
        waits = self.settings["firstQuiet"] > 0 or not QUIET_0_AWAITS_NONE
        return not waits or now - share.since >= self.settings["growWindow"]

    def claimed(self, queue, cluster):
        return any(spec["clusterName"] == cluster and any(
            a["clusterQueueName"] == queue for a in spec["resourceAssignments"]) for spec in self.valid_specs.values())

    def granted(self, queue, cluster):
        """What the claim of a cluster contributes to the queue."""
        claim, source = self.live_claims().get(cluster), self.cluster(cluster)
        if claim is None or not source.known or source.away:
            return {}
        accepted = {pair: key.accepted for pair, key in source.keys.items()}
        return {(f, r): value for (q, f, r), value in
                grants_of(self.valid_specs[claim], accepted, source.mapped).items() if q == queue}

    def desired(self, now):
        out = super().desired(now)
        for queue, follower in self.followers.items():
            out.pop(queue, None)
            if follower.ready:
                out[queue] = self.followed(queue, follower)
        return {queue: pairs for queue, pairs in out.items() if not self.automated(queue)}

    def automated(self, queue):
        """Kueue itself writes the quota."""
        configs = [self.lists.config(p) for p in self.placements_of(queue)] if queue in self.objects else []
        return any(c and c["spec"].get("quotaManagement") == "Automated" for c in configs)

    def followed(self, queue, follower):
        sums = defaultdict(int)
        for name in self.workers_of(queue):
            share = follower.shares[name]
            if name not in self.watched:
                given = self.granted(queue, name)
            elif share.known and not self.cluster(name).away:
                given = {pair: key.accepted for pair, key in share.keys.items()}
            else:
                given = {}
            for pair, value in given.items():
                sums[pair] += value
        percent, reserve = self.terms[queue]
        base = json.loads(self.annotations(queue).get("fairlead.io/base-quota", "{}"))
        out = {}
        for flavor, resource in self.queues[queue]["quota"]:
            total, unit = sums[(flavor, resource)], quantum(resource)
            if percent != 100 or ROUNDS_AT_100:
                total = total * percent // 100 // unit * unit
            total = max(0, total - reserve.get((flavor, resource), 0))
            out[(flavor, resource)] = total + amount(resource, base.get(flavor, {}).get(resource, 0))
        return out
