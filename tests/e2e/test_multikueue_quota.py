"""A hub ClusterQueue whose quota follows its MultiKueue workers, on real API servers: the hub and two members."""

import json
import unittest
from datetime import datetime

from harness.fleet import FLAVORS, KUEUE, QUEUES, flavor, quantity, quota, set_quota
from harness.multikueue import CHECKS, WINDOWS, MultiKueueTest
from harness.program import fairlead

NEEDS = ("controlplane", "fairlead")
QUEUE = "shared"
LOCAL_QUEUES = f"{KUEUE}/namespaces/team/localqueues"
PREFIX = "fairlead.io/quota-"
SHRINK_WINDOW, GROW_WINDOW = 1, 2
DEBOUNCE = (f"debounce={{ingestCoalesce: 0s, shrinkWindow: {SHRINK_WINDOW}s, growWindow: {GROW_WINDOW}s, "
            "firstQuiet: 1s, minGrowInterval: 0s, growDeadbandPercent: 0, writeInterval: 0s}")


def setUpModule():
    MultiKueueTest.open((*WINDOWS, DEBOUNCE), members=("ann", "bob"))


def cluster_queue(name, flavors, checks=(), **annotations):
    """A ClusterQueue with cpu quota by flavor; `annotations` are those of fairlead.io/quota-, such as percent="50"."""
    groups = [{"coveredResources": ["cpu"], "flavors": [
        {"name": pool, "resources": [{"name": "cpu", "nominalQuota": value}]} for pool, value in flavors.items()]}]
    spec = {"resourceGroups": groups, "namespaceSelector": {}}
    if checks:
        spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": check} for check in checks]}
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue",
            "metadata": {"name": name, "annotations": {PREFIX + key: text for key, text in annotations.items()}},
            "spec": spec}


def local_queue(name, queue):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": "team"}, "spec": {"clusterQueue": queue}}


