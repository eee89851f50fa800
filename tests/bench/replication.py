#!/usr/bin/env python3
"""What a commit of a replicated log costs on real servers, and how soon another hub leads.

    replication.py --program FAIRLEAD [--list] [--only NAME] [--tiny] [--repeat N] [--directory DIR]

Prints one JSON line per row as fairlead-bench does; where there is no control plane each line says so ("skipped").

A commit of 1, 64 and 1,024 events has about 412 bytes, 2 KB and 30 KB. They are stored one after the other, with the
hub's own stores (tests/unit/ring): in kube-apiserver on one etcd, and in three members of an etcd over TLS. The bound
is a write with fdatasync of as many bytes to the same disk, in the same run. "servers_cpu_ms" is what all servers of
a store used per commit, the mean of all sizes.

Under load a hub with its log in kube-apiserver, at the default pace, follows members whose Nodes flip at a rate, each
flip one event, while a change every second is timed until our patch is acknowledged (tests/bench/fleet.py). The bound
is the goal. etcd grows meanwhile by the commits and by all else that the hub writes; it gives the room back when it is
compacted, every five minutes by default.

Fail-over is from the kill of the leader until another leads and is ready, beside leaseDuration + 2 x retryPeriod x 1.2
+ 2 s.
"""

import argparse
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import time
import urllib.request

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / folder) for folder in ("e2e", "conformance")]

STORES = ("kubernetes", "etcd")
SIZES = {412: "1 event", 2048: "64 events", 30720: "1,024 events"}
FAIL_OVER_ROW = "replication/fail-over after a kill"
COMMIT_ROWS = [f"replication/{store}, {events}, p99" for store in STORES for events in SIZES.values()]
RATES = {rate: f"replication/change to acknowledged at {rate:,} events/s, p50" for rate in (1, 100, 1000)}
GROWTH_ROWS = ["replication/etcd bytes an event", "replication/etcd bytes an hour"]
LOAD_ROWS = [*RATES.values(), *GROWTH_ROWS]
ROWS = [*COMMIT_ROWS, *LOAD_ROWS, FAIL_OVER_ROW]
GOAL = 250  # ms
SAID = re.compile(r"(\w+) (\d+) B: p50 ([\d.]+) ms, p99 ([\d.]+) ms, CPU of this process ([\d.]+) ms per commit")


def cpu_seconds(process):
    fields = pathlib.Path(f"/proc/{process.child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def raw_p99(folder, size, count):
    """Milliseconds of a write with fdatasync."""
    took = []
    with tempfile.NamedTemporaryFile(dir=folder) as file:
        for _ in range(count):
            begin = time.perf_counter()
            os.write(file.fileno(), b"x" * size)
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - begin) * 1e3)
    return sorted(took)[math.ceil(0.99 * len(took)) - 1]


def row(name, unit, measured, bound, bound_is, limit, **more):
    ratio = measured / bound
    return {"name": name, "unit": unit, "measured": measured, "bound": bound, "bound_is": bound_is, "ratio": ratio,
            "better": "less", "limit": limit, "ok": ratio <= limit, **more}


def commits(plane, server, options):
    import ring_servers
    etcd = ring_servers.Etcd(plane)
    count = 5 if options.tiny else 300
    servers = {"kubernetes": [server.process, plane.etcd], "etcd": etcd.members}
    before = {store: sum(cpu_seconds(process) for process in of) for store, of in servers.items()}
    said = ring_servers.run("measure", FAIRLEAD_RING_KUBECONFIG=server.kubeconfig(),
                            FAIRLEAD_RING_COMMITS=count, **etcd.environment())
    used = {store: sum(cpu_seconds(process) for process in of) - before[store] for store, of in servers.items()}
    for store, size, p50, p99, cpu in SAID.findall(said):
        bound = raw_p99(plane.directory, int(size), count)
        yield row(f"replication/{store}, {SIZES[int(size)]}, p99", "ms", float(p99), bound,
                  "write + fdatasync of as many bytes, p99", 1000, p50=float(p50), hub_cpu_ms=float(cpu),
                  servers_cpu_ms=used[store] * 1000 / (count * len(SIZES)), commits_per_second=round(1000 / float(p50)))


