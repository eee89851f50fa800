"""Claims on devices, which Fairlead itself allocates (bookings): what the page says, on top of fleet_claims.py.

Readings, where the page can be understood in more than one way:
B1  What a claim books is released before reservations are repaired; Immediate claims book after that, before Workloads
    are judged: the oldest first (creationTimestamp, then namespace and name).
B2  A booking for a Workload (WaitForFirstConsumer) is made when the cluster is selected, in the Workload's turn.
B3  A booked device costs what its slice says now. For a Workload that names the claim it is free while no other
    Workload holds the claim.
B4  A claim whose parameters name no template of its namespace gets nothing.
B5  Several bookings of one Workload that wait for a cluster are made together or not at all.
B6  A nominated Workload gives no claim up for a cluster where a booking of its could not be made.
"""
import json

import devices
from fleet_claims import FleetDispatch, FleetHub, Waits, allocation, identity
from multikueue_world import deleting, meta

DRIVER = "fairlead.io/devices"
NAME = "claim"


class Booker:
    """A claim as the one pod that it is solved like."""

    def __init__(self, claim, template):
        self.claim, self.template = claim, dict(template, metadata={
            "name": NAME, "namespace": meta(claim)["namespace"]})
        self.object = {"metadata": {"namespace": meta(claim)["namespace"]}}

    @staticmethod
    def pod_sets():
        return [{"name": NAME, "count": 1, "template": {"spec": {"resourceClaims": [
            {"name": NAME, "resourceClaimTemplateName": NAME}]}}}]


class BookingDispatch(FleetDispatch):
    def __init__(self, settings, explain=False):
        super().__init__(settings, explain)
        self.booked = {}  # {claim: (cluster, [(device, share)])}
        self.claims = []

    # -- what is a booking

    def is_booking(self, claim):
        found = self.get("FleetResourceClass", "", claim["spec"]["resourceClassName"])
        return found is not None and found.get("driverName") == DRIVER

    def booker(self, claim):
        of_class = self.get("FleetResourceClass", "", claim["spec"]["resourceClassName"]) or {}
        named = claim["spec"].get("parametersRef") or of_class.get("parametersRef") or {}
        if (named.get("apiGroup"), named.get("kind")) != ("resource.k8s.io", "ResourceClaimTemplate"):
            return None
        template = self.get("ResourceClaimTemplate", meta(claim)["namespace"], named["name"])
        return Booker(claim, template) if template else None

    @staticmethod
    def read_back(claim):
        found = allocation(claim)
        if not found or claim["status"].get("driverName") != DRIVER or len(found.get("availableOnClusters", [])) != 1:
            return None
        ids = [text.split("/") for text in json.loads(found["resourceHandle"])]
        return found["availableOnClusters"][0], [((i[0], "/".join(i[1:-1]), i[-1]), None) for i in ids]

    def follow_claims(self, claims):
        super().follow_claims(claims)
        self.claims = claims
        self.booked = {uid: found for uid, found in self.booked.items() if uid in {identity(c) for c in claims}}
        for claim in claims:
            if not self.is_booking(claim) or self.ends(claim):
                self.booked.pop(identity(claim), None)
            elif identity(claim) not in self.booked and self.read_back(claim):
                self.booked[identity(claim)] = self.read_back(claim)

    def ends(self, claim):
        return bool(identity(claim) in self.released
                    or allocation(claim) and claim["status"].get("deallocationRequested"))

    # -- what is used

    def cluster(self, w, name, ignored=lambda claim, device: False):
        made = super().cluster(w, name, ignored)
        pools = self.members[name].pools()
        for uid, (cluster, taken) in self.booked.items():
            if cluster != name or self.is_own(w, uid):
                continue
            for device, share in taken:
                published = pools[device[:2]].device(device[2]) if device[:2] in pools else None
                made.use.add(device, share, published.cost if published else {})
        if isinstance(w, Booker):
            made.world["templates"] = [w.template]
        return made

    def is_own(self, w, uid):
        if isinstance(w, Booker):
            return uid == identity(w.claim)
        try:
            named = {(meta(w.object)["namespace"], need.claim) for need in self.needs(w)}
        except Waits:
            return False
        return uid in named and not any(self.others(c, w) for c in self.claims if identity(c) == uid)

    # -- booking

    def fits(self, claim, cluster):
        """What the claim would get in a cluster, as solve() says it; None if it gets nothing."""
        booker = self.booker(claim)
        if booker is None:
            return None
        try:
            return self.solve(booker, cluster)
        except devices.Refused:
            return None

    def book(self, claim, cluster, pods):
        self.booked[identity(claim)] = (cluster, [
            (device, share) for pod in pods for taken in pod.entries.values()
            for (_, device), (share, _) in taken.items()])

    def before_pass(self):
        waiting = [c for c in self.claims if self.is_booking(c) and c["spec"].get("allocationMode") == "Immediate"
                   and not allocation(c) and identity(c) not in self.booked and not deleting(c)]
        for claim in sorted(waiting, key=lambda c: (meta(c).get("creationTimestamp", ""), identity(c))):
            found = []
            for name, member in sorted(self.members.items()):
                if member.watched and member.out_of_reach is None and self.suits(claim, name):
                    solution = self.fits(claim, name)
                    if solution:
                        cost, pods, free = solution
                        found.append((cost, self.preference(free), name, pods))
            if found:
                _, _, name, pods = min(found, key=lambda f: f[:3])
                self.book(claim, name, pods)

    def ask(self, w, pending, clusters, found):
        said = {e["name"]: e.get("unsuitableClusters", [])
                for e in (self.scheduling(w) or {}).get("status", {}).get("resourceClaims", [])}
        ours = {need.entry for need in pending if self.is_booking(self.claim(w, need))}

        def is_good(cluster):
            """Bookings are tried together, in the order of the entries (B5)."""
            before = dict(self.booked)
            try:
                for need in pending:
                    if need.entry not in ours:
                        if cluster in said.get(need.entry, []):
                            return False
                    elif not self.is_booked_at(self.claim(w, need), cluster):
                        return False
                return True
            finally:
                self.booked = before

        potential = clusters[:128]
        may_choose = len(pending) == 1 or all(need.entry in ours or need.entry in said for need in pending)
        selected = self.selected(w)
        if selected not in potential or not is_good(selected):
            selected = next((c for c in potential if is_good(c)), "") if may_choose else ""
        w.selected = selected
        self.asked[self.key(w)] = (potential, selected)
        if selected:
            for need in pending:
                claim = self.claim(w, need)
                if need.entry in ours and identity(claim) not in self.booked:
                    solution = self.fits(claim, selected)
                    if solution:
                        self.book(claim, selected, solution[1])
        if may_choose and not selected:
            self.no_cluster_suits(w, found, is_good)
        raise Waits("WaitingForDrivers")

    def can_book_at(self, claims, cluster):
        """B6"""
        before = dict(self.booked)
        try:
            for claim in claims:
                booked = self.booked.get(identity(claim))
                there = booked[0] == cluster if booked else allocation(claim) and self.reaches(claim, cluster)
                if not self.is_booking(claim) or there:
                    continue
                solution = self.fits(claim, cluster)
                if solution is None:
                    return False
                self.book(claim, cluster, solution[1])
            return True
        finally:
            self.booked = before

    def is_booked_at(self, claim, cluster):
        """Whether it is booked there, or can be and now is: what one Workload has booked no other one moves."""
        if identity(claim) in self.booked:
            return self.booked[identity(claim)][0] == cluster
        solution = self.fits(claim, cluster)
        if solution:
            self.book(claim, cluster, solution[1])
        return solution is not None


