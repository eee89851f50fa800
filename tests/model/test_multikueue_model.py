#!/usr/bin/env python3
"""Who is in the list and when it changes: the MultiKueue model against cases computed by hand from the page.

Windows and the helpers of a case: multikueue_story.py. A model that is wrong proves nothing.
"""
import unittest

import multikueue_objects as o
from multikueue import Hub
from multikueue_story import ADDON, SHORT, Story, running


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

    def test_after_a_deleted_config_settle_counts_for_who_has_just_returned(self):
        s = Story().select("a").at(20).select("").at(28.5).select("a").at(29).gone(o.config("p", ["p-a"]))
        self.assertEqual(s.lists(), [(2, "a"), (30.5, "a")])

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

    def test_without_drain_timeout_no_workload_holds(self):
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

    def test_a_member_goes_back_at_once_also_during_a_move(self):
        s = Story(moveWindow=100000).select("ab").at(30).select("a").at(40).see(o.config("p", ["p-b"]))
        self.assertEqual(s.lists(until=50), [(2, "a b"), (40, "a b")])

    def test_a_hand_that_takes_a_leaver_out_has_its_way(self):
        s = Story().select("ab").at(30).select("a").at(35).see(o.config("p", ["p-a"]))
        self.assertEqual((s.lists(), s.clusters()[-1][:3]), ([(2, "a b")], (35, "delete", "p-b")))

    def test_a_name_that_a_hand_added_gets_no_cluster_object(self):
        s = Story().select("a").at(1).select("ab").at(1.5).select("a").at(30).see(o.config("p", ["p-a", "p-b"]))
        self.assertEqual((s.lists(), len(s.clusters())), ([(2, "a"), (40, "a")], 1))

    def test_the_cluster_object_of_a_leaver_comes_back_too(self):
        s = Story().select("ab").see(running("w", "p-b")).at(30).select("a").at(50).gone(
            o.multikueue_cluster("p-b", "x"))
        self.assertIn((50, "apply", "p-b", "kueue-admin-b-kubeconfig"), s.clusters())

    def test_an_edited_cluster_object_is_written_again(self):
        s = Story().select("a").at(30).see(o.multikueue_cluster("p-a", "elsewhere", "placement/p"))
        self.assertEqual(s.clusters()[1:], [(30, "apply", "p-a", "kueue-admin-a-kubeconfig")])

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


class Zero(unittest.TestCase):
    def test_the_same_again_reordered_or_undone_inside_the_windows(self):
        base = Story(addons=ADDON).scores(a=3, b=2).select("ab")
        count = len(base.run())
        s = base.at(30).select("ba").at(40).select("a").at(49).select("ab").at(60).select("abc").at(61).select("ab")
        s.at(70).scores(b=9).at(79).scores(b=2).at(80).gone(o.secret("a")).at(99).see(o.secret("a"))
        self.assertEqual(len(s.run()), count)


if __name__ == "__main__":
    unittest.main()
