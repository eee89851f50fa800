#!/usr/bin/env python3
"""What must hold of every write of the pool, whatever the model decides.

    pool_properties.py --binary build/dev/fairlead --seeds 0..60

Checked on each trace: a share grows only where all that was written fits P when it was decided; the slices of a
namespace become fewer only down to what its quota asks for; an id that bound pods of the namespace carry does not leave
its list, and one that others carry only where they are placed anew at that time; the superCluster of a Pod is in its
namespace's list; the same input gives the same bytes, and the same writes if lines of one time come in another order or
twice. P, quotas and Pods are the trace's facts; slices are the default here.
"""
import argparse
import copy
import json
import random
import subprocess
import sys
import time

import compare_pool as compare
import pool
import pool_device_traces
import pool_traces
import pool_values as v
import properties
from properties import check

OTHER_UNITS = {"slices", "bad slices"}  # the unit in force is no fact of the trace
LOSES = {"limit", "configured limit", "deletes"}  # a first observation is reduced to a limit; what is deleted is gone


class Facts(pool.Hub):
    """The trace's facts at each time: P of each id, and the quota of each namespace. Its decisions are not used."""

    def __init__(self, config):
        super().__init__(config)
        self.at = {}

    def moment(self, lines, now):
        super().moment(lines, now)
        quotas = {s.key(): self.quota(s) for t in self.tenants.values() for s in t.namespaces.values()}
        self.at[now] = {i: self.pool(i) for i in self.ids()}, quotas


class Watcher:
    """Lines and the program's writes in their order."""

    def __init__(self, config, lines, seed):
        self.seed, self.slices_max = seed, {**pool.POOL, **config["pool"]}["slicesMax"]
        self.interval = config["debounce"].get("writeInterval", 0)
        facts = Facts(config)
        facts.run(copy.deepcopy(lines))
        self.at = facts.at
        self.listed, self.n, self.pods, self.bound = {}, {}, {}, set()

    def facts(self, when):
        return self.at[max(t for t in self.at if t <= when)]

    def most(self, i, when):
        """P of an id, at each time at which a write at `when` may have been decided."""
        decided = {when} | {t for t in self.at if when - self.interval <= t <= when}
        return [self.facts(t)[0].get(i, (0, 0)) for t in sorted(decided)]

    def see(self, line):
        m = line.get("object", {}).get("metadata", {})
        kind, cluster, gone = line.get("object", {}).get("kind"), line["cluster"], line["type"] == "DELETED"
        if not cluster.startswith("tenant/"):
            return
        notes = m.get("annotations") or {}
        if kind == "Namespace":
            key = cluster, m["name"]
            self.listed[key] = v.placements_of(None if gone else notes.get(v.PLACEMENTS), self.slices_max) or {}
            if gone:
                self.n.pop(key, None)
        elif kind == "Pod":
            key = cluster, m["namespace"], m["name"]
            over = line["object"].get("status", {}).get("phase") in ("Succeeded", "Failed")
            self.pods.pop(key, None)
            self.bound.discard(key)
            if not gone and not over:
                self.pods[key] = notes.get(v.SUPER)
                if line["object"].get("spec", {}).get("nodeName"):
                    self.bound.add(key)

    def judge(self, writes):
        """All writes of one time."""
        grown, left = set(), []
        for w in writes:
            when, cluster, kind, space, name, notes = w
            if kind == "Namespace" and v.PLACEMENTS in notes:
                left += self.leaving(w, (cluster, name), json.loads(notes[v.PLACEMENTS]))
                grown |= self.judge_namespace(w, (cluster, name), json.loads(notes[v.PLACEMENTS]))
            elif kind == "Pod" and v.SUPER in notes:
                key = cluster, space, name
                fresh = notes[v.SUPER] != self.pods.get(key)
                check(not fresh or notes[v.SUPER] in self.listed.get((cluster, space), {}),
                      "a Pod's cluster is not in its namespace's list", self.seed, w)
                self.pods[key] = notes[v.SUPER]
        for key, i, w in left:
            there = [p for p, at in self.pods.items() if p[:2] == key and at == i and i not in self.listed[key]]
            check(not there, "the id of a Pod leaves the list", self.seed, w, there)
        for i in grown:
            held = sum(n.get(i, 0) for n in self.n.values())
            most = self.most(i, writes[0][0])
            check(any(all(held * u <= p for u, p in zip(v.DEFAULT_SLICE, one)) for one in most), "over P", self.seed, i,
                  held, most, writes)

    def leaving(self, w, key, new):
        ids = set(self.listed.get(key, {})) & set(self.n.get(key, {})) - set(new)
        there = [p for p in sorted(self.bound) if p[:2] == key and self.pods[p] in ids]
        check(not there, "the id of a bound Pod leaves the list", self.seed, w, there)
        return [(key, i, w) for i in ids]

    def judge_namespace(self, w, key, new):
        old = self.n.get(key, {})
        quota = self.facts(w[0])[1].get((key[0][len("tenant/"):], key[1]), {})
        n, why = v.expected(quota, v.DEFAULT_SLICE, self.slices_max)
        kept = sum(old.values()) if why and why.startswith("TooMany") else min(n, sum(old.values()))
        check(sum(new.values()) >= kept, "slices are lost", self.seed, w, old, n)
        stood = old if key in self.n else self.listed.get(key, {})  # the first list is adopted unchanged
        self.listed[key] = self.n[key] = new
        return {i for i, k in new.items() if k > stood.get(i, 0)}


