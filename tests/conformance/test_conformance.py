"""The same requests to the model and to a real kube-apiserver; the answers must be equal but for normal.py."""

import copy
import json
import re
import time
import unittest
import urllib.request

import ring_servers
from harness import controlplane
from harness.certificates import Authority
from model_server import ROOT, ModelServer
from normal import answer
from recording import Plain
from scenarios import LQ, SCENARIOS, get, local, merge, post

NEEDS = ("controlplane",)


def filled(value, kept):
    """`value` with `{name.path}` replaced from kept answers."""
    def one(match):
        found = kept[match.group(1)]
        for part in match.group(2).split("."):
            found = found[part]
        return found
    if isinstance(value, str):
        return re.sub(r"\{(\w+)\.([\w.]+)\}", one, value)
    if isinstance(value, dict):
        return {key: filled(item, kept) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item, kept) for item in value]
    return value


def play(server, steps):
    """What `server` answers to each step."""
    kept, answers = {}, []
    for method, path, body, more in steps:
        headers = {"Accept": more.get("accept", "application/json"), "User-Agent": "conformance/1"}
        data = None
        if body is not None:
            headers["Content-Type"] = more.get("type", "application/json")
            data = body if isinstance(body, str) else json.dumps(filled(copy.deepcopy(body), kept))
        end = time.monotonic() + 30
        while True:
            got = server.exchange(method, filled(path, kept), data, headers)
            # A real server that has just learnt of a CRD says so for a moment.
            if got[0] != 429 or time.monotonic() > end:
                break
            time.sleep(0.2)
        compared, parsed = answer(*got, lines=more.get("lines", False))
        if "keep" in more:
            kept[more["keep"]] = parsed
        answers.append(compared)
    return answers


class Conformance(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.plane = controlplane.ControlPlane()
        cls.plane.__enter__()
        cls.addClassCleanup(cls.plane.close)
        server = cls.plane.add_server("hub")
        server.install_crds([ROOT / "schema/crd"])
        cls.real = Plain(server)
        cls.model = ModelServer().__enter__()
        cls.addClassCleanup(cls.model.__exit__)


    def compact(self):
        """Forgets history on both sides: in etcd up to now, in the model."""
        def ask(path, body):
            with urllib.request.urlopen(self.plane.etcd_url + path, json.dumps(body).encode()) as answered:
                return json.load(answered)
        revision = ask("/v3/kv/range", {"key": "YQ=="})["header"]["revision"]
        ask("/v3/kv/compaction", {"revision": revision, "physical": True})
        self.model.command("compact")

    def test_the_ring_of_a_replicated_log_on_objects(self):
        ring_servers.run("kubernetes", FAIRLEAD_RING_KUBECONFIG=self.plane.servers["hub"].kubeconfig())

    def test_the_ring_of_a_replicated_log_on_an_etcd(self):
        etcd = ring_servers.Etcd(self.plane)
        ring_servers.run("etcd", **etcd.environment())
        etcd.members[0].kill()
        ring_servers.run("etcd-failover", **etcd.environment())
        # A client that the members do not trust.
        stranger = Authority(self.plane.directory, "stranger").client("fairlead", name="stranger-client")
        said = ring_servers.run("etcd-refused", **etcd.environment(etcd.endpoints[1:], stranger))
        self.assertRegex(said, "waiting for the answer|handshake|certificate")
        old = controlplane.old_etcd()
        if old:
            said = ring_servers.run("etcd-refused", **ring_servers.Etcd(self.plane, 1, old, "old").environment())
            self.assertRegex(said, "its version is 3.4.[0-9]+, 3.5.13 or later is needed")

    def test_a_page_of_a_list_that_was_compacted_is_gone(self):
        made = [post(LQ, {**local(name, clusterQueue="c"), "metadata": {"name": name, "labels": {"gone": "yes"}}})
                for name in ("g1", "g2", "g3")]
        tokens = {}
        # A second server on the same objects, without the snapshots in its watch cache: those outlive compaction.
        real = Plain(self.plane.add_server("forgetful", prefix="/hub", arguments=(
            "--feature-gates=ListFromCacheSnapshot=false",)))
        for server in (real, self.model):
            play(server, [get(LQ), *made])
            first = json.loads(server.exchange("GET", LQ + "?labelSelector=gone&limit=1")[2])
            tokens[server] = first["metadata"]["continue"]
            play(server, [merge(f"{LQ}/g3", {"spec": {"stopPolicy": "Hold"}})])
        self.compact()
        expected, found = (play(server, [get(f"{LQ}?labelSelector=gone&limit=1&continue={tokens[server]}")])[0]
                           for server in (real, self.model))
        self.assertEqual(expected, found)
        self.assertEqual((found["code"], found["body"]["reason"]), (410, "Expired"))


def scenario_test(steps):
    def test(self):
        real, model = play(self.real, steps), play(self.model, steps)
        for step, expected, found in zip(steps, real, model):
            with self.subTest(f"{step[0]} {step[1]}"):
                self.assertEqual(expected, found)
    return test


for _name, _steps in SCENARIOS.items():
    setattr(Conformance, "test_" + _name.replace(" ", "_"), scenario_test(_steps))
