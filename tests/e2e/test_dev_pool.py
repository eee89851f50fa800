"""`fairlead dev --fleet pool`: tenants whose slices and pods follow quotas, clusters and hands."""

import json
import re
import unittest

from harness.process import wait_for
from harness.program import fairlead, json_lines
from test_dev import DevTest, WithKubectl

NEEDS = ("fairlead",)

PLACEMENTS = "scheduler.virtualcluster.io/placements"
SUPER_CLUSTER = "scheduler.virtualcluster.io/superCluster"
# A super cluster has three nodes of 8 cpu, of which 5 % stay free; a slice has 2.
ROOM = 11


class LogOfThePool:
    """What the log of a run says, in its order: what was decided, and what was seen before."""

    def __init__(self, data):
        done = fairlead("log", "cat", "--data", data)
        assert done.returncode == 0, done.stderr
        self.seen_lists, self.written, self.pods = {}, {}, {}
        self.breaches, self.placements, self.placed = [], [], 0
        for event in json_lines(done.stdout):
            kind = event.get("kind")
            if event["fact"] in ("ObjectObserved", "ObjectGone") and event["source"].startswith("tenant/"):
                key = (event["source"], event.get("namespace", ""), event["name"])
                if kind == "Namespace":
                    self.seen_lists[key[0], key[2]] = json.loads(event.get("facts", {}).get("placements", "{}"))
                elif kind == "Pod" and event["fact"] == "ObjectGone":
                    self.pods.pop(key, None)
                elif kind == "Pod":
                    self.pods[key] = event["facts"]
            elif event["fact"] == "PatchIntended" and event["cluster"].startswith("tenant/"):
                self.decided(event, kind)

    def decided(self, event, kind):
        annotations = event["body"]["metadata"]["annotations"]
        if kind == "Pod" and SUPER_CLUSTER in annotations:
            self.place(event, annotations[SUPER_CLUSTER])
        if kind == "Namespace" and PLACEMENTS in annotations:
            self.written[event["cluster"], event["name"]] = json.loads(annotations[PLACEMENTS])
            self.placements.append((event["cluster"][7:] + "/" + event["name"], annotations[PLACEMENTS],
                                    event["reason"]["rule"]))
            self.check_room(event)
            self.check_pods(f"write {event['seq']}")

    def place(self, event, cluster):
        """A pod gets a cluster that its namespace was seen to list with slices."""
        self.placed += 1
        seen = self.seen_lists.get((event["cluster"], event["namespace"]), {})
        waits = self.pods.get((event["cluster"], event["namespace"], event["name"]), {}).get("superCluster")
        if waits != cluster and seen.get(cluster, 0) < 1:
            self.breaches.append(f"write {event['seq']}: a pod gets {cluster}, its namespace lists {seen}")

    def check_room(self, event):
        sums = {}
        for slices in self.written.values():
            for cluster, count in slices.items():
                sums[cluster] = sums.get(cluster, 0) + count
        if max(sums.values(), default=0) > ROOM:
            self.breaches.append(f"write {event['seq']}: {sums}")

    def check_pods(self, when):
        """The list that is written has the cluster of every pod that runs."""
        for (tenant, namespace, name), pod in self.pods.items():
            if not pod["bound"] or pod["over"] or "superCluster" not in pod:
                continue
            if pod["superCluster"] not in self.written.get((tenant, namespace), {}):
                self.breaches.append(f"{when}: {tenant}/{namespace}/{name} runs on {pod['superCluster']}, which is "
                                     f"not in {self.written.get((tenant, namespace))}")


class PoolTest(DevTest):
    def pool(self, *arguments, **options):
        return self.dev("--fleet", "pool", *arguments, **options)

    def ended(self, dev):
        dev.stop(60)
        text = dev.text()
        for pattern in (r"(?m)^  chain ok         yes$", r"(?m)^  replay verified  yes$"):
            self.assertRegex(text, pattern)
        self.assertNotIn("not possible", text)
        self.check_log()
        log = LogOfThePool(self.data)
        log.check_pods("the end")
        self.assertEqual(log.breaches, [])
        return log


