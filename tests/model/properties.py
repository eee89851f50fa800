#!/usr/bin/env python3
"""Properties of `fairlead plan` that hold whatever the model thinks, on random traces.

    properties.py --binary build/dev/fairlead --seeds 0..60

Checked on each trace: the same input gives the same bytes; the order of object keys and of simultaneous lines of
different objects changes no write; hub quotas are base plus what the statuses grant; nothing is written for an hour
after the end; a change and its undoing inside the windows writes nothing; ClusterMetrics give the same writes as Nodes;
with members, on every prefix of writes no hub pair exceeds what the members admit, and the hub ends where it ends
without.  Bad input ends with exit 2, the file and the line, and nothing on stdout.
"""
import argparse
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import defaultdict

import compare
import traces
from capacity import amount, canonical


def run(binary, arguments, text):
    return subprocess.run([binary, "plan", *arguments], input=text, capture_output=True, text=True, timeout=60)


def check(condition, what, seed, *more):
    if not condition:
        raise AssertionError("seed %s: %s %s" % (seed, what, " ".join(str(x)[:1500] for x in more)))


def shuffled(value, r):
    """The same JSON with its object keys in another order."""
    if isinstance(value, dict):
        keys = list(value)
        r.shuffle(keys)
        return {k: shuffled(value[k], r) for k in keys}
    if isinstance(value, list):
        return [shuffled(v, r) for v in value]
    return value


def lists_permuted(lines, r):
    """Lists whose order means nothing, in another order."""
    out = json.loads(json.dumps(lines))
    for x in out:
        obj = x.get("object", {})
        for owner, name in ((obj.get("spec", {}), "resourceAssignments"), (obj.get("spec", {}), "taints")):
            if name in owner and obj["kind"] != "ResourceFlavor":
                r.shuffle(owner[name])
    return out


def doubled(lines):
    """Every observation delivered twice."""
    return [y for x in lines for y in ([x, x] if x["type"] in ("ADDED", "MODIFIED", "DELETED") else [x])]


def in_order(writes, seed):
    """seq rises, and what decided a write lies before it."""
    last = 0
    for w in writes:
        because = w["reason"]["because"]
        check(w["seq"] > last and because and because == sorted(set(because)) and because[-1] < w["seq"],
              "seq or because", seed, w["seq"], last, because)
        last = w["seq"]


def with_members(lines, clusters):
    return [{"type": "ADDED", "time": 0, "cluster": "hub", "object": {
        "apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster", "metadata": {"name": c},
        "status": {"conditions": [{"type": "ManagedClusterConditionAvailable", "status": "True"}]}}}
        for c in clusters] + lines


def permuted(lines, r):
    """Lines of one time in another order; those of one object keep theirs."""
    out = []
    for when in sorted({x["time"] for x in lines}):
        groups = defaultdict(list)
        for x in (x for x in lines if x["time"] == when):
            meta = x.get("object", {}).get("metadata", {})
            groups[(x["cluster"], x.get("object", {}).get("kind"), meta.get("name"))].append(x)
        keys = sorted(groups, key=str)
        r.shuffle(keys)
        out += [x for k in keys for x in groups[k]]
    return out


def without_places(text):
    """Writes without what depends on the place in the log."""
    out = []
    for w in map(json.loads, text.splitlines()):
        w.pop("seq"), w["reason"].pop("because")
        body = w.get("body", {})
        for name in ("resourceVersion", "uid"):
            body.get("metadata", {}).pop(name, None)
        status = body.get("status", {})
        status.pop("seq", None)
        if "capacity" in status:  # a flavor that won a node for an instant of that time may be listed, with nothing
            status["capacity"] = [c for c in status["capacity"] if (c["observed"], c["accepted"]) != ("0", "0")]
        out.append(w)
    return sorted(json.dumps(w, sort_keys=True) for w in out)


