"""Three hubs share one log on three etcd members and two API servers; whatever dies, one of them goes on and nothing
that was acted upon is lost."""

import base64
import json
import os
import re
import shutil
import signal
import socket
import ssl
import unittest
import urllib.error
import urllib.request

from harness import program
from harness.fleet import quantity
from harness.interceptor import SWALLOW, Held, Interceptor
from harness.process import free_port, stays, wait_for
from harness.replicas import COMMITS, FAIL_OVER, SHORT, WINDOW, counted, leads, position, seconds_until
from harness.replicas_case import ReplicasCase

NEEDS = ("controlplane", "fairlead")

EXHAUSTIVE = bool(os.environ.get("FAIRLEAD_EXHAUSTIVE"))
PAUSES = 1000 if EXHAUSTIVE else 50
KILLS = 1000 if EXHAUSTIVE else 4
# What a busy machine adds to a time that is promised.
SLACK = 5
HOOKS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
GROUPS = ["", "galaxy.kubestellar.io", "kueue.x-k8s.io", "cluster.open-cluster-management.io",
          "work.open-cluster-management.io", "multicluster.x-k8s.io", "coordination.k8s.io", "events.k8s.io"]


def allowed(groups):
    return [{"apiGroups": groups, "resources": ["*"], "verbs": ["*"]}]


def commits_of(request):
    """Whether a request writes a slot that exists."""
    return request.method == "PUT" and "/logcommits/" in request.path


class FailOverTest(ReplicasCase):
    def test_a_dead_leader_is_replaced_and_comes_back_as_a_follower(self):
        hubs, leader = self.running("dead")
        self.assertEqual(sum(leads(hub) for hub in hubs.hubs), 1)
        leader.kill()
        self.assertLess(seconds_until(lambda: any(map(leads, hubs.answering()))), FAIL_OVER + SLACK)
        self.change()
        leader.start()
        hubs.ready([leader])
        self.assertFalse(leads(leader))
        hubs.check_agreement()

    def test_a_leader_that_ends_hands_over(self):
        hubs, leader = self.running("term")
        leader.stop()
        self.assertNotIn(str(leader.process.child.pid), hubs.holder())
        self.assertLess(seconds_until(lambda: any(map(leads, hubs.answering()))), 0.25 + 1 + SLACK)
        self.change()
        leader.start()
        hubs.check_agreement()

    def test_a_follower_answers_what_the_leader_answers(self):
        hubs, leader = self.running("asked")
        [follower, *_] = [hub for hub in hubs.hubs if hub is not leader]
        seq = hubs.agree()["seq"]
        answers = [program.fairlead("audit", "quota", "--as-of", f"seq:{seq}", "-o", "json", "--server",
                                    f"http://127.0.0.1:{hub.port}") for hub in (leader, follower)]
        self.assertEqual([done.returncode for done in answers], [0, 0], answers)
        self.assertEqual(*[json.loads(done.stdout) for done in answers])
        stats = [json.loads(program.fairlead("log", "stat", "-o", "json", "--server",
                                             f"http://127.0.0.1:{hub.port}").stdout)["replication"]
                 for hub in (leader, follower)]
        self.assertEqual([one["role"] for one in stats], ["leader", "follower"])
        self.assertEqual({one["store"] for one in stats}, {"kubernetes"})
        self.assertEqual({one["leader"] for one in stats}, {hubs.holder()})
        self.assertEqual({one["server_version"] for one in stats}, {self.server.get("/version")["gitVersion"]})
        self.assertEqual(len({(one["log"], one["commit"], one["window_first"]) for one in stats}), 1)
        # What says how it takes part is read at the start.
        changed = {**json.loads(leader.config.read_text()), "log": {"replication": {"copies": {"wait": "7s"}}}}
        leader.config.write_text(json.dumps(changed))
        leader.process.signal(signal.SIGHUP)
        leader.wait_until("the key", lambda: leader.said("effect with a restart", "log.replication.copies.wait"))

    def test_paused_leaders_append_nothing_when_they_go_on(self):
        hubs, _ = self.running("paused", settings=SHORT)
        for _ in range(PAUSES):
            leader = hubs.leader()
            wanted = self.show()
            hubs.pause(leader)
            hubs.leader()
            wait_for("the quota to follow", lambda wanted=wanted: self.decided(wanted), 30, interval=0.05)
            hubs.resume(leader)
            wait_for("the old leader to know", lambda leader=leader: not leads(leader), interval=0.05)
        hubs.check_agreement()
        self.assertEqual(sum(counted(hub, "foreign_total") + counted(hub, "went_back_total") for hub in hubs.hubs), 0)

    def test_kills_lose_nothing_that_was_acted_upon(self):
        hubs, _ = self.running("killed", settings=SHORT)
        wanted = []
        for number in range(KILLS):
            leader = hubs.leader()
            victim = leader if number % 2 == 0 else next(hub for hub in hubs.hubs if hub is not leader)
            wanted.append(self.show())
            victim.kill()
            wait_for("the quota to follow", lambda: self.decided(wanted[-1]), 30, interval=0.05)
            victim.start()
            hubs.ready()
        hubs.agree()
        # Each quota that the API server got is one of an intent in the log, in this order.
        intended = iter([set(map(quantity, re.findall(r'nominalQuota\W+(\w+)', line)))
                         for line in hubs.check_logs() if '"PatchIntended"' in line])
        for acted in wanted:
            self.assertTrue(any(acted in quotas for quotas in intended), acted)
        self.assertEqual(sum(counted(hub, "foreign_total") + counted(hub, "went_back_total") for hub in hubs.hubs), 0)

    def test_all_dead_at_once(self):
        hubs, leader = self.running("all")
        before = position(leader)
        for process in (*(hub.process for hub in hubs.hubs), *self.plane.members,
                        *(server.process for server in self.plane.servers.values())):
            process.kill()
        self.plane.recover()
        hubs.start()
        hubs.leader()
        self.change()
        self.assertGreater(hubs.agree()["commit"], before["commit"])
        hubs.check_logs()


