"""Member clusters whose Nodes are watched directly: through Secrets, ClusterProfiles and files of the hub."""

import base64
import itertools
import json
import signal
import time
import unittest

from harness.canary import CANARY
from harness.fleet import CLAIMS, NODES, add_node, add_nodes, claim, quantity, quota, remove_node
from test_hub import HIGH, HubTest

NEEDS = ("controlplane", "fairlead")

SECRETS = "/api/v1/namespaces/default/secrets"
PROFILES = "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/default/clusterprofiles"
_serial = itertools.count(1)


class MembersTest(HubTest):
    """Two member clusters, cluster2 and cluster3, of ten nodes each."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.other = cls.plane.servers.get("cluster3") or cls.plane.add_server("cluster3")

    def setUp(self):
        super().setUp()
        add_nodes(self.other)

    def clear(self):
        if not self.other.process.running():
            self.other.start()
        super().clear()
        self.other.clear(NODES)
        for name in ("cluster2", "cluster3"):
            self.server.raw("DELETE", f"{SECRETS}/{name}")
            self.server.raw("DELETE", f"{PROFILES}/{name}")

    def secret(self, name, key, text):
        data = {field: base64.b64encode(value.encode()).decode() for field, value in ((key, text), ("more", CANARY))}
        self.server.apply(f"{SECRETS}/{name}", {
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": name, "namespace": "default"},
            "data": data}, force=True)

    def access(self, server, number):
        """(account, kubeconfig text) of a service account of its own on `server`."""
        name, token = server.account(f"hub-{number}")
        return name, server.kubeconfig_of({"token": token}, inline=True)

    def known_by_secret(self, **options):
        """A running hub that knows cluster2 by a Secret and cluster3 by a file; the account of the first."""
        account, text = self.access(self.member, next(_serial))
        self.secret("cluster2", "kubeconfig", text)
        return self.of({"cluster2": {"secretRef": "default/cluster2"}, "cluster3": self.other}, **options), account

    def of(self, members, **options):
        hub = self.hub_of(members, **options).start()
        self.server.create(CLAIMS, claim())
        return hub

    def hub_of(self, members, **options):
        from harness.hub import Hub
        hub = Hub(self.plane, self.server, members, **options)
        self.addCleanup(hub.finish)
        return hub

    def wait_for_high(self, hub, cpu, timeout=30):
        def equal():
            seen = quota(self.server, HIGH, "on-demand", "cpu")
            assert seen == quantity(cpu), f"{seen} instead of {cpu}"
            return True
        hub.wait_until(f"{HIGH} to have cpu {cpu}", equal, timeout)


class SecretTest(MembersTest):
    def test_nodes_of_two_members_lead_to_quota(self):
        hub, _ = self.known_by_secret()
        self.server.create(CLAIMS, claim("cluster3"))
        self.wait_for_high(hub, "1000")
        remove_node(self.member, "on-demand-0")
        self.wait_for_high(hub, "900")
        remove_node(self.other, "on-demand-0")
        self.wait_for_high(hub, "800")
        add_node(self.member, "on-demand-0", "on-demand")
        self.wait_for_high(hub, "900")
        hub.stop()
        hub.check_log()

    def test_a_rotated_secret_is_taken_up_and_the_old_token_may_go(self):
        hub, account = self.known_by_secret()
        self.wait_for_cpu(hub, "500", "500")
        self.secret("cluster2", "kubeconfig", self.access(self.member, next(_serial))[1])
        hub.wait_until("the rotation to be taken up", lambda: hub.process.text().count("taken up") >= 2)
        self.member.remove_account(account)
        # Every connection is made anew, and the server remembers no token.
        self.member.kill()
        self.member.start()
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500", timeout=120)

    def test_a_secret_that_comes_late_goes_and_comes_back(self):
        hub = self.of({"cluster2": {"secretRef": "default/cluster2"}})
        hub.wait_until("the missing Secret to be said", lambda: hub.said("Secret default/cluster2 is not there"))
        self.secret("cluster2", "kubeconfig", self.access(self.member, next(_serial))[1])
        self.wait_for_cpu(hub, "500", "500")
        self.server.delete(f"{SECRETS}/cluster2")
        hub.wait_until("the member to be lost", lambda: hub.events(fact="SourceLost", source="cluster2"))
        self.wait_for_cpu(hub, "0", "0")
        remove_node(self.member, "on-demand-0")
        self.secret("cluster2", "kubeconfig", self.access(self.member, next(_serial))[1])
        self.wait_for_cpu(hub, "400", "500")
        hub.stop()
        hub.check_log()

    def test_a_secret_may_neither_run_programs_nor_read_files(self):
        hub = self.of({"cluster2": {"secretRef": "default/cluster2"}})
        touched = self.plane.directory / f"touched-{next(_serial)}"
        plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "touch", "args": [str(touched)],
                  "interactiveMode": "Never"}
        self.secret("cluster2", "kubeconfig", self.member.kubeconfig_of({"exec": plugin}, inline=True))
        hub.wait_until("exec to be refused", lambda: hub.said("users[admin].exec may not run a program here"))
        self.secret("cluster2", "kubeconfig", self.member.kubeconfig_of({"tokenFile": "/etc/passwd"}, inline=True))
        hub.wait_until("the file to be refused", lambda: hub.said("tokenFile may not refer to a file here"))
        self.secret("cluster2", "another", "x")
        hub.wait_until("the missing key to be said", lambda: hub.said("it has no key kubeconfig"))
        self.assertFalse(touched.exists())

    def test_only_the_named_secret_must_be_readable(self):
        everything = [{"apiGroups": ["galaxy.kubestellar.io", "kueue.x-k8s.io", "work.open-cluster-management.io",
                                     "cluster.open-cluster-management.io", "multicluster.x-k8s.io"],
                       "resources": ["*"], "verbs": ["*"]}]
        named = [{"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["cluster2"],
                  "verbs": ["get", "list", "watch"]}]
        self.server.grant("limited", everything + named)
        hub, _ = self.known_by_secret(kubeconfig=self.server.kubeconfig("limited"))
        self.wait_for_cpu(hub, "500", "500")
        self.secret("cluster2", "kubeconfig", self.access(self.member, next(_serial))[1])
        hub.wait_until("the change to be seen", lambda: hub.process.text().count("taken up") >= 2)


class MembersComeAndGoTest(MembersTest):
    def reread(self, hub, change):
        settings = json.loads(hub.config.read_text())
        change(settings)
        hub.config.write_text(json.dumps(settings, indent=1))
        hub.process.signal(signal.SIGHUP)

    def test_a_member_server_killed_and_back_is_watched_on(self):
        hub, _ = self.known_by_secret()
        self.wait_for_cpu(hub, "500", "500")
        self.member.kill()
        time.sleep(2)
        self.member.start()
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500", timeout=120)

    def test_a_member_that_is_no_longer_configured_is_stale_and_then_lost(self):
        hub, _ = self.known_by_secret()
        self.wait_for_cpu(hub, "500", "500")
        removed = []

        def leave(settings):
            removed.append(settings["members"]["kubeconfigs"].pop(0))
            settings["debounce"] = {"staleAfter": "2s", "lostAfter": "4s"}

        self.reread(hub, leave)
        hub.wait_until("the warning", lambda: hub.said("no longer names the cluster of a claim", "claim=cluster2-"))
        self.wait_for_cpu(hub, "0", "0")
        remove_node(self.member, "on-demand-0")
        self.reread(hub, lambda settings: settings["members"]["kubeconfigs"].append(removed[0]))
        self.wait_for_cpu(hub, "400", "500")

    def test_patience_that_changes_reaches_the_connections_that_there_are(self):
        hub, _ = self.known_by_secret()
        self.wait_for_cpu(hub, "500", "500")
        self.member.pause()
        self.reread(hub, lambda settings: settings.update(debounce={"staleAfter": "2s", "lostAfter": "4s"}))
        hub.wait_until("stale, then lost", lambda: hub.events(fact="SourceStale", source="cluster2") and
                       hub.events(fact="SourceLost", source="cluster2"))
        self.member.resume()

    def test_a_member_whose_file_cannot_be_used_stops_no_other(self):
        path = self.plane.directory / f"late-{next(_serial)}"
        hub = self.of({"cluster2": {"file": str(path)}, "cluster3": self.other})
        self.server.create(CLAIMS, claim("cluster3"))
        self.wait_for_high(hub, "500")
        self.assertTrue(hub.said("a member's kubeconfig cannot be used", str(path)))
        path.write_text(self.access(self.member, next(_serial))[1])
        self.wait_for_high(hub, "1000", timeout=60)


class ProfileTest(MembersTest):
    def profile(self, provider, **more):
        cluster = json.loads(self.member.kubeconfig_of({}, more, inline=True))["clusters"][0]["cluster"]
        self.server.create(PROFILES, {
            "apiVersion": "multicluster.x-k8s.io/v1alpha1", "kind": "ClusterProfile",
            "metadata": {"name": "cluster2", "namespace": "default"}, "spec": {"clusterManager": {"name": "test"}}})
        self.server.merge(f"{PROFILES}/cluster2/status", {"status": {"accessProviders": [
            {"name": "unknown", "cluster": {"server": "https://127.0.0.1:1"}},
            {"name": provider, "cluster": cluster}]}}, user="admin")

    def test_the_server_of_a_profile_with_the_token_of_its_secret(self):
        account, token = self.member.account(f"hub-{next(_serial)}")
        hub = self.of({"cluster2": {"clusterProfile": "default/cluster2"}})
        hub.wait_until("the profile to be missed", lambda: hub.said("ClusterProfile default/cluster2 is not there"))
        self.profile("secretreader")
        hub.wait_until("the Secret to be missed", lambda: hub.said("Secret default/cluster2 is not there"))
        self.secret("cluster2", "token", token)
        self.wait_for_cpu(hub, "500", "500")
        self.secret("cluster2", "token", self.member.account(f"hub-{next(_serial)}")[1])
        hub.wait_until("the rotation to be taken up", lambda: hub.process.text().count("taken up") >= 2)
        self.member.remove_account(account)
        self.server.delete(f"{PROFILES}/cluster2")
        hub.wait_until("the member to be lost", lambda: hub.events(fact="SourceLost", source="cluster2"))

    def test_the_server_of_a_profile_with_a_plugin_of_the_operator(self):
        _, token = self.member.account(f"hub-{next(_serial)}")
        seen = self.plane.directory / f"seen-{next(_serial)}"
        answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": token}}
        plugin = {"apiVersion": "client.authentication.k8s.io/v1", "command": "sh", "interactiveMode": "Never",
                  "args": ["-c", f"printf %s \"$KUBERNETES_EXEC_INFO\" > {seen}; printf %s \"$ANSWER\""],
                  "env": [{"name": "ANSWER", "value": json.dumps(answer)}], "provideClusterInfo": True}
        providers = self.plane.directory / f"providers-{next(_serial)}.json"
        providers.write_text(json.dumps({"providers": [{"name": "ours", "execConfig": plugin}]}))
        self.profile("ours", extensions=[{"name": "client.authentication.k8s.io/exec",
                                          "extension": {"clusterName": "far-away"}}])
        hub = self.of({"cluster2": {"clusterProfile": "default/cluster2"}},
                      arguments=("--clusterprofile-provider-file", providers))
        self.wait_for_cpu(hub, "500", "500")
        given = json.loads(seen.read_text())["spec"]["cluster"]
        self.assertEqual(given["config"], {"clusterName": "far-away"})
        self.assertEqual(given["server"], self.member.url)

    def test_a_profile_with_no_known_provider_is_said(self):
        self.profile("theirs")
        hub = self.of({"cluster2": {"clusterProfile": "default/cluster2"}})
        hub.wait_until("the provider to be missed", lambda: hub.said("none of its access providers", "theirs"))


if __name__ == "__main__":
    unittest.main()
