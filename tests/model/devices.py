#!/usr/bin/env python3
"""Model of "does a pod fit?": the devices of one cluster, beside what is used, for one pod or for a gang of pods.

Written from the rules alone. `answer` is one pod's claims on one node, in the JSON that the comparisons of
tests/conformance/devices exchange; `Cluster` is a whole cluster with pods as people write them. As a program it reads
worlds, one JSON object a line, and prints an answer a line; a world with `podSets` is a cluster.
"""
import json
import sys

import capacity
import devices_pools as p
import devices_search as s
import devices_values as v

STEPS_MAX = 100000
RESERVED_MAX = 256
IMPLICIT = "deviceclass.resource.kubernetes.io/"


def classes_of(world):
    return {v.name_of(c): c for c in world.get("classes", [])}


def shown(claims, solution):
    """A solution as the oracle shows it."""
    found, shares = [], 0
    for t in solution:
        driver, pool, device = t.device.id
        one = {"claim": claims[t.claim].name, "request": claims[t.claim].request_name(t.request, t.ask),
               "driver": driver, "pool": pool, "device": device, "adminAccess": t.ask.admin}
        if t.share is not None:
            shares += 1
            one["shareID"] = str(shares)
        if t.share:
            one["consumedCapacity"] = {name: str(amount) for name, amount in sorted(t.share.items())}
        found.append(one)
    return found


def answer(world, search=s.Search, view=p.pools_of, steps=STEPS_MAX):
    """What becomes of a world's claims on its node. `search` and `view` can be other readings of the rules."""
    pools = view(world["slices"], world.get("rules", []))
    claims = [s.Claim(v.name_of(c), c["spec"]) for c in world["claims"]]
    use = p.in_use(world.get("allocated", []), pools)
    try:
        solution = next(search(pools, classes_of(world), use, world["node"], claims, [steps]).solutions(), None)
    except s.Unfit:
        solution = None
    except s.Budget:
        return {"error": "Budget"}
    if solution is None:
        return {"fits": False}
    return {"fits": True, "devices": shown(claims, solution)}


# ------------------------------------------------------------------------------------------ a cluster


class Refused(Exception):
    """The pods cannot get their devices: a reason and its detail."""

    def __init__(self, reason, detail):
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


def requested(template, name):
    """n of an extended resource: the most at one time. Sidecars run beside what is started after them."""
    def of(container):
        resources = container.get("resources", {})
        amounts = {**resources.get("limits", {}), **resources.get("requests", {})}
        return v.quantity(amounts.get(name, 0))
    spec = template["spec"]
    sidecars, most = 0, 0
    for container in spec.get("initContainers", []):
        most = max(most, sidecars + of(container))
        if container.get("restartPolicy") == "Always":
            sidecars += of(container)
    return max(most, sidecars + sum(map(of, spec.get("containers", []))))


def resource_names(template):
    spec = template["spec"]
    return {name for container in spec.get("containers", []) + spec.get("initContainers", [])
            for field in ("requests", "limits") for name in container.get("resources", {}).get(field, {})}


class Solution(list):
    """What a pod takes: devices, and of device plugins {(node, resource): amount}."""

    plugins = {}


class Wish:
    """One entry of a pod: a claim to make, a claim that may exist already, or an extended resource."""

    def __init__(self, entry, spec=None, named=None, resource=None):
        self.entry, self.spec, self.named, self.resource = entry, spec, named, resource


