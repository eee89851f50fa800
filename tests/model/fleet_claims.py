"""Dispatch of Workloads with fleet claims: what the page says, once more, on top of the dispatch model.

`FleetDispatch` judges such Workloads in the pass of dispatch.py; `FleetHub` adds the writes, which come back at once.
Claims on devices (bookings) are in bookings.py.

Readings, where the page can be understood in more than one way:
F1  Of several entries the first one that is not ready gives the reason; entries count in the order in which the pod
    sets name them first.
F2  Potential clusters are the candidates that suitableClusters and the allocated claims allow.
F3  A Workload that lost a claim while it is nominated (gone, not allocated, not in reach of its cluster) is judged
    anew: the nomination is withdrawn unless another cluster takes it. A class that is gone withdraws nothing.
F4  Between the decision and the moment in which reservedFor shows it nothing is said of the Workload.
F5  A Workload that runs keeps its entry in reservedFor if one is seen; one is never added for it.
F6  Where a later Workload of the pass takes devices, those with fleet claims that were passed are judged again: drivers
    are asked about clusters where the pods fit when the moment ends.
F7  What is asked of drivers stays in the FleetScheduling when nothing is asked any more.
F8  Where every cluster that the pins allow is called unsuitable, the pins lead nowhere: a releasable claim is given up
    as in step 2, if that leaves a candidate that nobody has called unsuitable.
F9  A claim whose deallocation is asked for is reserved for nobody, as v1alpha1 had it: the nomination goes, too.
"""
import collections
import json

import dispatch
import dispatch_hub
from multikueue_world import deleting, is_true, meta

GROUP = "dra.fairlead.io/v1alpha1"
ANNOTATION = "dra.fairlead.io/claims"
KINDS = ("FleetResourceClass", "FleetResourceClaim", "FleetResourceClaimTemplate", "FleetScheduling")
LIMIT = 256

Need = collections.namedtuple("Need", "entry claim template")


class Waits(Exception):
    """Why a Workload waits."""

    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


def owners(obj):
    return {o["uid"] for o in meta(obj).get("ownerReferences", []) if o["kind"] == "Workload"}


def is_ours(consumer):
    return (consumer.get("apiGroup"), consumer["resource"]) == ("kueue.x-k8s.io", "workloads")


def allocation(claim):
    return claim.get("status", {}).get("allocation")


def identity(claim):
    """Traces give claims no uid: an object of that name is the same one while it is there."""
    return meta(claim)["namespace"], meta(claim)["name"]


