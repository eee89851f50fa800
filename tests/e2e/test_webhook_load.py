"""The validating webhook under load: reviews straight to its port, as fast as a few clients send them.

Certificates are exchanged meanwhile, the log's disk stops answering, ten thousand claims come at once.
"""

import http.client
import json
import re
import ssl
import threading
import time
import unittest

from harness.certificates import MountedSecret
from harness.controlplane import ControlPlane
from harness.fleet import CLAIMS, CRDS, FLAVORS, add_node, claim, prepare_hub, quantity, quota
from harness.hub import AT_ONCE, Hub
from harness.process import free_port, wait_for
from survival import Faults

NEEDS = ("controlplane", "fairlead", "fault shim")

HIGH = "high-priority-queue"
# engine/main/service/webhook_service.h
NOTES_PER_SECOND, NOTES_AT_ONCE = 20, 200
MEBIBYTE = 1 << 20


def review(value, user="alice"):
    """The body of a review of a claim that is created."""
    return json.dumps({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": f"review-of-{value['metadata']['name']}", "operation": "CREATE", "dryRun": False,
            "kind": {"group": "galaxy.kubestellar.io", "version": "v1alpha1", "kind": "ClusterResourceClaim"},
            "name": value["metadata"]["name"], "userInfo": {"username": user, "groups": ["system:authenticated"]},
            "object": value, "oldObject": None}})


def invalid(name):
    """A claim that a rule denies: more is assigned than it has."""
    value = claim(name)
    value["spec"]["nominalResources"] = {"cpu": "1", "memory": "1Gi", "gpu": "1"}
    return value