class Cluster:
    """The cluster of a world: `nodes slices classes rules claims templates flavors namespace`.

    `extendedResources`: names that a DeviceClass of another cluster in question gives.
    """

    search = s.Search  # what looks for the devices of one pod on one node

    def __init__(self, world, steps=STEPS_MAX, reason_steps=float("inf")):
        """`steps` bounds the search for a placement, `reason_steps` each search for the reason why there is none."""
        self.world, self.steps_max, self.reason_steps = world, steps, reason_steps
        self.namespace = world.get("namespace", "default")
        self.pools = p.pools_of(world.get("slices", []), world.get("rules", []))
        self.classes = classes_of(world)
        self.nodes = sorted(world["nodes"], key=v.name_of)
        self.use = p.in_use(world.get("claims", []), self.pools)

    def named(self, kind, name):
        return next((o for o in self.world.get(kind, []) if v.name_of(o) == name
                     and o["metadata"].get("namespace", "default") == self.namespace), None)

    # -- what a pod asks for

    def giver(self, resource):
        """The class that gives an extended resource: the newest, then the one with the smallest name."""
        if resource.startswith(IMPLICIT):
            return resource[len(IMPLICIT):] if resource[len(IMPLICIT):] in self.classes else None
        givers = [c for c in self.classes.values() if c["spec"].get("extendedResourceName") == resource]
        newest = max((c["metadata"].get("creationTimestamp", "") for c in givers), default=None)
        return min((v.name_of(c) for c in givers if c["metadata"].get("creationTimestamp", "") == newest), default=None)

    def wishes(self, template):
        found = []
        for entry in template["spec"].get("resourceClaims", []):
            if entry.get("resourceClaimTemplateName"):
                name = entry["resourceClaimTemplateName"]
                made = self.named("templates", name)
                if made is None:
                    raise Refused("TemplateNotFound", name)
                found.append(Wish(entry["name"], spec=made["spec"]["spec"]))
            else:
                claim = self.named("claims", entry["resourceClaimName"])
                if claim is None:
                    raise Refused("ClaimNotFound", entry["resourceClaimName"])
                found.append(Wish(entry["name"], spec=claim["spec"], named=claim))
        given = {c["spec"].get("extendedResourceName") for c in self.classes.values()}
        given |= set(self.world.get("extendedResources", []))
        for name in sorted(resource_names(template), key=str.encode):
            if (name in given or name.startswith(IMPLICIT)) and requested(template, name) > 0:
                found.append(Wish(name, resource=(name, int(requested(template, name)))))
        return found

    def claim_of(self, wish, node):
        """The claim to solve for a wish on a node, or None where nothing is asked there."""
        if wish.resource:
            name, count = wish.resource
            if v.quantity(node["status"].get("allocatable", {}).get(name, 0)) > 0:
                return None
            giver = self.giver(name)
            exactly = {"deviceClassName": giver or "", "count": count}
            return s.Claim(name, {"devices": {"requests": [{"name": name, "exactly": exactly}]}})
        return s.Claim(v.name_of(wish.named) if wish.named else wish.entry, wish.spec, wish.entry)

    # -- where it can run

    def may_use(self, template, node):
        spec = template["spec"]
        ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
        if not ready or node.get("spec", {}).get("unschedulable"):
            return False
        flavors = {v.name_of(f): f for f in self.world.get("flavors", [])}
        flavor = flavors.get(capacity.flavor_of(node, flavors, {}, "cpu"), {"spec": {}})
        tolerations = spec.get("tolerations", []) + flavor["spec"].get("tolerations", [])
        if not v.tolerated(node.get("spec", {}).get("taints", []), tolerations):
            return False
        if any(v.labels_of(node).get(key) != value for key, value in spec.get("nodeSelector", {}).items()):
            return False
        affinity = spec.get("affinity", {}).get("nodeAffinity", {})
        required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
        return required is None or v.node_matches(required, node)

    # -- one pod on one node

    def of_plugins(self, wishes, node):
        """What the device plugins of the node serve of the wishes: {(node, resource): amount}."""
        return {(v.name_of(node), wish.resource[0]): wish.resource[1] for wish in wishes
                if wish.resource and self.claim_of(wish, node) is None}

    def plugins_have(self, amounts, node, use):
        allocatable = node["status"].get("allocatable", {})
        return all(amount <= v.quantity(allocatable[key[1]]) - use.plugins.get(key, 0)
                   for key, amount in amounts.items())

    def claims_on(self, wishes, template, node, use, solved):
        """The claims to solve for the pod on the node; None if it cannot be there, whatever devices are free."""
        if not self.may_use(template, node):
            return None
        claims, solved_here = [], set()
        for wish in wishes:
            key = v.name_of(wish.named) if wish.named else None
            allocation = (wish.named or {}).get("status", {}).get("allocation")
            if allocation:
                selector = allocation.get("nodeSelector")
                if selector and not v.node_matches(selector, node):
                    return None
                if len(wish.named["status"].get("reservedFor", [])) >= RESERVED_MAX:
                    return None
            elif key in solved:
                if not all(device.reaches(node) for device in solved[key]):
                    return None
            elif key not in solved_here:
                claim = self.claim_of(wish, node)
                if claim is None:
                    continue
                if wish.resource and self.giver(wish.resource[0]) is None:
                    return None
                claims.append(claim)
                solved_here |= {key} - {None}
        return claims if self.plugins_have(self.of_plugins(wishes, node), node, use) else None

    def placements(self, wishes, template, node, use, solved, steps):
        """Each way to give the pod its devices on the node: (claims, solution)."""
        claims = self.claims_on(wishes, template, node, use, solved)
        if claims is None:
            return
        try:
            for found in self.search(self.pools, self.classes, use, node, claims, steps).solutions():
                solution = Solution(found)
                solution.plugins = self.of_plugins(wishes, node)
                yield claims, solution
        except s.Unfit:
            return

    def ends_in_error(self, wishes, template, use, solved, steps):
        """Whether the scheduler meets an error on a node that the pod may be on: then it places the pod nowhere."""
        for node in self.nodes:
            claims = self.claims_on(wishes, template, node, use, solved)
            if claims is None:
                continue
            try:
                next(self.search(self.pools, self.classes, use, node, claims, steps).solutions(), None)
            except s.Unfit:
                return True
        return False

    def after(self, use, claims, solution):
        """The use after a pod took a solution; admin access is not charged."""
        use = use.copy()
        for t in solution:
            if not t.ask.admin:
                use.add(t.device.id, t.share, t.device.cost)
        use.add_of_plugins(solution.plugins)
        return use

    # -- pods together

    def gang(self, pods, use, solved, steps):
        """The first way to place all pods: a list of (podSet, node, claims, solution), or None.

        A pod goes to other nodes for the sake of later ones, but on a node it takes its first solution: a scheduler
        takes one pod after the other and gives no device back.
        """
        if not pods:
            return []
        name, template, wishes = pods[0]
        if not wishes:
            rest = self.gang(pods[1:], use, solved, steps)
            return None if rest is None else [(name, None, [], Solution())] + rest
        if self.ends_in_error(wishes, template, use, solved, steps):
            return None
        for node in self.nodes:
            claims, solution = next(self.placements(wishes, template, node, use, solved, steps), (None, None))
            if claims is None:
                continue
            now = dict(solved)
            for c, claim in enumerate(claims):
                if any(w.named and v.name_of(w.named) == claim.name for w in wishes):
                    now[claim.name] = [t.device for t in solution if t.claim == c]
            rest = self.gang(pods[1:], self.after(use, claims, solution), now, steps)
            if rest is not None:
                return [(name, node, claims, solution)] + rest
        return None

    def pods(self, pod_sets):
        """All pods in order: (podSet, template, wishes). Refused where something is missing or not understood."""
        sets = [(ps["name"], ps["template"], ps.get("count", 1)) for ps in pod_sets if ps.get("count", 1) > 0]
        wishes = [self.wishes(template) for _, template, _ in sets]
        for found in wishes:
            self.check_classes(found)
        for found in wishes:
            self.check_understood(found)
        return [(name, template, found) for (name, template, count), found in zip(sets, wishes) for _ in range(count)]

    def open_claims(self, wishes):
        """The claims of the wishes that are not allocated."""
        return [s.Claim(w.entry, w.spec) for w in wishes
                if w.spec is not None and not (w.named or {}).get("status", {}).get("allocation")]

    def check_classes(self, wishes):
        for wish in wishes:
            for claim in self.open_claims([wish]):
                for ask in (ask for request in claim.requests for ask in request.asks):
                    if ask.class_name not in self.classes:
                        raise Refused("ClassNotFound", ask.class_name)
            if wish.resource and wish.resource[0].startswith(IMPLICIT) and self.giver(wish.resource[0]) is None:
                raise Refused("ClassNotFound", wish.resource[0][len(IMPLICIT):])

    def check_understood(self, wishes):
        for wish in wishes:
            if wish.resource and wish.resource[1] > s.RESULTS_MAX:
                raise Refused("Unsupported", wish.entry)
            for claim in self.open_claims([wish]):
                for request in claim.requests:
                    if not all(self.understood(ask) for ask in request.asks) or not request.asks:
                        raise Refused("Unsupported", "%s/%s" % (wish.entry, request.name))
                least = sum(min(a.count if a.mode == "ExactCount" else 1 for a in r.asks) for r in claim.requests)
                known = all(k.get("matchAttribute") or k.get("distinctAttribute") for k in claim.constraints)
                if least > s.RESULTS_MAX or not known:
                    raise Refused("Unsupported", wish.entry)

    def understood(self, ask):
        selectors = (self.classes[ask.class_name]["spec"].get("selectors") or []) + ask.selectors
        return ask.mode in ("ExactCount", "All") and all("cel" in x and v.supported(x["cel"]["expression"])
                                                         for x in selectors)

    # -- the answer, and why not

    def place(self, pod_sets):
        """The placements of all pods; Refused says why there are none."""
        try:
            pods = self.pods(pod_sets)
            placed = self.gang(pods, self.use, {}, [self.steps_max])
        except s.Budget:
            raise Refused("Budget", "") from None
        if placed is None:
            raise self.why_not(pods)
        return placed

    def fits(self, wishes, template):
        """Whether a pod with these wishes fits somewhere, alone."""
        steps = [self.reason_steps]
        if self.ends_in_error(wishes, template, self.use, {}, steps):
            return False
        return any(next(self.placements(wishes, template, node, self.use, {}, steps), None) is not None
                   for node in self.nodes)

    def why_not(self, pods):
        for _, template, wishes in pods:
            if wishes and not self.fits(wishes, template):
                return self.why_not_alone(template, wishes)
        sets = list(dict.fromkeys(name for name, _, _ in pods))
        for i, name in enumerate(sets):
            some = [pod for pod in pods if pod[0] in sets[:i + 1]]
            if self.gang(some, self.use, {}, [self.reason_steps]) is None:
                return Refused("GangTooBig", name)
        raise AssertionError("all podSets fit together")

    def why_not_alone(self, template, wishes):
        problems = []
        for node in self.nodes:
            if self.may_use(template, node):
                problems += self.problems(wishes, node)
        for kind in ("PoolUpdating", "SelectorError"):
            for found, detail in problems:
                if found == kind:
                    return Refused(kind, detail)
        for wish in wishes:
            for alone in self.single_requests(wish):
                if not self.fits([alone], template):
                    return Refused("NoDevices", "%s/%s" % (wish.entry, alone.request))
        for i, wish in enumerate(wishes):
            if not self.fits(wishes[:i + 1], template):
                return Refused("NoNode", wish.entry)
        raise AssertionError("the pod fits")

    def problems(self, wishes, node):
        """What ends the search for the pod on a node, if anything does."""
        claims = [self.claim_of(w, node) for w in wishes if not (w.named or {}).get("status", {}).get("allocation")]
        claims = [c for c in claims if c and all(a.class_name in self.classes for r in c.requests for a in r.asks)]
        try:
            next(s.Search(self.pools, self.classes, self.use, node, claims, [self.reason_steps]).solutions(), None)
        except s.Unfit as unfit:
            return [(unfit.kind, unfit.detail)]
        return []

    def single_requests(self, wish):
        """The wish with one of its requests alone, without constraints."""
        if wish.resource:
            wish.request = wish.entry
            yield wish
        elif not (wish.named or {}).get("status", {}).get("allocation"):
            for request in (wish.spec.get("devices") or {}).get("requests") or []:
                alone = Wish(wish.entry, {"devices": {"requests": [request]}})
                alone.request = request["name"]
                yield alone


def answer_cluster(world, steps=STEPS_MAX, reason_steps=float("inf")):
    """Where the pods of `podSets` go, or the reason why they cannot."""
    try:
        placed = Cluster(world, steps, reason_steps).place(world["podSets"])
    except s.Budget:
        return {"error": "Budget"}
    except Refused as refused:
        if refused.reason == "Budget":
            return {"error": "Budget"}
        return {"fits": False, "reason": refused.reason, "detail": refused.detail}
    return {"fits": True, "pods": [{"podSet": name, "node": v.name_of(node) if node else None,
                                    "devices": shown(claims, solution)} for name, node, claims, solution in placed]}


def main():
    for line in sys.stdin:
        world = json.loads(line)
        print(json.dumps(answer_cluster(world) if "podSets" in world else answer(world)), flush=True)


if __name__ == "__main__":
    main()
