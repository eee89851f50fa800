#!/usr/bin/env python3
"""Compares what `fairlead plan` writes for the MultiKueue path with the model, on random traces.

    compare_multikueue.py --binary build/dev/fairlead --seeds 0..200

Compared are, moment by moment: every write of a MultiKueueConfig and a MultiKueueCluster, the changes of an
AdmissionCheck's conditions (type, status, and the reason of a False), finalizers, and what is applied to a Workload.
Within a moment the order is a property (multikueue_properties.py), not compared; of several applies to one status in
one moment the last counts. A trace that differs is shrunk, kept in a file and printed with the command that runs it.
"""
import json
import subprocess
import sys

import multikueue
import multikueue_objects
import multikueue_traces
import seeds
from compare import milliseconds
from multikueue_world import OUR_CONDITIONS, OWNER, meta

KINDS = ("MultiKueueCluster", "MultiKueueConfig", "AdmissionCheck", "Workload")


def settings_arguments(settings):
    out = ["--set", "claims.create=false"]
    for key, value in sorted(settings.items()):
        if isinstance(value, bool):
            value = "true" if value else "false"
        elif isinstance(value, int):
            value = "%dms" % value
        elif isinstance(value, list):
            value = "[%s]" % ", ".join(value)
        out += ["--set", "multikueue.%s=%s" % (key, value)]
    return out


def plan(binary, settings, lines, extra=()):
    return seeds.plan(binary, settings_arguments(settings) + list(extra), multikueue_objects.render(lines))


def modelled(settings, lines):
    """The model's writes in the form of the plan's output."""
    return [dict(w, time=multikueue_objects.stamp(w["time"])) for w in multikueue.Hub(settings).run(lines)]


def conditions(body):
    """{type: status, or the reason of a False} of ours."""
    return {c["type"]: c["status"] if c["status"] != "False" else c["reason"]
            for c in body.get("status", {}).get("conditions", []) if c["type"] in OUR_CONDITIONS}


def effect(write):
    """What matters of a write, as something that can be compared and printed."""
    body, kind = write.get("body") or {}, write["kind"]
    if write["verb"] == "delete":
        return "delete"
    if kind == "MultiKueueConfig":
        return ("list", tuple(body["spec"]["clusters"]), meta(body).get("annotations", {}).get(OWNER))
    if kind == "MultiKueueCluster":
        source = body["spec"].get("clusterSource", body["spec"])
        return ("source", json.dumps(source, sort_keys=True), meta(body).get("annotations", {}).get(OWNER))
    if kind == "AdmissionCheck":
        if write["verb"] == "patch":
            return ("finalizers", tuple(meta(body).get("finalizers") or ()))
        return ("conditions", tuple(sorted(conditions(body).items())))
    status = body["status"]
    return ("checks", tuple(sorted((a["name"], a["state"]) for a in status.get("admissionChecks", []))),
            "nominated", tuple(status.get("nominatedClusterNames") or ()))


def effects(writes, lines):
    """[(time, kind, namespace, name, effect)], sorted within a moment."""
    out, last = [], {}
    shown = [(x["time"], meta(x["object"])["name"], conditions(x["object"])) for x in lines
             if x["object"]["kind"] == "AdmissionCheck" and x["type"] != "DELETED"]
    gone = [(x["time"], (x["object"]["kind"], "", meta(x["object"])["name"])) for x in lines if x["type"] == "DELETED"]
    for when in sorted({milliseconds(w["time"]) for w in writes}):
        several, final = [], {}
        for key in {key for then, key in gone if then <= when}:
            last.pop(key, None)  # made again, it has said nothing
        gone = [(then, key) for then, key in gone if then > when]
        for then, name, said in shown:
            if then <= when:  # what a line shows is current
                last[("AdmissionCheck", "", name)] = ("conditions", tuple(sorted(said.items())))
        shown = [one for one in shown if one[0] > when]
        for w in (w for w in writes if milliseconds(w["time"]) == when and w["kind"] in KINDS):
            if w["kind"] == "AdmissionCheck" and w["verb"] not in ("apply-status", "patch"):
                continue
            key = (w["kind"], w.get("namespace", ""), w["name"])
            if w["verb"] == "patch":
                last.pop(key, None)
            if w["verb"] == "apply-status":
                final[key] = effect(w)
            else:
                several.append((key, effect(w)))
        for key, found in final.items():
            if key[0] == "Workload" or last.get(key) != found:
                several.append((key, found))
            last[key] = found
        out += [(when, *key, found) for key, found in sorted(several, key=str)]
    return out


def difference(binary, settings, lines):
    """None, or the first effect in which the two disagree."""
    expected = effects(modelled(settings, lines), lines)
    try:
        found = effects(plan(binary, settings, lines), lines)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return ("model", expected[:1], "binary", str(error))
    for i in range(max(len(expected), len(found))):
        a = expected[i] if i < len(expected) else None
        b = found[i] if i < len(found) else None
        if a != b:
            return ("model", a, "binary", b)
    return None


def report(options, seed, maker, lines):
    _, what = seeds.report(
        options, "multikueue", seed, maker, lines, lambda fewer: difference(options.binary, maker.settings, fewer),
        multikueue_objects.render, settings_arguments(maker.settings))
    print("  model:  %s\n  binary: %s\n" % (what[1], what[3]))


def main():
    options = seeds.arguments(default="0..200")

    def differs(maker, lines):
        return difference(options.binary, maker.settings, lines)

    return seeds.compare(options, multikueue_traces.Maker, differs, report)


if __name__ == "__main__":
    sys.exit(main())
