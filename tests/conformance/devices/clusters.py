"""Random clusters and gangs of pods, from a seed: what one node cannot show.

Nodes that a pod may use or not, pods that take templates, named claims and extended resources, several podSets.
"""
import worlds

# Beside those of single nodes; fewer of these are on at a time, for a gang is a longer search.
FEATURES = worlds.FEATURES + ("affinity", "extended", "missing", "named", "node taints", "pod sets", "reserved")
RESOURCE = "example.com/gpu"
IMPLICIT = "deviceclass.resource.kubernetes.io/"
TAINT = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
TOLERATION = {"key": "dedicated", "operator": "Exists"}


class Maker(worlds.Maker):
    def features(self):
        r = self.r
        return set(r.some([f for f in FEATURES if f not in ("many", "empty claims")], 18))

    def make(self):
        r = self.r
        self.names = ["a", "b", "c", "d"][:r.between(1, 4)]
        slices = self.slices()
        self.claims, self.templates = [], []
        claims = self.allocated()
        pod_sets = [self.pod_set(i) for i in range(r.between(1, 3) if "pod sets" in self.on else 1)]
        return {"nodes": r.shuffled([self.node(name) for name in self.names]), "slices": r.shuffled(slices),
                "classes": self.classes(), "rules": self.rules(), "templates": self.templates,
                "claims": claims + self.claims, "podSets": pod_sets}

    # -- nodes

    def node(self, name):
        r = self.r
        made = worlds.node(name, {worlds.ZONE: r.pick(["z1", "z2"]), "rack": r.pick(["1", "2", "3"]), "host": name})
        if "node taints" in self.on and r.chance(40):
            kind = r.below(3)
            if kind == 0:
                made["spec"]["taints"] = [TAINT]
            elif kind == 1:
                made["spec"]["unschedulable"] = True
            else:
                made["status"]["conditions"][0]["status"] = "False"
        if "extended" in self.on and r.chance(20):
            made["status"]["allocatable"] = {RESOURCE: "4"}
        return made

    def reach(self, own, here=90):
        r = self.r
        kind = r.below(100)
        if own and kind < 50:
            return {"perDeviceNodeSelection": True}
        if kind < 75:
            return {"nodeName": r.pick(self.names)}
        if kind < 88:
            return {"nodeSelector": self.node_selector()}
        return {"allNodes": True}

    def node_selector(self):
        selector = super().node_selector()
        for field in selector["nodeSelectorTerms"][0].get("matchFields", []):
            field["values"] = [self.r.pick(self.names)]
        return selector

    # -- classes

    def classes(self):
        r = self.r
        found = super().classes()
        if "extended" in self.on:
            for made in found:
                made["metadata"]["creationTimestamp"] = "2026-0%d-01T00:00:00Z" % r.between(1, 2)
                if r.chance(60):
                    made["spec"]["extendedResourceName"] = RESOURCE
        return found

    # -- pods

    def pod_set(self, index):
        r = self.r
        template = {"spec": {"containers": [{"name": "c", "resources": {}}], "resourceClaims": self.entries(index)}}
        spec = template["spec"]
        if "extended" in self.on and r.chance(60):
            name = r.pick([RESOURCE, RESOURCE, IMPLICIT + "any", IMPLICIT + "gone"])
            amount = {name: str(r.between(1, 2))}
            spec["containers"][0]["resources"] = {"requests": amount, "limits": amount}
        if r.chance(60 if "node taints" in self.on else 0):
            spec["tolerations"] = [TOLERATION]
        if "affinity" in self.on and r.chance(60):
            if r.chance(50):
                spec["nodeSelector"] = {worlds.ZONE: "z1"}
            else:
                spec["affinity"] = {"nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": self.node_selector()}}
        return {"name": "set-%d" % index, "count": r.pick([0, 1, 1, 2, 2, 3]), "template": template}

    def entries(self, index):
        r = self.r
        found = []
        for i in range(r.pick([0, 1, 1, 1, 2])):
            entry = {"name": "e%d" % i}
            name = "claim-%d-%d" % (index, i)
            if "named" in self.on and self.claims and r.chance(30):
                name = r.pick(self.claims)["metadata"]["name"]
            elif "named" in self.on and r.chance(50):
                self.claims.append(self.named_claim(name))
            else:
                made = self.claim(name)
                if not ("missing" in self.on and r.chance(15)):
                    self.templates.append(worlds.obj("ResourceClaimTemplate", name, namespace="default",
                                                     spec={"spec": made["spec"]}))
                found.append(dict(entry, resourceClaimTemplateName=name))
                continue
            if "missing" in self.on and r.chance(15):
                name = "gone"
            if name not in [e.get("resourceClaimName") for e in found]:
                found.append(dict(entry, resourceClaimName=name))
        return found

    def named_claim(self, name):
        """A claim that is there already, allocated or not."""
        r = self.r
        made = self.claim(name)
        if not self.devices or r.chance(50):
            return made
        driver, pool, fields = r.pick(self.devices)
        request = made["spec"].get("devices", {}).get("requests", [{"name": "r0"}])[0]["name"]
        allocation = {"devices": {"results": [
            {"request": request, "driver": driver, "pool": pool, "device": fields["name"]}]}}
        if r.chance(60):
            allocation["nodeSelector"] = self.node_selector()
        made["status"] = {"allocation": allocation}
        if "reserved" in self.on:
            made["status"]["reservedFor"] = [
                {"resource": "pods", "name": "p%d" % i, "uid": "u%d" % i} for i in range(r.pick([3, 255, 256]))]
        return made

