#!/usr/bin/env python3
"""Credentials, names, conditions, ends and Workloads: the MultiKueue model against cases computed by hand.

Windows and the helpers of a case: multikueue_story.py. A model that is wrong proves nothing.
"""
import unittest

import multikueue_objects as o
from multikueue_story import ADDON, Story, running
from multikueue_world import FINALIZER, duration, subdomain


class Credentials(unittest.TestCase):
    def test_a_member_is_selected_for_the_grace(self):
        s = Story().select("ab").at(30).gone(o.secret("a"))
        self.assertEqual(s.lists(), [(2, "a b"), (60, "b")])  # 20 of grace and 10 of moveWindow
        self.assertEqual(s.conditions(type_="AllClustersUsed"), [(2, "True"), (52, "CredentialsMissing")])

    def test_one_that_is_no_member_has_no_grace(self):
        s = Story("b").select("ab").at(30).see(o.secret("a")).at(31).gone(o.secret("a")).at(32).see(o.secret("a"))
        self.assertEqual(s.lists(), [(2, "b"), (34, "a b")])

    def test_the_grace_counts_from_the_loss_also_before_the_decision(self):
        s = Story("a").see(o.config("p", ["p-a"]), o.multikueue_cluster("p-a", "kueue-admin-a-kubeconfig",
                                                                         "placement/p"))
        s.at(3).gone(o.secret("a")).at(5).select("a")
        self.assertEqual(s.conditions(), [(2, "NoClustersAvailable"), (5, "True"), (25, "CredentialsMissing")])

    def test_a_secret_without_the_key_is_no_credential(self):
        s = Story("").see(o.secret("a", key="token")).select("a")
        self.assertEqual((s.lists(), s.conditions()), ([], [(2, "CredentialsMissing")]))

    def test_a_profile_beats_a_secret_and_is_taken_in_place_after_settle(self):
        s = Story("a").select("a").at(30).see(o.cluster_profile("a"))
        self.assertEqual(s.clusters()[1:], [(32, "apply", "p-a", "profile-of-a")])

    def test_from_profile_to_secret_after_the_grace(self):
        s = Story("a").see(o.cluster_profile("a", labelled=False)).select("a").at(30).see(
            o.cluster_profile("a", (), labelled=False))
        self.assertEqual(s.clusters(), [(2, "apply", "p-a", "a"), (50, "apply", "p-a", "kueue-admin-a-kubeconfig")])
        self.assertEqual(s.lists(), [(2, "a")])

    def test_what_an_earlier_run_wrote_changes_its_source_after_the_windows_too(self):
        s = Story("a", addons=ADDON).see(o.cluster_profile("a"), o.config("p", ["p-a"]), o.multikueue_cluster(
            "p-a", "kueue-admin-a-kubeconfig", "placement/p")).select("a")
        self.assertEqual(s.clusters(), [(2, "apply", "p-a", "profile-of-a")])

    def test_who_enters_takes_the_profile_at_once(self):
        s = Story("ab").select("a").at(30).select("ab").at(32).see(o.cluster_profile("b"))
        self.assertEqual(s.clusters()[1:], [(32, "apply", "p-b", "profile-of-b")])

    def test_a_profile_and_a_secret_that_both_blink_write_nothing(self):
        s = Story("a").see(o.cluster_profile("a")).select("a").at(30).gone(o.cluster_profile("a"))
        s.at(40).gone(o.secret("a")).at(49).see(o.cluster_profile("a"))
        self.assertEqual((s.clusters(), s.lists()), ([(2, "apply", "p-a", "profile-of-a")], [(2, "a")]))

    def test_a_profile_counts_only_with_a_provider_that_kueue_has(self):
        s = Story("", accessProviders=["gke"]).see(o.cluster_profile("a"), o.cluster_profile("b", ("x", "gke")))
        self.assertEqual(s.select("ab").lists(), [(2, "b")])

    def test_rotation_needs_no_write(self):
        rotated = o.secret("a")
        rotated["data"]["kubeconfig"] = "b3RoZXI="
        self.assertEqual(len(Story("a").select("a").at(30).see(rotated).run()), 3)


