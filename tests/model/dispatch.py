"""Dispatch of Workloads that use devices: what the page says, once more, exact and slow, judged anew at each moment.

`Dispatch(settings).moment(now, lines, listing)` takes all lines of one time and the worker list, which is given, and
gives a Verdict for each Workload. `deadlines()` are the times at which something may change without a line.

Readings, where the page can be understood in more than one way:
R1  Repairs are tried at every moment, in the order of the pass, and again whenever a pass has freed devices.
R2  A reservation holds while its pods could take exactly those devices on those nodes, with the templates, classes and
    slices of now. One that differs from what they ask for (an All that finds one more, a deleted template) is solved
    again.
R3  A broken reservation goes on counting, all of it. A reserved device costs what its slice says now, and one that is
    not published costs nothing.
R4  Several claims use one device: the pin of the first one seen says what it costs. A pin belongs to one claim (by
    uid), device and share.
R5  What the Workload's own allocated claims use of its reserved devices is overlooked when the reservation is checked
    (reading c), shares too; where it is solved again, and where a place is looked for, it is used.
R6  An allocated claim makes one pod give up, once. One that was allocated before the reservation was made makes none,
    except where a first-seen nomination was kept: there it does so at once.
R7  An extended-resource claim makes the first pod of its podSet that still reserves any extended resource give up all
    of these. A named claim that is allocated, whatever wrote the allocation, asks for nothing any more (R2).
R8  What is left after replacements may be solved again on any node of the cluster.
R9  Spent: when `admitTimeout` had passed at the move, whatever else was wrong. It lasts through evictions until a line
    of the cluster at a later time that is no duplicate (equal but for resourceVersion), and while the Workload exists.
R10 Out of reach and broken are two windows; stale and then lost is one.
R11 A first-seen nomination is kept also for a leaver, if the cluster is in reach and the pods fit when the Workload's
    turn in the pass comes; `admitTimeout` counts from then.
R12 A Workload that was seen without clusterName while it used devices, and has one that is not its reserved cluster, is
    Bypassed, had it a reservation or not; one first seen with a clusterName keeps the condition that it shows.
R13 A Workload that is being deleted, or whose check is not good, is not judged and not placed; a Finished Workload or
    one that is being deleted is never written.
R14 A device of which any share is used or reserved is no free one; a class selector that fails is not true.
R15 While the check is not good, what was said stays, also whether a Workload uses devices. A waiting one whose
    extended resource is given by no class any more uses no devices; one that has a reservation goes on until it is
    released. One whose claims are all allocated has nothing that could break.
R16 Extended resources, and so whether a Workload uses devices, look at every cluster of the list, leavers too.
"""
import collections
import functools

import devices
import devices_search as s
import devices_values as v
import dispatch_members as m

DEFAULTS = {"policy": "order", "admitTimeout": 300000, "placeTimeout": 300000, "moveWindow": 120000,
            "stepsMax": 100000}
CONDITION = "fairlead.io/DevicesReserved"

# One entry of the worker list: its name there, the cluster behind it, and since when it has been a leaver, or None.
Worker = collections.namedtuple("Worker", "name cluster leaver", defaults=[None])
# `check`: the name of our AdmissionCheck, or None where there is none; `good`: whether it leads to a list.
Listing = collections.namedtuple("Listing", "check workers good", defaults=[True])
# `nomination`: what the hub nominates; None: what is there stays. `condition`: (status, reason) or None for absent.
Verdict = collections.namedtuple("Verdict", "uses nomination condition reservation spent reasons")


class Pod:
    """What is reserved for one pod: {entry: {(request, device): (share, admin)}}, and what device plugins serve."""

    def __init__(self, pod_set, node, claims, solution):
        self.plugins = dict(solution.plugins)  # {(node, resource): amount}
        self.pod_set, self.node, self.given_up = pod_set, node and v.name_of(node), set()
        self.entries = {}
        for t in solution:
            claim = claims[t.claim]
            taken = self.entries.setdefault(claim.entry, {})
            taken[claim.request_name(t.request, t.ask), t.device.id] = (t.share, t.ask.admin)

    def give_up(self, entries):
        for entry in entries:
            self.entries.pop(entry, None)
            self.given_up.add(entry)


