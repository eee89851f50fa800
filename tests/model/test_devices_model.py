"""The model of devices itself: worked examples, and a small case of each rule."""
import unittest

import devices
import devices_values as v


def named(kind, name, namespace=None, created=None, **fields):
    metadata = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    if created:
        metadata["creationTimestamp"] = created
    return {"kind": kind, "metadata": metadata, **fields}


def node(name, labels=None, taints=(), ready=True, **allocatable):
    made = named("Node", name, spec={"taints": list(taints)}, status={
        "conditions": [{"type": "Ready", "status": "True" if ready else "False"}], "allocatable": allocatable})
    made["metadata"]["labels"] = labels or {}
    return made


def device(name, **fields):
    return {"name": name, "attributes": {"model": {"string": "h100"}}, **fields}


def gpus(on, count, **fields):
    """A pool named like the node, with so many devices."""
    return pool(on, [device("gpu-%d" % i, **fields) for i in range(count)], nodeName=on)


def pool(name, made, driver="gpu.example.com", slice_name=None, generation=1, slices=1, counters=None, **reach):
    spec = {"driver": driver, "pool": {"name": name, "generation": generation, "resourceSliceCount": slices}, **reach}
    spec.update({"sharedCounters": counters} if counters else {"devices": made})
    return named("ResourceSlice", slice_name or name, spec=spec)


def device_class(name, *expressions, extended=None, created=None):
    spec = {"selectors": [{"cel": {"expression": e}} for e in expressions]}
    if extended:
        spec["extendedResourceName"] = extended
    return named("DeviceClass", name, created=created, spec=spec)


def request(name="gpu", **fields):
    return {"name": name, "exactly": {"deviceClassName": "gpu", **fields}}


def claim_spec(*requests, constraints=()):
    return {"devices": {"requests": list(requests), "constraints": list(constraints)}}


def template(name, *requests, constraints=()):
    spec = {"spec": claim_spec(*requests, constraints=constraints)}
    return named("ResourceClaimTemplate", name, "default", spec=spec)


def claim(name, *requests, results=None, **allocation):
    made = named("ResourceClaim", name, "default", spec=claim_spec(*requests))
    if results is not None:
        made["status"] = {"allocation": {"devices": {"results": results}, **allocation}}
    return made


def result(pool_name, device_name, **fields):
    return {"request": "gpu", "driver": "gpu.example.com", "pool": pool_name, "device": device_name, **fields}


def pod(*templates, claims=(), requests=None, **spec):
    entries = [{"name": t, "resourceClaimTemplateName": t} for t in templates]
    entries += [{"name": c, "resourceClaimName": c} for c in claims]
    return {"spec": {"containers": [{"resources": {"requests": requests or {}}}], "resourceClaims": entries, **spec}}


def pods(count, *templates, **fields):
    return [{"name": "main", "count": count, "template": pod(*templates, **fields)}]


def world(nodes, slices, templates=(), classes=None, pod_sets=None, **fields):
    return {"nodes": list(nodes), "slices": list(slices), "templates": list(templates),
            "classes": classes if classes is not None else [device_class("gpu")], "podSets": pod_sets, **fields}


class Case(unittest.TestCase):
    def places(self, given):
        """[(node, device names)] of the pods, or (reason, detail)."""
        found = devices.answer_cluster(given)
        if not found["fits"]:
            return found["reason"], found["detail"]
        return [(p["node"], [d["device"] for d in p["devices"]]) for p in found["pods"]]


class WorkedExample(Case):
    def test_the_gang_goes_where_two_are_on_a_node(self):
        one, two = [gpus(n, 1) for n in "abcdefgh"], [gpus(n, 2) for n in "abcd"]
        pair, four = [template("gpus", request(count=2))], pods(4, "gpus")
        self.assertEqual(self.places(world(map(node, "abcdefgh"), one, pair, pod_sets=four)),
                         ("NoDevices", "gpus/gpu"))
        self.assertEqual(self.places(world(map(node, "abcd"), two, pair, pod_sets=four)),
                         [(n, ["gpu-0", "gpu-1"]) for n in "abcd"])
        used = [claim("used-" + n, request(), results=[result(n, "gpu-0")]) for n in "abcd"]
        self.assertEqual(self.places(world(map(node, "abcd"), two, pair, pod_sets=four, claims=used)),
                         ("NoDevices", "gpus/gpu"))


