#!/usr/bin/env python3
"""The model of dispatch itself: the page's examples, and a small case of each rule. Times are seconds."""
import copy
import unittest

import dispatch
import test_devices_model as d

MINUTE = 60


def workload(name, count=1, template="gpus", priority=0, created="1970-01-01T00:00:00Z", uid=None, **status):
    """One that waits; `status`: clusterName, nominatedClusterNames, or a condition set to True or False."""
    conditions = {"QuotaReserved": True, "Finished": False, "Evicted": False}
    conditions |= {k: v for k, v in status.items() if k in conditions}
    fields = {k: v for k, v in status.items() if k not in conditions and v is not None}
    spec = d.pod(template) if isinstance(template, str) else template
    made = d.named("Workload", name, "default", created=created, spec={
        "priority": priority, "podSets": [{"name": "main", "count": count, "template": spec}]}, status={
            "admissionChecks": [{"name": "check", "state": "Ready"}],
            "conditions": [{"type": t, "status": str(so), "reason": t} for t, so in conditions.items()], **fields})
    made["metadata"]["uid"] = uid or "uid-" + name
    return made


def member_pod(name, of, pod_set="main"):
    made = d.named("Pod", name, "default")
    made["metadata"].update(uid="pod-" + name, labels={"kueue.x-k8s.io/podset": pod_set},
                            annotations={"kueue.x-k8s.io/workload": of})
    return made


def pod_claim(pod, entry, *results, extended=False):
    """The allocated claim of a Pod."""
    made = d.claim("%s-%s" % (pod, entry), d.request(), results=list(results))
    made["metadata"].update(uid="claim-%s-%s" % (pod, entry), ownerReferences=[{"kind": "Pod", "uid": "pod-" + pod}])
    made["metadata"]["annotations"] = {"resource.kubernetes.io/extended-resource-claim": "true"} if extended else {
        "resource.kubernetes.io/pod-claim-name": entry}
    return made


class Case(unittest.TestCase):
    SETTINGS = {}

    def setUp(self):
        seconds = {"admitTimeout": 300, "placeTimeout": 300, "moveWindow": 120} | self.SETTINGS
        self.hub = dispatch.Dispatch({k: v * 1000 if isinstance(v, int) else v for k, v in seconds.items()}, True)
        self.lines, self.now, self.said = [], 0, {}
        self.workers = [dispatch.Worker("w1", "w1"), dispatch.Worker("w2", "w2")]
        self.check, self.good = "check", True

    def see(self, cluster, *objects, type_="MODIFIED"):
        self.lines += [{"type": type_, "cluster": cluster, "object": copy.deepcopy(o)} for o in objects]

    def gone(self, cluster, *objects):
        self.see(cluster, *objects, type_="DELETED")

    def source(self, cluster, what):
        self.lines.append({"type": "SOURCE_" + what, "cluster": cluster})

    def at(self, seconds):
        """Closes the moment, after all deadlines before it."""
        due = min(self.hub.deadlines(), default=None) if self.hub.listing else None
        while due is not None and due < seconds * 1000:
            self.close(due, [])
            due = min(self.hub.deadlines(), default=None)
        self.close(seconds * 1000, [dict(line, time=seconds * 1000) for line in self.lines])
        self.lines, self.now = [], seconds

    def close(self, when, lines):
        self.said = self.hub.moment(when, lines, dispatch.Listing(self.check, self.workers, self.good))

    def verdict(self, name):
        return self.said["default", name]

    def is_on(self, name, cluster):
        found = self.verdict(name)
        self.assertEqual((found.nomination, found.condition), ((cluster,), ("True", "Reserved")), found.reasons)

    def waits(self, name, **reasons):
        found = self.verdict(name)
        self.assertEqual((found.nomination, found.condition), ((), ("False", "NoCluster")))
        if reasons:
            self.assertEqual({k: " ".join(x for x in v if x) for k, v in found.reasons.items()}, reasons)

    def reserved(self, name):
        """The devices of all pods, as node/device."""
        r = self.verdict(name).reservation
        return [device.split("/", 1)[1] for pod in r["pods"] for devices in pod[2].values() for device in devices]

    def fleet(self, w1=1, w2=1, *templates):
        """Two clusters of one node `a` with so many devices, and templates in both."""
        for cluster, count in (("w1", w1), ("w2", w2)):
            self.see(cluster, d.node("a"), d.gpus("a", count), d.device_class("gpu"),
                     *templates or [d.template("gpus", d.request())])