def prefix_invariant(writes, lines, seed):
    """Hub pairs of ours never above the sum of the members' quotas (no overbooking here), but for what a pair had
    before it was ours: that only falls."""
    admitted, hub = defaultdict(int), {}
    for line in lines:
        obj = line.get("object", {})
        if obj.get("kind") == "ClusterQueue" and line["type"] != "DELETED":
            for pair, value in compare.quotas(obj["spec"]).items():
                hub[(obj["metadata"]["name"], *pair)] = value
    found = dict(hub)
    for w in writes:
        if w["kind"] == "ManifestWork" and w["name"] == "fairlead-quota":
            for key in [k for k in admitted if k[0] == w["namespace"]]:
                del admitted[key]
            for m in w.get("body", {}).get("spec", {}).get("workload", {}).get("manifests", []):
                if m["kind"] == "ClusterQueue":
                    for (f, r), v in compare.quotas(m["spec"]).items():
                        admitted[(w["namespace"], m["metadata"]["name"], f, r)] = v
        elif w["kind"] == "ClusterQueue":
            for (f, r), v in compare.quotas(w["body"]["spec"]).items():
                key = (w["name"], f, r)
                if hub.get(key) == v:
                    continue
                hub[key] = v
                found[key] = min(found.get(key, 0), v)
        else:
            continue
        for key in OURS & set(hub):
            total = sum(v for k, v in admitted.items() if k[1:] == key)
            check(hub[key] <= max(total, found.get(key, 0)), "hub promises more than members admit", seed, key,
                  hub[key], total, w["time"])


OURS = set()


def trace_properties(binary, seed):
    maker = traces.Maker(seed)
    config, lines = maker.config(), maker.make()
    arguments = ["-", *compare.settings_arguments(config)]
    text = traces.render(lines)
    first = run(binary, arguments, text)
    check(first.returncode == 0, "exit", seed, first.stderr)
    check(run(binary, arguments, text).stdout == first.stdout, "other bytes for the same input", seed)
    r = random.Random(seed)
    keys = traces.render([shuffled(x, r) for x in lines])
    check(run(binary, arguments, keys).stdout == first.stdout, "the order of keys changes the output", seed)
    other = run(binary, arguments, traces.render(permuted(lines, r)))
    check(without_places(other.stdout) == without_places(first.stdout), "the order at one time changes a write", seed,
          next((x for x in zip(without_places(first.stdout), without_places(other.stdout)) if x[0] != x[1]), ""))
    lists = run(binary, arguments, traces.render(lists_permuted(lines, r)))
    check(lists.stdout == first.stdout, "the order of a list changes the output", seed)
    twice = run(binary, arguments, traces.render(doubled(lines)))
    check(twice.stdout == first.stdout, "a duplicate changes the output", seed)
    writes = [json.loads(x) for x in first.stdout.splitlines()]
    in_order(writes, seed)
    end = compare.milliseconds(writes[-1]["time"]) if writes else 0
    later = run(binary, [*arguments, "--until", traces.rfc3339(max(end, lines[-1]["time"]) + 3600000)], text)
    check(later.stdout == first.stdout, "something is written in the hour after", seed)
    grants_are_bounded(writes, seed)

    metered = as_metrics(lines)
    if metered and config["debounce"]["ingestCoalesce"] == 0:
        metrics = run(binary, arguments, traces.render(metered))
        check(queue_writes(metrics.stdout) == queue_writes(first.stdout), "ClusterMetrics give other writes", seed)

    if not maker.on & {"claimdelete", "secondclaim"}:
        plain = dict(config, debounce={k: v for k, v in config["debounce"].items() if k == "ingestCoalesce"})
        noted = run(binary, ["-", *compare.settings_arguments(plain)], traces.render(as_annotations(config, lines)))
        check(queue_writes(noted.stdout) == queue_writes(first.stdout), "annotations are not as configuration", seed,
              next((x for x in zip(queue_writes(first.stdout), queue_writes(noted.stdout)) if x[0] != x[1]), "length"))

    zero_queues(lines)
    alone = run(binary, ["-", *compare.settings_arguments(dict(config, overbookPercent=100))], traces.render(lines))
    lines = with_members(lines, maker.clusters)
    OURS.clear()
    OURS.update((q, f, traces.canonical_gpu(x)) for q in traces.QUEUES for f in maker.flavors for x in maker.resources)
    config["overbookPercent"] = 100
    member = run(binary, ["-", *compare.settings_arguments(config)], traces.render(lines))
    check(member.returncode == 0, "exit", seed, member.stderr)
    check(final_quotas(member.stdout) == final_quotas(alone.stdout), "with members the hub ends elsewhere", seed)
    prefix_invariant([json.loads(x) for x in member.stdout.splitlines()], lines, seed)
    return len(writes)


