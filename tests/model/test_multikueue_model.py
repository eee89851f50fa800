#!/usr/bin/env python3
"""The MultiKueue model against cases computed by hand from the page; a model that is wrong proves nothing.

Times are seconds. Unless a test says otherwise: settle 2, moveWindow 10, drainTimeout 60, emptyGrace 30,
credentialGrace 20.
"""
import unittest

import multikueue_objects as o
from multikueue import Hub
from multikueue_world import FINALIZER, duration, subdomain

SHORT = {"settle": 2000, "moveWindow": 10000, "drainTimeout": 60000, "emptyGrace": 30000, "credentialGrace": 20000}
ADDON = [("usage", "gpuClusterAvailable", 1)]


class Story:
    """Lines one after another; `at` sets the time of those that follow."""

    def __init__(self, clusters="abcdef", places="p", addons=(), checks=True, **settings):
        self.lines, self.time, self.settings, self.addons = [], 0, dict(SHORT, **settings), addons
        for place in places.split():
            self.see(o.placement(place, addons))
            if checks:
                self.see(o.check("k-" + place, place))
        self.see(*[o.secret(c, self.settings.get("profile", "placement")) for c in clusters])

    def at(self, seconds):
        self.time = round(seconds * 1000)
        return self

    def see(self, *objects, type_="MODIFIED"):
        self.lines += [o.line(self.time, x, type_) for x in objects]
        return self

    def gone(self, *objects):
        return self.see(*objects, type_="DELETED")

    def select(self, clusters, place="p", index=1):
        return self.see(o.decision(place, index, list(clusters)))

    def scores(self, **values):
        return self.see(*[o.score(c, "usage", {"gpuClusterAvailable": v}) for c, v in values.items()])

    def run(self, until=None):
        hub = Hub(self.settings)
        hub.run(self.lines, None if until is None else until * 1000)
        return hub.writes

    def lists(self, name="p", until=None):
        """[(seconds, short names)] of the config's writes; "-" is its deletion."""
        return [(w["time"] / 1000, " ".join(n[len(name) + 1:] if n.startswith(name + "-") else n
                                            for n in w["body"]["spec"]["clusters"]) if w["body"] else "-")
                for w in self.run(until) if w["kind"] == "MultiKueueConfig" and w["name"] == name]

    def conditions(self, check="k-p", type_="Active"):
        """[(seconds, reason or status)] where it changes."""
        out, last = [], None
        for w in self.run():
            if w["kind"] == "AdmissionCheck" and w["verb"] == "apply-status" and w["name"] == check:
                found = {c["type"]: c for c in w["body"]["status"]["conditions"]}.get(type_)
                said = None if found is None else "True" if found["status"] == "True" else found["reason"]
                if said != last:
                    out.append((w["time"] / 1000, said))
                last = said
        return out

    def clusters(self):
        """[(seconds, verb, name, where the credential is)] of MultiKueueCluster writes."""
        return [(w["time"] / 1000, w["verb"], w["name"], next(
            (v.get("location") or v["name"] for v in w["body"]["spec"]["clusterSource"].values()) if w["body"]
            else iter([""]))) for w in self.run() if w["kind"] == "MultiKueueCluster"]

    def workloads(self):
        return [(w["time"] / 1000, w["name"], [a["name"] for a in w["body"]["status"]["admissionChecks"]],
                 w["body"]["status"].get("nominatedClusterNames")) for w in self.run() if w["kind"] == "Workload"]


def running(name, cluster, **more):
    return o.workload(name, ["k-p"], state="Ready", cluster=cluster, **more)


class Stories(unittest.TestCase):
    def test_every_cluster_of_a_set_becomes_a_worker(self):
        s = Story().select("ab").at(100).select("abc").at(200).select("b")
        self.assertEqual(s.lists(), [(2, "a b"), (102, "a b c"), (210, "b")])
        self.assertEqual(s.conditions(), [(2, "True")])
        self.assertEqual(s.clusters(), [
            (2, "apply", "p-a", "kueue-admin-a-kubeconfig"), (2, "apply", "p-b", "kueue-admin-b-kubeconfig"),
            (102, "apply", "p-c", "kueue-admin-c-kubeconfig"), (210, "delete", "p-a", ""), (210, "delete", "p-c", "")])

    def test_a_label_that_no_cluster_has_and_then_two(self):
        s = Story().at(50).select("cd")
        self.assertEqual(s.lists(), [(52, "c d")])
        self.assertEqual(s.conditions(), [(2, "NoClustersAvailable"), (52, "True")])

    def test_the_best_cluster_follows_its_score_after_the_move_window(self):
        s = Story(addons=ADDON).scores(a=50, b=40).select("a").at(100).scores(b=60).select("b")
        self.assertEqual(s.lists(), [(2, "a"), (110, "b")])
        self.assertEqual(s.conditions(), [(2, "True")])

    def test_the_best_cluster_that_flips_for_less_than_the_window_moves_nothing(self):
        s = Story(addons=ADDON).select("a").at(100).select("b").at(110).select("a").at(113).select("b").at(122).select(
            "a")
        self.assertEqual(s.lists(), [(2, "a")])


