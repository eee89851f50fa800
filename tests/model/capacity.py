"""Quantities, which node counts for which flavor, and how a capacity is divided into grants."""
from collections import defaultdict

MEBI = 1 << 20
ALIASES = {"gpu": "nvidia.com/gpu"}


def canonical(resource):
    return ALIASES.get(resource, resource)


def quantum(resource):
    if resource == "cpu":
        return 1000
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        return MEBI
    return 1


def amount(resource, text):
    """The integer of a quantity as the traces spell them: whole numbers, m, k, Ki, Mi, Gi."""
    text = str(text)
    milli = 1000 if resource == "cpu" else 1
    for suffix, factor in (("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10), ("k", 1000)):
        if text.endswith(suffix):
            return int(text[:-len(suffix)]) * factor * milli
    if text.endswith("m"):
        assert resource == "cpu"
        return int(text[:-1])
    return int(text) * milli


def amounts(texts):
    return {canonical(r): amount(canonical(r), q) for r, q in (texts or {}).items()}


# ---------------------------------------------------------------------------------------------- nodes


def tolerates(toleration, taint):
    if toleration.get("effect") and toleration["effect"] != taint["effect"]:
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    if toleration["key"] != taint["key"]:
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")


def facts(line):
    """What of a Node's line can matter, comparable; None where there is no node."""
    if line is None or line["type"] == "DELETED":
        return None
    node = line["object"]
    spec, ready = node.get("spec", {}), [c["status"] for c in node["status"]["conditions"] if c["type"] == "Ready"]
    return (node["metadata"].get("labels", {}), spec.get("taints", []), bool(spec.get("unschedulable")), ready,
            amounts(node["status"]["allocatable"]))


def same_taint(a, b):
    return all(a.get(k, "") == b.get(k, "") for k in ("key", "value", "effect"))


def candidates(resource, uses, flavors):
    """The flavors that a node's `resource` is divided among. `uses` is {canonical resource: flavors} of all resource
    groups of ClusterQueues and rows of valid claims."""
    used = set(uses.get(canonical(resource), ())) & set(flavors)
    return tuple(sorted(used or flavors))


def winner_of(node, names, flavors):
    """The most specific of the flavors `names` that match the node; None where none does."""
    labels, taints = node["metadata"].get("labels", {}), node.get("spec", {}).get("taints", [])
    matching = []
    for name in names:
        spec = flavors[name]["spec"]
        wanted = spec.get("nodeLabels", {})
        if any(labels.get(k) != v for k, v in wanted.items()):
            continue
        own = [t for t in spec.get("nodeTaints", []) if t["effect"] != "PreferNoSchedule"]
        on_node = sum(any(same_taint(t, taint) for taint in taints) for t in own)
        matching.append((-len(wanted), -on_node, len(own) - on_node, name))
    return min(matching)[3] if matching else None


def flavor_of(node, flavors, uses, resource):
    """The name of the flavor that wins the node's `resource`."""
    return winner_of(node, candidates(resource, uses, flavors), flavors)


def cordoned(node):
    return bool(node.get("spec", {}).get("unschedulable"))


def eligible(node, flavor):
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
    if not ready or cordoned(node):
        return False
    for taint in node.get("spec", {}).get("taints", []):
        if taint["effect"] not in ("NoSchedule", "NoExecute"):
            continue
        known = any(same_taint(t, taint) for t in flavor["spec"].get("nodeTaints", []))
        if not known and not any(tolerates(t, taint) for t in flavor["spec"].get("tolerations", [])):
            return False
    return True


# --------------------------------------------------------------------------------------------- grants


class Row:
    def __init__(self, queue, flavor, assigned, minimum, priority):
        self.queue, self.flavor = queue, flavor
        self.assigned, self.minimum, self.priority = assigned, min(minimum, assigned), priority
        self.granted = 0


def share(rows, weights, limits, rest, unit):
    """Splits `rest` over rows in proportion; returns what each gets."""
    total = sum(weights)
    if total == 0 or rest <= 0:
        return [0] * len(rows)
    rest = rest // unit * unit if rest < total else rest
    parts = [w * rest // total // unit * unit for w in weights]
    left = (rest - sum(parts)) // unit
    order = sorted(range(len(rows)), key=lambda i: (-(weights[i] * rest - parts[i] * total), -rows[i].priority,
                                                   rows[i].queue, rows[i].flavor))
    for i in order:
        if left > 0 and parts[i] + unit <= limits[i]:
            parts[i] += unit
            left -= 1
    return parts


def divide(rows, bound, unit, policy):
    """Sets `granted` of every row, so that the sum is at most the bound."""
    if sum(r.assigned for r in rows) <= bound:
        for r in rows:
            r.granted = r.assigned
        return
    bound = bound // unit * unit
    minimums = [r.minimum for r in rows]
    if sum(minimums) > bound:
        for r, part in zip(rows, share(rows, minimums, minimums, bound, unit)):
            r.granted = part
        return
    rest = bound - sum(minimums)
    for r in rows:
        r.granted = r.minimum
    tiers = sorted({r.priority for r in rows}, reverse=True) if policy == "Priority" else [None]
    for tier in tiers:
        members = [r for r in rows if tier is None or r.priority == tier]
        weights = [r.assigned - r.minimum for r in members]
        if sum(weights) <= rest:
            parts = weights
        else:
            parts = share(members, weights, weights, rest, unit)
        for r, part in zip(members, parts):
            r.granted += part
        rest -= sum(parts)


def grants_of(spec, accepted, mapped):
    """{(queue, flavor, resource as canonical): amount} of one valid claim."""
    policy = spec.get("shrinkPolicy", "Proportional")
    mode = spec.get("flavorCapacity", "Auto")
    nominal = amounts(spec.get("nominalResources"))
    result = {}
    for resource in sorted({canonical(r) for a in spec["resourceAssignments"] for r in a["resources"]}):
        unit = quantum(resource)
        total = sum(v for (_, r), v in accepted.items() if r == resource)
        rows = []
        for a in spec["resourceAssignments"]:
            assigned = amounts(a["resources"])
            if resource not in assigned:
                continue
            value = assigned[resource]
            if spec.get("nominalPolicy") == "TrackCapacity" and total > nominal[resource] > 0:
                value = value * total // nominal[resource] // unit * unit
            rows.append(Row(a["clusterQueueName"], a["flavor"], value,
                            amounts(a.get("minResources")).get(resource, 0), a.get("priority", 0)))
        for flavor in sorted({r.flavor for r in rows}):
            mine = [r for r in rows if r.flavor == flavor]
            bounded = mode == "Strict" or (mode == "Auto" and (flavor, resource) in mapped)
            if bounded:
                divide(mine, accepted.get((flavor, resource), 0), unit, policy)
            else:
                for r in mine:
                    r.granted = r.assigned
        for r in rows:
            r.assigned, r.minimum = r.granted, min(r.minimum, r.granted)
        divide(rows, total, unit, policy)
        for r in rows:
            result[(r.queue, r.flavor, resource)] = r.granted
    return result


def valid(spec):
    nominal = amounts(spec.get("nominalResources"))
    total = defaultdict(int)
    seen = set()
    for a in spec["resourceAssignments"]:
        if (a["clusterQueueName"], a["flavor"]) in seen:
            return False
        seen.add((a["clusterQueueName"], a["flavor"]))
        for r, v in amounts(a["resources"]).items():
            if r not in nominal or v < 0:
                return False
            total[r] += v
    return all(total[r] <= nominal[r] for r in total)
