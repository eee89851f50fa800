"""Small random clusters and Workloads for a real scheduler, from a seed.

Each Workload has a template of its own and asks in another way. One whose selector is an error on some devices has one
Pod: whether a later Pod meets one depends on the Nodes of those before it. Of the others each Node holds a number of
Pods, whichever Nodes come first: so a gang fits if a scheduler places all of it.
"""

import random

from harness.hollow import DRIVER, device, request

HOT = {"key": "example.com/hot"}


def model(name):
    return [{"cel": {"expression": f'device.attributes["{DRIVER}"].model == "{name}"'}}]


def memory(least):
    return [{"cel": {"expression": f'device.capacity["{DRIVER}"].memory.compareTo(quantity("{least}")) >= 0'}}]


class Wish:
    """One Workload: `count` Pods whose claim has these requests."""

    def __init__(self, name, count, requests, constraints=(), node=None):
        self.name, self.count, self.requests, self.constraints = name, count, requests, constraints
        self.spec = {"nodeSelector": {"kubernetes.io/hostname": node}} if node else {}

    def __repr__(self):
        return f"{self.name}: {self.count} x {self.requests} {self.constraints} {self.spec}"


class World:
    NODES = ("a", "b")

    def __init__(self, seed, clusters):
        self.chance = random.Random(seed)
        # {cluster: {node: its devices}}
        self.pools = {cluster: {node: self.pool() for node in self.NODES} for cluster in clusters}
        # (cluster, node) of a pool of which a slice is missing
        self.incomplete = self.chance.random() < 0.3 and (self.chance.choice(list(clusters)),
                                                          self.chance.choice(self.NODES))
        ways = [self.any, self.of_a_model, self.large, self.alike, self.alternatives, self.two, self.tolerant, self.all,
                self.unguarded]
        self.chance.shuffle(ways)
        self.wishes = [self.wish(way.__name__.replace("_", "-"), *way()) for way in ways[:6]]

    def publish(self, name, cluster):
        cluster.nodes(*self.NODES)
        for node, devices in self.pools[name].items():
            cluster.slice(node, devices, slices=2 if self.incomplete == (name, node) else 1, nodeName=node)

    def pool(self):
        return [self.device(f"gpu-{number}") for number in range(self.chance.randint(3, 6))]

    def device(self, name):
        r = self.chance
        made = device(name, capacity={"memory": {"value": r.choice(["40Gi", "80Gi"])}}, attributes={
            "model": {"string": r.choice(["a100", "h100"])}, "numa": {"int": r.randint(0, 1)}})
        if r.random() < 0.85:
            made["attributes"]["memory"] = {"string": "hbm"}
        if r.random() < 0.2:
            made["taints"] = [{**HOT, "effect": r.choice(["NoSchedule", "NoExecute"])}]
        return made

    def wish(self, name, requests, constraints=(), gang=True):
        r = self.chance
        count = r.randint(1, 3) if gang else 1
        return Wish(name, count, requests, constraints, r.choice(self.NODES) if r.random() < 0.25 else None)

    # -- ways to ask: requests, constraints, whether several Pods may ask so ---------------------------------

    def any(self):
        return [request("r", count=self.chance.randint(1, 2))], ()

    def of_a_model(self):
        return [request("r", selectors=model(self.chance.choice(["a100", "h100"])))], ()

    def large(self):
        return [request("r", selectors=memory("60Gi"), count=self.chance.randint(1, 2))], ()

    def alike(self):
        attribute = self.chance.choice(["numa", "model"])
        return [request("r", count=2)], [{"requests": ["r"], "matchAttribute": f"{DRIVER}/{attribute}"}]

    def alternatives(self):
        best = {"name": "best", "deviceClassName": "gpu", "selectors": model("h100"), "count": 2}
        return [{"name": "r", "firstAvailable": [best, {"name": "any", "deviceClassName": "gpu"}]}], ()

    def all(self):
        return [request("r", selectors=model(self.chance.choice(["a100", "h100"])), allocationMode="All")], ()

    def unguarded(self):
        by_memory = [{"cel": {"expression": f'device.attributes["{DRIVER}"].memory == "hbm"'}}]
        return [request("r", selectors=by_memory, count=self.chance.randint(1, 2))], (), False

    def two(self):
        constraint = {"requests": ["first", "second"], "distinctAttribute": f"{DRIVER}/numa"}
        return [request("first", selectors=model("h100")), request("second", selectors=memory("60Gi"))], [
            constraint] if self.chance.random() < 0.5 else []

    def tolerant(self):
        return [request("r", count=self.chance.randint(1, 2), tolerations=[{**HOT, "operator": "Exists"}])], ()
