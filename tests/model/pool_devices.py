"""Devices of tenants' pods: which super cluster has them free, and what is reserved there for a pod.

Every question is answered by a scan over the objects as they are. Readings, where the page can be understood in more
than one way:
P1  A claim is what an allocated claim of the super cluster is, in a namespace that was made for the tenant's and by
    the same name. The tenant's own status says nothing. A cluster that is gone pins no pod.
P2  A named claim takes the place of its reservation as soon as it is allocated there, for any Pod; another claim
    when a Pod owns or uses it that carries the tenant's Pod's uid. One that was there before the decision counts as
    well.
P3  A pod that waits to be placed anew keeps its reservation until it is placed, or until its superCluster is changed.
P4  A broken reservation goes on counting. Repairs are tried at every moment, the older decision first.
P5  Only the class of the cluster itself makes an extended resource devices there; an implicit name always is.
"""
import functools

import devices
import devices_search as s
import devices_values as v
import dispatch
import dispatch_members as m
import pool_values

UID = pool_values.KEY + "uid"


class SuperCluster(m.Member):
    """The objects of a super cluster that devices depend on."""

    def ignores(self, obj):
        return obj["kind"] == "Pod" and UID not in m.annotations(obj)

    def made_for(self, uid):
        """Identities of the allocated claims that Pods own or use which were made for the tenant's Pod."""
        pods = {pod["metadata"].get("uid") for pod in self.all("Pod") if m.annotations(pod)[UID] == uid}
        found = set()
        for claim in filter(m.allocated, self.all("ResourceClaim")):
            users = {o["uid"] for o in claim["metadata"].get("ownerReferences", []) if o["kind"] == "Pod"}
            users |= {r["uid"] for r in claim["status"].get("reservedFor", []) if r["resource"] == "pods"}
            if users & pods:
                found.add(m.identity(claim))
        return found


class Reservation:
    def __init__(self, i, member, pod, now):
        self.id, self.member, self.pod, self.since, self.broken = i, member, pod, now, None


