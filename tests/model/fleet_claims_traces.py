"""Random traces with fleet claims, from a seed: those of the dispatcher, with drivers that allocate or refuse."""
import copy
import json

import dispatch_traces
import multikueue_objects as o
from dispatch_objects import NAMESPACE
from fleet_claims import ANNOTATION, GROUP, FleetHub, allocation, is_ours
from multikueue_world import deleting, meta

CLASSES, CLAIMS, TEMPLATES = ("licence", "qpu"), ("one", "two", "three"), ("made",)


class Maker(dispatch_traces.Maker):
    def __init__(self, seed, features=None):
        super().__init__(seed, features)
        self.on -= {"restart", "bad check", "odd pods", "leftovers"}
        self.settings["dra"].update(dispatch=True, fleetClaims=True)
        self.hub = FleetHub(self.settings)

    def start(self):
        super().start()
        for name in CLASSES:
            self.fleet_class(name)
        for name in CLAIMS:
            self.claim_line(name)
        for name in TEMPLATES:
            self.template_line(name)

    def kinds(self):
        return super().kinds() + ["driver"] * 8 + ["some_class", "some_claim", "some_template", "consumer"]

    # -- Workloads

    def make_workload(self, name):
        made = super().make_workload(name)
        meta(made)["uid"] = "uid-%d" % self.count
        for pods in made["spec"]["podSets"]:
            if self.r.random() < 0.6:
                text = json.dumps(self.entries()) if self.r.random() < 0.95 else "{"
                pods["template"]["metadata"] = {"annotations": {ANNOTATION: text}}
                if self.r.random() < 0.7:
                    pods["template"]["spec"].pop("resourceClaims", None)
        return made

    def entries(self):
        r = self.r
        named = [{"name": n[0], "resourceClaimName": n} for n in r.sample(CLAIMS, r.choice([0, 1, 1, 2]))]
        made = [{"name": n[0], "resourceClaimTemplateName": n} for n in TEMPLATES if r.random() < 0.3]
        return named + made

    # -- objects

    def fleet(self, kind, name, **fields):
        return dict({"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}}, **fields)

    def namespaced(self, kind, name, **fields):
        made = self.fleet(kind, name, **fields)
        meta(made)["namespace"] = NAMESPACE
        return made

    def some_clusters(self):
        return sorted(self.r.sample(self.clusters, self.r.randint(1, len(self.clusters))))

    def fleet_class(self, name):
        suitable = {"suitableClusters": self.some_clusters()} if self.r.random() < 0.4 else {}
        self.see("hub", self.fleet("FleetResourceClass", name, driverName=name + ".example.com", **suitable))

    def spec(self):
        spec = {"resourceClassName": self.r.choice(CLASSES)}
        return dict(spec, allocationMode="Immediate") if self.r.random() < 0.3 else spec

    def claim_line(self, name):
        self.see("hub", self.namespaced("FleetResourceClaim", name, spec=self.spec()))

    def template_line(self, name):
        self.see("hub", self.namespaced("FleetResourceClaimTemplate", name, spec={"spec": self.spec()}))

    def there(self, kind):
        return [copy.deepcopy(x) for x in self.hub.all(kind) if self.fresh("hub", kind, meta(x)["name"])]

    def gone_or(self, kind, names, make):
        name = self.r.choice(names)
        if not self.fresh("hub", kind, name):
            return
        found = [x for x in self.there(kind) if meta(x)["name"] == name]
        if found and self.r.random() < 0.4:
            self.see("hub", found[0], "DELETED")
        elif not found or kind != "FleetResourceClaim":
            make(name)

    def some_class(self):
        self.gone_or("FleetResourceClass", CLASSES, self.fleet_class)

    def some_template(self):
        self.gone_or("FleetResourceClaimTemplate", TEMPLATES, self.template_line)

    def some_claim(self):
        found = self.there("FleetResourceClaim")
        if found and self.r.random() < 0.3:
            claim = self.r.choice(found)
            meta(claim)["deletionTimestamp"] = o.at(self.now)
            self.see("hub", claim)
            return
        self.gone_or("FleetResourceClaim", CLAIMS, self.claim_line)

    def consumer(self):
        """Something that is no Workload uses a claim, or does not any more."""
        found = [c for c in self.there("FleetResourceClaim") if allocation(c)]
        if not found:
            return
        claim = self.r.choice(found)
        consumers = claim["status"].get("reservedFor", [])
        ours = [c for c in consumers if is_ours(c)]
        added = [] if len(ours) < len(consumers) else [{"resource": "machines", "name": "m", "uid": "m"}]
        claim["status"]["reservedFor"] = ours + added
        self.see("hub", claim)

    # -- what drivers do

    def served(self):
        """The claims of the drivers that are played here."""
        return self.there("FleetResourceClaim")

    def driver(self):
        r = self.r
        claims = [c for c in self.served() if not deleting(c)]
        asked = self.there("FleetScheduling")
        if asked and r.random() < 0.5:
            return self.answer(r.choice(asked))
        wanted = [c for c in claims if allocation(c) and c["status"].get("deallocationRequested")]
        waiting = [c for c in claims if not allocation(c)]
        if wanted and r.random() < 0.7 or not waiting:
            for claim in (wanted or [c for c in claims if allocation(c) and r.random() < 0.1])[:1]:
                del claim["status"]["allocation"]
                self.see("hub", claim)
            return None
        claim = r.choice(waiting)
        made = {"shareable": True} if r.random() < 0.4 else {"resourceHandle": "h"}
        if r.random() < 0.7:
            selected = [s["spec"].get("selectedCluster") for s in asked if s["spec"].get("selectedCluster")]
            made["availableOnClusters"] = selected[:1] if selected and r.random() < 0.7 else self.some_clusters()
        claim.setdefault("status", {})["allocation"] = made
        self.see("hub", claim)
        return None

    def answer(self, scheduling):
        potential = scheduling["spec"].get("potentialClusters", [])
        scheduling["status"] = {"resourceClaims": [
            {"name": entry, "unsuitableClusters": sorted(c for c in potential if self.r.random() < 0.3)}
            for entry in ("m", "o", "t") if self.r.random() < 0.8]}
        self.see("hub", scheduling)
