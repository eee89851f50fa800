#!/usr/bin/env python3
"""What must hold of every write of the MultiKueue path, whatever the model thinks of it.

    multikueue_properties.py --seeds 0..60                       the model
    multikueue_properties.py --seeds 0..60 --binary build/...    the program: the same, and what concerns bytes

Checked on each trace: a list has 1 to max distinct names; it changes by one write a moment; it names no
MultiKueueCluster that is not there (but for names that a hand added), and none is deleted while a list has it;
no cluster is removed that was selected within moveWindow, or within drainTimeout while a Workload held it; a held
config is not deleted while it is in use; conditions follow the config and a False precedes its deletion; foreign
objects are never written. Then, long after the end: the same decision again, reordered, undone inside the windows, and
a score that comes back write nothing at all. Of the program also: the same bytes again, and the same writes if lines of
one time come in another order or twice.
"""
import argparse
import copy
import random
import subprocess
import sys
import time
from collections import Counter

import compare_multikueue as compare
import multikueue_objects as o
import multikueue_traces
import properties
from compare import milliseconds
from multikueue_world import DURATIONS, OUR_CONDITIONS, World, deleting, duration, is_true, marked, meta
from properties import check


class Watcher(World):
    """Replays lines and writes, and remembers the states at the end of each moment."""

    def __init__(self, settings, seed):
        super().__init__(settings)
        self.seed = seed
        self.moments = []    # (time, {placement: names surely selected}, {placement: names in the list})
        self.busy = set()    # lists that were written at this moment
        self.shortest = {name: self.settings[name] for name in DURATIONS}

    def shorten(self, line):
        """Windows count with the shortest length that the trace ever gives them."""
        notes = meta(line.get("object", {})).get("annotations", {})
        for name in DURATIONS:
            value = duration(notes.get("fairlead.io/multikueue." + name))
            if value is not None:
                self.shortest[name] = min(self.shortest[name], value)

    def surely_selected(self, p):
        """In D, with a credential now, and the name is not disputed."""
        return {self.name(p, c) for c in self.decided(p) if self.credential(c) and self.usable(p, c)}

    def ended(self, now):
        places = self.placements()
        self.moments.append((now, {p: self.surely_selected(p) for p in places},
                             {p: set(self.members(p)) for p in places},
                             {p for p in places if self.users(p) and self.get("Placement", p, self.namespace)}))
        self.busy = set()

    def within(self, now, length):
        """The moments at which something held in the last `length`: the one before that time ended then."""
        return [m for m in self.moments if now - length <= m[0] < now]

    def absent(self, p, name, now, length):
        """Neither selected nor newly in the list, now and at any moment of that time."""
        if length and now - length < 0:
            return False
        return (name not in self.surely_selected(p)
                and not any(name in m[1].get(p, ()) for m in self.within(now, length))
                and all(name in m[2].get(p, ()) for m in self.within(now, length)))

    # What must hold of one write; `self` is as it was before it.

    def judge(self, w):
        kind, name, now = w["kind"], w["name"], milliseconds(w["time"])
        there = self.get(kind, name, w.get("namespace", ""))
        if kind in ("MultiKueueConfig", "MultiKueueCluster") and there is not None:
            adopted = self.settings["adoptOcmAddon"]
            check(marked(there) or adopted and w["verb"] != "delete", "a foreign object is written", self.seed, w)
        if kind == "MultiKueueCluster" and w["verb"] == "delete":
            lists = [meta(c)["name"] for c in self.all("MultiKueueConfig") if name in c["spec"]["clusters"]]
            check(not lists, "a MultiKueueCluster is deleted while in a list", self.seed, w, lists)
        elif kind == "MultiKueueConfig":
            check(name not in self.busy, "a list is written twice at a moment", self.seed, w)
            self.busy.add(name)
            self.judge_list(w, name, now)
        elif kind == "AdmissionCheck" and w["verb"] == "apply-status":
            self.judge_conditions(w, there)
        elif kind == "Workload":
            check(not is_true(there, "Finished") and not deleting(there), "a Workload that is over is written",
                  self.seed, w)
            names = w["body"]["status"].get("nominatedClusterNames") or []
            check(len(names) <= 20 and not (names and there["status"].get("clusterName")), "a nomination", self.seed, w)
            check(self.nominates() or tuple(names) in ((), tuple(there["status"].get("nominatedClusterNames", ()))),
                  "a nomination that nothing clears", self.seed, w)

    def judge_list(self, w, p, now):
        before = set(self.members(p))
        after = w["body"]["spec"]["clusters"] if w["verb"] != "delete" else []
        if w["verb"] == "delete":
            held = [n for n in before if self.holders(p, n)]
            live = [m[0] for m in self.within(now, self.shortest["drainTimeout"])
                    if p in m[3] and m[1].get(p) and self.shortest["drainTimeout"]]
            check(not held or not live, "a held config is deleted while in use", self.seed, w, held, live)
            for c in (c for c in self.checks() if self.parameter(c) == p):
                active = next((x for x in c.get("status", {}).get("conditions", []) if x["type"] == "Active"), None)
                check(active is None or active["status"] == "False", "no False before the deletion", self.seed, w)
            return
        check(1 <= len(after) <= self.max_clusters() and len(after) == len(set(after)), "a bad list", self.seed, w)
        for n in set(after) - before:
            check(self.get("MultiKueueCluster", n) is not None, "a list names what is not there", self.seed, w, n)
        for n in before - set(after):
            check(self.absent(p, n, now, self.shortest["moveWindow"]), "removed too early", self.seed, w, n)
            held = self.holders(p, n) and self.shortest["drainTimeout"]
            check(not held or self.absent(p, n, now, self.shortest["drainTimeout"]), "a held one is removed too early",
                  self.seed, w, n)

    def judge_conditions(self, w, there):
        found = compare.conditions(w["body"])
        p = self.parameter(there)
        if p and found.get("Active") == "True" and compare.conditions(there).get("Active") != "True":
            check(self.members(p), "True before there is a list", self.seed, w)
        if p and "AllClustersUsed" in found and "AllClustersUsed" not in compare.conditions(there):
            check(self.config(p), "AllClustersUsed without a config", self.seed, w)

    def accept(self, w):
        """A write, as it comes back."""
        self.answers.clear()
        key = (w["kind"], w.get("namespace", ""), w["name"])
        obj = self.objects.get(key)
        if w["verb"] == "delete":
            self.objects.pop(key, None)
        elif w["verb"] == "patch":
            meta(obj)["finalizers"] = meta(w["body"]).get("finalizers") or []
            if deleting(obj) and not meta(obj)["finalizers"]:
                del self.objects[key]
        elif w["verb"] in ("apply", "create"):
            obj = self.objects.setdefault(key, {"kind": w["kind"], "metadata": {"name": w["name"]}, "spec": {}})
            meta(obj).update({k: dict(meta(obj).get(k, {}), **v) for k, v in meta(w["body"]).items()
                              if k in ("labels", "annotations")})
            obj["spec"].update(w["body"]["spec"])
        elif w["kind"] == "AdmissionCheck":
            kept = [c for c in obj.get("status", {}).get("conditions", []) if c["type"] not in OUR_CONDITIONS]
            obj["status"] = dict(obj.get("status", {}), conditions=kept + w["body"]["status"]["conditions"])
        else:
            states = {a["name"]: a["state"] for a in w["body"]["status"].get("admissionChecks", [])}
            for entry in obj["status"]["admissionChecks"]:
                entry["state"] = states.get(entry["name"], entry["state"])


