"""What `fairlead hub` says when what it is given is wrong: a person must know what to change."""

import pathlib
import tempfile
import unittest

from harness.controlplane import ControlPlane
from harness.fleet import CLAIMS, CRDS, add_nodes, claim, prepare_hub, quantity, quota
from harness.hub import Hub
from harness.process import free_port, wait_for
from harness.program import fairlead

NEEDS = ("controlplane", "fairlead")

BAD_INPUT, OPERATING_FAILURE = 2, 3
KUBECONFIG = """apiVersion: v1
kind: Config
current-context: c
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: t}}]
"""


class CommandLine(unittest.TestCase):
    """Nothing is running here: each ends by itself, quickly, with exit code 2 and one clear reason."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.kubeconfig = self.file("kubeconfig", KUBECONFIG)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def refused(self, *arguments, says=()):
        done = fairlead(*arguments, timeout=20)
        self.assertEqual(done.returncode, BAD_INPUT, done.stdout + done.stderr)
        self.assertEqual(done.stdout, "")
        for words in says:
            self.assertIn(words, done.stderr)
        self.assertNotIn("terminate called", done.stderr)

    def hub(self, *arguments, says=(), kubeconfig=None):
        self.refused("hub", "--kubeconfig", kubeconfig or self.kubeconfig, "--data", self.folder / "data",
                     "--listen", f"127.0.0.1:{free_port()}", *arguments, says=says)

    def test_an_unknown_flag(self):
        self.refused("hub", "--kubeconfg", "x", says=["--kubeconfg"])
        self.refused("hub", "--data", says=["--data"])

    def test_an_unknown_configuration_key_names_file_line_and_key(self):
        config = self.file("config.yaml", "claims: {create: true}\ndebounces: {}\n")
        self.hub("--config", config, says=[f"{config}:2: debounces: unknown key"])

    def test_a_bad_set(self):
        self.hub("--set", "debounce.growWindow", says=["expected PATH=VALUE"])

    def test_a_kubeconfig_that_is_not_there_or_is_no_kubeconfig(self):
        self.hub(kubeconfig=self.folder / "nothing", says=["nothing"])
        self.hub(kubeconfig=self.file("broken", "clusters: [\n"), says=["broken"])
        self.hub(kubeconfig=self.file("empty", ""), says=["empty"])

    def test_a_kubeconfig_without_a_server(self):
        text = KUBECONFIG.replace('server: "https://127.0.0.1:1"', "insecure-skip-tls-verify: true")
        self.hub(kubeconfig=self.file("serverless", text), says=["serverless", "server"])

    def test_a_context_that_the_kubeconfig_does_not_have(self):
        self.hub("--context", "elsewhere", says=["elsewhere"])


class Server(unittest.TestCase):
    """A server that answers, but not as hoped."""

    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())

    def server(self, name, crds=True):
        server = self.plane.add_server(name)
        if crds:
            server.install_crds(only=CRDS)
            prepare_hub(server)
        return server

    def check_says(self, hub, *words):
        """It ends with an operating failure or keeps trying, and either way says why."""
        def reported():
            assert hub.said(*words), hub.process.tail()
            return True

        wait_for(f"diagnostics with {words}", reported, timeout=30)
        if not hub.process.running():
            self.assertEqual(hub.process.child.returncode, OPERATING_FAILURE)
        hub.kill()

    def test_refused_credentials_are_said(self):
        server = self.server("refused", crds=False)
        expired = Hub(self.plane, server, kubeconfig=server.kubeconfig("admin", "certificate", expired=True)).start()
        self.assertEqual(expired.process.wait(30), BAD_INPUT)
        self.assertTrue(expired.said("client-certificate", "expired"), expired.process.tail())
        anonymous = server.kubeconfig("admin", "none")
        self.check_says(Hub(self.plane, server, kubeconfig=anonymous).start(), "403")

    def test_an_unreachable_server_is_named(self):
        server = self.server("unreachable", crds=False)
        nowhere = f"127.0.0.1:{free_port()}"
        config = server.kubeconfig("admin", server=f"https://{nowhere}")
        self.check_says(Hub(self.plane, server, kubeconfig=config).start(), nowhere)

    def test_a_server_with_a_certificate_of_another_authority_is_not_trusted(self):
        server = self.server("impostor", crds=False)
        config = server.kubeconfig("admin")
        other = self.plane.authority.__class__(self.plane.directory, "another-ca")
        config.write_text(config.read_text().replace(str(self.plane.authority.certificate), str(other.certificate)))
        self.check_says(Hub(self.plane, server, kubeconfig=config).start(), "certificate")

    def test_a_forbidden_verb_is_said_and_works_once_granted(self):
        server, member = self.server("forbidden"), self.plane.add_server("forbidden-member")
        add_nodes(member)
        read = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
                {"nonResourceURLs": ["*"], "verbs": ["get"]}]
        server.grant("limited", read)
        server.create(CLAIMS, claim())
        hub = Hub(self.plane, server, {"cluster2": member}, kubeconfig=server.kubeconfig("limited")).start()

        def reported():
            assert hub.said("forbidden"), hub.process.tail()
            return True

        hub.wait_until("diagnostics about the forbidden write", reported)
        server.grant("limited", [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, read[1]])
        hub.wait_until("the quota once it is allowed", timeout=120, condition=lambda: quota(
            server, "high-priority-queue", "on-demand", "cpu") == quantity("500"))
        hub.stop()
        hub.check_log()

    def test_a_crd_that_appears_later_is_waited_for(self):
        server, member = self.server("later", crds=False), self.plane.add_server("later-member")
        add_nodes(member)
        hub = Hub(self.plane, server, {"cluster2": member}).start()
        hub.wait_until("the hub to be up without any CRD", lambda: hub.stat()["last_seq"] > 0)
        server.install_crds(only=CRDS)
        prepare_hub(server)
        server.create(CLAIMS, claim())
        hub.wait_until("the quota", timeout=120, condition=lambda: quota(
            server, "high-priority-queue", "on-demand", "cpu") == quantity("500"))
        hub.stop()


if __name__ == "__main__":
    unittest.main()
