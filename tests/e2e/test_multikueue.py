"""`fairlead hub` between OCM Placements and MultiKueue, on a real API server: which clusters are workers."""

import time
import unittest

from harness.fleet import MANAGED_CLUSTERS
from harness.multikueue import (CHECKS, CONFIGS, DECISIONS, PLACEMENTS, SECRETS, WORKERS, MultiKueueTest, best_score,
                                labelled)

NEEDS = ("controlplane", "fairlead")
QUICK = {"moveWindow": "1s", "credentialGrace": "1s"}


def setUpModule():
    MultiKueueTest.open()


class StoryTest(MultiKueueTest):
    def test_1_every_cluster_of_a_set_is_a_worker(self):
        for name in ("ann", "bob"):
            self.cluster(name)
        self.placement("all")
        self.place("all")
        self.check("multikueue", "all", **QUICK)
        self.wait_for_list("all", "ann", "bob")
        self.wait_for_condition("multikueue", "True", "Active")
        worker = self.server.get(f"{WORKERS}/all-ann")
        self.assertEqual(worker["spec"]["clusterSource"]["kubeConfig"],
                         {"location": "kueue-admin-ann-kubeconfig", "locationType": "Secret"})
        self.assertEqual(worker["metadata"]["annotations"]["fairlead.io/owner"], "placement/all")
        self.assertEqual(worker["metadata"]["labels"]["app.kubernetes.io/managed-by"], "fairlead")
        self.cluster("cid")
        self.place("all")
        self.killed_at_a_random_moment(0.8)
        self.wait_for_list("all", "ann", "bob", "cid")
        self.assertEqual(self.generation("all"), 2)
        self.server.delete(f"{SECRETS}/kueue-admin-bob-kubeconfig")
        self.decide("all", ["ann", "cid"])
        self.wait_for_list("all", "ann", "cid")
        self.hub.wait_until("the worker to go", lambda: self.server.get(f"{WORKERS}/all-bob") is None)
        self.assertEqual(self.generation("all"), 3)
        self.survives_a_kill()

    def test_2_only_clusters_with_a_label(self):
        gpu = {"accelerator": "nvidia-tesla-t4"}
        self.cluster("dan", **gpu)
        self.cluster("eve")
        self.cluster("fay", **gpu)
        self.placement("t4", labelled("accelerator", "nvidia-tesla-t4"))
        self.place("t4")
        self.check("multikueue", "t4", **QUICK)
        self.wait_for_list("t4", "dan", "fay")
        self.server.merge(f"{MANAGED_CLUSTERS}/fay", {"metadata": {"labels": {"accelerator": None}}})
        self.server.merge(f"{MANAGED_CLUSTERS}/eve", {"metadata": {"labels": gpu}})
        self.place("t4")
        self.killed_at_a_random_moment(1.5)
        self.wait_for_list("t4", "dan", "eve")
        self.assertEqual(self.generation("t4"), 2, "the move was not one write")

    def test_3_the_best_score_is_followed_and_what_runs_stays(self):
        for name, value in (("gil", 90), ("hal", 10)):
            self.cluster(name)
            self.score(name, value)
        self.placement("best", best_score())
        self.place("best")
        self.check("multikueue", "best", moveWindow="1500ms")
        self.wait_for_list("best", "gil")
        self.running("job", "best-gil", {"multikueue": "Ready"})
        self.score("gil", 0)
        self.score("hal", 100)
        self.place("best")
        self.wait_for_list("best", "hal", "gil")
        self.finished("job")
        self.wait_for_list("best", "hal")
        self.assertEqual(self.generation("best"), 3)
        # Nothing runs: the way back is one write, a moveWindow after the score turned.
        self.score("gil", 100)
        self.score("hal", 0)
        self.place("best")
        self.killed_at_a_random_moment(1.5)
        self.wait_for_list("best", "gil")
        self.assertEqual(self.generation("best"), 4)
        self.survives_a_kill()


