"""Alerts that fire and do not, and a dashboard whose every query has an answer, of a hub that runs."""

import http.client
import json
import re
import shutil
import ssl
import unittest

from harness import deploy
from harness.controlplane import ROOT, ControlPlane
from harness.fleet import CLAIMS, CRDS, QUEUE_CRDS, add_nodes, claim, prepare_hub, quantity, quota, remove_node
from harness.hub import AT_ONCE, Hub
from harness.process import free_port, wait_for
from harness.prometheus import Prometheus, promtool

NEEDS = ("controlplane", "fairlead", "prometheus")

COMPONENT = deploy.DEPLOY / "components/monitoring"
CASES = json.loads((ROOT / "tests/e2e/monitoring/cases.json").read_text())
DASHBOARD = json.loads((COMPONENT / "fairlead.json").read_text())


class MonitoringTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("hub")
        cls.member = cls.plane.add_server("cluster2")
        cls.server.install_crds(only=(*CRDS, "logcommits.fairlead.io", "workloads.kueue.x-k8s.io"))
        cls.server.install_crds([deploy.operator_crds()])
        cls.member.install_crds(only=QUEUE_CRDS)
        found = deploy.objects(cls.server, deploy.kustomize(deploy.DEPLOY / "overlays/monitored"))
        [rule] = [item for item in found if item["kind"] == "PrometheusRule"]
        cls.rules = {"groups": rule["spec"]["groups"]}
        cls.alerts = {alert["alert"]: alert for group in cls.rules["groups"] for alert in group["rules"]}
        cls.found = found

    def test_each_alert_fires_in_its_case_and_not_in_the_other(self):
        # "NAME, what" is one more case of an alert.
        self.assertEqual({case.split(",")[0] for case in CASES}, set(self.alerts))
        folder = self.plane.directory / "rules"
        folder.mkdir()
        (folder / "rules.json").write_text(json.dumps(self.rules))
        tests = []
        for title, case in CASES.items():
            name = title.split(",")[0]
            annotations = {"runbook_url": self.alerts[name]["annotations"]["runbook_url"]}
            for kind in ("fires", "quiet"):
                tests.append({"interval": "1m", "name": f"{title} {kind}",
                              "input_series": [{"series": one["series"], "values": one["values"]}
                                               for one in case[kind]],
                              "alert_rule_test": [{"eval_time": case["at"], "alertname": name, "exp_alerts": [
                                  self.expected(name, case, annotations)] if kind == "fires" else []}]})
        (folder / "tests.json").write_text(json.dumps({"rule_files": ["rules.json"], "tests": tests}))
        code, said = promtool("test", "rules", folder / "tests.json")
        self.assertEqual(code, 0, said)

    def expected(self, name, case, annotations):
        """promtool compares the annotations, too: the summary with its values filled in."""
        # What is absent has no labels of its own.
        labels = {**({} if name == "FairleadDown" else {"job": "fairlead", "instance": "a"}), **case["labels"],
                  "severity": self.alerts[name]["labels"]["severity"]}
        labels = {label: text for label, text in labels.items() if text is not None}  # summed up without it
        summary = re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda match: labels[match.group(1)],
                         self.alerts[name]["annotations"]["summary"])
        return {"exp_labels": labels, "exp_annotations": {
            **annotations, "summary": summary.replace("{{ $value }}", case.get("value", ""))}}

    def test_each_alert_has_its_section(self):
        headings = re.findall(r"^### (\w+)$", (ROOT / "docs/signals.md").read_text(), re.MULTILINE)
        for name, alert in self.alerts.items():
            with self.subTest(alert=name):
                self.assertIn(name, headings)
                self.assertEqual(alert["annotations"]["runbook_url"], f"docs/signals.md#{name.lower()}")
                self.assertIn(alert["labels"]["severity"], ("warning", "critical"))
                self.assertTrue(alert["annotations"]["summary"])

    def start_hub(self):
        """A hub with a webhook, whose certificate is in a folder as the component webhook-cert-manager mounts it."""
        folder = self.plane.directory / "webhook"
        folder.mkdir()
        for path, name in zip(self.plane.authority.server("webhook"), ("tls.crt", "tls.key")):
            shutil.copy(path, folder / name)
        self.webhook = free_port()
        hub = Hub(self.plane, self.server, {"cluster2": self.member}, settings=(
            AT_ONCE, "leaderElection.lease=default/fairlead", "log.replication.create=true",
            "log.replication.kubernetes.namespace=default", "log.replication.window=64"), arguments=(
            f"--webhook-listen=127.0.0.1:{self.webhook}", f"--webhook-certificate={folder}")).start()
        self.addCleanup(hub.finish)
        return hub

    def ask_webhook(self):
        """Sends the webhook a review of a claim that assigns more than it has, as an API server does: refused."""
        wrong = claim("asked")
        wrong["spec"]["nominalResources"] = {"cpu": "1"}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": "1", "operation": "CREATE", "name": "asked", "object": wrong, "oldObject": None, "dryRun": True,
            "kind": {"group": "galaxy.kubestellar.io", "version": "v1alpha1", "kind": "ClusterResourceClaim"},
            "resource": {"group": "galaxy.kubestellar.io", "version": "v1alpha1", "resource": "clusterresourceclaims"},
            "userInfo": {"username": "admin", "groups": ["system:authenticated"]}}}
        trust = ssl.create_default_context(cafile=self.plane.authority.certificate)
        connection = http.client.HTTPSConnection("127.0.0.1", self.webhook, timeout=5, context=trust)
        try:
            connection.request("POST", "/admit?timeout=5s", json.dumps(review), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            self.assertEqual(answer.status, 200)
            self.assertFalse(json.load(answer)["response"]["allowed"])
        finally:
            connection.close()

    def series_of(self, prometheus, query):
        """What a panel would draw. A quantile of the webhook's answers needs answers within its range."""
        if "webhook" in query:
            self.ask_webhook()
        return [series for series in prometheus.query(query) if series["value"][1] != "NaN"]

    def test_what_a_hub_serves_is_scraped_and_shown(self):
        hub = self.start_hub()
        prepare_hub(self.server)
        add_nodes(self.member)
        self.server.create(CLAIMS, claim())
        hub.wait_until("a quota", lambda: quota(self.server, "high-priority-queue", "on-demand", "cpu")
                       == quantity("500"))
        code, said = promtool("check", "metrics", stdin=hub.http("/metrics")[1])
        self.assertEqual(code, 0, said)
        pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "train"}]}}
        self.server.create("/apis/kueue.x-k8s.io/v1beta2/namespaces/default/workloads", {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "metadata": {"name": "waits"},
            "spec": {"queueName": "nowhere", "podSets": [{"name": "main", "count": 1, "template": pod}]}})
        prometheus = Prometheus(self.plane, f"127.0.0.1:{hub.port}", self.rules).start()
        wait_for("a scrape", lambda: prometheus.query('fairlead_planning == 1'))
        # Rates need two scrapes, and something between them.
        wait_for("rates", lambda: prometheus.query("rate(fairlead_timers_fired_total[10s])"))
        remove_node(self.member, "on-demand-0")
        hub.wait_until("the quota to follow", lambda: quota(self.server, "high-priority-queue", "on-demand", "cpu")
                       != quantity("500"))
        asked = 0
        for panel in DASHBOARD["panels"]:
            for target in panel.get("targets", []):
                query = target["expr"].replace("$job", "fairlead").replace("$__rate_interval", "20s")
                with self.subTest(panel=panel["title"], query=query):
                    wait_for("a series", lambda text=query: self.series_of(prometheus, text), timeout=20)
                asked += 1
        self.assertGreater(asked, 30)
        self.assertEqual({rule["name"]: (rule["health"], rule.get("lastError", "")) for rule in prometheus.rules()},
                         {name: ("ok", "") for name in self.alerts})
        self.assertEqual([rule["name"] for rule in prometheus.rules() if rule["state"] == "firing"], [])

    def test_each_metric_of_the_dashboard_and_the_alerts_is_explained(self):
        texts = [target["expr"] for panel in DASHBOARD["panels"] for target in panel.get("targets", [])]
        texts += [alert["expr"] for alert in self.alerts.values()]
        wanted = {re.sub("_bucket$", "", name) for text in texts
                  for name in re.findall(r"\b([a-z][a-z_]*)\{", text)}
        self.assertGreater(len(wanted), 25)
        page = (ROOT / "docs/signals.md").read_text()
        named = set(re.findall(r"`([a-z_]+)(?:\{[^}]*\})?`", page))
        self.assertEqual(sorted(wanted - named), ["up"])  # Prometheus' own

    def test_a_service_monitor_finds_the_service_and_grafana_the_dashboard(self):
        by_kind = {item["kind"]: item for item in self.found
                   if item["kind"] in ("Service", "ServiceMonitor")}
        monitor, service = by_kind["ServiceMonitor"], by_kind["Service"]
        wanted = monitor["spec"]["selector"]["matchLabels"]
        self.assertLessEqual(wanted.items(), service["metadata"]["labels"].items())
        self.assertIn(monitor["spec"]["endpoints"][0]["port"], [port["name"] for port in service["spec"]["ports"]])
        # The job that alerts and dashboard name is the value of that label.
        self.assertEqual(service["metadata"]["labels"][monitor["spec"]["jobLabel"]], "fairlead")
        [shown] = [item for item in self.found if item["metadata"]["name"] == "fairlead-dashboard"]
        self.assertEqual(json.loads(shown["data"]["fairlead.json"]), DASHBOARD)


if __name__ == "__main__":
    unittest.main()
