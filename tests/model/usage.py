"""A second implementation of what `fairlead usage` adds up, from the page that defines it and not from the engine.

It cuts the span at every time at which anything changes, asks of each piece who had what in it, and adds up. That is
slow and has no state to get wrong.
"""
import collections

COLUMNS = ("granted", "used", "own", "borrowed", "idle", "reserved", "unknown")
OF_QUEUES = ("queue", "cohort", "flavor", "resource", "cluster")


def milli(resource, text):
    """Milli-units of a quantity that is written plainly or with m."""
    value = int(text[:-1]) if text.endswith("m") else int(text) * 1000
    return value if resource == "cpu" else -(-value // 1000) * 1000  # Kueue rounds up all but cpu


class World:
    """What is observed at one time."""

    def __init__(self):
        self.queues = {}     # (cluster, name) -> object
        self.workloads = {}  # (cluster, namespace, name) -> object
        self.silent = set()  # clusters

    def take(self, line):
        kind = line["type"]
        if kind.startswith("SOURCE_"):
            (self.silent.discard if kind == "SOURCE_SYNCED" else self.silent.add)(line["cluster"])
            return
        obj = line["object"]
        meta = obj["metadata"]
        if obj["kind"] == "ClusterQueue":
            table, key = self.queues, (line["cluster"], meta["name"])
        elif obj["kind"] == "Workload":
            table, key = self.workloads, (line["cluster"], meta["namespace"], meta["name"])
        else:
            return
        if kind == "DELETED":
            table.pop(key, None)
        else:
            table[key] = obj


def pairs_of(queue):
    """(flavor, resource) -> [nominal, used, reserved]."""
    pairs = collections.defaultdict(lambda: [0, 0, 0])
    status = queue.get("status", {})
    groups = status.get("effectiveQuotas", queue["spec"]).get("resourceGroups", [])
    for group in groups:
        for flavor in group["flavors"]:
            for quota in flavor["resources"]:
                pairs[flavor["name"], quota["name"]][0] += milli(quota["name"], quota["nominalQuota"])
    for place, field in ((1, "flavorsUsage"), (2, "flavorsReservation")):
        for flavor in status.get(field, []):
            for use in flavor["resources"]:
                pairs[flavor["name"], use["name"]][place] += milli(use["name"], use["total"])
    return pairs


def true(workload, condition):
    return any(each["type"] == condition and each["status"] == "True"
               for each in workload.get("status", {}).get("conditions", []))


def amounts_of(workload):
    """(flavor, resource) -> amount of what its quota is, less what its finished pods have given back."""
    status = workload.get("status", {})
    back = {each["name"]: each["count"] for each in status.get("reclaimablePods", [])}
    amounts = collections.Counter()
    for pods in status.get("admission", {}).get("podSetAssignments", []):
        left = max(pods["count"] - back.get(pods["name"], 0), 0)
        for resource, total in pods["resourceUsage"].items():
            amounts[pods["flavors"][resource], resource] += milli(resource, total) * left // pods["count"]
    return amounts


def entries_of(world, by):
    """((side, cluster, key, uid, flavor, resource), columns without unknown) of each pair that is there."""
    for (cluster, name), queue in world.queues.items() if by in OF_QUEUES else ():
        for (flavor, resource), (nominal, used, reserved) in pairs_of(queue).items():
            key = {"queue": name, "cohort": queue["spec"].get("cohortName", ""), "flavor": flavor,
                   "resource": resource, "cluster": cluster}[by]
            row = ("hub" if cluster == "hub" else "worker", cluster, key,
                   queue["metadata"]["uid"] if by == "queue" else "", "" if by == "resource" else flavor, resource)
            own = min(used, nominal)
            yield row, (nominal, used, own, used - own, nominal - own, max(reserved - used, 0))
    for (cluster, namespace, _), workload in world.workloads.items() if by not in OF_QUEUES else ():
        if true(workload, "Finished") or not (true(workload, "QuotaReserved") or true(workload, "Admitted")):
            continue
        owner = next((each for each in workload["metadata"].get("ownerReferences", []) if each.get("controller")), None)
        key = namespace if by == "namespace" else f"{namespace}/{owner['kind']}/{owner['name']}" if owner else ""
        for (flavor, resource), amount in amounts_of(workload).items():
            row = ("hub" if cluster == "hub" else "worker", cluster, key, "", flavor, resource)
            admitted = true(workload, "Admitted")
            yield row, (None, amount if admitted else 0, None, None, None, 0 if admitted else amount)


def report(lines, by, cuts):
    """{(from, to, *row): {column: integral in milli-units x milliseconds; unknown in milliseconds}}."""
    times = sorted({line["time"] for line in lines} | set(cuts))
    rows, world, at = {}, World(), 0
    for begin, end in zip(times, times[1:]):
        while at < len(lines) and lines[at]["time"] <= begin:
            world.take(lines[at])
            at += 1
        if begin < cuts[0] or begin >= cuts[-1]:
            continue
        period = max(cut for cut in cuts if cut <= begin), min(cut for cut in cuts if cut > begin)
        seen = set()
        for row, columns in entries_of(world, by):
            none = {name: None if value is None else 0 for name, value in zip(COLUMNS, (*columns, 0))}
            sums = rows.setdefault((*period, *row), none)
            if row[1] in world.silent:
                if row not in seen:
                    sums["unknown"] += end - begin
                seen.add(row)
                continue
            for name, value in zip(COLUMNS, columns):
                sums[name] = None if value is None else sums[name] + value * (end - begin)
    return rows
