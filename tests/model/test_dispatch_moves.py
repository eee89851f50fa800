#!/usr/bin/env python3
"""The model of dispatch: when a reservation is released, kept, moved and what it costs. Times are seconds."""
import unittest

import dispatch
import test_devices_model as d
from test_dispatch_model import MINUTE, Case, member_pod, pod_claim, workload


class Released(Case):
    def test_at_once_and_whole(self):
        for change in ({"Finished": True}, {"Evicted": True}, {"QuotaReserved": False}, {"clusterName": "w2"}, None):
            self.setUp()
            self.fleet(1, 0)
            self.see("hub", workload("x"), workload("y"))
            self.at(1)
            self.is_on("x", "w1")
            (self.gone if change is None else self.see)("hub", workload("x", **change or {}))
            self.at(2)
            self.is_on("y", "w1")
            if change:
                bypassed = ("False", "Bypassed") if "clusterName" in change else None
                self.assertEqual((self.verdict("x").condition, self.verdict("x").reservation), (bypassed, None), change)

    def test_without_its_check(self):
        self.fleet()
        self.see("hub", workload("x"))
        self.at(1)
        self.check = None
        self.at(2)
        self.assertIsNone(self.verdict("x").reservation)

    def test_kept_while_deleting_and_while_the_check_is_not_good(self):
        self.fleet(1, 0)
        self.see("hub", workload("x"), workload("y"))
        self.at(1)
        deleting = workload("x")
        deleting["metadata"]["deletionTimestamp"] = "1970-01-01T00:00:01Z"
        self.see("hub", deleting)
        self.at(2)
        self.waits("y")
        self.good = False
        self.see("w1", d.gpus("a", 2))
        self.see("hub", workload("z"))
        self.at(3)
        self.assertEqual(self.reserved("x"), ["a/gpu-0"])
        self.assertEqual((self.verdict("y").nomination, self.verdict("y").reservation), (None, None))
        self.assertIsNone(self.verdict("z").condition)

    def test_waits_again_when_the_cluster_name_goes_after_the_place_timeout(self):
        self.SETTINGS = {"placeTimeout": 60}
        self.setUp()
        self.fleet()
        self.see("hub", workload("x"))
        self.at(1)
        self.see("hub", workload("x", clusterName="w1"))
        self.at(2)
        self.at(62)
        self.assertEqual(self.verdict("x").reservation["pods"], [])
        self.see("hub", workload("x"))
        self.at(63)
        self.assertEqual(self.reserved("x"), ["a/gpu-0"])

    def test_bypassed_while_it_waited(self):
        self.fleet(0, 0)
        self.see("hub", workload("x"))
        self.at(1)
        self.see("hub", workload("x", clusterName="w1"))
        self.at(2)
        self.assertEqual(self.verdict("x").condition, ("False", "Bypassed"))

    def test_another_of_the_same_name_is_another(self):
        self.fleet(1, 1)
        self.see("hub", workload("x"))
        self.at(1)
        self.gone("hub", workload("x"))
        self.see("hub", workload("x", uid="second", clusterName="w1"))
        self.at(2)
        self.assertEqual((self.verdict("x").reservation, self.verdict("x").condition), (None, None))


class FirstSeen(Case):
    def first(self, **status):
        self.fleet(1, 1)
        self.see("hub", workload("x", **status))
        self.at(1)

    def test_with_a_cluster_name_it_gets_no_reservation(self):
        self.first(clusterName="w1")
        self.assertEqual((self.verdict("x").reservation, self.verdict("x").nomination), (None, None))

    def test_one_nomination_is_kept(self):
        self.first(nominatedClusterNames=["w2"])
        self.is_on("x", "w2")

    def test_anything_else_is_decided_anew(self):
        for nominated, full in ((["w2", "w1"], 1), (["w3"], 1), (["w2"], 0)):
            self.setUp()
            self.fleet(1, full)
            self.see("hub", workload("x", nominatedClusterNames=nominated))
            self.at(1)
            self.is_on("x", "w1")

    def test_several_are_no_choice(self):
        self.SETTINGS = {"policy": "pack"}
        self.setUp()
        self.fleet(2, 1)
        self.see("hub", workload("x", nominatedClusterNames=["w1", "w2"]))
        self.at(1)
        self.is_on("x", "w2")

    def test_one_that_was_seen_before_is_decided_anew(self):
        self.first(QuotaReserved=False, nominatedClusterNames=["w2"])
        self.see("hub", workload("x", nominatedClusterNames=["w2"]))
        self.at(2)
        self.is_on("x", "w1")

    def test_claims_of_a_kept_one_replace_at_once(self):
        self.see("w2", member_pod("p", "x"), pod_claim("p", "gpus", d.result("a", "gpu-1")))
        self.fleet(0, 2)
        self.see("hub", workload("x", nominatedClusterNames=["w2"]), workload("y"))
        self.at(1)
        self.assertEqual((self.reserved("x"), self.reserved("y")), ([], ["a/gpu-0"]))


