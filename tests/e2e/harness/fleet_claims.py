"""Fleet claims on the hub: what users write, and what a driver does."""

import json

FLEET = "/apis/dra.fairlead.io/v1alpha1"
CLASSES = f"{FLEET}/fleetresourceclasses"
CLAIMS = f"{FLEET}/namespaces/team/fleetresourceclaims"
TEMPLATES = f"{FLEET}/namespaces/team/fleetresourceclaimtemplates"
SCHEDULINGS = f"{FLEET}/namespaces/team/fleetschedulings"
CRDS = tuple(f"{name}.dra.fairlead.io" for name in (
    "fleetresourceclasses", "fleetresourceclaims", "fleetresourceclaimtemplates", "fleetschedulings"))
DRIVER = "licences.example.com"


class FleetObjects:
    """For tests whose hub is `self.server`."""

    def made(self, path, kind, name, **fields):
        self.server.create(path, {"apiVersion": "dra.fairlead.io/v1alpha1", "kind": kind, "metadata": {"name": name},
                                  **fields})

    def licences(self):
        self.made(CLASSES, "FleetResourceClass", "licences", driverName=DRIVER)

    def claim_of_licences(self, name, **fields):
        self.made(CLAIMS, "FleetResourceClaim", name, spec={"resourceClassName": "licences", **fields})

    def template_of_licences(self, name, labels=None, **fields):
        self.made(TEMPLATES, "FleetResourceClaimTemplate", name, spec={
            "metadata": {"labels": labels or {}}, "spec": {"resourceClassName": "licences", **fields}})

    def driver_says(self, name, status):
        """As a driver writes: what it leaves out is gone."""
        self.server.apply(f"{CLAIMS}/{name}/status", {
            "apiVersion": "dra.fairlead.io/v1alpha1", "kind": "FleetResourceClaim",
            "metadata": {"name": name, "namespace": "team"}, "status": {"driverName": DRIVER, **status}},
            manager="driver")

    def allocate(self, name, *clusters):
        """Without a cluster it can be used everywhere."""
        bound = {"availableOnClusters": list(clusters)} if clusters else {}
        self.driver_says(name, {"allocation": {"resourceHandle": "7", **bound}})

    @staticmethod
    def entries(*entries):
        """The annotation of pods with such entries: (name, claim) or (name, None, template)."""
        return {"dra.fairlead.io/claims": json.dumps([
            {"name": e[0], **({"resourceClaimName": e[1]} if e[1] else {"resourceClaimTemplateName": e[2]})}
            for e in entries])}
