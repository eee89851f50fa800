"""`fairlead serve` for a hub that runs elsewhere: by its URL, and through the service proxy of a real API server."""

import functools
import http.server
import itertools
import json
import ssl
import threading
import unittest

from harness import deploy
from harness.controlplane import ControlPlane
from harness.handler import QuietHandler
from harness.page import Served
from harness.page_hub import PROXY, RBAC, SPACE, PageHub
from harness.process import wait_for
from harness.program import fairlead

NEEDS = ("controlplane", "fairlead")


class ServeHubTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.place = PageHub(cls.plane)
        cls.server, cls.hub = cls.place.server, cls.place.hub
        cls.addClassCleanup(cls.hub.finish)
        cls.place.start()

    def serve(self, *arguments):
        folder = self.plane.directory / f"serve-{self.id().rsplit('.', 1)[-1]}"
        folder.mkdir(exist_ok=True)
        served = Served(folder, *arguments)
        self.addCleanup(served.stop)
        return served

    def through_proxy(self, account):
        return self.serve("--kubeconfig", deploy.account_kubeconfig(self.server, account))

    def error(self, served, target="/ui/api/log"):
        """The one sentence of an answer that did not come."""
        status, _, text = served.request(target)
        self.assertEqual(status, 502, text)
        sentence = json.loads(text)["error"]
        self.assertNotIn("\n", sentence)
        return sentence

    def check_answers(self, served):
        """The same as those of the command that reads the hub's log; its newest event may come between the two."""
        self.assertEqual(served.request("/ui/")[0], 200)
        wait_for("the answer", lambda: served.request("/ui/api/log")[0] == 200, timeout=30)
        place = ("--data", self.hub.data)
        self.assertEqual(served.text("/audit/quota", as_of="seq:2"), fairlead(
            "audit", "quota", "--as-of", "seq:2", *place, "-o", "json").stdout)
        self.assertEqual(served.ask("/log/cat", to="seq:2")["text"],
                         fairlead("log", "cat", "--to", "seq:2", *place).stdout)
        self.assertIn("expected a seq", served.refusal("/audit/quota", as_of="noon"))
        self.assertGreater(served.ask("/ui/api/overview")["totals"]["events"], 0)

    def check_live(self, served, name):
        """An event of the hub is reported by the stream, and so is the end of the hub and its return."""
        versions = served.versions()
        first = list(itertools.islice(versions, 1))
        self.place.grow(name)
        self.assertNotIn(next(version for version in versions if version.isdigit()), first)
        self.hub.kill()
        try:
            self.assertEqual(next(version for version in versions if not version.isdigit()), "no answer")
            sentence = self.error(served)
        finally:
            self.place.start()
        last = next(version for version in versions if version.isdigit())
        self.assertLessEqual(int(last), served.ask("/ui/api/log")["last_seq"])
        return sentence

    # -- the tests ----------------------------------------------------------------------------------------------

    def test_a_hub_is_shown_by_its_url(self):
        self.place.account("viewer")
        self.place.bind("viewer", "fairlead-viewer")
        options = self.place.place_of("viewer")
        served = self.serve(*options)
        self.check_answers(served)
        # Commands that the page shows reach the same hub.
        self.assertEqual(served.ask("/ui/api/log")["place"], options)
        self.assertEqual(fairlead("log", "stat", *options).returncode, 0)
        self.assertIn("onnection refused", self.check_live(served, "by-url"))

    def test_a_hub_is_shown_through_the_api_server(self):
        self.place.account("person")
        self.place.bind("person", "fairlead-page", "Role")
        served = self.through_proxy("person")
        self.check_answers(served)
        self.assertIn("onnection refused", self.check_live(served, "through-proxy"))
        # A token for the hub that is no longer known: another one is requested.
        self.server.delete(f"{SPACE}/serviceaccounts/fairlead-viewer")
        self.assertIn("fairlead-viewer", wait_for("the refusal", lambda: self.refused(served), timeout=60))
        self.place.account("fairlead-viewer")
        wait_for("the answer", lambda: served.request("/ui/api/log")[0] == 200, timeout=60)

    def refused(self, served):
        status, _, text = served.request("/ui/api/log")
        return status == 502 and text

    def test_a_caller_without_rights_is_refused_with_the_reason(self):
        self.place.account("stranger")
        options = self.place.place_of("stranger")
        self.assertIn("fairlead-viewer", self.error(self.serve(*options)))
        self.assertIn("--server-token-file", self.error(self.serve(*options[:2], *options[4:])))
        sentence = self.error(self.through_proxy("stranger"))
        self.assertIn("cannot create resource \"serviceaccounts/token\"", sentence)
        # Looking needs both rights.
        self.place.account("half")
        self.server.create(f"{RBAC}/namespaces/fairlead/roles", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "half"},
            "rules": [{"apiGroups": [""], "resources": ["serviceaccounts/token"], "verbs": ["create"]}]})
        self.place.bind("half", "half", "Role")
        self.assertIn("cannot get resource \"services/proxy\"", wait_for("RBAC", functools.partial(
            lambda served: "services/proxy" in (said := self.error(served)) and said, self.through_proxy("half"))))
        # The proxy asks the hub without a token of the caller's: none of its rights helps there.
        status, answer = self.server.raw("GET", f"{PROXY}/ui/api/log")
        self.assertEqual((status, answer), (401, b"a bearer token is needed\n"))

    def test_the_proxy_gives_the_hub_a_token_that_may_only_look(self):
        seen = []

        class Handler(QuietHandler):
            def do_GET(self):
                seen.append(dict(self.headers))
                log = {"kind": "Log", "first_seq": 1, "last_seq": 0, "last_time": None, "chain": "", "damage": None,
                       "place": [], "program_version": "0", "link": None}
                self.reply(200, json.dumps(log).encode(), {})

        listener = http.server.ThreadingHTTPServer((self.place.address, 0), Handler)
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*self.plane.authority.server("listener"))
        listener.socket = tls.wrap_socket(listener.socket, server_side=True)
        threading.Thread(target=listener.serve_forever, daemon=True).start()
        self.addCleanup(listener.server_close)
        self.addCleanup(listener.shutdown)
        self.addCleanup(self.place.point_at, self.place.port)
        self.place.point_at(listener.server_address[1])
        served = self.serve("--kubeconfig", self.server.kubeconfig("admin"))
        wait_for("the answer", lambda: served.request("/ui/api/log")[0] == 200 and seen, timeout=60)
        headers = seen[-1]
        self.assertNotIn("Authorization", headers)
        token = headers["Fairlead-Authorization"].removeprefix("Bearer ")
        review = self.server.create("/apis/authentication.k8s.io/v1/tokenreviews", {
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}})
        self.assertEqual(review["status"]["user"]["username"], "system:serviceaccount:fairlead:fairlead-viewer")

    def test_nothing_but_the_hub_is_reached(self):
        served = self.serve("--kubeconfig", self.server.kubeconfig("admin"))
        for target in ("/ui/api/../../../../../../../../api/v1/secrets", "/audit/%2e%2e/%2e%2e/x", "/log/..%2f..%2fx",
                       "/audit/x;y", "/log/Stat"):
            self.assertEqual(served.request(target)[0], 404, target)
        for target in ("/api/v1/secrets", "/metrics"):
            self.assertEqual(served.request(target)[0], 404, target)
        self.assertEqual(served.request("/ui/api/log", Host="evil.example")[0], 421)

    def test_bad_options_are_refused(self):
        kubeconfig = self.server.kubeconfig("admin")
        for words in (("--kubeconfig", "/nowhere"), ("--kubeconfig", kubeconfig, "--context", "missing"),
                      ("--kubeconfig", kubeconfig, "--namespace", "a/../b"), ("--namespace", "x"),
                      ("--kubeconfig", kubeconfig, "--data", "x"), ("--server", "ftp://x"), ("--server-ca", "x"),
                      ("--server", "https://127.0.0.1:1", "--server-token-file", "/nowhere")):
            done = fairlead("serve", "--listen", "127.0.0.1:0", *words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), f"{words}: {done.stderr}")
            self.assertTrue(done.stderr)


if __name__ == "__main__":
    unittest.main()
