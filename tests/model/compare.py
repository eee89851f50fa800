#!/usr/bin/env python3
"""Compares `fairlead plan` with the model on random traces; a trace that differs is shrunk and printed.

    compare.py --binary build/dev/fairlead --seeds 0..200
"""
import argparse
import json
import subprocess
import sys
import time

import model
import traces
from capacity import amount


def settings_arguments(config):
    out = ["--set", "claims.create=false"]
    for key, value in config["debounce"].items():
        number = key in ("growDeadbandPercent", "flapPenalty", "flapSuppress", "flapReuse", "massShrinkPercent")
        out += ["--set", "debounce.%s=%s" % (key, value if number else "%dms" % value)]
    percent = ", ".join("%s: %s" % item for item in config["headroom"]["percent"].items())
    reserved = ", ".join('%s: "%s"' % item for item in config["headroom"]["reserved"].items())
    out += ["--set", "capacity.headroom={percent: {%s}, reserved: {%s}}" % (percent, reserved),
            "--set", "capacity.overbookPercent=%d" % config["overbookPercent"]]
    return out


def plan(binary, config, lines, extra=()):
    done = subprocess.run([binary, "plan", "-", *settings_arguments(config), *extra], input=traces.render(lines),
                          capture_output=True, text=True, timeout=60)
    if done.returncode != 0:
        raise RuntimeError("exit %d: %s" % (done.returncode, done.stderr))
    return [json.loads(text) for text in done.stdout.splitlines()]


def quotas(spec):
    return {(f["name"], r["name"]): amount(r["name"], r["nominalQuota"]) for g in spec["resourceGroups"]
            for f in g["flavors"] for r in f["resources"]}


def milliseconds(text):
    clock = text.split("T")[1].rstrip("Z")
    days = int(text[8:10]) - 1
    h, m, s = clock.split(":")
    return days * 86400000 + int(h) * 3600000 + int(m) * 60000 + round(float(s) * 1000)


def difference(binary, config, lines):
    """None, or the first write in which the two disagree."""
    expected = model.Hub(config).run(lines)
    try:
        writes = [(milliseconds(w["time"]), w["name"], quotas(w["body"]["spec"]))
                  for w in plan(binary, config, lines) if w["kind"] == "ClusterQueue"]
    except RuntimeError as error:
        return ("model", expected[:1], "binary", str(error))
    writes.sort(key=lambda w: w[:2])
    for i in range(max(len(expected), len(writes))):
        a = expected[i] if i < len(expected) else None
        b = writes[i] if i < len(writes) else None
        if a != b:
            return ("model", a, "binary", b)
    return None


def shrink(binary, config, lines):
    """Leaves out lines while the difference stays. The flavors stay: without one a pair is withheld."""
    kept = sum(1 for x in lines if x["time"] == 0 and x.get("object", {}).get("kind") == "ResourceFlavor")
    size = len(lines) // 2
    while size >= 1:
        i = kept
        while i < len(lines):
            fewer = lines[:i] + lines[i + size:]
            try:
                if fewer and difference(binary, config, fewer):
                    lines = fewer
                    continue
            except (ValueError, KeyError, IndexError):
                pass
            i += size
        size //= 2
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--seeds", default="0..200")
    parser.add_argument("--seconds", type=float, default=50, help="stop after this long; what was run is printed")
    parser.add_argument("--failures", type=int, default=3)
    options = parser.parse_args()
    low, _, high = options.seeds.partition("..")
    began, failures, ran, writes = time.monotonic(), 0, 0, 0
    for seed in range(int(low), int(high or low) + 1):
        if time.monotonic() - began > options.seconds or failures >= options.failures:
            break
        maker = traces.Maker(seed)
        config = maker.config()
        lines = maker.make()
        ran += 1
        if not difference(options.binary, config, lines):
            continue
        failures += 1
        small = shrink(options.binary, config, lines)
        print("seed %d, features %s" % (seed, " ".join(sorted(maker.on))))
        print("  " + " ".join("'%s'" % a for a in settings_arguments(config)))
        print("  " + traces.render(small).replace("\n", "\n  "))
        print("  %s\n" % (difference(options.binary, config, small),))
    print("%d traces, %d differ" % (ran, failures))
    return 1 if failures or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
