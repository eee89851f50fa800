"""The chart is what kustomize renders: for the default and for each switch, object by object; and Helm installs it."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

import yaml

from harness import deploy, helm
from harness.controlplane import ROOT, ControlPlane
from harness.process import wait_for

NEEDS = ("controlplane", "helm")

NAMES = json.dumps([{"op": "replace", "path": "/rules/0/resourceNames", "value": ["one", "two"]}])
ROLES = {"members": "fairlead-members", "profile-access": "fairlead-profile-access"}  # whose names a site writes
OFF = {"components.manifestWork": False, "components.multiKueue": False}
# Values of the chart, and what an overlay has for them: (components, where it begins).
CASES = {
    "default": ({}, [], "overlays/hub"),
    "nothing more": (OFF, [], "base"),
    "manifestWork": ({**OFF, "components.manifestWork": True}, ["manifestwork"], "base"),
    "multiKueue": ({**OFF, "components.multiKueue": True}, ["multikueue"], "base"),
    "bindingPolicy": ({**OFF, "components.manifestWork": True, "components.bindingPolicy": True},
                      ["manifestwork", "bindingpolicy"], "base"),
    "dispatcher": ({"components.dispatcher": True}, ["dispatcher"], "overlays/hub"),
    "fleetClaims": ({"components.dispatcher": True, "components.fleetClaims": True}, ["dispatcher", "fleet-claims"],
                    "overlays/hub"),
    "ocmAddon": ({"components.ocmAddon": True}, ["ocm-addon"], "overlays/hub"),
    "memberSecrets": ({"components.memberSecrets": ["one", "two"]}, ["members"], "overlays/hub"),
    "profileAccess": ({"components.profileAccess": ["one", "two"]}, ["profile-access"], "overlays/hub"),
    "profileAccess with what comes before and after": (
        {"components.memberSecrets": ["one", "two"], "components.profileAccess": ["one", "two"],
         "components.secureListener": True, "components.webhookCertManager": True},
        ["members", "profile-access", "secure-listener", "webhook-cert-manager"], "overlays/hub"),
    "pool": ({"components.pool": True}, ["pool"], "overlays/hub"),
    "secureListener": ({"components.secureListener": True}, ["secure-listener"], "overlays/hub"),
    "monitoring": ({"components.secureListener": True, "components.monitoring": True},
                   ["secure-listener", "monitoring"], "overlays/hub"),
    "pageAccess": ({"components.secureListener": True, "components.pageAccess": True},
                   ["secure-listener", "page-access"], "overlays/hub"),
    "policies": ({"components.policies": True}, ["policies"], "overlays/hub"),
    "ha": ({"components.secureListener": True, "components.ha": True}, [], "overlays/ha"),
    "ha with what comes before and after": (
        {"components.secureListener": True, "components.policies": True, "components.ha": True,
         "components.webhook": True}, ["secure-listener", "policies", "ha", "webhook"], "overlays/hub"),
    "webhook": ({"components.webhook": True}, ["webhook"], "overlays/hub"),
    "webhookCertManager": ({"components.webhookCertManager": True}, ["webhook-cert-manager"], "overlays/hub"),
    "webhookCertManager with all that comes before": (
        {"components.policies": True, "components.secureListener": True, "components.webhookCertManager": True},
        ["secure-listener", "policies", "webhook-cert-manager"], "overlays/hub"),
    "recommendOnly": ({"recommendOnly": True}, [], "overlays/recommend"),
    "record": ({"record": True}, [], "overlays/recommend-only"),
    "record with members": ({"record": True, "components.memberSecrets": ["one", "two"],
                             "components.profileAccess": ["one", "two"],
                             "components.secureListener": True, "components.monitoring": True,
                             "components.pageAccess": True},
                            ["members", "profile-access", "secure-listener", "monitoring", "page-access"],
                            "overlays/recommend-only"),
}
# What the schema of the values refuses: a value, and what Helm says of it.
WRONG = [
    ({"components.webhok": True}, "'/components': additional properties 'webhok' not allowed"),
    ({"componets.webhook": True}, "additional properties 'componets' not allowed"),
    ({"recommendonly": True}, "additional properties 'recommendonly' not allowed"),
    ({"components.ha": 3}, "'/components/ha': got number, want boolean"),
    ({"replicas": 2}, "additional properties 'replicas' not allowed"),
    ({"namespace.name": "elsewhere"}, "'/namespace': additional properties 'name' not allowed"),
    ({"storage.class": "fast"}, "'/storage': additional properties 'class' not allowed"),
    ({"image.registry": "images.test"}, "'/image': additional properties 'registry' not allowed"),
    ({"resources.limit": {"memory": "4Gi"}}, "'/resources': additional properties 'limit' not allowed"),
    # A text is true in a template, also this one.
    ({"components.pool": "false"}, "'/components/pool': got string, want boolean"),
    ({"record": 1}, "'/record': got number, want boolean"),
    ({"components.memberSecrets": "one"}, "'/components/memberSecrets': got string, want array"),
    ({"components.memberSecrets": ["One"]}, "'/components/memberSecrets/0'"),
    ({"components.memberSecrets": ["one", "one"]}, "'/components/memberSecrets'"),
    ({"components.profileAccess": True}, "'/components/profileAccess': got boolean, want array"),
    ({"profileAccess.plugin": "one"}, "'/profileAccess': additional properties 'plugin' not allowed"),
    ({"profileAccess.providers": {"providers": []}}, "'/profileAccess/providers': got object, want string"),
    ({"image.tag": 1.1}, "'/image/tag': got number, want string"),
    ({"image.tag": "a:b"}, "'/image/tag'"),
    ({"image.pullPolicy": "ifnotpresent"}, "'/image/pullPolicy'"),
    ({"storage.size": "10GB"}, "'/storage/size'"),
    ({"storage.className": "a b"}, "'/storage/className'"),
    ({"resources.limits.memory": "a lot"}, "'/resources/limits/memory'"),
    ({"kueueNamespace": "Kueue"}, "'/kueueNamespace'"),
    ({"configuration": {"kind": "Configuration"}}, "'/configuration': got object, want string"),
]
OWN_CRDS = [("CustomResourceDefinition", "", name)
            for name in ("clusterresourceclaims.galaxy.kubestellar.io", "logcommits.fairlead.io")]


def by_name(text):
    """The objects by kind, namespace and name, without what is different on purpose: the hash in the names of
    ConfigMaps, and Helm's word that a namespace stays."""
    found = {}
    for item in yaml.safe_load_all(re.sub(r"\b(fairlead(?:-profile-access)?)-[0-9a-z]{10}$", r"\1", text,
                                          flags=re.MULTILINE)):
        if item is None:
            continue
        if item["kind"] == "Namespace":
            item["metadata"].pop("annotations", None)
        key = item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]
        assert key not in found, key
        found[key] = item
    return found


class ChartTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def rendered(self, values, namespace="fairlead", *more):
        done = helm.run(self.folder, "template", "fairlead", helm.CHART, "--namespace", namespace, "--include-crds",
                        *helm.settings({"namespace.create": True, **values}), *more)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_the_committed_chart_is_what_the_script_writes(self):
        done = subprocess.run([ROOT / "scripts/chart", "--check"], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_each_switch_has_a_case(self):
        values = yaml.safe_load((helm.CHART / "values.yaml").read_text())
        switches = {f"components.{name}" for name in values["components"]}
        switches |= {name for name, value in values.items() if value is False}
        self.assertGreater(len(switches), 10)
        self.assertEqual(sorted(switches - {name for values, _, _ in CASES.values() for name in values}), [])
        folders = {name for _, components, _ in CASES.values() for name in components}
        folders |= {"manifestwork", "multikueue", "webhook-service"}  # of the overlay hub; of both webhooks
        self.assertEqual({path.name for path in (deploy.DEPLOY / "components").iterdir()} - folders, set())

    def test_it_renders_what_kustomize_renders(self):
        for name, (values, components, beginning) in CASES.items():
            patches = [{"target": {"kind": "Role", "name": role}, "patch": NAMES}
                       for component, role in ROLES.items() if component in components]
            with self.subTest(case=name):
                wanted = by_name(deploy.kustomize(deploy.composed(
                    self.folder / re.sub(" ", "-", name), components, patches, beginning)))
                shown = by_name(self.rendered(values))
                if values.get("record"):
                    for crd in OWN_CRDS:
                        del shown[crd]  # Helm has no switch for a CRD but --skip-crds
                self.assertGreaterEqual(len(wanted), 9 if values.get("record") else 12)
                self.assertEqual(sorted(shown), sorted(wanted))
                for key, item in wanted.items():
                    self.assertEqual(shown[key], item, key)

    def test_the_schema_has_the_names_of_the_values(self):
        schema = json.loads((helm.CHART / "values.schema.json").read_text())
        values = yaml.safe_load((helm.CHART / "values.yaml").read_text())
        for name, value, rule in [("", values, schema)] + [
                (name, value, schema["properties"][name]) for name, value in values.items() if isinstance(value, dict)]:
            with self.subTest(name=name):
                self.assertIs(rule["additionalProperties"], False)
                self.assertEqual(set(rule["properties"]) - {"global"}, set(value))

    def test_a_wrong_name_or_value_is_refused(self):
        for values, refusal in WRONG:
            done = helm.run(self.folder, "template", "fairlead", helm.CHART, *helm.settings(values))
            with self.subTest(values=values):
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(refusal, done.stderr)

    def test_values_of_a_parent_chart_are_let_be(self):
        self.assertEqual(self.rendered({"global.region": "north"}), self.rendered({}))

    def test_a_component_without_the_one_it_needs_is_refused(self):
        for values in ({**OFF, "components.bindingPolicy": True}, {**OFF, "components.dispatcher": True},
                       {**OFF, "components.ocmAddon": True}, {"components.fleetClaims": True},
                       {"components.monitoring": True}, {"components.pageAccess": True}, {"components.ha": True}):
            done = helm.run(self.folder, "template", "fairlead", helm.CHART, *helm.settings(values))
            self.assertNotEqual(done.returncode, 0, values)
            self.assertIn("need", done.stderr)

    def test_what_does_not_go_with_record_is_refused(self):
        for name in ("components.bindingPolicy", "components.dispatcher", "components.ha",
                     "components.ocmAddon", "components.policies", "components.pool", "components.webhook",
                     "components.webhookCertManager", "recommendOnly"):
            values = {"record": True, "components.secureListener": True, name: True}
            done = helm.run(self.folder, "template", "fairlead", helm.CHART, *helm.settings(values))
            self.assertNotEqual(done.returncode, 0, name)
            self.assertIn("record", done.stderr)

    def test_two_certificates_of_the_webhook_are_refused(self):
        done = helm.run(self.folder, "template", "fairlead", helm.CHART, *helm.settings(
            {"components.webhook": True, "components.webhookCertManager": True}))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("choose one", done.stderr)

    def test_the_webhook_follows_the_namespace(self):
        for name in ("webhook", "webhookCertManager"):
            shown = self.rendered({f"components.{name}": True, "kueueNamespace": "kueue"}, "elsewhere")
            with self.subTest(component=name):
                self.assertIn("fairlead-webhook.elsewhere", shown)
                self.assertNotRegex(shown, r"fairlead-webhook\.fairlead\b|fairlead/fairlead-webhook|account:fairlead:")
                self.assertEqual({space for _, space, _ in by_name(shown)}, {"", "elsewhere", "kueue", "default"})

    def test_values_are_followed(self):
        shown = by_name(self.rendered({
            "image.repository": "images.test/fairlead", "image.tag": "9", "storage.size": "50Gi",
            "storage.className": "fast", "resources": {"limits": {"memory": "4Gi"}}, "kueueNamespace": "kueue",
            "configuration": "apiVersion: fairlead.io/v1alpha1\n"}, "elsewhere"))
        self.assertEqual({space for _, space, _ in shown}, {"", "elsewhere", "kueue", "default"})
        stateful_set = shown["StatefulSet", "elsewhere", "fairlead"]["spec"]
        [container] = stateful_set["template"]["spec"]["containers"]
        self.assertEqual(container["image"], "images.test/fairlead:9")
        self.assertEqual(container["resources"]["limits"], {"memory": "4Gi"})
        claim = stateful_set["volumeClaimTemplates"][0]["spec"]
        self.assertEqual((claim["storageClassName"], claim["resources"]["requests"]["storage"]), ("fast", "50Gi"))
        self.assertEqual(shown["ConfigMap", "elsewhere", "fairlead"]["data"]["config.yaml"],
                         "apiVersion: fairlead.io/v1alpha1\n")
        subjects = {subject["namespace"] for key, item in shown.items() if key[0].endswith("Binding")
                    for subject in item.get("subjects", [])}
        self.assertEqual(subjects, {"elsewhere"})
        # Another configuration is another name, so that the Pod is rolled.
        names = {re.search(r"name: (fairlead-[0-9a-f]{10})$", self.rendered({"configuration": text}), re.MULTILINE)[1]
                 for text in ("a: 1", "a: 2")}
        self.assertEqual(len(names), 2)

    def test_the_plugin_and_its_providers_are_values(self):
        shown = by_name(self.rendered({
            "components.profileAccess": ["one-hub"], "profileAccess.image": "images.test/plugin@sha256:0",
            "profileAccess.providers": '{"providers": []}'}, "elsewhere"))
        pod = shown["StatefulSet", "elsewhere", "fairlead"]["spec"]["template"]["spec"]
        self.assertEqual([each["image"] for each in pod["initContainers"]], ["images.test/plugin@sha256:0"])
        self.assertEqual(shown["ConfigMap", "elsewhere", "fairlead-profile-access"]["data"],
                         {"providers.json": '{"providers": []}'})
        [rule] = shown["Role", "elsewhere", "fairlead-profile-access"]["rules"]
        self.assertEqual(rule["resourceNames"], ["one-hub"])

    def versions(self, server):
        """resourceVersions of what the default made, by kind and name; fails where something is missing."""
        text = self.rendered({"namespace.create": False})
        shown = json.loads(server.kubectl("get", "-o", "json", "-f", "-", stdin=text))
        return {(item["kind"], item["metadata"]["name"]): item["metadata"]["resourceVersion"]
                for item in shown["items"]}

    def test_helm_installs_it_and_leaves_claims_and_volume(self):
        plane = self.enterContext(ControlPlane())
        server = plane.add_server("hub")
        deploy.ensure_namespace(server, "kueue-system")
        options = ("--kubeconfig", server.kubeconfig(), "--namespace", "fairlead")
        done = helm.run(plane.directory, "install", "fairlead", helm.CHART, "--create-namespace", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        claims = "/apis/galaxy.kubestellar.io/v1alpha1/clusterresourceclaims"
        wait_for("the CRD to be served", lambda: server.get(claims) is not None)
        before = self.versions(server)
        self.assertGreater(len(before), 8)
        done = helm.run(plane.directory, "upgrade", "fairlead", helm.CHART, *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.versions(server), before)
        done = helm.run(plane.directory, "upgrade", "fairlead", helm.CHART, *options,
                        *helm.settings({"components.dispatcher": True}))
        self.assertEqual(done.returncode, 0, done.stderr)
        done = helm.run(plane.directory, "uninstall", "fairlead", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIsNotNone(server.get(claims))
        self.assertIsNotNone(server.get("/api/v1/namespaces/fairlead"))
        self.assertIsNone(server.get("/apis/apps/v1/namespaces/fairlead/statefulsets/fairlead"))


if __name__ == "__main__":
    unittest.main()