class BookingHub(FleetHub):
    dispatch_of = BookingDispatch

    def status_write(self, claim):
        found = super().status_write(claim)
        if not self.dispatch.is_booking(claim) or allocation(claim) and claim["status"].get("driverName") != DRIVER:
            return found
        seen = claim.get("status", {})
        consumers = (found[0]["body"]["status"] if found else seen).get("reservedFor", [])
        status = {"reservedFor": consumers, "deallocationRequested": False, "allocation": None, "driverName": None}
        if self.dispatch.ends(claim):
            self.dispatch.booked.pop(identity(claim), None)
        else:
            status.update(allocation=allocation(claim), driverName=seen.get("driverName"))
        if identity(claim) in self.dispatch.booked:
            cluster, taken = self.dispatch.booked[identity(claim)]
            status["driverName"] = DRIVER
            status["allocation"] = {"availableOnClusters": [cluster], "shareable": False, "resourceHandle": json.dumps(
                ["/".join(device) for device, _ in taken], separators=(",", ":"))}
        if all(status[field] == seen.get(field, default) for field, default in (
                ("reservedFor", []), ("deallocationRequested", False), ("allocation", None), ("driverName", None))):
            return []
        return [self.write("apply-status", "FleetResourceClaim", meta(claim)["name"], {"status": status},
                           meta(claim)["namespace"])]

    def accept(self, writes):
        super().accept(writes)
        for w in writes:
            if w["kind"] == "FleetResourceClaim" and w["verb"] == "apply-status":
                status = self.objects[w["kind"], w["namespace"], w["name"]]["status"]
                for field in ("allocation", "driverName"):
                    if field in w["body"]["status"] and status.get(field) is None:
                        status.pop(field, None)
