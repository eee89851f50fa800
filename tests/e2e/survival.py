"""What every survival test demands after its fault: converged, quiet, and a log that verifies.

Converged means: the objects are those that an undisturbed hub makes of the same nodes. The fleet has two pictures, all
ten nodes and one less, and an undisturbed hub shows first what it makes of each. FAIRLEAD_EXHAUSTIVE=1 asks
for the full depth: ten minutes of quiet, 200 kills, 5000 nodes.
"""

import os
import pathlib
import struct

from harness.fleet import CLAIMS, NODES, QUEUES, add_node, remove_node
from harness.program import fault_shim
from harness.process import stays, wait_for
from harness.times import nanoseconds
from test_hub import HubTest

EXHAUSTIVE = bool(os.environ.get("FAIRLEAD_EXHAUSTIVE"))
QUIET = 600 if EXHAUSTIVE else 3
# Longer than the ten seconds after which a write without an answer is done again.
LONG_QUIET = max(QUIET, 12)
WHOLE, LESS = "all nodes", "one node less"
# `seq` of a claim's status is the place in the log that it follows from.
_MOMENTS = ("lastTransitionTime", "observedGeneration", "seq")


def without_moments(value):
    if isinstance(value, dict):
        return {key: without_moments(item) for key, item in value.items() if key not in _MOMENTS}
    return [without_moments(item) for item in value] if isinstance(value, list) else value


def leaves(value, path=""):
    """The values of a tree by their paths."""
    if isinstance(value, (dict, list)) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return {at: leaf for key, item in items for at, leaf in leaves(item, f"{path}/{key}").items()}
    return {path: value}


class Faults:
    """What the fault shim tells a program that runs with `environment`."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.tell()
        self.environment = {"LD_PRELOAD": str(fault_shim()), "FAIRLEAD_FAULTS": str(self.path)}

    def tell(self, clock_seconds=0, disk_full=False, syncs_held=False):
        # In place: the program has it mapped.
        with open(self.path, "r+b" if self.path.exists() else "wb") as file:
            file.write(struct.pack("qqq", clock_seconds, int(disk_full), int(syncs_held)))


class SurvivalTest(HubTest):
    # By picture; the same on every server, so learnt once.
    made = {}

    def show(self, picture):
        """Makes the member's fleet what `picture` says."""
        if picture == LESS:
            remove_node(self.member, "spot-4")
        elif self.member.get(f"{NODES}/spot-4") is None:
            add_node(self.member, "spot-4", "spot")
        self.picture = picture

    def objects(self):
        """What a hub makes: its fields, without the moments."""
        made = {}
        for path in (QUEUES, CLAIMS):
            for item in self.server.get(path)["items"]:
                made[f"{path}/{item['metadata']['name']}"] = without_moments({
                    "finalizers": item["metadata"].get("finalizers"), "spec": item["spec"],
                    "status": item.get("status")})
        return made

    def learn(self, hub):
        """Keeps what an undisturbed hub makes of both pictures."""
        if self.made:
            return
        for picture, low in ((LESS, "400"), (WHOLE, "500")):
            self.show(picture)
            self.wait_for_cpu(hub, "500", low)
            self.made[picture] = self.settled(hub)

    def settled(self, hub):
        """The objects, when they have been the same for a while."""
        seen = []

        def still():
            seen.append(self.objects())
            return len(seen) > 15 and seen[-1] == seen[-15]

        return hub.wait_until("the objects to settle", still) and seen[-1]

    def undisturbed_first(self, **options):
        """A running hub whose claim is granted in full; what it makes of both pictures is known."""
        self.picture = WHOLE
        hub = self.started_with_claim(**options)
        self.learn(hub)
        return hub

    def wait_for_convergence(self, hub, timeout=60):
        def equal():
            assert self.objects() == self.made[self.picture], self.difference()
            return True
        hub.wait_until(f"what an undisturbed hub makes of {self.picture}", equal, timeout)

    def wait_for_rest(self, hub, timeout=60):
        """Until the hub plans, and its log has not grown for two seconds."""
        seqs = []

        def still():
            seqs.append(hub.stat()["last_seq"])
            return len(seqs) > 4 and seqs[-1] == seqs[-5] and hub.http("/readyz")[0] == 200

        wait_for("the log to rest", lambda: hub.check_running() and still(), timeout, interval=0.5)

    def difference(self):
        seen, wanted = leaves(self.objects()), leaves(self.made[self.picture])
        return "\n".join(f"{path}: {seen.get(path)!r} instead of {wanted.get(path)!r}"
                         for path in {**seen, **wanted} if seen.get(path) != wanted.get(path))

    def check_survived(self, hub, quiet=QUIET, timeout=60):
        """Converged, no write in the quiet, and history is as it should be. The hub is stopped."""
        self.wait_for_rest(hub, timeout)
        self.wait_for_convergence(hub, timeout)
        written = len(hub.events(fact="PatchIntended"))
        stays("the objects as they are", lambda: hub.check_running() and self.objects() == self.made[self.picture],
              seconds=quiet, interval=1)
        self.assertEqual(len(hub.events(fact="PatchIntended")), written, "the hub wrote in the quiet")
        hub.stop()
        hub.check_log()
        times = [nanoseconds(event["logTime"]) for event in hub.events()]
        self.assertEqual(times, sorted(times), "log time went back")