class Reservation:
    def __init__(self, worker, pods, now, counted):
        self.name, self.cluster, self.since, self.pods = worker.name, worker.cluster, now, pods
        self.counted = set(counted)  # claims that make nothing give up any more
        self.broken = self.sent = None  # since when
        self.dropped = False

    def taken(self):
        """(device, share) of all that it keeps from others."""
        return [(device, share) for pod in self.pods for entry in pod.entries.values()
                for (_, device), (share, admin) in entry.items() if not admin]


class Known:
    """What is known of one Workload."""

    def __init__(self, obj):
        self.object, self.uid, self.new = obj, obj["metadata"].get("uid"), True
        self.first_with = bool(self.status().get("clusterName"))
        self.reservation, self.condition, self.reasons = None, None, {}
        self.uses, self.spent = False, {}  # {cluster: when it lost it}
        for c in self.status().get("conditions", []):
            if c["type"] == CONDITION:
                self.condition = (c["status"], c["reason"])

    def status(self):
        return self.object.get("status", {})

    def is_true(self, condition):
        return any(c["type"] == condition and c["status"] == "True" for c in self.status().get("conditions", []))

    def deleting(self):
        return bool(self.object["metadata"].get("deletionTimestamp"))

    def runs(self, check):
        """Whether it has quota and our check, and is neither over nor evicted."""
        checks = [c["name"] for c in self.status().get("admissionChecks", [])]
        return (check is not None and check in checks and self.is_true("QuotaReserved")
                and not self.is_true("Finished") and not self.is_true("Evicted"))

    def order(self):
        metadata = self.object["metadata"]
        return (-self.object["spec"].get("priority", 0), metadata.get("creationTimestamp", ""), metadata["namespace"],
                metadata["name"])

    def pod_sets(self):
        """Its pod sets with the admitted counts."""
        assigned = self.status().get("admission", {}).get("podSetAssignments", [])
        counts = {a["name"]: a["count"] for a in assigned if "count" in a}
        return [dict(ps, count=counts.get(ps["name"], ps.get("count", 1))) for ps in self.object["spec"]["podSets"]]