class Names(unittest.TestCase):
    def test_the_first_placement_keeps_a_name_that_two_pairs_give(self):
        s = Story(["b-c", "c", "d"], places="a a-b").select(["b-c"], "a").select("cd", "a-b")
        self.assertEqual((s.lists("a"), s.lists("a-b")), ([(2, "b-c")], [(2, "d")]))
        self.assertEqual(s.conditions("k-a-b", "AllClustersUsed"), [(2, "NameTaken")])

    def test_a_foreign_cluster_object_leaves_the_cluster_out(self):
        s = Story().see(o.multikueue_cluster("p-a", "x")).select("a").at(20).select("ab")
        self.assertEqual((s.lists(), s.conditions()), ([(22, "b")], [(2, "NameTaken"), (22, "True")]))
        self.assertEqual([c[2] for c in s.clusters()], ["p-b"])

    def test_an_invalid_name_is_left_out_and_an_empty_one_ignored(self):
        s = Story(["A_b", "c"]).select(["A_b", "", "c"])
        self.assertEqual((s.lists(), s.conditions(type_="AllClustersUsed")), ([(2, "c")], [(2, "NameInvalid")]))
        self.assertTrue(subdomain("a.b-1") and subdomain("x" * 253))
        self.assertFalse(subdomain("") or subdomain("x" * 254) or subdomain("a..b") or subdomain("-a"))

    def test_profile_cluster_shares_cluster_objects(self):
        s = Story("ab", places="p q", profile="cluster").select("ab").select("b", "q").at(30).select("a")
        self.assertEqual(s.lists(), [(2, "a b"), (40, "a")])
        self.assertEqual([c[:3] for c in s.clusters()], [(2, "apply", "a"), (2, "apply", "b")])

    def test_a_shared_cluster_object_waits_for_the_longest_of_its_lists(self):
        s = Story("a", places="p q", checks=False, profile="cluster").see(
            o.check("k", "p", {"settle": "5s", "credentialGrace": "50s"}), o.check("m", "q")).select("a").select(
            "a", "q").at(30).see(o.cluster_profile("a")).at(100).gone(o.cluster_profile("a"))
        self.assertEqual(s.clusters(), [(2, "apply", "a", "multikueue-a"), (35, "apply", "a", "profile-of-a"),
                                        (150, "apply", "a", "multikueue-a")])

    def test_a_shared_cluster_object_that_is_in_another_list_keeps_its_source(self):
        s = Story("a", places="p q", profile="cluster").select("a").at(30).select("a", "q").at(31).see(
            o.cluster_profile("a"))
        self.assertEqual(s.clusters(), [(2, "apply", "a", "multikueue-a"), (33, "apply", "a", "profile-of-a")])

    def test_what_is_written_carries_its_owner(self):
        for profile, owner in (("placement", "placement/p"), ("cluster", "cluster/a")):
            for w in Story("a", profile=profile).select("a").run()[:2]:
                self.assertEqual(w["body"]["metadata"], {
                    "name": w["name"], "labels": {"app.kubernetes.io/managed-by": "fairlead"}, "annotations": {
                        "fairlead.io/owner": "placement/p" if w["kind"] == "MultiKueueConfig" else owner}})

    def test_half_a_mark_is_no_mark(self):
        half = o.config("p", ["x"])
        del half["metadata"]["annotations"]
        self.assertEqual(Story().see(half).select("a").conditions(), [(2, "MultiKueueConfigError")])

    def test_a_change_of_profile_is_a_move_that_exchanges(self):
        s = Story("ab").see(o.config("p", ["a"]), o.multikueue_cluster("a", "multikueue-a", "cluster/a")).select("a")
        self.assertEqual(s.lists(), [(10, "a")])
        self.assertEqual([c[:3] for c in s.clusters()], [(10, "apply", "p-a"), (10, "delete", "a")])


