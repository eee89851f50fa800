"""Who waits, and why: what docs/waiting.md promises, written apart from the engine.

The engine keeps an index of what a change of quota touches. Here every Workload is judged again at every moment of the
log, from the facts that `fairlead log cat` prints; equal neighbours then become intervals.
"""
import re

from audit_events import milliseconds
from capacity import amount

HOLD = {"Deactivated", "OnHold", "Suspended", "AdmissionGated", "WaitingForPodsReady", "Waiting"}
CONFIG = {"Misconfigured", "NoMatchingFlavor", "Inadmissible"}
LATER = {"ExceedsMaxQuota": "quota", "WaitingForQuota": "quota", "Pending": "quota",
         "TopologyPlacementFailed": "topology", "WaitingForPreemptedWorkloads": "preemption",
         "DRAResourcesUnresolved": "device", "PendingEvaluation": "queue"}
UNKNOWN = {"class": "unknown", "reason": "", "fit": None, "message": "", "checks": [], "shortage": [], "workers": []}
SWINGS = ("WaitingForQuota", "WaitingForPreemptedWorkloads")


def condition(facts, kind):
    return next((c for c in facts["conditions"] if c["type"] == kind), {})


def state_of(facts):
    if facts["finished"]:
        return "finished"
    return "admitted" if condition(facts, "Admitted").get("status") == "True" else "waiting"


def reason_of(facts):
    """(class, reason, message)"""
    def said(one):
        return one["reason"], one.get("message", "")

    quota, admitted = condition(facts, "QuotaReserved"), condition(facts, "Admitted")
    if facts["quotaReserved"]:
        reason, message = said(admitted) if admitted.get("status") == "False" else ("", "")
        if reason in ("NoReservation", "NoReservationUnsatisfiedChecks"):
            reason, message = "", ""
        if facts["clusterName"] or facts["nominatedClusterNames"]:
            return "worker", reason, message
        return ("topology" if reason == "PendingDelayedTopologyRequests" else "check"), reason, message
    reason = quota.get("reason", "")
    if facts.get("deactivated"):
        return "hold", "Deactivated", quota.get("message", "") if reason in HOLD else ""
    if reason in HOLD:
        return "hold", *said(quota)
    if reason in CONFIG:
        return "config", *said(quota)
    for kind, status, of in (("Requeued", "False", "hold"), ("BlockedOnPreemptionGates", "True", "preemption")):
        if condition(facts, kind).get("status") == status:
            return of, *said(condition(facts, kind))
    return (LATER.get(reason, "unknown"), *said(quota)) if quota else ("queue", "", "")


# ------------------------------------------------------------------------------------------------- quota


