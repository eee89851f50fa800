"""Random traces with claims on devices that Fairlead allocates, from a seed: those with fleet claims, and bookings."""
import fleet_claims_traces
from bookings import DRIVER, BookingHub
from multikueue_world import meta

BOOKED = "booked"
GROUP = {"apiGroup": "resource.k8s.io", "kind": "ResourceClaimTemplate"}


class Maker(fleet_claims_traces.Maker):
    def __init__(self, seed, features=None):
        super().__init__(seed, features)
        self.hub = BookingHub(self.settings)

    def start(self):
        self.booked_class()
        for name in self.templates:
            self.see("hub", self.new_template(name))
        super().start()

    def kinds(self):
        return super().kinds() + ["hub_template", "booked_class"]

    def booked_class(self):
        if not self.fresh("hub", "FleetResourceClass", BOOKED):
            return
        suitable = {"suitableClusters": self.some_clusters()} if self.r.random() < 0.3 else {}
        named = {"parametersRef": dict(GROUP, name=self.r.choice(self.templates))} if self.r.random() < 0.5 else {}
        self.see("hub", self.fleet("FleetResourceClass", BOOKED, driverName=DRIVER, **suitable, **named))

    def hub_template(self):
        name = self.r.choice(self.templates)
        if self.fresh("hub", "ResourceClaimTemplate", name):
            made = self.new_template(self.r.choice(self.templates))
            meta(made)["name"] = name
            self.see("hub", made, "DELETED" if self.r.random() < 0.3 else "MODIFIED")

    def spec(self):
        r = self.r
        if r.random() < 0.4:
            return super().spec()
        mode = {"allocationMode": "Immediate"} if r.random() < 0.5 else {}
        named = {"parametersRef": dict(GROUP, name=r.choice(self.templates))} if r.random() < 0.8 else {}
        return dict({"resourceClassName": BOOKED}, **mode, **named)

    def served(self):
        return [c for c in super().served() if c["spec"]["resourceClassName"] != BOOKED]

    def driver(self):
        """Or a booking is asked to end."""
        if self.r.random() >= 0.1:
            super().driver()
            return
        some = [c for c in self.there("FleetResourceClaim")
                if c["spec"]["resourceClassName"] == BOOKED and c.get("status", {}).get("allocation")]
        if some:
            claim = self.r.choice(some)
            claim["status"]["deallocationRequested"] = True
            self.see("hub", claim)
