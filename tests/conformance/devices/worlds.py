"""Random worlds of devices, from a seed: one node, the slices of a few pools, classes, claims to allocate.

Worlds are small, for the model searches without any skill, and every object in them is one that an API server stores.
What happens in a world is chosen by features: each is on in about a third of the worlds, so that most rules meet each
other somewhere and a failing world has few of them.
"""
import selectors_text

FEATURES = ("admin", "all", "alternatives", "binding", "bad pools", "capacity", "class errors", "classes missing",
            "counters", "counts", "distinct", "empty claims", "generations", "many", "match", "multi claims",
            "no domain", "per device", "rules", "same pool", "selectors", "shared", "taints", "unpublished", "used")
# Features that meet in the same rules: half of the worlds are mostly about one of these families.
FAMILIES = (("admin", "counters", "counts", "multi claims", "same pool", "shared", "unpublished", "used"),
            ("admin", "all", "capacity", "multi claims", "shared", "used"),
            ("all", "bad pools", "binding", "class errors", "generations", "per device", "selectors"),
            ("all", "alternatives", "counts", "distinct", "match", "taints"),
            ("alternatives", "all", "many", "multi claims"))
DRIVERS = ("a.io", "b.io")
NODE = "n"
ZONE = "zone"
AMOUNTS = ("1", "2", "3", "4", "6", "8")


class Random:
    """SplitMix64: the same numbers on every machine and in every version of Python."""

    def __init__(self, seed):
        self.state = seed * 0x9E3779B97F4A7C15 % 2**64

    def number(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return z ^ z >> 31

    def below(self, n):
        return self.number() % n

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, percent):
        return self.below(100) < percent

    def pick(self, choices):
        return choices[self.below(len(choices))]

    def some(self, choices, percent):
        return [c for c in choices if self.chance(percent)]

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items


def obj(kind, name, api="resource.k8s.io/v1", namespace=None, **fields):
    metadata = {"name": name, "uid": "uid-" + name}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **fields}


def node(name, labels):
    return obj("Node", name, "v1", spec={}, status={"conditions": [{"type": "Ready", "status": "True"}]}) | {
        "metadata": {"name": name, "uid": "uid-" + name, "labels": labels}}


