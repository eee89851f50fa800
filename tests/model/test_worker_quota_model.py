"""The model of quotas that follow the workers, against the scenarios that say its rules by hand (tests/scenarios)."""
import json
import os
import pathlib
import re
import subprocess
import unittest

import worker_quota
from capacity import amount
from compare import milliseconds

SCENARIOS = pathlib.Path(__file__).resolve().parents[1] / "scenarios"
# small.yaml, which all of them include.
FLAVORS = [{"type": "ADDED", "time": 0, "cluster": "hub", "object": {
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": name},
    "spec": {"nodeLabels": {"type": name}}}} for name in ("od", "spot")]
START = "1970-01-01T00:00:00Z"
CONFIG = {"debounce": {"ingestCoalesce": 0}, "headroom": {"percent": {"cpu": 5, "memory": 5}, "reserved": {}},
          "overbookPercent": 100}


def scenario(path):
    """(lines, [(time, queue, {pair: amount})]) of a scenario; what it expects of other kinds is left out."""
    given, wanted = path.read_text().split("----\n")
    facts = "".join(line + "\n" for line in given.splitlines() if not re.match("#|(args|show|include):", line))
    program = os.environ["EXPAND_FACTS"]
    events = subprocess.run([program], input=facts, capture_output=True, text=True, check=True).stdout
    lines = [json.loads(text) for text in events.splitlines() if text]
    lines = FLAVORS + [dict(x, time=milliseconds(x.get("time", START)), cluster=x.get("cluster", "hub")) for x in lines]
    writes = []
    for time, queue, pairs in re.findall(r"^(\S+) apply ClusterQueue (\S+)  (.*)$", wanted, re.MULTILINE):
        quota = {(part.split(": ")[0], *text.split(" ")[:1]): amount("cpu", text.split(" ")[1])
                 for part in pairs.split("; ") for text in part.split(": ")[1].split(", ")}
        h, m, s = map(int, time.split(":"))
        writes.append(((h * 60 + m) * 60000 + s * 1000, queue, quota))
    return lines, writes


class ScenariosTest(unittest.TestCase):
    def test_the_model_writes_what_each_scenario_expects(self):
        paths = sorted((SCENARIOS / "workers").glob("*.txt"))
        self.assertGreater(len(paths), 10)
        for path in paths:
            lines, wanted = scenario(path)
            with self.subTest(path.stem):
                written = worker_quota.Hub(CONFIG, {}).run(lines)
                # The model makes no place for a pair that the queue does not have.
                self.assertEqual([(time, queue) for time, queue, _ in written], [each[:2] for each in wanted])
                for (_, _, seen), (_, _, quota) in zip(written, wanted):
                    self.assertEqual(seen, {pair: quota[pair] for pair in seen})


if __name__ == "__main__":
    unittest.main()
