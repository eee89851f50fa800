#!/usr/bin/env python3
"""A live hub that watches a whole fleet, beside client-go's informers on the same servers.

    fleet.py --program FAIRLEAD [--list] [--tiny] [--clusters N] [--nodes N] [--alone] [--directory DIR] [--verbose]

The hub's own API server is a real one; the members are one process (tests/e2e/controlplane/fleet), whose CPU is not
counted. Each member has Nodes of 8 KB as a kubelet prints them, and is read by 3 streams. All windows are off. In
order: the hub starts and has folded every list; a minute of rest; heartbeats; changes of capacity; Nodes that flip
(1% of the fleet a second) while single changes are timed until our patch is acknowledged; a question; SIGTERM; a start
with a snapshot; a start after SIGKILL. Then the informers, one of Nodes for each member; with --alone none, and no
rows that are held beside them.

Prints one JSON line for each row, as fairlead-bench does; where there is no control plane the lines say so ("skipped").
--verbose: what was seen on the way, to standard error.
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

# name: (unit, what the bound is, the ratio that is allowed)
CLIENT_GO = "client-go's informers of Nodes on the same servers"
ROWS = {
    "fleet/start, CPU until all lists are folded": ("s", CLIENT_GO, 1),
    "fleet/memory at rest": ("MiB", CLIENT_GO, 1.2),
    "fleet/connections a member": ("sockets", "its streams", 1.34),
    "fleet/1,000 heartbeats, CPU": ("s", CLIENT_GO, 1),
    "fleet/change to acknowledged under flips, p99": ("ms", "a bare PATCH under the same load, p99", 6),
    "fleet/question": ("s", "GET /metrics of the same hub", 1000),
    "fleet/SIGTERM": ("s", "start with a snapshot until it plans", 2),
}
STREAMS = 3
QUEUES = 100
FLAVOR = "on-demand"


class Meter:
    """What a process uses."""

    def __init__(self, pid):
        self.folder = pathlib.Path(f"/proc/{pid}")

    def cpu(self):
        fields = (self.folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def mebibytes(self, field="VmRSS"):
        return int(re.search(rf"{field}:\s+(\d+) kB", (self.folder / "status").read_text()).group(1)) / 1024

    def forget_peak(self):
        (self.folder / "clear_refs").write_text("5")

    def descriptors(self):
        return len(list((self.folder / "fd").iterdir()))


class Servant:
    """A program that answers a line of standard input with a line of JSON."""

    def __init__(self, command, **options):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, **options)
        self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        assert line, "it ended"
        return json.loads(line)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def p99(values):
    return sorted(values)[math.ceil(0.99 * len(values)) - 1]


class Bench:
    settings = ()  # more of the hub's

    def __init__(self, plane, options, server=None):
        from harness import controlplane, fleet, hub, process
        from patch_latency import nanoseconds
        self.nanoseconds, self.wait_for = nanoseconds, process.wait_for
        self.plane, self.options, self.fleet, self.hubs = plane, options, fleet, hub
        self.clusters, self.nodes = options.clusters, options.nodes
        self.probes = min(20, self.clusters // 2)
        self.members = plane.directory / "members"
        self.members.mkdir()
        self.servant = Servant([controlplane.oracle("fleet"), "-directory", self.members, "-members", self.clusters,
                                "-nodes", self.nodes, "-probes", self.probes])
        self.informers = controlplane.oracle("informers")
        self.server = server or plane.add_server("hub")
        if server is None:
            self.server.install_crds(only=fleet.CRDS)
        self.server.create(fleet.FLAVORS, fleet.flavor(FLAVOR))
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            names = {self.queue_of(i) for i in range(self.clusters)}
            list(pool.map(lambda name: self.server.create(fleet.QUEUES, fleet.cluster_queue(name, (FLAVOR,))), names))
            list(pool.map(self.create_claim, range(self.clusters)))
        self.hub = None

    def queue_of(self, i):
        return f"probe-{i}" if i < self.probes else f"queue-{i % QUEUES}"

    def create_claim(self, i):
        """All cpu of a cluster for probes; half of the others', so that Nodes that flip cost the API server nothing."""
        cpu = {"cpu": str(64 * self.nodes // (1 if i < self.probes else 2))}
        made = self.fleet.claim(f"member-{i}")
        made["spec"]["nominalResources"] = cpu
        made["spec"]["resourceAssignments"] = [
            {"clusterQueueName": self.queue_of(i), "flavor": FLAVOR, "resources": cpu}]
        self.server.create(self.fleet.CLAIMS, made)

    def say(self, what, **values):
        if self.options.verbose:
            print(what, json.dumps(values), file=sys.stderr, flush=True)

    # -- the hub -------------------------------------------------------------------------------------------------

    def start(self):
        """Starts the hub, with the data of the one before; seconds until it plans, and until all claims are known."""
        old = self.hub
        settings = (self.hubs.AT_ONCE, *self.settings)
        self.hub = self.hubs.Hub(self.plane, self.server, settings=settings, config=json.dumps({
            "apiVersion": "fairlead.io/v1alpha1", "kind": "Configuration",
            "members": {"mode": "none", "kubeconfigs": [
                {"cluster": f"member-{i}", "file": str(self.members / f"member-{i}")} for i in range(self.clusters)]},
            "capacity": {"headroom": {"percent": {}, "reserved": {}}}, "claims": {"create": False}}),
            data=old and old.data)
        begin = time.monotonic()
        self.hub.start()
        self.meter = Meter(self.hub.process.child.pid)
        self.wait("it plans", lambda lines: "fairlead_planning 1" in lines, 0.05)
        planning = time.monotonic() - begin
        self.wait("all Nodes to be listed", lambda lines: self.clusters == sum(
            line.startswith("watch_synced") and line.endswith('kind="Node"} 1') for line in lines), 1)
        self.wait("every claim's capacity", lambda lines:
                  f'fairlead_claims{{condition="CapacityKnown",status="True"}} {self.clusters}' in lines, 1)
        return planning, time.monotonic() - begin

    def wait(self, what, condition, interval):
        """Until its metrics are as `condition` says. They cost it CPU, so they are not asked for more than needed."""
        def fulfilled():
            self.hub.check_running()
            try:
                return condition(self.hub.http("/metrics")[1].splitlines())
            except OSError:
                return False
        self.wait_for(what, fulfilled, 1800, interval)

    def usage(self, **more):
        text = self.hub.process.text()
        return {"cpu": self.meter.cpu(), "rss": round(self.meter.mebibytes()),
                "peak": round(self.meter.mebibytes("VmHWM")), "descriptors": self.meter.descriptors(),
                "warnings": text.count(" warn"), "fleet": self.servant.ask("stats"), **more}

    def load(self, kind, count, rate):
        """CPU seconds of the hub for 1,000 of them."""
        before = self.meter.cpu()
        self.servant.ask(kind, count, rate)
        time.sleep(2)
        used = (self.meter.cpu() - before) * 1000 / count
        self.say(kind, cpu_of_1000=used, rss=self.meter.mebibytes())
        return used

    def latencies(self, count, rate, apart=0.25):
        """Milliseconds of single changes to the acknowledged patch, and of bare patches, while `rate` Nodes flip a
        second. A change every `apart` seconds."""
        bare = threading.Event()
        times = []

        def patch():
            path = f"{self.fleet.FLAVORS}/{FLAVOR}"
            number = 0
            while not bare.is_set():
                begin = time.perf_counter()
                self.server.merge(path, {"metadata": {"annotations": {"number": str(number)}}})
                times.append((time.perf_counter() - begin) * 1e3)
                number += 1
                time.sleep(0.1)
        changed = []
        prober = threading.Thread(target=patch)
        prober.start()
        for number in range(count):
            answer = self.servant.ask("probe", number % self.probes)
            changed.append((answer["sent"], str(answer["version"]), f"member-{number % self.probes}"))
            self.servant.ask("flips", max(1, int(rate * apart)), rate)
        bare.set()
        prober.join()
        time.sleep(2)
        return self.acknowledged(changed), times

    def acknowledged(self, changed):
        """The hub's own account: the change's event, the intent for the queue behind it, the answer to that."""
        sent = {(version, source): at for at, version, source in changed}
        waiting, intents, took = {}, {}, []
        for event in self.hub.events():
            if event["fact"] == "ObjectObserved" and event["kind"] == "Node":
                at = sent.get((event.get("resourceVersion"), event.get("source", "").rpartition("/")[2]))
                if at:
                    waiting["probe-" + event["source"].rpartition("-")[2]] = at
            elif event["fact"] == "PatchIntended" and event["name"] in waiting:
                intents[event["seq"]] = waiting.pop(event["name"])
            elif event["fact"] == "PatchAccepted" and event["intent"] in intents:
                took.append((self.nanoseconds(event["logTime"]) - intents.pop(event["intent"])) / 1e6)
        assert len(took) >= len(changed) * 0.9, f"{len(changed)} changes, {len(took)} answers"
        return took

    def question(self):
        """(seconds of `audit quota --server`, MiB that it adds, seconds of GET /metrics)."""
        self.meter.forget_peak()
        before = self.meter.mebibytes()
        begin = time.monotonic()
        done = subprocess.run([str(self.options.program), "audit", "quota", "probe-0", "--server",
                               f"http://127.0.0.1:{self.hub.port}"], capture_output=True, text=True, check=False)
        took = time.monotonic() - begin
        assert done.returncode == 0, done.stderr
        added = self.meter.mebibytes("VmHWM") - before
        begin = time.monotonic()
        self.hub.http("/metrics")
        return took, added, time.monotonic() - begin

    def end(self, stop):
        begin = time.monotonic()
        stop()
        return time.monotonic() - begin

    # -- beside it -----------------------------------------------------------------------------------------------

    def beside(self, heartbeats, rate):
        """(CPU seconds until synced, MiB at rest, CPU seconds for 1,000 heartbeats) of client-go."""
        files = [self.members / f"member-{i}" for i in range(self.clusters)]
        informers = Servant([self.informers, *files])
        meter = Meter(informers.process.pid)
        synced = meter.cpu()
        time.sleep(1 if self.options.tiny else 20)
        rss, before = meter.mebibytes(), meter.cpu()
        self.servant.ask("heartbeats", heartbeats, rate)
        time.sleep(2)
        per_thousand = (meter.cpu() - before) * 1000 / heartbeats
        self.say("client-go", cpu=synced, rss=rss, cpu_of_1000=per_thousand, descriptors=meter.descriptors())
        informers.end()
        return synced, rss, per_thousand

    def run(self):
        tiny = self.options.tiny
        heartbeats, rate = (10, 100) if tiny else (20_000, 1000)
        planning, known = self.start()
        started = self.usage(planning=planning, known=known)
        self.say("start", **started)
        time.sleep(1 if tiny else 60)
        rest = self.usage()
        self.say("rest", **rest)
        heartbeat = self.load("heartbeats", heartbeats, rate)
        self.load("changes", heartbeats, rate)
        ours, bare = self.latencies(self.probes if tiny else 200, max(1, self.clusters * self.nodes // 100))
        self.say("latency", p50=sorted(ours)[len(ours) // 2], p99=p99(ours), bare=p99(bare))
        question, added, metrics = self.question()
        self.say("question", seconds=question, added=added)
        stopped = self.end(lambda: self.hub.process.stop(120))
        again, known = self.start()
        self.say("start with a snapshot", planning=again, **self.usage(known=known))
        self.end(self.hub.kill)
        killed, known = self.start()
        self.say("start after SIGKILL", planning=killed, known=known)
        self.say("stop", seconds=stopped, again=self.end(lambda: self.hub.process.stop(120)))
        synced, rss, per_thousand = (0, 0, 0) if self.options.alone else self.beside(heartbeats, rate)
        self.servant.end()
        values = [(started["cpu"], synced), (rest["rss"], rss), (rest["fleet"]["open"] / self.clusters, STREAMS),
                  (heartbeat, per_thousand), (p99(ours), p99(bare)), (question, metrics), (stopped, again)]
        for (name, (unit, bound_is, limit)), (measured, bound) in zip(ROWS.items(), values):
            if self.options.alone and bound_is == CLIENT_GO:
                continue
            ratio = measured / bound if bound else 0
            yield {"name": name, "unit": unit, "measured": measured, "bound": bound, "bound_is": bound_is,
                   "ratio": ratio, "better": "less", "limit": limit, "ok": ratio <= limit}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--only", default="", help="one row; all are measured")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--repeat", type=int, default=1, help="is not: one run takes minutes")
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=100)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--directory", help="on a disk: the hub's log and etcd's go there, and are removed")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if options.list:
        print("\n".join(ROWS))
        return 0
    from harness.controlplane import ControlPlane, assets, oracle
    if not assets() or not oracle("fleet"):
        for name in ROWS:
            print(json.dumps({"name": name, "ok": True, "skipped": "no control plane: run scripts/controlplane"}))
        return 0
    if options.tiny:
        options.clusters, options.nodes = 4, 5
    tempfile.tempdir = options.directory and str(pathlib.Path(options.directory).resolve())
    options.program = options.program.resolve()
    os.environ["FAIRLEAD"] = str(options.program)
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    with ControlPlane() as plane:
        for row in Bench(plane, options).run():
            if row["name"].startswith(options.only):
                print(json.dumps(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
