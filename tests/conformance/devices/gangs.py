"""Random clusters with gangs, from a seed: few nodes, devices that are much alike, pods that want each other's.

worlds.py is about one pod and one node, and about every rule. Here devices differ in two attributes at most, so that a
search finds many that it cannot tell apart, goes back often, and fits or fails by one device.
"""
import worlds

DRIVER = "d.io"
ATTRIBUTES = ("x", "y")


class GangMaker:
    """One cluster and the podSets of one Workload."""

    def __init__(self, seed):
        self.r = worlds.Random(seed)
        self.devices = 0
        self.slices = []
        self.counters = self.r.chance(40)
        self.shared = self.r.chance(20)

    def make(self):
        r = self.r
        nodes = [worlds.node(name, {worlds.ZONE: r.pick(["z1", "z2"])}) for name in "abcd"[:r.between(1, 4)]]
        for node in nodes:
            if r.chance(5):
                node["spec"]["unschedulable"] = True
            self.pool("p-" + node["metadata"]["name"], {"nodeName": node["metadata"]["name"]}, r.between(1, 4))
        if r.chance(35):
            zone = {"key": worlds.ZONE, "operator": "In", "values": ["z1"]}
            selector = {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [zone]}]}}
            self.pool("wide", r.pick([{"allNodes": True}, selector]), r.between(1, 3))
        templates = [self.template("t%d" % i) for i in range(r.between(1, 3))]
        named = worlds.obj("ResourceClaim", "named", namespace="default", spec=templates[0]["spec"]["spec"])
        pod_sets = [self.pod_set("ps%d" % i, templates) for i in range(r.between(1, 3))]
        return {"nodes": nodes, "slices": self.slices, "classes": self.classes(), "claims": [named] + self.used(),
                "templates": templates, "podSets": pod_sets}

    def pool(self, name, reach, count):
        r = self.r
        specs = [dict(reach, driver=DRIVER, devices=[self.device() for _ in range(count)])]
        if self.counters:
            sets = [{"name": "s", "counters": {"c": {"value": str(r.between(1, 5))}}}]
            specs.append(dict(reach, driver=DRIVER, sharedCounters=sets))
        for spec in specs:
            spec["pool"] = {"name": name, "generation": 1, "resourceSliceCount": len(specs)}
            self.slices.append(worlds.obj("ResourceSlice", "slice-%d" % len(self.slices), spec=spec))

    def device(self):
        r = self.r
        self.devices += 1
        fields = {"name": "d%d" % self.devices,
                  "attributes": {name: {"int": r.below(2)} for name in r.some(ATTRIBUTES, 95)}}
        if self.shared and r.chance(50):
            fields["allowMultipleAllocations"] = True
            if r.chance(60):
                policy = {"default": "1"}
                fields["capacity"] = {"mem": {"value": r.pick(["2", "3"]), "requestPolicy": policy}}
        if self.counters and r.chance(70):
            fields["consumesCounters"] = [{"counterSet": "s", "counters": {"c": {"value": r.pick(["1", "1", "2"])}}}]
        return fields

    def classes(self):
        """Some have a selector that is an error on a device without the attribute."""
        found = [worlds.obj("DeviceClass", "any", spec={})]
        for name, value in (("x", 0), ("x", 1), ("y", 1)):
            expression = 'device.attributes["%s"].%s == %d' % (DRIVER, name, value)
            if self.r.chance(70):
                expression = 'has(device.attributes["%s"].%s) && %s' % (DRIVER, name, expression)
            found.append(worlds.obj("DeviceClass", "%s%d" % (name, value),
                                    spec={"selectors": [{"cel": {"expression": expression}}]}))
        return found

    def template(self, name):
        r = self.r
        devices = {"requests": [self.request("r%d" % i) for i in range(r.pick([1, 1, 2]))]}
        if r.chance(35):
            constraint = r.pick(["matchAttribute", "distinctAttribute"])
            devices["constraints"] = [{constraint: "%s/%s" % (DRIVER, r.pick(ATTRIBUTES))}]
        return worlds.obj("ResourceClaimTemplate", name, namespace="default", spec={"spec": {"devices": devices}})

    def request(self, name):
        r = self.r
        if r.chance(20):
            return {"name": name, "firstAvailable": [dict(self.ask(), name="s%d" % i) for i in range(2)]}
        ask = self.ask()
        if r.chance(6):
            ask["adminAccess"] = True
        return {"name": name, "exactly": ask}

    def ask(self):
        r = self.r
        ask = {"deviceClassName": r.pick(["any", "any", "x1", "x0", "y1"])}
        if r.chance(35):
            ask["count"] = 2
        elif r.chance(6):
            ask["allocationMode"] = "All"
        return ask

    def used(self):
        found = []
        for published in self.slices:
            for device in published["spec"].get("devices", []):
                if not self.r.chance(8):
                    continue
                result = {"request": "r", "driver": DRIVER, "pool": published["spec"]["pool"]["name"],
                          "device": device["name"]}
                if device.get("allowMultipleAllocations"):
                    result["shareID"] = "00000000-0000-4000-8000-%012d" % len(found)
                    result["consumedCapacity"] = {"mem": "1"} if "capacity" in device else {}
                spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "any"}}]}}
                found.append(worlds.obj("ResourceClaim", "used-" + device["name"], namespace="default", spec=spec,
                                        status={"allocation": {"devices": {"results": [result]}}}))
        return found

    def pod_set(self, name, templates):
        r = self.r
        entries = [{"name": "e0", "resourceClaimTemplateName": r.pick(templates)["metadata"]["name"]}]
        if r.chance(12):
            entries.append({"name": "e1", "resourceClaimName": "named"})
        spec = {"containers": [{"name": "c"}], "resourceClaims": entries}
        if r.chance(8):
            spec["nodeSelector"] = {worlds.ZONE: "z1"}
        return {"name": name, "count": r.between(1, 4), "template": {"spec": spec}}
