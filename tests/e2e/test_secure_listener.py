"""--listen-secure: TLS 1.3, callers judged by the RBAC of a real API server; a plain port that serves probes alone."""

import http.client
import json
import ssl
import time
import unittest

from harness import deploy
from harness.certificates import MountedSecret
from harness.controlplane import ControlPlane
from harness.hub import AT_ONCE, Hub
from harness.process import free_port, wait_for
from harness.program import fairlead

NEEDS = ("controlplane", "fairlead")

RBAC = "/apis/rbac.authorization.k8s.io/v1"
READ = f"{RBAC}/clusterroles/fairlead-read"
ACCOUNTS = "/api/v1/namespaces/fairlead/serviceaccounts"


class SecureListenerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("hub")
        deploy.ensure_namespace(cls.server, "kueue-system")
        # With the rights of the component and no others.
        folder = deploy.composed(cls.plane.directory / "overlay", ["secure-listener"])
        deploy.apply(cls.server, folder)
        cls.found = deploy.objects(cls.server, deploy.kustomize(folder))
        cls.kubeconfig = deploy.account_kubeconfig(cls.server)
        cls.pair = cls.plane.authority.server("serving")
        cls.tls = ssl.create_default_context(cafile=cls.plane.authority.certificate)

    def setUp(self):
        self.secret = MountedSecret(self.plane.directory / f"secret-{self.id().rsplit('.', 1)[-1]}")
        self.port = free_port()

    def start_hub(self, **options):
        self.hub = Hub(self.plane, self.server, kubeconfig=self.kubeconfig, settings=(AT_ONCE,), arguments=(
            "--listen-secure", f"127.0.0.1:{self.port}", "--certificate", self.secret.folder), **options)
        self.addCleanup(self.hub.finish)
        self.hub.start()
        self.hub.wait_until("the listener", lambda: self.hub.said("listening with TLS"))

    def account(self, name, *roles):
        """The token of a new service account that is bound to these ClusterRoles."""
        self.server.create(ACCOUNTS, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})
        for role in roles:
            self.server.create(f"{RBAC}/clusterrolebindings", {
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                "metadata": {"name": f"{name}-{role}"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
                "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "fairlead"}]})
        return deploy.token(self.server, name)

    def connect(self, tls=None):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=20, context=tls or self.tls)

    def ask(self, path, token=None, header="Authorization"):
        """(status, headers, text) of one request."""
        connection = self.connect()
        try:
            connection.request("GET", path, headers={header: f"Bearer {token}"} if token else {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def status(self, path, token=None):
        return self.ask(path, token)[0]

    def token_file(self, name, token):
        path = self.plane.directory / f"token-{name}"
        path.write_text(token + "\n")
        return path

    def command(self, *words, token=None, ca=True, server=None, name=None):
        """`fairlead WORDS` that asks the running hub."""
        options = ["--server", server or f"https://127.0.0.1:{self.port}"]
        for option, value in (("--server-token-file", token), ("--server-name", name),
                              ("--server-ca", self.plane.authority.certificate if ca is True else ca)):
            options += [option, value] if value else []
        return fairlead(*words, *options)

    def check_refused(self, done, code, *words):
        self.assertEqual((done.returncode, done.stdout), (code, ""), done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)

    # -- the tests ----------------------------------------------------------------------------------------------

    def test_commands_ask_a_hub_over_tls(self):
        self.secret.put(*self.pair)
        viewer = self.token_file("asker", self.account("asker", "fairlead-viewer"))
        self.start_hub()
        wait_for("RBAC to have the binding", lambda: self.command("log", "stat", token=viewer).returncode == 0)
        stat = json.loads(self.command("log", "stat", "-o", "json", token=viewer).stdout)
        self.assertEqual(stat["chain"], "ok")
        cat = self.command("log", "cat", "--to", "seq:2", token=viewer)
        self.assertEqual(cat.stdout, fairlead("log", "cat", "--to", "seq:2", "--data", self.hub.data).stdout)
        self.assertIn("ConfigChanged", cat.stdout)
        for words in (("quota",), ("admissions",), ("diff", "seq:1", "seq:2")):
            asked = self.command("audit", *words, "-o", "json", token=viewer)
            self.assertEqual(asked.returncode, 0, asked.stderr)
            self.assertIsInstance(json.loads(asked.stdout), dict)
        # A name of the certificate that is not the address.
        by_name = self.command("log", "stat", token=viewer, name="localhost")
        self.assertEqual(by_name.returncode, 0, by_name.stderr)

    def test_a_command_that_is_refused_says_what_to_do(self):
        self.secret.put(*self.pair)
        scraper = self.token_file("other", self.account("other", "fairlead-metrics"))
        stranger = self.token_file("stranger", "no-such-token")
        self.start_hub()
        stat = ("log", "stat")
        self.check_refused(self.command(*stat), 3, "answered 401", "--server-token-file")
        self.check_refused(self.command(*stat, token=stranger), 3, "does not know", "--server-token-file")
        self.check_refused(self.command(*stat, token=scraper), 3, "answered 403", "/log/stat", "fairlead-viewer")
        self.check_refused(self.command("audit", "quota", token=scraper), 3, "answered 403", "/audit/quota")
        self.check_refused(self.command(*stat, token=scraper, ca=None), 3, "TLS handshake", "--server-ca")
        self.check_refused(self.command(*stat, token=scraper, name="elsewhere.example"), 3,
                           "not for elsewhere.example", "--server-name")
        # Bad usage: nothing is sent.
        self.check_refused(self.command(*stat, token="/nowhere"), 2, "--server-token-file", "/nowhere")
        self.check_refused(self.command(*stat, token=scraper, ca="/nowhere"), 2, "--server-ca", "/nowhere")
        self.check_refused(self.command(*stat, token=scraper, ca=scraper), 2, "--server-ca")
        self.check_refused(self.command(*stat, token=scraper, server=f"http://127.0.0.1:{self.hub.port}"), 2,
                           "not encrypted")
        self.check_refused(fairlead(*stat, "--data", self.hub.data, "--server-token-file", scraper), 2, "--server")

    def test_the_backup_exports_with_the_rights_of_its_account(self):
        self.secret.put(*self.pair)
        text = (deploy.DEPLOY / "backup/export.yaml").read_text()
        self.server.kubectl("apply", "--server-side", "-f", "-", stdin=text)
        self.addCleanup(self.server.kubectl, "delete", "--wait=false", "-f", "-", stdin=text)
        [job] = [item for item in deploy.objects(self.server, text) if item["kind"] == "CronJob"]
        pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
        self.start_hub()
        folder = self.plane.directory / "backup"
        folder.mkdir()
        token = self.token_file("backup", deploy.token(self.server, pod["serviceAccountName"]))
        places = {"/var/lib/fairlead-backup": folder, "/etc/fairlead-serving/ca.crt": self.plane.authority.certificate,
                  "https://fairlead.fairlead.svc:8443": f"https://127.0.0.1:{self.port}",
                  "/var/run/secrets/kubernetes.io/serviceaccount/token": token}
        words = pod["containers"][0]["args"]
        for place, here in places.items():
            self.assertIn(place, " ".join(words))
            words = [word.replace(place, str(here)) for word in words]

        def exported():
            done = fairlead(*words)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done
        wait_for("RBAC to have the binding", exported)
        bundle = folder / "fairlead.bundle"
        # The same bytes as where the log is, and a history that verifies.
        last = json.loads(fairlead("log", "stat", "--bundle", bundle, "-o", "json").stdout)["last_seq"]
        here = fairlead("log", "export", folder / "here", "--data", self.hub.data, "--to", f"seq:{last}")
        self.assertEqual(here.returncode, 0, here.stderr)
        self.assertEqual(bundle.read_bytes(), (folder / "here").read_bytes())
        imported = fairlead("log", "import", bundle, "--data", folder / "data")
        self.assertEqual(imported.returncode, 0, imported.stderr)
        verified = fairlead("replay", "--verify", "--data", folder / "data")
        self.assertEqual(verified.returncode, 0, verified.stdout + verified.stderr)
        # The next one replaces it, and nothing is left beside it.
        exported()
        self.assertEqual(sorted(path.name for path in folder.iterdir()), ["data", "fairlead.bundle", "here"])
        # Nothing but the export is allowed.
        token = token.read_text().strip()
        for path in ("/log/cat", "/log/stat", "/audit/quota", "/metrics"):
            self.assertEqual(self.status(path, token), 403)

    def test_callers_get_what_rbac_allows(self):
        self.secret.put(*self.pair)
        unbound = self.account("unbound")
        scraper = self.account("scraper", "fairlead-metrics")
        viewer = self.account("viewer", "fairlead-viewer")
        self.start_hub()
        for path in ("/livez", "/healthz"):
            self.assertEqual(self.status(path), 200)
        # The files of the page hold no data, and ask for a token.
        for path in ("/ui/", "/ui/index.html", "/ui/main.js"):
            self.assertEqual(self.status(path), 200)
        for path in ("/metrics", "/audit/queues", "/log/stat", "/ui/api/log", "/ui/api/live", "/ui/api/", "/ui",
                     "/nothing"):
            with self.subTest(path=path):
                status, headers, text = self.ask(path)
                self.assertEqual((status, headers["WWW-Authenticate"]), (401, "Bearer"))
                self.assertEqual(text.count("\n"), 1)
                self.assertEqual(self.status(path, "no-such-token"), 401)
                self.assertEqual(self.status(path, unbound), 403)
        wait_for("RBAC to have the bindings", lambda: self.status("/metrics", scraper) == 200
                 and self.status("/log/stat", viewer) == 200, timeout=30)
        text = self.ask("/metrics", scraper)[2]
        self.assertIn("fairlead_build_info", text)
        self.assertRegex(text, r"(?m)^fairlead_serving_certificate_expire_time_seconds \d{10}$")
        for path in ("/log/stat", "/audit/quota", "/ui/api/log", "/ui/api/live"):
            status, _, said = self.ask(path, scraper)
            self.assertEqual((status, said), (
                403, f"RBAC of the hub does not allow this account to get the nonResourceURL {path}\n"))
        self.assertEqual(self.status("/metrics", viewer), 403)
        for path in ("/ui/api/log", "/ui/api/overview", "/audit/quota"):
            self.assertEqual(self.status(path, viewer), 200)
            # The header of those whose Authorization a proxy takes for itself.
            self.assertEqual(self.ask(path, viewer, "Fairlead-Authorization")[0], 200)
            self.assertEqual(self.ask(path, unbound, "Fairlead-Authorization")[0], 403)
        said = self.hub.process.text()
        for token in (unbound, scraper, viewer):
            self.assertNotIn(token, said)
        self.hub.stop()

    def test_a_token_that_is_revoked_is_refused_within_a_minute(self):
        self.secret.put(*self.pair)
        token = self.account("leaver", "fairlead-metrics", "fairlead-viewer")
        self.start_hub()
        paths = ("/metrics", "/ui/api/log")
        wait_for("the token to be allowed", lambda: {self.status(path, token) for path in paths} == {200}, timeout=30)
        stream = self.connect()
        self.addCleanup(stream.close)
        stream.request("GET", "/ui/api/live", headers={"Authorization": f"Bearer {token}"})
        self.server.delete(f"{ACCOUNTS}/leaver")
        gone = time.monotonic()
        # A stream that is open ends long before, and no other one begins.
        self.assertTrue(stream.getresponse().read().endswith(b"event: end\ndata: ask again\n\n"))
        self.assertLess(time.monotonic() - gone, 20)
        for path in (*paths, "/ui/api/live"):
            while self.status(path, token) == 200:
                self.assertLess(time.monotonic() - gone, 60)
                time.sleep(0.5)
            self.assertEqual(self.status(path, token), 401)

    def test_nothing_older_than_tls_1_3_is_spoken(self):
        self.secret.put(*self.pair)
        self.start_hub()
        old = ssl.create_default_context(cafile=self.plane.authority.certificate)
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        connection = self.connect(old)
        with self.assertRaises(ssl.SSLError):
            connection.request("GET", "/livez")
        plain = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        self.addCleanup(plain.close)
        with self.assertRaises((http.client.HTTPException, OSError)):
            plain.request("GET", "/livez")
            plain.getresponse()
        self.assertEqual(self.status("/livez"), 200)

    def test_a_new_certificate_is_taken_up_and_open_connections_live_on(self):
        self.start_hub()
        self.assertTrue(self.hub.said("there is no serving certificate", "tls.crt"))
        with self.assertRaises(OSError):
            self.status("/livez")
        self.assertEqual(self.hub.http("/livez")[0], 200)

        self.secret.put(*self.pair)
        self.hub.wait_until("the certificate", lambda: self.hub.said("serving certificate taken up"))
        kept = self.connect()
        self.addCleanup(kept.close)
        kept.request("GET", "/livez")
        kept.getresponse().read()
        first = kept.sock.getpeercert()["serialNumber"]

        self.secret.put(*self.plane.authority.server("serving-next"))

        def another():
            connection = self.connect()
            try:
                connection.connect()
                return connection.sock.getpeercert()["serialNumber"] != first
            finally:
                connection.close()
        self.hub.wait_until("the next certificate", another)
        open_one = kept.sock
        kept.request("GET", "/livez")
        self.assertEqual(kept.getresponse().read(), b"ok\n")
        self.assertIs(kept.sock, open_one)

    def test_an_api_server_that_does_not_answer_is_503(self):
        self.secret.put(*self.pair)
        self.start_hub()
        token = self.account("late", "fairlead-metrics")
        self.server.kill()
        try:
            self.assertEqual(self.status("/metrics", token), 503)
            self.assertEqual(self.status("/metrics"), 401)
            self.assertEqual(self.status("/livez"), 200)
        finally:
            self.server.start()
        self.hub.wait_until("the token to be allowed", lambda: self.status("/metrics", token) == 200)

    def test_a_right_that_is_missing_is_named(self):
        rules = self.server.get(READ)["rules"]
        self.addCleanup(self.set_rules, rules)
        self.secret.put(*self.pair)
        self.start_hub()
        for resource in ("tokenreviews", "subjectaccessreviews"):
            with self.subTest(resource=resource):
                self.set_rules([rule for rule in rules if resource not in rule["resources"]])
                token = self.account(f"asks-{resource}", "fairlead-metrics")
                self.hub.wait_until("a refusal", lambda asked=token: self.status("/metrics", asked) == 503)
                self.assertTrue(self.hub.said("callers cannot be reviewed", f'cannot create resource \\"{resource}'),
                                self.hub.process.text())
                self.set_rules(rules)
                self.hub.wait_until("the right", lambda asked=token: self.status("/metrics", asked) == 200)

    def set_rules(self, rules):
        self.server.apply(READ, {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                                 "metadata": {"name": "fairlead-read"}, "rules": rules}, manager="kubectl", force=True)

    def test_a_plain_port_that_others_reach_serves_probes_alone(self):
        self.secret.put(*self.pair)
        self.start_hub(listen="")
        self.assertEqual(self.hub.http("/livez")[0], 200)
        self.assertIn(self.hub.http("/readyz")[0], (200, 503))
        for path in ("/metrics", "/audit/queues", "/log/stat", "/ui/", "/ui/api/log"):
            status, text = self.hub.http(path)
            self.assertEqual(status, 403)
            self.assertIn("--listen-secure", text)

    def test_the_pod_has_the_listener_and_its_certificate(self):
        [container] = deploy.template(self.found)["containers"]
        self.assertIn("--listen-secure=:8443", container["args"])
        [mount] = [mount for mount in container["volumeMounts"] if mount["name"] == "serving"]
        self.assertIn(f"--certificate={mount['mountPath']}", container["args"])
        [volume] = [volume for volume in deploy.template(self.found)["volumes"] if volume["name"] == "serving"]
        self.assertTrue(volume["secret"]["optional"])
        own = {subject["name"] for item in self.found if item["kind"] == "ClusterRoleBinding"
               and item["roleRef"]["name"] in ("fairlead-metrics", "fairlead-viewer") for subject in item["subjects"]}
        self.assertEqual(own, set())


if __name__ == "__main__":
    unittest.main()
