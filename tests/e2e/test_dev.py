"""`fairlead dev`: a hub that needs nothing, and a current kubectl that works against it."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from harness import controlplane
from harness.process import Process, wait_for
from harness.program import binary, fairlead

NEEDS = ("fairlead",)

CLAIM = "cluster2-resource-claim"
# Longer than a busy machine needs for all of a test; each stops its own when it is done.
LONG = "300s"


def kubectl_program():
    """Of KUBEBUILDER_ASSETS or of the control plane's cache, else the one in PATH; None where there is none."""
    assets = controlplane.assets()
    if assets is not None and os.access(assets / "kubectl", os.X_OK):
        return str(assets / "kubectl")
    return shutil.which("kubectl")


class DevTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="fairlead-dev-test-")))
        self.data = self.directory / "data"
        self.kubeconfig = self.data / "kubeconfig"

    def dev(self, *arguments, speed=120):
        program = Process("dev", [binary(), "dev", "--speed", speed, "--seed", "7", "--port", "0",
                                  "--data", self.data, *arguments], self.directory / "dev.txt").start()
        self.addCleanup(program.kill)
        return program

    def check_log(self):
        for command in (("log", "verify"), ("replay", "--verify")):
            done = fairlead(*command, "--data", self.data, timeout=120)
            self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")

    def wait_for_line(self, program, pattern, timeout=60):
        def found():
            assert program.running(), program.tail()
            return re.search(pattern, program.text())
        return wait_for(f"a line with {pattern}", found, timeout)


class AccountTest(DevTest):
    def test_a_run_tells_what_happened_and_leaves_a_log_that_verifies(self):
        # A run is long once it has eight snapshots: of 80 events here.
        program = self.dev("--for", "20s", "--set", "log.snapshotEvery=10")
        self.assertEqual(program.wait(120), 0, program.tail())
        text = program.text()
        self.assertIn(f"--kubeconfig {self.kubeconfig} get clusterresourceclaims", text)
        # What to do next without kubectl: this very program, and its hub.
        self.assertRegex(text, r"(?m)^  (/\S+|\S+/fairlead) audit quota --server http://127.0.0.1:\d+$")
        for pattern in (r"(?m)^  chain ok         yes$", r"(?m)^  replay verified  yes$"):
            self.assertRegex(text, pattern)
        self.assertNotIn("not possible", text)
        events = int(re.search(r"events logged +(\d+)", text).group(1))
        stat = fairlead("log", "stat", "--data", self.data, "-o", "json")
        self.assertEqual(json.loads(stat.stdout)["events"], events)
        self.check_log()
        self.assertGreater(events, 80)
        self.assertGreater(len(list((self.data / "snapshots").iterdir())), 7)
        self.assertEqual(fairlead("snapshot", "verify", "--data", self.data).returncode, 0)
        self.assertTrue((self.data / "moments").exists(), "the index of the page")
        self.assertFalse((self.data / "folded").exists(), "its snapshots are near")

    def test_everything_happens_until_a_signal_ends_it_and_its_temporary_directory_is_gone(self):
        program = Process("dev", [binary(), "dev", "--speed", "120", "--seed", "7"],
                          self.directory / "dev.txt").start()
        self.addCleanup(program.kill)
        place = pathlib.Path(self.wait_for_line(program, r"--kubeconfig (\S+)/kubeconfig ").group(1))
        self.assertTrue(place.exists())
        for pattern in (r" 0:\d\d:\d\d  fairlead  creates ClusterResourceClaim cluster1-resource-claim",
                        r"  fairlead  ClusterQueue high-priority-queue: .*0 -> .*claims/grow",
                        r"  fleet     cluster1: on-demand-\d is cordoned",
                        r"  fleet     cluster2: spot-\d flaps",
                        r"  fairlead  ClusterQueue low-priority-queue: .*-> .*claims/shrink",
                        r"  fleet     cluster2: on-demand-\d dies",
                        r"  fleet     cluster3: rack-. loses power",
                        r"  user      team-blue/survey-1: submits a job of 1150 cpu and 11 GPUs",
                        r"  kueue     job team-(blue|green)/survey-1 waits: couldn't assign flavors to pod set main: ",
                        r"  admin     cluster2: kubectl edit clusterresourceclaim",
                        r"  fleet     cluster4: joins the hub",
                        r"  admin     kubectl apply of an old file",
                        r"  fleet     cluster\d: is not heard of any more",
                        r"  kueue     job team-blue/\w+-1 is evicted: urgent-1 has a higher priority",
                        r"  kueue     job team-blue/urgent-1 is finished"):
            self.wait_for_line(program, pattern, timeout=240)
        program.signal(signal.SIGINT)
        self.assertEqual(program.wait(60), 0, program.tail())
        self.assertIn("replay verified  yes", program.text())
        self.assertNotIn("not possible", program.text())
        self.assertFalse(place.exists())

    def test_bad_usage_is_refused_before_anything_starts(self):
        self.data.mkdir()
        (self.data / "mine").write_text("precious")
        for arguments, words in ((("--data", self.data), "expected an empty directory"),
                                 (("--for", "soon"), "expected a duration"),
                                 (("--speed", "0"), "speed"),
                                 (("--set", "debounce.growWindow=never"), "debounce.growWindow")):
            done = fairlead("dev", *arguments)
            self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
            self.assertIn(words, done.stderr)
        self.assertEqual((self.data / "mine").read_text(), "precious")