class Example(Case):
    def test_the_gang_goes_where_two_are_on_a_node_and_the_next_waits_for_it(self):
        pair = d.template("gpus", d.request(count=2))
        for cluster, nodes, count in (("w1", "abcdefgh", 1), ("w2", "abcd", 2)):
            self.see(cluster, d.device_class("gpu"), pair, *map(d.node, nodes), *[d.gpus(n, count) for n in nodes])
        self.see("hub", workload("train", 4))
        self.at(1)
        self.is_on("train", "w2")
        self.assertEqual(self.verdict("train").reasons, {"w1": ("NoDevices", "gpus/gpu")})
        self.see("hub", workload("train-2", 4))
        self.at(2)
        self.waits("train-2", w1="NoDevices gpus/gpu", w2="NoDevices gpus/gpu")
        self.see("hub", workload("train", 4, Finished=True))
        self.at(3)
        self.is_on("train-2", "w2")


class WhichWorkloads(Case):
    def test_only_pods_that_there_are_and_resources_that_a_class_of_the_list_gives(self):
        self.fleet()
        self.see("w2", d.device_class("given", extended="example.com/gpu"))
        self.see("elsewhere", d.device_class("other", extended="example.com/other"))
        none = workload("none")
        none["status"]["admission"] = {"podSetAssignments": [{"name": "main", "count": 0}]}
        self.see("hub", none, workload("plain", template=d.pod()), workload("claims"))
        for name, resource in (("given", "example.com/gpu"), ("implicit", "deviceclass.resource.kubernetes.io/gpu"),
                               ("other", "example.com/other")):
            self.see("hub", workload(name, template=d.pod(requests={resource: "1"})))
        self.at(1)
        uses = {name for (_, name), said in self.said.items() if said.uses}
        self.assertEqual(uses, {"claims", "given", "implicit"})
        self.assertEqual((self.verdict("plain").condition, self.verdict("plain").reservation), (None, None))

    def test_not_dispatched_without_quota_or_check_and_evicted(self):
        self.fleet()
        other = workload("other")
        other["status"]["admissionChecks"] = [{"name": "another", "state": "Pending"}]
        deleting = workload("deleting")
        deleting["metadata"]["deletionTimestamp"] = "1970-01-01T00:00:01Z"
        self.see("hub", workload("quota", QuotaReserved=False), workload("evicted", Evicted=True), other, deleting)
        self.at(1)
        for name in ("quota", "evicted", "other", "deleting"):
            self.assertIsNone(self.verdict(name).reservation, name)
        self.assertIsNone(self.verdict("evicted").condition)


class Order(Case):
    def winner(self, *workloads):
        self.workers = self.workers[:1]
        self.fleet()
        self.see("hub", *workloads)
        self.at(1)
        return [name for (_, name), said in self.said.items() if said.reservation]

    def test_priority_first(self):
        self.assertEqual(self.winner(workload("a"), workload("b", priority=1)), ["b"])

    def test_then_the_older(self):
        self.assertEqual(self.winner(workload("a", created="1970-01-01T00:00:02Z"), workload("b")), ["b"])

    def test_then_the_name(self):
        self.assertEqual(self.winner(workload("b"), workload("a")), ["a"])

    def test_one_that_does_not_fit_stops_no_other(self):
        self.assertEqual(self.winner(workload("big", 2, priority=9), workload("small")), ["small"])

    def test_what_is_finished_at_the_moment_frees_first(self):
        self.winner(workload("a"), workload("b"))
        self.see("hub", workload("a", Finished=True))
        self.at(1)
        self.is_on("b", "w1")


