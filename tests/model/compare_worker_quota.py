#!/usr/bin/env python3
"""Compares the quotas that `fairlead plan` writes to queues that follow their workers with the model, on random traces.

    compare_worker_quota.py --binary build/dev/fairlead --seeds 0..100

Compared is every write of a ClusterQueue: when, which, and every pair of it; of several in one moment the last counts,
since no page says in which order a moment's lists and quotas are judged. A trace that differs is shrunk, kept in a
file and printed with the command that runs it.
"""
import json
import subprocess
import sys

import compare
import compare_multikueue
import multikueue_objects
import seeds
import worker_quota
import worker_quota_traces


def arguments(maker):
    lists = compare_multikueue.settings_arguments(maker.settings)
    return [*compare.settings_arguments(maker.config), *lists[2:], "--set", "members.mode=none"]


def plan(binary, maker, lines):
    done = subprocess.run([binary, "plan", "-", *arguments(maker)], capture_output=True, text=True, timeout=60,
                          input=multikueue_objects.render(lines))
    if done.returncode != 0:
        raise RuntimeError("exit %d: %s" % (done.returncode, done.stderr))
    return [(compare.milliseconds(w["time"]), w["name"], compare.quotas(w["body"]["spec"]))
            for w in map(json.loads, done.stdout.splitlines()) if w["kind"] == "ClusterQueue"]


def last_of_each_moment(writes):
    return sorted({write[:2]: write for write in writes}.values(), key=lambda write: write[:2])


def difference(binary, maker, lines):
    """None, or the first write in which the two disagree."""
    expected = last_of_each_moment(worker_quota.Hub(maker.config, maker.settings).run(lines))
    try:
        found = last_of_each_moment(plan(binary, maker, lines))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return expected[:1], str(error)
    for i in range(max(len(expected), len(found))):
        a, b = (writes[i] if i < len(writes) else None for writes in (expected, found))
        if a != b:
            return a, b
    return None


def needed(line):
    """Without a flavor its pair is withheld; the others make a cluster known."""
    return line.get("object", {}).get("kind") in ("ResourceFlavor", "Node", "ClusterMetrics", "ClusterResourceClaim")


def report(options, seed, maker, lines):
    _, (model, binary) = seeds.report(
        options, "worker-quota", seed, maker, lines, lambda fewer: difference(options.binary, maker, fewer),
        multikueue_objects.render, arguments(maker), needed)
    print("  model:  %s\n  binary: %s\n" % (model, binary))


def main():
    options = seeds.arguments(default="0..100")

    def differs(maker, lines):
        return difference(options.binary, maker, lines)

    return seeds.compare(options, worker_quota_traces.Maker, differs, report)


if __name__ == "__main__":
    sys.exit(main())
