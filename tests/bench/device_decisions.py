#!/usr/bin/env python3
"""A decision about devices in one cluster, against the loop of Kubernetes' allocator over the nodes of that cluster.

    device_decisions.py --program FAIRLEAD [--list] [--only PREFIX] [--tiny] [--repeat N] [--directory DIR]

Prints one JSON line a row as fairlead-bench does; where there is no control plane the lines say so ("skipped").

A cluster of 1,000 nodes with 8 devices each. A pod asks for 8 devices of one kind by a selector. In the first half of
the nodes one device is in use, or in all of them; a gang is 64 such pods. The bound asks the scheduler's allocator
for one node after the other until one has room, its devices then in use, as a scheduler on one core does. What reading
the input takes does not count, on either side. Both must choose the same nodes.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

DRIVER, CLASS = "gpu.example.com", "gpu"
DEVICES = 8  # of a node
NEAR = ('device.attributes["gpu.example.com"].model == "h100" && '
        'device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("40Gi"))')
# Name, pods, the part of the nodes that is full, and the limit of the ratio.
ROWS = (("devices/decision, first fit", 1, 0.5, 1 / 20), ("devices/decision, nothing fits", 1, 1, 1 / 100),
        ("devices/decision, gang of 64", 64, 0.5, 1 / 20))
REAL = {"apiVersion": "resource.k8s.io/v1"}


def node_name(number):
    return f"node-{number:04}"


def spec():
    return {"devices": {"requests": [{"name": "gpus", "exactly": {
        "deviceClassName": CLASS, "count": DEVICES, "selectors": [{"cel": {"expression": NEAR}}]}}]}}


def cluster(nodes, full):
    """What both sides read: the objects of a cluster of which the first `full` nodes have a device in use."""
    devices = [{"name": f"gpu-{i}", "attributes": {"model": {"string": "h100"}},
                "capacity": {"memory": {"value": "80Gi"}}} for i in range(DEVICES)]
    names = [node_name(number) for number in range(nodes)]
    used = [{**REAL, "kind": "ResourceClaim", "metadata": {"name": f"used-{name}", "namespace": "default", "uid": name},
             "spec": spec(), "status": {"allocation": {"devices": {"results": [
                 {"request": "gpus", "driver": DRIVER, "pool": name, "device": "gpu-0"}]}}}} for name in names[:full]]
    return {"nodes": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "uid": name},
                       "status": {"conditions": [{"type": "Ready", "status": "True"}]}} for name in names],
            "slices": [{**REAL, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": {
                "driver": DRIVER, "nodeName": name, "devices": devices,
                "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}}} for name in names],
            "classes": [{**REAL, "kind": "DeviceClass", "metadata": {"name": CLASS}, "spec": {
                "selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}}], "rules": []}, used


def ask(command, question):
    done = subprocess.run(command, input=json.dumps(question) + "\n", capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert "nanoseconds" in answer and not answer.get("error"), done.stdout[:2000]
    return answer


def ours(program, objects, used, pods, repeat):
    template = {**REAL, "kind": "ResourceClaimTemplate", "metadata": {"name": "gpus", "namespace": "default"},
                "spec": {"spec": spec()}}
    pod = {"containers": [], "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}]}
    return ask([program], {**objects, "claims": used, "templates": [template], "repeat": repeat, "podSets": [
        {"name": "main", "count": pods, "template": {"spec": pod}}]})


def theirs(oracle, objects, used, pods, repeat):
    claim = {**REAL, "kind": "ResourceClaim", "metadata": {"name": "gpus", "namespace": "default", "uid": "gpus"},
             "spec": spec()}
    return ask([oracle, "--loop"], {**objects, "claims": [claim], "allocated": used, "pods": pods, "repeat": repeat})


def row(name, limit, measured, bound, first):
    measured, bound = ([nanoseconds / 1e6 for nanoseconds in side] for side in (measured, bound))
    ratios = [mine / other for mine, other in zip(measured, bound)]
    ratio = statistics.median(ratios)
    return {"name": name, "unit": "ms", "measured": statistics.median(measured), "bound": statistics.median(bound),
            "bound_is": "the scheduler's allocator asked for one node after the other", "ratio": ratio,
            "better": "less", "limit": limit, "ok": ratio <= limit, "ratios": ratios, "measured_first": first / 1e6}


def measured_row(name, pods, part, limit, options):
    nodes = 80 if options.tiny else 1000
    pods = min(pods, nodes // 4)
    objects, used = cluster(nodes, int(nodes * part))
    turns = {"ours": [], "theirs": [], "first": []}
    for _ in range(options.repeat):
        # The first time compiles selectors and asks them of each device, on both sides; both remember.
        mine = ours(options.fit, objects, used, pods, 8)
        other = theirs(options.oracle, objects, used, pods, 2)
        assert mine["nodes"] == other["nodes"] and len(mine["nodes"]) == (pods if part < 1 else 0), (mine, other)
        turns["first"].append(mine["nanoseconds"][0])
        turns["ours"].append(statistics.median(mine["nanoseconds"][1:]))
        turns["theirs"].append(other["nanoseconds"][1])
    return row(name, limit, turns["ours"], turns["theirs"], statistics.median(turns["first"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--directory", help="not used: nothing is written")
    options = parser.parse_args()
    from harness.controlplane import assets
    for name, pods, part, limit in ROWS:
        if not name.startswith(options.only):
            continue
        if options.list:
            print(name)
            continue
        options.oracle = assets() and pathlib.Path(assets()) / "allocator-oracle"
        if not options.oracle or not options.oracle.exists():
            print(json.dumps({"name": name, "ok": True, "skipped": "no control plane: run scripts/controlplane"}))
            continue
        options.fit = options.program.resolve().parent / "tests/conformance/fairlead-devices-fit"
        print(json.dumps(measured_row(name, pods, part, limit, options)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