def judge(config, lines, writes, seed):
    """Raises AssertionError at the first time whose writes break a rule."""
    watcher = Watcher(config, lines, seed)
    for when in sorted({x["time"] for x in lines} | {w[0] for w in writes}):
        for line in (x for x in lines if x["time"] == when):
            watcher.see(line)
        mine = [w for w in writes if w[0] == when]
        if mine:
            watcher.judge(mine)


def bytes_agree(binary, config, lines, seed):
    first = compare.run(binary, config, lines)
    check(compare.run(binary, config, lines) == first, "other bytes for the same input", seed)
    check(compare.run(binary, config, properties.doubled(lines)) == first, "a duplicate changes the output", seed)
    other = compare.run(binary, config, properties.permuted(lines, random.Random(seed)))
    mine, theirs = properties.without_places(first), properties.without_places(other)
    check(mine == theirs, "the order at one time changes a write", seed,
          [w for w in mine if w not in theirs][:1], [w for w in theirs if w not in mine][:1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--seeds", default="0..60")
    parser.add_argument("--seconds", type=float, default=40)
    options = parser.parse_args()
    low, _, high = options.seeds.partition("..")
    began, ran, failed, seen, failures = time.monotonic(), 0, 0, 0, []
    for seed in range(int(low), int(high or low) + 1):
        if time.monotonic() - began > options.seconds:
            break
        r = random.Random("features %d" % seed)
        on = {f for f in pool_traces.FEATURES if r.random() < 0.3} - OTHER_UNITS - LOSES
        if r.random() < 0.5:
            on |= {"devices", "pods"} | {f for f in pool_device_traces.FEATURES if r.random() < 0.35}
        maker = pool_device_traces.Maker(seed, on)
        lines, config = maker.make(), maker.config
        ran += 1
        try:
            writes = compare.plan(options.binary, config, lines)
            seen += len(writes)
            judge(config, lines, writes, seed)
            bytes_agree(options.binary, config, lines, seed)
        except (AssertionError, RuntimeError, subprocess.TimeoutExpired) as error:
            failures.append(str(error))
            failed += 1
    print("\n".join(failures[:5]))
    print("%d traces with %d writes, %d break a property" % (ran, seen, failed))
    return 1 if failed or not seen else 0


if __name__ == "__main__":
    sys.exit(main())