class PoolStoryTest(PoolTest):
    def test_a_round_from_the_first_quota_to_the_last(self):
        dev = self.pool("--for", "300s")
        for pattern in (r"  tenant    acme/web: sets its quota to 12 cpu and 24Gi",
                        r"  fairlead  Namespace acme/web: slices none -> \{\"r1\":6\}  \(pool/place: .*, from "
                        r"ResourceQuota acme/web/quota\)",
                        r"  syncer    r1: makes namespace acme-web",
                        r"  fairlead  Pod acme/web/web-1: cluster none -> r1  \(pool/pod: ",
                        r"  syncer    r1: pod web-1 of acme/web runs on r1-\d",
                        r"  fairlead  Namespace acme/web: slices \{\"r1\":6\} -> \{\"r1\":7,\"r2\":\d\}  \(pool/place",
                        r"  fleet     r1: r1-\d dies",
                        r"  fairlead  Namespace acme/web: slices .*\(pool/overflow",
                        r"  syncer    r1: pod \S+ of \S+ ended with its node",
                        r"  tenant    bolt/db: kubectl annotate: edits its placements",
                        r"  fairlead  Namespace bolt/db: slices .*\(pool/edit",
                        r"  tenant    acme/batch: kubectl annotate: clears its placements",
                        r"  fairlead  Namespace acme/batch: slices none -> \{\"r1\":4\}",
                        r"  fleet     r1: is not heard of any more",
                        r"  fairlead  Pod acme/batch/batch-\d+: reason none -> ClusterUnavailable: r1",
                        r"  fairlead  Namespace acme/batch: slices \{\"r1\":4\} -> .*\(pool/move",
                        r"  fairlead  Pod acme/batch/batch-\d+: cluster none -> r[23]  \(pool/pod",
                        r"  syncer    r[23]: pod batch-\d+ of acme/batch runs on",
                        r"  fleet     r1: answers again",
                        r"  admin     r2: is drained",
                        r"  fairlead  Namespace \S+: slices .*\"r2\":0.*\(pool/move",
                        r"  syncer    r2: removes namespace",
                        r"  fairlead  Namespace bolt/api: reason none -> DoesNotFit: \d+ more slices of cpu 2, mem",
                        r"  fairlead  Namespace bolt/api: reason DoesNotFit: .* -> none",
                        r"  fairlead  Namespace acme/web: slices .*\(pool/reduce"):
            self.wait_for_line(dev, pattern, timeout=240)
        log = self.ended(dev)
        self.assertGreater(log.placed, 20)
        # A node that flaps moves nothing: so web has three decisions until its node dies.
        web = [(placements, rule) for name, placements, rule in log.placements if name == "acme/web"]
        self.assertEqual([rule for _, rule in web[:3]], ["pool/place", "pool/place", "pool/overflow"])

    def test_the_same_seed_tells_the_same_story(self):
        stories = []
        base = self.directory
        for number in range(2):
            self.directory = base / str(number)
            self.directory.mkdir()
            self.data = self.directory / "data"
            dev = self.pool("--for", "300s")
            self.wait_for_line(dev, r"  tenant    acme/batch: kubectl annotate: clears", timeout=240)
            log = self.ended(dev)
            stories.append([entry for entry in log.placements
                            if entry[2] in ("pool/place", "pool/overflow", "pool/edit")])
        shared = min(map(len, stories))
        self.assertGreaterEqual(shared, 7)
        self.assertEqual(stories[0][:shared], stories[1][:shared])

    def test_spread_gives_every_cluster_a_part(self):
        dev = self.pool("--for", "300s", "--set", "pool.policy=spread")
        self.wait_for_line(dev, r"  fairlead  Namespace acme/web: slices none -> \{\"r1\":2,\"r2\":2,\"r3\":2\}")
        self.ended(dev)


class PoolKubectlTest(WithKubectl):
    def of(self, name):
        return self.data / f"kubeconfig-{name}"

    def placements(self, namespace):
        found = json.loads(self.kubectl("get", "namespace", namespace, "-o", "json", kubeconfig=self.of("acme")))
        return found["metadata"].get("annotations", {}).get(PLACEMENTS)

    def test_kubectl_follows_and_joins_in(self):
        dev = self.dev("--fleet", "pool", "--for", "300s", speed=30)
        self.wait_for_line(dev, r"syncer    r1: pod web-\d of acme/web runs on r1")
        self.assertEqual(self.placements("web"), '{"r1":6}')
        self.assertIn("Running", self.kubectl("get", "virtualcluster", "acme", "-o", "yaml"))
        self.assertRegex(self.kubectl("get", "pods", "-n", "acme-web", kubeconfig=self.of("r1")), r"web-\d +Running")
        # 12 at first; on a busy machine the tenant may have raised it already.
        self.assertRegex(self.kubectl("get", "quota", "-n", "web", kubeconfig=self.of("acme")), r"quota +(12|18) ")
        self.kubectl("annotate", "namespace", "web", "--overwrite", PLACEMENTS + '={"r3":2}',
                     kubeconfig=self.of("acme"))
        wait_for("two slices on r3", lambda: re.search(r'"r3":[2-9]', self.placements("web")), 60)
        self.assertIn("acme-web", self.kubectl("get", "namespaces", kubeconfig=self.of("r3")))
        dev.stop(60)
        self.check_log()


# Imported for their settings only.
del DevTest, WithKubectl

if __name__ == "__main__":
    unittest.main()
