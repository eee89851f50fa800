#!/usr/bin/env python3
"""Compares what `fairlead plan` writes to Workloads that use devices with the model, on random traces.

    compare_dispatch.py --binary build/dev/fairlead --seeds 0..200

Compared is, moment by moment, what is applied to each Workload: nominatedClusterNames, and status and reason of
fairlead.io/DevicesReserved; of several applies in one moment the last counts. A trace that differs is shrunk, kept in
a file and printed with the command that runs it, and with what the model holds of each Workload at that moment.
"""
import json
import subprocess
import sys

import dispatch_traces
import multikueue_objects
import seeds
from compare import milliseconds
from dispatch_hub import Hub, reserved


def settings_arguments(settings):
    out = ["--set", "claims.create=false", "--set", "dra.quota=false", "--set", "dra.dispatch=true"]
    for key, value in sorted(settings.items()):
        if key != "dra":
            text = json.dumps(value) if isinstance(value, bool) else "%dms" % value
            out += ["--set", "multikueue.%s=%s" % (key, text)]
    for key, value in sorted(settings["dra"].items()):
        text = "%dms" % value if key.endswith("Timeout") else str(value)
        out += ["--set", "dra.%s=%s" % (key, text)]
    return out


def plan(binary, settings, lines, extra=()):
    return seeds.plan(binary, settings_arguments(settings) + list(extra), multikueue_objects.render(lines))


def stamped(writes):
    return [dict(w, time=multikueue_objects.stamp(w["time"])) for w in writes]


def modelled(settings, lines):
    return stamped(Hub(settings).run(lines))


def effects(writes):
    """[(time, namespace, name, nominated, condition)] of what is applied to Workloads, sorted within a moment."""
    last = {}
    for w in writes:
        if w["kind"] == "Workload":
            nominated = tuple(w["body"]["status"].get("nominatedClusterNames") or ())
            last[milliseconds(w["time"]), w["namespace"], w["name"]] = (nominated, reserved(w["body"]))
    return [(*key, *said) for key, said in sorted(last.items())]


def difference(binary, settings, lines, writes=None):
    """None, or the effects of the first moment in which the two disagree: (the model's, the binary's)."""
    expected = effects(modelled(settings, lines) if writes is None else writes)
    try:
        found = effects(plan(binary, settings, lines))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return expected[:1], [str(error)]
    for when in sorted({e[0] for e in expected + found}):
        a, b = ([e for e in effect if e[0] == when] for effect in (expected, found))
        if a != b:
            return [e for e in a if e not in b], [e for e in b if e not in a]
    return None


def shown(effect):
    return effect if isinstance(effect, str) else "%s %s/%s %s %s" % (
        multikueue_objects.stamp(effect[0])[11:], *effect[1:3], list(effect[3]), "/".join(effect[4] or ["absent"]))


def held(settings, lines, when):
    """What the model holds of each Workload after that moment: reservation, spent clusters, reasons."""
    hub = Hub(settings)
    hub.dispatch.explain = True
    hub.run(lines)
    verdicts = next((verdicts for time_, verdicts in reversed(hub.history) if time_ <= when), {})
    return ["%s/%s %s" % (*key, json.dumps({"reservation": said.reservation, "spent": said.spent,
                                           "reasons": said.reasons}))
            for key, said in sorted(verdicts.items()) if said.uses]


def report(options, seed, maker, lines):
    small, (model, binary) = seeds.report(
        options, "dispatch", seed, maker, lines, lambda fewer: difference(options.binary, maker.settings, fewer),
        multikueue_objects.render, settings_arguments(maker.settings))
    for who, found in (("model: ", model), ("binary:", binary)):
        print("  %s %s" % (who, "\n          ".join(map(shown, found))))
    when = min((effect[0] for effect in model + binary if not isinstance(effect, str)), default=0)
    print("  held:    %s\n" % "\n           ".join(held(maker.settings, small, when)))


def main():
    options = seeds.arguments(default="0..200")

    def differs(maker, lines):
        maker.hub.advance(None)
        return difference(options.binary, maker.settings, lines, stamped(maker.hub.writes))

    return seeds.compare(options, dispatch_traces.Maker, differs, report)


if __name__ == "__main__":
    sys.exit(main())
