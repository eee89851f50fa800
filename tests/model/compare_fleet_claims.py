#!/usr/bin/env python3
"""Compares what `fairlead plan` writes about fleet claims with the model, on random traces.

    compare_fleet_claims.py --binary build/dev/fairlead --seeds 0..200

Compared is, moment by moment, what the last write of the moment leaves of each Workload (as in compare_dispatch.py),
of our part of the status of each FleetResourceClaim, of each FleetScheduling, and which claims are created and
deleted. A trace that differs is shrunk, kept in a file and printed.
"""
import subprocess
import sys

import bookings
import compare_dispatch
import fleet_claims
import fleet_claims_traces
import multikueue_objects
import seeds
from compare import milliseconds


def settings_arguments(settings):
    dra = {key: value for key, value in settings["dra"].items() if key not in ("dispatch", "fleetClaims")}
    return compare_dispatch.settings_arguments(dict(settings, dra=dra)) + ["--set", "dra.fleetClaims=true"]


def said(write):
    """What a write leaves of its object."""
    body = write.get("body") or {}
    if write["verb"] in ("create", "delete"):
        return write["verb"], repr(body.get("spec", {}).get("resourceClassName"))
    if write["kind"] == "FleetScheduling":
        return "asks", repr((body["spec"].get("potentialClusters"), body["spec"].get("selectedCluster")))
    status, found = body["status"], body["status"].get("allocation") or {}
    return "status", repr(([(c["resource"], c["name"], c["uid"]) for c in status["reservedFor"]],
                           status["deallocationRequested"], status.get("driverName"),
                           found.get("availableOnClusters"), found.get("resourceHandle")))


def effects(writes):
    last = {}
    for w in writes:
        if w["kind"] in fleet_claims.KINDS:
            last[milliseconds(w["time"]), w["kind"], w["namespace"], w["name"], w["verb"]] = said(w)
    workloads = [(when, "Workload", *rest) for when, *rest in compare_dispatch.effects(writes)]
    return sorted([(*key, *what) for key, what in last.items()] + workloads, key=repr)


def modelled(settings, lines):
    return compare_dispatch.stamped(bookings.BookingHub(settings).run(lines))


def difference(binary, settings, lines, writes=None):
    """None, or the effects of the first moment in which the two disagree: (the model's, the binary's)."""
    expected = effects(modelled(settings, lines) if writes is None else writes)
    try:
        found = effects(seeds.plan(binary, settings_arguments(settings), multikueue_objects.render(lines)))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return expected[:1], [(0, str(error))]
    for when in sorted({e[0] for e in expected + found}):
        a, b = ([e for e in effect if e[0] == when] for effect in (expected, found))
        if a != b:
            return [e for e in a if e not in b], [e for e in b if e not in a]
    return None


def report(options, seed, maker, lines):
    _, (model, binary) = seeds.report(
        options, "fleet-claims", seed, maker, lines, lambda fewer: difference(options.binary, maker.settings, fewer),
        multikueue_objects.render, settings_arguments(maker.settings))
    for who, found in (("model: ", model), ("binary:", binary)):
        print("  %s %s" % (who, "\n          ".join(map(str, found))))


def main(maker=fleet_claims_traces.Maker):
    options = seeds.arguments(default="0..200")

    def differs(maker, lines):
        maker.hub.advance(None)
        return difference(options.binary, maker.settings, lines, compare_dispatch.stamped(maker.hub.writes))

    return seeds.compare(options, maker, differs, report)


if __name__ == "__main__":
    sys.exit(main())
