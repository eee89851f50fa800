"""Random traces for the MultiKueue path, from a seed: small worlds, short windows, each feature on now and then.

The model runs along, so that what happens fits what is there: hands edit the list that exists, Workloads run on its
members, and an edited object carries the status that it has. Times are whole seconds and so are all windows: many
windows end exactly when something happens.
"""
import copy
import random

import multikueue_objects as o
from multikueue import Hub
from multikueue_world import FINALIZER, deleting, is_true, meta

ADDONS = [("usage", "gpuClusterAvailable", 1), ("usage", "spare", -2)]
FEATURES = ("shards", "scores", "two scores", "expiry", "credentials", "profiles", "hands", "workloads", "places",
            "checks", "rename", "foreign", "annotations", "bad annotations", "many", "clash", "cluster", "providers",
            "adopt", "dispatcher", "restart", "parameters", "invalid", "late", "evictions", "drain",
            "policies")

RATE = {"workloads": 0.6, "drain": 0.6, "many": 0.15, "adopt": 0.15, "restart": 0.15, "invalid": 0.2, "clash": 0.2}


class Maker:
    """One trace: `config()` are the settings, `make()` the lines."""

    def __init__(self, seed, features=None):
        self.r = r = random.Random(seed)
        self.on = on = set(features) if features is not None else {
            f for f in FEATURES if r.random() < RATE.get(f, 0.3)}
        if "many" in on:
            self.clusters = ["w%02d" % i for i in range(12)]
        elif "clash" in on:
            self.clusters = ["b-c", "c", "w1", "w2"]
        else:
            self.clusters = ["w%d" % i for i in range(1, r.randint(2, 5) + 1)]
        self.places = (["a", "a-b"] if "clash" in on else ["p", "q", "s"][:r.randint(1, 3)])
        self.addons = ADDONS[:2 if "two scores" in on else 1] if on & {"scores", "two scores", "expiry"} else []
        self.settings = self.make_settings()
        self.hub = Hub(self.settings)
        self.lines, self.now, self.count = [], 0, 0
        self.shards = {}

    def make_settings(self):
        r, on = self.r, self.on
        return {"settle": r.choice([0, 2000, 2000, 3000]), "moveWindow": r.choice([0, 1000, 10000, 10000, 20000]),
                "drainTimeout": r.choice([0, 15000, 30000, 90000] if "drain" in on else [30000, 3600000]),
                "emptyGrace": r.choice([5000, 15000, 40000]), "credentialGrace": r.choice([0, 5000, 15000, 30000]),
                "profile": "cluster" if "cluster" in on else "placement",
                "accessProviders": ["oidc"] if "providers" in on else [], "adoptOcmAddon": "adopt" in on,
                "dispatcher": bool(on & {"dispatcher", "policies"}),
                "clearedBy": r.choice(["policy", "policy", "mergePatch"]) if "policies" in on else "policy"}

    def config(self):
        return self.settings

    # One moment

    def make(self):
        r = self.r
        self.start()
        self.flush()
        for _ in range(r.randint(4, 40)):
            self.now += r.choice([1, 1, 1, 2, 2, 3, 5, 5, 8, 10, 15, 20, 30, 60, 90]) * 1000
            self.hub.advance(self.now)
            kinds = self.kinds()
            for kind in r.sample(kinds, min(len(kinds), r.choice([1, 1, 1, 2, 3]))):
                getattr(self, kind)()
            self.flush()
        return self.lines

    def flush(self):
        self.hub.moment([x for x in self.lines if x["time"] == self.now], self.now)

    def see(self, obj, type_="MODIFIED"):
        self.count += 1
        obj = copy.deepcopy(obj)
        if "uid" in obj["metadata"]:
            obj["metadata"]["resourceVersion"] = str(1000 + self.count)
        self.lines.append(o.line(self.now, obj, type_))

    def there(self, kind, name, namespace=""):
        found = self.hub.get(kind, name, namespace)
        return copy.deepcopy(found)

    def kinds(self):
        on = self.on
        out = ["decide", "decide", "decide"]
        out += ["score"] * (2 if self.addons else 0) + ["secret"] * (2 if "credentials" in on else 0)
        out += ["profile"] * ("profiles" in on) + ["foreign"] * ("foreign" in on) + ["annotate"] * ("annotations" in on)
        out += ["place"] * ("places" in on) + ["rename"] * ("rename" in on)
        out += ["check"] * ("checks" in on or "late" in on) + ["policy"] * ("policies" in on)
        # A list that changes by hand at the very moment at which a Workload changes would be read in two ways.
        out += [self.r.choice((["hand"] if "hands" in on else []) + (["workload"] if "workloads" in on else [])
                              or ["decide"])] * (3 if on & {"hands", "workloads"} else 0)
        return sorted(set(out)) if self.r.random() < 0.3 else out

    # What there is at the beginning

    def start(self):
        r, on = self.r, self.on
        if "many" in on:
            self.see(o.crd(10), "ADDED")
        if "policies" in on:
            self.hub.assumes_policy = False
            self.see(o.policy("default-limits"), "ADDED")
        for p in self.places:
            if not ("late" in on and r.random() < 0.3):
                self.see(o.placement(p, self.addons), "ADDED")
            if not ("late" in on and r.random() < 0.4):
                self.see(self.new_check("k-" + p, p), "ADDED")
            self.see(o.kueue_check("mk-" + p, p), "ADDED")
        if len(self.places) < 3 and r.random() < 0.4:
            self.see(self.new_check("k-other", self.places[0]), "ADDED")
        if "invalid" in on:
            odd = o.cluster_profile("Bad_Name", ["oidc"])
            odd["metadata"].update(name="odd", uid="uid-odd")
            self.see(odd, "ADDED")
        for c in self.clusters:
            if r.random() < 0.9 or "credentials" not in on:
                self.see(o.secret(c, self.settings["profile"]), "ADDED")
            if "profiles" in on and r.random() < 0.3:
                self.see(self.new_profile(c), "ADDED")
            if self.addons and r.random() < 0.8:
                self.see(self.new_score(c), "ADDED")
        if "restart" in on or "adopt" in on:
            self.leave_config()
        for p in self.places:
            if r.random() < 0.7:
                self.decide(p)

    def leave_config(self):
        """What an earlier run, the add-on or the other profile left behind."""
        r, p, profile = self.r, self.places[0], self.settings["profile"]
        owned = "adopt" not in self.on
        if owned and r.random() < 0.4:
            profile = "placement" if profile == "cluster" else "cluster"
        names = []
        for c in r.sample(self.clusters, r.randint(1, min(3, len(self.clusters)))):
            name = c if profile == "cluster" else "%s-%s" % (p, c)
            owner = ("cluster/" + name if profile == "cluster" else "placement/" + p) if owned else None
            names.append(name)
            self.see(o.multikueue_cluster(name, meta(o.secret(c, profile))["name"], owner), "ADDED")
        self.see(o.config(p, names, owned), "ADDED")

    def new_check(self, name, place):
        annotations = {}
        if "annotations" in self.on and self.r.random() < 0.6:
            for key in self.r.sample(["settle", "moveWindow", "drainTimeout", "credentialGrace"], 2):
                annotations[key] = self.r.choice(["0s", "1s", "4s", "25s"] if key != "settle" else ["0s", "1s", "4s"])
                if "bad annotations" in self.on and self.r.random() < 0.5:
                    annotations[key] = self.r.choice(["soon", "-3s", "5", "1 s"])
        return o.check(name, place, annotations, [FINALIZER] if "adopt" in self.on else [])

    def new_score(self, cluster):
        r = self.r
        values = {s: r.choice([-20, 0, 10, 10, 50, 60, 90]) for _, s, _ in ADDONS if r.random() < 0.9}
        until = self.now + r.choice([-1, 5, 12, 30]) * 1000 if "expiry" in self.on and r.random() < 0.5 else None
        return o.score(cluster, "usage", values, None if until is None else max(0, until))

    def new_profile(self, cluster):
        providers = self.r.choice([["kubeconfig"], ["oidc"], ["oidc", "kubeconfig"], []])
        return o.cluster_profile(cluster, providers, labelled=sum(map(ord, cluster)) % 2 == 0)

    # What happens

    def decide(self, place=None):
        """The same again, reordered, one more or less, something else, moved between shards."""
        r = self.r
        p = place or r.choice(self.places)
        now = sorted({c for shard in self.shards.get(p, []) for c in shard})
        what = r.random()
        if what < 0.15 and now:
            clusters = now
        elif what < 0.45:
            clusters = [c for c in self.clusters if (c in now) != (c == r.choice(self.clusters))]
        elif what < 0.6:
            clusters = r.sample(self.clusters, 1)
        elif what < 0.67:
            clusters = []
        else:
            clusters = r.sample(self.clusters, r.randint(1, len(self.clusters)))
        clusters = list(clusters)
        r.shuffle(clusters)
        if "invalid" in self.on and r.random() < 0.3:
            clusters.append(r.choice(["", "Bad_Name", "Bad_Name", "x" * 254]))
        count = r.randint(1, 3) if "shards" in self.on else 1
        shards = [clusters[i::count] for i in range(count)]
        before = self.shards.get(p, [])
        for i in range(max(len(shards), len(before))):
            if i >= len(shards):
                self.see(o.decision(p, i, before[i]), "DELETED")
            elif i >= len(before) or before[i] != shards[i] or r.random() < 0.3:
                self.see(o.decision(p, i, shards[i]))
        self.shards[p] = shards

    def score(self):
        for c in self.r.sample(self.clusters, self.r.randint(1, 2)):
            if self.r.random() < 0.15 and self.hub.get("AddOnPlacementScore", "usage", c):
                self.see(self.there("AddOnPlacementScore", "usage", c), "DELETED")
            else:
                self.see(self.new_score(c))

    def secret(self):
        c = self.r.choice(self.clusters)
        secret = o.secret(c, self.settings["profile"])
        there = self.hub.get("Secret", meta(secret)["name"], o.NAMESPACE)
        if there is None:
            self.see(secret, "ADDED")
        elif self.r.random() < 0.6:
            self.see(there, "DELETED")
        else:
            self.see(o.secret(c, self.settings["profile"], self.r.choice(["kubeconfig", "token"])))

    def profile(self):
        c = self.r.choice(self.clusters)
        new = self.new_profile(c)
        there = self.hub.get("ClusterProfile", meta(new)["name"], o.NAMESPACE)
        if there is not None and self.r.random() < 0.4:
            self.see(there, "DELETED")
        else:
            self.see(new)

    def hand(self):
        """An edit or a deletion of a config, or the deletion of a member's cluster object."""
        r, p = self.r, self.r.choice(self.places)
        there = self.there("MultiKueueConfig", p)
        if there is None or not self.hub.config(p):
            return
        what, members = r.random(), list(there["spec"]["clusters"])
        live = [n for n in members if n in self.hub.chosen[p] and self.hub.get("MultiKueueCluster", n)]
        if what < 0.15:
            self.see(there, "DELETED")
        elif what < 0.3 and live:
            self.see(self.there("MultiKueueCluster", r.choice(live)), "DELETED")
        else:
            if what < 0.6 and len(members) > 1:
                members.remove(r.choice(members))
            elif what < 0.8:
                limit = self.hub.max_clusters()
                extra = r.choice([self.hub.name(p, c) for c in self.clusters] + ["by-hand"])
                members += [extra] if extra not in members and len(members) < limit else []
            else:
                r.shuffle(members)
            there["spec"]["clusters"] = members
            if r.random() < 0.3:
                there["spec"]["quotaManagement"] = "Manual"
            self.see(there)

    def workload(self):
        r = self.r
        name = "job-%d" % r.randint(1, 4)
        p = r.choice(self.places)
        there = self.there("Workload", name, "jobs")
        if there is None:
            w = o.workload(name, ["k-" + p, "mk-" + p], reserved=r.random() < 0.7, uid="-%d" % self.count)
            self.see(w, "ADDED")
            return
        what = r.random()
        status = there["status"]
        p = status["admissionChecks"][0]["name"][2:]
        members = self.hub.members(p)
        if is_true(there, "Finished") or deleting(there):
            if what < 0.4:
                self.see(there, "DELETED")
        elif what < 0.45 and members:
            self.set(there, "QuotaReserved", "Evicted" if not is_true(there, "Evicted") else None)
            status["clusterName"] = r.choice(members)
            status.pop("nominatedClusterNames", None)
            self.see(there)
        elif what < 0.6 and "evictions" in self.on:
            status.pop("clusterName", None)
            status.pop("nominatedClusterNames", None)
            for entry in status["admissionChecks"]:
                entry["state"] = "Pending"
            self.set(there, "Evicted", None if r.random() < 0.5 else "QuotaReserved")
            self.see(there)
        elif what < 0.7 and not status.get("clusterName"):
            self.set(there, "QuotaReserved", "Evicted")
            self.see(there)
        elif what < 0.85:
            self.set(there, "Finished", None)
            self.see(there)
        elif what < 0.92:
            meta(there)["deletionTimestamp"] = o.at(self.now)
            self.see(there)
        else:
            self.see(there, "DELETED")

    @staticmethod
    def set(workload, yes, no):
        """Sets one condition and takes another back."""
        kept = [c for c in workload["status"]["conditions"] if c["type"] not in (yes, no)]
        workload["status"]["conditions"] = kept + [
            {"type": yes, "status": "True", "reason": yes, "message": "", "lastTransitionTime": o.at(0)}]

    def policy(self):
        """One that clears nominations comes, goes, or is labelled otherwise."""
        r = self.r
        name = r.choice(["kueue-clear-nominated-cluster-names", "ours", "ours", "unclear-nominated-cluster-names"])
        there = self.there("MutatingAdmissionPolicy", name)
        if there is None:
            self.see(o.policy(name, r.choice([None, "true", "true", "no"])), "ADDED")
        elif r.random() < 0.4:
            self.see(there, "DELETED")
        elif r.random() < 0.3:
            meta(there)["deletionTimestamp"] = o.at(self.now)
            self.see(there)
        else:
            self.see(o.policy(name, r.choice([None, "true", "no"])))

    def place(self):
        p = self.r.choice(self.places)
        there = self.hub.get("Placement", p, o.NAMESPACE)
        if there is None:
            self.see(o.placement(p, self.addons), "ADDED")
            return
        self.see(there, "DELETED")
        if self.r.random() < 0.6:  # the garbage collector takes its decisions along
            for i, clusters in enumerate(self.shards.pop(p, [])):
                self.see(o.decision(p, i, clusters), "DELETED")

    def check(self):
        r, p = self.r, self.r.choice(self.places)
        name = r.choice(["k-" + p, "k-" + p, "k-other"])
        there = self.there("AdmissionCheck", name)
        if there is None:
            self.see(self.new_check(name, p), "ADDED")
        elif deleting(there) or r.random() < 0.5:
            return
        elif meta(there).get("finalizers"):
            meta(there)["deletionTimestamp"] = o.at(self.now)
            self.see(there)
        else:
            self.see(there, "DELETED")

    def changed(self, check):
        meta(check)["generation"] = meta(check).get("generation", 1) + 1
        self.see(check)

    def rename(self):
        """Other parameters: another Placement, or bad ones now and then."""
        r = self.r
        there = self.there("AdmissionCheck", "k-" + r.choice(self.places))
        if there is None or deleting(there):
            return
        name = r.choice(self.places)
        bad = r.choice([None, {"apiGroup": "other.io", "kind": "Placement", "name": name},
                        {"apiGroup": "cluster.open-cluster-management.io", "kind": "Placements", "name": name}])
        there["spec"] = o.check("x", bad if "parameters" in self.on and r.random() < 0.4 else name)["spec"]
        self.changed(there)

    def annotate(self):
        name = "k-" + self.r.choice(self.places)
        there = self.there("AdmissionCheck", name)
        if there is None or deleting(there):
            return
        meta(there)["annotations"] = meta(self.new_check(name, "p")).get("annotations", {})
        self.see(there)

    def foreign(self):
        """Another writer's object under a name of ours comes or goes; one that is ours is left alone."""
        r, p = self.r, self.r.choice(self.places)
        if r.random() < 0.5:
            new = o.config(p, ["somewhere"], owned=False)
        else:
            new = o.multikueue_cluster(self.hub.name(p, r.choice(self.clusters)), "elsewhere")
        there = self.hub.get(new["kind"], meta(new)["name"])
        if there is None:
            self.see(new, "ADDED")
        elif "uid" in meta(there):
            self.see(there, "DELETED")