class Conditions(unittest.TestCase):
    def test_the_reasons_in_their_order(self):
        s = Story("", places="", checks=False).see(o.check("k-p", None)).at(10).see(o.check("k-p", "p"))
        s.at(20).see(o.placement("p")).at(30).select("a").at(40).see(o.secret("a"), o.config("p", ["x"], owned=False),
                                                                     o.multikueue_cluster("p-a", "x"))
        s.at(50).gone(o.config("p", ["x"])).at(60).gone(o.multikueue_cluster("p-a", "x"))
        self.assertEqual(s.conditions(), [
            (2, "BadParameters"), (10, "PlacementNotFound"), (20, "NoClustersAvailable"), (30, "CredentialsMissing"),
            (40, "MultiKueueConfigError"), (50, "NameTaken"), (62, "True")])

    def test_a_blink_below_settle_says_nothing(self):
        s = Story().select("a").at(30).select("").at(32).select("a")
        self.assertEqual(s.conditions(), [(2, "True")])

    def test_foreign_kinds_and_groups_are_bad_and_keep_the_list(self):
        bad = {"apiGroup": "other.io", "kind": "Placement", "name": "p"}
        s = Story().select("ab").at(30).see(o.check("k-p", bad)).at(40).select("a")
        self.assertEqual((s.lists(), s.conditions()), ([(2, "a b")], [(2, "True"), (32, "BadParameters")]))

    def test_the_longest_annotation_of_those_that_share_counts(self):
        s = Story(checks=False).see(o.check("k1", "p", {"settle": "5s", "moveWindow": "1s"}), o.check("k2", "p"))
        self.assertEqual(s.select("ab").at(20).select("a").lists(), [(5, "a b"), (30, "a")])

    def test_a_bad_annotation_counts_as_none(self):
        for text in ("soon", "-3s", "5", ""):
            s = Story(checks=False).see(o.check("k", "p", {"settle": text})).select("a")
            self.assertEqual(s.lists(), [(2, "a")])
        self.assertEqual((duration("1h30m"), duration("1.5s"), duration("0"), duration("100ms")),
                         (5400000, 1500, 0, 100))

    def test_what_is_used_is_first_said_with_the_first_word(self):
        s = Story("").see(o.config("p", ["p-a"])).select("a").at(10).see(o.secret("a"))
        self.assertEqual(s.conditions(), [(2, "CredentialsMissing"), (10, "True")])
        self.assertEqual(s.conditions(type_="AllClustersUsed"), [(2.0, "CredentialsMissing"), (12.0, "True")])

    def test_one_that_waits_for_a_copy_is_not_all(self):
        s = Story().select("ab").see(running("w", "p-a")).at(30).see(o.config("p", ["p-b"]))
        self.assertEqual((s.lists(), s.conditions()), ([(2, "a b")], [(2, "True")]))

    def test_what_is_used_changes_after_settle(self):
        s = Story("a").select("a").at(30).select("ab").at(40).see(o.secret("b"))
        self.assertEqual(s.conditions(type_="AllClustersUsed"), [(2, "True"), (32, "CredentialsMissing"), (42, "True")])