class Choice(Case):
    def chosen(self, policy, free1, free2, template=None):
        self.SETTINGS = {"policy": policy}
        self.setUp()
        self.fleet(free1, free2, *[template] if template else [])
        self.see("hub", workload("x"))
        self.at(1)
        return self.verdict("x").nomination

    def test_order_pack_spread(self):
        self.assertEqual(self.chosen("order", 3, 2), ("w1",))
        self.assertEqual(self.chosen("pack", 3, 2), ("w2",))
        self.assertEqual(self.chosen("pack", 2, 2), ("w1",))
        self.assertEqual(self.chosen("spread", 2, 3), ("w2",))

    def test_the_first_alternative_comes_before_the_policy(self):
        either = {"name": "gpu", "firstAvailable": [
            {"name": "many", "deviceClassName": "gpu", "count": 3}, {"name": "one", "deviceClassName": "gpu"}]}
        self.assertEqual(self.chosen("order", 2, 3, d.template("gpus", either)), ("w2",))
        self.assertEqual(self.chosen("spread", 9, 4, d.template("gpus", either)), ("w1",))

    def test_free_is_of_a_class_that_is_asked_for_complete_and_not_taken(self):
        self.SETTINGS = {"policy": "spread"}
        self.setUp()
        self.fleet(3, 2)
        for cluster in ("w1", "w2"):
            self.see(cluster, d.device_class("gpu", 'device.driver == "gpu.example.com"'))
        self.see("w2", d.pool("nics", [d.device("n-%d" % i) for i in range(5)], driver="nic.example.com", nodeName="a"),
                 d.pool("half", [d.device("h-%d" % i) for i in range(5)], slices=2, nodeName="a"))
        self.see("hub", workload("x"))
        self.at(1)
        self.is_on("x", "w1")
        self.see("hub", workload("y"), workload("z"))  # one each: after x, both have one left beside y
        self.at(2)
        self.assertEqual((self.verdict("y").nomination, self.verdict("z").nomination), (("w1",), ("w2",)))

    def test_a_device_with_a_share_is_not_free(self):
        shared = {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "40Gi"}}}
        share = d.template("gpus", d.request(capacity={"requests": {"memory": "10Gi"}}))
        self.SETTINGS = {"policy": "spread"}
        self.setUp()
        self.fleet(0, 0, share)
        self.see("w1", d.gpus("a", 3, **shared), d.claim("other", d.request(), results=[
            d.result("a", "gpu-%d" % i, shareID="s", consumedCapacity={"memory": "1Gi"}) for i in (1, 2)]))
        self.see("w2", d.gpus("a", 2, **shared))
        self.see("hub", workload("x"))
        self.at(1)
        self.is_on("x", "w2")

    def test_no_candidate_leaves_without_line_out_of_reach(self):
        self.fleet()
        self.workers = [dispatch.Worker("p-w1", "w1", 0), dispatch.Worker("p-w2", "w2"), dispatch.Worker("p-w3", "w3")]
        self.source("w2", "STALE")
        self.see("hub", workload("x"))
        self.at(1)
        self.waits("x", **{"p-w1": "Leaving", "p-w2": "NotReachable", "p-w3": "NotWatched"})
        self.source("w2", "SYNCED")
        self.at(2)
        self.is_on("x", "p-w2")