class Dispatch:
    def __init__(self, settings=None, explain=False):
        """`explain`: say why a cluster is no candidate; that takes longer."""
        self.settings = dict(DEFAULTS, **(settings or {}))
        self.explain = explain
        self.members = collections.defaultdict(m.Member)
        self.workloads, self.flavors = {}, {}
        self.known = {}
        self.listing, self.now = None, None

    # -- one moment

    def moment(self, now, lines, listing):
        self.now, self.listing = now, listing
        for line in lines:
            self.take(line)
        for member in self.members.values():
            member.pin()
        self.meet()
        for w in self.known.values():
            self.release(w)
        for w in self.known.values():
            self.replace(w)
        freed = True
        while freed:
            for w in self.in_order():
                self.repair(w)
            self.before_pass()
            freed = any([self.judge(w) for w in self.in_order()]) or self.looks_again()
        for w in self.known.values():
            self.conclude(w)
        return {key: self.verdict(w) for key, w in self.known.items()}

    def before_pass(self):
        """What takes devices before Workloads do."""

    def looks_again(self):
        """Whether what this pass took changes what it decided before."""
        return False

    def deadlines(self):
        window, found = self.settings["moveWindow"], set()
        for w in self.known.values():
            r = w.reservation
            if r:
                found |= {r.since + self.settings["admitTimeout"]}
                found |= {start + window for start in (r.broken, self.members[r.cluster].out_of_reach)
                          if start is not None}
                found |= {r.sent + self.settings["placeTimeout"]} if r.sent is not None else set()
        found |= {worker.leaver + window for worker in self.listing.workers if worker.leaver is not None}
        return {when for when in found if when > self.now}

    def take(self, line):
        cluster = line.get("cluster", "hub")
        if cluster != "hub":
            self.members[cluster].take(line)
            return
        obj = line.get("object", {"kind": None})
        kept = {"Workload": self.workloads, "ResourceFlavor": self.flavors}.get(obj["kind"])
        if kept is not None:
            key = (obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            kept.pop(key, None)
            if line["type"] != "DELETED":
                kept[key] = obj

    def meet(self):
        before, self.known = self.known, {}
        for key in sorted(self.workloads):
            obj, w = self.workloads[key], before.get(key)
            if w is None or w.uid != obj["metadata"].get("uid"):
                w = Known(obj)
            w.object = obj
            kept = w.reservation is not None or w.uses and not self.listing.good
            used, w.uses = w.uses, kept or self.uses_devices(w)
            w.first_with = (w.first_with or not used) and bool(w.status().get("clusterName"))
            for cluster, when in list(w.spent.items()):
                if (self.members[cluster].news or 0) > when:
                    del w.spent[cluster]
            self.known[key] = w

    def in_order(self):
        return sorted(self.known.values(), key=Known.order)

    def extended(self):
        return set().union(*[self.members[worker.cluster].given() for worker in self.listing.workers])

    def uses_devices(self, w):
        extended = self.extended()
        for template in (ps["template"] for ps in w.pod_sets() if ps["count"] > 0):
            named = {name for name in devices.resource_names(template) if devices.requested(template, name) > 0}
            if (template["spec"].get("resourceClaims") or named & extended
                    or any(name.startswith(devices.IMPLICIT) for name in named)):
                return True
        return False

    # -- releases, and replacements by fact

    def release(self, w):
        r, name = w.reservation, w.status().get("clusterName")
        if r is None:
            return
        if not w.runs(self.listing.check) or name not in (None, "", r.name):
            w.reservation = None
        elif name:
            r.sent = self.now if r.sent is None else r.sent
        else:
            r.sent = None
            w.reservation = None if r.dropped else r

    def replace(self, w):
        r = w.reservation
        if r is None or r.dropped:
            return
        namespace, name = w.object["metadata"]["namespace"], w.object["metadata"]["name"]
        for key, (claim, pod_set) in sorted(self.members[r.cluster].claims_of(namespace, name).items()):
            if key not in r.counted:
                r.counted.add(key)
                self.give_up(w, claim, [pod for pod in r.pods if pod.pod_set == pod_set])
        if r.sent is not None and 0 < self.settings["placeTimeout"] <= self.now - r.sent:
            r.pods, r.broken, r.dropped = [], None, True

    @staticmethod
    def give_up(w, claim, pods):
        notes = m.annotations(claim)
        written = {e["name"] for ps in w.object["spec"]["podSets"]
                   for e in ps["template"]["spec"].get("resourceClaims", [])}
        for pod in pods:
            if notes.get(m.EXTENDED_ANNOTATION) == "true":
                mine = set(pod.entries) - written
            else:
                mine = {notes.get(m.ENTRY_ANNOTATION)} & set(pod.entries)
            if mine:
                pod.give_up(mine)
                return

    # -- a cluster, beside what is used there

    def cluster(self, w, name, ignored=lambda claim, device: False):
        member = self.members[name]
        use, pools = member.use(ignored), member.pools()
        for other in self.known.values():
            if other is not w and other.reservation and other.reservation.cluster == name:
                self.charge(use, pools, other.reservation)
        return member.cluster(w.object["metadata"]["namespace"], list(self.flavors.values()), self.extended(), use,
                              self.settings["stepsMax"])

    @staticmethod
    def charge(use, pools, reservation):
        for device, share in reservation.taken():
            published = pools[device[:2]].device(device[2]) if device[:2] in pools else None
            use.add(device, share, published.cost if published else {})
        for pod in reservation.pods:
            use.add_of_plugins(pod.plugins)

    # -- repairs

    def repair(self, w):
        r = w.reservation
        if r is None or r.dropped:
            return
        nothing_left = (any(pod.given_up for pod in r.pods)
                        and not any(pod.entries or pod.plugins for pod in r.pods))
        if nothing_left or self.holds(w) or self.solve_again(w):
            r.broken = None
        elif r.broken is None:
            r.broken = self.now

    def left(self, w, cluster):
        """The pods, each with the wishes that it has not given up."""
        pods = cluster.pods(w.pod_sets())
        seen, found = collections.Counter(), []
        reserved = collections.defaultdict(list)
        for pod in w.reservation.pods:
            reserved[pod.pod_set].append(pod)
        for name, template, wishes in pods:
            own = (reserved[name][seen[name]:] or [Pod(name, None, [], devices.Solution())])[0]
            seen[name] += 1
            found.append((own, (name, template, [wish for wish in wishes if wish.entry not in own.given_up])))
        return found

    def holds(self, w):
        """Whether its pods can take what is reserved for them, each on its node."""
        r, mine = w.reservation, {device for device, _ in w.reservation.taken()}
        metadata = w.object["metadata"]
        own = self.members[r.cluster].claims_of(metadata["namespace"], metadata["name"])
        cluster = self.cluster(w, r.cluster, lambda claim, device: claim in own and device in mine)
        try:
            pods = self.left(w, cluster)
        except devices.Refused:
            return False
        use, solved = cluster.use, {}
        for pod, (_, template, wishes) in pods:
            recorded = {(entry, *what): share for entry, taken in pod.entries.items()
                        for what, (share, _) in taken.items()}
            if not wishes and not recorded:
                continue
            node = next((n for n in cluster.nodes if v.name_of(n) == pod.node), None)
            cluster.search = functools.partial(m.Again, recorded)
            placements = cluster.placements(wishes, template, node, use, solved, [float("inf")]) if node else iter(())
            claims, solution = next(placements, (None, devices.Solution()))
            if claims is None or len(solution) != len(recorded) or solution.plugins != pod.plugins:
                return False
            use = cluster.after(use, claims, solution)
            solved = solved | {claim.name: [t.device for t in solution if t.claim == c]
                               for c, claim in enumerate(claims) if any(
                                   wish.named and v.name_of(wish.named) == claim.name for wish in wishes)}
        return True

    def solve_again(self, w):
        r, cluster = w.reservation, self.cluster(w, w.reservation.cluster)
        try:
            left = self.left(w, cluster)
            placed = cluster.gang([pod for _, pod in left], cluster.use, {}, [self.settings["stepsMax"]])
        except (devices.Refused, s.Budget):
            return False
        if placed is None:
            return False
        pods = [Pod(*placement) for placement in placed]
        for (before, _), after in zip(left, pods):
            after.given_up = before.given_up
        r.pods = pods
        return True

    # -- the pass

    def judge(self, w):
        """Places a waiting Workload, or moves one; whether devices were freed."""
        r = w.reservation
        if (not self.listing.good or not w.uses or w.deleting() or not w.runs(self.listing.check)
                or w.status().get("clusterName")):
            return False
        if r is None:
            self.place(w)
            return False
        worker = next((worker for worker in self.listing.workers if worker.name == r.name), None)
        if not self.due(r, worker):
            return False
        late = self.timed_out(r)
        found = self.best(w, r.name)
        if found is None and worker is not None:
            return False
        w.reservation = None
        if found is not None:
            self.reserve(w, *found)
            if late:
                w.spent[r.cluster] = self.now
        return True

    def timed_out(self, r):
        return 0 < self.settings["admitTimeout"] <= self.now - r.since

    def due(self, r, worker):
        """Whether a nominated Workload is judged again."""
        starts = [r.broken, self.members[r.cluster].out_of_reach, worker and worker.leaver]
        return worker is None or self.timed_out(r) or any(
            start is not None and self.now - start >= self.settings["moveWindow"] for start in starts)

    def place(self, w):
        nominated = w.status().get("nominatedClusterNames", [])
        for worker in self.listing.workers:
            if w.new and nominated == [worker.name]:
                reason, solution = self.tried(w, worker)
                if reason is None:
                    w.reservation = Reservation(worker, solution[1], self.now, ())
                    self.replace(w)
                    return
        found = self.best(w, None)
        if found is not None:
            self.reserve(w, *found)

    def reserve(self, w, worker, pods):
        metadata = w.object["metadata"]
        there = self.members[worker.cluster].claims_of(metadata["namespace"], metadata["name"])
        w.reservation = Reservation(worker, pods, self.now, there)

    def best(self, w, current):
        """(worker, pods) of the best candidate that is not the current cluster, or None."""
        found, w.reasons = [], {}
        for place, worker in enumerate(self.listing.workers):
            if worker.leaver is not None:
                reason, solution = ("Leaving", ""), None
            else:
                reason, solution = self.tried(w, worker) if worker.name != current else (None, None)
            if reason is not None:
                w.reasons[worker.name] = reason
            elif worker.name != current:
                cost, pods, free = solution
                found.append(((cost, self.preference(free), place), worker, pods))
        return min(found)[1:] if found else None

    def preference(self, free):
        """Of two places that cost the same the one with less of this is better; `free`: devices that are left there."""
        return {"order": 0, "pack": free, "spread": -free}[self.settings["policy"]]

    def tried(self, w, worker):
        """(reason and detail why its pods do not go there, solution): one of the two is None."""
        member = self.members[worker.cluster]
        if not member.watched:
            return ("NotWatched", ""), None
        if member.out_of_reach is not None:
            return ("NotReachable", ""), None
        if worker.cluster in w.spent:
            return ("Spent", ""), None
        try:
            return None, self.solve(w, worker.cluster)
        except devices.Refused as refused:
            return (refused.reason, refused.detail), None

    def solve(self, w, name):
        """(sum of alternative indexes, pods, free devices left) of the first solution; Refused where there is none."""
        cluster = self.cluster(w, name)
        if self.explain:
            placed = cluster.place(w.pod_sets())
        else:
            try:
                placed = cluster.gang(cluster.pods(w.pod_sets()), cluster.use, {}, [self.settings["stepsMax"]])
            except s.Budget:
                raise devices.Refused("Budget", "") from None
            if placed is None:
                raise devices.Refused("DoesNotFit", "")
        pods = [Pod(*placement) for placement in placed]
        chosen = {(i, t.claim, t.request.name): t.request.asks.index(t.ask)
                  for i, (_, _, _, solution) in enumerate(placed) for t in solution}
        return sum(chosen.values()), pods, self.free_after(w, cluster, pods)

    def free_after(self, w, cluster, pods):
        classes = set()
        for _, _, wishes in cluster.pods(w.pod_sets()):
            classes |= {ask.class_name for claim in cluster.open_claims(wishes) for request in claim.requests
                        for ask in request.asks}
            classes |= {cluster.giver(wish.resource[0]) for wish in wishes if wish.resource}
        use = cluster.use.copy()
        for pod in pods:
            for taken in pod.entries.values():
                for (_, device), (share, admin) in taken.items():
                    if not admin:
                        use.add(device, share, None)
        return sum(device.id not in use.whole and device.id not in use.shares
                   and any(self.of_class(cluster, name, device) for name in classes - {None})
                   for pool in cluster.pools.values() if pool.status == "COMPLETE" for device in pool.devices)

    @staticmethod
    def of_class(cluster, name, device):
        try:
            return all(v.selected(selector["cel"]["expression"], device.id[0], device.fields)
                       for selector in cluster.classes[name]["spec"].get("selectors") or [])
        except v.Failed:
            return False

    # -- what is said

    def conclude(self, w):
        w.new = False
        if not w.uses or not w.runs(self.listing.check):
            w.condition = None
        elif w.status().get("clusterName"):
            if w.reservation is None and not w.first_with:
                w.condition = ("False", "Bypassed")
        elif self.listing.good:
            w.condition = ("True", "Reserved") if w.reservation else ("False", "NoCluster")

    def verdict(self, w):
        free = not w.deleting() and not w.status().get("clusterName")
        waits = self.listing.good and w.uses and w.runs(self.listing.check) and free
        nomination = ((w.reservation.name,) if w.reservation else ()) if waits else None
        return Verdict(w.uses, nomination, w.condition, self.shown(w.reservation), tuple(sorted(w.spent)), w.reasons)

    @staticmethod
    def shown(r):
        """A reservation as plain values: cluster, since when it is broken, and what each pod has of each entry."""
        pods = r and [(pod.pod_set, pod.node, {entry: ["/".join(device) for _, device in taken]
                                         for entry, taken in sorted(pod.entries.items())}) for pod in r.pods]
        return r and {"cluster": r.cluster, "broken": r.broken, "pods": pods}
