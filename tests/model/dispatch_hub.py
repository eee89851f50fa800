"""The hub of the dispatch model: the model of the MultiKueue path gives the list, dispatch.py the nominations."""
import copy

import dispatch
import multikueue
from multikueue_world import KUEUE, deleting, is_true, meta


class Hub(multikueue.Hub):
    """`settings`: those of `multikueue`, and those of `dra` under the key of that name."""

    def __init__(self, settings):
        super().__init__({key: value for key, value in settings.items() if key != "dra"})
        self.dispatch = dispatch.Dispatch(dict(settings["dra"], moveWindow=self.settings["moveWindow"]))
        self.fresh, self.verdicts = [], {}
        self.history = []  # (time, {(namespace, name): Verdict})

    def moment(self, lines, now):
        self.fresh = copy.deepcopy(lines)
        super().moment(lines, now)

    def deadline(self):
        own = self.dispatch.deadlines() if self.dispatch.listing else set()
        return min(own | {super().deadline()} - {None}, default=None)

    def listing(self):
        """The first of our checks; a trace has one."""
        checks = self.checks()
        if not checks:
            return dispatch.Listing(None, [], False)
        p = self.parameter(checks[0])
        workers = [dispatch.Worker(n, self.cluster_of[p, n], self.absent.start.get((p, n)))
                   for n in self.members(p)] if p else []
        return dispatch.Listing(meta(checks[0])["name"], workers, p is not None)

    # -- Workloads

    def workload_writes(self):
        self.verdicts = self.dispatch.moment(self.now, self.fresh, self.listing())
        self.history.append((self.now, self.verdicts))
        ours, out = {meta(c)["name"]: c for c in self.checks()}, []
        self.judged = {w: seen for w, seen in self.judged.items() if self.get("Workload", w[1], w[0])}
        for w in self.all("Workload"):
            states = [a for a in w.get("status", {}).get("admissionChecks", []) if a["name"] in ours]
            if not states or is_true(w, "Finished") or deleting(w):
                continue
            before = (tuple(w["status"].get("nominatedClusterNames", ())), reserved(w))
            verdict = self.verdicts[meta(w)["namespace"], meta(w)["name"]]
            if verdict.uses:
                after = before[0] if verdict.nomination is None else verdict.nomination
            else:
                after = self.nomination(w, before[0], ours[states[0]["name"]])
            if any(a.get("state") != "Ready" for a in states) or before != (after, verdict.condition):
                out.append(self.apply(w, states, after, verdict.condition))
        return out

    def apply(self, w, states, nomination, condition):
        status = {"admissionChecks": [{"name": a["name"], "state": "Ready"} for a in states]}
        if nomination:
            status["nominatedClusterNames"] = list(nomination)
        if condition:
            status["conditions"] = [{"type": dispatch.CONDITION, "status": condition[0], "reason": condition[1],
                                     "message": "", "lastTransitionTime": multikueue.at(self.now)}]
        key = {"namespace": meta(w)["namespace"], "name": meta(w)["name"]}
        return self.write("apply-status", "Workload", key["name"], {
            "apiVersion": KUEUE, "kind": "Workload", "metadata": key, "status": status}, key["namespace"])

    @staticmethod
    def accept_workload(status, applied):
        multikueue.Hub.accept_workload(status, applied)
        others = [c for c in status.get("conditions", []) if c["type"] != dispatch.CONDITION]
        status["conditions"] = others + applied.get("conditions", [])


def reserved(workload):
    """(status, reason) of our condition as an object shows it, or None."""
    return next(((c["status"], c["reason"]) for c in workload.get("status", {}).get("conditions", [])
                 if c["type"] == dispatch.CONDITION), None)
