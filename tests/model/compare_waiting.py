#!/usr/bin/env python3
"""Asks `fairlead audit waiting` about random logs and compares each answer with the model's (waiting.py).

    compare_waiting.py --binary build/release/fairlead --seeds 0..60
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import seeds
from audit_events import milliseconds, read_log
from capacity import amount
from waiting import Record, amounts_in, intervals

GPU = "example.com/gpu"
REASONS = ["Pending", "WaitingForQuota", "WaitingForPreemptedWorkloads", "ExceedsMaxQuota", "Inadmissible", "OnHold",
           "PendingEvaluation", "WaitingForQuota", "WaitingForPreemptedWorkloads", "SomethingNew"]


class Maker:
    """Draws lines for `fairlead plan`."""

    def __init__(self, seed):
        self.r = random.Random("waiting %d" % seed)
        self.now, self.lines, self.jobs = 1000, [], {}

    def add(self, kind, metadata, cluster="hub", gone=False, **rest):
        thing = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": metadata, **rest}
        self.lines.append({"type": "DELETED" if gone else "MODIFIED", "time": self.now * 1000, "cluster": cluster,
                           "object": thing})

    def groups(self, flavors):
        def quota(name, most):
            out = {"name": name, "nominalQuota": str(self.r.randint(0, most))}
            for limit in ("borrowingLimit", "lendingLimit"):
                if self.r.random() < 0.25:
                    out[limit] = str(self.r.randint(0, int(out["nominalQuota"]) if limit == "lendingLimit" else most))
            return out
        return [{"coveredResources": ["cpu", GPU], "flavors": [
            {"name": f, "resources": [quota("cpu", 30), quota(GPU, 12)]} for f in flavors]}]

    def queue(self, cluster):
        name = self.r.choice(["qa", "qb", "qc"])
        spec = {"resourceGroups": self.groups(self.r.choice([["a"], ["a", "b"]]))}
        if self.r.random() < 0.7:
            spec["cohortName"] = self.r.choice(["x", "y"])
        reserved = [{"name": "a", "resources": [{"name": "cpu", "total": str(self.r.randint(0, 20))},
                                                {"name": GPU, "total": str(self.r.randint(0, 10))}]}]
        self.add("ClusterQueue", {"name": name}, cluster, self.r.random() < 0.05, spec=spec,
                 status={"flavorsReservation": reserved})

    def cohort(self, cluster):
        spec = {"parentName": self.r.choice(["", "", "x", "y", "z"])}
        if self.r.random() < 0.6:
            spec["resourceGroups"] = self.groups(["a"])
        self.add("Cohort", {"name": self.r.choice("xyz")}, cluster, self.r.random() < 0.2, spec=spec)

    def local(self, cluster):
        self.add("LocalQueue", {"namespace": "team", "name": self.r.choice(["main", "side"])}, cluster,
                 self.r.random() < 0.05, spec={"clusterQueue": self.r.choice(["qa", "qb", "qc"])})

    def conditions(self, born):
        r, out = self.r, []
        at = "1970-01-01T00:%02d:%02dZ" % divmod(r.randint(born, self.now), 60)

        def has(kind, status, reason):
            text = r.choice(["", "insufficient unused quota for cpu in flavor a, %dm more needed" % r.randint(1, 9000),
                             "pods: insufficient quota for %s in flavor b, previously considered podsets requests (1) "
                             "+ current podset request (8) > maximum capacity (4)" % GPU])
            out.append({"type": kind, "status": status, "reason": reason, "message": text, "lastTransitionTime": at})
        draw = r.random()
        if draw < 0.6:
            has("QuotaReserved", "False", r.choice(REASONS))
        elif draw < 0.9:
            has("QuotaReserved", "True", "QuotaReserved")
            state = r.choice(["True", "False", "False", "none"])
            if state != "none":
                has("Admitted", state, "Admitted" if state == "True" else
                    r.choice(["UnsatisfiedAdmissionChecks", "NoReservation", "NoReservationUnsatisfiedChecks",
                              "PendingDelayedTopologyRequests"]))
        if r.random() < 0.1:
            has("Requeued", r.choice(["True", "False"]), "PodsReadyTimeout")
        if r.random() < 0.1:
            has("BlockedOnPreemptionGates", r.choice(["True", "False"]), "PreemptionGated")
        if r.random() < 0.03:
            has("Finished", "True", "Succeeded")
        return out

    def workload(self, cluster):
        r, name = self.r, self.r.choice(["one", "two"])
        uid, born, labels = self.jobs.get((cluster, name), (None, None, None))
        if uid is None or r.random() < 0.05:
            uid, born = "%s-%s-%d" % (cluster, name, self.now), self.now - r.choice([0, 0, 0, 1, 40])
            labels = {"kueue.x-k8s.io/multikueue-origin": "hub"} if cluster != "hub" and r.random() < 0.9 else {}
            self.jobs[(cluster, name)] = uid, born, labels
        gone = r.random() < 0.06
        if gone:
            del self.jobs[(cluster, name)]
        check = {"name": "mk", "state": r.choice(["Pending", "Ready"]), "message": "",
                 "lastTransitionTime": "1970-01-01T00:00:00Z"}
        status = {"conditions": self.conditions(born), "admissionChecks": [check]}
        if cluster == "hub" and r.random() < 0.5:
            status["nominatedClusterNames"] = r.choice([["w1"], ["w1", "w2"], ["w2", "w9"]])
        pods = {"requests": {"cpu": "%dm" % r.choice([500, 2000, 7000]), GPU: str(r.choice([1, 3, 3, 9]))}}
        self.add("Workload", {"namespace": "team", "name": name, "uid": uid, "labels": labels,
                              "creationTimestamp": "1970-01-01T00:%02d:%02dZ" % divmod(born, 60)}, cluster, gone,
                 spec={"queueName": r.choice(["main", "main", "side", "none"]), "active": r.random() > 0.05,
                       "podSets": [{"name": "main", "count": 2, "template": {"spec": {"containers": [
                           {"name": "c", "resources": pods}]}}}]}, status=status)

    def make(self):
        steps = [(self.queue, 3), (self.cohort, 1), (self.local, 1), (self.workload, 7)]
        for _ in range(self.r.randint(20, 90)):
            self.now += self.r.choice([0, 0, 1, 5, 20, 60, 130]) if self.now < 3300 else 0
            cluster = self.r.choice(["hub", "hub", "hub", "w1", "w2"])
            if self.r.random() < 0.05:
                self.lines.append({"type": self.r.choice(["SOURCE_STALE", "SOURCE_LOST", "SOURCE_SYNCED"]),
                                   "time": self.now * 1000, "cluster": self.r.choice(["w1", "w2", "hub"])})
                continue
            self.r.choices([s for s, _ in steps], [n for _, n in steps])[0](cluster)
        return self.lines


def render(lines):
    def clock(ms):
        return "1970-01-01T00:%02d:%02dZ" % divmod(ms // 1000, 60)
    return "".join(json.dumps(dict(line, time=clock(line["time"]))) + "\n" for line in lines)


def reported(rows):
    out = []
    for row in rows:
        short = {source: sorted((s["flavor"], s["resource"], amount(s["resource"], s["amount"]))
                                for s in row["shortage"] if s["source"] == source) for source in ("quota", "message")}
        out.append({**{k: row[k] for k in ("class", "reason", "fit", "changes", "message", "checks")},
                    "from": milliseconds(row["from"]), "to": milliseconds(row["to"]), **short})
    return out


def expected(rows):
    return [dict(row, quota=sorted(row["quota"]), message=row["message"], said=sorted(amounts_in(row["message"])))
            for row in rows]


def same(mine, theirs):
    """The first field in which two lists of intervals differ; None: they are equal."""
    for i, (a, b) in enumerate(zip(mine, theirs)):
        for key in ("from", "to", "class", "reason", "fit", "changes", "checks", "quota"):
            if a[key] != b[key]:
                return i, key, a, b
        if a["message"] != b["words"] or a["said"] != b["said"]:
            return i, "message", a, b
    return None if len(mine) == len(theirs) else (len(mine), len(theirs))


def with_words(rows):
    out = reported(rows)
    for one, row in zip(out, rows):
        one["said"], one["words"] = one["message"], row["message"]
    return out


def differences(binary, lines):
    """(Workloads asked about, what is answered otherwise)"""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "log")
        subprocess.run([binary, "plan", "-", "--log", data, "--set", "claims.create=false"], input=render(lines),
                       text=True, capture_output=True, check=True, timeout=60)
        record, found = Record(read_log(binary, ["--data", data])), []

        def ask(*words):
            done = subprocess.run([binary, "audit", "waiting", *words, "--data", data, "-o", "json"], text=True,
                                  capture_output=True, timeout=60)
            return json.loads(done.stdout) if done.returncode == 0 else done.stderr
        for name in record.names:
            answer, waits = ask("/".join(name)), record.waits(name)
            seen = [m[("hub", name)] for m in record.samples if m[("hub", name)]["state"] != "absent"]
            if isinstance(answer, str):
                if seen:
                    found.append((name, answer))
                continue
            mine = [(a, b, end) for a, b, end, _ in waits]
            theirs = [(milliseconds(w["from"]), milliseconds(w["to"]), w["end"]) for w in answer["waits"]]
            if mine != theirs:
                found.append((name, "waits", mine, theirs))
            for (*_, pieces), wait in zip(waits, answer["waits"]):
                found += [(name, d) for d in [same(expected(intervals(pieces)), with_words(wait["intervals"]))] if d]
            workers = record.workers(name)
            if [w for w, _ in workers] != [w["cluster"] for w in answer["workers"]]:
                found.append((name, "workers", [w for w, _ in workers], [w["cluster"] for w in answer["workers"]]))
            for (worker, rows), given in zip(workers, answer["workers"]):
                found += [(name, worker, d) for d in [same(expected(rows), with_words(given["intervals"]))] if d]
        present = sorted((a - b, name) for name in record.names for a, b, end, _ in record.waits(name)
                         if end == "waiting")
        listed = [(row["namespace"], row["name"]) for row in ask()["workloads"]]
        if [name for _, name in present] != listed:
            found.append(("list", present, listed))
        return len(record.names), found


def main():
    options = seeds.arguments("0..60")
    low, _, high = options.seeds.partition("..")
    began, ran, asked, failures = time.monotonic(), 0, 0, 0
    for seed in range(int(low), int(high or low) + 1):
        if time.monotonic() - began > options.seconds or failures >= options.failures:
            break
        lines = Maker(seed).make()
        count, found = differences(options.binary, lines)
        ran, asked = ran + 1, asked + count
        if found:
            failures += 1
            small = seeds.shrink(lines, options.shrink_seconds,
                                 lambda some: some and differences(options.binary, some)[1], lambda line: False)
            path = os.path.join(options.keep, "waiting-seed-%d.jsonl" % seed)
            with open(path, "w") as file:
                file.write(render(small))
            print("seed %d: %s\n  %s" % (seed, path, "\n  ".join(map(str, differences(options.binary, small)[1]))))
    print("%d logs, %d Workloads, %d differ" % (ran, asked, failures))
    return 1 if failures or not ran or not asked else 0


if __name__ == "__main__":
    sys.exit(main())
