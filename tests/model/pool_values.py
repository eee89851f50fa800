"""Values of the super cluster pool: annotations, quantities, quotas, the requests of a Pod, as pool.md reads them."""
import hashlib
import json
import math
import re
from fractions import Fraction

SLICE = "scheduler.virtualcluster.io/slice"
PLACEMENTS = "scheduler.virtualcluster.io/placements"
SUPER = "scheduler.virtualcluster.io/superCluster"
REASON = "fairlead.io/pool-reason"
POLICY = "fairlead.io/pool-policy"
LIMIT = "fairlead.io/pool-limit"
KEY = "tenancy.x-k8s.io/"  # of the annotations cluster, namespace and uid of a super cluster's Namespace
DIMENSIONS = ("cpu", "memory")
DEFAULT_SLICE = (2000, 4 << 30)
LONGEST = 64 * 1024
FACTORS = {"n": Fraction(1, 10 ** 9), "u": Fraction(1, 10 ** 6), "m": Fraction(1, 1000), "": 1, "k": 10 ** 3,
           "M": 10 ** 6, "G": 10 ** 9, "T": 10 ** 12, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40}
QUANTITY = re.compile(r"([+-]?)([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(n|u|m|k|M|G|T|Ki|Mi|Gi|Ti)?")
ID = re.compile(r"[A-Za-z0-9._-]{1,253}")


class Bad(ValueError):
    """A value that cannot be read."""


def amount(resource, text):
    """The integer of a quantity: cpu in milli, else units, rounded up."""
    match = QUANTITY.fullmatch(str(text))
    if not match:
        raise Bad(text)
    value = Fraction(match[2] if not match[2].endswith(".") else match[2] + "0") * FACTORS[match[3] or ""]
    value *= 1000 if resource == "cpu" else 1
    return math.ceil(-value if match[1] == "-" else value)


def quantity(resource, value):
    """The canonical text of an amount."""
    if resource == "cpu":
        return str(value // 1000) if value % 1000 == 0 else "%dm" % value
    if resource == "memory":
        for suffix, factor in (("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)):
            if value and value % factor == 0:
                return "%d%s" % (value // factor, suffix)
    return str(value)


def json_object(text):
    def pairs(items):
        if len({k for k, _ in items}) != len(items):
            raise Bad("a key twice")
        return dict(items)

    def refuse(constant):
        raise Bad(constant)
    if len(text.encode()) > LONGEST:
        raise Bad("too long")
    value = json.loads(text, object_pairs_hook=pairs, parse_constant=refuse)
    if not isinstance(value, dict):
        raise Bad("no object")
    return value


def placements_of(text, slices_max):
    """The map, {} where there is none; None where it cannot be read."""
    if text is None:
        return {}
    try:
        value = json_object(text)
    except ValueError:
        return None
    if not all(ID.fullmatch(k) and type(v) is int and v >= 0 for k, v in value.items()):
        return None
    return value if sum(value.values()) <= slices_max else None


def slice_of(text):
    """(cpu, memory), the default where there is none; None where it cannot be read."""
    if text is None:
        return DEFAULT_SLICE
    try:
        value = json_object(text)
        if sorted(value) != ["cpu", "memory"] or not all(isinstance(v, str) for v in value.values()):
            return None
        unit = amount("cpu", value["cpu"]), amount("memory", value["memory"])
    except ValueError:
        return None
    return unit if min(unit) > 0 else None


def limit_of(text):
    """{dimension: amount}; None where there is no such annotation or it is malformed."""
    if text is None:
        return None
    try:
        value = json_object(text)
        if not set(value) <= set(DIMENSIONS) or not all(isinstance(v, str) for v in value.values()):
            return None
        limit = {d: amount(d, v) for d, v in value.items()}
    except ValueError:
        return None
    return limit if all(v >= 0 for v in limit.values()) else None


def placements_text(n):
    return json.dumps(dict(sorted(n.items())), separators=(",", ":"))


def tenant_name(vc):
    space = vc.get("status", {}).get("clusterNamespace")
    m = vc["metadata"]
    return space or "%s-%s-%s" % (m["namespace"], hashlib.sha256(m["uid"].encode()).hexdigest()[:6], m["name"])


# The quota of a namespace

def quota_facts(obj):
    """{dimension: amount} that one ResourceQuota says; {} where it is scoped."""
    spec = obj.get("spec", {})
    if spec.get("scopes") or spec.get("scopeSelector"):
        return {}
    hard, said = spec.get("hard", {}), {}
    for d in DIMENSIONS:
        values = [amount(d, hard[k]) for k in (d, "requests." + d) if k in hard]
        if values:
            said[d] = min(values)
    return said


def total_quota(several, rule):
    """Over the ResourceQuotas of one namespace; `rule` is min or max."""
    pick = {"min": min, "max": max}[rule]
    return {d: pick(q[d] for q in several if d in q) for d in DIMENSIONS if any(d in q for q in several)}


def expected(quota, unit, slices_max):
    """(N, the reason that makes it 0 or too many). `N` of too many is the real number."""
    for d in DIMENSIONS:
        if d not in quota:
            return 0, "NoQuota: " + d
    for d, each in zip(DIMENSIONS, unit):
        if each > quota[d]:
            return 0, "SliceAboveQuota: " + d
    n = max(-(-quota[d] // each) for d, each in zip(DIMENSIONS, unit))
    return n, "TooManySlices: %d" % n if n > slices_max else None


# A Pod's requests

def requests_of(container):
    resources = container.get("resources", {})
    texts = {**resources.get("limits", {}), **resources.get("requests", {})}
    return {r: amount(r, q) for r, q in texts.items()}


def added(a, b):
    return {r: a.get(r, 0) + b.get(r, 0) for r in {**a, **b}}


def highest(a, b):
    return {r: max(a.get(r, 0), b.get(r, 0)) for r in {**a, **b}}


def pod_requests(spec):
    """As kube-scheduler counts them."""
    sidecars, peak, total = {}, {}, {}
    for c in spec.get("initContainers", []):
        if c.get("restartPolicy") == "Always":
            sidecars = added(sidecars, requests_of(c))
            peak = highest(peak, sidecars)
        else:
            peak = highest(peak, added(sidecars, requests_of(c)))
    for c in spec.get("containers", []):
        total = added(total, requests_of(c))
    total = highest(added(total, sidecars), peak)
    total.update(requests_of(spec))  # pod-level requests, in their place
    return added(total, {r: amount(r, q) for r, q in spec.get("overhead", {}).items()})
