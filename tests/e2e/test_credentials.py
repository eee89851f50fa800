"""Who the hub is to a real API server: plugins, files that change, certificates that expire, proxies."""

import json
import re
import time
import unittest

from harness.canary import CANARY
from harness.fleet import CLAIMS, add_node, claim, remove_node
from harness.process import stays, wait_for
from harness.proxy import Proxy, Socks5Proxy
from test_hub import HubTest

NEEDS = ("controlplane", "fairlead")

PLUGIN = """#!/usr/bin/env python3
import datetime, json, os, pathlib, sys
folder = pathlib.Path(os.environ["PLUGIN_FOLDER"])
with open(folder / "runs", "a") as runs:
    runs.write(json.dumps({"arguments": sys.argv[1:], "info": json.loads(os.environ["KUBERNETES_EXEC_INFO"])}) + "\\n")
status = json.loads((folder / "status").read_text())
life = status.pop("life", None)
if life:
    end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=life)
    status["expirationTimestamp"] = end.strftime("%Y-%m-%dT%H:%M:%SZ")
print(os.environ["PLUGIN_SECRET"], file=sys.stderr)
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}))
sys.exit(3 if (folder / "fail").exists() else 0)
"""


class CredentialTest(HubTest):
    serial = 0

    def setUp(self):
        super().setUp()
        CredentialTest.serial += 1
        self.folder = self.plane.directory / f"credentials-{CredentialTest.serial}"
        self.folder.mkdir()

    def file(self, name, text):
        """Replaced at once, as a kubelet does it."""
        path = self.folder / name
        fresh = self.folder / f"{name}.new"
        fresh.write_text(text)
        fresh.rename(path)
        return path

    def hub_as(self, user, cluster=None, **options):
        config = self.file("kubeconfig", self.server.kubeconfig_of(user, cluster))
        return self.hub(kubeconfig=config, **options).start()

    def account(self, number):
        return self.server.account(f"fairlead-{CredentialTest.serial}-{number}")

    def metric(self, hub, name):
        found = re.search(rf"^{re.escape(name)} (\S+)$", hub.http("/metrics")[1], re.MULTILINE)
        return found and float(found[1])


class PluginTest(CredentialTest):
    def plugin(self, **status):
        self.file("status", json.dumps(status))
        command = self.file("plugin", PLUGIN)
        command.chmod(0o700)
        return {"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin",
                         "args": ["get", "$(id)"], "interactiveMode": "Never", "provideClusterInfo": True,
                         "installHint": "ask the platform team",
                         "env": [{"name": "PLUGIN_FOLDER", "value": str(self.folder)},
                                 {"name": "PLUGIN_SECRET", "value": CANARY}]}}

    def runs(self):
        path = self.folder / "runs"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def test_a_plugin_gives_a_token_and_gets_the_server(self):
        hub = self.hub_as(self.plugin(token=self.plane.tokens["fairlead"]))
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        run = self.runs()[0]
        self.assertEqual(run["arguments"], ["get", "$(id)"])
        self.assertEqual(run["info"]["spec"]["cluster"]["server"], self.server.url)
        self.assertFalse(run["info"]["spec"]["interactive"])
        self.assertEqual(len(self.runs()), 1)
        calls = 'rest_client_exec_plugin_call_total{cluster="hub",call_status="no_error"}'
        self.assertEqual(self.metric(hub, calls), 1)
        self.assertEqual(self.metric(hub, 'fairlead_credentials_usable{cluster="hub"}'), 1)

    def test_a_plugin_gives_a_client_certificate(self):
        certificate, key = self.plane.authority.client("fairlead", "system:masters", "of-the-plugin")
        hub = self.hub_as(self.plugin(clientCertificateData=certificate.read_text(), clientKeyData=key.read_text()))
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")

    def test_credentials_are_renewed_before_they_expire(self):
        hub = self.hub_as(self.plugin(token=self.plane.tokens["fairlead"], life=6))
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        for round_ in range(4):
            remove_node(self.member, f"on-demand-{round_}")
            self.wait_for_cpu(hub, f"{400 - 100 * round_}", "500")
            time.sleep(3)
        self.assertGreaterEqual(len(self.runs()), 2)
        codes = re.findall(r'rest_client_requests_total\{.*code="(\S+)"\}', hub.http("/metrics")[1])
        self.assertIn("200", codes)
        self.assertNotIn("401", codes)

    def test_a_refused_token_is_renewed_at_once(self):
        name, token = self.account(1)
        hub = self.hub_as(self.plugin(token=token))
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        self.file("status", json.dumps({"token": self.account(2)[1]}))
        self.server.remove_account(name)
        time.sleep(12)  # a server remembers for ten seconds that a token was good
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500")
        self.assertEqual(len(self.runs()), 2)

    def test_a_plugin_that_fails_is_said_and_tried_again_later(self):
        self.file("fail", "")
        hub = self.hub_as(self.plugin(token=self.plane.tokens["fairlead"]))
        self.server.create(CLAIMS, claim())
        hub.wait_until("the failure to be said", lambda: hub.said("ended with 3", "ask the platform team"))
        stays("few runs", lambda: len(self.runs()) <= 1, seconds=4)
        (self.folder / "fail").unlink()
        self.wait_for_cpu(hub, "500", "500", timeout=60)
        self.assertEqual(self.metric(hub, 'fairlead_credentials_usable{cluster="hub"}'), 1)