def as_metrics(lines):
    """The same fleet by ClusterMetrics: every node's line becomes the whole list. None where a list would be empty
    (that means unknown there)."""
    nodes, out, seen = defaultdict(dict), [], set()
    for x in lines:
        if x.get("object", {}).get("kind") != "Node":
            out.append(x)
            continue
        cluster, node = x["cluster"], x["object"]
        if x["type"] == "DELETED":
            nodes[cluster].pop(node["metadata"]["name"], None)
        else:
            taints = list(node["spec"].get("taints", []))
            if node["status"]["conditions"][0]["status"] != "True":
                taints.append({"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"})
            nodes[cluster][node["metadata"]["name"]] = {
                "name": node["metadata"]["name"], "allocatableResources": node["status"]["allocatable"],
                "labels": node["metadata"]["labels"], "taints": taints,
                "unschedulable": bool(node["spec"].get("unschedulable"))}
        if not nodes[cluster]:
            return None
        out.append({"type": "MODIFIED" if cluster in seen else "ADDED", "time": x["time"], "cluster": "hub", "object": {
            "apiVersion": "galaxy.kubestellar.io/v1alpha1", "kind": "ClusterMetrics", "metadata": {"name": cluster},
            "status": {"nodes": list(nodes[cluster].values())}}})
        seen.add(cluster)
    return out


def as_annotations(config, lines):
    """The debounce settings as annotations of every claim instead of as configuration."""
    out = json.loads(json.dumps(lines))
    for x in out:
        if x.get("object", {}).get("kind") == "ClusterResourceClaim":
            notes = x["object"]["metadata"].setdefault("annotations", {})
            for argument in compare.settings_arguments(config)[1::2]:
                key, _, value = argument.partition("=")
                if key.startswith("debounce."):
                    notes["fairlead.io/" + key] = value
    return out


def queue_writes(text):
    return [(w["time"], w["name"], w["body"]["spec"]) for w in map(json.loads, text.splitlines())
            if w["kind"] == "ClusterQueue"]


def final_quotas(text):
    return {name: spec for _, name, spec in queue_writes(text)}


def zero_queues(lines):
    for x in lines:
        if x.get("object", {}).get("kind") == "ClusterQueue":
            x["object"]["metadata"].pop("annotations", None)
            for g in x["object"]["spec"]["resourceGroups"]:
                for f in g["flavors"]:
                    for res in f["resources"]:
                        res["nominalQuota"] = "0"


def grants_are_bounded(writes, seed):
    """In each status: per resource the grants' sum is at most what was accepted, minimums or not."""
    for w in writes:
        if w["verb"] != "apply-status" or w["kind"] != "ClusterResourceClaim":
            continue
        status = w["body"]["status"]
        accepted, granted = defaultdict(int), defaultdict(int)
        for c in status["capacity"]:
            accepted[c["resource"]] += amount(c["resource"], c["accepted"])
        unknown = any(c["type"] == "CapacityKnown" and c["status"] != "True" for c in status["conditions"])
        for g in status["grants"]:
            resource = canonical(g["resource"])
            granted[resource] += amount(resource, g["granted"])
        for resource in granted:
            check(unknown or granted[resource] <= accepted[resource], "grants above the capacity", seed, w["time"],
                  resource, granted[resource], accepted[resource])