class Repairs(Case):
    def on_two(self):
        self.workers = self.workers[:1]
        self.fleet(2)
        self.see("hub", workload("x"))
        self.at(1)
        self.assertEqual(self.reserved("x"), ["a/gpu-0"])

    def test_another_device_is_taken_in_place(self):
        for broken in ("used", "tainted", "unpublished"):
            self.setUp()
            self.on_two()
            taint = {"key": "bad", "effect": "NoSchedule"}
            self.see("w1", {"used": d.claim("other", d.request(), results=[d.result("a", "gpu-0")]),
                            "tainted": d.pool("a", [d.device("gpu-0", taints=[taint]), d.device("gpu-1")],
                                              nodeName="a"),
                            "unpublished": d.pool("a", [d.device("gpu-1")], nodeName="a")}[broken])
            self.at(2)
            self.assertEqual((self.reserved("x"), self.verdict("x").reservation["broken"]), (["a/gpu-1"], None), broken)

    def test_broken_where_there_is_none_until_there_is(self):
        self.on_two()
        self.see("w1", d.node("a", ready=False))
        self.at(2)
        self.assertEqual(self.verdict("x").reservation["broken"], 2000)
        self.is_on("x", "w1")
        self.see("w1", d.node("a", ready=False, cpu="1"))
        self.at(3)
        self.assertEqual(self.verdict("x").reservation["broken"], 2000)
        self.see("w1", d.node("a"))
        self.at(4)
        self.assertIsNone(self.verdict("x").reservation["broken"])

    def test_the_broken_one_keeps_its_devices_from_others(self):
        self.on_two()
        self.see("w1", d.node("a", ready=False), d.node("b"))
        self.at(2)
        self.see("w1", d.pool("a", [d.device("gpu-0")], allNodes=True, generation=2), d.node("b", labels={"on": "b"}))
        self.see("hub", workload("y", template=d.pod("gpus", nodeSelector={"on": "b"}), priority=5))
        self.at(3)
        self.assertEqual(self.reserved("x"), ["a/gpu-0"])
        self.waits("y")

    def test_what_its_own_claim_uses_does_not_break_it(self):
        self.on_two()
        self.see("w1", member_pod("p", "x", pod_set="none-of-its-own"), pod_claim("p", "gpus", d.result("a", "gpu-0")))
        self.at(2)
        self.assertEqual(self.reserved("x"), ["a/gpu-0"])


    def test_what_all_asks_for_now(self):
        self.workers = self.workers[:1]
        self.fleet(2, 0, d.template("gpus", d.request(allocationMode="All")))
        self.see("hub", workload("x"))
        self.at(1)
        for count in (1, 3):
            self.see("w1", d.gpus("a", count))
            self.at(1 + count)
            self.assertEqual(self.reserved("x"), ["a/gpu-%d" % i for i in range(count)])

    def test_shares_that_no_longer_fit_together(self):
        self.workers = self.workers[:1]
        self.fleet(0, 0, d.template("gpus", d.request(capacity={"requests": {"memory": "20Gi"}})))
        for time, memory, broken in ((1, "40Gi", None), (2, "30Gi", 2000), (3, "50Gi", None)):
            self.see("w1", d.gpus("a", 1, allowMultipleAllocations=True, capacity={"memory": {"value": memory}}))
            self.see("hub", workload("x", 2))
            self.at(time)
            self.assertEqual(self.verdict("x").reservation["broken"], broken)

    def test_a_share_that_has_grown(self):
        self.workers = self.workers[:1]
        self.fleet(0, 0)
        for time, asked, others in ((1, "10Gi", True), (2, "30Gi", False)):
            policy = {"default": asked, "validRange": {"min": "1Gi"}}
            self.see("w1", d.gpus("a", 1, allowMultipleAllocations=True, capacity={
                "memory": {"value": "40Gi", "requestPolicy": policy}}))
            self.see("hub", workload("x"))
            self.at(time)
            self.see("w1", d.template("wide", d.request(capacity={"requests": {"memory": "20Gi"}})))
            self.see("hub", workload("y-%d" % time, template="wide"))
            self.at(time)
            (self.is_on if others else lambda name, _: self.waits(name))("y-%d" % time, "w1")
            self.gone("hub", workload("y-%d" % time))

    def test_admin_access_takes_nothing(self):
        self.workers = self.workers[:1]
        self.fleet(1, 0, d.template("gpus", d.request()), d.template("admin", d.request(adminAccess=True)))
        self.see("w1", d.claim("watcher", d.request(adminAccess=True), results=[
            d.result("a", "gpu-0", adminAccess=True)]))
        self.see("hub", workload("x", template="admin", priority=1), workload("y"))
        self.at(1)
        self.assertEqual((self.reserved("x"), self.reserved("y")), (["a/gpu-0"], ["a/gpu-0"]))


