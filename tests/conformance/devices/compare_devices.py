#!/usr/bin/env python3
"""Compares what the allocator of Kubernetes, the model and our own program say of random worlds of devices.

    compare_devices.py --oracle ~/.cache/fairlead/controlplane/v1.36.3/allocator-oracle --model --seeds 0..2000
    compare_devices.py --ours build/dev/tests/conformance/fairlead-devices-fit --model --seeds 0..2000
    compare_devices.py --ours build/dev/tests/conformance/fairlead-devices-fit --model --clusters --seeds 0..2000

Any two of the three, or all. Compared are yes or no, and the devices in the order in which they are allocated, with
what a share takes. Model and program must agree always. From the allocator both may differ where as_allocator.py
explains it: then the explanation is counted and shown. Any other difference is shrunk, kept in a file and printed.
"""
import argparse
import collections
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "../../model")]

import as_allocator  # noqa: E402
import clusters  # noqa: E402
import devices  # noqa: E402
import devices_values as v  # noqa: E402
import shrinking  # noqa: E402
import worlds  # noqa: E402

UNDECIDED = "undecided"


def consumed(device):
    return tuple(sorted((name, v.quantity(q)) for name, q in (device.get("consumedCapacity") or {}).items()))


class Program:
    """A program that answers one world a line. It stays for single worlds, and is started anew for many."""

    def __init__(self, command):
        self.command = command
        self.child = None

    def answers(self, several):
        lines = "".join(json.dumps(world) + "\n" for world in several)
        done = subprocess.run([self.command], input=lines, stdout=subprocess.PIPE, text=True)
        found = [json.loads(line) for line in done.stdout.splitlines()]
        lost = {"error": "%s ended with %d" % (self.command, done.returncode)}
        return found + [lost] * (len(several) - len(found))

    def answer(self, world):
        if self.child is None:
            self.child = subprocess.Popen([self.command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.child.stdin.write(json.dumps(world) + "\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            code = self.child.wait()
            self.child = None
            return {"error": "%s ended with %d" % (self.command, code)}
        return json.loads(line)

    def close(self):
        if self.child:
            self.child.stdin.close()
            self.child.wait()
            self.child.stdout.close()


def plain(world, answer):
    """An answer as it is compared.

    None, or the devices. Of a cluster: (reason, detail), or (podSet, node, devices) of each pod that needs a node.
    UNDECIDED where a search was too long. Another text: an error.
    """
    if answer.get("error") in ("Budget", "the search took too long"):
        return UNDECIDED
    if "error" in answer:
        return "error: " + answer["error"]
    if not answer["fits"]:
        return (answer["reason"], answer["detail"]) if "podSets" in world else None
    if "podSets" in world:
        return [(pod["podSet"], pod["node"], taken(pod)) for pod in answer["pods"] if pod["node"]]
    return taken(answer)


def taken(answer):
    return [(d["claim"], d["request"], d["driver"], d["pool"], d["device"], bool(d.get("adminAccess")),
             bool(d.get("shareID")), consumed(d)) for d in answer.get("devices") or []]


# What one world showed. `kind`: same, undecided, explained or different; `names`: of the differences that explain it.
Verdict = collections.namedtuple("Verdict", "kind answers names")


class Comparison:
    """`oracle` and `ours`: Programs, or None. `steps`: how many devices the model tries."""

    def __init__(self, oracle, ours, steps):
        self.oracle, self.ours, self.steps = oracle, ours, steps

    def answers(self, several):
        """What each has to say of the worlds: [{subject: answer}]."""
        found = [{"model": plain(world, self.of_model(world))} for world in several]
        # A search that is too long for the model is so for the others, too, unless they have some skill.
        asked = [i for i, answers in enumerate(found) if answers["model"] != UNDECIDED]
        for subject, program in (("ours", self.ours), ("oracle", self.oracle)):
            if program and len(asked) == 1:
                world = several[asked[0]]
                found[asked[0]][subject] = plain(world, program.answer(world))
            elif program and asked:
                for i, answer in zip(asked, program.answers([several[i] for i in asked])):
                    found[i][subject] = plain(several[i], answer)
        return found

    def of_model(self, world):
        if "podSets" in world:
            return devices.answer_cluster(world, self.steps, 10 * self.steps)
        return devices.answer(world, steps=self.steps)

    def judge(self, world, answers=None):
        answers = answers or self.answers([world])[0]
        model, kind, names = answers["model"], "same", ()
        if UNDECIDED in answers.values():
            kind = "undecided"
        elif is_error(answers) or answers.get("ours", model) != model:
            kind = "different"
        elif answers.get("oracle", model) != model:
            try:
                names = as_allocator.explanation(world, lambda a: plain(world, a) == answers["oracle"], 10 * self.steps)
                kind = "explained" if names else "different"
            except as_allocator.TooLong:
                kind = "undecided"
        return Verdict(kind, answers, names)

    def shows(self, verdict):
        """For shrinking: whether a world is still one, and the same answer as in `verdict` differs from the model's."""
        def differs_again(world):
            try:
                found = self.judge(world)
            except (KeyError, IndexError, TypeError, ValueError, AttributeError):
                return False  # no world any more
            return found.kind == "different" and others(found.answers) == others(verdict.answers)
        return differs_again


def others(answers):
    """Who does not answer as the model, and whether by an error."""
    return {subject: is_error({subject: answer}) for subject, answer in answers.items() if answer != answers["model"]}


def is_error(answers):
    return any(isinstance(a, str) and a != UNDECIDED for a in answers.values())


def shown(answer):
    if answer is None:
        return "does not fit"
    if isinstance(answer, str):
        return answer
    if isinstance(answer, tuple):
        return "%s %s" % answer
    if answer and len(answer[0]) == 3:
        return "; ".join("%s on %s: %s" % (pod_set, node, shown_devices(found)) for pod_set, node, found in answer)
    return "fits: " + shown_devices(answer)


def shown_devices(found):
    return ", ".join(
        "%s %s = %s/%s/%s%s%s" % (claim, request, driver, pool, device, " admin" if admin else "",
                                  " share %s" % {n: str(q) for n, q in capacity} if shared else "")
        for claim, request, driver, pool, device, admin, shared, capacity in found)


def report(comparison, options, name, features, world, verdict):
    small = shrinking.shrink(world, comparison.shows(verdict), options.shrink_seconds)
    path = os.path.join(options.keep, "devices-%s.json" % name)
    with open(path, "w") as file:
        file.write(json.dumps(small) + "\n")
    print("%s, features: %s; kept in %s" % (name, ", ".join(sorted(features)), path))
    print(shrinking.outline(small))
    for subject, answer in comparison.answers([small])[0].items():
        print("  %-7s%s" % (subject, shown(answer)))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--oracle", help="the program allocator-oracle")
    parser.add_argument("--ours", help="the program fairlead-devices-fit")
    parser.add_argument("--model", action="store_true", help="named for clarity: the model always takes part")
    parser.add_argument("--seeds", default="0..300")
    parser.add_argument("--clusters", action="store_true", help="clusters and gangs, which the allocator cannot judge")
    parser.add_argument("--world", help="a file with one world instead")
    parser.add_argument("--features", help="comma-separated; only these, in every world")
    parser.add_argument("--steps", type=int, default=5000, help="devices that the model tries in one world")
    parser.add_argument("--seconds", type=float, default=600, help="stop after this long; what was run is printed")
    parser.add_argument("--shrink-seconds", type=float, default=20)
    parser.add_argument("--failures", type=int, default=3)
    parser.add_argument("--keep", default=tempfile.gettempdir(), help="where worlds that differ are kept")
    return parser.parse_args()


def made_worlds(options):
    """(name, features, world)"""
    if options.world:
        with open(options.world) as file:
            yield os.path.basename(options.world), (), json.load(file)
        return
    low, _, high = options.seeds.partition("..")
    for seed in range(int(low), int(high or low) + 1):
        features = options.features.split(",") if options.features else None
        maker = (clusters if options.clusters else worlds).Maker(seed, features)
        yield "seed-%d" % seed, maker.on, maker.make()


def answered(options, comparison):
    """The worlds with what each says of them. Many go to a program at a time: a busy machine is slow to switch."""
    made = made_worlds(options)
    while some := list(itertools.islice(made, 100)):
        for one, answers in zip(some, comparison.answers([world for _, _, world in some])):
            yield (*one, answers)


def compare(options):
    """The exit code. A run in which nothing was decided, or nothing fits, compared nothing: that is a failure."""
    programs = [Program(p) if p else None for p in (options.oracle, options.ours)]
    comparison = Comparison(*programs, options.steps)
    began, counts, explained = time.monotonic(), collections.Counter(), collections.Counter()
    for name, features, world, answers in answered(options, comparison):
        if time.monotonic() - began > options.seconds or counts["different"] >= options.failures:
            break
        verdict = comparison.judge(world, answers)
        counts.update(["worlds", verdict.kind] + ["fit"] * isinstance(verdict.answers["model"], list))
        explained.update(verdict.names or ())
        if verdict.kind == "different":
            report(comparison, options, name, features, world, verdict)
        elif options.world:
            print(shrinking.outline(world))
            for subject, answer in verdict.answers.items():
                print("  %-7s%s" % (subject, shown(answer)))
    for program in filter(None, programs):
        program.close()
    print("%d worlds, %d fit, %d undecided, %d explained, %d differ" % tuple(
        counts[k] for k in ("worlds", "fit", "undecided", "explained", "different")))
    for difference, count in sorted(explained.items()):
        print("  %5d  %s" % (count, difference))
    return 1 if counts["different"] or not options.world and (not counts["fit"] or not counts["same"]) else 0


def main():
    options = arguments()
    if not options.ours and (options.clusters or not options.oracle):
        print("nothing to compare the model with: --ours is needed, or for single nodes --oracle", file=sys.stderr)
        return 2
    if options.clusters:
        options.oracle = None
    return compare(options)


if __name__ == "__main__":
    sys.exit(main())