QUEUE = """{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{}}"""
BAD = [  # what, input, the line that is named (None: any)
    ("cut JSON", '{"type":"ADDED","object":{"kind":\n', None),
    ("YAML that is none", "apiVersion: v1\nkind: Node\nmetadata: {name: a\n", None),
    ("no kind", QUEUE + '\n{"apiVersion":"v1","metadata":{"name":"x"}}\n', 2),
    ("no name", QUEUE + '\n{"apiVersion":"v1","kind":"Node","metadata":{}}\n', 2),
    ("a bad time", '{"type":"ADDED","time":"yesterday","object":%s}\n' % QUEUE, 1),
    ("an earlier time", '{"type":"ADDED","time":"1970-01-01T00:00:10Z","object":%s}\n'
     '{"type":"MODIFIED","time":"1970-01-01T00:00:09Z","object":%s}\n' % (QUEUE, QUEUE), 2),
    ("an unknown type", '{"type":"CHANGED","object":%s}\n' % QUEUE, 1),
    ("plain text", QUEUE + "\n---\nhello\n", None),
    ("a number", "42\n", 1),
]
BAD_ARGUMENTS = [["--frobnicate"], ["--set", "debounce.nope=1s"], ["--set", "debounce.growWindow=soon"],
                 ["--set", "debounce.flapHalfLife=0s"], ["--set", "nonsense"], ["--until", "tomorrow"],
                 ["--config", "/nonexistent.yaml"], ["-o", "xml"], ["--set", "capacity.overbookPercent=0"]]


def bad_input(binary):
    for what, text, line in BAD:
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            file.write(text)
            file.flush()
            done = run(binary, [file.name], "")
            check(done.returncode == 2, "exit of " + what, "-", done.returncode, done.stderr)
            check(done.stdout == "", "printed half: " + what, "-", done.stdout)
            check(file.name in done.stderr, "no file: " + what, "-", done.stderr)
            named = r":\d+" if line is None else ":%d\\b" % line
            check(re.search(re.escape(file.name) + named, done.stderr), "line of " + what, "-", done.stderr)
    for extra in BAD_ARGUMENTS:
        done = run(binary, ["-", *extra], QUEUE)
        check(done.returncode == 2 and done.stdout == "", "bad arguments", "-", extra, done.returncode, done.stderr)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write("debounce:\n  growWindow: 5s\n  growWindw: 5s\n")
        file.flush()
        done = run(binary, ["-", "--config", file.name], QUEUE)
        check(done.returncode == 2 and file.name + ":3" in done.stderr and "growWindw" in done.stderr,
              "an unknown key names file, line and key", "-", done.stderr)
    return len(BAD) + len(BAD_ARGUMENTS) + 1


def undone_changes(binary):
    """A - B - A inside the windows: zero writes between, for every kind of change."""
    count = 0
    for seed in range(12):
        maker = traces.Maker(seed, {"flavors", "gpu", "respell"})
        config, lines = maker.config(), [x for x in maker.make() if x["time"] == 0]
        config["debounce"].update(shrinkWindow=15000, growWindow=60000, firstQuiet=0)
        nodes = [x for x in lines if x["object"]["kind"] == "Node"]
        node = json.loads(json.dumps(nodes[0]))
        broken = json.loads(json.dumps(node))
        broken["object"]["status"]["conditions"][0]["status"] = "False"
        bigger = json.loads(json.dumps(node))
        bigger["object"]["status"]["allocatable"]["cpu"] = "50"
        for change in (broken, bigger):
            ending = [dict(change, time=100000, type="MODIFIED"), dict(node, time=110000, type="MODIFIED")]
            writes = [w for w in compare.plan(binary, config, lines + ending) if w["kind"] != "ClusterResourceClaim"]
            late = [w for w in writes if compare.milliseconds(w["time"]) >= 100000]
            check(not late, "A-B-A wrote", seed, late)
            count += 1
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--seeds", default="0..60")
    parser.add_argument("--seconds", type=float, default=40)
    options = parser.parse_args()
    low, _, high = options.seeds.partition("..")
    print("%d bad inputs refused" % bad_input(options.binary))
    print("%d undone changes wrote nothing" % undone_changes(options.binary))
    began, ran, failed = time.monotonic(), 0, 0
    for seed in range(int(low), int(high or low) + 1):
        if time.monotonic() - began > options.seconds:
            break
        ran += 1
        try:
            trace_properties(options.binary, seed)
        except AssertionError as error:
            failed += 1
            print(error)
    print("%d traces, %d break a property" % (ran, failed))
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