class Maker:
    """One world. `on`: its features."""

    def __init__(self, seed, features=None):
        self.r = Random(seed)
        self.on = set(features) if features is not None else self.features()
        self.devices = []  # (driver, pool, fields), also those that are not seen
        self.serial = 0

    def features(self):
        r = self.r
        family = r.pick(FAMILIES)
        if r.chance(50):
            return {f for f in FEATURES if r.chance(65 if f in family else 8) and (f != "many" or f in family)}
        return set(r.some([f for f in FEATURES if f != "many"], 28))

    def make(self):
        labels = {ZONE: "z1", "rack": self.r.pick(["1", "2", "3"])}
        slices = self.slices()
        classes = self.classes()
        claims = [self.claim("claim-%d" % i) for i in range(2 if "multi claims" in self.on else 1)]
        return {"node": node(NODE, labels), "slices": self.r.shuffled(slices), "classes": classes,
                "rules": self.rules(), "claims": claims, "allocated": self.allocated()}

    # -- slices

    def slices(self):
        r = self.r
        found = []
        for driver in DRIVERS[:r.between(1, 2)]:
            names = ["p"] if "same pool" in self.on else ["p-" + driver[0], "q-" + driver[0]]
            for name in names[:r.between(1, 2)]:
                found += self.pool(driver, name)
        return found

    def pool(self, driver, name):
        r = self.r
        generation = r.between(1, 3)
        slices = self.slices_of_pool(driver, name, generation)
        if "generations" in self.on and r.chance(60):
            other = generation + r.pick([-1, 1])
            for s in self.slices_of_pool(driver, name, other):
                # Some of them are there.
                if r.chance(60):
                    slices.append(s)
        return slices

    def slices_of_pool(self, driver, name, generation):
        r = self.r
        sets = self.counter_sets() if "counters" in self.on and r.chance(70) else []
        slices = []
        for _ in range(r.between(1, 2 if "many" in self.on else 3)):
            spec = {"driver": driver, "devices": []}
            spec.update(self.reach(own="per device" in self.on))
            for _ in range(r.between(30, 44) if "many" in self.on else r.between(1, 4) if r.chance(90) else 0):
                spec["devices"].append(self.device(driver, name, len(self.devices), spec, sets))
            slices.append(spec)
        if sets:
            spec = {"driver": driver, "sharedCounters": sets}
            spec.update(self.reach(own=False))
            slices.append(spec)
        count = len(slices)
        if "bad pools" in self.on and r.chance(50):
            count = self.break_pool(slices, count)
        made = []
        for spec in slices:
            spec["pool"] = {"name": name, "generation": generation, "resourceSliceCount": count}
            made.append(obj("ResourceSlice", self.slice_name(), spec=spec))
        if "bad pools" in self.on and r.chance(10):
            made[0]["spec"]["pool"]["resourceSliceCount"] = count + 1
        return made

    def slice_name(self):
        # The order of names is not the order in which they are made.
        self.serial += 1
        return "slice-%02d-%02d" % (self.r.below(50), self.serial)

    def break_pool(self, slices, count):
        """Breaks a pool in one way; returns how many slices it claims to have."""
        r = self.r
        kind = r.pick(["fewer", "more", "device", "set", "lacks set", "lacks counter"])
        devices = [d for s in slices for d in s.get("devices", [])]
        if kind == "fewer":
            return count + 1
        if kind == "more":
            return max(1, count - 1)
        if kind == "device" and len(slices) > 1 and slices[0].get("devices") and "devices" in slices[1]:
            # Twice in one slice is refused by the API server.
            own = ("nodeName", "nodeSelector", "allNodes")
            again = {k: x for k, x in slices[0]["devices"][0].items() if k not in own}
            again.update(self.own_reach(slices[1]))
            slices[1]["devices"] = [again] + slices[1]["devices"][:1]
            if len({d["name"] for d in slices[1]["devices"]}) < len(slices[1]["devices"]):
                slices[1]["devices"].pop()
        if kind == "set" and "sharedCounters" in slices[-1]:
            slices.append({**slices[-1]})
            return count + 1
        consumer = [d for d in devices if d.get("consumesCounters")]
        if kind == "lacks set" and consumer:
            consumer[0]["consumesCounters"][0]["counterSet"] = "gone"
        if kind == "lacks counter" and consumer:
            consumer[0]["consumesCounters"][0]["counters"]["gone"] = {"value": "1"}
        return count

    def reach(self, own, here=90):
        """How a slice says which nodes it is for. `own`: its devices may say it."""
        r = self.r
        kind = r.below(100)
        if own and kind < 50:
            return {"perDeviceNodeSelection": True}
        if kind < 70:
            return {"nodeName": NODE if r.chance(here) else "m"}
        if kind < 85:
            return {"nodeSelector": self.node_selector()}
        return {"allNodes": True}

    def own_reach(self, spec):
        """How a device of a slice says which nodes it is for: not at all, unless the slice leaves it to its devices."""
        return self.reach(own=False, here=60) if spec.get("perDeviceNodeSelection") else {}

    def node_selector(self):
        r = self.r
        requirement = r.pick([
            {"key": ZONE, "operator": "In", "values": ["z1", "z2"]},
            {"key": ZONE, "operator": "NotIn", "values": ["z1"]},
            {"key": "rack", "operator": "Gt", "values": ["1"]}, {"key": "rack", "operator": "Lt", "values": ["3"]},
            {"key": "gpu", "operator": "Exists"}, {"key": "gpu", "operator": "DoesNotExist"}])
        term = {"matchExpressions": [requirement]}
        if r.chance(25):
            term["matchFields"] = [{"key": "metadata.name", "operator": r.pick(["In", "NotIn"]), "values": [NODE]}]
        return {"nodeSelectorTerms": [term]}

    def counter_sets(self):
        r = self.r

        def counters():
            return {name: {"value": r.pick(["2", "4", "6", "8"])} for name in ("mem", "slots")}
        return [{"name": "set-%d" % i, "counters": counters()} for i in range(r.between(1, 2))]

    # -- devices

    def device(self, driver, pool, index, spec, sets):
        r = self.r
        fields = {"name": "d%d" % index, "attributes": self.attributes(driver)}
        fields.update(self.own_reach(spec))
        if "capacity" in self.on or "shared" in self.on and r.chance(80):
            fields["capacity"] = {name: {"value": r.pick(AMOUNTS) + "Gi"} for name in r.some(["mem", "a.io/disk"], 85)
                                  if r.chance(90)}
        if "shared" in self.on and r.chance(50):
            fields["allowMultipleAllocations"] = True
            for capacity in fields.get("capacity", {}).values():
                if r.chance(60):
                    capacity["requestPolicy"] = self.policy(int(capacity["value"][:-2]))
        if "taints" in self.on and r.chance(25) and "many" not in self.on:
            fields["taints"] = [self.taint() for _ in range(r.between(1, 2))]
        if sets and r.chance(75):
            fields["consumesCounters"] = [
                {"counterSet": s["name"], "counters": {c: {"value": r.pick(["1", "2", "3", "4"])} for c in s["counters"]
                                                       if c == "mem" or r.chance(50)}}
                for s in sets if s["name"] == "set-0" or r.chance(50)]
        if "binding" in self.on and r.chance(20):
            fields.update(bindingConditions=["ready"], bindingFailureConditions=["failed"])
        self.devices.append((driver, pool, fields))
        return fields

    def attributes(self, driver):
        r = self.r
        found = {"model": {"string": r.pick(["x", "y"])}, "numa": {"int": r.below(2)}, "ok": {"bool": r.chance(60)},
                 "ver": {"version": r.pick(["1.0.0", "1.2.0", "2.0.0-rc.1", "1.2.0+b1"])}}
        found = {name: value for name, value in found.items() if r.chance(90)}
        if r.chance(40):
            found["x.io/numa"] = r.pick([{"int": 0}, {"int": 1}, {"string": "0"}])
        if "no domain" in self.on and "numa" in found and r.chance(30):
            found["%s/numa" % driver] = found.pop("numa")
        return found

    def policy(self, whole):
        """A requestPolicy of a capacity with so many Gi."""
        r = self.r
        kind = r.below(4)
        if kind == 0:
            return {"default": "%dGi" % r.between(1, whole)}
        if kind == 1:
            values = sorted({r.between(1, whole) for _ in range(3)})
            return {"default": "%dGi" % r.pick(values), "validValues": ["%dGi" % x for x in values]}
        least = r.between(1, whole)
        limits = {"min": "%dGi" % least}
        steps = 0
        if kind == 2 and least < whole:
            step = r.between(1, whole - least)
            steps = (whole - least) // step
            limits["step"] = "%dGi" % step
            if r.chance(50):
                limits["max"] = "%dGi" % (least + step * r.between(0, steps))
            return {"default": "%dGi" % least, "validRange": limits}
        if r.chance(50):
            limits["max"] = "%dGi" % r.between(least, whole)
        return {"default": "%dGi" % least, "validRange": limits}

    def taint(self):
        r = self.r
        found = {"key": r.pick(["broken", "hot"]), "effect": r.pick(["NoSchedule", "NoExecute", "None"])}
        if r.chance(40):
            found["value"] = r.pick(["yes", "no"])
        return found

    def rules(self):
        r = self.r
        if "rules" not in self.on:
            return []
        found = []
        for i in range(r.between(1, 2)):
            driver, pool, fields = r.pick(self.devices) if self.devices else ("a.io", "p", {"name": "d0"})
            selector = {name: value for name, value in
                        (("driver", driver), ("pool", pool), ("device", fields["name"])) if r.chance(60)}
            spec = {"taint": self.taint(), "deviceSelector": selector}
            if r.chance(10):
                del spec["deviceSelector"]
            found.append(obj("DeviceTaintRule", "rule-%d" % i, "resource.k8s.io/v1beta2", spec=spec))
        return found

    # -- classes and claims

    def classes(self):
        r = self.r
        found = [obj("DeviceClass", "any", spec={})]
        errors = "class errors" in self.on
        for name in ("one", "two"):
            expressions = [selectors_text.expression(r, errors and r.chance(40)) for _ in range(r.pick([1, 1, 1, 2]))]
            selectors = [{"cel": {"expression": e}} for e in expressions]
            found.append(obj("DeviceClass", name, spec={"selectors": selectors}))
        return found

    def claim(self, name):
        r = self.r
        if "empty claims" in self.on and r.chance(20):
            return obj("ResourceClaim", name, namespace="default", spec={})
        requests = [self.request("r%d" % i) for i in range(r.pick([1, 1, 2, 2, 3]))]
        devices = {"requests": requests}
        names = [request["name"] for request in requests]
        names += ["%s/%s" % (q["name"], a["name"]) for q in requests for a in q.get("firstAvailable", [])]
        constraints = []
        for feature, field in (("match", "matchAttribute"), ("distinct", "distinctAttribute")):
            if feature in self.on and r.chance(70):
                attribute = r.pick(["a.io/model", "a.io/numa", "a.io/numa", "x.io/numa", "a.io/ok", "a.io/ver"])
                constraints.append({field: attribute})
                if r.chance(50):
                    constraints[-1]["requests"] = r.some(names, 60) or names[:1]
        if constraints:
            devices["constraints"] = constraints
        return obj("ResourceClaim", name, namespace="default", spec={"devices": devices})

    def request(self, name):
        r = self.r
        if "alternatives" in self.on and r.chance(50):
            return {"name": name, "firstAvailable": [dict(self.ask(), name="s%d" % i) for i in range(r.between(1, 3))]}
        ask = self.ask()
        if "admin" in self.on and r.chance(40):
            ask["adminAccess"] = True
        return {"name": name, "exactly": ask}

    def ask(self):
        r = self.r
        class_name = r.pick(["any", "any", "any", "one", "two"])
        if "classes missing" in self.on and r.chance(4):
            class_name = "gone"
        ask = {"deviceClassName": class_name}
        if "selectors" in self.on and r.chance(50):
            ask["selectors"] = [{"cel": {"expression": selectors_text.expression(r, r.chance(20))}}]
        if "all" in self.on and r.chance(40):
            ask["allocationMode"] = "All"
        elif "many" in self.on:
            ask["count"] = r.pick([1, 2, 5, 12, 20, 32, 33])
        elif "counts" in self.on and r.chance(60):
            ask.update(allocationMode="ExactCount", count=r.between(1, 3))
        if ("taints" in self.on or "rules" in self.on) and r.chance(60):
            ask["tolerations"] = [self.toleration()]
        if ("capacity" in self.on or "shared" in self.on) and r.chance(50):
            names = r.some(["mem", "a.io/disk"], 50) + (["disk"] if r.chance(4) else [])
            ask["capacity"] = {"requests": {n: r.pick(["1", "1", "2", "3", "4"]) + r.pick(["Gi", "Gi", "Gi", "G"])
                                            for n in names}}
        return ask

    def toleration(self):
        r = self.r
        if r.chance(25):
            return {"operator": "Exists"} | ({"effect": "NoSchedule"} if r.chance(50) else {})
        found = {"key": r.pick(["broken", "hot"])}
        if r.chance(50):
            found["operator"] = "Exists"
        else:
            found.update({"operator": "Equal"} | ({"value": "yes"} if r.chance(60) else {}))
        if r.chance(40):
            found["effect"] = r.pick(["NoSchedule", "NoExecute"])
        return found

    # -- what is in use

    def allocated(self):
        r = self.r
        results = []
        if "used" in self.on:
            for driver, pool, fields in self.devices:
                if r.chance(5 if "many" in self.on else 35 if "counters" in self.on or "shared" in self.on else 20):
                    results += self.results(driver, pool, fields)
        if "unpublished" in self.on:
            for driver, pool, _ in self.devices[:1] if r.chance(60) else self.devices[-1:]:
                results.append({"request": "r", "driver": driver, "pool": pool, "device": "gone"})
        spec = {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "any", "count": 32}}]}}
        claims = []
        while results:
            size = r.between(1, 3)
            status = {"allocation": {"devices": {"results": results[:size]}}}
            claims.append(obj("ResourceClaim", "used-%d" % len(claims), namespace="default", spec=spec, status=status))
            results = results[size:]
        return claims

    def results(self, driver, pool, fields):
        r = self.r
        one = {"request": "r", "driver": driver, "pool": pool, "device": fields["name"]}
        if "admin" in self.on and r.chance(30):
            return [dict(one, adminAccess=True)]
        if not fields.get("allowMultipleAllocations") or r.chance(5):
            return [one]
        shares = []
        for _ in range(r.between(1, 2)):
            self.serial += 1
            share = dict(one, shareID="00000000-0000-4000-8000-%012d" % self.serial)
            consumed = {name: r.pick(["1", "2"]) + "Gi" for name in fields.get("capacity", {})}
            shares.append(dict(share, consumedCapacity=consumed) if consumed else share)
        return shares