class StoreTest(ReplicasCase):
    def test_answers_that_are_lost_are_found_out(self):
        with Interceptor(self.server) as between:
            hubs = self.replicas("lost", kubeconfigs=[between.kubeconfig(), self.other.kubeconfig("fairlead")])
            first, second = hubs.hubs
            first.start()
            hubs.leader()
            second.start()
            self.change()
            count = iter(range(10**6))
            between.fault = lambda request: SWALLOW if commits_of(request) and next(count) % 2 == 0 else None
            for _ in range(5):
                self.change()
            between.fault = lambda request: None
            self.assertIs(hubs.leader(), first)
            self.assertGreater(counted(first, "unknown_total"), 3)
            hubs.check_agreement()
            hubs.finish()

    def test_a_commit_that_arrives_late_changes_nothing(self):
        held = []

        def hold(request):
            if not commits_of(request) or len(held) == 2:
                return None
            held.append(Held())
            return held[-1]

        with Interceptor(self.server) as between:
            hubs = self.replicas("late", kubeconfigs=[between.kubeconfig(), self.other.kubeconfig("fairlead")])
            first, second = hubs.hubs
            first.start()
            hubs.leader()
            second.start()
            self.change()
            between.fault = hold
            self.change()
            self.assertEqual(held[0].deliver(self.other)[0], 409)
            # A whole lap later its slot holds another commit.
            while position(first)["commit"] < json.loads(held[1].request.body)["spec"]["commit"] + WINDOW:
                self.change()
            self.assertEqual(held[1].deliver(self.other)[0], 409)
            self.change()
            hubs.check_agreement()
            hubs.finish()

    def test_one_api_server_and_the_leader_of_etcd_die(self):
        # The Nodes are read from the first server: the leader's own is the other.
        hubs = self.replicas("etcd", kubeconfigs=[server.kubeconfig("fairlead")
                                                  for server in (self.other, self.server, self.server)])
        hubs.hubs[0].start()
        hubs.leader()
        hubs.start()
        hubs.ready()
        self.change()
        self.addCleanup(self.plane.recover)
        self.other.kill()
        self.change(FAIL_OVER + 10 + SLACK)
        self.plane.recover()
        self.plane.etcd_leader().kill()
        self.change(10 + SLACK)
        self.plane.recover()
        hubs.check_agreement()

    def test_without_a_quorum_nothing_is_decided(self):
        hubs, leader = self.running("quorum")
        self.addCleanup(self.plane.recover)
        for member in self.plane.members[:2]:
            member.kill()
        for hub in hubs.hubs:
            self.not_ready(hub)
        before = position(leader)
        # What is known is answered from the local copy.
        done = program.fairlead("audit", "quota", "--server", f"http://127.0.0.1:{leader.port}", "-o", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(position(leader)["seq"], before["seq"])
        self.plane.recover()
        hubs.leader()
        hubs.ready()
        self.change()
        hubs.check_agreement()

    def test_a_history_that_goes_back_is_put_forward_again(self):
        hubs, _ = self.running("back")
        self.addCleanup(self.plane.recover)
        kept = self.plane.backup()
        for _ in range(3):
            self.change()
        before = hubs.agree()
        self.plane.restore(kept)
        # The API servers' watches are silent about it until they are started again, as after any restore.
        wait_for("a hub to see it", lambda: any(counted(hub, "went_back_total") for hub in hubs.hubs), 60)
        for server in self.plane.servers.values():
            server.restart()
        hubs.leader()
        self.change()
        after = hubs.agree()
        self.assertGreater(after["commit"], before["commit"])
        hubs.check_logs()

    def test_after_a_restore_the_longest_log_leads(self):
        hubs, leader = self.running("longest", secure=True)
        self.addCleanup(self.plane.recover)
        late = next(hub for hub in hubs.hubs if hub is not leader)
        longer = [hub for hub in hubs.hubs if hub is not late]
        late.stop()
        kept = self.plane.backup()
        for _ in range(3):
            self.change()
        before = hubs.agree()
        for hub in longer:
            hubs.pause(hub)
        self.plane.restore(kept)
        for server in self.plane.servers.values():
            server.restart()
        late.start()
        wait_for("the shortest to hold the Lease", lambda: str(late.process.child.pid) in hubs.holder(), interval=0.02)
        for hub in longer:
            hubs.resume(hub)
        late.wait_until("it to leave the Lease", lambda: late.said("the Lease is left to another replica"))
        self.change()
        self.assertIn(hubs.leader(), longer)
        self.assertGreater(hubs.agree()["commit"], before["commit"])
        self.assertFalse(late.said("this process leads"))
        hubs.check_logs()

    def slot(self, name, number):
        return f"{COMMITS}/{name}-{number % WINDOW}"

    def test_a_slot_that_is_edited_or_deleted_is_put_back(self):
        hubs, leader = self.running("slots")
        commit = position(leader)["commit"]
        self.server.merge(self.slot("slots", commit), {"spec": {"pack": "AAAA"}})
        self.server.merge(self.slot("slots", commit + 1), {"metadata": {"labels": {"touched": "yes"}}})
        self.server.delete(self.slot("slots", commit + 2))
        # A lap later each of them was written again.
        while position(leader)["commit"] < commit + WINDOW:
            self.change()
        hubs.agree()
        wait_for("both to be counted", lambda: counted(leader, "foreign_total") >= 2)
        hubs.check_logs()

    def test_a_namespace_that_is_gone_ends_decisions(self):
        # First: it lists every kind before it ends a namespace, which a busy machine does while the hubs begin.
        manager = self.plane.add_controller_manager(self.server, "namespace")
        self.addCleanup(manager.kill)
        self.server.create("/api/v1/namespaces", {"metadata": {"name": "gone"}})
        hubs, _ = self.running("gone", store=("log.replication.kubernetes={namespace: gone, name: gone}",))
        self.server.delete("/api/v1/namespaces/gone")
        # A namespace that is not empty yet is looked at again after up to 15 s (kube-controller-manager).
        wait_for("the namespace to go", lambda: self.server.get("/api/v1/namespaces/gone") is None, 120)
        wanted = self.show()
        self.leader_not_ready(hubs)
        self.server.create("/api/v1/namespaces", {"metadata": {"name": "gone"}})
        for hub in hubs.hubs:
            hub.stop()
        done = self.command(hubs, "replicate", hubs.longest().data, "--replace")
        self.assertEqual(done.returncode, 0, done.stderr)
        hubs.start()
        wait_for("the quota to follow", lambda: self.decided(wanted))
        hubs.check_agreement()

    def test_rights_that_are_taken_away_end_decisions_until_they_are_back(self):
        everything = allowed([*GROUPS, "fairlead.io"])
        self.server.grant("limited", everything)
        hubs, _ = self.running("rights", kubeconfigs=[server.kubeconfig("limited")
                                                      for server in (self.server, self.other, self.server)])
        self.server.grant("limited", allowed(GROUPS))
        wanted = self.show()
        self.leader_not_ready(hubs, "403")
        self.server.grant("limited", everything)
        wait_for("the quota to follow", lambda: self.decided(wanted))
        hubs.ready()
        hubs.check_agreement()

    def test_a_webhook_that_hangs_ends_decisions_until_it_is_gone(self):
        hubs, leader = self.running("webhook")
        silent = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(silent.close)
        self.server.create(HOOKS, {
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": "hangs"}, "webhooks": [{
                "name": "hangs.example.com", "sideEffects": "None", "admissionReviewVersions": ["v1"],
                "clientConfig": {"url": f"https://127.0.0.1:{silent.getsockname()[1]}/"}, "timeoutSeconds": 1,
                "failurePolicy": "Fail", "rules": [{"apiGroups": ["fairlead.io"], "apiVersions": ["*"],
                                                    "operations": ["UPDATE"], "resources": ["logcommits"]}]}]})
        self.addCleanup(self.server.clear, HOOKS)
        # A configuration takes a moment to be in force.
        wait_for("the webhook to be asked", lambda: self.server.raw(
            "PATCH", self.slot("webhook", position(leader)["commit"] + 5), '{"metadata": {"labels": {"a": "b"}}}',
            "application/merge-patch+json")[0] == 500)
        wanted = self.show()
        self.leader_not_ready(hubs, "hangs.example.com")
        self.server.clear(HOOKS)
        wait_for("the quota to follow", lambda: self.decided(wanted))
        hubs.ready()
        hubs.check_agreement()


