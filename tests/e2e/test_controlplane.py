"""The control plane itself: what the other suites stand on must be there and behave as Kubernetes does."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from harness import fleet
from harness.apiserver import Refused
from harness.controlplane import ROOT, VERSION, ControlPlane, assets, crd_folders, old_etcd
from harness.process import wait_for

NEEDS = ("controlplane",)

NAMESPACES = "/api/v1/namespaces"
CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"


def config_map(name, **data):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": data}


def queue(cpu):
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "queue"},
            "spec": {"resourceGroups": [{"coveredResources": ["cpu"], "flavors": [
                {"name": "on-demand", "resources": [{"name": "cpu", "nominalQuota": cpu}]}]}]}}


class OneControlPlane(unittest.TestCase):
    """Tests that share one control plane and disturb no other test."""

    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.hub = cls.plane.add_server("hub")

    def test_the_version_is_the_one_of_the_module_and_is_stamped(self):
        module = (ROOT / "tests/e2e/controlplane/go.mod").read_text()
        self.assertRegex(module, rf"\sk8s\.io/kubernetes {re.escape(VERSION)}\s")
        self.assertEqual(self.hub.request("GET", "/version")["gitVersion"], VERSION)

    def test_every_crd_installs_and_is_served(self):
        names = self.hub.install_crds()
        self.assertIn("clusterresourceclaims.galaxy.kubestellar.io", names)
        self.assertIn("clusterqueues.kueue.x-k8s.io", names)
        self.assertIn("clusterqueues.kueue.x-k8s.io", self.hub.kubectl("get", "crd", "-o", "name"))
        self.assertGreaterEqual(len(crd_folders()), 1)
        self.the_stored_text_of_a_quantity_is_the_one_written()
        self.a_list_that_another_manager_owns_conflicts_as_one_field()

    def the_stored_text_of_a_quantity_is_the_one_written(self):
        self.hub.create(QUEUES, queue("12000m"))
        stored = self.hub.get(f"{QUEUES}/queue")["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
        self.assertEqual(stored["nominalQuota"], "12000m")

    def a_list_that_another_manager_owns_conflicts_as_one_field(self):
        self.hub.apply(f"{QUEUES}/queue", queue("12"), manager="human", force=True)
        with self.assertRaises(Refused) as refused:
            self.hub.apply(f"{QUEUES}/queue", queue("13"), manager="fairlead")
        self.assertEqual(refused.exception.code, 409)
        causes = refused.exception.status["details"]["causes"]
        self.assertEqual([cause["field"] for cause in causes], [".spec.resourceGroups"])
        self.hub.apply(f"{QUEUES}/queue", queue("13"), manager="fairlead", force=True)

    def test_the_fleet_of_the_scenarios_exists(self):
        member = self.plane.add_server("fleet")
        member.install_crds()
        fleet.prepare_hub(member)
        fleet.add_nodes(member)
        nodes = member.get(fleet.NODES)["items"]
        self.assertEqual(len(nodes), 10)
        for node in nodes:
            self.assertNotIn("taints", node["spec"])
            self.assertEqual(node["status"]["allocatable"]["nvidia.com/gpu"], "1")
        member.create(fleet.CLAIMS, fleet.claim())
        self.assertEqual(set(fleet.quotas(member).values()), {0})
        fleet.set_quota(member, "high-priority-queue", "spot", "cpu", "7")
        self.assertEqual(fleet.quota(member, "high-priority-queue", "spot", "cpu"), fleet.quantity("7000m"))
        fleet.remove_node(member, "spot-0")
        fleet.remove_node(member, "spot-0")
        member.kubectl("cordon", "spot-1")
        self.assertTrue(member.get(f"{fleet.NODES}/spot-1")["spec"]["unschedulable"])

    def test_quantities_are_compared_by_value(self):
        for one, other in [("1", "1000m"), ("1Gi", "1024Mi"), ("1.5k", "1500"), ("0", "0Gi"), (".5", "500m")]:
            self.assertEqual(fleet.quantity(one), fleet.quantity(other))
        self.assertNotEqual(fleet.quantity("1G"), fleet.quantity("1Gi"))

    def test_a_stale_resource_version_in_an_apply_is_a_conflict_without_causes(self):
        first = self.hub.create(CONFIGMAPS, config_map("stale", a="1"))
        self.hub.merge(f"{CONFIGMAPS}/stale", {"data": {"a": "2"}})
        stale = config_map("stale", a="3")
        stale["metadata"]["resourceVersion"] = first["metadata"]["resourceVersion"]
        with self.assertRaises(Refused) as refused:
            self.hub.apply(f"{CONFIGMAPS}/stale", stale, force=True)
        self.assertEqual(refused.exception.code, 409)
        self.assertNotIn("causes", refused.exception.status.get("details", {}))

    def test_an_apply_with_the_uid_of_a_deleted_object_does_not_create_it(self):
        gone = self.hub.create(CONFIGMAPS, config_map("gone"))
        self.hub.delete(f"{CONFIGMAPS}/gone")
        again = config_map("gone")
        again["metadata"].update(uid=gone["metadata"]["uid"],
                                 resourceVersion=gone["metadata"]["resourceVersion"])
        with self.assertRaises(Refused) as refused:
            self.hub.apply(f"{CONFIGMAPS}/gone", again, manager="fairlead", force=True)
        self.assertEqual(refused.exception.code, 409)
        self.assertIsNone(self.hub.get(f"{CONFIGMAPS}/gone"))

    def test_a_streaming_list_ends_with_the_annotated_bookmark(self):
        _, answer = self.hub.raw(
            "GET", f"{NAMESPACES}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                   "&allowWatchBookmarks=true&timeoutSeconds=2")
        self.assertIn(b'"k8s.io/initial-events-end":"true"', answer)

    def test_tokens_and_client_certificates_open_the_door_and_expired_ones_do_not(self):
        for options in ({"credential": "token"}, {"credential": "certificate"},
                        {"credential": "certificate", "inline": True}):
            path = self.hub.kubeconfig("admin", **options)
            self.assertEqual(self.kubectl(path).returncode, 0, options)
        for options in ({"credential": "none"}, {"credential": "certificate", "expired": True}):
            path = self.hub.kubeconfig("admin", **options)
            self.assertNotEqual(self.kubectl(path).returncode, 0, options)

    def kubectl(self, kubeconfig):
        return subprocess.run([str(self.plane.assets / "kubectl"), f"--kubeconfig={kubeconfig}", "get", "ns"],
                              capture_output=True, text=True, timeout=30)

    def test_a_limited_user_may_do_exactly_what_it_was_granted(self):
        with self.assertRaises(Refused) as refused:
            self.hub.request("GET", NAMESPACES, user="limited")
        self.assertEqual(refused.exception.code, 403)
        self.hub.grant("limited", [{"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list"]}])

        def allowed():
            return self.hub.raw("GET", NAMESPACES, user="limited")[0] == 200

        wait_for("the grant to take effect", allowed)
        self.assertEqual(self.hub.raw("DELETE", f"{NAMESPACES}/default", user="limited")[0], 403)


class Disturbed(unittest.TestCase):
    """Tests that need servers of their own, because they break them."""

    def test_a_killed_server_comes_back_with_its_objects(self):
        with ControlPlane() as plane:
            hub = plane.add_server("hub")
            hub.create(CONFIGMAPS, config_map("kept", a="1"))
            hub.kill()
            with self.assertRaises(OSError):
                hub.raw("GET", "/readyz")
            hub.start()
            self.assertEqual(hub.get(f"{CONFIGMAPS}/kept")["data"], {"a": "1"})

    def test_servers_with_two_prefixes_share_nothing_but_the_counter(self):
        with ControlPlane() as plane:
            hub, member = plane.add_server("hub"), plane.add_server("member")
            here = hub.create(CONFIGMAPS, config_map("here"))
            there = member.create(CONFIGMAPS, config_map("there"))
            self.assertIsNone(member.get(f"{CONFIGMAPS}/here"))
            self.assertGreater(int(there["metadata"]["resourceVersion"]),
                               int(here["metadata"]["resourceVersion"]))

    def test_a_watch_from_a_compacted_version_gets_410(self):
        with ControlPlane() as plane:
            hub = plane.add_server("hub", compaction_interval="2s", watch_cache_size=0)
            old = hub.create(CONFIGMAPS, config_map("a"))["metadata"]["resourceVersion"]

            def expired():
                hub.merge(f"{CONFIGMAPS}/a", {"data": {"t": str(time.monotonic())}})
                first = (hub.watch(CONFIGMAPS, old, timeout_seconds=1) or [{}])[0]
                return first.get("type") == "ERROR" and first["object"]["code"] == 410

            # The watch cache remembers what etcd has compacted; a new process has an empty one.
            time.sleep(6)
            hub.restart()
            wait_for("410 Gone", expired)

    def test_a_stopped_server_is_silent_and_then_goes_on(self):
        with ControlPlane() as plane:
            hub = plane.add_server("hub")
            hub.pause()
            with self.assertRaises(OSError):
                hub.raw("GET", "/readyz", timeout=1)
            hub.resume()
            wait_for("the server to answer again", lambda: hub.raw("GET", "/readyz")[0] == 200)

    def test_the_controller_manager_removes_what_a_deleted_namespace_held(self):
        if not (assets() / "kube-controller-manager").exists():
            self.skipTest("KUBEBUILDER_ASSETS has no kube-controller-manager")
        with ControlPlane() as plane:
            hub = plane.add_server("hub")
            plane.add_controller_manager(hub)
            hub.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
            hub.create(f"{NAMESPACES}/team/configmaps", config_map("x"))
            hub.delete(f"{NAMESPACES}/team")
            wait_for("the namespace to go", lambda: hub.get(f"{NAMESPACES}/team") is None)

    def test_an_old_etcd_refuses_streaming_lists(self):
        program = old_etcd()
        if program is None:
            self.skipTest("no etcd 3.4 (scripts/controlplane unpacks one)")
        with ControlPlane(etcd=program) as plane:
            hub = plane.add_server("hub")
            status, answer = hub.raw(
                "GET", f"{NAMESPACES}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
                       "&allowWatchBookmarks=true&timeoutSeconds=2")
            self.assertIn(b"RequestWatchProgress is disabled", answer, status)

    def test_everything_dies_with_a_crashed_test(self):
        script = ("import os, pathlib, sys; sys.path.insert(0, sys.argv[1])\n"
                  "from harness.controlplane import ControlPlane\n"
                  "plane = ControlPlane(directory=pathlib.Path(sys.argv[2]))\n"
                  "plane.__enter__()\n"
                  "print(plane.etcd.child.pid, flush=True)\n"
                  "os.kill(os.getpid(), 9)\n")
        here = str(pathlib.Path(__file__).resolve().parent)
        folder = self.enterContext(tempfile.TemporaryDirectory())
        done = subprocess.run([sys.executable, "-c", script, here, folder], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, -signal.SIGKILL, done.stderr)
        pid = int(done.stdout)

        def dead():
            try:
                os.kill(pid, 0)
            except ProcessLookupError:
                return True
            # Ours is not its parent any more: a zombie waits for init, which counts as dead.
            return pathlib.Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"

        wait_for("etcd to die", dead, timeout=10)


if __name__ == "__main__":
    unittest.main()
