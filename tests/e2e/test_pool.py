"""The super cluster pool on real API servers: placements, pods, edits, rights."""

import concurrent.futures
import itertools
import json
import random
import re
import threading
import time
import unittest

from harness.process import stays
from harness.program import fairlead
from harness.times import nanoseconds
from pool_world import NAMESPACES, PLACEMENTS, QUICK, REASON, SLICE, SUPER_CLUSTER, PoolWorld

NEEDS = ("controlplane", "fairlead")


class PoolTest(PoolWorld):
    def test_quotas_become_placements_and_pods_get_clusters(self):
        hub = self.running_hub()
        self.create_namespace(self.acme, "web", "12", "24Gi")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":6}')
        self.create_namespace(self.bolt, "db", "8", "16Gi")
        self.wait_for(hub, self.bolt, "db", PLACEMENTS, '{"id-r2":4}')
        self.create_pod(self.acme, "web", "a")
        self.wait_for(hub, self.acme, "web/pods/a", SUPER_CLUSTER, "id-r1")
        self.create_pod(self.bolt, "db", "large", "7", "2Gi")
        self.wait_for(hub, self.bolt, "db/pods/large", SUPER_CLUSTER, "id-r2")
        self.set_quota(self.bolt, "db", "64", "128Gi")
        self.wait_for(hub, self.bolt, "db", REASON, "DoesNotFit: 28 more slices of cpu 2, memory 4Gi")
        self.assertEqual(self.annotation(self.bolt, "db", PLACEMENTS), '{"id-r2":4}')
        self.audit_has_what_is_placed(hub)
        hub.stop()
        hub.check_log()

    def audit_has_what_is_placed(self, hub):
        """The running hub and its data directory give the same answers."""
        last = f"seq:{hub.events()[-1]['seq']}"
        for question in (("why", "--namespace", "acme/web"), ("why-not", "--namespace", "bolt/db"),
                         ("why", "--pod", "bolt/db/large")):
            both = [fairlead("audit", *question, "--as-of", last, *where, "-o", "json")
                    for where in (("--server", f"http://127.0.0.1:{hub.port}"), ("--data", hub.data))]
            self.assertEqual([done.returncode for done in both], [0, 0], both[0].stderr)
            self.assertEqual(both[0].stdout, both[1].stdout)
        self.assertEqual(json.loads(both[0].stdout)["superCluster"], "id-r2")

    def test_an_edit_moves_slices_and_what_cannot_be_read_is_put_right(self):
        hub = self.running_hub()
        self.create_namespace(self.acme, "web", "12", "24Gi")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":6}')
        for written, wanted in (('{"id-r2": 2}', '{"id-r1":4,"id-r2":2}'), ("nonsense", '{"id-r1":4,"id-r2":2}'),
                                ('{"id-r2":5,"id-r1":1}', '{"id-r2":5,"id-r1":1}')):
            self.acme.merge(f"{NAMESPACES}/web", {"metadata": {"annotations": {PLACEMENTS: written}}})
            self.wait_for(hub, self.acme, "web", PLACEMENTS, wanted)
        self.acme.merge(f"{NAMESPACES}/web", {"metadata": {"annotations": {SLICE: "{}"}}})
        self.wait_for(hub, self.acme, "web", REASON, "BadSlice")
        self.acme.merge(f"{NAMESPACES}/web", {"metadata": {"annotations": {SLICE: None}}})
        self.wait_for(hub, self.acme, "web", REASON, None)
        self.acme.delete(f"{NAMESPACES}/web/resourcequotas/quota")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, "{}")
        hub.stop()
        hub.check_log()

    def test_slices_leave_a_lost_cluster_and_a_restart_changes_nothing(self):
        hub = self.running_hub(QUICK)
        self.create_namespace(self.acme, "web", "12", "24Gi")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":6}')
        self.r1.kill()
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r2":6}', timeout=90)
        self.create_pod(self.acme, "web", "a")
        self.wait_for(hub, self.acme, "web/pods/a", SUPER_CLUSTER, "id-r2")
        self.r1.start()
        hub.kill()
        written = len(hub.events(fact="PatchIntended"))
        hub = self.hub(QUICK, data=hub.data).start()
        hub.wait_until("the hub to plan", lambda: hub.said("the hub is synced"))
        time.sleep(3)
        stays("no write", lambda: len(hub.events(fact="PatchIntended")) == written, seconds=3)
        self.assertEqual(self.annotation(self.acme, "web", PLACEMENTS), '{"id-r2":6}')
        hub.stop()
        hub.check_log()

    def test_a_tenant_that_cannot_be_reached_is_set_aside_alone(self):
        self.server.delete(f"{NAMESPACES}/acme/secrets/admin-kubeconfig")
        hub = self.running_hub()
        self.create_namespace(self.bolt, "db", "8", "16Gi")
        self.wait_for(hub, self.bolt, "db", PLACEMENTS, '{"id-r1":4}')
        self.create_namespace(self.acme, "web", "12", "24Gi", **{PLACEMENTS: '{"id-r2":2}'})
        stays("nothing is written", lambda: self.annotation(self.acme, "web", PLACEMENTS) == '{"id-r2":2}', seconds=3)
        self.set_secret("acme", self.acme.kubeconfig("fairlead", inline=True).read_text())
        # What stood there at first sight stays; the rest is placed.
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r2":6}')
        hub.stop()
        hub.check_log()

    def test_a_tenant_that_floods_delays_no_other_and_is_put_right_in_the_end(self):
        hub = self.running_hub("debounce.writeInterval=1s")
        self.create_namespace(self.acme, "web", "4", "8Gi")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":2}')
        over, written = threading.Event(), []

        def flood(thread):
            for number in itertools.count():
                if over.is_set():
                    return
                value = random.Random(f"{thread} {number}").choice(
                    ["nonsense", '{"id-r2":2}', '{"id-r1":9999}', "{}", "[" * 60_000, json.dumps({"x": number})])
                self.acme.merge(f"{NAMESPACES}/web", {"metadata": {"annotations": {PLACEMENTS: value}}})
                written.append(value)

        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            writers = [pool.submit(flood, thread) for thread in range(3)]
            try:
                for number in range(3):
                    hub.wait_until("a hundred writes", lambda: len(written) > 100 * number + 100, timeout=120)
                    self.create_namespace(self.bolt, "db", str(4 * number + 4), f"{8 * number + 8}Gi")
                    slices = 2 * number + 2
                    hub.wait_until(f"{slices} slices of db", lambda: slices == sum(json.loads(
                        self.annotation(self.bolt, "db", PLACEMENTS) or "{}").values()), timeout=30)
                    self.create_pod(self.bolt, "db", f"p{number}")
                    hub.wait_until("its cluster", lambda: self.annotation(
                        self.bolt, f"db/pods/p{number}", SUPER_CLUSTER), timeout=30)
            finally:
                over.set()
            for writer in writers:
                writer.result()
        self.acme.merge(f"{NAMESPACES}/web", {"metadata": {"annotations": {PLACEMENTS: None}}})
        hub.wait_until("web to be placed again", lambda: sum(json.loads(
            self.annotation(self.acme, "web", PLACEMENTS) or "{}").values()) == 2)
        # Of what a hub writes to one object there is at most one write in an interval.
        times = [nanoseconds(event["logTime"])
                 for event in hub.events(fact="PatchIntended", kind="Namespace", name="web")]
        self.assertGreater(len(times), 2)
        self.assertGreaterEqual(min(b - a for a, b in itertools.pairwise(times)), 10**9)
        hub.stop()
        hub.check_log()

    def test_a_tenant_with_too_many_objects_is_set_aside_alone(self):
        hub = self.running_hub("pool.tenantObjectsMax=24")
        self.create_namespace(self.acme, "web", "4", "8Gi")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":2}')
        for number in range(24):
            self.create_pod(self.acme, "web", f"p{number}", "10m", "1Mi")
        self.create_namespace(self.bolt, "db", "4", "8Gi")
        hub.wait_until("db to be placed", lambda: self.annotation(self.bolt, "db", PLACEMENTS))
        self.set_quota(self.acme, "web", "8", "16Gi")
        stays("nothing is written", lambda: self.annotation(self.acme, "web", PLACEMENTS) == '{"id-r1":2}', seconds=3)
        answer = fairlead("audit", "why-not", "--namespace", "acme/web", "--as-of", f"seq:{hub.events()[-1]['seq']}",
                          "--data", hub.data).stdout
        self.assertRegex(answer, r"tenant acme is not connected \(\d+ objects, more than pool.tenantObjectsMax 24\)")
        for number in range(24):
            self.remove_pod(self.acme, "web", f"p{number}")
        hub.wait_until("web to be placed", lambda: sum(json.loads(
            self.annotation(self.acme, "web", PLACEMENTS)).values()) == 4)

    def test_a_tenant_is_read_and_annotated_with_the_documented_rights_and_no_more(self):
        self.acme.apply("/apis/rbac.authorization.k8s.io/v1/clusterroles/pool-tenant", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "pool-tenant"},
            "rules": [
                {"apiGroups": [""], "resources": ["namespaces", "pods"], "verbs": ["get", "list", "watch", "patch"]},
                {"apiGroups": [""], "resources": ["resourcequotas"], "verbs": ["get", "list", "watch"]},
                {"apiGroups": ["resource.k8s.io"], "resources": ["resourceclaims", "resourceclaimtemplates"],
                 "verbs": ["get", "list", "watch"]},
                {"apiGroups": [""], "resources": ["events"], "verbs": ["create"]}]}, force=True)
        _, token = self.acme.account("pool", role="pool-tenant")
        self.set_secret("acme", self.acme.kubeconfig_of({"token": token}, inline=True))
        hub = self.running_hub()
        self.create_namespace(self.acme, "web", "12", "24Gi")
        self.wait_for(hub, self.acme, "web", PLACEMENTS, '{"id-r1":6}')
        self.create_pod(self.acme, "web", "a")
        self.wait_for(hub, self.acme, "web/pods/a", SUPER_CLUSTER, "id-r1")
        hub.wait_until("the Event about the pod", lambda: self.events(self.acme, "web", "a") == ["Scheduled"])
        codes = re.findall(r'rest_client_requests_total\{cluster="tenant/acme",code="(\S+)"\}', hub.http("/metrics")[1])
        # (An error counts what was asked before the Secret was read, 404 a version of resource.k8s.io that it lacks.)
        self.assertEqual(set(codes) - {"<error>", "404"}, {"200"})
        self.assertIn("fairlead_notices_lost_total 0", hub.http("/metrics")[1])

    def test_what_is_missing_is_in_events_and_metrics(self):
        hub = self.running_hub()
        self.create_namespace(self.acme, "web", "64", "128Gi")
        self.wait_for(hub, self.acme, "web", REASON, "DoesNotFit: 32 more slices of cpu 2, memory 4Gi")
        self.create_pod(self.acme, "web", "a")
        self.wait_for(hub, self.acme, "web/pods/a", REASON, "NamespaceNotPlaced")

        def recorded():
            found = {key: self.events(*key) for key in (
                (self.acme, "default", "web"), (self.acme, "web", "a"), (self.server, "default", "acme"))}
            assert list(found.values()) == [["FailedScheduling"], ["FailedScheduling"], ["PoolExhausted"]], found
            return True

        hub.wait_until("the Events", recorded)
        hub.wait_until("the metric", lambda: {
            'fairlead_pool_waiting{kind="Namespace",reason="DoesNotFit"} 1',
            'fairlead_pool_waiting{kind="Pod",reason="NamespaceNotPlaced"} 1'} <= set(
                hub.http("/metrics")[1].splitlines()))
        self.acme.merge(f"{NAMESPACES}/web", {"metadata": {"annotations": {PLACEMENTS: '{"id-r9":1}'}}})
        hub.wait_until("the Event about the edit", lambda: "PlacementRejected" in self.events(
            self.acme, "default", "web"))


if __name__ == "__main__":
    unittest.main()
