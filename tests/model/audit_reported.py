"""What `fairlead audit` and `whatif` print as JSON, made comparable: amounts as integers, times in milliseconds."""
from audit_events import milliseconds
from capacity import amount, canonical, quantum


def number(resource, text):
    return None if text is None else amount(canonical(resource), text)


def differing(path, expected, reported, out):
    """Adds (path, expected, reported) for each leaf of `expected` that is reported otherwise."""
    if isinstance(expected, dict) and isinstance(reported, dict):
        for key in sorted(set(expected) | set(reported), key=str):
            if key not in expected or key not in reported:
                out.append(("%s.%s" % (path, key), expected.get(key, "<absent>"), reported.get(key, "<absent>")))
            else:
                differing("%s.%s" % (path, key), expected[key], reported[key], out)
    elif isinstance(expected, list) and isinstance(reported, list) and len(expected) == len(reported):
        for i, (a, b) in enumerate(zip(expected, reported)):
            differing("%s[%d]" % (path, i), a, b, out)
    elif isinstance(expected, set) and isinstance(reported, str):
        if reported not in expected:
            out.append((path, expected, reported))
    elif expected != reported:
        out.append((path, expected, reported))


# ----------------------------------------------------------------------------- what was reported, made comparable


def reported_quota(document):
    out = {}
    for row in document["rows"]:
        r = row["resource"]
        out[(row["queue"], row["flavor"], r)] = {
            "nominal": number(r, row["nominal"]), "desired": number(r, row["desired"]), "base": number(r, row["base"]),
            "ours": row["ours"], "overbookPercent": row["overbookPercent"], "grants": [
                {"claim": g["claim"], "cluster": g["cluster"], "reason": g["reason"],
                 **{k: number(r, g[k]) for k in ("assigned", "granted", "contributes")}} for g in row["grants"]]}
    return out


def reported_grant(r, grant):
    out = {k: number(r, grant[k]) for k in ("assigned", "granted", "contributes", "wanted", "flavorBound",
                                             "afterFlavor", "totalBound", "minimum")}
    for name in ("cluster", "reason", "priority", "nominalPolicy", "shrinkPolicy", "flavorCapacity"):
        out[name] = grant[name]
    out["claim"] = dict(grant["claim"], editedTime=milliseconds(grant["claim"]["editedTime"]))
    presence, hold = grant["presence"], grant["presence"]["hold"]
    opens = presence["hubOpens"]
    out["presence"] = {
        "known": presence["known"], "liveness": presence["liveness"], "detached": presence["detached"],
        "source": presence["source"], "namesNoNode": presence["namesNoNode"],
        "hubOpens": milliseconds(opens) if opens and opens[0].isdigit() else opens,
        "hold": hold and {k: milliseconds(v) for k, v in hold.items()},
        "sourceChange": reported_source_change(presence["sourceChange"])}
    out["capacity"] = {c["flavor"]: {
        **{k: number(r, c[k]) for k in ("offered", "usable", "growing", "accepted")}, "state": c["state"],
        "layer": (c["layer"]["name"], milliseconds(c["layer"]["since"]), milliseconds(c["layer"]["until"])),
        "moved": c["moved"] and {"from": number(r, c["moved"]["from"]), "to": number(r, c["moved"]["to"]),
                                 "at": milliseconds(c["moved"]["at"]), "by": c["moved"]["by"]},
        "percent": c["headroom"]["percent"], "reserved": number(r, c["headroom"]["reserved"])}
        for c in grant["capacity"]}
    out["nodes"] = {n["name"]: {
        "seq": n["seq"], "flavor": n["flavor"], "amount": number(r, n["amount"]), "eligible": n["eligible"],
        "counts": n["counts"], "reasons": {plain(x) for x in n["reasons"]},
        "suppressedSince": milliseconds(n["suppressedSince"]), "suppressedUntil": milliseconds(n["suppressedUntil"])}
        for n in grant["nodes"]}
    return out


def reported_source_change(change):
    return change and dict(change, at=milliseconds(change["at"]))


def plain(reason):
    """A reason without its punctuation: which flavor, which taint."""
    if reason.startswith(("no ResourceFlavor", "no flavor")):
        return "no flavor"
    if "flavor " in reason:
        return "flavor " + reason.rsplit(" ", 1)[1]
    if reason.startswith("taint "):
        return reason.split("=")[0].split(":")[0]
    return reason


def reported_history(document):
    return [(row["seq"], row["time"], row["flavor"], row["resource"], number(row["resource"], row["old"]),
             number(row["resource"], row["new"]), row["writer"],
             tuple(row["answer"].get(k) for k in ("outcome", "seq", "time")) if "answer" in row else None)
            for row in document["rows"]]


def reported_diff(document):
    def both(row, read):
        return tuple(None if row[side] is None else read(row[side]) for side in ("from", "to"))

    out = {"capacity": {}, "grants": {}, "quotas": {}, "claims": {}}
    for row in document["capacity"]:
        r = row["resource"]
        out["capacity"][(row["cluster"], row["flavor"], r)] = both(row, lambda v, r=r: {
            "accepted": number(r, v["accepted"]), "usable": number(r, v["usable"]), "state": v["state"]})
    for row in document["grants"]:
        r = canonical(row["resource"])
        out["grants"][(row["claim"], row["queue"], row["flavor"], r)] = both(row, lambda v, r=r: {
            "assigned": number(r, v["assigned"]), "granted": number(r, v["granted"]), "reason": v["reason"]})
    for row in document["quotas"]:
        r = canonical(row["resource"])
        out["quotas"][(row["queue"], row["flavor"], r)] = both(row, lambda v, r=r: {
            "nominal": number(r, v["nominal"]), "desired": number(r, v["desired"])})
    for row in document["claims"]:
        out["claims"][row["claim"]] = both(row, lambda v: {
            k: v[k] for k in ("editedSeq", "generation", "uid", "winner")})
    return out


def reported_guard(guard, resource):
    """(guard, cluster), and of a layer the flavor: "c1 od cpu: shrinkWindow ..."."""
    start = guard["text"].split(":")[0].split(" ")
    layer = guard["cluster"] is not None and len(start) == 3 and start[0] == guard["cluster"] and start[2] == resource
    return (guard["guard"], guard["cluster"], *([start[1]] if layer else []))


def reported_guard_times(guard):
    return {"since": milliseconds(guard["since"]), "until": milliseconds(guard["until"]), "seq": guard["seq"]}


def step_end(text):
    """(flavor, resource, amount) of "od cpu 0 -> 9"."""
    flavor, resource, _, _, new = text.split(" ")
    return (flavor, canonical(resource), number(resource, new))


def reported_hours(resource, text):
    """cpu and devices come in thousandths."""
    return number("cpu" if quantum(resource) == 1 else resource, text)
