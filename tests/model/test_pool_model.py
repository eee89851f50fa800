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


if __name__ == "__main__":
    unittest.main()
