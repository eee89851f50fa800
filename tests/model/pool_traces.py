"""Random worlds of the pool, from a seed: few super clusters and tenants, short windows, features on now and then.

The model runs along, so that an object that changes carries the annotations that it has by then. All lines are at
whole seconds, and so are most windows: many deadlines end exactly when something happens.
"""
import copy
import json
import random

import pool
import pool_objects as o
import pool_values as v

FEATURES = ("mass", "flap", "deadband", "slow", "firstQuiet", "taints", "percent", "headroom", "drain", "ids",
            "collision", "away", "stale", "tenants away", "phases", "hash name", "entries", "limit",
            "configured limit", "spread", "policy", "partial", "max quota", "several quotas", "scoped", "slices",
            "bad slices", "edits", "unreadable", "unknown ids", "cleared", "found", "found reasons", "strangers",
            "pods", "other resources", "gates", "moved pods", "deletes", "terminating", "writeInterval", "settle",
            "lostGrace", "slicesMax", "late clusters")
BAD_PLACEMENTS = ["no", "[]", '{"r1":1,"r1":2}', '{"r1":-1}', '{"r1":1.5}', '{"r 1":1}', '{"r1":"1"}',
                  '{"r1":99999999}']
BAD_SLICES = ["no", "{}", '{"cpu":"1"}', '{"cpu":"0","memory":"1Gi"}', '{"cpu":1,"memory":"1Gi"}',
              '{"cpu":"1","memory":"1Gi","x":"1"}', '{"cpu":"one","memory":"1Gi"}']
SLICES = [("1", "1Gi"), ("2", "4Gi"), ("500m", "2Gi"), ("3", "1Gi"), ("1500m", "6Gi")]