class ZeroWritesTest(MultiKueueTest):
    def quiet_through(self, *steps, seconds=1.5):
        self.rest()
        before = self.versions()
        for step in steps:
            step()
            time.sleep(0.2)
        self.stays_quiet(seconds)
        self.assertEqual(self.versions(), before)

    def test_what_changes_nothing_writes_nothing(self):
        self.started("calm", "ida", "jon", "kim", settle="3s")
        decide = lambda *shards: lambda: self.decide("calm", *shards)
        with self.subTest("a Secret rotates"):
            self.quiet_through(lambda: self.secret("ida"), lambda: self.secret("jon"), seconds=1)
        with self.subTest("a credential blinks"):
            self.quiet_through(lambda: self.server.delete(f"{SECRETS}/kueue-admin-ida-kubeconfig"),
                               lambda: self.secret("ida"), seconds=1)
        with self.subTest("the same decision in another order"):
            self.quiet_through(decide(["kim", "ida", "jon"]), seconds=1)
        with self.subTest("shards shift, and for a moment none has kim"):
            self.quiet_through(decide(["ida", "jon"], []), decide(["ida", "jon"], ["kim"]),
                               decide(["jon"], ["kim", "ida"]), decide(["ida", "jon", "kim"], []))
        with self.subTest("A-B-A"):
            self.quiet_through(decide(["ida", "lea"]), decide(["ida", "jon", "kim"]), decide([]),
                               decide(["ida", "jon", "kim"]), seconds=4.5)
        self.survives_a_kill()
        self.assertEqual(self.generation("calm"), 1)

    def test_a_kill_within_a_blink_writes_nothing_either(self):
        # Longer than a slow machine needs to start the hub again.
        self.started("blink", "mia", "ned", settle="5s", moveWindow="20s")
        self.rest()
        before = self.versions()
        self.decide("blink", ["mia"])
        self.killed_at_a_random_moment(0.5)
        self.decide("blink", ["mia", "ned"])
        self.server.delete(f"{SECRETS}/kueue-admin-ned-kubeconfig")
        self.killed_at_a_random_moment(0.5)
        self.secret("ned")  # another content, too: it was rotated meanwhile
        self.decide("blink", ["ned"], [])  # a shard shifts
        self.killed_at_a_random_moment(0.5)
        self.decide("blink", ["ned"], ["mia"])
        self.stays_quiet(2)
        self.assertEqual(self.versions(), before)


class LossTest(MultiKueueTest):
    def test_a_credential_that_stays_away_takes_its_cluster_along(self):
        self.started("keys", "oda", "pat", **QUICK)
        self.server.delete(f"{SECRETS}/kueue-admin-pat-kubeconfig")
        self.wait_for_list("keys", "oda")
        message = self.wait_for_condition("multikueue", "False", "CredentialsMissing", "AllClustersUsed")
        self.assertIn("pat", message)
        self.assertEqual(self.conditions("multikueue")["Active"]["status"], "True")
        self.secret("pat")
        self.wait_for_list("keys", "oda", "pat")
        self.server.delete(f"{SECRETS}/kueue-admin-oda-kubeconfig")
        self.server.delete(f"{SECRETS}/kueue-admin-pat-kubeconfig")
        self.wait_for_condition("multikueue", "False", "CredentialsMissing")
        self.assertEqual(self.list_of("keys"), ["keys-oda", "keys-pat"])
        self.survives_a_kill()

    def test_a_placement_that_returns_finds_its_list(self):
        self.started("gone", "quy", "ria", **QUICK)
        self.server.delete(f"{PLACEMENTS}/gone")
        self.server.request("DELETE", DECISIONS)
        self.assertIn("gone", self.wait_for_condition("multikueue", "False", "PlacementNotFound"))
        self.killed_at_a_random_moment(0.5)
        self.stays_quiet(1.5)
        self.placement("gone")
        self.decide("gone", ["quy", "ria"])
        self.wait_for_condition("multikueue", "True", "Active")
        self.assertEqual((self.list_of("gone"), self.generation("gone")), (["gone-quy", "gone-ria"], 1))

    def test_a_placement_that_stays_away_takes_its_config_after_the_grace(self):
        self.started("lost", "sam", emptyGrace="2s")
        self.server.delete(f"{PLACEMENTS}/lost")
        self.killed_at_a_random_moment(1.5)
        self.wait_for_list("lost")
        self.hub.wait_until("the worker to go", lambda: self.server.get(f"{WORKERS}/lost-sam") is None)
        self.hub.wait_until("the condition to go", lambda: "AllClustersUsed" not in self.conditions("multikueue"))


