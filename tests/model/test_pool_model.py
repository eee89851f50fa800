"""The model of the pool itself: the page's worked example, and a small case of each rule."""
import unittest

import pool
import pool_objects as o
import pool_values as v


def at(text):
    h, m, s = text.split(":")
    return (int(h) * 3600 + int(m) * 60 + int(s)) * 1000


def clock(ms):
    return "%02d:%02d:%02d" % (ms // 3600000, ms // 60000 % 60, ms // 1000 % 60)


def worked_example():
    def on(time, cluster, obj, type_="ADDED"):
        return o.line(at(time), cluster, obj, type_)
    lines = [on("00:00:00", c, o.node("%s-%d" % (c, i))) for c in ("r1", "r2") for i in (1, 2)]
    lines += [on("00:00:00", "hub", o.virtual_cluster(t)) for t in ("acme", "bolt")]
    lines += [on("00:00:00", "tenant/acme", o.namespace("web")),
              on("00:00:00", "tenant/acme", o.quota("web", cpu="12", memory="24Gi")),
              on("00:01:00", "tenant/bolt", o.namespace("db")),
              on("00:01:00", "tenant/bolt", o.quota("db", cpu="8", memory="16Gi"))]
    request = {"cpu": "1500m", "memory": "2Gi"}
    lines += [on("00:02:00", "tenant/acme", o.pod("web", p, request)) for p in "ab"]
    lines += [on("00:02:05", "tenant/acme", o.pod("web", p, request, {v.SUPER: "r1"}, bound=True), "MODIFIED")
              for p in "ab"]
    lines += [on("01:00:00", "r1", o.node("r1-2", ready=False), "MODIFIED"),
              o.source(at("02:00:00"), "r1", "LOST"),
              on("02:30:00", "tenant/bolt", o.quota("db", cpu="4", memory="8Gi"), "MODIFIED"),
              on("02:31:00", "tenant/acme", o.pod("web", "c", {"cpu": "1", "memory": "1Gi"})),
              o.source(at("02:40:00"), "r1", "SYNCED")]
    return lines


class WorkedExample(unittest.TestCase):
    def test_the_table(self):
        found = [(clock(w[0]), w[4], {k.split("/")[1]: x for k, x in w[5].items()})
                 for w in pool.Hub().run(worked_example())]
        lost = "ClusterUnavailable: r1"
        self.assertEqual(found, [
            ("00:01:00", "web", {"placements": '{"r1":6}'}),
            ("00:01:00", "db", {"placements": '{"r2":4}'}),
            ("00:02:00", "a", {"superCluster": "r1"}),
            ("00:02:00", "b", {"superCluster": "r1"}),
            ("01:00:15", "web", {"placements": '{"r1":3,"r2":3}'}),
            ("02:00:02", "web", {"placements": '{"r1":3,"r2":3}', "pool-reason": lost}),
            ("02:30:00", "web", {"placements": '{"r1":1,"r2":5}', "pool-reason": lost}),
            ("02:30:00", "db", {"placements": '{"r2":2}'}),
            ("02:31:00", "c", {"superCluster": "r2"}),
            ("02:40:00", "web", {"placements": '{"r1":1,"r2":5}'}),
        ])


QUICK = {"debounce": {"shrinkWindow": 0, "growWindow": 0, "firstQuiet": 0, "minGrowInterval": 0,
                      "growDeadbandPercent": 0, "writeInterval": 0, "massShrinkPercent": 0},
         "headroom": {"percent": {}, "reserved": {}}}


def world(quota, notes=None, clusters=("r1", "r2"), vc=None, **node):
    """One tenant with one namespace; its quota as (cpu, memory)."""
    lines = [o.line(0, c, o.node("n", **node)) for c in clusters] + [o.line(0, "hub", vc or o.virtual_cluster("acme"))]
    return lines + [o.line(0, "tenant/acme", o.namespace("web", notes)),
                    o.line(0, "tenant/acme", o.quota("web", cpu=quota[0], memory=quota[1]))]


def later(seconds, obj, type_="MODIFIED", cluster="tenant/acme"):
    return o.line(seconds * 1000, cluster, obj, type_)


class Rules(unittest.TestCase):
    def writes(self, lines, **settings):
        return [(w[0] // 1000, w[4], w[5].get(v.SUPER) or w[5].get(v.PLACEMENTS), w[5].get(v.REASON))
                for w in pool.Hub({**QUICK, "pool": settings}).run(lines)]

    def test_pack_takes_the_tightest_that_takes_all(self):
        lines = world(("4", "8Gi")) + [o.line(0, "r2", o.node("n", cpu="4"), "MODIFIED")]
        self.assertEqual(self.writes(lines), [(0, "web", '{"r2":2}', None)])

    def test_spread_goes_round(self):
        self.assertEqual(self.writes(world(("6", "12Gi")), policy="spread"), [(0, "web", '{"r1":2,"r2":1}', None)])

    def test_all_or_nothing_and_partial(self):
        lines = world(("8", "8Gi"), clusters=("r1",), cpu="4")
        self.assertEqual(self.writes(lines), [(2, "web", None, "DoesNotFit: 4 more slices of cpu 2, memory 4Gi")])
        self.assertEqual(self.writes(lines, partial=True), [
            (0, "web", '{"r1":2}', None), (2, "web", '{"r1":2}', "DoesNotFit: 2 more slices of cpu 2, memory 4Gi")])

    def test_an_edit_is_followed_where_it_fits(self):
        lines = world(("4", "8Gi")) + [later(10, o.namespace("web", {v.PLACEMENTS: '{"r2":2}'}))]
        self.assertEqual(self.writes(lines), [(0, "web", '{"r1":2}', None)])  # the current value is the decided one
        lines[-1]["object"]["metadata"]["annotations"][v.PLACEMENTS] = '{"r2":3}'
        self.assertEqual(self.writes(lines)[1:], [(10, "web", '{"r2":2}', None)])

    def test_unreadable_is_written_over(self):
        lines = world(("4", "8Gi")) + [later(10, o.namespace("web", {v.PLACEMENTS: '{"r2":2,"r2":2}'}))]
        self.assertEqual(self.writes(lines)[1:], [(10, "web", '{"r1":2}', None)])

    def test_a_zero_stays_while_a_pod_is_there(self):
        lines = world(("4", "8Gi")) + [
            later(1, o.pod("web", "a", {"cpu": "1"}), "ADDED"),
            later(2, o.pod("web", "a", {"cpu": "1"}, {v.SUPER: "r1"}, bound=True)),
            later(10, o.namespace("web", {v.PLACEMENTS: '{"r2":2}'})),
            later(20, o.pod("web", "a"), "DELETED")]
        self.assertEqual(self.writes(lines), [
            (0, "web", '{"r1":2}', None), (1, "a", "r1", None), (10, "web", '{"r1":0,"r2":2}', None),
            (20, "web", '{"r2":2}', None)])

    def test_a_first_observation_is_taken_unchanged(self):
        lines = world(("4", "8Gi"), {v.PLACEMENTS: '{"r2":1,"x":1}'})
        self.assertEqual(self.writes(lines), [(2, "web", '{"r2":1,"x":1}', "ClusterUnavailable: x"),
                                              (600, "web", '{"r2":2}', None)])

    def test_a_new_slice_is_whole_or_not_at_all(self):
        lines = world(("8", "8Gi"), clusters=("r1",))
        lines.append(later(10, o.namespace("web", {v.PLACEMENTS: '{"r1":4}', v.SLICE: o.slice_text("1", "8Gi")})))
        self.assertEqual(self.writes(lines)[1:], [
            (12, "web", '{"r1":4}', "DoesNotFit: 8 more slices of cpu 1, memory 8Gi")])
        lines[-1]["object"]["metadata"]["annotations"][v.SLICE] = o.slice_text("4", "4Gi")
        self.assertEqual(self.writes(lines)[1:], [(10, "web", '{"r1":2}', None)])

    def test_reasons_of_a_quota(self):
        self.assertEqual(self.writes(world(("1", "8Gi"))), [(2, "web", None, "SliceAboveQuota: cpu")])
        self.assertEqual(self.writes(world(("90", "8Gi")), slicesMax=9), [(2, "web", None, "TooManySlices: 45")])
        self.assertEqual(self.writes(world(("4", "8Gi"), {v.SLICE: "{}"})), [(2, "web", None, "BadSlice")])

    def test_the_tenants_limit(self):
        lines = world(("8", "8Gi"), vc=o.virtual_cluster("acme", limit='{"cpu":"4"}'))
        self.assertEqual(self.writes(lines), [(2, "web", None, "TenantLimit: cpu")])

    def test_strangers_hold_what_they_say(self):
        lines = world(("8", "16Gi")) + [o.line(5000, "r1", o.super_namespace("zed", "b", "u", {"r1": 1}))]
        self.assertEqual(self.writes(lines)[1:], [(5, "web", '{"r1":3,"r2":1}', None)])

    def test_pods_that_wait_say_why(self):
        lines = world(("4", "8Gi")) + [later(1, o.pod("web", "a", {"cpu": "5"}), "ADDED"),
                                       later(1, o.pod("web", "b", {"x/y": "1"}), "ADDED"),
                                       later(1, o.pod("web", "c", {"cpu": "1"}, claims=True), "ADDED"),
                                       later(1, o.pod("web", "d", {"cpu": "1"}, gated=True), "ADDED")]
        self.assertEqual(self.writes(lines)[1:], [
            (3, "a", None, "DoesNotFit: cpu 5"), (3, "b", None, "UnknownResource: x/y"),
            (3, "c", None, "Devices: r1: ClaimNotFound x")])

    def test_a_tenant_that_is_not_connected_is_not_written(self):
        lines = world(("4", "8Gi")) + [o.source(5000, "tenant/acme", "LOST"),
                                       later(10, o.quota("web", cpu="6", memory="8Gi")),
                                       o.source(20000, "tenant/acme", "SYNCED")]
        self.assertEqual(self.writes(lines)[1:], [(20, "web", '{"r1":3}', None)])

    def test_a_quota_that_goes_releases(self):
        lines = world(("4", "8Gi")) + [later(10, o.quota("web"), "DELETED")]
        self.assertEqual(self.writes(lines)[1:], [(10, "web", "{}", None)])


class Values(unittest.TestCase):
    def test_requests(self):
        spec = {"containers": [{"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2", "memory": "1Gi"}}}],
                "initContainers": [{"restartPolicy": "Always", "resources": {"requests": {"cpu": "500m"}}},
                                   {"resources": {"requests": {"cpu": "3"}}}], "overhead": {"cpu": "250m"}}
        self.assertEqual(v.pod_requests(spec), {"cpu": 3750, "memory": 1 << 30})

    def test_placements_that_cannot_be_read(self):
        for text in ("no", "[]", '{"r1":1,"r1":1}', '{"r1":-1}', '{"r1":1.5}', '{"r 1":1}', '{"r1":true}', '{"r1":11}'):
            self.assertIsNone(v.placements_of(text, 10), text)
        self.assertEqual(v.placements_of(' {"b":0, "a":10} ', 10), {"a": 10, "b": 0})


if __name__ == "__main__":
    unittest.main()