class Ends(unittest.TestCase):
    def test_the_config_of_a_deleted_check_goes_at_once_if_nothing_runs(self):
        s = Story().select("a").at(30).gone(o.check("k-p", "p"))
        self.assertEqual((s.lists(), s.clusters()[-1][:3]), ([(2, "a"), (30, "-")], (30, "delete", "p-a")))

    def test_the_config_of_a_deleted_check_waits_for_what_runs_or_the_drain_timeout(self):
        w = o.workload("w", ["whatever"], state="Ready", cluster="p-a")
        s = Story().select("a").see(w).at(30).gone(o.check("k-p", "p"))
        self.assertEqual(s.lists(), [(2, "a"), (90, "-")])
        self.assertEqual(s.at(50).gone(w).lists(), [(2, "a"), (50, "-")])

    def test_one_held_member_keeps_an_unused_config_whole(self):
        s = Story().select("ab").see(running("w", "p-b")).at(30).gone(o.check("k-p", "p")).at(40).gone(
            running("w", "p-b"))
        self.assertEqual(s.lists(), [(2, "a b"), (40, "-")])

    def test_only_a_check_that_came_from_it_is_awaited(self):
        s = Story(places="p q").select("a").at(30).gone(o.check("k-p", "p"))
        self.assertEqual(s.lists(), [(2, "a"), (30, "-")])

    def test_a_config_that_no_check_uses_after_a_restart(self):
        s = Story(checks=False).see(o.config("p", ["p-a"]), o.multikueue_cluster("p-a", "x", "placement/p"))
        self.assertEqual((s.lists(), [c[:3] for c in s.clusters()]), ([(0, "-")], [(0, "delete", "p-a")]))

    def test_an_unused_config_is_left_as_it_is_until_it_goes(self):
        w = running("w", "p-b")
        s = Story().select("ab").see(w).at(30).gone(o.check("k-p", "p")).at(31).select("a").at(50).gone(w)
        self.assertEqual(s.lists(), [(2, "a b"), (50, "-")])

    def test_nothing_is_adopted_without_the_finalizer_or_the_setting(self):
        for finalizers, adopt in (([FINALIZER], False), ([], True)):
            s = Story("a", checks=False, adoptOcmAddon=adopt).see(
                o.check("k-p", "p", finalizers=finalizers), o.config("p", ["p-a"], owned=False)).select("a")
            self.assertEqual((s.lists(), s.conditions()), ([], [(2, "MultiKueueConfigError")]))

    def test_a_renamed_check_writes_the_new_config_first(self):
        s = Story().see(o.placement("q")).select("a").at(30).see(o.check("k-p", "q")).at(40).select("b", "q")
        self.assertEqual((s.lists(), s.lists("q")), ([(2, "a"), (42, "-")], [(42, "b")]))

    def test_a_new_config_that_never_comes_is_awaited_for_the_drain_timeout(self):
        s = Story().see(o.placement("q")).select("a").at(30).see(o.check("k-p", "q"))
        self.assertEqual(s.lists(), [(2, "a"), (90, "-")])

    def test_two_checks_share_and_the_last_one_takes_it_along(self):
        s = Story().see(o.check("k2", "p")).select("a").at(30).gone(o.check("k-p", "p")).at(40).gone(
            o.check("k2", "p"))
        self.assertEqual(s.lists(), [(2, "a"), (40, "-")])

    def test_a_foreign_config_is_never_touched(self):
        s = Story().see(o.config("p", ["x"], owned=False)).select("a").at(30).gone(o.check("k-p", "p"))
        self.assertEqual((s.lists(), s.clusters()), ([], []))

    def test_what_the_addon_left_is_adopted_and_its_finalizer_released(self):
        check = o.check("k-p", "p", finalizers=[FINALIZER])
        going = o.check("k-p", "p", finalizers=[FINALIZER])
        going["metadata"]["deletionTimestamp"] = "1970-01-01T00:00:30Z"
        s = Story("a", profile="cluster", adoptOcmAddon=True).see(
            check, o.config("p", ["a"], owned=False), o.multikueue_cluster("a", "multikueue-a")).select("a")
        s.at(30).see(going)
        self.assertEqual([(w["time"] / 1000, w["verb"], w["kind"]) for w in s.run() if w["verb"] != "apply-status"], [
            (0, "apply", "MultiKueueCluster"), (0, "apply", "MultiKueueConfig"), (30, "delete", "MultiKueueConfig"),
            (30, "delete", "MultiKueueCluster"), (30, "patch", "AdmissionCheck")])


class Workloads(unittest.TestCase):
    def test_ready_at_once_whatever_the_condition_says_and_again_after_an_eviction(self):
        s = Story("").at(5).see(o.workload("w", ["k-p", "mk"])).at(50).see(o.workload("w", ["k-p", "mk"], evicted=True))
        self.assertEqual(s.workloads(), [(5, "w", ["k-p"], None), (50, "w", ["k-p"], None)])

    def test_all_of_our_checks_when_one_is_not_ready(self):
        w = o.workload("w", ["k-q", "mk", "k-p"], state="Ready")
        w["status"]["admissionChecks"][0]["state"] = "Retry"
        self.assertEqual(Story("", places="p q").see(w).workloads(), [(0, "w", ["k-q", "k-p"], None)])

    def test_what_members_say_is_not_the_hubs(self):
        s = Story("").see(o.workload("w", ["k-p"]))
        s.lines[-1]["cluster"] = "c1"
        self.assertEqual(s.workloads(), [])

    def test_not_when_it_is_finished(self):
        self.assertEqual(Story("").see(o.workload("w", ["k-p"], finished=True)).workloads(), [])