class Quotas:
    """The queues and Cohorts of one API server at one moment, as Kueue's resource_node.go computes them."""

    def __init__(self, queues, cohorts):
        self.queues, self.cohorts = queues, cohorts

    def groups(self, facts):
        effective = facts.get("effectiveQuotas")
        return (effective or facts).get("resourceGroups") or []

    def quota(self, node, flavor, resource):
        """(nominal, borrowing limit or None, lending limit or None)"""
        kind, name = node
        facts = (self.queues if kind == "queue" else self.cohorts).get(name) or {}
        for group in self.groups(facts):
            for one in group["flavors"]:
                for r in one["resources"]:
                    if (one["name"], r["name"]) == (flavor, resource):
                        return tuple(None if r.get(k) is None else amount(resource, r[k])
                                     for k in ("nominalQuota", "borrowingLimit", "lendingLimit"))
        return 0, None, None

    def parent(self, node):
        kind, name = node
        above = self.queues[name]["cohort"] if kind == "queue" else self.cohorts.get(name, {}).get("parent", "")
        return ("cohort", above) if above else None

    def in_cycle(self, node):
        seen = set()
        while node:
            if node in seen:
                return True
            seen.add(node)
            node = self.parent(node)
        return False

    def children(self, node):
        kind, name = node
        if kind == "queue":
            return []
        return ([("queue", q) for q, f in self.queues.items() if f["cohort"] == name]
                + [("cohort", c) for c, f in self.cohorts.items() if f.get("parent") == name])

    def subtree(self, node, pair):
        lent = sum(self.subtree(c, pair) - self.local(c, pair) for c in self.children(node))
        return self.quota(node, *pair)[0] + lent

    def local(self, node, pair):
        lending = self.quota(node, *pair)[2]
        return 0 if lending is None else max(0, self.subtree(node, pair) - lending)

    def usage(self, node, pair):
        own = 0
        if node[0] == "queue":
            own = sum(u["total"] for u in self.queues[node[1]].get("reserved", [])
                      if (u["flavor"], u["resource"]) == pair)
        return own + sum(max(0, self.usage(c, pair) - self.local(c, pair)) for c in self.children(node))

    def available(self, node, pair):
        above = self.parent(node)
        if above is None:
            return self.subtree(node, pair) - self.usage(node, pair)
        rest, local, borrowing = self.available(above, pair), self.local(node, pair), self.quota(node, *pair)[1]
        if borrowing is not None:
            stored, used = self.subtree(node, pair) - local, max(0, self.usage(node, pair) - local)
            rest = min(rest, stored - used + borrowing)
        return max(0, local - self.usage(node, pair)) + rest

    def potential(self, node, pair):
        above = self.parent(node)
        if above is None:
            return self.subtree(node, pair)
        most, borrowing = self.local(node, pair) + self.potential(above, pair), self.quota(node, *pair)[1]
        return most if borrowing is None else min(most, self.subtree(node, pair) + borrowing)

    def judge(self, queue, requests):
        """(fit, {(flavor, resource): what is short})"""
        if queue not in self.queues or requests is None:
            return None, {}
        order, short, covered = ["no", "quota", "now"], {}, set()
        node = ("queue", queue)
        cyclic = self.in_cycle(node)
        worst = 2
        for group in self.groups(self.queues[queue]):
            asked = {r: n for r, n in requests.items() if n and r in group["coveredResources"]}
            covered |= set(asked)
            best, missing = 0, {}
            for flavor in group["flavors"]:
                level = 2
                for r, n in asked.items():
                    if r not in [x["name"] for x in flavor["resources"]]:
                        level = 0
                        continue
                    pair = (flavor["name"], r)
                    free = 0 if cyclic else max(0, self.available(node, pair))
                    most = 0 if cyclic else self.potential(node, pair)
                    level = min(level, 2 if n <= min(free, most) else 1 if n <= most else 0)
                    if n > free:
                        missing[pair] = n - free
                best = max(best, level)
            if asked and best < 2:
                short.update(missing)
            worst = min(worst, best if asked else 2)
        if any(n for r, n in requests.items() if r not in covered):
            worst = 0
        return order[worst], short


def amounts_in(message):
    """{(flavor, resource): amount} of what Kueue's message says is short."""
    found = set()
    for r, f, n in re.findall(r"insufficient unused quota for (\S+) in flavor ([^,]+), (\S+) more needed", message):
        found.add((f, r, amount(r, n)))
    for r, f, a, b, c in re.findall(
            r"insufficient quota for (\S+) in flavor ([^,]+), previously considered podsets requests \((\S+)\) \+ "
            r"current podset request \((\S+)\) > maximum capacity \((\S+)\)", message):
        found.add((f, r, amount(r, a) + amount(r, b) - amount(r, c)))
    return found


# -------------------------------------------------------------------------------------------- the moments


