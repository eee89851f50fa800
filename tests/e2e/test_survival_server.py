"""`fairlead hub` while API servers refuse, fall silent, forbid, forget what was done, and lose a kind."""

import random
import time
import unittest

from harness.fleet import CLAIMS, QUEUES, claim, cluster_queue
from harness.process import stays, wait_for
from harness.interceptor import SWALLOW, Answer, Interceptor
from survival import EXHAUSTIVE, LESS, LONG_QUIET, WHOLE, SurvivalTest
from test_hub import CLAIM, HIGH, LOW

NEEDS = ("controlplane", "fairlead")

CRDS_PATH = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
QUEUE_CRD = "clusterqueues.kueue.x-k8s.io"
# A watch is broken after 120 s of silence.
SILENCE = 150 if EXHAUSTIVE else 5


class ServerTest(SurvivalTest):
    READ = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
            {"nonResourceURLs": ["*"], "verbs": ["get"]}]
    CLAIMS_ONLY = {"apiGroups": ["galaxy.kubestellar.io"], "resources": ["*"], "verbs": ["*"]}

    def setUp(self):
        super().setUp()
        self.between = self.enterContext(Interceptor(self.server))

    def through(self, **options):
        return self.undisturbed_first(kubeconfig=self.between.kubeconfig(), **options)

    def test_retry_after_of_429_and_503_is_waited_for(self):
        hub = self.through()
        answers = [Answer(429, "TooManyRequests", retry_after=2), Answer(503, "ServiceUnavailable", retry_after=3)]
        refused, came = [], []

        def refuse(request):
            if not request.writes():
                return None
            came.append((request.path, time.monotonic()))
            if len(refused) == len(answers):
                return None
            refused.append(came[-1])
            return answers[len(refused) - 1]

        self.between.fault = refuse
        self.show(LESS)
        self.wait_for_convergence(hub)
        for (path, moment), wait in zip(refused, (2, 3)):
            again = [later - moment for place, later in came if place == path and later > moment]
            self.assertTrue(again and again[0] >= wait, f"{path} again after {again}, not after {wait} s")
        self.assertEqual(len(refused), 2)
        self.check_survived(hub)

    def test_a_server_that_refuses_everything_while_the_hub_starts_is_waited_for(self):
        hub = self.through()
        hub.stop()
        self.show(LESS)
        self.between.fault = lambda request: Answer(503, "ServiceUnavailable", retry_after=1)
        before = len(self.between.exchanges)
        hub.start()
        stays("the hub runs", hub.check_running, seconds=4)
        code, text = hub.http("/readyz")
        self.assertEqual(code, 503)
        self.assertRegex(text, r"^not planning yet: no list so far of .*\bClusterQueue\b.*\n$")
        asked = len(self.between.exchanges) - before
        self.between.fault = lambda request: None
        self.check_survived(hub, timeout=120)
        # A dozen kinds, each a few times: no storm.
        self.assertGreater(asked, 0)
        self.assertLess(asked, 150)

    def test_writes_that_were_carried_out_without_an_answer_are_not_done_twice(self):
        hub = self.through()
        self.show(LESS)
        self.wait_for_convergence(hub)
        before, swallowed = self.generations(), []

        def swallow(request):
            # An Event is sent once, with no intent in the log.
            if not request.writes() or request.path.endswith("/events") or len(swallowed) == 2:
                return None
            swallowed.append(request)
            return SWALLOW

        self.between.fault = swallow
        self.show(WHOLE)
        self.check_survived(hub, quiet=LONG_QUIET)
        self.assertEqual(len(swallowed), 2)
        self.assertEqual(len(hub.events(fact="PatchUnknown")), 2)
        # Doing it again is allowed, changing anything by it is not.
        self.assertEqual([after - one for after, one in zip(self.generations(), before)], [0, 1])

    def test_connections_that_break_again_and_again_end_well(self):
        hub = self.through()
        dice = random.Random(3)  # no every third: the hub's own rhythm could keep step with it
        self.between.fault = lambda request: SWALLOW if dice.random() < 1 / 3 else None
        for picture in (LESS, WHOLE, LESS):
            self.show(picture)
            time.sleep(1)
        self.wait_for_convergence(hub, timeout=120)
        self.between.fault = lambda request: None
        self.check_survived(hub)

    def test_a_silent_server_is_looked_at_again(self):
        hub = self.undisturbed_first()
        for server in (self.member, self.server):
            server.pause()
        stays("the hub runs", hub.check_running, seconds=SILENCE)
        for server in (self.server, self.member):
            server.resume()
        self.show(LESS)
        self.check_survived(hub, timeout=120)

    def propagated(self):
        conditions = (self.server.get(CLAIM) or {}).get("status", {}).get("conditions", [])
        return {c["type"]: (c["status"], c["message"]) for c in conditions}.get("Propagated", ("", ""))

    def test_without_the_right_to_patch_queues_it_says_so_waits_and_goes_on_once_granted(self):
        self.undisturbed_first().stop()
        self.server.clear(CLAIMS)
        self.server.clear(QUEUES)
        self.make_queues()
        self.server.grant("limited", [*self.READ, self.CLAIMS_ONLY])
        hub = self.hub(kubeconfig=self.between.kubeconfig("limited")).start()
        self.server.create(CLAIMS, claim())

        def reported():
            status, message = self.propagated()
            assert status == "False" and "forbidden" in message, (status, message)
            return True

        hub.wait_until("the claim to say what is forbidden", reported)
        self.assertTrue(hub.said("write rejected", "code=403"), hub.process.tail())
        before = len(self.between.exchanges)
        stays("the hub runs", hub.check_running, seconds=8)
        tries = [one for one in self.between.exchanges[before:]
                 if one.request.path.startswith(QUEUES) and one.request.writes()]
        # Two queues, after 5 s, 10 s and so on.
        self.assertLessEqual(len(tries), 4, "a hot loop")
        self.server.grant("limited", [*self.READ, self.CLAIMS_ONLY, {
            "apiGroups": ["kueue.x-k8s.io"], "resources": ["clusterqueues"], "verbs": ["patch"]}])
        self.check_survived(hub, timeout=120)

    def test_a_crd_that_is_removed_and_comes_back_is_served_again(self):
        hub = self.undisturbed_first()
        self.server.delete(f"{CRDS_PATH}/{QUEUE_CRD}")
        wait_for("the CRD to be gone", lambda: self.server.get(f"{CRDS_PATH}/{QUEUE_CRD}") is None, 60)
        self.show(LESS)
        hub.wait_until("the queues' end to be in the log",
                       lambda: hub.events(fact="ObjectGone", kind="ClusterQueue"), timeout=60)
        stays("the hub runs", hub.check_running, seconds=2)
        self.server.install_crds(only=(QUEUE_CRD,))
        self.make_queues()
        self.check_survived(hub, timeout=120)

    def make_queues(self):
        for name in (HIGH, LOW):
            self.server.create(QUEUES, cluster_queue(name))


if __name__ == "__main__":
    unittest.main()