def judge(settings, lines, writes, seed):
    """Raises AssertionError at the first write that breaks a rule."""
    watcher = Watcher(settings, seed)
    watcher.read_ahead(lines)
    for line in lines:
        watcher.shorten(line)
    writes = [w for w in writes if w["kind"] in compare.KINDS]
    for moment in sorted({x["time"] for x in lines} | {milliseconds(w["time"]) for w in writes}):
        for line in (x for x in lines if x["time"] == moment):
            watcher.take(copy.deepcopy(line))
        for w in (w for w in writes if milliseconds(w["time"]) == moment):
            watcher.judge(w)
            watcher.accept(w)
        watcher.ended(moment)


# Zero writes

def rests(settings, lines, writes):
    """Endings, each of which must write nothing: [(what, more lines)]."""
    watcher = Watcher(settings, "-")
    for x in lines:
        watcher.shorten(x)
        watcher.take(copy.deepcopy(x))
    for w in writes:
        if w["kind"] in compare.KINDS and w["kind"] not in ("AdmissionCheck", "Workload"):
            watcher.accept(w)
    last = max([x["time"] for x in lines] + [milliseconds(w["time"]) for w in writes])
    start = last + 4 * 3600000
    decisions = watcher.all("PlacementDecision")
    out = [("the same again", [o.line(start, d) for d in decisions])]
    backwards = copy.deepcopy(decisions)
    for d in backwards:
        d["status"]["decisions"].reverse()
    out.append(("reordered", [o.line(start, d) for d in backwards]))
    short, settle = watcher.shortest["moveWindow"], watcher.shortest["settle"]
    for p in watcher.placements():
        members = set(watcher.members(p))
        stays = [c for c in watcher.decided(p) if watcher.name(p, c) in members & watcher.surely_selected(p)]
        for d in (d for d in decisions if p in meta(d)["labels"].values()):
            fewer, more = copy.deepcopy(d), copy.deepcopy(d)
            fewer["status"]["decisions"] = fewer["status"]["decisions"][1:]
            left = {x["clusterName"] for x in fewer["status"]["decisions"]}
            if short > settle > 0 and len(stays) > 1 and set(stays) & left:
                out.append(("gone and back", [o.line(start, fewer), o.line(start + min(short, settle) - 500, d)]))
            more["status"]["decisions"].append({"clusterName": "never-seen", "reason": ""})
            if settle >= 1000 and members:
                out.append(("come and gone", [o.line(start, more), o.line(start + settle - 500, d)]))
    for s in watcher.all("AddOnPlacementScore"):
        other = copy.deepcopy(s)
        for value in other["status"]["scores"]:
            value["value"] = -100 if value["value"] > 50 else 100
        if short > 0:
            out.append(("a score that comes back", [o.line(start, other), o.line(start + short - 500, s)]))
    return out