class Server:
    def __init__(self):
        self.queues, self.cohorts, self.local, self.workloads = {}, {}, {}, {}
        self.silent, self.heard = False, False

    def take(self, event):
        self.heard = True
        fact, kind = event["fact"], event.get("kind")
        if fact in ("SourceStale", "SourceLost", "SourceSynced"):
            self.silent = fact != "SourceSynced"
        table = {"ClusterQueue": self.queues, "Cohort": self.cohorts, "LocalQueue": self.local,
                 "Workload": self.workloads}.get(kind)
        if table is None:
            return
        name = event["name"] if kind in ("ClusterQueue", "Cohort") else (event["namespace"], event["name"])
        if fact == "ObjectObserved":
            table[name] = dict(event["facts"], uid=event["uid"])
        elif fact == "ObjectGone":
            table.pop(name, None)

    def queue_of(self, name):
        facts = self.workloads[name]
        return facts.get("clusterQueue") or self.local.get((name[0], facts["queue"]), {}).get("clusterQueue", "")

    def sample(self, name):
        """What is so of a Workload at this moment."""
        facts = self.workloads.get(name)
        if facts is None:
            return {"state": "absent"}
        out = dict(UNKNOWN, state=state_of(facts), uid=facts["uid"], created=milliseconds(facts["created"]),
                   since=milliseconds(facts.get("quotaSince")), copy=bool(facts.get("origin")),
                   queue=facts["queue"], clusterQueue=self.queue_of(name))
        out["class"], out["reason"], out["message"] = reason_of(facts)
        if facts["quotaReserved"]:
            out["checks"] = [c for c in facts["admissionChecks"] if c["state"] != "Ready"]
        if out["class"] == "worker":
            out["workers"] = [facts["clusterName"]] if facts["clusterName"] else facts["nominatedClusterNames"]
        if out["class"] == "quota":
            out["fit"], short = Quotas(self.queues, self.cohorts).judge(out["clusterQueue"], facts["requests"])
            out["shortage"] = sorted((f, r, n) for (f, r), n in short.items())
        return out


class Record:
    def __init__(self, events):
        self.times, self.samples, self.silences = [], [], []
        servers = {"hub": Server()}
        names = {(e["namespace"], e["name"]) for e in events if e.get("kind") == "Workload"}
        self.names = sorted(names)
        for i, event in enumerate(events):
            source, time = event["source"], milliseconds(event["logTime"])
            if source != "self":
                servers.setdefault(source, Server()).take(event)
            if i + 1 < len(events) and milliseconds(events[i + 1]["logTime"]) == time:
                continue
            self.times.append(time)
            self.samples.append({(s, n): server.sample(n) for s, server in servers.items() for n in names})
            self.silences.append({s: server.silent for s, server in servers.items()})
        self.end = self.times[-1]

    def silent(self, source, i):
        return self.silences[i].get(source, None)

    def timeline(self, source, name):
        """[(from, to, sample)] of everything, with what is said of the time before the first sight."""
        out, before = [], {"state": "absent"}
        for i, time in enumerate(self.times):
            until = self.times[i + 1] if i + 1 < len(self.times) else self.end
            sample = self.samples[i].get((source, name), {"state": "absent"})
            new = sample["state"] != "absent" and before.get("uid") != sample["uid"]
            begin = min(sample.get("created", time), time)
            if new and sample["state"] != "waiting":  # it was there before, and what it did is not known
                out = [(a, min(b, begin), s) for a, b, s in out if a < begin] + [(begin, time, sample)]
            elif new:
                since = begin if sample["since"] is None else min(max(sample["since"], begin), time)
                # The time before is told anew, also where something else was there.
                out = [(a, min(b, begin), s) for a, b, s in out if a < begin]
                out.append((begin, since, dict(sample, **UNKNOWN)))
                out.append((since, time, sample))
            out.append((time, until, sample))
            before = sample
        return self.with_silence(source, out)

    def with_silence(self, source, pieces):
        out = []
        for a, b, sample in pieces:
            marks = sorted({a, b, *[t for t in self.times if a < t < b]})
            for x, y in zip(marks, marks[1:]):
                i = max((i for i, t in enumerate(self.times) if t <= x), default=None)
                silent = i is not None and self.silent(source, i)
                out.append((x, y, dict(sample, **UNKNOWN) if silent else sample))
        return out

    def waits(self, name):
        """[(from, to, end, pieces)] of the last one of that name."""
        last = [s for _, _, s in self.timeline("hub", name) if s["state"] != "absent"]
        moments = [m[("hub", name)] for m in self.samples if m[("hub", name)]["state"] != "absent"]
        if not moments:
            return []
        uid, out, open_at = moments[-1]["uid"], [], None
        for a, b, sample in self.timeline("hub", name) if last else []:
            waiting = sample["state"] == "waiting" and sample["uid"] == uid
            if waiting and open_at is None:
                out.append([a, b, "waiting", []])
            elif not waiting and open_at is not None:
                out[-1][2] = "deleted" if sample["state"] == "absent" or sample["uid"] != uid else sample["state"]
            open_at = a if waiting else None
            if waiting:
                out[-1][1] = b
                out[-1][3].append((a, b, sample))
        final = self.samples[-1][("hub", name)]
        if out and out[-1][2] == "waiting" and final["state"] != "waiting":
            out[-1][2] = "deleted" if final["state"] == "absent" else final["state"]
        if final["state"] == "waiting" and open_at is None:
            out.append([self.end, self.end, "waiting", []])  # it began with the last event
        return [w for w in out if w[0] < w[1] or w[2] == "waiting"]

    def workers(self, name):
        """[(cluster, intervals)]"""
        named = {}
        for _, _, _, pieces in self.waits(name):
            for a, b, sample in pieces:
                for worker in sample["workers"]:
                    named.setdefault(worker, []).append((a, b))
        return [(worker, intervals([p for a, b in spans for p in self.of_worker(worker, name, a, b)]))
                for worker, spans in named.items()]

    def of_worker(self, worker, name, a, b):
        heard = [t for t, s in zip(self.times, self.silences) if worker in s]
        begin = heard[0] if heard else self.end + 1
        out = [(a, min(b, begin), dict(UNKNOWN))] if a < begin else []
        for x, y, sample in self.timeline(worker, name):
            x, y = max(x, a, begin), min(y, b)
            if x >= y:
                continue
            i = max(i for i, t in enumerate(self.times) if t <= x)
            if self.silent(worker, i):
                out.append((x, y, dict(UNKNOWN)))
            elif sample["state"] == "absent" or not sample["copy"]:
                out.append((x, y, dict(UNKNOWN, **{"class": "queue"})))
            elif sample["state"] == "waiting":
                out.append((x, y, sample))
        return out