class CopyTest(ReplicasCase):
    def copying(self, hubs, source):
        """Starts the hubs with nothing: each copies the log of the hub `source`, or over TLS of the next one."""
        for hub in hubs:
            shutil.rmtree(hub.data, ignore_errors=True)
            if "--copy-from" not in hub.process.command:
                hub.process.command += ["--copy-from", f"http://127.0.0.1:{source.port}"]
            hub.start()

    def test_a_follower_that_is_older_than_the_window_is_told_and_begins_anew(self):
        hubs, leader = self.running("window", secure=True)
        [late, *_] = [hub for hub in hubs.hubs if hub is not leader]
        late.stop()
        begin = position(leader)["commit"]
        while position(leader)["commit"] < begin + WINDOW + 3:
            self.change()
        late.start()
        self.not_ready(late, "behind the log's window")
        late.stop()
        # The commits of the others are not overwritten by a copy that ends before them.
        others = [hub for hub in hubs.hubs if hub is not late]
        for hub in others:
            hub.stop()
        refused = self.command(hubs, "replicate", late.data)
        self.assertEqual(refused.returncode, 3, refused.stdout + refused.stderr)
        self.assertIn("the ring holds commit", refused.stderr)
        for hub in others:
            hub.start()
        leader = hubs.leader()
        self.copying([late], leader)
        hubs.ready([late])
        hubs.check_agreement()

    def test_a_single_hub_becomes_three_and_one_again(self):
        hubs = self.replicas("both", create=False)
        first = hubs.hubs[0]
        alone = hubs.hub(hubs.kubeconfigs[0], (), data=first.data)
        self.addCleanup(alone.finish)
        alone.start()
        self.change()
        alone.stop()
        before = program.fairlead("log", "cat", "--data", first.data).stdout
        for _ in range(2):  # the second finds everything done
            done = self.command(hubs, "replicate", first.data)
            self.assertEqual(done.returncode, 0, done.stderr)
        first.start()
        hubs.leader()
        self.copying(hubs.hubs[1:], first)
        hubs.ready()
        self.change()
        hubs.agree()
        # What came before the ring is not put into it.
        self.assertEqual(sum(counted(hub, "foreign_total") + counted(hub, "went_back_total") for hub in hubs.hubs), 0)
        refused = self.command(hubs, "unreplicate", first.data)
        self.assertEqual(refused.returncode, 3, refused.stderr)
        for hub in hubs.hubs:
            hub.stop()
        hubs.check_logs()
        longest = hubs.longest()
        for _ in range(2):
            done = self.command(hubs, "unreplicate", longest.data)
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([item for item in self.server.get(COMMITS)["items"]
                          if item["metadata"]["name"].startswith("both-")], [])
        alone = hubs.hub(hubs.kubeconfigs[0], (), data=longest.data)
        self.addCleanup(alone.finish)
        alone.start()
        self.change()
        alone.stop()
        alone.check_log()
        after = program.fairlead("log", "cat", "--data", longest.data).stdout
        self.assertTrue(after.startswith(before))

    def test_a_second_hub_is_refused_to_lead_with_a_lease_alone(self):
        hubs = self.replicas("lease", count=2, store=())
        for hub in hubs.hubs:  # without a store there is no window and no pace either
            hub.process.command = [word for at, word in enumerate(hub.process.command)
                                   if not (word.startswith("log.replication.") or word == "--set" and
                                           hub.process.command[at + 1].startswith("log.replication."))]
        hubs.start()
        hubs.leader()
        self.change()
        stays("one leader at most", lambda: sum(map(leads, hubs.hubs)) <= 1, 1)


