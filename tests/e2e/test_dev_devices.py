"""`fairlead dev --fleet devices`: the quota follows the GPUs that a driver publishes."""

import json
import unittest

from harness.program import fairlead, json_lines
from test_dev import DevTest

NEEDS = ("fairlead",)

QUEUE = "training"


class DeviceStoryTest(DevTest):
    def quotas(self):
        """The quotas that were decided, in their order."""
        done = fairlead("log", "cat", "--data", self.data)
        self.assertEqual(done.returncode, 0, done.stderr)
        written = []
        for event in json_lines(done.stdout):
            if event["fact"] == "PatchIntended" and event["kind"] == "ClusterQueue":
                pair = event["body"]["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
                written.append(int(pair["nominalQuota"]))
        return written

    def test_a_round(self):
        dev = self.dev("--fleet", "devices", "--for", "300s")
        for pattern in (r"  driver    publishes 8 GPUs on each of 4 nodes",
                        r"  fairlead  ClusterQueue training: .*0 -> 32",
                        r"  driver    gpu-\d: a GPU is broken: the driver taints it",
                        r"  fairlead  ClusterQueue training: .*32 -> 31",
                        r"  driver    gpu-\d: the GPU is repaired",
                        r"  fairlead  ClusterQueue training: .*31 -> 32",
                        r"  driver    gpu-\d: the driver is upgraded: the first of two slices",
                        r"  admin     gpu-\d: is cordoned, with its GPUs",
                        r"  fairlead  ClusterQueue training: .*32 -> 24",
                        r"  admin     gpu-\d: takes pods again",
                        r"  driver    gpu-\d: the driver is upgraded and hangs",
                        r"  driver    gpu-\d: the driver goes on and is complete"):
            self.wait_for_line(dev, pattern, timeout=120)
        dev.stop(60)
        self.assertNotIn("not possible", dev.text())
        self.check_log()
        # The upgrade that takes 40 seconds changes nothing; the one that hangs for longer than poolHold does.
        self.assertEqual(self.quotas()[:6], [32, 31, 32, 24, 32, 24])

    def test_it_says_what_to_try(self):
        dev = self.dev("--fleet", "devices", "--for", "5s")
        self.assertEqual(dev.wait(120), 0, dev.tail())
        self.assertIn("get resourceslices", dev.text())
        self.assertRegex(dev.text(), r"(?m)^  replay verified  yes$")
        stat = fairlead("log", "stat", "--data", self.data, "-o", "json")
        self.assertGreater(json.loads(stat.stdout)["events"], 10)


if __name__ == "__main__":
    unittest.main()