class Gangs(Case):
    def test_backtracks_over_nodes(self):
        both = [gpus("a", 1), gpus("b", 1)]
        sets = pods(1, "any")
        sets.append({"name": "second", "template": pod("any", nodeSelector={"zone": "a"})})
        given = world([node("a", {"zone": "a"}), node("b")], both, [template("any", request())], pod_sets=sets)
        self.assertEqual(self.places(given), [("b", ["gpu-0"]), ("a", ["gpu-0"])])

    def test_too_big_names_the_first_pod_set_that_does_not_fit(self):
        sets = pods(1, "any") + [{"name": "second", "template": pod("any")}, {"name": "none", "count": 0,
                                                                              "template": pod("gone")}]
        given = world([node("a")], [gpus("a", 1)], [template("any", request())], pod_sets=sets)
        self.assertEqual(self.places(given), ("GangTooBig", "second"))

    def test_pods_without_claims_need_no_node(self):
        self.assertEqual(self.places(world([], [], pod_sets=pods(2))), [(None, []), (None, [])])

    def test_a_named_claim_is_solved_once(self):
        given = world([node("a"), node("b")], [gpus("a", 2), gpus("b", 2)], claims=[claim("shared", request())],
                      pod_sets=pods(2, claims=["shared"]))
        self.assertEqual(self.places(given), [("a", ["gpu-0"]), ("a", [])])

    def test_admin_access_is_charged_to_no_pod(self):
        admin = template("admin", request(adminAccess=True))
        given = world([node("a")], [gpus("a", 1)], [admin], pod_sets=pods(3, "admin"))
        self.assertEqual(self.places(given), [("a", ["gpu-0"])] * 3)


class Nodes(Case):
    def on(self, made, extra, fields):
        """Where a pod with `fields` goes in a world of this node and `extra`."""
        return self.places(world([made], [gpus("a", 1)], [template("any", request())],
                                 pod_sets=pods(1, "any", **fields), **extra))

    def test_taints_flavors_and_readiness(self):
        dedicated = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
        tolerations = [{"key": "dedicated", "operator": "Equal", "value": "ml"}]
        flavor = named("ResourceFlavor", "ml", spec={"nodeLabels": {"pool": "ml"}, "tolerations": tolerations})
        for name, made, extra, fields in (
                ("tainted", node("a", taints=[dedicated]), {}, {}),
                ("not ready", node("a", ready=False), {}, {}),
                ("other flavor", node("a", taints=[dedicated]), {"flavors": [flavor]}, {})):
            self.assertEqual(self.on(made, extra, fields), ("NoDevices", "any/gpu"), name)
        for made, extra, fields in (
                (node("a", taints=[dedicated]), {}, {"tolerations": tolerations}),
                (node("a", {"pool": "ml"}, [dedicated]), {"flavors": [flavor]}, {})):
            self.assertEqual(self.on(made, extra, fields), [("a", ["gpu-0"])])

    def test_an_allocated_claim_holds_the_pod_to_its_nodes(self):
        own = {"key": "metadata.name", "operator": "In", "values": ["b"]}
        selector = {"nodeSelectorTerms": [{"matchFields": [own]}]}
        mine = claim("mine", request(), results=[result("b", "gpu-0")], nodeSelector=selector)
        given = world([node("a"), node("b")], [gpus("a", 1), gpus("b", 1)], claims=[mine],
                      pod_sets=pods(1, claims=["mine"]))
        self.assertEqual(self.places(given), [("b", [])])
        mine["status"]["reservedFor"] = [{"uid": str(i)} for i in range(256)]
        self.assertEqual(self.places(given), ("NoNode", "mine"))