class FleetDispatch(dispatch.Dispatch):
    def __init__(self, settings, explain=False):
        super().__init__(settings, explain)
        self.get = None  # (kind, namespace, name) -> the object of the hub, or None
        self.seen, self.count = {}, 0  # {claim: when its allocation was seen}
        self.released = set()  # claims whose driver is asked to give the allocation up
        self.holders = collections.defaultdict(set)  # {claim: Workloads}
        self.taken = False  # whether the pass has reserved devices
        self.asked = {}  # {Workload: (potential clusters, selected cluster)}

    # -- what a Workload needs

    def needs(self, w):
        """The needs by entry, in order; Waits where the annotation cannot be read."""
        found, name = {}, meta(w.object)["name"]
        for pods in w.pod_sets():
            text = pods["template"].get("metadata", {}).get("annotations", {}).get(ANNOTATION)
            if not text or pods["count"] == 0:
                continue
            try:
                for e in json.loads(text):
                    claim = e.get("resourceClaimName") or "%s-%s" % (name, e["name"])
                    need = Need(e["name"], claim, e.get("resourceClaimTemplateName", ""))
                    if found.setdefault(e["name"], need) != need:
                        raise Waits("Unsupported")
            except (ValueError, KeyError, TypeError, AttributeError):
                raise Waits("Unsupported") from None
        return list(found.values())

    def has_needs(self, w):
        try:
            return bool(self.needs(w))
        except Waits:
            return True

    def uses_devices(self, w):
        return self.has_needs(w) or super().uses_devices(w)

    def claim(self, w, need):
        return self.get("FleetResourceClaim", meta(w.object)["namespace"], need.claim)

    # -- holders

    def key(self, w):
        return meta(w.object)["namespace"], meta(w.object)["name"]

    def follow_claims(self, claims):
        uids = {identity(c) for c in claims}
        for claim in claims:
            uid = identity(claim)
            if not allocation(claim):
                self.seen.pop(uid, None)
                self.released.discard(uid)
            elif uid not in self.seen:
                self.count += 1
                self.seen[uid] = self.count
        for table in (self.seen, self.holders):
            for uid in set(table) - uids:
                del table[uid]
        self.released &= uids

    def meet(self):
        before = self.known
        super().meet()
        stays = {key for key, w in self.known.items() if before.get(key) is w}
        for holders in self.holders.values():
            holders &= stays

    def release(self, w):
        held = w.reservation
        super().release(w)
        if held is not None and w.reservation is None:
            self.give_up_claims(w)

    def give_up_claims(self, w):
        for holders in self.holders.values():
            holders.discard(self.key(w))

    def replace(self, w):
        super().replace(w)
        runs = w.runs(self.listing.check) and bool(w.status().get("clusterName"))
        try:
            needs = self.needs(w)
        except Waits:
            return
        for need in needs:
            claim = self.claim(w, need)
            if claim is None:
                continue
            holders = self.holders[identity(claim)]
            if self.names(claim, w) and runs:
                holders.add(self.key(w))
            elif w.reservation is None:
                holders.discard(self.key(w))

    @staticmethod
    def names(claim, w):
        return any(is_ours(c) and c["uid"] == w.uid for c in claim.get("status", {}).get("reservedFor", []))

    def others(self, claim, w):
        foreign = [c for c in claim.get("status", {}).get("reservedFor", []) if not is_ours(c)]
        return len(self.holders[identity(claim)] - {self.key(w)}) + len(foreign)

    # -- the pass

    def judge(self, w):
        if not self.has_needs(w):
            return super().judge(w)
        if (not self.listing.good or w.deleting() or not w.runs(self.listing.check)
                or w.status().get("clusterName")):
            return False
        r = w.reservation
        if r is None:
            self.place(w)
            return False
        worker = next((worker for worker in self.listing.workers if worker.name == r.name), None)
        late = self.timed_out(r)
        lost = self.lost(w, r)
        if not lost and not self.due(r, worker):
            return False
        if lost:
            self.lose(w, r, late)
        try:
            found = self.destination(w, None if lost else r.name)
        except Waits as waits:
            if not lost and self.lost(w, r):  # destination() asked for one of its claims
                self.lose(w, r, late)
            elif not lost and worker is not None:
                return False
            w.reservation = None
            self.give_up_claims(w)
            w.reason = waits.reason
            return True
        self.take_claims(w, *found)
        if late:
            w.spent[r.cluster] = self.now
        return True

    def lose(self, w, r, late):
        """A Workload that lost a claim begins anew, its cluster being a candidate as any other."""
        w.reservation = None
        self.give_up_claims(w)
        if late:
            w.spent[r.cluster] = self.now

    def lost(self, w, r):
        for need in self.needs(w):
            claim = self.claim(w, need)
            if claim is None or self.key(w) not in self.holders[identity(claim)] or not self.reaches(claim, r.cluster):
                return True
        return False

    @staticmethod
    def reaches(claim, cluster):
        found = allocation(claim)
        return bool(found) and cluster in found.get("availableOnClusters", [cluster])

    def place(self, w):
        if not self.has_needs(w):
            super().place(w)
            return
        try:
            self.take_claims(w, *self.destination(w, None))
        except Waits as waits:
            w.reason = waits.reason

    def reserve(self, w, worker, pods):
        super().reserve(w, worker, pods)
        self.taken = True

    def looks_again(self):
        taken, self.taken = self.taken, False
        return taken and any(w.reservation is None and self.has_needs(w) for w in self.known.values())

    def take_claims(self, w, worker, pods):
        self.reserve(w, worker, pods)
        for need in self.needs(w):
            self.holders[identity(self.claim(w, need))].add(self.key(w))

    def destination(self, w, current):
        """(worker, pods), or Waits."""
        self.asked.pop(self.key(w), None)
        needs = self.needs(w)
        for need in needs:
            self.ready(w, need)
        found = self.ranked(w, current)
        if not found:
            raise Waits("NoCluster")
        allowed = [c for c in found if all(self.allows(w, need, c[0].cluster) for need in needs)]
        if not allowed:
            self.free_one(w, needs, found)
        pending = [need for need in needs if not allocation(self.claim(w, need))]
        if pending:
            self.ask(w, pending, [worker.cluster for worker, _ in allowed], found)
        for need in needs:
            claim = self.claim(w, need)
            if self.others(claim, w) and not allocation(claim).get("shareable"):
                raise Waits("ClaimInUse")
            if self.others(claim, w) >= LIMIT:
                raise Waits("ReservedForFull")
        preferred = []
        if w.new and len(w.status().get("nominatedClusterNames", [])) == 1:
            preferred = [c for c in allowed if [c[0].name] == w.status()["nominatedClusterNames"]]
        chosen = self.selected(w)
        return (preferred + [c for c in allowed if c[0].cluster == chosen] + allowed)[0]

    def ranked(self, w, current):
        found = []
        for place, worker in enumerate(self.listing.workers):
            if worker.leaver is None and worker.name != current:
                reason, solution = self.tried(w, worker)
                if reason is None:
                    cost, pods, free = solution
                    found.append(((cost, self.preference(free), place), worker, pods))
        return [(worker, pods) for _, worker, pods in sorted(found, key=lambda f: f[0])]

    def ready(self, w, need):
        claim = self.claim(w, need)
        if claim is None or deleting(claim):
            raise Waits("ClaimNotFound")
        if need.template and w.uid not in owners(claim):
            raise Waits("ClaimNotForWorkload")
        if self.get("FleetResourceClass", "", claim["spec"]["resourceClassName"]) is None:
            raise Waits("ClassNotFound")
        if not allocation(claim) and claim["spec"].get("allocationMode") == "Immediate":
            raise Waits("ClaimNotAllocated")
        if allocation(claim) and (claim["status"].get("deallocationRequested")
                                  or identity(claim) in self.released):
            raise Waits("ClaimDeallocating")

    def suits(self, claim, cluster):
        suitable = self.get("FleetResourceClass", "", claim["spec"]["resourceClassName"]).get("suitableClusters")
        return suitable is None or cluster in suitable

    def allows(self, w, need, cluster):
        claim = self.claim(w, need)
        return self.suits(claim, cluster) and (not allocation(claim) or self.reaches(claim, cluster))

    def free_one(self, w, needs, found, otherwise="ConflictingPins"):
        def releasable(claim):
            return (allocation(claim) and claim["spec"].get("allocationMode") != "Immediate"
                    and not self.others(claim, w))

        claims = [self.claim(w, need) for need in needs]
        free = [c for c in claims if releasable(c)]
        bound = [c for c in claims if allocation(c) and c not in free]
        clusters = [worker.cluster for worker, _ in found
                    if all(self.suits(c, worker.cluster) for c in claims)
                    and (w.reservation is None or self.can_book_at(claims, worker.cluster))
                    and all(self.reaches(c, worker.cluster) for c in bound)]
        bad = [c for c in free if any(not self.reaches(c, cluster) for cluster in clusters)]
        if not bad:
            raise Waits(otherwise)
        uid = max((identity(c) for c in bad), key=lambda uid: self.seen[uid])
        self.released.add(uid)
        self.holders[uid].discard(self.key(w))
        raise Waits("ClaimDeallocating")

    def can_book_at(self, claims, cluster):
        """Whether those that Fairlead allocates could be allocated there."""
        return True

    def scheduling(self, w):
        obj = self.get("FleetScheduling", *self.key(w))
        return obj if obj and (not owners(obj) or w.uid in owners(obj)) else None

    def selected(self, w):
        remembered = getattr(w, "selected", "")
        return remembered or (self.scheduling(w) or {}).get("spec", {}).get("selectedCluster", "")

    def ask(self, w, pending, clusters, found):
        said = {e["name"]: e.get("unsuitableClusters", [])
                for e in (self.scheduling(w) or {}).get("status", {}).get("resourceClaims", [])}
        potential = clusters[:128]
        good = [c for c in potential if not any(c in said.get(need.entry, []) for need in pending)]
        may_choose = len(pending) == 1 or all(need.entry in said for need in pending)
        selected = self.selected(w)
        if selected not in good:
            selected = good[0] if good and may_choose else ""
        w.selected = selected
        self.asked[self.key(w)] = (potential, selected)
        if may_choose and not selected:
            self.no_cluster_suits(w, found, lambda c: not any(c in said.get(need.entry, []) for need in pending))
        raise Waits("WaitingForDrivers")

    def no_cluster_suits(self, w, found, is_good):
        """F8"""
        self.free_one(w, self.needs(w), [c for c in found if is_good(c[0].cluster)], "NoSuitableCluster")

    # -- what is said

    def shown_reserved(self, w):
        """Whether reservedFor of all its claims names it."""
        claims = [self.claim(w, need) for need in self.needs(w)]
        return all(c is not None and self.names(c, w) for c in claims)

    def conclude(self, w):
        super().conclude(w)
        if w.condition == ("False", "NoCluster") and self.has_needs(w):
            w.condition = ("False", getattr(w, "reason", "NoCluster"))

    def verdict(self, w):
        said = super().verdict(w)
        if w.reservation and self.has_needs(w) and not w.status().get("clusterName") and not self.shown_reserved(w):
            return said._replace(reasons=None)  # F4
        return said