class JudgedAgain(Case):
    def on_w1(self, w2=0):
        self.fleet(1, w2)
        self.see("hub", workload("x"))
        self.at(1)
        self.is_on("x", "w1")

    def test_admit_timeout_and_spent(self):
        self.on_w1(1)
        self.at(300)
        self.is_on("x", "w1")
        self.at(301)
        self.is_on("x", "w2")
        self.assertEqual(self.verdict("x").spent, ("w1",))
        self.at(601)
        self.is_on("x", "w2")  # w1 is spent
        self.see("w1", d.node("a"))
        self.at(602)
        self.is_on("x", "w2")  # a duplicate
        self.see("w1", d.node("a", cpu="1"))
        self.at(603)
        self.is_on("x", "w1")  # no timer any more: at once
        self.assertEqual(self.verdict("x").spent, ("w2",))

    def test_a_line_with_another_resource_version_alone_is_a_duplicate(self):
        self.on_w1(1)
        self.at(301)
        again = d.node("a")
        again["metadata"]["resourceVersion"] = "2"
        self.see("w1", again)
        self.at(302)
        self.assertEqual(self.verdict("x").spent, ("w1",))

    def test_never_with_a_timeout_of_zero(self):
        self.SETTINGS = {"admitTimeout": 0}
        self.setUp()
        self.on_w1(1)
        self.at(100 * MINUTE)
        self.is_on("x", "w1")

    def test_not_once_it_has_a_cluster_name(self):
        self.on_w1(1)
        self.see("hub", workload("x", clusterName="w1"))
        self.see("w1", d.node("a", ready=False))
        self.at(2)
        self.at(200)
        self.assertEqual(self.verdict("x").reservation["cluster"], "w1")
        self.assertEqual(self.verdict("x").reservation["broken"], 2000)
        self.assertEqual(self.verdict("x").condition, ("True", "Reserved"))

    def test_broken_without_a_break(self):
        self.on_w1(1)
        self.see("w1", d.node("a", ready=False))
        self.at(2)
        self.see("w1", d.node("a"))
        self.at(100)
        self.see("w1", d.node("a", ready=False))
        self.at(101)
        self.at(220)
        self.is_on("x", "w1")
        self.at(221)
        self.is_on("x", "w2")
        self.assertEqual(self.verdict("x").spent, ())

    def test_stale_then_lost_without_a_break(self):
        self.on_w1(1)
        self.source("w1", "STALE")
        self.at(2)
        self.source("w1", "LOST")
        self.at(100)
        self.at(121)
        self.is_on("x", "w1")
        self.at(122)
        self.is_on("x", "w2")

    def test_leaver_for_the_move_window(self):
        self.on_w1(1)
        self.workers[0] = dispatch.Worker("w1", "w1", 2000)
        self.at(2)
        self.is_on("x", "w1")
        self.at(122)
        self.is_on("x", "w2")

    def test_out_of_the_list_at_once_or_withdrawn(self):
        self.on_w1(0)
        self.workers = self.workers[1:]
        self.at(2)
        self.waits("x", w2="NoDevices gpus/gpu")
        self.setUp()
        self.on_w1(1)
        self.workers = self.workers[1:]
        self.at(2)
        self.is_on("x", "w2")

    def test_a_move_frees_its_devices_in_the_same_moment(self):
        self.on_w1(0)
        self.see("hub", workload("first", template="other", priority=9))
        self.see("w1", d.template("other", d.request()))
        self.at(2)
        self.waits("first")
        self.at(301)
        self.see("w2", d.gpus("a", 1))
        self.at(302)
        self.is_on("x", "w2")
        self.is_on("first", "w1")


class Pinned(Case):
    def test_a_later_slice_does_not_rewrite_what_is_used(self):
        def publish(cost):
            def part(name, amount):
                return d.device(name, consumesCounters=[{"counterSet": "s", "counters": {"m": {"value": amount}}}])
            self.see("w1", d.pool("a", [part("gpu-0", cost), part("gpu-1", "4")], slice_name="a", slices=2,
                                  nodeName="a"),
                     d.pool("a", [], slice_name="b", slices=2, nodeName="a",
                            counters=[{"name": "s", "counters": {"m": {"value": "8"}}}]))
        for first, second in (("6", "2"), ("2", "6")):
            self.setUp()
            self.workers = self.workers[:1]
            self.fleet(0)
            publish(first)
            self.see("w1", d.claim("other", d.request(), results=[d.result("a", "gpu-0")]))
            self.at(1)
            publish(second)
            self.see("hub", workload("x"))
            self.at(2)
            (self.waits if first == "6" else lambda name: self.is_on(name, "w1"))("x")

    def test_use_of_what_was_never_published_has_no_known_cost(self):
        self.workers = self.workers[:1]
        self.fleet(0)
        other = d.claim("other", d.request(), results=[d.result("a", "gpu-9")])
        counted = [d.device("gpu-0", consumesCounters=[{"counterSet": "s", "counters": {"m": {"value": "1"}}}])]
        self.see("w1", other)
        self.see("w1", d.pool("a", counted, slices=2, nodeName="a"),
                 d.pool("a", [], slice_name="b", slices=2, nodeName="a",
                        counters=[{"name": "s", "counters": {"m": {"value": "8"}}}]))
        self.see("hub", workload("x"))
        self.at(1)
        self.waits("x")
        self.gone("w1", other)
        self.at(2)
        self.is_on("x", "w1")


if __name__ == "__main__":
    unittest.main()
