"""Traces of the pool in which pods ask for devices, and what syncers and schedulers of super clusters make of them."""
import dispatch_objects as d
import pool_devices
import pool_objects as o
import pool_traces
import pool_values as v

FEATURES = ("alternatives", "all", "shared", "counters", "extended", "implicit", "plugin", "named", "taints on devices",
            "rules", "foreign claims", "claims", "other devices", "templates", "classes", "no super namespaces")
RATE = {"claims": 0.8, "named": 0.5, "templates": 0.2, "classes": 0.2, "no super namespaces": 0.1, "plugin": 0.15}


class Maker(pool_traces.Maker):
    """Most seeds have devices; in these most of the pods ask for some."""

    def __init__(self, seed, features=None):
        super().__init__(seed, features)
        r = self.r
        self.devices = "devices" in features if features is not None else r.random() < 0.6
        if self.devices and features is None:
            # Less of all else, so that pods are placed.
            self.on = {f for f in sorted(self.on) if r.random() < 0.4} | {"devices", "pods"}
            self.on |= {f for f in FEATURES if r.random() < RATE.get(f, 0.35)}
        if self.devices:
            # The model does not know that a slice is a second observation of a mass loss.
            self.config["debounce"]["massShrinkPercent"] = self.hub.settings["massShrinkPercent"] = 0
            self.config["dra"] = self.hub.devices.settings
            self.config["dra"]["placeTimeout"] = r.choice([0, 10000, 30000, 300000])

    def kinds(self):
        out = super().kinds()
        if not self.devices:
            return out
        out += ["device_pod"] * 8 + ["slice_change"] * 2
        for feature, kind, times in (("claims", "super_claim", 8), ("claims", "claim_gone", 2), ("rules", "rule", 1),
                                     ("foreign claims", "foreign", 2), ("templates", "template", 1),
                                     ("classes", "class_change", 1), ("named", "tenant_claim", 1)):
            out += [kind] * (times if feature in self.on else 0)
        return out

    # Super clusters

    def new_cluster(self, c):
        super().new_cluster(c)
        if not self.devices:
            return
        self.see(c, self.device_class(), "ADDED")
        for i in range(self.r.randint(1, 3)):
            self.publish(c, "n%d" % i)
        if "no super namespaces" not in self.on:
            for t in self.names:
                for s in self.spaces:
                    self.see(c, o.super_namespace(self.name_in_pool(t), s), "ADDED")

    def name_in_pool(self, t):
        named = "entries" in self.on and t == self.names[-1]
        return t if named else v.tenant_name(self.vc(t, "Running"))

    def device_class(self):
        gives = d.EXTENDED if "extended" in self.on and self.r.random() < 0.7 else None
        return d.device_class("gpu", 'device.driver == "%s"' % d.DRIVER, extended=gives)

    def publish(self, c, node):
        r = self.r
        counters = r.randint(1, 3) if "counters" in self.on and r.random() < 0.4 else None
        shared = "shared" in self.on and r.random() < 0.3
        made = []
        for i in range(r.randint(0, 3)):
            tainted = "taints on devices" in self.on and r.random() < 0.2
            taint = r.choice(["NoSchedule", "NoExecute"]) if tainted else None
            made.append(d.device("gpu-%d" % i, taint=taint, cost=r.randint(1, 2) if counters else None,
                                 memory=r.choice([10, 40]) if shared else None))
        slices = 2 if counters else 1
        self.see(c, d.resource_slice(node, node, made, slices=slices))
        if counters:
            self.see(c, d.resource_slice(node + "-c", node, counters=counters, slices=slices))

    def objects(self, c, kind):
        member = self.hub.members.get(c)
        return member.devices.all(kind) if member else []

    def slice_change(self):
        c = self.r.choice(self.clusters)
        slices = [x for x in self.objects(c, "ResourceSlice") if x["spec"].get("devices") is not None]
        if slices and self.r.random() < 0.3:
            self.see(c, self.r.choice(slices), "DELETED")
        elif c in self.hub.members:
            self.publish(c, "n%d" % self.r.randint(0, 3))

    def class_change(self):
        c = self.r.choice(self.clusters)
        if c in self.hub.members:
            self.see(c, self.device_class(), "DELETED" if self.r.random() < 0.3 and self.objects(c, "DeviceClass")
                     else "MODIFIED")

    def rule(self):
        c = self.r.choice(self.clusters)
        if c in self.hub.members:
            rule = d.taint_rule("rule", pool="n0", **({"device": "gpu-0"} if self.r.random() < 0.5 else {}))
            self.see(c, rule, "DELETED" if self.objects(c, "DeviceTaintRule") else "ADDED")

    def node(self):
        super().node()
        if "plugin" in self.on and self.r.random() < 0.3:
            c, name = self.r.choice(self.clusters), "n0"
            if (c, name) in self.nodes:
                node = o.node(name)
                node["status"]["allocatable"][d.EXTENDED] = "2"
                if self.see(c, node):
                    self.nodes[c, name] = node

    # Claims

    def results(self, c):
        devices = [(x["spec"]["pool"]["name"], one["name"], one.get("allowMultipleAllocations"))
                   for x in self.objects(c, "ResourceSlice") for one in x["spec"].get("devices", [])]
        found = self.r.sample(devices, min(len(devices), self.r.choice([1, 1, 2])))
        return [(pool, name, 10 if shared else None) for pool, name, shared in found]

    def foreign(self):
        c = self.r.choice(self.clusters)
        results = self.results(c)
        if results:
            name = "foreign-%d" % self.r.randint(0, 2)
            self.see(c, d.claim(name, "uid-" + name, results))

    def super_claim(self):
        """A Pod of a super cluster for a tenant's, or its claim with the devices that were reserved, or with others."""
        r = self.r
        placed = [(tenant, key, p) for tenant, key, p in self.hub.devices.pods() if p.super in self.hub.ids()]
        held = [x for x in placed if x[2].reservation]
        if not placed:
            return
        tenant, (space, name), p = r.choice(held or placed)
        member = self.hub.ids()[p.super]
        spaces = self.hub.devices.spaces(member, tenant, space)
        if not spaces:
            return
        pod = o.pod(spaces[0], name, notes={pool_devices.UID: p.uid}, uid="%s-in-%s" % (p.uid, member.name))
        if not any(x["metadata"]["uid"] == pod["metadata"]["uid"] for x in member.devices.all("Pod")):
            self.see(member.name, pod, "ADDED")
            if r.random() < 0.5:
                return
        self.see(member.name, self.claim_of(member, spaces[0], p, pod))

    def claim_of(self, member, space, p, pod):
        r, entries = self.r, p.spec.get("resourceClaims", [])
        entry = r.choice(entries) if entries else None
        results = self.results(member.name)
        if p.reservation and p.reservation.pod.entries and ("other devices" not in self.on or r.random() < 0.6):
            name = r.choice(sorted(p.reservation.pod.entries))
            entry = next((e for e in entries if e["name"] == name), None)
            results = [(device[1], device[2], 10 if share is not None else None)
                       for (_, device), (share, _) in p.reservation.pod.entries[name].items()]
        named = (entry or {}).get("resourceClaimName")
        if named:
            made = d.claim(named, "%s-%s" % (named, member.name), results)
        else:
            name = "%s-%s" % (pod["metadata"]["name"], entry["name"] if entry else "extended")
            made = d.claim(name, "%s-%s" % (name, member.name), results, pod, entry and entry["name"],
                           extended=entry is None)
        made["metadata"]["namespace"] = space
        return made

    def claim_gone(self):
        c = self.r.choice(self.clusters)
        claims = self.objects(c, "ResourceClaim") + [x for x in self.objects(c, "Pod")]
        if claims:
            self.see(c, self.r.choice(claims), "DELETED")

    # Tenants

    def new_space(self, t, s):
        super().new_space(t, s)
        if not self.devices or self.tenant(t) is None and self.now:
            return
        for name in ["one", "two"] + sorted(self.on & {"alternatives", "all", "shared"}):
            if self.r.random() < 0.9:
                self.see(self.where(t), self.made(name, s), "ADDED")
        for name in ("x", "y"):
            if "named" in self.on and self.r.random() < 0.9:
                self.see(self.where(t), self.named(name, s), "ADDED")

    def made(self, name, space):
        made = d.template(name, {"one": d.request(), "two": d.request(count=2),
                                 "alternatives": d.either({"count": 2}, {}), "all": d.request(allocationMode="All"),
                                 "shared": d.request(capacity={"requests": {"memory": "10Gi"}})}[name])
        made["metadata"]["namespace"] = space
        return made

    @staticmethod
    def named(name, space):
        made = d.claim(name, "uid-" + name)
        made["metadata"]["namespace"] = space
        return made

    def change_object(self, where, made):
        t, s = self.r.choice(self.names), self.r.choice(self.spaces)
        tenant = self.tenant(t)
        if tenant is not None and s in tenant.namespaces:
            obj = made(s)
            there = self.key(obj) in where(tenant)
            self.see(self.where(t), obj, "DELETED" if there else "ADDED")

    def template(self):
        self.change_object(lambda tenant: tenant.templates, lambda s: self.made(self.r.choice(["one", "two"]), s))

    def tenant_claim(self):
        self.change_object(lambda tenant: tenant.claims, lambda s: self.named(self.r.choice("xy"), s))

    def device_pod(self):
        r, on = self.r, self.on
        t, s = r.choice(self.names), r.choice(self.spaces)
        if self.tenant(t) is None:
            return
        self.serial += 1
        requests = {"cpu": "250m", "memory": "256Mi"}
        if "extended" in on and r.random() < 0.4:
            requests[d.IMPLICIT if "implicit" in on and r.random() < 0.3 else d.EXTENDED] = str(r.randint(1, 2))
        obj = o.pod(s, "p%d" % self.serial, requests)
        entries = [{"name": x, "resourceClaimTemplateName": x} for x in self.templates()]
        if "named" in on and r.random() < 0.5:
            entries.append({"name": "shared", "resourceClaimName": r.choice("xxy")})
            if r.random() < 0.2:
                entries.append({"name": "other", "resourceClaimName": r.choice("xy")})
        if entries:
            obj["spec"]["resourceClaims"] = entries
        if r.random() < 0.2:
            obj["spec"]["tolerations"] = [{"key": r.choice(["ours", "x"]), "operator": "Exists"}]
        self.see(self.where(t), obj, "ADDED")

    def templates(self):
        names = ["one", "one", "two"] + sorted(self.on & {"alternatives", "all", "shared"})
        return sorted({self.r.choice(names) for _ in range(self.r.choice([0, 1, 1, 1, 2]))})