class ReplacedByFact(Case):
    def on_three(self, count=1, template="gpus"):
        self.workers = self.workers[:1]
        self.fleet(3)
        self.see("hub", workload("x", count, template))
        self.at(1)

    def test_what_the_member_chose_counts_and_ours_is_free(self):
        self.on_three()
        self.see("w1", member_pod("p", "x"), pod_claim("p", "gpus", d.result("a", "gpu-2")))
        self.see("hub", workload("y", 2))
        self.at(2)
        self.assertEqual(self.reserved("x"), [])
        self.assertEqual(self.reserved("y"), ["a/gpu-0", "a/gpu-1"])

    def test_one_pod_a_claim_and_each_claim_once(self):
        self.on_three(3)
        self.see("w1", member_pod("p", "x"), pod_claim("p", "gpus", d.result("a", "gpu-0")))
        for time in (2, 3):
            self.at(time)
            self.assertEqual(self.reserved("x"), ["a/gpu-1", "a/gpu-2"])

    def test_only_claims_of_its_pods_by_uid_label_and_entry(self):
        self.on_three()
        stranger = pod_claim("p", "gpus", d.result("a", "gpu-2"))
        stranger["metadata"]["ownerReferences"][0]["uid"] = "pod-of-yesterday"
        self.see("w1", member_pod("p", "x"), stranger, member_pod("q", "y"),
                 pod_claim("q", "gpus", d.result("a", "gpu-2")), member_pod("r", "x", "second"),
                 pod_claim("r", "gpus", d.result("a", "gpu-2")), pod_claim("p", "nics", d.result("a", "gpu-2")))
        self.at(2)
        self.assertEqual(self.reserved("x"), ["a/gpu-0"])
        stranger["status"]["reservedFor"] = [{"resource": "pods", "name": "p", "uid": "pod-p"}]
        self.see("w1", stranger)
        self.at(3)
        self.assertEqual(self.reserved("x"), [])

    def test_not_by_pods_without_the_label_or_of_another_namespace(self):
        self.on_three()
        unlabelled, elsewhere, claim = member_pod("p", "x"), member_pod("q", "x"), pod_claim(
            "q", "gpus", d.result("a", "gpu-2"))
        unlabelled["metadata"]["labels"] = {}
        for obj in (elsewhere, claim):
            obj["metadata"]["namespace"] = "elsewhere"
        in_ours = pod_claim("r", "gpus", d.result("a", "gpu-2"))
        in_ours["metadata"]["namespace"] = "elsewhere"
        self.see("w1", unlabelled, pod_claim("p", "gpus", d.result("a", "gpu-2")), elsewhere, claim,
                 member_pod("r", "x"), in_ours)
        self.at(2)
        self.assertEqual(self.reserved("x"), ["a/gpu-0"])

    def test_a_claim_that_is_made_again_is_another(self):
        self.on_three(3)
        claim = pod_claim("p", "gpus", d.result("a", "gpu-0"))
        self.see("w1", member_pod("p", "x"), claim)
        self.at(2)
        claim["metadata"]["uid"] = "made-again"
        self.see("w1", claim)
        self.at(3)
        self.assertEqual(self.reserved("x"), ["a/gpu-2"])

    def test_what_was_allocated_before_replaces_nothing(self):
        self.see("w1", member_pod("p", "x"), pod_claim("p", "gpus", d.result("a", "gpu-2")))
        self.on_three()
        for time in (2, 3):
            self.at(time)
            self.assertEqual(self.reserved("x"), ["a/gpu-0"])

    def test_what_was_given_up_is_not_solved_again(self):
        self.on_three(2)
        self.see("w1", member_pod("p", "x"), pod_claim("p", "gpus", d.result("a", "gpu-0")))
        self.see("w1", d.claim("other", d.request(), results=[d.result("a", "gpu-1")]))
        for time in (2, 3):
            self.at(time)
            self.assertEqual((self.reserved("x"), self.verdict("x").reservation["broken"]), (["a/gpu-2"], None))

    def test_a_named_claim_that_is_allocated(self):
        self.workers = self.workers[:1]
        self.fleet(3)
        self.see("w1", d.claim("named", d.request()))
        self.see("hub", workload("x", 2, d.pod(claims=["named"])))
        self.at(1)
        self.assertEqual(self.reserved("x"), ["a/gpu-0"])
        self.see("w1", d.claim("named", d.request(), results=[d.result("a", "gpu-1")]))
        self.at(2)
        self.assertEqual(self.reserved("x"), [])

    def test_a_claim_of_extended_resources(self):
        self.on_three(template=d.pod(requests={"deviceclass.resource.kubernetes.io/gpu": "2"}))
        self.assertEqual(self.reserved("x"), ["a/gpu-0", "a/gpu-1"])
        self.see("w1", member_pod("p", "x"), pod_claim("p", "any", d.result("a", "gpu-1"), d.result("a", "gpu-2"),
                                                       extended=True))
        self.at(2)
        self.assertEqual(self.reserved("x"), [])

    def test_what_is_left_is_dropped_after_the_place_timeout(self):
        self.on_three()
        self.see("hub", workload("x", clusterName="w1", nominatedClusterNames=None), workload("y", 3))
        self.at(10)
        self.waits("y")
        self.at(309)
        self.waits("y")
        self.at(310)
        self.is_on("y", "w1")
        self.assertEqual(self.verdict("x").condition, ("True", "Reserved"))


if __name__ == "__main__":
    unittest.main()
