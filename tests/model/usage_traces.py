"""Random traces about use: queues of a hub and of a worker that change, Workloads, and silence."""
import random

import multikueue_objects

CLUSTERS = ["hub", "w1"]
RESOURCES = ["cpu", "example.com/gpu"]
KUEUE = "kueue.x-k8s.io/v1beta2"
BEGIN = 3_600_000 * 5 + 1_234_567  # not at the begin of an hour
STEP = 11_000  # more than usage.interval: nothing is held back


class Trace:
    """What seeds.compare counts."""

    def __init__(self):
        self.writes = []


class Maker:
    def __init__(self, seed, features=None):
        self.r = random.Random(seed)
        self.on = set(features) if features is not None else {
            each for each in ("worker", "silence", "effective", "again", "workloads") if self.r.random() < 0.6}
        self.hub = Trace()
        self.generation = {}

    def amount(self, most, resource):
        value = self.r.randint(0, most)
        return f"{value * 100}m" if resource == "cpu" and self.r.random() < 0.3 else str(value)

    def groups(self):
        return [{"coveredResources": RESOURCES, "flavors": [
            {"name": flavor, "resources": [{"name": name, "nominalQuota": self.amount(20, name)} for name in RESOURCES]}
            for flavor in ("f1", "f2")[:self.r.randint(1, 2)]]}]

    def uses(self):
        return [{"name": flavor, "resources": [{"name": name, "total": self.amount(24, name)} for name in RESOURCES]}
                for flavor in ("f1", "f2")[:self.r.randint(0, 2)]]

    def queue(self, cluster, name):
        spec = {"resourceGroups": self.groups()}
        if self.r.random() < 0.5:
            spec["cohortName"] = self.r.choice(("left", "right"))
        status = {"flavorsUsage": self.uses(), "flavorsReservation": self.uses()}
        if "effective" in self.on and self.r.random() < 0.3:
            status["effectiveQuotas"] = {"orchestratorRef": {"kind": "K", "name": "n"}, "resourceGroups": self.groups()}
        obj = multikueue_objects.obj(KUEUE, "ClusterQueue", name, spec=spec, status=status)
        obj["metadata"]["uid"] = f"{cluster}-{name}-{self.generation.get((cluster, name), 0)}"
        return obj

    def workload(self, namespace, name):
        state = self.r.choice(("waiting", "reserved", "admitted", "finished"))
        held = state != "waiting"
        conditions = [{"type": kind, "status": "True" if yes else "False", "reason": "R", "message": "",
                       "lastTransitionTime": "1970-01-01T00:00:00Z"}
                      for kind, yes in (("QuotaReserved", held), ("Admitted", state in ("admitted", "finished")),
                                        ("Finished", state == "finished")) if yes or kind == "QuotaReserved"]
        status = {"conditions": conditions}
        count = self.r.randint(1, 4)
        if held:
            status["admission"] = {"clusterQueue": "qa", "podSetAssignments": [
                {"name": "main", "count": count, "flavors": {name: "f1" for name in RESOURCES},
                 "resourceUsage": {"cpu": f"{count * self.r.randint(1, 900)}m",
                                   "example.com/gpu": str(count * self.r.randint(1, 4))}}]}
            if self.r.random() < 0.4:
                status["reclaimablePods"] = [{"name": "main", "count": self.r.randint(0, count)}]
        template = {"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}
        obj = multikueue_objects.obj(KUEUE, "Workload", name, namespace, {
            "queueName": "lq", "podSets": [{"name": "main", "count": count, "template": template}]}, status)
        obj["metadata"]["creationTimestamp"] = "1970-01-01T00:00:00Z"
        if name != "w0":
            obj["metadata"]["ownerReferences"] = [{"apiVersion": "batch/v1", "kind": "Job", "name": "j" + name,
                                                  "uid": "u", "controller": True}]
        return obj

    def make(self):
        lines, there, time = [], set(), BEGIN
        clusters = CLUSTERS if "worker" in self.on else CLUSTERS[:1]
        for _ in range(self.r.randint(5, 40)):
            time += STEP + self.r.choice((0, 1, 777, 60_000, 1_800_000))
            cluster = self.r.choice(clusters)
            if "silence" in self.on and self.r.random() < 0.25:
                kind = self.r.choice(("SOURCE_STALE", "SOURCE_LOST", "SOURCE_SYNCED", "SOURCE_SYNCED"))
                lines.append({"type": kind, "time": time, "cluster": cluster})
                continue
            if "workloads" in self.on and self.r.random() < 0.4:
                key = cluster, self.r.choice(("team-a", "team-b")), "w%d" % self.r.randrange(3)
                obj = self.workload(*key[1:])
            else:
                key = cluster, self.r.choice(("qa", "qb"))
                obj = self.queue(*key)
            kind = "MODIFIED" if key in there else "ADDED"
            if "again" in self.on and key in there and self.r.random() < 0.2:
                kind = "DELETED"
                there.discard(key)
                self.generation[key] = self.generation.get(key, 0) + 1
            else:
                there.add(key)
            lines.append({"type": kind, "time": time, "cluster": cluster, "object": obj})
        end = {"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": "end"}, "spec": {}}
        lines.append({"type": "ADDED", "time": time + STEP, "cluster": "hub", "object": end})
        self.hub.writes.extend(lines)
        return lines