class Client:
    """One connection to the webhook."""

    def __init__(self, port, tls):
        self.connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=20, context=tls)

    def ask(self, body):
        """(allowed, answer) of one review."""
        self.connection.request("POST", "/admit?timeout=5s", body=body, headers={"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        text = answer.read()
        assert answer.status == 200, f"{answer.status}: {text[:200]}"
        response = json.loads(text)["response"]
        return response["allowed"], response

    def serial(self):
        return self.connection.sock.getpeercert()["serialNumber"]

    def close(self):
        self.connection.close()


class Load:
    """Threads that send one review after another until end(); what failed is kept."""

    def __init__(self, port, tls, kept, fresh):
        self.port, self.tls = port, tls
        self.ended = threading.Event()
        self.answers, self.failures, self.serials = 0, [], set()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(mode,), daemon=True)
                        for mode in ["kept"] * kept + ["fresh"] * fresh]
        for thread in self.threads:
            thread.start()

    def run(self, mode):
        body = review(claim("load"))
        client = Client(self.port, self.tls)
        while not self.ended.is_set():
            try:
                allowed, _ = client.ask(body)
                with self.lock:
                    self.answers += allowed
                    self.serials.add((mode, client.serial()))
            except (AssertionError, OSError, http.client.HTTPException, ValueError) as problem:
                with self.lock:
                    self.failures.append(f"{mode}: {problem!r}")
            if mode == "fresh" or self.failures:
                client.close()
                client = Client(self.port, self.tls)
            time.sleep(0.005)
        client.close()

    def end(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()


class WebhookLoadTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("hub")
        cls.member = cls.plane.add_server("cluster2")
        cls.server.install_crds(only=CRDS)
        cls.tls = ssl.create_default_context(cafile=cls.plane.authority.certificate)
        prepare_hub(cls.server)
        cls.server.create(CLAIMS, claim())
        for pool in ("on-demand", "spot"):
            for number in range(5):
                add_node(cls.member, f"{pool}-{number}", pool)

    def setUp(self):
        name = self.id().rsplit(".", 1)[-1]
        self.secret = MountedSecret(self.plane.directory / f"secret-{name}")
        self.secret.put(*self.plane.authority.server(f"{name}-0"))
        self.port = free_port()
        self.faults = Faults(self.plane.directory / f"faults-{name}")
        self.hub = Hub(self.plane, self.server, members={"cluster2": self.member}, settings=(AT_ONCE,), arguments=(
            f"--webhook-listen=127.0.0.1:{self.port}", f"--webhook-certificate={self.secret.folder}"))
        self.addCleanup(self.hub.finish)
        self.addCleanup(self.faults.tell)  # first, so that the hub can end
        self.server.merge(f"{CLAIMS}/cluster2-resource-claim", {"spec": {
            "resourceAssignments": claim()["spec"]["resourceAssignments"]}})
        self.hub.start(environment=self.faults.environment)
        self.hub.wait_until("the webhook", lambda: self.hub.said("the webhook listens"))
        self.hub.wait_until("the quota", lambda: quota(self.server, HIGH, "on-demand", "cpu") == quantity("500"))
        self.hub.wait_until("it to be ready", lambda: self.hub.http("/readyz")[0] == 200)

    def figure(self, name):
        """The sum of a metric over its labels."""
        lines = re.findall(rf"(?m)^{name}(?:\{{[^}}]*\}})? (\S+)$", self.hub.http("/metrics")[1])
        self.assertTrue(lines, name)
        return sum(map(float, lines))

    def memory(self):
        """Bytes of the hub's own memory, without mapped files."""
        status = open(f"/proc/{self.hub.process.child.pid}/status", encoding="ascii").read()
        return int(re.search(r"RssAnon:\s+(\d+) kB", status).group(1)) << 10

    def check_follows(self, cpu):
        """The hub still does its work: it follows a change of its claim."""
        rows = claim()["spec"]["resourceAssignments"]
        rows[0]["resources"]["cpu"] = cpu
        self.server.merge(f"{CLAIMS}/cluster2-resource-claim", {"spec": {"resourceAssignments": rows}})
        self.hub.wait_until("the changed quota",
                            lambda: quota(self.server, HIGH, "on-demand", "cpu") == quantity(cpu))

    # -- the tests ----------------------------------------------------------------------------------------------

    def test_no_request_fails_while_certificates_are_exchanged(self):
        load = Load(self.port, self.tls, kept=2, fresh=2)
        self.addCleanup(load.end)

        def taken_up():
            return self.hub.process.text().count("serving certificate taken up")
        for number in range(1, 4):
            before, answers = taken_up(), load.answers
            self.secret.put(*self.plane.authority.server(f"rotation-{number}"))
            self.hub.wait_until("the certificate", lambda: taken_up() > before)
            wait_for("answers after it", lambda: load.answers > answers + 50)
        # A pair that does not belong together: the one before stays in use.
        self.secret.put(self.plane.authority.server("stray")[0], self.plane.authority.server("other")[1])
        self.hub.wait_until("the refusal", lambda: self.hub.said("the one before stays in use"))
        answers = load.answers
        wait_for("answers after it", lambda: load.answers > answers + 50)
        load.end()
        self.assertEqual(load.failures, [])
        self.assertGreater(load.answers, 200)
        serials = {serial for mode, serial in load.serials if mode == "fresh"}
        self.assertEqual(len(serials), 4, "each new pair was served")
        # Connections that were open live on with what they began with.
        self.assertEqual(len({serial for mode, serial in load.serials if mode == "kept"}), 1)

    def test_answers_go_on_while_the_disk_of_the_log_does_not_answer(self):
        client = Client(self.port, self.tls)
        self.addCleanup(client.close)
        self.faults.tell(syncs_held=True)
        self.server.create(FLAVORS, {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor",
                                     "metadata": {"name": "held"}, "spec": {}})
        self.addCleanup(self.server.delete, f"{FLAVORS}/held")
        time.sleep(1)  # the hub is now in its append
        seq = self.figure("state_seq")
        lost, begin = self.figure("fairlead_webhook_notes_lost_total"), time.monotonic()
        slowest = 0.0
        for number in range(1500):
            sent = time.monotonic()
            allowed, answer = client.ask(review(invalid(f"denied-{number}")))
            slowest = max(slowest, time.monotonic() - sent)
            self.assertFalse(allowed, answer)
        took = time.monotonic() - begin
        self.assertEqual(self.hub.http("/livez")[0], 200)
        self.assertLess(slowest, 5)  # far from the 5 s that an API server waits
        self.assertEqual(self.figure("state_seq"), seq, "the log was to stand still")
        self.assertEqual(self.hub.events(fact="AdmissionDecided"), [])
        lost = self.figure("fairlead_webhook_notes_lost_total") - lost
        kept = 1500 - lost
        self.assertGreaterEqual(kept, NOTES_AT_ONCE)
        self.assertLessEqual(kept, NOTES_AT_ONCE + NOTES_PER_SECOND * took + 1)
        print(f"1500 denials in {took:.1f} s, the slowest {slowest * 1e3:.1f} ms, {kept:.0f} noted", flush=True)

        self.faults.tell()
        self.hub.wait_until("the notes in the log", lambda: len(self.hub.events(fact="AdmissionDecided")) == kept)
        self.hub.wait_until("what came meanwhile", lambda: self.hub.events(fact="ObjectObserved", name="held"))
        self.check_follows("450")
        self.hub.stop()
        self.hub.check_log()

    def test_a_flood_of_ten_thousand_claims(self):
        client = Client(self.port, self.tls)
        self.addCleanup(client.close)

        def flood(count, name):
            for number in range(count):
                # Each second one is for a cluster that has a claim in force.
                value = claim() if number % 2 else claim(f"{name}-{number}")
                value["metadata"]["name"] = f"{name}-{number}"
                allowed, answer = client.ask(review(value, user=f"user-{number}"))
                self.assertEqual(allowed, number % 2 == 0, answer)
        flood(1000, "warm-up")
        before, begin = self.memory(), time.monotonic()
        seq = self.hub.stat()["last_seq"]
        flood(10_000, "flood")
        took = time.monotonic() - begin
        growth = self.memory() - before
        print(f"10,000 reviews in {took:.1f} s, memory grew by {growth / MEBIBYTE:.1f} MiB", flush=True)
        self.assertEqual(self.hub.http("/livez")[0], 200)
        self.assertEqual(self.hub.http("/readyz")[0], 200)
        self.assertLess(growth, 32 * MEBIBYTE)
        # What was refused is in the log as far as the bound allows, and counted beyond it.
        self.hub.wait_until("the last note", lambda: len(self.hub.events(fact="AdmissionDecided"))
                            + self.figure("fairlead_webhook_notes_lost_total") == 5500)
        self.assertLess(self.hub.stat()["last_seq"] - seq, NOTES_AT_ONCE + NOTES_PER_SECOND * (took + 5) + 50)
        self.assertGreaterEqual(self.figure("fairlead_webhook_seconds_count"), 11_000)
        self.check_follows("480")
        self.hub.stop()
        self.hub.check_log()


if __name__ == "__main__":
    unittest.main()
