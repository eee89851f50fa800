"""Gangs: our search gives random clusters the model's answer, pod for pod and device for device, or its reason.

The model (tests/model/devices.py) goes through everything in order; the search skips what cannot change the answer.
FAIRLEAD_GANG_SEEDS=0..20000 compares more.
"""

import collections
import os
import pathlib
import signal
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE / "devices"), str(HERE.parent / "model")]

import devices  # noqa: E402
import devices_values as v  # noqa: E402
from compare_devices import Program  # noqa: E402
from gangs import GangMaker  # noqa: E402

OURS = os.environ.get("FAIRLEAD_DEVICES_FIT", "")
SEEDS = os.environ.get("FAIRLEAD_GANG_SEEDS", "0..700")
# The model has no skill: a few clusters take it for ever.
SECONDS = 1


class Late(Exception):
    pass


def model_answer(world):
    """None where the model takes too long."""
    def late(*_):
        raise Late
    signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        return devices.answer_cluster(world)
    except Late:
        return None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def device(found):
    return (found["claim"], found["request"], found["pool"], found["device"], bool(found.get("adminAccess")),
            bool(found.get("shareID")),
            tuple(sorted((name, v.quantity(amount)) for name, amount in found.get("consumedCapacity", {}).items())))


def plain(answer):
    """An answer as it is compared."""
    if answer.get("error"):
        return answer["error"]
    if not answer["fits"]:
        return answer["reason"], answer["detail"]
    return [(pod["podSet"], pod["node"], [device(found) for found in pod["devices"]]) for pod in answer["pods"]]


@unittest.skipUnless(os.access(OURS, os.X_OK), "no fairlead-devices-fit (the build makes it)")
class Gangs(unittest.TestCase):
    def test_our_search_answers_as_the_model(self):
        low, high = map(int, SEEDS.split(".."))
        program, met = Program(OURS), collections.Counter()
        for seed in range(low, high):
            world = GangMaker(seed).make()
            expected = model_answer(world)
            if expected is None or "Budget" in (expected.get("reason"), expected.get("error")):
                met["undecided"] += 1
                continue
            self.assertEqual(plain(program.answer(world)), plain(expected), f"seed {seed}")
            met[expected.get("reason", "fits")] += 1
        program.close()
        # A sample that does not meet them compares too little.
        for answer in ("fits", "GangTooBig", "NoDevices", "NoNode", "SelectorError"):
            self.assertGreater(met[answer], (high - low) // 100, met)
        self.assertLess(met["undecided"], (high - low) // 10, met)


if __name__ == "__main__":
    unittest.main()