class Extended(Case):
    def asks(self, name, count, nodes, classes):
        return self.places(world(nodes, [gpus("a", 2)], classes=classes, pod_sets=pods(1, requests={name: str(count)})))

    def test_the_newest_class_gives_the_name(self):
        classes = [device_class("old", extended="example.com/gpu", created="2026-01-01T00:00:00Z"),
                   device_class("new", "false", extended="example.com/gpu", created="2026-02-01T00:00:00Z")]
        name = "example.com/gpu"
        self.assertEqual(self.asks(name, 2, [node("a")], classes[:1]), [("a", ["gpu-0", "gpu-1"])])
        self.assertEqual(self.asks(name, 2, [node("a")], classes), ("NoDevices", name + "/" + name))

    def test_a_device_plugin_is_asked_for_an_amount(self):
        plugin, classes = node("a", **{"example.com/gpu": "8"}), [device_class("gpu", extended="example.com/gpu")]
        name = "example.com/gpu"
        self.assertEqual(self.asks(name, 8, [plugin], classes), [("a", [])])
        self.assertEqual(self.asks(name, 9, [plugin], classes), ("NoDevices", name + "/" + name))
        self.assertEqual(self.places(world([plugin], [], classes=classes, pod_sets=pods(2, requests={name: "5"}))),
                         ("GangTooBig", "main"))

    def test_sidecars_run_beside_what_is_started_after_them(self):
        def asks(count, **fields):
            return {"resources": {"limits": {"x": count}}, **fields}
        sidecar = {"restartPolicy": "Always"}
        for init, containers, wanted in (([asks("1", **sidecar)], [asks("1")], 2),
                                         ([asks("4"), asks("1", **sidecar)], [asks("1")], 4),
                                         ([asks("1", **sidecar), asks("4")], [asks("1")], 5)):
            spec = {"containers": containers, "initContainers": init}
            self.assertEqual(devices.requested({"spec": spec}, "x"), wanted)

    def test_the_largest_init_container_or_the_sum_of_the_containers(self):
        def asks(container):
            return {"resources": {"limits": {"x": container[0]}, **({"requests": {"x": container[1]}} if container[1:]
                                                                    else {})}}
        for containers, init, wanted in (((["2"], ["3", "1"]), (["2"],), 3), ((["1"],), (["4"], ["2"]), 4)):
            spec = {"containers": list(map(asks, containers)), "initContainers": list(map(asks, init))}
            self.assertEqual(devices.requested({"spec": spec}, "x"), wanted)

    def test_the_implicit_name(self):
        name = devices.IMPLICIT + "gpu"
        self.assertEqual(self.asks(name, 1, [node("a")], [device_class("gpu")]), [("a", ["gpu-0"])])
        self.assertEqual(self.asks(name, 1, [node("a")], []), ("ClassNotFound", "gpu"))


class Reasons(Case):
    def why(self, *requests, slices=None, classes=None):
        given = world([node("a")], slices or [gpus("a", 2)], [template("t", *requests)], classes, pods(1, "t"))
        return self.places(given)

    def test_what_is_missing(self):
        self.assertEqual(self.places(world([node("a")], [], pod_sets=pods(1, "t"))), ("TemplateNotFound", "t"))
        self.assertEqual(self.places(world([node("a")], [], pod_sets=pods(1, claims=["c"]))), ("ClaimNotFound", "c"))
        self.assertEqual(self.why(request(), classes=[]), ("ClassNotFound", "gpu"))

    def test_what_is_not_understood(self):
        self.assertEqual(self.why(request(allocationMode="Some")), ("Unsupported", "t/gpu"))
        self.assertEqual(self.why(request(count=33)), ("Unsupported", "t"))
        self.assertEqual(self.why(request(selectors=[{"cel": {"expression": "ip('::1') == device"}}])),
                         ("Unsupported", "t/gpu"))

    def test_a_pool_that_is_not_complete(self):
        half = [gpus("a", 1), pool("b", [device("x")], slices=2, allNodes=True)]
        self.assertEqual(self.why(request(allocationMode="All"), slices=half), ("PoolUpdating", "gpu.example.com/b"))
        self.assertEqual(self.why(request(), slices=half), [("a", ["gpu-0"])])

    def test_a_selector_that_fails(self):
        fails = 'device.attributes["gpu.example.com"].gone == 1'
        self.assertEqual(self.why(request(), classes=[device_class("gpu", fails)]), ("SelectorError", "gpu"))
        self.assertEqual(self.why(request(selectors=[{"cel": {"expression": fails}}])), ("SelectorError", "t/gpu"))

    def test_no_devices_and_no_node(self):
        self.assertEqual(self.why(request(count=3)), ("NoDevices", "t/gpu"))
        self.assertEqual(self.why(request("x"), request("y", count=2)), ("NoNode", "t"))

    def test_budget(self):
        given = world([node("a")], [gpus("a", 2)], [template("t", request(count=2))], pod_sets=pods(1, "t"))
        with self.assertRaises(devices.Refused) as caught:
            devices.Cluster(given, steps=1).place(given["podSets"])
        self.assertEqual(caught.exception.reason, "Budget")