class FileTest(CredentialTest):
    def test_a_token_file_that_rotates_is_read_again(self):
        name, token = self.account(1)
        self.file("token", token)
        hub = self.hub_as({"tokenFile": "token"})
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        self.file("token", self.account(2)[1])
        self.server.remove_account(name)
        time.sleep(12)
        remove_node(self.member, "on-demand-0")
        self.wait_for_cpu(hub, "400", "500")

    def test_a_certificate_that_expires_while_running_is_named_and_its_successor_taken_up(self):
        authority = self.plane.authority
        life = 14
        certificate, key = authority.client_for(life, "fairlead", "system:masters", "short-lived")
        hub = self.hub_as({"client-certificate": str(certificate), "client-key": str(key)})
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500", timeout=life - 2)
        expires = 'fairlead_credentials_expire_time_seconds{cluster="hub"}'
        self.assertAlmostEqual(self.metric(hub, expires), time.time() + life / 2, delta=life)
        time.sleep(life)
        remove_node(self.member, "on-demand-0")
        hub.wait_until("the file and its end to be said", lambda: hub.said(str(certificate), "expired at"))
        stays("usable=0", lambda: self.metric(hub, 'fairlead_credentials_usable{cluster="hub"}') == 0, seconds=3)
        said = hub.process.text().count("expired at")
        self.assertLess(said, 30, "said again and again")
        authority.client_for(600, "fairlead", "system:masters", "short-lived")
        self.wait_for_cpu(hub, "400", "500", timeout=60)
        self.assertEqual(self.metric(hub, 'fairlead_credentials_usable{cluster="hub"}'), 1)
        add_node(self.member, "on-demand-0", "on-demand")
        self.wait_for_cpu(hub, "500", "500", timeout=60)

    def test_another_name_than_the_address_is_asked_for_and_verified(self):
        hub = self.hub_as({"token": self.plane.tokens["fairlead"]}, {"tls-server-name": "localhost"})
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        wrong = self.hub_as({"token": self.plane.tokens["fairlead"]}, {"tls-server-name": "elsewhere"})
        wrong.wait_until("the name to be refused", lambda: wrong.said("the certificate is not for elsewhere"))

    def test_several_kubeconfigs_are_merged(self):
        whole = json.loads(self.server.kubeconfig_of({"token": self.plane.tokens["fairlead"]}))
        user = {"users": whole.pop("users")}
        paths = [self.file("users", json.dumps(user)), self.file("rest", json.dumps(whole))]
        hub = self.hub()
        at = hub.process.command.index("--kubeconfig")
        del hub.process.command[at:at + 2]
        hub.start({"KUBECONFIG": ":".join(map(str, paths))})
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")


class ProxyTest(CredentialTest):
    def through(self, proxy):
        self.addCleanup(proxy.close)
        hub = self.hub_as({"token": self.plane.tokens["fairlead"]}, {"proxy-url": proxy.url})
        self.server.create(CLAIMS, claim())
        self.wait_for_cpu(hub, "500", "500")
        self.assertEqual(set(proxy.tunnels), {f"127.0.0.1:{self.server.port}"})
        self.assertEqual(proxy.refused, 0)

    def test_an_http_proxy(self):
        self.through(Proxy(CANARY))

    def test_an_https_proxy(self):
        self.through(Proxy(CANARY, self.plane.server_certificate))

    def test_a_socks5_proxy(self):
        self.through(Socks5Proxy(CANARY))

    def test_a_socks5_proxy_that_does_not_know_us_is_named(self):
        proxy = Socks5Proxy(CANARY)
        self.addCleanup(proxy.close)
        proxy.expected = ("other", "nothing")
        hub = self.hub_as({"token": self.plane.tokens["fairlead"]}, {"proxy-url": proxy.url})
        hub.wait_until("the answer of the proxy", lambda: hub.said("asking proxy 127.0.0.1", "does not know us"))
        wait_for("another attempt", lambda: proxy.refused >= 2)

    def test_a_proxy_that_refuses_is_named(self):
        proxy = Proxy(CANARY)
        self.addCleanup(proxy.close)
        proxy.expected = "nothing"
        hub = self.hub_as({"token": self.plane.tokens["fairlead"]}, {"proxy-url": proxy.url})
        hub.wait_until("the answer of the proxy", lambda: hub.said("asking proxy 127.0.0.1", "407"))
        wait_for("another attempt", lambda: proxy.refused >= 2)


if __name__ == "__main__":
    unittest.main()
