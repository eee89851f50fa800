"""The model of devices for pods of the pool: a small case of each rule."""
import unittest

import dispatch_objects as d
import pool
import pool_devices
import pool_objects as o
import pool_values as v
from test_pool_model import QUICK

WEB = "tenant/acme"


def claim(name, space, results, owner=None, entry=None):
    made = d.claim(name, "uid-" + name, results, owner, entry)
    made["metadata"]["namespace"] = space
    return made


def template(name, *requests):
    made = d.template(name, *requests)
    made["metadata"]["namespace"] = "web"
    return made


def pod(name, entry=None, named=None):
    made = o.pod("web", name, {"cpu": "1", "memory": "1Gi"})
    if entry or named:
        made["spec"]["resourceClaims"] = [{"name": "gpu", **({"resourceClaimTemplateName": entry} if entry else
                                                             {"resourceClaimName": named})}]
    return made


class Case(unittest.TestCase):
    """Two super clusters with one GPU each; acme/web has two slices on each."""

    def setUp(self):
        self.lines, self.now = [], 0
        for c in ("r1", "r2"):
            self.see(c, o.node("n"), d.device_class("gpu", 'device.driver == "%s"' % d.DRIVER),
                     d.resource_slice("n", "n", [d.device("gpu-0")]), o.super_namespace("acme", "web"))
        self.see("hub", o.virtual_cluster("acme"))
        self.see(WEB, o.namespace("web", {v.PLACEMENTS: '{"r1":2,"r2":2}'}), o.quota("web", cpu="8", memory="16Gi"),
                 template("one", d.request()))

    def see(self, cluster, *objects, type_="MODIFIED"):
        self.lines += [o.line(self.now, cluster, obj, type_) for obj in objects]

    def at(self, second):
        self.now = second * 1000

    def take_in(self, cluster):
        self.see(cluster, claim("taken", "other", [("n", "gpu-0", None)]))

    def writes(self, timeout=0):
        """(second, Pod, super cluster, reason)"""
        hub = pool.Hub({**QUICK, "pool": {"settle": 0}, "dra": {"placeTimeout": timeout}})
        return [(w[0] // 1000, w[4], w[5].get(v.SUPER), w[5].get(v.REASON)) for w in hub.run(self.lines)
                if w[2] == "Pod"]

    def test_a_pod_goes_where_the_device_is_free_and_the_next_one_when_it_is_released(self):
        self.take_in("r1")
        self.at(1)
        self.see(WEB, pod("a", "one"))
        self.at(2)
        self.see(WEB, pod("b", "one"))
        runs = o.pod("acme-web", "a", notes={pool_devices.UID: "p-web-a"}, uid="there")
        self.see("r2", runs, claim("a-gpu", "acme-web", [("n", "gpu-0", None)], runs, "gpu"))
        self.at(3)
        self.see("r2", claim("a-gpu", "acme-web", []), type_="DELETED")
        self.assertEqual(self.writes(), [
            (1, "a", "r2", None), (2, "b", None, "Devices: r1: NoDevices gpu/gpu; r2: NoDevices gpu/gpu"),
            (3, "b", "r2", None)])

    def test_a_reservation_ends_with_its_timeout_or_its_pod(self):
        self.take_in("r1")
        self.at(1)
        self.see(WEB, *[pod(name, "one") for name in "abc"])
        self.at(5)
        self.see(WEB, pod("a", "one"), type_="DELETED")
        placed = [(when, name, at) for when, name, at, _ in self.writes(10000) if at]
        self.assertEqual(placed, [(1, "a", "r2"), (5, "b", "r2"), (15, "c", "r2")])
        placed = [(when, name, at) for when, name, at, _ in self.writes() if at]
        self.assertEqual(placed, [(1, "a", "r2"), (5, "b", "r2")])

    def test_a_claim_pins_the_pods_that_name_it(self):
        for name in ("x", "y"):
            self.see(WEB, claim(name, "web", []))
        self.at(1)
        self.see(WEB, pod("a", named="x"))
        self.see("r2", claim("y", "acme-web", [("n", "gpu-0", None)]))
        self.at(2)
        both = pod("c", named="y")
        both["spec"]["resourceClaims"].append({"name": "other", "resourceClaimName": "x"})
        self.see(WEB, pod("b", named="x"), both, pod("e", named="y"))
        self.assertEqual(self.writes(), [
            (1, "a", "r1", None), (2, "b", "r1", None),
            (2, "c", None, "Devices: r1: ConflictingPins gpu; r2: ConflictingPins other"), (2, "e", "r2", None)])

    def test_a_tenants_own_status_says_nothing(self):
        allocated = claim("x", "web", [("n", "gpu-0", None)])
        self.take_in("r1")
        self.take_in("r2")
        self.at(1)
        self.see(WEB, allocated, pod("a", named="x"))
        self.assertEqual(self.writes(), [
            (1, "a", None, "Devices: r1: NoDevices gpu/gpu; r2: NoDevices gpu/gpu")])

    def test_a_class_makes_an_extended_resource_devices(self):
        self.see("r2", d.device_class("gpu", 'device.driver == "%s"' % d.DRIVER, extended=d.EXTENDED))
        self.at(1)
        for name in "ab":
            self.see(WEB, o.pod("web", name, {"cpu": "1", d.EXTENDED: "1"}))
        self.assertEqual(self.writes(), [
            (1, "a", "r2", None), (1, "b", None, "Devices: r2: NoDevices %s/%s" % (d.EXTENDED, d.EXTENDED))])

    def test_the_first_alternative_comes_before_the_policy(self):
        self.see(WEB, template("either", d.either({"count": 2}, {})))
        self.see("r2", d.resource_slice("n", "n", [d.device("gpu-0"), d.device("gpu-1")]))
        self.see(WEB, pod("old"))
        self.at(1)
        self.see(WEB, pod("a", "either"))
        self.assertEqual(self.writes(), [(0, "old", "r1", None), (1, "a", "r2", None)])

    def test_a_broken_reservation_takes_another_device(self):
        self.take_in("r1")
        self.see("r2", d.resource_slice("n", "n", [d.device("gpu-0"), d.device("gpu-1")]))
        self.at(1)
        self.see(WEB, pod("a", "one"))
        self.at(2)
        self.see("r2", d.resource_slice("n", "n", [d.device("gpu-0", taint="NoSchedule"), d.device("gpu-1")]))
        self.at(3)
        self.see(WEB, pod("b", "one"))
        self.see("r2", d.resource_slice("n", "n", [d.device("gpu-0"), d.device("gpu-1", taint="NoSchedule")]))
        self.assertEqual([w[:3] for w in self.writes()], [(1, "a", "r2"), (3, "b", None)])


if __name__ == "__main__":
    unittest.main()