def intervals(pieces):
    out = []
    for a, b, s in pieces:
        if a >= b:
            continue
        row = {"from": a, "to": b, "class": s["class"], "reason": s["reason"], "fit": s["fit"], "changes": 0,
               "message": s["message"], "checks": s["checks"], "quota": list(s["shortage"])}
        same = out and out[-1]["to"] == a and all(out[-1][k] == row[k] for k in ("class", "reason", "fit"))
        if same:
            out[-1].update(to=b, message=row["message"], checks=row["checks"], quota=row["quota"])
        else:
            out.append(row)
    return swings(out)


def swings(rows):
    """Short pieces of the two reasons in turn as one."""
    out, i = [], 0
    while i < len(rows):
        run, j = [], i
        while j < len(rows) and rows[j]["reason"] in SWINGS and (j == i or rows[j - 1]["to"] == rows[j]["from"]):
            k = j
            while k < len(rows) and rows[k]["reason"] == rows[j]["reason"] and \
                    (k == j or rows[k - 1]["to"] == rows[k]["from"]):
                k += 1
            if rows[k - 1]["to"] - rows[j]["from"] > 120_000:
                break
            run.append((j, k))
            j = k
        if len(run) >= 3:
            first, last = rows[i], rows[run[-1][1] - 1]
            out.append({"from": first["from"], "to": last["to"], "class": "preemption", "reason": SWINGS[1],
                        "fit": None, "changes": len(run) - 1, "message": last["message"], "checks": last["checks"],
                        "quota": []})
            i = run[-1][1]
            continue
        # A run that is too short: its first piece is told as it is.
        out.append(rows[i])
        i += 1
    return out
