#!/usr/bin/env python3
"""What holds at every moment of every trace of the dispatcher, of the model and with --binary of the program too.

    dispatch_properties.py [--binary build/dev/fairlead] --seeds 0..60

Of the model: no device is reserved as a whole by two Workloads, or reserved and sound while a claim of another one uses
it; what waits is nominated where it is reserved; a moment that is looked at again changes nothing. Of what is applied
to Workloads: one cluster of the trace is nominated where the condition says Reserved, and none where it does not.
"""
import argparse
import collections
import sys
import time

import compare_dispatch
import dispatch_traces
from dispatch_hub import Hub


class Watched(Hub):
    """Judges itself at the end of each moment, and looks at each moment twice."""

    def __init__(self, settings):
        super().__init__(settings)
        self.breaches = []

    def moment(self, lines, now):
        super().moment(lines, now)
        self.judge()
        before = len(self.writes), {key: (v.nomination, v.condition, v.reservation) for key, v in self.verdicts.items()}
        super().moment([], now)
        after = len(self.writes), {key: (v.nomination, v.condition, v.reservation) for key, v in self.verdicts.items()}
        if before != after:
            self.breaches.append((now, "a second look changes something", before, after))

    def judge(self):
        takers = collections.defaultdict(list)
        for (_, name), w in self.dispatch.known.items():
            r = w.reservation
            if r is None:
                continue
            verdict = self.verdicts[w.object["metadata"]["namespace"], name]
            if verdict.nomination is not None and verdict.nomination != (r.name,):
                self.breaches.append((self.now, "nominated elsewhere", name, verdict.nomination))
            for device, share in r.taken():
                takers[r.cluster, device] += [name] if share is None and r.broken is None else []
                if share is None and r.broken is None and self.used_by_another(w, r, device):
                    self.breaches.append((self.now, "used by another", name, device))
        self.breaches += [(self.now, "reserved twice", key, names) for key, names in takers.items() if len(names) > 1]

    def used_by_another(self, w, r, device):
        member, metadata = self.dispatch.members[r.cluster], w.object["metadata"]
        own = member.claims_of(metadata["namespace"], metadata["name"])
        return any(used == device and share is None and claim not in own
                   for (claim, used, _), (share, _) in member.pins.items())


def of_writes(writes, clusters):
    """Breaches in what is applied to Workloads."""
    found = []
    for when, namespace, name, nominated, condition in compare_dispatch.effects(writes):
        reserved = condition == ("True", "Reserved")
        if condition and len(nominated) != reserved or not set(nominated) <= clusters:
            found.append((when, "%s/%s" % (namespace, name), nominated, condition))
    return found


def breaches(maker, binary):
    """Of one trace."""
    lines = maker.make()
    hub = Watched(maker.settings)
    hub.run(lines)
    names = {"%s-%s" % (dispatch_traces.PLACE, c) for c in maker.clusters}
    found = hub.breaches + of_writes(compare_dispatch.stamped(hub.writes), names)
    if binary:
        found += of_writes(compare_dispatch.plan(binary, maker.settings, lines), names)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary")
    parser.add_argument("--seeds", default="0..60")
    parser.add_argument("--seconds", type=float, default=20)
    options = parser.parse_args()
    low, _, high = options.seeds.partition("..")
    began, ran, bad = time.monotonic(), 0, 0
    for seed in range(int(low), int(high or low) + 1):
        if time.monotonic() - began > options.seconds:
            break
        found = breaches(dispatch_traces.Maker(seed), options.binary)
        ran += 1
        bad += bool(found)
        for breach in found[:3]:
            print("seed %d: %s" % (seed, breach))
    print("%d traces, %d with breaches" % (ran, bad))
    return 1 if bad or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