def zero_writes(settings, lines, run, seed):
    writes = run(lines)
    endings = rests(settings, lines, writes)
    for what, more in random.Random(seed).sample(endings, min(len(endings), 5)):
        late = [w for w in run(lines + more) if more and milliseconds(w["time"]) >= more[0]["time"]]
        check(not late, "%s writes" % what, seed, late[:1])
    return writes


def bytes_agree(binary, settings, lines, seed):
    arguments = ["-", *compare.settings_arguments(settings)]
    text = o.render(lines)
    first = properties.run(binary, arguments, text)
    check(first.returncode == 0, "exit", seed, first.stderr)
    check(properties.run(binary, arguments, text).stdout == first.stdout, "other bytes for the same input", seed)
    twice = properties.run(binary, arguments, o.render(properties.doubled(lines)))
    check(twice.stdout == first.stdout, "a duplicate changes the output", seed)
    other = properties.run(binary, arguments, o.render(properties.permuted(lines, random.Random(seed))))
    pairs = zip(properties.without_places(first.stdout), properties.without_places(other.stdout))
    check(properties.without_places(first.stdout) == properties.without_places(other.stdout),
          "the order at one time changes a write", seed, next((x for x in pairs if x[0] != x[1]), ""))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", help="without it the model is judged")
    parser.add_argument("--seeds", default="0..60")
    parser.add_argument("--seconds", type=float, default=50)
    options = parser.parse_args()
    low, _, high = options.seeds.partition("..")
    began, ran, failed, seen = time.monotonic(), 0, 0, Counter()
    for seed in range(int(low), int(high or low) + 1):
        if time.monotonic() - began > options.seconds:
            break
        maker = multikueue_traces.Maker(seed)
        lines, settings = maker.make(), maker.settings
        ran += 1

        def run(some, settings=settings):
            if options.binary:
                return compare.plan(options.binary, settings, some)
            return compare.modelled(settings, some)
        try:
            writes = zero_writes(settings, lines, run, seed)
            judge(settings, lines, writes, seed)
            if options.binary:
                bytes_agree(options.binary, settings, lines, seed)
            seen.update((w["verb"], w["kind"]) for w in writes if w["kind"] in compare.KINDS)
        except (AssertionError, RuntimeError, subprocess.TimeoutExpired) as error:
            failed += 1
            print("%s\n" % error if str(error).startswith("seed") else "seed %d: %s\n" % (seed, error))
    for (verb, kind), count in sorted(seen.items()):
        print("  %5d %s %s" % (count, verb, kind))
    print("%d traces, %d break a property" % (ran, failed))
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
