"""The manifests of deploy/ as an administrator gets them, and an account of a Pod as the API server sees it."""

import json
import os
import pathlib
import subprocess

from .controlplane import ROOT, assets, cache

DEPLOY = ROOT / "deploy"
NAMESPACE = "fairlead"


def kustomize(folder):
    """The YAML that `kubectl apply -k` of that folder sends."""
    done = subprocess.run([str(assets() / "kubectl"), "kustomize", str(folder)], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, f"{folder}: {done.stderr}"
    return done.stdout


def composed(directory, components, patches=(), beginning="overlays/hub"):
    """A folder for kustomize: the overlay `hub`, or another, with more components, as an administrator writes one."""
    folder = pathlib.Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    away = os.path.relpath(DEPLOY, folder.resolve())
    (folder / "kustomization.yaml").write_text(json.dumps({
        "apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization",
        "resources": [f"{away}/{beginning}"], "components": [f"{away}/components/{name}" for name in components],
        "patches": list(patches)}))
    return folder


def objects(server, text):
    """The objects in YAML text, without a YAML reader: kubectl has one. Their kinds must be served."""
    shown = server.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-", stdin=text)
    found = []
    while shown:
        value, end = json.JSONDecoder().raw_decode(shown)
        shown = shown[end:].lstrip()
        found += value["items"] if value["kind"] == "List" else [value]
    return found


def operator_crds(name=""):
    """The folder of CRDs that scripts/controlplane fetched; None where it could not.

    `name`: "" (the Prometheus operator's), "cert-manager" or "snapshots".
    """
    folder = cache() / "crds" / name
    return folder if any(folder.glob("*.yaml")) else None


def apply(server, folder):
    """`kubectl apply --server-side -k`: what it printed."""
    return server.kubectl("apply", "--server-side", "-k", folder)


def uninstall(server, *arguments):
    """`scripts/uninstall`: what it printed."""
    done = subprocess.run([str(ROOT / "scripts/uninstall"), *map(str, arguments)], capture_output=True, text=True,
                          timeout=120, env={**os.environ, "KUBECTL": str(assets() / "kubectl"),
                                            "KUBECONFIG": str(server.kubeconfig("admin")),
                                            "KUBECACHEDIR": str(server.plane.directory / "kubectl-cache")})
    assert done.returncode == 0, done.stderr
    return done.stdout


def template(found):
    """The Pod template's spec of the StatefulSet among `found`."""
    [stateful_set] = [item for item in found if item["kind"] == "StatefulSet"]
    return stateful_set["spec"]["template"]["spec"]


def settings(found):
    """The --set values of the container's arguments."""
    return [word.removeprefix("--set=") for word in template(found)["containers"][0]["args"]
            if word.startswith("--set=")]


def token(server, account=NAMESPACE):
    """A token of a service account in the namespace `fairlead`, as a Pod gets one mounted."""
    answer = server.create(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token", {
        "apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
    return answer["status"]["token"]


def account_kubeconfig(server, account=NAMESPACE):
    """A kubeconfig file with such a token."""
    path = server.plane.directory / f"kubeconfig-account-{server.name}-{account}.json"
    path.write_text(server.kubeconfig_of({"token": token(server, account)}))
    path.chmod(0o600)
    return path


def ensure_namespace(server, name):
    if server.get(f"/api/v1/namespaces/{name}") is None:
        server.create("/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
