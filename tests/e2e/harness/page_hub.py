"""A real hub with a secure listener, as the Service `fairlead` of a real API server, and accounts that look at it.

An API server's service proxy never connects to a loopback address, so the hub listens on another address of this
machine, too, and the Pod and the Endpoints that a cluster would have name it.
"""

import json
import socket

from . import deploy
from .certificates import MountedSecret
from .fleet import FLAVORS, QUEUE_CRDS
from .hub import AT_ONCE, Hub
from .process import free_port

RBAC = "/apis/rbac.authorization.k8s.io/v1"
SPACE = "/api/v1/namespaces/fairlead"
PROXY = f"{SPACE}/services/https:fairlead:https/proxy"
POD = {"automountServiceAccountToken": False,
       "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
       "containers": [{"name": "fairlead", "image": "fairlead", "securityContext": {
           "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}]}


def machine_address():
    """An IPv4 address of this machine that is not loopback. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.254", 9))
        address = probe.getsockname()[0]
    assert not address.startswith("127."), "the machine has no address but loopback"
    return address


class PageHub:
    """Runs from start() on; finish() at the end. `url` is that of its listener."""

    def __init__(self, plane):
        self.plane = plane
        self.server = plane.add_server("hub")
        self.server.install_crds(only=QUEUE_CRDS)
        deploy.ensure_namespace(self.server, "kueue-system")
        deploy.apply(self.server, deploy.composed(plane.directory / "overlay", ["secure-listener", "page-access"]))
        self.address = machine_address()
        self.server.create(f"{SPACE}/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "fairlead-0"}, "spec": POD})
        self.server.kubectl("-n", "fairlead", "patch", "pod", "fairlead-0", "--subresource=status", "--type=merge",
                            "-p", json.dumps({"status": {"podIP": self.address, "podIPs": [{"ip": self.address}]}}))
        secret = MountedSecret(plane.directory / "secret")
        secret.put(*plane.authority.server("serving"))
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.hub = Hub(plane, self.server, kubeconfig=deploy.account_kubeconfig(self.server), settings=(AT_ONCE,),
                       arguments=("--listen-secure", f":{self.port}", "--certificate", secret.folder))
        self.point_at(self.port)

    def start(self):
        self.hub.start()
        self.hub.wait_until("the listener", lambda: self.hub.said("listening with TLS"))

    def point_at(self, port):
        """Has the Service lead to this port."""
        self.server.apply(f"{SPACE}/endpoints/fairlead", {
            "apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "fairlead"}, "subsets": [{
                "addresses": [{"ip": self.address, "targetRef": {
                    "kind": "Pod", "name": "fairlead-0", "namespace": "fairlead"}}],
                "ports": [{"name": "https", "port": port}]}]})

    def grow(self, name):
        """Has the hub's log grow by one event."""
        self.server.create(FLAVORS, {
            "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": name}})

    def account(self, name):
        self.server.create(f"{SPACE}/serviceaccounts", {
            "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}})

    def bind(self, account, role, kind="ClusterRole"):
        """A ClusterRole everywhere, a Role in the namespace."""
        place = RBAC if kind == "ClusterRole" else f"{RBAC}/namespaces/fairlead"
        self.server.create(f"{place}/{kind.lower()}bindings", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": f"{kind}Binding",
            "metadata": {"name": f"test-{account}"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": "fairlead"}]})

    def place_of(self, account):
        """The options that name the hub to a command, with a token of this account."""
        file = self.plane.directory / f"token-{account}"
        file.write_text(deploy.token(self.server, account))
        return ["--server", self.url, "--server-token-file", str(file),
                "--server-ca", str(self.plane.authority.certificate)]