class WithKubectl(DevTest):
    def setUp(self):
        super().setUp()
        self.program = kubectl_program()
        if self.program is None:
            self.skipTest("no kubectl (scripts/controlplane builds one; or KUBEBUILDER_ASSETS, or PATH)")

    def command(self, *arguments, kubeconfig=None):
        return [self.program, f"--kubeconfig={kubeconfig or self.kubeconfig}",
                f"--cache-dir={self.directory / 'cache'}", *map(str, arguments)]

    def kubectl(self, *arguments, stdin=None, kubeconfig=None):
        done = subprocess.run(self.command(*arguments, kubeconfig=kubeconfig), input=stdin, capture_output=True,
                              text=True, timeout=60)
        self.assertEqual(done.returncode, 0, f"kubectl {arguments}: {done.stderr}")
        return done.stdout


class KubectlTest(WithKubectl):
    def queue_manifest(self, name):
        return json.dumps({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": name},
                           "spec": {"namespaceSelector": {}}})

    def test_kubectl_reads_and_writes_while_the_fleet_lives(self):
        dev = self.dev("--for", LONG)
        self.wait_for_line(dev, r"fairlead  creates ClusterResourceClaim cluster1-resource-claim")
        table = self.kubectl("get", "clusterresourceclaims")
        self.assertRegex(table.splitlines()[0], r"^NAME +.*AGE")
        self.assertIn(CLAIM, table)
        self.assertNotIn("<invalid>", table)
        self.assertIn("clusterName: cluster2", self.kubectl("get", "clusterresourceclaim", CLAIM, "-o", "yaml"))
        self.assertIn("Cluster Name:  cluster2", self.kubectl("describe", "clusterresourceclaim", CLAIM))
        self.assertIn("resourceAssignments", self.kubectl("explain", "clusterresourceclaims.spec"))
        self.check_writes()
        self.check_watch()
        dev.stop(60)
        self.check_log()

    def check_writes(self):
        self.kubectl("apply", "-f", "-", stdin=self.queue_manifest("applied"))
        self.kubectl("apply", "--server-side", "-f", "-", stdin=self.queue_manifest("server-side"))
        self.kubectl("patch", "clusterqueue", "applied", "--type=merge", "-p", '{"spec":{"stopPolicy":"Hold"}}')
        value = self.kubectl("get", "clusterqueue", "applied", "-o", "jsonpath={.spec.stopPolicy}")
        self.assertEqual(value, "Hold")
        self.assertIn("deleted", self.kubectl("delete", "clusterqueue", "applied", "server-side"))
        self.assertNotIn("applied", self.kubectl("get", "clusterqueues", "-o", "name"))

    def check_watch(self):
        """-w shows a write as it happens."""
        watch = Process("watch", self.command("get", "clusterqueues", "-w", "-o", "name"),
                        self.directory / "watch.txt").start()
        self.addCleanup(watch.kill)
        self.wait_for_line(watch, "low-priority-queue")
        self.kubectl("apply", "-f", "-", stdin=self.queue_manifest("watched"))
        self.wait_for_line(watch, "clusterqueue.kueue.x-k8s.io/watched")
        watch.kill()

    def test_an_edited_claim_and_a_cordoned_node_change_what_a_claim_says(self):
        dev = self.dev("--for", LONG, "--set", "claims.statusInterval=0s")  # the cordon changes numbers only
        self.wait_for_line(dev, r"fairlead  ClusterQueue high-priority-queue: .*on-demand cpu \S+ -> \S+.*claims/grow")
        rows = json.loads(self.kubectl("get", "clusterresourceclaim", CLAIM, "-o", "json"))
        rows = rows["spec"]["resourceAssignments"]
        rows[1]["resources"]["cpu"] = "123"
        self.kubectl("patch", "clusterresourceclaim", CLAIM, "--type=merge", "-p",
                     json.dumps({"spec": {"resourceAssignments": rows}}))

        self.wait_for_status(CLAIM, "grants", clusterQueueName="low-priority-queue", resource="cpu", granted="123")
        self.kubectl("cordon", "spot-6", kubeconfig=self.data / "kubeconfig-cluster1")
        # The story leaves cluster1's spot nodes alone; a line may name another event of the same moment.
        self.wait_for_status("cluster1-resource-claim", "capacity", flavor="spot", resource="cpu", observed="480")
        dev.stop(60)
        self.check_log()

    def wait_for_status(self, claim, rows, **wanted):
        """Waits until the status of a claim has a row with these values."""
        def found():
            value = json.loads(self.kubectl("get", "clusterresourceclaim", claim, "-o", "json"))
            return any(wanted.items() <= row.items() for row in value.get("status", {}).get(rows, []))
        wait_for(f"the {rows} of {claim} to have {wanted}", found, 60)


if __name__ == "__main__":
    unittest.main()
