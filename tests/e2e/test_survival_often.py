"""kill -9 of `fairlead hub` at random moments, many times: against the API server model, which keeps a record of its
own of what the hub has done. Nothing that was done may be missing from the log, and no event that was once read.

FAIRLEAD_KILLS: how many, 200 without it; FAIRLEAD_SEED: of the moments. A life lasts up to twice as long as this
machine takes to the first write.
"""

import itertools
import json
import os
import pathlib
import random
import sys
import tempfile
import threading
import time
import unittest

from harness.fleet import CLAIMS, FLAVORS, NODES, QUEUES, claim, cluster_queue, flavor
from harness.hub import AT_ONCE
from harness.process import Process, wait_for
from harness.program import ROOT, binary, fairlead, json_lines, model_server

sys.path.append(str(ROOT / "tests/conformance"))
from model_server import ModelServer  # noqa: E402

NEEDS = ("fairlead", "model server")

KILLS = int(os.environ.get("FAIRLEAD_KILLS") or 200)
KILLS_PER_LOG = 50  # then a new log, and a new server: a start folds all events
CHECKED_EVERY = 10
QUEUE = "high-priority-queue"


def node(number):
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}", "labels": {"pool": "on-demand"}},
            "status": {"allocatable": {"cpu": "100", "memory": "100Gi", "nvidia.com/gpu": "1"},
                       "conditions": [{"type": "Ready", "status": "True"}]}}


class Server(ModelServer):
    """The hub's API server, which is the member's, too; and a person who keeps a record."""

    def ask(self, method, path, value=None, kind="application/json"):
        code, _, answer = self.exchange(method, path, value and json.dumps(value), {"Content-Type": kind})
        assert code < 300, (method, path, code, answer)
        return json.loads(answer)

    def prepare(self):
        for path, value in ((FLAVORS, flavor("on-demand")), (FLAVORS, flavor("spot")), (QUEUES, cluster_queue(QUEUE)),
                            (QUEUES, cluster_queue("low-priority-queue")), (CLAIMS, claim()),
                            *((NODES, node(number)) for number in range(5))):
            self.ask("POST", path, value)

    def quota(self):
        found = self.ask("GET", f"{QUEUES}/{QUEUE}")
        return json.dumps(found["spec"]["resourceGroups"], sort_keys=True)


class Loop:
    """One server, one log, and a hub that is killed and started again."""

    def __init__(self, folder, seed):
        self.folder, self.seed = folder, seed
        self.chance = random.Random(seed)
        self.known = {}  # seq: event, as it was once read
        self.done = set()  # what the queue was seen to be
        self.ends = threading.Event()

    def command(self, kubeconfig):
        configuration = self.folder / "configuration.json"
        configuration.write_text(json.dumps({
            "apiVersion": "fairlead.io/v1alpha1", "kind": "Configuration",
            "members": {"mode": "none", "kubeconfigs": [{"cluster": "cluster2", "file": str(kubeconfig)}]},
            "claims": {"create": False}}))
        return [binary(), "hub", "--kubeconfig", kubeconfig, "--data", self.folder / "data", "--config", configuration,
                "--set", AT_ONCE]

    def disturb(self, server):
        """Nodes grow and shrink, and what the queue is, is noted: it was the hub that wrote it."""
        chance = random.Random(self.seed)
        for number in itertools.cycle(range(5)):
            if self.ends.wait(0.02):
                return
            server.ask("PATCH", f"{NODES}/n{number}/status", {"status": {"allocatable": {
                "cpu": str(chance.randrange(1, 100))}}}, "application/merge-patch+json")
            self.done.add(server.quota())

    def check(self, first):
        """Log and record agree: what was read before is there, and each thing that was done is an intent."""
        shown = fairlead("log", "cat", "--data", self.folder / "data")
        assert shown.returncode == 0, f"seed {self.seed}: {shown.stderr}"
        events = {event["seq"]: event for event in json_lines(shown.stdout)}
        for seq, event in self.known.items():
            assert events.get(seq) == event, f"seed {self.seed}: event {seq} was {event}, is {events.get(seq)}"
        self.known = events
        bodies = [event["body"] for event in events.values() if event["fact"] == "PatchIntended"]
        intended = {json.dumps(body["spec"]["resourceGroups"], sort_keys=True) for body in bodies
                    if body and (body["kind"], body["metadata"]["name"]) == ("ClusterQueue", QUEUE)}
        for quota in self.done - {first}:
            assert quota in intended, f"seed {self.seed}: nobody intended {quota}"

    def first_life(self, hub, server, first):
        """How long a hub may live: on this machine, as busy as it is, it has written by half of that."""
        began = time.monotonic()
        hub.start()
        wait_for("the first write", lambda: hub.running() and server.quota() != first, interval=0.01)
        hub.kill()
        return 2 * (time.monotonic() - began)

    def run(self, kills):
        with Server() as server:
            server.prepare()
            first = server.quota()
            hub = Process("fairlead", self.command(server.kubeconfig(self.folder)), self.folder / "diagnostics")
            disturbing = threading.Thread(target=self.disturb, args=(server,), daemon=True)
            disturbing.start()
            life = self.first_life(hub, server, first)
            for number in range(1, kills + 1):
                hub.start()
                time.sleep(self.chance.random() * life)
                assert hub.running(), f"seed {self.seed}: {hub.tail()}"
                hub.kill()
                if number % CHECKED_EVERY == 0 or number == kills:
                    self.check(first)
            self.ends.set()
            disturbing.join()
            for part in (("log", "verify"), ("replay", "--verify")):
                done = fairlead(*part, "--data", self.folder / "data", timeout=300)
                assert done.returncode == 0, f"seed {self.seed}: {part}: {done.stdout}{done.stderr}"
        return len(self.known), len(self.done)


class OftenKilledTest(unittest.TestCase):
    def test_at_random_moments(self):
        seed = int(os.environ.get("FAIRLEAD_SEED") or random.SystemRandom().randrange(10**6))
        print(f"seed {seed}, {KILLS} kills", flush=True)
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        events = writes = 0
        parts = [min(KILLS_PER_LOG, KILLS - begin) for begin in range(0, KILLS, KILLS_PER_LOG)]
        for number, kills in enumerate(parts):
            place = folder / str(number)
            place.mkdir()
            seen = Loop(place, seed + number).run(kills)
            events, writes = events + seen[0], writes + seen[1]
        print(f"{KILLS} kills, {events} events, {writes} quotas seen", flush=True)
        self.assertGreater(writes, KILLS // 4, "the hub wrote too little for its deaths to matter")


if __name__ == "__main__":
    unittest.main()