class Dispatcher(unittest.TestCase):
    def test_it_nominates_the_list_without_its_leavers(self):
        s = Story(dispatcher=True).select("abc").at(30).select("ab").at(35).see(o.workload("w", ["k-p"]))
        self.assertEqual(s.workloads(), [(35, "w", ["k-p"], ["p-a", "p-b"])])

    def test_nothing_before_the_quota_and_all_at_once_with_the_check(self):
        s = Story(dispatcher=True).select("a").at(30).see(o.workload("w", ["k-p"], reserved=False)).at(40).see(
            o.workload("w", ["k-p"], state="Ready"))
        self.assertEqual(s.workloads(), [(30, "w", ["k-p"], None), (40, "w", ["k-p"], ["p-a"])])

    def test_a_nomination_changes_with_the_list_or_when_a_leaver_has_the_window(self):
        s = Story(dispatcher=True).select("ab").at(20).see(o.workload("w", ["k-p"]), running("v", "p-b")).at(
            30).select("a").at(50).select("ac")
        self.assertEqual(s.workloads(), [(20, "w", ["k-p"], ["p-a", "p-b"]), (40, "w", ["k-p"], ["p-a"]),
                                         (60, "w", ["k-p"], ["p-a", "p-c"])])

    def test_only_while_something_clears_nominations(self):
        own = o.policy("clear-nominated-cluster-names")
        s = Story(dispatcher=True).select("a").see(o.policy("other")).at(20).see(o.workload("w", ["k-p"]))
        s.at(30).see(own).at(40).gone(own).see(o.workload("v", ["k-p"])).at(50).see(o.policy("mine", "true"))
        self.assertEqual(s.workloads(), [(20, "w", ["k-p"], None), (30, "w", ["k-p"], ["p-a"]),
                                         (40, "v", ["k-p"], None), (50, "v", ["k-p"], ["p-a"])])
        self.assertEqual(s.conditions(type_="DispatcherReady"), [
            (2, "ClearingPolicyMissing"), (30, "True"), (40, "ClearingPolicyMissing"), (50, "True")])

    def test_kueues_gate_is_believed(self):
        s = Story(dispatcher=True, clearedBy="mergePatch").select("a").see(o.policy("other")).at(20).see(
            o.workload("w", ["k-p"]))
        self.assertEqual(s.workloads(), [(20, "w", ["k-p"], ["p-a"])])
        self.assertEqual(s.conditions(type_="DispatcherReady"), [(2, "True")])

    def test_only_if_it_is_switched_on(self):
        s = Story().select("a").at(20).see(o.workload("w", ["k-p"]))
        self.assertEqual(s.workloads(), [(20, "w", ["k-p"], None)])

    def test_a_leaver_that_blinks_changes_no_nomination(self):
        s = Story(dispatcher=True).select("ab").at(20).see(o.workload("w", ["k-p"]), running("v", "p-b"))
        s.at(30).select("a").at(45).select("ab").at(50).select("a").at(55).select("ab")
        self.assertEqual(s.workloads(), [(20, "w", ["k-p"], ["p-a", "p-b"]), (40, "w", ["k-p"], ["p-a"])])

    def test_all_leavers_nominate_no_cluster(self):
        s = Story(dispatcher=True).select("a").at(20).see(o.workload("w", ["k-p"])).at(30).select("").at(35).see(
            o.workload("v", ["k-p"]))
        self.assertEqual(s.workloads(), [(20, "w", ["k-p"], ["p-a"]), (35, "v", ["k-p"], None),
                                         (40, "w", ["k-p"], None)])

    def test_not_while_it_has_a_cluster_or_was_evicted(self):
        s = Story(dispatcher=True).select("a").at(20).see(running("w", "p-a"), o.workload("v", ["k-p"], evicted=True))
        self.assertEqual(s.workloads(), [(20, "v", ["k-p"], None)])


if __name__ == "__main__":
    unittest.main()
