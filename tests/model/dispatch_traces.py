"""Random traces for the dispatcher, from a seed: small clusters, few devices, gangs, and what members make of them.

The model runs along, so that members run what was nominated and take what was reserved for it, or something else.
Times are whole seconds and so are all windows: many windows end exactly when something happens.
"""
import copy
import random

import dispatch_objects as d
import multikueue_objects as o
from dispatch_hub import Hub
from multikueue_world import deleting, is_true, meta

FEATURES = ("gangs", "counters", "shared", "alternatives", "all", "extended", "plugin", "priorities", "node changes",
            "slices", "taints", "rules", "foreign", "members", "other devices", "wrong cluster", "evictions", "reach",
            "list", "restart", "deletions", "templates", "leftovers", "bad check", "odd pods", "duplicates",
            "selectors")
RATE = {"counters": 0.45, "foreign": 0.45, "members": 0.8, "gangs": 0.6, "priorities": 0.6, "templates": 0.15,
        "leftovers": 0.1, "odd pods": 0.15, "duplicates": 0.1, "plugin": 0.1, "bad check": 0.1}
PLACE, CHECK = "p", "k-p"


class Maker:
    """One trace: `config()` are the settings, `make()` the lines."""

    def __init__(self, seed, features=None):
        self.r = r = random.Random(seed)
        self.on = on = set(features) if features is not None else {
            f for f in FEATURES if r.random() < RATE.get(f, 0.35)}
        self.clusters = ["w%d" % i for i in range(1, r.randint(2, 4) + 1)]
        self.settings = {
            "settle": 0, "moveWindow": r.choice([0, 5000, 10000, 20000]), "drainTimeout": r.choice([15000, 3600000]),
            "emptyGrace": r.choice([15000, 600000]), "dispatcher": True, "dra": {
                "policy": r.choice(["order", "pack", "spread"]), "admitTimeout": r.choice([0, 10000, 30000, 300000]),
                "placeTimeout": r.choice([0, 10000, 60000])}}
        self.hub = Hub(self.settings)
        self.lines, self.now, self.count = [], 0, 0
        self.objects = {c: {} for c in self.clusters}  # {cluster: {(kind, name): object}}
        self.selected = list(self.clusters)
        self.out = set()  # clusters out of reach
        self.touched = set()  # what has a line at this time
        self.templates = ["one", "two"] + sorted(on & {"alternatives", "all", "shared", "selectors"})

    def config(self):
        return self.settings

    def make(self):
        r = self.r
        self.start()
        self.flush()
        for _ in range(r.randint(5, 40)):
            self.enter((self.now // 1000 + r.choice([1, 1, 1, 2, 2, 3, 5, 5, 8, 10, 15, 20, 30, 60])) * 1000)
            kinds = r.choices(self.kinds(), k=r.choice([1, 1, 1, 2, 3]))
            for kind in kinds:
                if kind != "decide":
                    getattr(self, kind)()
            self.flush()
            if "decide" in kinds:
                # A list counts from when it is observed, which the model takes as the moment of the decision: it
                # changes in moments of its own.
                self.enter(self.now + 137)
                self.decide()
                self.flush()
        return self.lines

    def enter(self, now):
        self.now = now
        self.hub.advance(now)
        self.touched = set()

    def flush(self):
        self.hub.moment([x for x in self.lines if x["time"] == self.now], self.now)

    def kinds(self):
        out = ["new_workload"] * 4 + ["admit"] * 3 + ["finish"] * 2
        for feature, kind, times in (
                ("members", "member_claim", 5), ("evictions", "evict", 2), ("deletions", "delete", 1),
                ("node changes", "node", 2), ("slices", "slice", 2), ("taints", "taint", 2), ("rules", "rule", 2),
                ("foreign", "foreign", 3), ("reach", "reach", 2), ("list", "decide", 2), ("templates", "template", 1),
                ("duplicates", "again", 2), ("counters", "recost", 2), ("bad check", "check", 2)):
            out += [kind] * times if feature in self.on else []
        return out

    # -- lines

    def see(self, cluster, obj, type_="MODIFIED"):
        self.count += 1
        obj = copy.deepcopy(obj)
        obj["metadata"]["resourceVersion"] = str(1000 + self.count)
        key = (cluster, obj["kind"], obj["metadata"]["name"])
        self.touched.add(key)
        if cluster != "hub":
            self.objects[cluster].pop(key[1:], None)
            if type_ != "DELETED":
                self.objects[cluster][key[1:]] = obj
        self.lines.append(dict(o.line(self.now, obj, type_), cluster=cluster))

    def fresh(self, cluster, kind, name):
        """One line an object and moment: of several only the last would count."""
        return (cluster, kind, name) not in self.touched

    def all(self, cluster, kind):
        return [copy.deepcopy(self.objects[cluster][key]) for key in sorted(self.objects[cluster])
                if key[0] == kind and self.fresh(cluster, *key)]

    # -- the beginning

    def start(self):
        r = self.r
        for obj in (o.placement(PLACE), o.check(CHECK, PLACE), o.kueue_check("mk-" + PLACE, PLACE),
                    *[o.secret(c) for c in self.clusters], o.decision(PLACE, 0, self.selected)):
            self.see("hub", obj, "ADDED")
        for cluster in self.clusters:
            if r.random() < 0.06:
                continue  # a member that is not watched
            gives = d.EXTENDED if "extended" in self.on and r.random() < 0.7 else None
            self.see(cluster, d.device_class("gpu", 'device.driver == "%s"' % d.DRIVER, extended=gives), "ADDED")
            for name in self.templates:
                if r.random() < 0.9:
                    self.see(cluster, self.new_template(name), "ADDED")
            for name in "abcd"[:r.randint(1, 4)]:
                plugin = 2 if "plugin" in self.on and r.random() < 0.3 else 0
                self.see(cluster, d.node(name, plugin=plugin), "ADDED")
                self.publish(cluster, name, r.randint(0, 3))
        if "restart" in self.on:
            for i in range(r.randint(1, 3)):
                w = self.make_workload("old-%d" % i)
                name = "%s-%s" % (PLACE, r.choice(self.clusters))
                several = ["%s-%s" % (PLACE, c) for c in self.clusters]
                w["status"].update({"clusterName": name} if r.random() < 0.4 else {
                    "nominatedClusterNames": [name] if r.random() < 0.7 else several})
                self.see("hub", w, "ADDED")

    def new_template(self, name):
        made = {"one": [d.request()], "two": [d.request(count=2)],
                "alternatives": [d.either({"count": 3}, {"count": 2}, {})],
                "all": [d.request(allocationMode="All")],
                "shared": [d.request(capacity={"requests": {"memory": "%dGi" % self.r.choice([10, 20])}})],
                "selectors": [d.request(selectors=[{"cel": {
                    "expression": 'device.attributes["%s"].model == "a100"' % d.DRIVER}}])]}
        return d.template(name, *made[name])

    def publish(self, cluster, pool, count, generation=1, slices=1):
        r, on = self.r, self.on
        if not count:
            return
        memory = 40 if "shared" in on and r.random() < 0.5 else None
        counters = r.choice([3, 4, 6]) if "counters" in on and r.random() < 0.5 else None
        made = [d.device("gpu-%d" % i, r.choice(["h100", "a100"]), memory=memory,
                         cost=r.randint(1, 3) if counters else None) for i in range(count)]
        slices += bool(counters)
        self.see(cluster, d.resource_slice(pool, pool, made, generation=generation, slices=slices))
        if counters:
            self.see(cluster, d.resource_slice(pool + "-c", pool, None, counters, generation, slices))

    # -- Workloads

    def make_workload(self, name):
        r, on = self.r, self.on
        sets = []
        for each in ["main"] + (["second"] if "gangs" in on and r.random() < 0.25 else []):
            count = r.choice([1, 2, 2, 3]) if "gangs" in on else 1
            entries = r.sample(self.templates, 2 if r.random() < 0.15 else 1)
            fields = {"templates": entries if r.random() < 0.9 else []}
            if "extended" in on and r.random() < 0.4:
                fields = {"resources": {r.choice([d.EXTENDED, d.IMPLICIT]): str(r.randint(1, 2))}}
            if r.random() < 0.1:
                fields["zone"] = "ab"
            sets.append((each, count, fields))
        made = d.workload(name, CHECK, sets, r.choice([None, 0, 5, 10, -3]) if "priorities" in on else None,
                          self.now if r.random() < 0.7 else 0, "-%d" % self.count)
        if "gangs" in on and r.random() < 0.15:
            made["status"]["admission"] = {"clusterQueue": "team", "podSetAssignments": [
                {"name": each, "count": r.randint(0, count)} for each, count, _ in sets]}
        return made

    def new_workload(self):
        name = "%s-%d" % (self.r.choice(["a", "b", "c"]), self.count)
        self.see("hub", self.make_workload(name), "ADDED")

    def some_workload(self, wanted):
        found = [w for w in self.hub.all("Workload") if self.fresh("hub", "Workload", meta(w)["name"])
                 and not is_true(w, "Finished") and not deleting(w) and wanted(w)]
        return copy.deepcopy(self.r.choice(found)) if found else None

    def admit(self):
        """A worker has admitted the copy: Kueue sets clusterName and drops the nomination."""
        w = self.some_workload(lambda w: w["status"].get("nominatedClusterNames") and is_true(w, "QuotaReserved"))
        if w is None:
            return
        names = w["status"].pop("nominatedClusterNames")
        w["status"]["clusterName"] = self.r.choice(names)
        if "wrong cluster" in self.on and self.r.random() < 0.3:
            w["status"]["clusterName"] = "%s-%s" % (PLACE, self.r.choice(self.clusters))
        self.see("hub", w)

    def finish(self):
        w = self.some_workload(lambda w: w["status"].get("clusterName") or self.r.random() < 0.2)
        if w is not None:
            self.set(w, "Finished", None)
            self.see("hub", w)
            self.clear(w)

    def evict(self):
        """Kueue takes quota, cluster and nomination back; or gives quota again."""
        w = self.some_workload(lambda w: True)
        if w is None:
            return
        if is_true(w, "Evicted"):
            self.set(w, "QuotaReserved", "Evicted")
        else:
            for field in ("clusterName", "nominatedClusterNames"):
                w["status"].pop(field, None)
            for entry in w["status"]["admissionChecks"]:
                entry["state"] = "Pending"
            self.set(w, "Evicted", "QuotaReserved" if self.r.random() < 0.7 else None)
            self.clear(w)
        self.see("hub", w)

    def delete(self):
        w = self.some_workload(lambda w: True)
        if w is None:
            return
        if self.r.random() < 0.4:
            meta(w)["deletionTimestamp"] = o.at(self.now)
            self.see("hub", w)
            return
        self.see("hub", w, "DELETED")
        self.clear(w)
        if self.r.random() < 0.4:  # made again at once: another one of that name
            again = self.make_workload(meta(w)["name"])
            if self.r.random() < 0.4:
                again["status"]["clusterName"] = "%s-%s" % (PLACE, self.r.choice(self.clusters))
            self.see("hub", again, "ADDED")

    def clear(self, w):
        """Its Pods and claims go from the members."""
        if "leftovers" in self.on and self.r.random() < 0.5:
            return
        for cluster in self.clusters:
            for kind in ("Pod", "ResourceClaim"):
                for obj in self.all(cluster, kind):
                    if meta(obj)["name"].startswith(meta(w)["name"] + "."):
                        self.see(cluster, obj, "DELETED")

    @staticmethod
    def set(workload, yes, no):
        kept = [c for c in workload["status"]["conditions"] if c["type"] not in (yes, no)]
        workload["status"]["conditions"] = kept + [
            {"type": yes, "status": "True", "reason": yes, "message": "", "lastTransitionTime": o.at(0)}]

    # -- what members do

    def devices(self, cluster):
        """(pool, device, what a share of it takes) of what is published and not used as a whole."""
        used = {(x["pool"], x["device"]) for claim in self.all(cluster, "ResourceClaim")
                for x in claim["status"].get("allocation", {}).get("devices", {}).get("results", [])
                if "shareID" not in x}
        return [(s["spec"]["pool"]["name"], each["name"], 10 if each.get("allowMultipleAllocations") else None)
                for s in self.all(cluster, "ResourceSlice") for each in s["spec"].get("devices", [])
                if (s["spec"]["pool"]["name"], each["name"]) not in used]

    def member_claim(self):
        """A Pod of a dispatched Workload gets its claim allocated."""
        r = self.r
        held = {name: said.reservation for (_, name), said in self.hub.verdicts.items() if said.reservation}
        w = self.some_workload(lambda w: meta(w)["name"] in held)
        if w is None or not self.objects[held[meta(w)["name"]]["cluster"]]:
            return
        name, reservation = meta(w)["name"], held[meta(w)["name"]]
        left = [(pod_set, entry, taken) for pod_set, _, entries in reservation["pods"]
                for entry, taken in entries.items()]
        cluster = reservation["cluster"]
        free = self.devices(cluster)
        if not left or not free:
            return
        pod_set, entry, taken = left[0]
        chosen = [x for x in free if "/".join((d.DRIVER, *x[:2])) in taken]
        if len(chosen) < len(taken) or "other devices" in self.on and r.random() < 0.4:
            chosen = r.sample(free, min(len(free), len(taken)))
        made = "%s.%d" % (name, self.count)
        pod = d.pod(made, name, pod_set, "uid-pod-" + made)
        claim = d.claim("%s-%s" % (made, r.randint(10, 99)), "uid-claim-" + made, chosen, pod,
                        entry if entry in self.templates else None, entry not in self.templates)
        if "odd pods" in self.on:
            self.spoil(pod, claim)
        self.see(cluster, pod, "ADDED")
        self.see(cluster, claim, "ADDED")

    def spoil(self, pod, claim):
        """Something that makes the claim none of the Workload's, or of no entry."""
        what = self.r.randint(0, 6)
        if what == 0:
            meta(pod)["annotations"] = {}
        elif what == 1:
            meta(claim)["ownerReferences"][0]["uid"] = "another"
        elif what == 2:
            meta(claim)["annotations"] = {}
        elif what == 3:
            meta(pod)["labels"]["kueue.x-k8s.io/podset"] = "none"
        elif what == 4:
            del meta(claim)["ownerReferences"]
        elif what == 5:
            meta(claim)["annotations"] = {"resource.kubernetes.io/pod-claim-name": self.r.choice(self.templates)}

    def foreign(self):
        """A claim of another owner is allocated, or goes."""
        cluster = self.r.choice(self.clusters)
        there = [c for c in self.all(cluster, "ResourceClaim") if meta(c)["name"].startswith("foreign")]
        if there and self.r.random() < 0.5:
            self.see(cluster, self.r.choice(there), "DELETED")
            return
        free = self.devices(cluster)
        if free:
            name = "foreign-%d" % self.count
            self.see(cluster, d.claim(name, "uid-" + name, [self.r.choice(free)]), "ADDED")

    def node(self):
        r, cluster = self.r, self.r.choice(self.clusters)
        nodes = self.all(cluster, "Node")
        if not nodes:
            return
        name = meta(r.choice(nodes))["name"]
        if r.random() < 0.15:
            self.see(cluster, d.node(name), "DELETED")
        else:
            self.see(cluster, d.node(name, ready=r.random() < 0.6, cordoned=r.random() < 0.2))

    def slice(self):
        """A slice is rewritten or goes, or a pool's new generation begins and is not complete at once."""
        r, cluster = self.r, self.r.choice(self.clusters)
        slices = self.all(cluster, "ResourceSlice")
        if not slices:
            return
        s, what = r.choice(slices), r.random()
        if what < 0.2:
            self.see(cluster, s, "DELETED")
        elif what < 0.4:
            s["spec"]["pool"]["resourceSliceCount"] = r.randint(1, 2)
            self.see(cluster, s)
        elif what < 0.7 and s["spec"].get("devices"):
            s["spec"]["devices"] = r.sample(s["spec"]["devices"], r.randint(1, len(s["spec"]["devices"])))
            self.see(cluster, s)
        elif self.fresh(cluster, "ResourceSlice", s["spec"]["pool"]["name"] + "-c"):
            pool = s["spec"]["pool"]
            self.publish(cluster, pool["name"], r.randint(1, 3), pool["generation"] + r.randint(0, 1))

    def taint(self):
        r, cluster = self.r, self.r.choice(self.clusters)
        slices = [s for s in self.all(cluster, "ResourceSlice") if s["spec"].get("devices")]
        if slices:
            s = r.choice(slices)
            one = r.choice(s["spec"]["devices"])
            if one.pop("taints", None) is None:
                one["taints"] = [{"key": "health", "value": "bad", "effect": r.choice(["NoSchedule", "NoExecute"])}]
            self.see(cluster, s)

    def recost(self):
        """A device costs more or less of its pool's counters; one that is used costs what it did (pinned)."""
        r, cluster = self.r, self.r.choice(self.clusters)
        slices = [s for s in self.all(cluster, "ResourceSlice")
                  if any("consumesCounters" in each for each in s["spec"].get("devices", []))]
        if slices:
            s = r.choice(slices)
            free = {(pool, name) for pool, name, _ in self.devices(cluster)}
            some = [each for each in s["spec"]["devices"] if "consumesCounters" in each]
            one = r.choice([each for each in some if (s["spec"]["pool"]["name"], each["name"]) not in free] or some)
            one["consumesCounters"][0]["counters"]["slices"]["value"] = str(r.randint(1, 4))
            self.see(cluster, s)

    def rule(self):
        r, cluster = self.r, self.r.choice(self.clusters)
        there = self.all(cluster, "DeviceTaintRule")
        if there and r.random() < 0.6:
            self.see(cluster, r.choice(there), "DELETED")
        elif self.objects[cluster]:
            pool = r.choice("abcd")
            self.see(cluster, d.taint_rule("rule-%d" % self.count, **r.choice([
                {"pool": pool}, {"pool": pool, "device": "gpu-0"}, {"driver": d.DRIVER}])), "ADDED")

    def template(self):
        r, cluster = self.r, self.r.choice(self.clusters)
        name = r.choice(self.templates)
        if not self.fresh(cluster, "ResourceClaimTemplate", name) or not self.objects[cluster]:
            return
        there = self.objects[cluster].get(("ResourceClaimTemplate", name))
        if there is not None and r.random() < 0.5:
            self.see(cluster, there, "DELETED")
        else:
            self.see(cluster, dict(self.new_template(r.choice(self.templates)), metadata=self.new_template(name)[
                "metadata"]))

    def again(self):
        """A line that says nothing new."""
        cluster = self.r.choice(self.clusters)
        for kind in self.r.sample(["Node", "ResourceSlice", "ResourceClaim", "Pod"], 1):
            for obj in self.all(cluster, kind)[:1]:
                self.see(cluster, obj)

    # -- sources and list

    def reach(self):
        cluster = self.r.choice(self.clusters)
        if any(key[0] == cluster for key in self.touched):
            return
        self.touched.add((cluster, "source", ""))
        what = "SOURCE_SYNCED" if cluster in self.out and self.r.random() < 0.7 else self.r.choice(
            ["SOURCE_STALE", "SOURCE_LOST"])
        (self.out.discard if what == "SOURCE_SYNCED" else self.out.add)(cluster)
        self.lines.append({"type": what, "cluster": cluster, "time": self.now})

    def decide(self):
        if self.fresh("hub", "PlacementDecision", PLACE + "-decision-0"):
            self.selected = self.r.sample(self.clusters, self.r.randint(1, len(self.clusters)))
            self.see("hub", o.decision(PLACE, 0, self.selected))

    def check(self):
        """Parameters turn bad, or good again."""
        if self.fresh("hub", "AdmissionCheck", CHECK):
            there = copy.deepcopy(self.hub.get("AdmissionCheck", CHECK))
            bad = {"apiGroup": "cluster.open-cluster-management.io", "kind": "Placements", "name": PLACE}
            there["spec"] = o.check(CHECK, PLACE if self.hub.parameter(there) is None else bad)["spec"]
            meta(there)["generation"] += 1
            self.see("hub", there)