class CheckTest(MultiKueueTest):
    def test_a_check_renamed_to_another_placement_writes_the_new_list_first(self):
        self.started("old", "tom", "uma")
        self.placement("new")
        self.decide("new", ["uma"])
        self.server.merge(f"{CHECKS}/multikueue", {"spec": {"parameters": {"name": "new"}}})
        self.killed_at_a_random_moment(0.8)
        self.wait_for_list("new", "uma")
        self.wait_for_list("old")
        self.hub.wait_until("the workers to go", lambda: self.marked() == ["new", "new-uma"])
        paths = [(each.request.method, each.request.path.rsplit("/", 1)[1]) for each in self.writes()]
        self.assertLess(paths.index(("PATCH", "new")), paths.index(("DELETE", "old")))
        self.wait_for_condition("multikueue", "True", "Active")
        self.survives_a_kill()

    def test_a_deleted_check_that_a_finalizer_keeps_says_false_before_its_config_goes(self):
        self.started("kept", "vic", finalizers=["example.com/keep"])
        self.running("job", "kept-vic", {"multikueue": "Ready"})
        # Workloads and checks come by watches of their own: seen first, the deletion would find no job.
        self.hub.wait_until("the hub to see the job run", lambda: any(
            event["facts"]["clusterName"] == "kept-vic"
            for event in self.hub.events(fact="ObjectObserved", kind="Workload", name="job")))
        self.addCleanup(self.server.merge, f"{CHECKS}/multikueue", {"metadata": {"finalizers": None}})
        self.server.delete(f"{CHECKS}/multikueue")
        self.stays_quiet(1)
        self.assertEqual(self.conditions("multikueue")["Active"]["status"], "True")
        begin = len(self.writes())
        self.finished("job")
        self.hub.wait_until("the worker to go", lambda: not self.marked())
        written = [(each.request.method, each.request.path.partition("?")[0].rsplit("/", 2)[-2:])
                   for each in self.writes()[begin:] if each.code == 200]
        self.assertEqual(written, [("PATCH", ["multikueue", "status"]), ("DELETE", ["multikueueconfigs", "kept"]),
                                   ("DELETE", ["multikueueclusters", "kept-vic"])])
        message = self.wait_for_condition("multikueue", "False", "NoClustersAvailable")
        self.assertIn("being deleted", message)
        self.assertNotIn("AllClustersUsed", self.conditions("multikueue"))
        self.survives_a_kill()

    def test_two_checks_share_a_list(self):
        self.started("both", "val")
        self.check("second", "both")
        self.wait_for_condition("second", "True", "Active")
        self.assertEqual(self.generation("both"), 1)
        self.server.delete(f"{CHECKS}/multikueue")
        self.stays_quiet(1)
        self.server.delete(f"{CHECKS}/second")
        self.killed_at_a_random_moment(0.3)
        self.wait_for_list("both")
        self.hub.wait_until("the worker to go", lambda: not self.marked())

    def test_of_twenty_one_clusters_twenty_are_used(self):
        names = [f"w{number:02}" for number in range(21)]
        for name in names:
            self.secret(name)
        self.placement("many")
        self.decide("many", names[:10], names[10:])
        self.check("multikueue", "many", **QUICK)
        self.killed_at_a_random_moment(3)
        self.wait_for_list("many", *names[:20])
        message = self.wait_for_condition("multikueue", "False", "TooManyClusters", "AllClustersUsed")
        self.assertIn("20 of 21", message)
        self.assertIn("w20", message)
        self.assertEqual(self.generation("many"), 1)
        self.decide("many", names[:5] + names[6:10], names[10:])
        self.wait_for_list("many", *names[:5], *names[6:])
        self.wait_for_condition("multikueue", "True", "AllClustersUsed", "AllClustersUsed")
        self.survives_a_kill()