class Devices(Case):
    def one(self, slices, *requests, constraints=(), claims=(), rules=(), classes=None):
        """The devices that one pod gets on node a; None if it does not fit."""
        found = self.places(world([node("a")], slices, [template("t", *requests, constraints=constraints)], classes,
                                  pods(1, "t"), claims=list(claims), rules=list(rules)))
        return found[0][1] if isinstance(found, list) else None

    def test_generations_and_completeness(self):
        old, new = gpus("a", 1), pool("a", [device("new")], slice_name="n", generation=2, slices=2, nodeName="a")
        self.assertIsNone(self.one([old, new], request()))
        other = pool("a", [device("other")], slice_name="o", generation=2, slices=2, nodeName="b")
        self.assertEqual(self.one([old, new, other], request()), ["new"])
        twice = pool("a", [device("new")], slice_name="o", generation=2, slices=2, nodeName="b")
        self.assertIsNone(self.one([new, twice], request()))

    def test_taints_of_slices_and_of_rules(self):
        taint = {"key": "broken", "effect": "NoExecute"}
        tainted = [pool("a", [device("bad", taints=[taint]), device("good")], nodeName="a")]
        self.assertEqual(self.one(tainted, request()), ["good"])
        self.assertEqual(self.one(tainted, request(tolerations=[{"key": "broken", "operator": "Exists"}])), ["bad"])
        for selector, wanted in (({}, None), (None, None), ({"device": "gpu-0"}, ["gpu-1"])):
            rule = named("DeviceTaintRule", "r", spec={"taint": taint, "deviceSelector": selector})
            self.assertEqual(self.one([gpus("a", 2)], request(), rules=[rule]), wanted)

    def partitions(self, *costs, value="8"):
        made = [device("p%d" % i, consumesCounters=[{"counterSet": "s", "counters": {"mem": {"value": c}}}])
                for i, c in enumerate(costs)]
        return [pool("a", made, slices=2, nodeName="a"), pool("a", [], slice_name="counters", slices=2, nodeName="a",
                                                              counters=[{"name": "s", "counters":
                                                                         {"mem": {"value": value}}}])]

    def test_counters(self):
        self.assertEqual(self.one(self.partitions("6", "4", "2"), request(count=2)), ["p0", "p2"])
        used = claim("u", request(), results=[result("a", "p1")])
        self.assertEqual(self.one(self.partitions("6", "4", "4"), request(), claims=[used]), ["p2"])
        gone = claim("u", request(), results=[result("a", "gone")])
        self.assertIsNone(self.one(self.partitions("1", "1"), request(), claims=[gone]))

    def test_admin_access_costs_a_used_device_again(self):
        used = claim("u", request(), results=[result("a", "p0")])
        self.assertEqual(self.one(self.partitions("4"), request(adminAccess=True), claims=[used]), ["p0"])
        self.assertIsNone(self.one(self.partitions("5"), request(adminAccess=True), claims=[used]))

    def test_all(self):
        everything = request(allocationMode="All")
        self.assertEqual(self.one([gpus("a", 3)], everything), ["gpu-0", "gpu-1", "gpu-2"])
        self.assertIsNone(self.one([gpus("a", 3)], everything, claims=[claim("u", request(), results=[
            result("a", "gpu-1")])]))
        self.assertIsNone(self.one([gpus("b", 3)], everything))

    def test_alternatives_and_the_limit_of_devices(self):
        first = {"name": "gpu", "firstAvailable": [{"name": "many", "deviceClassName": "gpu", "count": 31},
                                                   {"name": "few", "deviceClassName": "gpu", "count": 2}]}
        self.assertEqual(len(self.one([gpus("a", 40)], first)), 31)
        self.assertEqual(len(self.one([gpus("a", 40)], request("before", count=2), first)), 4)

    def test_constraints(self):
        def numa(*values):
            return [pool("a", [{"name": "d%d" % i, "attributes": {"numa": {"int": x}} if x is not None else {}}
                               for i, x in enumerate(values)], nodeName="a")]
        match, distinct = {"matchAttribute": "gpu.example.com/numa"}, {"distinctAttribute": "gpu.example.com/numa"}
        self.assertEqual(self.one(numa(0, 1, None, 1), request(count=2), constraints=[match]), ["d1", "d3"])
        self.assertEqual(self.one(numa(0, 0, 1), request(count=2), constraints=[distinct]), ["d0", "d2"])
        self.assertIsNone(self.one(numa(0, 1, 0), request(count=3), constraints=[distinct]))
        self.assertEqual(self.one(numa(0, 1), request("x"), request("y"),
                                  constraints=[{**match, "requests": ["x"]}]), ["d0", "d1"])

    def test_shared_devices(self):
        policy = {"default": "2Gi", "validRange": {"min": "2Gi", "step": "3Gi"}}
        memory = {"mem": {"value": "10Gi", "requestPolicy": policy}}
        made = [device("s", allowMultipleAllocations=True, capacity=memory)]
        slices = [pool("a", made, nodeName="a")]

        def asks(name, amount):
            return request(name, capacity={"requests": {"mem": amount}})
        self.assertEqual(self.one(slices, asks("x", "3Gi"), asks("y", "5Gi")), ["s", "s"])
        self.assertIsNone(self.one(slices, asks("x", "6Gi"), asks("y", "1Gi"), request("z")))
        used = claim("u", request(), results=[result("a", "s", shareID="1", consumedCapacity={"mem": "6Gi"})])
        self.assertEqual(self.one(slices, request(), request("y"), claims=[used]), ["s", "s"])
        self.assertIsNone(self.one(slices, asks("x", "3Gi"), claims=[used]))
        self.assertIsNone(self.one(slices, request(capacity={"requests": {"cores": "1"}})))

    def test_devices_that_bind_come_last(self):
        binds = device("first", bindingConditions=["ready"])
        self.assertEqual(self.one([pool("a", [binds], nodeName="a"), pool("b", [device("last")], allNodes=True)],
                                  request()), ["last"])