class EtcdTest(ReplicasCase):
    def own_etcd(self, name, *more):
        """An etcd of the hubs' own, over TLS: (process, ask(path of its gateway, members), setting of the hubs)."""
        authority, folder = self.plane.authority, self.plane.directory
        certificate, key = authority.member(name)
        mine, mine_key = authority.client("fairlead", name=f"client-{name}")
        client, peer = f"https://127.0.0.1:{free_port()}", f"http://127.0.0.1:{free_port()}"
        etcd = self.plane.process(name, [
            self.plane.assets / "etcd", f"--data-dir={folder / name}", "--name=own",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=own={peer}", f"--cert-file={certificate}",
            f"--key-file={key}", f"--trusted-ca-file={authority.certificate}", "--client-cert-auth",
            "--unsafe-no-fsync", *more]).start()
        self.addCleanup(etcd.kill)
        trusted = ssl.create_default_context(cafile=authority.certificate)
        trusted.load_cert_chain(mine, mine_key)

        def ask(path, **body):
            request = urllib.request.Request(f"{client}/v3/{path}", json.dumps(body).encode())
            with urllib.request.urlopen(request, timeout=30, context=trusted) as answer:
                return json.load(answer)
        return etcd, ask, (f"log.replication.etcd={{endpoints: [\"{client}\"], prefix: /fairlead/, tls: {{"
                           f"ca: {authority.certificate}, certificate: {mine}, key: {mine_key}}}}}",)

    def test_an_etcd_of_its_own_over_tls(self):
        etcd, _, store = self.own_etcd("own-etcd")
        hubs, leader = self.running("own", store=store, kubeconfigs=[self.server.kubeconfig("fairlead")] * 3,
                                    member=self.other)
        self.assertEqual([item for item in self.server.get(COMMITS)["items"]
                          if item["metadata"]["name"].startswith("own-")], [])
        said = program.fairlead("log", "stat", "-o", "json", "--server", f"http://127.0.0.1:{leader.port}")
        self.assertRegex(json.loads(said.stdout)["replication"]["server_version"], r"^3\.\d+\.\d+")
        # Without the hub's API server the present leader commits what members report, past leaseDuration.
        self.addCleanup(self.plane.recover)
        self.server.kill()
        for _ in range(2):
            begin = position(leader)["commit"]
            wanted = self.show()
            wait_for("a commit", lambda begin=begin: position(leader)["commit"] > begin)
            stays("it leads", lambda: leads(leader), 2)
        self.plane.recover()
        wait_for("the quota to follow", lambda: self.decided(wanted))
        hubs.agree()
        leader = hubs.leader()
        leader.kill()
        hubs.leader()
        self.change()
        etcd.kill()
        wanted = self.show()
        self.not_ready(hubs.leader())
        etcd.start()
        wait_for("the quota to follow", lambda: self.decided(wanted))
        leader.start()
        hubs.check_agreement()

    def test_an_etcd_that_is_full_ends_decisions_until_it_has_room(self):
        _, ask, store = self.own_etcd("full-etcd", "--quota-backend-bytes=4194304")
        hubs, leader = self.running("full", store=store)
        junk, behind, value = (base64.b64encode(text).decode() for text in (b"junk", b"junl", b"x" * 2**20))

        def full():
            try:
                ask("kv/put", key=junk, value=value)
            except urllib.error.HTTPError as refused:
                return "database space exceeded" in refused.read().decode()
        wait_for("etcd to be full", full, interval=0)
        before = position(leader)["commit"]
        wanted = self.show()
        self.leader_not_ready(hubs, "database space exceeded")
        self.assertEqual(position(leader)["commit"], before)
        self.assertFalse(self.decided(wanted))
        ask("kv/deleterange", key=junk, range_end=behind)
        ask("kv/compaction", revision=ask("kv/range", key=junk)["header"]["revision"], physical=True)
        ask("maintenance/defragment")
        for alarm in ask("maintenance/alarm", action="GET")["alarms"]:
            ask("maintenance/alarm", action="DEACTIVATE", **alarm)
        wait_for("the quota to follow", lambda: self.decided(wanted))
        hubs.ready()
        self.assertGreater(hubs.agree()["commit"], before)
        hubs.check_logs()


if __name__ == "__main__":
    unittest.main()