class HandTest(MultiKueueTest):
    def test_what_a_person_changes_in_a_list_does_not_last(self):
        self.started("hand", "amy", "ben", **QUICK)
        self.rest()
        path = f"{CONFIGS}/hand"
        self.server.merge(path, {"spec": {"clusters": ["hand-amy"], "quotaManagement": "Manual"}})
        self.wait_for_list("hand", "amy", "ben")
        self.server.merge(path, {"spec": {"clusters": ["hand-amy", "hand-ben", "stranger"]}})
        self.hub.wait_until("the stranger to leave", lambda: self.list_of("hand") == ["hand-amy", "hand-ben"])
        self.assertEqual(self.server.get(path)["spec"]["quotaManagement"], "Manual")
        self.server.delete(path)
        self.wait_for_list("hand", "amy", "ben")
        self.server.delete(f"{WORKERS}/hand-ben")
        self.hub.wait_until("the worker to be back", lambda: self.server.get(f"{WORKERS}/hand-ben"))
        self.wait_for_condition("multikueue", "True", "Active")
        self.survives_a_kill()


class ForeignTest(MultiKueueTest):
    def foreign(self, path, kind, name, spec):
        self.server.create(path, {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name},
                                  "spec": spec})
        return self.server.get(f"{path}/{name}")

    def test_a_foreign_config_is_left_alone(self):
        foreign = self.foreign(CONFIGS, "MultiKueueConfig", "taken", {"clusters": ["other"]})
        self.secret("wes")
        self.placement("taken")
        self.decide("taken", ["wes"])
        self.check("multikueue", "taken")
        self.killed_at_a_random_moment(3)
        self.assertIn("taken", self.wait_for_condition("multikueue", "False", "MultiKueueConfigError"))
        self.survives_a_kill()
        self.server.delete(f"{CHECKS}/multikueue")
        self.rest()
        self.assertEqual(self.server.get(f"{CONFIGS}/taken"), foreign)
        self.assertEqual(self.marked(), [])

    def test_a_foreign_config_that_goes_makes_room(self):
        self.foreign(CONFIGS, "MultiKueueConfig", "room", {"clusters": ["other"]})
        self.secret("xia")
        self.placement("room")
        self.decide("room", ["xia"])
        self.check("multikueue", "room")
        self.wait_for_condition("multikueue", "False", "MultiKueueConfigError")
        self.server.delete(f"{CONFIGS}/room")
        self.wait_for_list("room", "xia")
        self.wait_for_condition("multikueue", "True", "Active")

    def test_a_foreign_worker_leaves_its_cluster_out(self):
        spec = {"clusterSource": {"kubeConfig": {"location": "somewhere", "locationType": "Secret"}}}
        foreign = self.foreign(WORKERS, "MultiKueueCluster", "part-yan", spec)
        for cluster in ("yan", "zoe"):
            self.secret(cluster)
        self.placement("part")
        self.decide("part", ["yan", "zoe"])
        self.check("multikueue", "part")
        self.wait_for_list("part", "zoe")
        self.assertIn("part-yan", self.wait_for_condition("multikueue", "False", "NameTaken", "AllClustersUsed"))
        self.decide("part", ["yan"])
        self.wait_for_condition("multikueue", "False", "NameTaken")
        self.server.delete(f"{CHECKS}/multikueue")
        self.hub.wait_until("the config to go", lambda: not self.marked())
        self.assertEqual(self.server.get(f"{WORKERS}/part-yan"), foreign)


if __name__ == "__main__":
    unittest.main()