class Maker:
    """One trace: `config` is that of the model, `make()` the lines."""

    def __init__(self, seed, features=None):
        self.r = r = random.Random(seed)
        self.on = on = set(features) if features is not None else {f for f in FEATURES if r.random() < 0.3}
        self.clusters = ["r%d" % i for i in range(1, r.randint(1, 4) + 1)]
        self.names = ["acme", "bolt", "core"][:r.randint(1, 3)]
        self.spaces = ["a", "b", "c"][:r.randint(1, 3)]
        self.config = {"debounce": self.debounce(), "pool": self.pool()}
        self.hub = pool.Hub(self.config)
        self.lines, self.now, self.serial = [], 0, 0
        self.nodes, self.quotas, self.tenant_of = {}, {}, {}

    # Configuration

    def debounce(self):
        r, on = self.r, self.on
        slow = "slow" in on
        return {"ingestCoalesce": 0, "shrinkWindow": r.choice([3000, 5000]) if slow else 0,
                "growWindow": r.choice([10000, 20000]) if slow else r.choice([0, 0, 10000]),
                "firstQuiet": r.choice([2000, 4000]) if "firstQuiet" in on else 0,
                "minGrowInterval": r.choice([0, 7000]), "growDeadbandPercent": 10 if "deadband" in on else 0,
                "deadbandMaxAge": 25000, "flapPenalty": 1000 if "flap" in on else 0, "flapHalfLife": 64000,
                "flapSuppress": 2500, "flapReuse": 700, "flapSuppressMax": 40000,
                "massShrinkPercent": 50 if "mass" in on else 0, "massShrinkHold": 12000,
                "writeInterval": r.choice([2000, 5000]) if "writeInterval" in on else 0}

    def pool(self):
        r, on = self.r, self.on
        entries = [self.entry("*")]
        if r.random() < 0.4:
            entries.append(self.entry(self.clusters[-1]))
        if r.random() < 0.1:
            entries = [e for e in entries if e["cluster"] != "*"] or entries
        out = {"clusters": entries, "settle": r.choice([0, 5000]) if "settle" in on else 2000,
               "lostGrace": r.choice([0, 5000, 20000]) if "lostGrace" in on else 8000}
        if "spread" in on:
            out["policy"] = "spread"
        if "partial" in on:
            out["partial"] = True
        if "max quota" in on:
            out["quotas"] = "max"
        if "configured limit" in on:
            out["tenantLimit"] = r.choice([{"cpu": "12"}, {"memory": "30Gi"}, {"cpu": "20", "memory": "24Gi"}])
        if "slicesMax" in on:
            out["slicesMax"] = 8
        if "taints" in on:
            out["tolerations"] = [{"key": "ours", "operator": "Exists"}]
        if "entries" in on:
            out["tenants"] = [{"name": self.names[-1], "secretRef": "x/y"}]
        return out

    def entry(self, cluster):
        r, out = self.r, {"cluster": cluster}
        if "percent" in self.on and r.random() < 0.6:
            out["percent"] = r.choice([50, 73])
        if "headroom" in self.on and r.random() < 0.6:
            out["headroom"] = r.choice([{"percent": {"cpu": 0, "memory": 0}}, {"reserved": {"cpu": "1500m"}},
                                        {"percent": {"cpu": 10}, "reserved": {"memory": "1Gi"}}])
        if "drain" in self.on and cluster != "*" and r.random() < 0.7:
            out["drain"] = True
        return out

    # The trace

    def make(self):
        self.start()
        self.flush()
        for _ in range(self.r.randint(6, 36)):
            self.now += self.r.choice([1, 1, 1, 2, 2, 3, 5, 5, 8, 10, 20, 30]) * 1000
            self.hub.advance(self.now)
            kinds = self.kinds()
            for kind in [self.r.choice(kinds) for _ in range(self.r.choice([1, 1, 1, 2, 3]))]:
                getattr(self, kind)()
            self.flush()
        return self.lines

    def flush(self):
        self.hub.moment(copy.deepcopy([x for x in self.lines if x["time"] == self.now]), self.now)

    def see(self, cluster, obj, type_="MODIFIED"):
        # One object has one state at one time: what it has been by then is no edit.
        m = obj["metadata"]
        key = cluster, obj["kind"], m.get("namespace"), m["name"]
        for x in self.lines:
            if x["time"] == self.now and "object" in x:
                n = x["object"]["metadata"]
                if (x["cluster"], x["object"]["kind"], n.get("namespace"), n["name"]) == key:
                    return False
        self.lines.append(o.line(self.now, cluster, obj, type_))
        return True

    def source(self, cluster, kind):
        if not any(x["time"] == self.now and x["cluster"] == cluster for x in self.lines):
            self.lines.append(o.source(self.now, cluster, kind))

    def kinds(self):
        on, out = self.on, ["node", "node", "quota", "quota", "quota", "space"]
        chosen = {"cluster_source": ("away", "stale"), "tenant_source": ("tenants away",), "phase": ("phases", "limit"),
                  "identity": ("ids",), "slice": ("slices", "bad slices"), "policy": ("policy",),
                  "edit": ("edits", "unreadable", "unknown ids", "cleared"), "stranger": ("strangers",),
                  "pod": ("pods", "other resources", "gates"), "pod_change": ("pods",), "pod_move": ("moved pods",),
                  "gone": ("deletes", "terminating"), "reason": ("found reasons",), "join": ("late clusters",)}
        for kind, features in chosen.items():
            out += [kind] * (2 if on & set(features) else 0)
        return out + ["pod", "pod_change"] * 2 * ("pods" in on)

    def start(self):
        r, on = self.r, self.on
        late = 1 if "late clusters" in on else 0
        for c in self.clusters[late:]:
            self.new_cluster(c)
        for t in self.names:
            self.tenant_of[t] = t
            named = "entries" in on and t == self.names[-1]
            if named and r.random() < 0.5:
                continue
            vc = self.vc(t, "Running" if r.random() < 0.85 or "phases" not in on else "Pending")
            if not named:
                self.tenant_of[t] = v.tenant_name(vc)
            self.see("hub", vc, "ADDED")
        for t in self.names:
            for s in self.spaces:
                if r.random() < 0.7:
                    self.new_space(t, s)

    def new_cluster(self, c):
        r = self.r
        for i in range(r.randint(1, 3)):
            self.new_node(c, "n%d" % i)
        if "ids" in self.on and r.random() < 0.5:
            self.see(c, o.config_map({"id": self.an_id(c)}), "ADDED")

    def an_id(self, c):
        if "collision" in self.on and self.r.random() < 0.4:
            return self.r.choice(self.clusters + ["no id", "x" * 254])
        return "id-" + c

    def vc(self, t, phase):
        limit = None
        if "limit" in self.on and self.r.random() < 0.7:
            limit = self.r.choice(['{"cpu":"10"}', '{"memory":"20Gi"}', '{"cpu":"16","memory":"16Gi"}', "{}", "no",
                                   '{"cpu":"0"}'])
        named = "entries" in self.on and t == self.names[-1]
        return o.virtual_cluster(t, phase, "hash name" not in self.on or named or t != self.names[0], limit)

    # Super clusters

    def new_node(self, c, name):
        r = self.r
        extra = {"gpu": str(r.randint(1, 4))} if "other resources" in self.on and r.random() < 0.6 else {}
        self.nodes[c, name] = o.node(name, cpu=str(r.randint(2, 10)), memory="%dGi" % r.randint(4, 32), **extra)
        self.see(c, self.nodes[c, name], "MODIFIED" if self.now else "ADDED")

    def node(self):
        r = self.r
        c, name = r.choice(self.clusters), "n%d" % r.randint(0, 3)
        known = (c, name) in self.nodes
        if not known and not any(k[0] == c for k in self.nodes):
            return
        what = r.random()
        if not known or what < 0.2:
            self.new_node(c, name)
            return
        node = copy.deepcopy(self.nodes[c, name])
        spec, ready = node["spec"], node["status"]["conditions"][0]
        if what < 0.3:
            if self.see(c, node, "DELETED"):
                del self.nodes[c, name]
            return
        if what < 0.4:
            spec["unschedulable"] = not spec.get("unschedulable", False)
        elif what < 0.55 and "taints" in self.on:
            key, effect = r.choice([("ours", "NoSchedule"), ("x", "NoExecute"), ("x", "PreferNoSchedule"), ("", "")])
            spec["taints"] = [{"key": key, "effect": effect}] if key else []
        else:
            ready["status"] = "False" if ready["status"] == "True" else "True"
        if self.see(c, node):
            self.nodes[c, name] = node

    def join(self):
        c = self.clusters[0]
        if not any(k[0] == c for k in self.nodes):
            self.new_cluster(c)

    def cluster_source(self):
        c = self.r.choice(self.clusters)
        member = self.hub.members.get(c)
        if member is None:
            return
        kinds = [k for k, f in (("STALE", "stale"), ("LOST", "away")) if f in self.on]
        if not member.capacity.live:
            kinds = ["SYNCED", "SYNCED", "LOST"] if member.lost_at is None and "LOST" in kinds else ["SYNCED"]
        self.source(c, self.r.choice(kinds))

    def identity(self):
        c = self.r.choice(self.clusters)
        if c in self.hub.members:
            self.see(c, o.config_map(self.r.choice([{"id": self.an_id(c)}, {"id": c}, {}])))

    def stranger(self):
        r = self.r
        t, s = r.choice(self.names + ["zed"]), r.choice(self.spaces)
        c = r.choice(self.clusters)
        if c not in self.hub.members:
            return
        member = self.hub.members[c]
        unit = r.choice([None, None, o.slice_text("1", "2Gi"), "no"])
        n = {member.wanted_id() or "r1": r.randint(0, 4)} if r.random() < 0.9 else "no"
        obj = o.super_namespace(self.tenant_of.get(t, t), s, r.choice([None, "u-" + s, "u-other"]), n, unit)
        self.see(c, obj, "DELETED" if r.random() < 0.2 and obj["metadata"]["name"] in member.supers else "MODIFIED")

    # Tenants

    def tenant(self, t):
        return self.hub.tenants.get(self.tenant_of[t])

    def where(self, t):
        return "tenant/" + self.tenant_of[t]

    def tenant_source(self):
        t = self.r.choice(self.names)
        tenant = self.tenant(t)
        if tenant is not None:
            self.source(self.where(t), "SYNCED" if not tenant.live else self.r.choice(["STALE", "LOST"]))

    def phase(self):
        r, t = self.r, self.r.choice(self.names)
        if "entries" in self.on and t == self.names[-1]:
            return
        if "phases" in self.on and "deletes" in self.on and r.random() < 0.15:
            self.see("hub", self.vc(t, "Running"), "DELETED")
            return
        phases = ["Running", "Running", "Error", "Pending"] if "phases" in self.on else ["Running"]
        self.see("hub", self.vc(t, r.choice(phases)))

    def notes_found(self):
        r, notes = self.r, {}
        if "found" in self.on and r.random() < 0.6:
            notes[v.PLACEMENTS] = v.placements_text({i: r.randint(0, 3) for i in self.some_ids()})
        if "found reasons" in self.on and r.random() < 0.4:
            notes[v.REASON] = r.choice(["BadSlice", "old", "ClusterUnavailable: r1"])
        if "slices" in self.on and r.random() < 0.5:
            notes[v.SLICE] = o.slice_text(*r.choice(SLICES))
        if "bad slices" in self.on and r.random() < 0.3:
            notes[v.SLICE] = r.choice(BAD_SLICES)
        return notes

    def some_ids(self):
        ids = sorted(self.hub.ids()) or self.clusters
        ids = self.r.sample(ids, self.r.randint(0, len(ids)))
        return ids + (["x"] if "unknown ids" in self.on and self.r.random() < 0.4 else [])

    def new_space(self, t, s):
        self.serial += 1
        uid = "u-%s" % s if self.r.random() < 0.8 else "u-%s-%d" % (s, self.serial)
        if self.see(self.where(t), o.namespace(s, self.notes_found(), uid), "ADDED"):
            self.new_quota(t, s)

    def new_quota(self, t, s):
        r = self.r
        name = "q%d" % r.randint(0, 1) if "several quotas" in self.on else "q"
        hard = {r.choice(["cpu", "cpu", "requests.cpu"]): str(r.randint(1, 14)),
                r.choice(["memory", "memory", "requests.memory"]): "%dGi" % r.randint(2, 32)}
        if r.random() < 0.1:
            del hard[r.choice(sorted(hard))]
        scoped = "scoped" in self.on and r.random() < 0.2
        self.see(self.where(t), o.quota(s, name, scoped, **hard))
        self.quotas.setdefault((t, s), set()).add(name)

    def quota(self):
        t, s = self.r.choice(self.names), self.r.choice(self.spaces)
        names = self.quotas.get((t, s), set())
        if names and self.r.random() < 0.12:
            name = self.r.choice(sorted(names))
            if self.see(self.where(t), o.quota(s, name), "DELETED"):
                names.discard(name)
        else:
            self.new_quota(t, s)

    def found_space(self):
        """(tenant, name, a copy of the current namespace), or None."""
        t, s = self.r.choice(self.names), self.r.choice(self.spaces)
        tenant = self.tenant(t)
        found = tenant.namespaces.get(s) if tenant else None
        if found is None:
            return None
        out = o.namespace(s, found.notes, found.uid)
        if found.deleting:
            out["metadata"]["deletionTimestamp"] = "1970-01-01T00:00:00Z"
        out["metadata"].setdefault("annotations", {})
        return t, found, out

    def space(self):
        t, s = self.r.choice(self.names), self.r.choice(self.spaces)
        tenant = self.tenant(t)
        if tenant is not None and s not in tenant.namespaces:
            self.new_space(t, s)

    def annotate(self, key, values):
        found = self.found_space()
        if found is None:
            return
        t, s, out = found
        value = self.r.choice(values(s))
        out["metadata"]["annotations"].pop(key, None)
        if value is not None:
            out["metadata"]["annotations"][key] = value
        self.see(self.where(t), out)

    def slice(self):
        values = [None] + [o.slice_text(*x) for x in SLICES] if "slices" in self.on else [None]
        self.annotate(v.SLICE, lambda s: values + (BAD_SLICES if "bad slices" in self.on else []))

    def policy(self):
        self.annotate(v.POLICY, lambda s: [None, "pack", "spread", "spread", "other"])

    def reason(self):
        self.annotate(v.REASON, lambda s: [None, "mine"])

    def edit(self):
        def values(s):
            out = []
            if "cleared" in self.on:
                out += [None, "{}"]
            if "unreadable" in self.on:
                out.append(self.r.choice(BAD_PLACEMENTS))
            if self.on & {"edits", "unknown ids"} or not out:
                value = {i: self.r.randint(0, 4) for i in self.some_ids()}
                out += [v.placements_text(value), json.dumps(value), json.dumps(s.n or {})]
            return out
        self.annotate(v.PLACEMENTS, values)

    def gone(self):
        found = self.found_space()
        if found is None:
            return
        t, s, out = found
        if "terminating" in self.on and self.r.random() < 0.6 or "deletes" not in self.on:
            out["metadata"]["deletionTimestamp"] = "1970-01-01T00:00:00Z"
            self.see(self.where(t), out)
        else:
            self.see(self.where(t), out, "DELETED")

    # Pods

    def request(self):
        r = self.r
        out = {"cpu": r.choice(["250m", "500m", "1", "1500m", "3"]), "memory": r.choice(["256Mi", "1Gi", "3Gi"])}
        if r.random() < 0.15:
            del out[r.choice(sorted(out))]
        if "other resources" in self.on and r.random() < 0.4:
            out[r.choice(["nvidia.com/gpu", "nvidia.com/gpu", "example.com/fpga"])] = str(r.randint(1, 2))
        return out

    def pod(self):
        r = self.r
        t, s = r.choice(self.names), r.choice(self.spaces)
        if self.tenant(t) is None:
            return
        self.serial += 1
        gated = "gates" in self.on and r.random() < 0.3
        claims = "gates" in self.on and r.random() < 0.15
        notes = {}
        if "moved pods" in self.on and r.random() < 0.3:
            notes[v.SUPER] = r.choice(self.clusters + ["x"])
        if "found reasons" in self.on and r.random() < 0.3:
            notes[v.REASON] = "old"
        obj = o.pod(s, "p%d" % self.serial, self.request(), notes, gated=gated, claims=claims)
        self.see(self.where(t), self.shaped(obj), "ADDED")

    def shaped(self, pod):
        """Now and then with init containers, sidecars, overhead or pod-level requests."""
        r, spec = self.r, pod["spec"]
        if r.random() < 0.15:
            spec["initContainers"] = [{"name": "i", "resources": {"limits": {"cpu": r.choice(["100m", "2"])}}}]
            if r.random() < 0.5:
                spec["initContainers"][0]["restartPolicy"] = "Always"
        if r.random() < 0.1:
            spec["overhead"] = {"cpu": "250m", "memory": "64Mi"}
        if r.random() < 0.1:
            spec["resources"] = {"requests": {"cpu": "750m"}}
        return pod

    def pod_change(self):
        self.change_pod(self.live_one)

    def pod_move(self):
        def move(pod):
            value = self.r.choice([None, "x"] + sorted(self.hub.ids()))
            pod["metadata"]["annotations"].pop(v.SUPER, None)
            if value is not None:
                pod["metadata"]["annotations"][v.SUPER] = value
            return "MODIFIED"
        self.change_pod(move)

    @staticmethod
    def key(obj):
        return obj["metadata"]["namespace"], obj["metadata"]["name"]

    def live_one(self, pod):
        r = self.r
        what = r.random()
        if what < 0.15:
            return "DELETED"
        if what < 0.3:
            pod["status"] = {"phase": r.choice(["Succeeded", "Failed"])}
        elif what < 0.4:
            pod["metadata"]["deletionTimestamp"] = "1970-01-01T00:00:00Z"
        elif pod["spec"].pop("schedulingGates", None) is None and v.SUPER in pod["metadata"]["annotations"]:
            pod["spec"]["nodeName"] = "n"
        return "MODIFIED"

    def change_pod(self, change):
        t = self.r.choice(self.names)
        tenant = self.tenant(t)
        if tenant is None or not tenant.pods:
            return
        key = self.r.choice(sorted(tenant.pods))
        pod = copy.deepcopy(next(x["object"] for x in reversed(self.lines) if x["cluster"] == self.where(t)
                                 and x.get("object", {}).get("kind") == "Pod" and self.key(x["object"]) == key))
        pod["metadata"]["annotations"] = dict(tenant.pods[key].notes)
        self.see(self.where(t), pod, change(pod))
