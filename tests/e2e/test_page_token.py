"""The audit page of a real hub, in Chromium and Firefox: over TLS with a token, forwarded by `fairlead serve`, and
through `kubectl proxy`. The assertions on the page are in browser/token.test.mjs."""

import http.server
import pathlib
import re
import tempfile
import threading
import unittest

from harness import browser, deploy
from harness.controlplane import ControlPlane
from harness.handler import QuietHandler
from harness.page import Served
from harness.page_hub import PROXY, PageHub
from harness.process import Process, wait_for

NEEDS = ("controlplane", "fairlead", "browser")

# Of browser/token.test.mjs, what another engine could do otherwise: the dialog, and reading a stream.
IN_FIREFOX = ["the page asks for a token once, and says when it is not known",
              "direct: a hub is followed, its end is one sentence, and the page goes on when it is back"]


class PageTokenTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.place = PageHub(cls.plane)
        cls.addClassCleanup(cls.place.hub.finish)
        cls.place.start()
        for name, role in (("viewer", "fairlead-viewer"), ("scraper", "fairlead-metrics")):
            cls.place.account(name)
            cls.place.bind(name, role)
        cls.control = cls.start_control()

    @classmethod
    def start_control(cls):
        """The URL of a server that does with the hub what a test in the browser asks for."""
        place = cls.place
        grown = []

        class Handler(QuietHandler):
            def do_GET(self):
                if self.path == "/kill":
                    place.hub.kill()
                elif self.path == "/start":
                    place.start()
                else:
                    grown.append(self.path)
                    place.grow(f"grown-{len(grown)}")
                self.reply(200, b"done\n", {})

        # One thread for all of it: a hub ends with the thread that started it.
        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}"

    def kubectl_proxy(self, folder):
        proxy = Process("proxy", [self.plane.assets / "kubectl", "--kubeconfig", self.place.server.kubeconfig("admin"),
                                  "proxy", "--port=0"], folder / "proxy.txt").start()
        self.addCleanup(proxy.kill)
        base = wait_for("kubectl proxy", lambda: re.search(r"127\.0\.0\.1:\d+", proxy.text())).group()
        return f"http://{base}{PROXY}/ui/"

    def served(self, *arguments):
        served = Served(pathlib.Path(self.enterContext(tempfile.TemporaryDirectory())), *arguments)
        self.addCleanup(served.stop)
        return served.url

    def run_in(self, name, only=()):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        pages = {"direct": f"{self.place.url}/ui/", "forwarded": self.served(*self.place.place_of("viewer")),
                 "behind": self.served("--kubeconfig", self.place.server.kubeconfig("admin")),
                 "proxied": self.kubectl_proxy(folder), "control": self.control,
                 **{account: deploy.token(self.place.server, account) for account in ("viewer", "scraper")}}
        self.assertEqual(browser.run("token.test.mjs", name, folder, pages, only), len(only) or 6)

    def test_the_page_of_a_hub_in_chromium(self):
        self.run_in("chromium")

    def test_the_page_of_a_hub_in_firefox(self):
        self.run_in("firefox", IN_FIREFOX)


if __name__ == "__main__":
    unittest.main()