class Growth(unittest.TestCase):
    def test_one_that_has_settled_takes_the_others_along(self):
        self.assertEqual(Story().select("a").at(1).select("ab").at(2).select("abc").lists(), [(2, "a b c")])

    def test_a_break_counts_anew(self):
        self.assertEqual(Story().select("a").at(1).select("").at(1.5).select("a").lists(), [(3.5, "a")])

    def test_settle_may_have_passed_before_the_check_exists(self):
        self.assertEqual(Story(checks=False).select("a").at(50).see(o.check("k", "p")).lists(), [(50, "a")])

    def test_no_window_writes_at_once(self):
        self.assertEqual(Story(settle=0).select("b").lists(), [(0, "b")])

    def test_a_shard_that_moves_between_objects_writes_nothing(self):
        s = Story().select("ab").at(20).select("a").at(21).select("b", index=2).at(22).select("a").select("b", index=2)
        self.assertEqual(s.lists(), [(2, "a b")])

    def test_a_config_that_a_hand_deletes_comes_back_whole(self):
        s = Story().select("ab").at(20).gone(o.config("p", ["p-a", "p-b"]))
        self.assertEqual(s.lists(), [(2, "a b"), (20, "a b")])
        self.assertEqual(s.conditions(), [(2, "True")])

    def test_at_most_twenty_by_rank_and_the_rest_as_places_free_up(self):
        s = Story("abcd", addons=ADDON).see(o.crd(2)).scores(a=1, b=2, c=3, d=4).select("abcd")
        s.at(50).select("abc")
        self.assertEqual(s.lists(), [(2, "d c"), (60, "c b")])
        self.assertEqual(s.conditions(type_="AllClustersUsed"), [(2, "TooManyClusters")])

    def test_a_member_is_not_displaced_by_rank(self):
        s = Story("abc", addons=ADDON).see(o.crd(2)).scores(a=1, b=2, c=9).select("ab").at(50).select("abc")
        self.assertEqual(s.lists(), [(2, "b a")])


class Move(unittest.TestCase):
    def test_with_a_leaver_a_newcomer_needs_the_move_window(self):
        s = Story().select("ab").at(50).see(running("w", "p-b")).at(60).select("a").at(65).select("ac")
        self.assertEqual(s.lists(until=100), [(2, "a b"), (75, "a c b")])

    def test_a_leaver_that_returns_makes_it_growth_again(self):
        s = Story().select("ab").at(60).select("a").at(61).select("ac").at(64).select("abc")
        self.assertEqual(s.lists(), [(2, "a b"), (64, "a b c")])

    def test_the_last_leaver_goes_and_the_settled_enter_in_that_write(self):
        s = Story().select("ab").at(60).select("a").at(67).select("ac").at(69).select("acd")
        self.assertEqual(s.lists(), [(2, "a b"), (70, "a c d")])

    def test_the_last_leaver_goes_and_who_has_not_settled_waits_for_settle(self):
        s = Story().select("ab").at(60).select("a").at(69).select("ac")
        self.assertEqual(s.lists(), [(2, "a b"), (70, "a"), (71, "a c")])

    def test_who_returns_exactly_at_the_deadline_never_left(self):
        self.assertEqual(Story().select("ab").at(60).select("a").at(70).select("ab").lists(), [(2, "a b")])


class Leaving(unittest.TestCase):
    def test_a_held_cluster_waits_for_its_workload_and_goes_to_the_end(self):
        s = Story().select("ab").at(20).see(running("w", "p-a")).at(30).select("b").at(55).see(
            running("w", "p-a", finished=True))
        self.assertEqual(s.lists(), [(2, "a b"), (40, "b a"), (55, "b")])

    def test_a_held_cluster_goes_after_the_drain_timeout(self):
        s = Story().select("ab").at(20).see(running("w", "p-a")).at(30).select("b")
        self.assertEqual(s.lists(), [(2, "a b"), (40, "b a"), (90, "b")])

    def test_without_drain_timeout_nobody_holds(self):
        s = Story(drainTimeout=0).select("ab").at(20).see(running("w", "p-a")).at(30).select("b")
        self.assertEqual(s.lists(), [(2, "a b"), (40, "b")])

    def test_a_workload_without_our_check_holds_nothing(self):
        w = o.workload("w", ["other"], state="Ready", cluster="p-a")
        self.assertEqual(Story().select("ab").see(w).at(30).select("b").lists(), [(2, "a b"), (40, "b")])

    def test_a_workload_that_is_being_deleted_holds_nothing(self):
        w = running("w", "p-a")
        w["metadata"]["deletionTimestamp"] = "1970-01-01T00:00:01Z"
        self.assertEqual(Story().select("ab").see(w).at(30).select("b").lists(), [(2, "a b"), (40, "b")])