class Devices:
    def __init__(self, hub, settings):
        self.hub, self.settings = hub, {"placeTimeout": 300000, "stepsMax": 100000, **settings}

    # -- the account of a cluster

    def pods(self):
        """(tenant, (namespace, name), Pod) of all."""
        return [(tenant, key, p) for _, tenant in sorted(self.hub.tenants.items())
                for key, p in sorted(tenant.pods.items())]

    def reserved(self, member):
        return [(tenant, key, p) for tenant, key, p in self.pods() if p.reservation and p.reservation.member is member]

    def spaces(self, member, tenant, space):
        return [name for name, x in member.supers.items() if x["of"] == (tenant.name, space)]

    def claims_there(self, member, tenant, space):
        """The allocated claims in the namespaces that were made for the tenant's."""
        spaces = self.spaces(member, tenant, space)
        return [c for c in member.devices.all("ResourceClaim")
                if c["metadata"]["namespace"] in spaces and m.allocated(c)]

    def allocated_there(self, member, tenant, space, name):
        return next((c for c in self.claims_there(member, tenant, space) if v.name_of(c) == name), None)

    def reserved_for(self, member, tenant, space, name, but):
        """What other pods have reserved there for a claim that they name; None: no pod has."""
        found = None
        for other, (where, _), p in self.reserved(member):
            if p is but or (other, where) != (tenant, space):
                continue
            for entry in p.spec.get("resourceClaims", []):
                if entry.get("resourceClaimName") == name and entry["name"] in p.reservation.pod.entries:
                    found = (found or []) + [device for _, device in p.reservation.pod.entries[entry["name"]]]
        return found

    def cluster(self, member, tenant, space, p, ignored=lambda claim, device: False):
        """The super cluster with the tenant's claims and templates, beside all that others use and have reserved."""
        use, pools = member.devices.use(ignored), member.devices.pools()
        for _, _, other in self.reserved(member):
            if other is not p:
                for entry in other.reservation.pod.entries.values():
                    for (_, device), (share, admin) in entry.items():
                        published = pools[device[:2]].device(device[2]) if device[:2] in pools else None
                        if not admin:
                            use.add(device, share, published.cost if published else {})
                use.add_of_plugins(other.reservation.pod.plugins)
        world = {field: member.devices.all(kind) for kind, field in m.KINDS.items()}
        world["templates"] = [x for (where, _), x in sorted(tenant.templates.items()) if where == space]
        world["claims"] = [self.claim(member, tenant, space, x, p, world["nodes"], pools)
                           for (where, _), x in sorted(tenant.claims.items()) if where == space]
        made = devices.Cluster(dict(world, namespace=space, flavors=[]), self.settings["stepsMax"])
        made.use = use
        return made

    def claim(self, member, tenant, space, obj, p, nodes, pools):
        """A tenant's current claim in a super cluster. One that is reserved is usable where its devices are."""
        there = self.allocated_there(member, tenant, space, v.name_of(obj))
        out = {**obj, "status": dict(there["status"]) if there else {}}
        taken = None if there else self.reserved_for(member, tenant, space, v.name_of(obj), p)
        if taken is not None:
            found = [pools[d[:2]].device(d[2]) if d[:2] in pools else None for d in taken]
            names = [v.name_of(n) for n in nodes if all(device and device.reaches(n) for device in found)]
            out["status"] = {"allocation": {"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": names or ["/"]}]}]}}}
        return out

    # -- a question

    def is_device(self, member, resource):
        return resource.startswith(devices.IMPLICIT) or resource in member.devices.given()

    def asks(self, member, p):
        named = [r for r in devices.resource_names(p.template()) if devices.requested(p.template(), r) > 0]
        return bool(p.spec.get("resourceClaims")) or any("/" in r and self.is_device(member, r) for r in named)

    def pins(self, tenant, space, p):
        """{id: the first entry of a claim that exists there}"""
        found = {}
        for i, member in self.hub.ids().items():
            for entry in p.spec.get("resourceClaims", []):
                name = entry.get("resourceClaimName")
                if name and self.hub.state(i) != "gone" and (
                        self.allocated_there(member, tenant, space, name)
                        or self.reserved_for(member, tenant, space, name, p) is not None):
                    found.setdefault(i, entry["name"])
        return found

    def answer(self, i, tenant, space, p):
        """(why the pod gets no devices there or None, sum of alternative indexes, the solution)"""
        member = self.hub.ids()[i]
        if not self.asks(member, p):
            return None, 0, None
        if member.devices.out_of_reach is not None:
            return "NotReachable", 0, None
        pins = self.pins(tenant, space, p)
        others = [entry for other, entry in sorted(pins.items()) if other != i]
        if others:
            return "%s %s" % ("ConflictingPins" if len(pins) > 1 else "Pinned", others[0]), 0, None
        try:
            placed = self.cluster(member, tenant, space, p).place([{"name": "pod", "template": p.template()}])
        except devices.Refused as refused:
            return (refused.reason + " " + refused.detail).strip(), 0, None
        chosen = {(t.claim, t.request.name): t.request.asks.index(t.ask) for t in placed[0][3]}
        return None, sum(chosen.values()), dispatch.Pod(*placed[0])

    def reserve(self, i, tenant, space, p, solution, now):
        p.reservation = None
        if solution is not None and (solution.entries or solution.plugins):
            p.reservation = Reservation(i, self.hub.ids()[i], solution, now)
            self.replace(tenant, space, p)

    # -- reservations in a moment

    def moment(self, now):
        for member in self.hub.members.values():
            member.devices.pin()
        for tenant, (space, _), p in self.pods():
            if p.reservation and p.over:
                p.reservation = None
            if p.reservation and 0 < self.settings["placeTimeout"] <= now - p.reservation.since:
                p.reservation = None
            self.replace(tenant, space, p)
        self.repair(now)

    def deadlines(self):
        timeout = self.settings["placeTimeout"]
        return {p.reservation.since + timeout for _, _, p in self.pods() if p.reservation and timeout}

    def replace(self, tenant, space, p):
        if p.reservation is None:
            return
        r, entries = p.reservation, {e["name"]: e for e in p.spec.get("resourceClaims", [])}
        own = r.member.devices.made_for(p.uid)
        for claim in self.claims_there(r.member, tenant, space):
            notes = m.annotations(claim)
            extended, entry = notes.get(m.EXTENDED_ANNOTATION) == "true", notes.get(m.ENTRY_ANNOTATION)
            if not extended and not entry:
                for name, written in entries.items():
                    if written.get("resourceClaimName") == v.name_of(claim):
                        r.pod.entries.pop(name, None)
            elif m.identity(claim) in own:
                r.pod.give_up(set(r.pod.entries) - set(entries) if extended else {entry} & set(entries))
        if not r.pod.entries and not r.pod.plugins:
            p.reservation = None

    def repair(self, now):
        held = [(p.reservation.since, tenant.name, *key, tenant, p) for tenant, key, p in self.pods() if p.reservation]
        for _, _, space, _, tenant, p in sorted(held, key=lambda x: x[:4]):
            if self.holds(tenant, space, p) or self.solve_again(tenant, space, p):
                p.reservation.broken = None
            elif p.reservation.broken is None:
                p.reservation.broken = now

    @staticmethod
    def left(cluster, p):
        return [w for w in cluster.pods([{"name": "pod", "template": p.template()}])[0][2]
                if w.named or w.entry not in p.reservation.pod.given_up]

    def holds(self, tenant, space, p):
        r = p.reservation
        mine = {device for entry in r.pod.entries.values() for _, device in entry}
        own = r.member.devices.made_for(p.uid)
        cluster = self.cluster(r.member, tenant, space, p, lambda claim, device: claim in own and device in mine)
        node = next((n for n in cluster.nodes if v.name_of(n) == r.pod.node), None)
        try:
            wishes = self.left(cluster, p)
        except devices.Refused:
            return False
        recorded = {(entry, *what): share for entry, taken in r.pod.entries.items()
                    for what, (share, _) in taken.items()}
        cluster.search = functools.partial(m.Again, recorded)
        if node is None:
            return False
        placements = cluster.placements(wishes, p.template(), node, cluster.use, {}, [float("inf")])
        claims, solution = next(placements, (None, devices.Solution()))
        return claims is not None and len(solution) == len(recorded) and solution.plugins == r.pod.plugins

    def solve_again(self, tenant, space, p):
        cluster = self.cluster(p.reservation.member, tenant, space, p)
        try:
            placed = cluster.gang([("pod", p.template(), self.left(cluster, p))], cluster.use, {},
                                  [self.settings["stepsMax"]])
        except (devices.Refused, s.Budget):
            return False
        if placed is None:
            return False
        given_up, p.reservation.pod = p.reservation.pod.given_up, dispatch.Pod(*placed[0])
        p.reservation.pod.given_up = given_up
        return True