def etcd_bytes(plane):
    request = urllib.request.Request(f"{plane.etcd_url}/v3/maintenance/status", b"{}")
    with urllib.request.urlopen(request, timeout=10) as answer:
        return int(json.load(answer)["dbSizeInUse"])


def under_load(plane, server, options):
    import fleet

    class Load(fleet.Bench):
        settings = ("leaderElection.lease=default/load", "log.replication.create=true",
                    "log.replication.kubernetes={namespace: default, name: load}")

    options.clusters, options.nodes, options.verbose = (2, 5, False) if options.tiny else (8, 200, False)
    bench = Load(plane, options, server)
    bench.start()
    took, grown = {}, {}

    def seen():
        return etcd_bytes(plane), json.loads(bench.hub.http("/log/position")[1])["seq"], time.monotonic()
    for rate in RATES:
        # The pace's burst is spent first.
        bench.servant.ask("flips", *((1, rate) if options.tiny else (15 * rate, rate)))
        before = seen()
        took[rate], _ = bench.latencies(1 if options.tiny else 40, rate, apart=1)
        grown[rate] = [after - first for after, first in zip(seen(), before)]
    bench.hub.stop()
    bench.servant.end()
    for rate, name in RATES.items():
        ours = sorted(took[rate])
        yield row(name, "ms", ours[len(ours) // 2], GOAL, "the goal", 1, p99=fleet.p99(ours),
                  events_per_second=round(grown[rate][1] / grown[rate][2]))
    growth, events, _ = grown[1000]
    yield {**row(GROWTH_ROWS[0], "B", max(growth, 0) / events, 1024, "1 KiB", 0), "better": "more", "ok": True}
    growth, _, seconds = grown[1]
    yield {**row(GROWTH_ROWS[1], "MiB", max(growth, 0) / 2**20 * 3600 / seconds, 2048, "etcd's default quota", 0),
           "better": "more", "ok": True}


def fail_over(options):
    from harness.fleet import CLAIMS, CRDS, add_nodes, claim, prepare_hub
    from harness.replicas import FAIL_OVER, NAMESPACE, ReplicatedPlane, Replicas
    with ReplicatedPlane() as plane:
        server, _ = plane.add_hub_servers()
        server.install_crds(only=(*CRDS, "logcommits.fairlead.io"))
        server.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        prepare_hub(server)
        add_nodes(server)
        server.create(CLAIMS, claim())
        took = []
        hubs = Replicas(plane, "bench").start()
        for _ in range(1 if options.tiny else options.repeat):
            leader = hubs.leader()
            hubs.ready()
            leader.kill()
            begin = time.monotonic()
            hubs.ready([hubs.leader()])
            took.append(time.monotonic() - begin)
            leader.start()
        hubs.finish()
    return row(FAIL_OVER_ROW, "s", max(took), FAIL_OVER, "leaseDuration + 2 x retryPeriod x 1.2 + 2 s", 1, times=took)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="", help="rows that begin so")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--directory", help="on a disk: the hubs' logs and etcd's go there, and are removed")
    options = parser.parse_args()
    if options.list:
        print("\n".join(ROWS))
        return 0
    from harness.controlplane import ControlPlane, assets, oracle
    from harness.fleet import CRDS
    if not assets() or not oracle("fleet"):
        for name in ROWS:
            print(json.dumps({"name": name, "ok": True, "skipped": "no control plane: run scripts/controlplane"}))
        return 0
    tempfile.tempdir = options.directory and str(pathlib.Path(options.directory).resolve())
    program = options.program.resolve()
    os.environ["FAIRLEAD"] = str(program)
    os.environ["FAIRLEAD_RING_TEST"] = str(program.parent / "tests/unit/ring/test-unit-ring")
    wanted = {part: any(name.startswith(options.only) for name in rows)
              for part, rows in ((commits, COMMIT_ROWS), (under_load, LOAD_ROWS))}
    if any(wanted.values()):
        with ControlPlane(synced=True) as plane:
            server = plane.add_server("hub")
            server.install_crds(only=(*CRDS, "logcommits.fairlead.io"))
            for part in (part for part, is_wanted in wanted.items() if is_wanted):
                for measured in sorted(part(plane, server, options), key=lambda one: ROWS.index(one["name"])):
                    if measured["name"].startswith(options.only):
                        print(json.dumps(measured), flush=True)
    if FAIL_OVER_ROW.startswith(options.only):
        print(json.dumps(fail_over(options)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