class QuotaTest(MultiKueueTest):
    """ann: ClusterQueue `left` with 10 on-demand and 1 spot; bob: `right` with 20 on-demand; LocalQueue team/main."""

    written = (*MultiKueueTest.written, QUEUES)

    def setUp(self):
        super().setUp()
        for pool in ("on-demand", "spot"):
            self.server.create(FLAVORS, flavor(pool))
        self.server.create(LOCAL_QUEUES, local_queue("main", QUEUE))
        for member, name, flavors in (("ann", "left", {"on-demand": "10", "spot": "1"}),
                                      ("bob", "right", {"on-demand": "20"})):
            self.members[member].create(QUEUES, cluster_queue(name, flavors))
            self.members[member].create(LOCAL_QUEUES, local_queue("main", name))

    def clear(self):
        # The queue goes first: what follows no more is not written while the rest is taken away.
        self.server.clear(QUEUES)
        super().clear()
        self.server.clear(FLAVORS)
        for server in (self.server, *self.members.values()):
            if not server.process.running():
                server.start()
            server.request("DELETE", LOCAL_QUEUES)
            server.clear(QUEUES)

    def followed(self, placement, **annotations):
        """The list is [ann, bob], and the hub's queue follows it."""
        self.started(placement, "ann", "bob")
        self.server.create(QUEUES, cluster_queue(QUEUE, {"on-demand": "4"}, ["multikueue"],
                                                 **{"from": "workers", **annotations}))

    def annotate(self, **annotations):
        self.server.merge(f"{QUEUES}/{QUEUE}", {"metadata": {
            "annotations": {PREFIX + key: text for key, text in annotations.items()}}})

    def wait_for_quota(self, on_demand, spot=None, timeout=30):
        """Until the two pairs have these values; None is a pair that is not there: no writer adds a pair for 0."""
        wanted = (quantity(on_demand), spot and quantity(spot))

        def equal():
            seen = tuple(quota(self.server, QUEUE, pool, "cpu") for pool in ("on-demand", "spot"))
            assert seen == wanted, f"{seen} instead of {wanted}"
            return True
        self.hub.wait_until(f"{QUEUE} to have {on_demand} and {spot}", equal, timeout)

    def member_gives(self, member, queue, pool, value):
        set_quota(self.members[member], queue, pool, "cpu", value)

    def audit(self, *arguments, server=False):
        where = ("--server", f"http://127.0.0.1:{self.hub.port}") if server else ("--data", self.hub.data)
        done = fairlead("audit", *arguments, *where, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def last_write_came_at_once(self):
        """The newest change of the quota was decided at the log time at which its own queue had changed."""
        events = self.hub.events(kind="ClusterQueue", name=QUEUE)
        write = [event for event in events if event["fact"] == "PatchIntended"][-1]
        cause = [event for event in events if event["fact"] == "ObjectObserved" and event["seq"] < write["seq"]][-1]
        waited = datetime.fromisoformat(write["logTime"]) - datetime.fromisoformat(cause["logTime"])
        self.assertLess(waited.total_seconds(), min(SHRINK_WINDOW, GROW_WINDOW) / 2)


class FollowTest(QuotaTest):
    def test_the_quota_is_the_sum_over_the_workers_and_follows_it(self):
        self.followed("sum")
        self.wait_for_quota("30", "1")
        self.member_gives("bob", "right", "on-demand", "15")
        self.killed_at_a_random_moment(SHRINK_WINDOW)
        self.wait_for_quota("25", "1")
        self.member_gives("ann", "left", "on-demand", "12")
        self.killed_at_a_random_moment(GROW_WINDOW)
        self.wait_for_quota("27", "1")
        # Two LocalQueues of one member on one ClusterQueue count once; one that moves takes its own along.
        for server, queue in ((self.server, QUEUE), (self.members["bob"], "right")):
            server.create(LOCAL_QUEUES, local_queue("more", queue))
        self.members["bob"].create(QUEUES, cluster_queue("other", {"on-demand": "3", "unknown": "9"}))
        self.stays_quiet(GROW_WINDOW + 1)
        self.members["bob"].delete(f"{LOCAL_QUEUES}/more")
        self.members["bob"].create(LOCAL_QUEUES, local_queue("more", "other"))
        self.wait_for_quota("30", "1")
        self.assertIsNone(quota(self.server, QUEUE, "unknown", "cpu"))
        self.survives_a_kill()

    def test_a_value_that_comes_back_within_the_window_writes_nothing(self):
        self.followed("blink")
        self.wait_for_quota("30", "1")
        self.rest()
        before = self.versions()
        for value in ("40", "20"):
            self.member_gives("bob", "right", "on-demand", value)
        self.stays_quiet(GROW_WINDOW + 1)
        self.assertEqual(self.versions(), before)

    def test_percent_and_reserve_are_followed_at_once(self):
        self.followed("terms", percent="50", reserve=json.dumps({"on-demand": {"cpu": "2"}}))
        self.wait_for_quota("13")
        self.annotate(percent="110")
        self.wait_for_quota("31", "1")
        self.last_write_came_at_once()
        self.annotate(reserve=json.dumps({"on-demand": {"cpu": "40"}}))
        self.wait_for_quota("0", "1")
        self.last_write_came_at_once()
        self.annotate(percent=None, reserve=None)
        self.killed_at_a_random_moment(0.5)
        self.wait_for_quota("30", "1")
        self.survives_a_kill()

    def test_a_worker_that_leaves_takes_its_quota_along_and_brings_it_back(self):
        self.followed("leave")
        self.wait_for_quota("30", "1")
        self.rest()
        quiet = self.versions()
        self.decide("leave", ["ann"])
        self.stays_quiet(1)
        self.decide("leave", ["ann", "bob"])
        self.stays_quiet(SHRINK_WINDOW + 1)
        self.assertEqual(self.versions(), quiet, "within moveWindow nothing moves")
        self.decide("leave", ["ann"])
        self.killed_at_a_random_moment(5)
        self.wait_for_list("leave", "ann")
        self.wait_for_quota("10", "1")
        paths = [each.request.path.rsplit("/", 1)[1] for each in self.writes() if each.request.method == "PATCH"]
        self.assertLess(len(paths) - 1 - paths[::-1].index("leave"), len(paths) - 1 - paths[::-1].index(QUEUE))
        self.decide("leave", ["ann", "bob"])
        self.wait_for_list("leave", "ann", "bob")
        self.wait_for_quota("30", "1")
        self.survives_a_kill()

    def test_a_worker_that_cannot_be_reached_keeps_its_value(self):
        self.followed("away")
        self.wait_for_quota("30", "1")
        self.rest()
        self.members["bob"].kill()
        self.stays_quiet(SHRINK_WINDOW + 2)
        self.killed_and_back()
        self.stays_quiet(SHRINK_WINDOW + 1)
        self.members["bob"].start()
        self.member_gives("bob", "right", "on-demand", "15")
        self.wait_for_quota("25", "1", timeout=60)
        self.survives_a_kill()


class TermsTest(QuotaTest):
    def test_a_bad_annotation_is_named_on_the_check_and_the_last_good_terms_stay(self):
        self.followed("bad", percent="50")
        self.wait_for_quota("15")
        self.annotate(percent="half")
        message = "fairlead.io/quota-percent: expected a whole number from 0 to 1000, got half"
        self.wait_for_message(f"ClusterQueue {QUEUE}", message)
        self.assertEqual(self.conditions("multikueue")["Active"]["status"], "True")
        self.killed_and_back()
        self.member_gives("bob", "right", "on-demand", "10")
        self.wait_for_quota("10")
        self.annotate(percent="50", reserve="[]")
        self.wait_for_message(f"ClusterQueue {QUEUE}", "fairlead.io/quota-reserve")
        self.annotate(reserve=None)
        self.hub.wait_until("the check to complain no more", lambda: QUEUE not in self.message())
        self.survives_a_kill()

    def message(self):
        return self.conditions("multikueue")["Active"]["message"]

    def wait_for_message(self, *words):
        def named():
            seen = self.message()
            assert all(word in seen for word in words), seen
            return True
        self.hub.wait_until(f"{words} to be named", named)

    def test_what_a_person_writes_is_put_back_until_the_annotation_goes(self):
        self.followed("hand")
        self.wait_for_quota("30", "1")
        set_quota(self.server, QUEUE, "on-demand", "cpu", "99")
        self.killed_at_a_random_moment(0.2)
        self.wait_for_quota("30", "1")
        self.annotate(**{"from": None})
        self.rest()
        before = self.versions()
        self.member_gives("bob", "right", "on-demand", "5")
        self.stays_quiet(SHRINK_WINDOW + 1)
        self.assertEqual(self.versions(), before)
        set_quota(self.server, QUEUE, "on-demand", "cpu", "99")
        self.killed_and_back()
        self.stays_quiet(1)
        self.wait_for_quota("99", "1", timeout=1)
        self.annotate(**{"from": "workers"})
        self.wait_for_quota("15", "1")
        self.survives_a_kill()

    def test_a_queue_without_a_check_of_ours_follows_no_worker(self):
        self.started("unchecked", "ann", "bob")
        self.server.create(QUEUES, cluster_queue(QUEUE, {"on-demand": "4"}, **{"from": "workers"}))
        self.rest()
        self.stays_quiet(GROW_WINDOW + 1)
        self.wait_for_quota("4", timeout=1)
        self.server.merge(f"{QUEUES}/{QUEUE}", {"spec": {"admissionChecksStrategy": {
            "admissionChecks": [{"name": "multikueue"}]}}})
        self.wait_for_quota("30", "1")
        self.server.delete(f"{CHECKS}/multikueue")
        self.hub.wait_until("the hub to remove its objects", lambda: not self.marked())
        self.rest(SHRINK_WINDOW + 1)
        self.wait_for_quota("30", "1", timeout=1)


class AuditTest(QuotaTest):
    def test_audit_names_the_workers_and_their_queues(self):
        self.followed("audited", percent="50")
        self.wait_for_quota("15")
        self.rest()
        for server in (False, True):
            with self.subTest(server=server):
                why = self.audit("why", QUEUE, "on-demand", "cpu", server=server)
                self.assertEqual((why["value"]["nominal"], why["value"]["desired"]), ("15", "15"))
                self.assertEqual(why["follows"]["percent"], 50)
                workers = [(each["cluster"], each["from"], each["accepted"],
                            [(there["name"], there["nominal"]) for there in each["queues"]]) for each in why["workers"]]
                self.assertEqual(workers, [("ann", "member", "10", [("left", "10")]),
                                           ("bob", "member", "20", [("right", "20")])])
                rows = self.audit("quota", QUEUE, server=server)["rows"]
                row = next(row for row in rows if row["flavor"] == "on-demand")
                self.assertEqual([each["cluster"] for each in row["workers"]], ["ann", "bob"])
        # A rise that is not written yet: the worker's window is what holds it.
        self.member_gives("ann", "left", "on-demand", "30")
        self.wait_for_quota("25")
        seen = next(event for event in self.hub.events(fact="ObjectObserved", kind="ClusterQueue", name="left")[::-1])
        held = self.audit("why-not", QUEUE, "on-demand", "cpu", "--as-of", f"seq:{seen['seq']}")
        self.assertIn("GrowWindow", json.dumps(held))
        self.assertIn("ann", json.dumps(held))
        self.survives_a_kill()


if __name__ == "__main__":
    unittest.main()
