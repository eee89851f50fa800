"""`fairlead dev --fleet multikueue`: Placements that follow scores and labels, jobs, and their lists."""

import datetime
import json
import re
import unittest

from harness.process import wait_for
from harness.program import fairlead, json_lines
from test_dev import DevTest, WithKubectl

NEEDS = ("fairlead",)

MOVE_WINDOW, CREDENTIAL_GRACE = 120, 600
ROUND = 28 * 60
# The moment of a deadline is decided a little after it: a tick of a busy machine is six seconds of the fleet.
LATE = 30


def clusters_of(event):
    """The clusters of an intended list, without the Placement's name."""
    return [name.split("-", 1)[1] for name in event["body"]["spec"]["clusters"]]


class LogOfTheFleet:
    """What the log of a run says of its first round, in seconds since its beginning."""

    def __init__(self, data):
        done = fairlead("log", "cat", "--data", data)
        assert done.returncode == 0, done.stderr
        events = json_lines(done.stdout)
        self.begin = self.moment(events[0])
        self.events = [event for event in events if self.moment(event) < self.begin + ROUND]

    @staticmethod
    def moment(event):
        text = re.sub(r"\.(\d{6})\d*Z$", r".\1Z", event["logTime"])
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

    def select(self, **wanted):
        return [(self.moment(event) - self.begin, event) for event in self.events
                if all(event.get(key) == value for key, value in wanted.items())]

    def lists(self, name):
        """(time, clusters, rule) of each write of a MultiKueueConfig."""
        return [(at, clusters_of(event), event["reason"]["rule"])
                for at, event in self.select(fact="PatchIntended", kind="MultiKueueConfig", name=name)]

    def decisions(self, placement):
        """(time, clusters) each time that what the Placement selects changes."""
        changes = []
        for at, event in self.select(fact="ObjectObserved", kind="PlacementDecision"):
            facts = event["facts"]
            # One that OCM has created and not filled yet names no cluster.
            if facts["placement"] != placement or not facts["clusters"]:
                continue
            if not changes or changes[-1][1] != facts["clusters"]:
                changes.append((at, facts["clusters"]))
        return changes

    def late(self, due, at):
        """Seconds by which `at` was later than it had to be. A busy machine is late by minutes of the fleet: what
        was due in such a time is decided with the first event after it."""
        return at - min(self.moment(event) - self.begin for event in self.events
                        if self.moment(event) - self.begin >= due)

    def finished(self, job):
        return next(at for at, event in self.select(fact="ObjectObserved", kind="Workload", name=job)
                    if event["facts"]["finished"])

    def intents(self, begin, end, kinds):
        return [event for at, event in self.select(fact="PatchIntended")
                if begin <= at <= end and event["kind"] in kinds]


class WorkersTest(DevTest):
    def workers(self, *arguments):
        return self.dev("--fleet", "multikueue", *arguments)

    def ended(self, dev):
        dev.stop(60)
        text = dev.text()
        for pattern in (r"(?m)^  chain ok         yes$", r"(?m)^  replay verified  yes$"):
            self.assertRegex(text, pattern)
        self.assertNotIn("not possible", text)
        self.check_log()
        return LogOfTheFleet(self.data)