class NeverEmpty(unittest.TestCase):
    def test_the_leavers_stay_until_the_first_newcomer_has_the_window(self):
        s = Story().select("ab").at(30).select("").at(35).select("c").at(44).select("cd")
        self.assertEqual(s.lists(), [(2, "a b"), (45, "c d")])

    def test_who_was_kept_has_not_gone_and_may_return(self):
        s = Story().select("a").at(30).select("b").at(35).select("c").at(42).select("ac")
        self.assertEqual(s.lists(), [(2, "a"), (42, "a c")])

    def test_one_that_may_not_go_yet_lets_the_others_go(self):
        s = Story().select("ab").see(running("w", "p-b")).at(30).select("").at(35).select("c").at(41).see(
            running("w", "p-b", finished=True))
        self.assertEqual(s.lists(), [(2, "a b"), (40, "b"), (45, "c")])

    def test_nothing_selected_freezes_the_list_and_absence_counts(self):
        s = Story().select("ab").at(30).select("").at(50).select("b")
        self.assertEqual(s.lists(), [(2, "a b"), (50, "b")])
        self.assertEqual(s.conditions(), [(2, "True"), (32, "NoClustersAvailable"), (50, "True")])

    def test_after_the_grace_the_config_goes(self):
        s = Story().select("ab").at(30).select("")
        self.assertEqual(s.lists(), [(2, "a b"), (60, "-")])
        self.assertEqual(s.conditions(type_="AllClustersUsed"), [(2, "True"), (60, None)])
        self.assertEqual([c for c in s.clusters() if c[1] == "delete"], [(60, "delete", "p-a", ""),
                                                                        (60, "delete", "p-b", "")])

    def test_after_the_grace_a_held_config_waits_for_the_drain_timeout(self):
        s = Story().select("ab").see(running("w", "p-b")).at(30).select("")
        self.assertEqual(s.lists(), [(2, "a b"), (90, "-")])

    def test_the_grace_counts_from_when_there_is_a_list(self):
        s = Story("").at(100).see(o.config("p", ["p-a"]))
        self.assertEqual(s.lists(), [(130, "-")])

    def test_a_placement_that_is_gone_freezes_too(self):
        s = Story().select("ab").at(30).gone(o.placement("p")).at(35).select("b").at(55).see(o.placement("p"))
        self.assertEqual(s.lists(), [(2, "a b"), (55, "b")])
        self.assertEqual(s.conditions(), [(2, "True"), (32, "PlacementNotFound"), (55, "True")])


class Order(unittest.TestCase):
    def test_highest_first_unknown_last_then_name(self):
        s = Story(addons=ADDON).scores(a=1, c=7, d=7).select("abcde")
        self.assertEqual(s.lists(), [(2, "c d a b e")])

    def test_weights_add_up_and_one_unknown_makes_all_unknown(self):
        s = Story(addons=[("usage", "x", 2), ("usage", "y", -1)])
        s.see(o.score("a", "usage", {"x": 10, "y": 90}), o.score("b", "usage", {"x": 1, "y": 0}),
              o.score("c", "usage", {"x": 100}))
        self.assertEqual(s.select("abc").lists(), [(2, "b a c")])

    def test_another_order_alone_is_written_after_the_window(self):
        s = Story(addons=ADDON).scores(a=9, b=5).select("ab").at(20).scores(a=1)
        self.assertEqual(s.lists(), [(2, "a b"), (30, "b a")])

    def test_an_order_that_flips_back_is_not_written(self):
        s = Story(addons=ADDON).scores(a=9, b=5).select("ab").at(20).scores(a=1).at(30).scores(a=8)
        self.assertEqual(s.lists(), [(2, "a b")])

    def test_a_third_order_counts_anew(self):
        s = Story(addons=ADDON).scores(a=9, b=5, c=1).select("abc").at(20).scores(a=4).at(25).scores(a=0)
        self.assertEqual(s.lists(), [(2, "a b c"), (35, "b c a")])

    def test_a_change_of_members_takes_the_newest_order(self):
        s = Story(addons=ADDON).scores(a=9, b=5, c=7).select("ab").at(20).scores(a=1).at(21).select("abc")
        self.assertEqual(s.lists(), [(2, "a b"), (23, "c b a")])

    def test_an_expired_score_is_unknown(self):
        s = Story(addons=ADDON).scores(b=1).see(o.score("a", "usage", {"gpuClusterAvailable": 9}, 30000)).select("ab")
        self.assertEqual(s.lists(), [(2, "a b"), (40, "b a")])

    def test_a_thaw_counts_the_order_anew(self):
        s = Story(addons=ADDON).scores(a=9, b=5).select("ab").at(20).scores(a=1).at(25).select("").at(27).select("ab")
        self.assertEqual(s.lists(), [(2, "a b"), (37, "b a")])


