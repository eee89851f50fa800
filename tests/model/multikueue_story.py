"""Writes the lines of a case for the MultiKueue model, and reads what the model writes. Times are seconds.

Unless a case says otherwise: settle 2, moveWindow 10, drainTimeout 60, emptyGrace 30, credentialGrace 20.
"""
import multikueue_objects as o
from multikueue import Hub

SHORT = {"settle": 2000, "moveWindow": 10000, "drainTimeout": 60000, "emptyGrace": 30000, "credentialGrace": 20000}
ADDON = [("usage", "gpuClusterAvailable", 1)]


class Story:
    """Lines one after another; `at` sets the time of those that follow."""

    def __init__(self, clusters="abcdef", places="p", addons=(), checks=True, **settings):
        self.lines, self.time, self.settings, self.addons = [], 0, dict(SHORT, **settings), addons
        for place in places.split():
            self.see(o.placement(place, addons))
            if checks:
                self.see(o.check("k-" + place, place))
        self.see(*[o.secret(c, self.settings.get("profile", "placement")) for c in clusters])

    def at(self, seconds):
        self.time = round(seconds * 1000)
        return self

    def see(self, *objects, type_="MODIFIED"):
        self.lines += [o.line(self.time, x, type_) for x in objects]
        return self

    def gone(self, *objects):
        return self.see(*objects, type_="DELETED")

    def select(self, clusters, place="p", index=1):
        return self.see(o.decision(place, index, list(clusters)))

    def scores(self, **values):
        return self.see(*[o.score(c, "usage", {"gpuClusterAvailable": v}) for c, v in values.items()])

    def run(self, until=None):
        hub = Hub(self.settings)
        hub.run(self.lines, None if until is None else until * 1000)
        return hub.writes

    def lists(self, name="p", until=None):
        """[(seconds, short names)] of the config's writes; "-" is its deletion."""
        return [(w["time"] / 1000, " ".join(n[len(name) + 1:] if n.startswith(name + "-") else n
                                            for n in w["body"]["spec"]["clusters"]) if w["body"] else "-")
                for w in self.run(until) if w["kind"] == "MultiKueueConfig" and w["name"] == name]

    def conditions(self, check="k-p", type_="Active"):
        """[(seconds, reason or status)] where it changes."""
        out, last = [], None
        for w in self.run():
            if w["kind"] == "AdmissionCheck" and w["verb"] == "apply-status" and w["name"] == check:
                found = {c["type"]: c for c in w["body"]["status"]["conditions"]}.get(type_)
                said = None if found is None else "True" if found["status"] == "True" else found["reason"]
                if said != last:
                    out.append((w["time"] / 1000, said))
                last = said
        return out

    def clusters(self):
        """[(seconds, verb, name, where the credential is)] of MultiKueueCluster writes."""
        return [(w["time"] / 1000, w["verb"], w["name"], next(
            (v.get("location") or v["name"] for v in w["body"]["spec"]["clusterSource"].values()) if w["body"]
            else iter([""]))) for w in self.run() if w["kind"] == "MultiKueueCluster"]

    def workloads(self):
        return [(w["time"] / 1000, w["name"], [a["name"] for a in w["body"]["status"]["admissionChecks"]],
                 w["body"]["status"].get("nominatedClusterNames")) for w in self.run() if w["kind"] == "Workload"]


def running(name, cluster, **more):
    return o.workload(name, ["k-p"], state="Ready", cluster=cluster, **more)
