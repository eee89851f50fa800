#!/usr/bin/env python3
"""Compares what `fairlead plan` writes to the tenants of the pool with the model, on random traces.

    compare_pool.py --binary build/dev/fairlead --seeds 0..100

Compared is every write of a tenant's object: when, which, and its annotations; within one time the order is none of
the page's. A trace that differs is shrunk, kept in a file and printed with the command that runs it.
"""
import json
import subprocess
import sys

import pool
import pool_device_traces
import seeds
import traces
from compare import milliseconds


def settings_arguments(config):
    out = ["--set", "claims.create=false", "--set", "dra.quota=false"]
    for key, value in sorted(config["debounce"].items()):
        number = key in ("growDeadbandPercent", "flapPenalty", "flapSuppress", "flapReuse", "massShrinkPercent")
        out += ["--set", "debounce.%s=%s" % (key, value if number else "%dms" % value)]
    for key, value in sorted(config["pool"].items()):
        text = "%dms" % value if key in ("lostGrace", "settle") else json.dumps(value)
        out += ["--set", "pool.%s=%s" % (key, text)]
    for key, value in sorted(config.get("dra", {}).items()):
        out += ["--set", "dra.%s=%s" % (key, "%dms" % value if key == "placeTimeout" else value)]
    return out


def render(lines):
    return traces.render(lines)


def run(binary, config, lines, extra=()):
    done = subprocess.run([binary, "plan", "-", *settings_arguments(config), *extra], capture_output=True, text=True,
                          input=render(lines), timeout=60)
    if done.returncode != 0:
        raise RuntimeError("exit %d: %s" % (done.returncode, done.stderr))
    return done.stdout


def plan(binary, config, lines):
    out = []
    for w in map(json.loads, run(binary, config, lines).splitlines()):
        if w["cluster"].startswith("tenant/"):
            notes = w["body"]["metadata"].get("annotations", {})
            out.append((milliseconds(w["time"]), w["cluster"], w["kind"], w["namespace"], w["name"], notes))
    return out


def ordered(writes):
    """By time; those of one object at one time keep their order."""
    return sorted(writes, key=lambda w: w[:5])


def difference(binary, config, lines):
    """None, or the first time at which the two disagree: (what only the model writes, what only the program does)."""
    try:
        expected = ordered(pool.Hub(config).run(lines))
        found = ordered(plan(binary, config, lines))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return [], [str(error)]
    for when in sorted({w[0] for w in expected + found}):
        a, b = ([w for w in writes if w[0] == when] for writes in (expected, found))
        if a != b:
            only = [w for w in a if w not in b], [w for w in b if w not in a]
            return only if any(only) else (a, b)
    return None


def shown(writes):
    return ["%s %s %s %s %s" % (traces.rfc3339(w[0])[11:], w[1], w[2], "/".join(x for x in w[3:5] if x),
                                json.dumps({k.split("/")[1]: x for k, x in w[5].items()})) if isinstance(w, tuple)
            else w for w in writes]


def report(options, seed, maker, lines):
    _, (model, binary) = seeds.report(
        options, "pool", seed, maker, lines, lambda fewer: difference(options.binary, maker.config, fewer),
        render, settings_arguments(maker.config))
    print("  model:   %s\n  program: %s\n" % ("\n           ".join(shown(model)), "\n           ".join(shown(binary))))


def main():
    options = seeds.arguments(default="0..100")

    def differs(maker, lines):
        return difference(options.binary, maker.config, lines)

    return seeds.compare(options, pool_device_traces.Maker, differs, report)


if __name__ == "__main__":
    sys.exit(main())