class Credentials(unittest.TestCase):
    def test_a_member_is_selected_for_the_grace(self):
        s = Story().select("ab").at(30).gone(o.secret("a"))
        self.assertEqual(s.lists(), [(2, "a b"), (60, "b")])  # 20 of grace and 10 of moveWindow
        self.assertEqual(s.conditions(type_="AllClustersUsed"), [(2, "True"), (52, "CredentialsMissing")])

    def test_one_that_is_no_member_has_no_grace(self):
        s = Story("b").select("ab").at(30).see(o.secret("a")).at(31).gone(o.secret("a")).at(32).see(o.secret("a"))
        self.assertEqual(s.lists(), [(2, "b"), (34, "a b")])

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

    def test_a_profile_counts_only_with_a_provider_that_kueue_has(self):
        s = Story("", accessProviders=["gke"]).see(o.cluster_profile("a"), o.cluster_profile("b", ("x", "gke")))
        self.assertEqual(s.select("ab").lists(), [(2, "b")])

    def test_rotation_needs_no_write(self):
        rotated = o.secret("a")
        rotated["data"]["kubeconfig"] = "b3RoZXI="
        self.assertEqual(len(Story("a").select("a").at(30).see(rotated).run()), 3)


class NoReturn(unittest.TestCase):
    def test_after_the_drain_timeout_only_60_seconds_after_the_copy_ends(self):
        s = Story(drainTimeout=15000).select("ab").see(running("w", "p-a")).at(30).select("b").at(50).select("ab")
        s.at(100).see(running("w", "p-a", finished=True))
        self.assertEqual(s.lists(), [(2, "a b"), (40, "b a"), (45, "b"), (160, "a b")])

    def test_a_hand_that_removes_a_held_member(self):
        s = Story().select("ab").see(running("w", "p-a")).at(30).see(o.config("p", ["p-b"])).at(40).gone(
            running("w", "p-a"))
        self.assertEqual(s.lists(), [(2, "a b"), (100, "a b")])

    def test_nothing_else_to_dispatch_to(self):
        s = Story().select("a").see(running("w", "p-a")).at(30).gone(o.config("p", ["p-a"])).at(40).gone(
            running("w", "p-a"))
        self.assertEqual(s.lists(), [(2, "a"), (100, "a")])
        self.assertEqual(s.conditions(), [(2, "True"), (32, "WaitingForRunningCopies"), (100, "True")])


class Hands(unittest.TestCase):
    def test_a_member_goes_back_at_once(self):
        s = Story().select("abc").at(30).see(o.config("p", ["p-c"]))
        self.assertEqual(s.lists(), [(2, "a b c"), (30, "a b c")])

    def test_an_added_name_is_a_leaver_from_then(self):
        s = Story().select("a").at(30).see(o.config("p", ["p-x", "p-a"]))
        self.assertEqual(s.lists(), [(2, "a"), (40, "a")])
        self.assertEqual(len(s.clusters()), 1)

    def test_what_we_do_not_write_stays(self):
        edited = o.config("p", ["p-a"])
        edited["spec"]["quotaManagement"] = "Manual"
        hub = Hub(SHORT)
        hub.run(Story().select("ab").at(30).see(edited).lines)
        self.assertEqual(hub.get("MultiKueueConfig", "p")["spec"],
                         {"quotaManagement": "Manual", "clusters": ["p-a", "p-b"]})

    def test_a_cluster_object_that_a_hand_deletes_comes_back(self):
        s = Story("a").select("a").at(30).gone(o.multikueue_cluster("p-a", "x"))
        self.assertEqual([c[:3] for c in s.clusters()], [(2, "apply", "p-a"), (30, "apply", "p-a")])


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

    def test_not_while_it_has_a_cluster_or_was_evicted(self):
        s = Story(dispatcher=True).select("a").at(20).see(running("w", "p-a"), o.workload("v", ["k-p"], evicted=True))
        self.assertEqual(s.workloads(), [(20, "v", ["k-p"], None)])


class Zero(unittest.TestCase):
    def test_the_same_again_reordered_or_undone_inside_the_windows(self):
        base = Story(addons=ADDON).scores(a=3, b=2).select("ab")
        count = len(base.run())
        s = base.at(30).select("ba").at(40).select("a").at(49).select("ab").at(60).select("abc").at(61).select("ab")
        s.at(70).scores(b=9).at(79).scores(b=2).at(80).gone(o.secret("a")).at(99).see(o.secret("a"))
        self.assertEqual(len(s.run()), count)


if __name__ == "__main__":
    unittest.main()