class FleetHub(dispatch_hub.Hub):
    dispatch_of = FleetDispatch

    def __init__(self, settings):
        super().__init__(settings)
        self.dispatch = self.dispatch_of(dict(settings["dra"], moveWindow=self.settings["moveWindow"]))
        self.dispatch.get = lambda kind, namespace, name: self.get(kind, name, namespace)

    def moment(self, lines, now):
        super().moment(lines, now)
        for _ in range(12):
            writes = self.claim_writes()
            self.accept(writes)
            self.fresh = []
            more = self.workload_writes()
            self.accept(more)
            if not writes and not more:
                return
        raise AssertionError("claims do not come to rest at %d: %s" % (now, writes))

    def workload_writes(self):
        self.dispatch.follow_claims(self.all("FleetResourceClaim"))
        return [w for w in super().workload_writes()
                if self.verdicts[w["namespace"], w["name"]].reasons is not None]

    def is_waiting(self, w):
        return (self.dispatch.listing.good and w.runs(self.dispatch.listing.check) and not w.deleting()
                and not w.status().get("clusterName"))

    def claim_writes(self):
        out, made = [], set()
        for key, w in sorted(self.dispatch.known.items()):
            try:
                needs = self.dispatch.needs(w)
            except Waits:
                continue
            for need in needs:
                if need.template:
                    out += self.creation(key, w, need, made)
            out += self.scheduling_write(key, w)
        for claim in self.all("FleetResourceClaim"):
            out += self.removal(claim) or self.status_write(claim)
        return out

    @staticmethod
    def owner(key, w):
        return [{"apiVersion": w.object["apiVersion"], "kind": "Workload", "name": key[1], "uid": w.uid}]

    def creation(self, key, w, need, made):
        template = self.get("FleetResourceClaimTemplate", need.template, key[0])
        if (template is None or not self.is_waiting(w) or self.get("FleetResourceClaim", need.claim, key[0])
                or (key[0], need.claim) in made):
            return []
        made.add((key[0], need.claim))
        body = {"apiVersion": GROUP, "kind": "FleetResourceClaim",
                "metadata": {"name": need.claim, "namespace": key[0],
                             "ownerReferences": self.owner(key, w)},
                "spec": dict(template["spec"]["spec"])}
        return [self.write("create", "FleetResourceClaim", need.claim, body, key[0])]

    def scheduling_write(self, key, w):
        asked = self.dispatch.asked.get(key)
        obj = self.get("FleetScheduling", key[1], key[0])
        if asked is None or not self.is_waiting(w) or obj and self.dispatch.scheduling(w) is None:
            return []
        spec = {"potentialClusters": asked[0], **({"selectedCluster": asked[1]} if asked[1] else {})}
        if obj and obj.get("spec") == spec:
            return []
        body = {"apiVersion": GROUP, "kind": "FleetScheduling",
                "metadata": {"name": key[1], "namespace": key[0],
                             "ownerReferences": self.owner(key, w)}, "spec": spec}
        return [self.write("apply", "FleetScheduling", key[1], body, key[0])]

    def status_write(self, claim):
        status, uid, namespace = claim.get("status", {}), identity(claim), meta(claim)["namespace"]
        wanted = {name: self.dispatch.known[namespace, name].uid for _, name in self.dispatch.holders[uid]}
        kept = [c for c in status.get("reservedFor", []) if not is_ours(c) or wanted.get(c["name"]) == c["uid"]]
        for c in kept:
            if is_ours(c):
                wanted.pop(c["name"], None)
        kept += [{"apiGroup": "kueue.x-k8s.io", "resource": "workloads", "name": n, "uid": u}
                 for n, u in sorted(wanted.items())]
        flag = bool(allocation(claim)) and (status.get("deallocationRequested", False) or uid in self.dispatch.released)
        if kept == status.get("reservedFor", []) and flag == status.get("deallocationRequested", False):
            return []
        return [self.write("apply-status", "FleetResourceClaim", meta(claim)["name"], {
            "status": {"reservedFor": kept, "deallocationRequested": flag}}, namespace)]

    def removal(self, claim):
        namespace = meta(claim)["namespace"]
        for key, w in self.dispatch.known.items():
            over = key[0] == namespace and is_true(w.object, "Finished") and w.uid in owners(claim)
            if not over or deleting(claim):
                continue
            entries = {e.claim for e in self.dispatch.needs(w)}
            if meta(claim)["name"] in entries:
                return [self.write("delete", "FleetResourceClaim", meta(claim)["name"], None, namespace)]
        return []

    def accept(self, writes):
        super().accept([w for w in writes if w["kind"] not in KINDS])
        for w in writes:
            if w["kind"] not in KINDS:
                continue
            self.writes.append(w)
            key = (w["kind"], w["namespace"], w["name"])
            if w["verb"] == "delete":
                del self.objects[key]
            elif w["verb"] == "create":
                self.objects[key] = w["body"]
            elif w["verb"] == "apply":
                obj = self.objects.setdefault(key, {**w["body"], "spec": {}})
                obj["metadata"]["ownerReferences"] = w["body"]["metadata"]["ownerReferences"]
                obj["spec"] = w["body"]["spec"]
            else:
                self.objects[key].setdefault("status", {}).update(w["body"]["status"])