class StoryTest(WorkersTest):
    def test_a_round_from_the_first_job_to_the_last(self):
        dev = self.workers("--for", "300s")
        for pattern in (r"  fairlead  MultiKueueConfig best: .*\[\] -> \[best-east\]",
                        r"  kueue     job train-1 runs on east",
                        r"  ocm       Placement best selects west instead of east \(scores: ",
                        r"  fairlead  MultiKueueConfig best: .*\[best-east\] -> \[best-west, best-east\]",
                        r"  kueue     job train-2 runs on west",
                        r"  kueue     MultiKueueCluster best-west has no credential: Active is False",
                        r"  ocm       Placement t4 selects east, north, west instead of east, north",
                        r"  fairlead  deletes MultiKueueCluster best-east: no MultiKueueConfig names it",
                        r"  fairlead  MultiKueueConfig t4: .*-> \[t4-east, t4-north\]  .*multikueue/leave: away for",
                        r"  kueue     MultiKueueCluster t4-north has no credential",
                        r"  kueue     MultiKueueCluster t4-north is connected",
                        r"  fairlead  deletes MultiKueueCluster best-west"):
            self.wait_for_line(dev, pattern, timeout=240)
        log = self.ended(dev)
        self.check_scores(log)
        self.check_leaver(log)
        self.check_label(log)
        self.check_blinks(log)
        self.check_audit(log)

    def check_scores(self, log):
        """A flip that passes is not followed; one that lasts is, when it has lasted for moveWindow."""
        decisions, lists = log.decisions("best"), log.lists("best")
        self.assertEqual([clusters for _, clusters in decisions], [["east"], ["west"], ["east"], ["west"], ["east"]])
        self.assertEqual([(clusters, rule) for _, clusters, rule in lists], [
            (["east"], "multikueue/growth"), (["west", "east"], "multikueue/move"), (["west"], "multikueue/leave"),
            (["east", "west"], "multikueue/move"), (["east"], "multikueue/leave")])
        for flip, move in ((3, 1), (4, 3)):
            due, moved = decisions[flip][0] + MOVE_WINDOW, lists[move][0]
            self.assertGreaterEqual(moved, due)
            self.assertLess(log.late(due, moved), LATE)

    def check_leaver(self, log):
        """Each leaver has left when its job ended, long after it could have without the job."""
        lists, decisions = log.lists("best"), log.decisions("best")
        for job, leave, flip in (("train-1", 2, 3), ("train-2", 4, 4)):
            left, ended = lists[leave][0], log.finished(job)
            self.assertGreaterEqual(left, ended)
            self.assertLess(log.late(ended, left), LATE)
            self.assertGreater(ended, decisions[flip][0] + MOVE_WINDOW + LATE)
        evicted = [event for _, event in log.select(fact="ObjectObserved", kind="Workload")
                   if event["facts"]["evicted"]]
        self.assertEqual(evicted, [])

    def check_label(self, log):
        decisions, lists = log.decisions("t4"), log.lists("t4")
        self.assertEqual([clusters for _, clusters in decisions],
                         [["east", "north"], ["east", "north", "west"], ["east", "north"]])
        self.assertEqual([(clusters, rule) for _, clusters, rule in lists], [
            (["east", "north"], "multikueue/growth"), (["east", "north", "west"], "multikueue/growth"),
            (["east", "north"], "multikueue/leave")])
        self.assertLess(log.late(decisions[1][0], lists[1][0]), LATE)
        self.assertGreaterEqual(lists[2][0] - decisions[2][0], MOVE_WINDOW)

    def check_blinks(self, log):
        gone = log.select(fact="ObjectGone", kind="Secret")
        self.assertEqual([event["name"] for _, event in gone], ["kueue-admin-west-kubeconfig"])
        lost = gone[0][0]
        back = next(at for at, event in log.select(fact="ObjectObserved", kind="Secret",
                                                   name="kueue-admin-west-kubeconfig") if at > lost)
        self.assertLess(back - lost, CREDENTIAL_GRACE)
        self.assertGreater(back - lost, 30)
        self.assertEqual(log.intents(lost, back + 5, ("MultiKueueConfig", "MultiKueueCluster", "AdmissionCheck")), [])
        profiles = log.select(fact="ObjectObserved", kind="ClusterProfile", name="north")
        empty = [at for at, event in profiles if not event["facts"]["accessProviders"]]
        full = [at for at, event in profiles if event["facts"]["accessProviders"]]
        self.assertEqual(len(empty), 1 + (profiles[0][0] in empty), "one blink, and perhaps the time before the first")
        self.assertGreater(full[-1], empty[-1])
        touched = log.intents(empty[-1], full[-1] + 5, ("MultiKueueConfig", "MultiKueueCluster", "AdmissionCheck"))
        self.assertEqual([event["name"] for event in touched if event["name"].startswith("t4")], [])

    def check_audit(self, log):
        """Between the move and the job's end the log knows why east is still in the list."""
        ended = next(event["seq"] for _, event in log.select(fact="ObjectObserved", kind="Workload", name="train-1",
                                                             source="hub") if event["facts"]["finished"])
        done = fairlead("audit", "why", "multikueueconfig/best", "east", "--data", self.data, "--as-of", str(ended - 1))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("train-1", done.stdout)
        history = fairlead("audit", "history", "multikueueconfig/best", "--data", self.data, "-o", "json",
                           "--to", str(log.events[-1]["seq"]))
        self.assertEqual(history.returncode, 0, history.stderr)
        self.assertEqual(history.stdout.count("multikueue/"), len(log.lists("best")))


class SettingsTest(WorkersTest):
    def test_with_windows_that_are_too_short_a_flip_evicts_a_job(self):
        dev = self.workers("--for", "300s", "--set", "multikueue.moveWindow=10s",
                           "--set", "multikueue.drainTimeout=20s")
        for pattern in (r"moveWindow 10s ", r"  kueue     job train-1 runs on east",
                        r"  fairlead  MultiKueueConfig best: .*-> \[best-west, best-east\]",
                        r"  fairlead  MultiKueueConfig best: .*-> \[best-west\]",
                        r"  kueue     job train-1 is evicted and will start again; its old copy on best-east runs on",
                        r"  kueue     job train-1 runs on west"):
            self.wait_for_line(dev, pattern, timeout=120)
        self.ended(dev)

    def test_an_unknown_fleet_is_refused(self):
        done = fairlead("dev", "--fleet", "ships")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--fleet", done.stderr)


class WorkersKubectlTest(WithKubectl):
    def list_of(self, placement):
        return json.loads(self.kubectl("get", "multikueueconfig", placement, "-o", "json"))["spec"]["clusters"]

    def test_kubectl_follows_and_joins_in(self):
        dev = self.dev("--fleet", "multikueue", "--for", "300s", speed=30)
        self.wait_for_line(dev, r"kueue     job train-1 runs on east")
        self.assertEqual(self.list_of("best"), ["best-east"])
        self.assertIn("kubeConfig", self.kubectl("get", "multikueuecluster", "best-east", "-o", "yaml"))
        self.assertIn("train-1", self.kubectl("get", "workloads", "-n", "team-ml"))
        conditions = self.kubectl("get", "admissioncheck", "best-placement", "-o", "jsonpath={.status.conditions}")
        self.assertIn("MultiKueueConfig and MultiKueueCluster generated", conditions)
        self.kubectl("label", "managedcluster", "west", "accelerator=nvidia-tesla-t4")
        wait_for("west in the list of t4", lambda: "t4-west" in self.list_of("t4"), 60)
        self.kubectl("delete", "admissioncheck", "t4-placement")
        self.wait_for_line(dev, r"fairlead  deletes MultiKueueConfig t4")
        dev.stop(60)
        self.check_log()


# Imported for their settings only.
del DevTest, WithKubectl

if __name__ == "__main__":
    unittest.main()