class Values(unittest.TestCase):
    def test_quantities(self):
        for text, value in (("1500m", "3/2"), ("2Ki", "2048"), ("1e3", "1000"), ("1E", str(10**18)), (".5", "1/2")):
            self.assertEqual(str(v.quantity(text)), value)
        self.assertRaises(ValueError, v.quantity, "1 Gi")

    def test_versions(self):
        order = ["1.0.0-1", "1.0.0-2", "1.0.0-10", "1.0.0-a", "1.0.0-a.b", "1.0.0", "1.0.1", "2.0.0"]
        for a, b in zip(order, order[1:]):
            self.assertTrue(v.Version(a) < v.Version(b) and not v.Version(b) < v.Version(a), (a, b))
        self.assertEqual(v.Version("1.0.0+x"), v.Version("1.0.0+y"))

    def test_selectors(self):
        fields = device("d", attributes={"n": {"int": 3}, "x.io/v": {"version": "1.2.0"}, "ok": {"bool": True}},
                        capacity={"mem": {"value": "8Gi"}})
        own = 'device.attributes["gpu.example.com"].'
        for text, wanted in (
                (own + "n == 3", True), (own + 'n == "3"', False), (own + 'n < "3"', "error"), (own + "n", "error"),
                (own + "gone == 1", "error"), (own + "gone == 1 || true", True), ("false && " + own + "gone", False),
                ('has(device.attributes["y.io"].n)', False), ('device.attributes["y.io"].n == 1', "error"),
                ('device.attributes["x.io"].v.isLessThan(semver("1.10.0"))', True), ("!" + own + "ok", False),
                ('device.capacity["gpu.example.com"].mem.compareTo(quantity("8192Mi")) == 0', True),
                ("device.allowMultipleAllocations", False), ('device.driver == "gpu.example.com"', True)):
            try:
                found = v.selected(text, "gpu.example.com", fields)
            except v.Failed:
                found = "error"
            self.assertEqual(found, wanted, text)


if __name__ == "__main__":
    unittest.main()
