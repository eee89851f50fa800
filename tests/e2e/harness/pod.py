"""The hub's Pod without a kubelet: what the manifests say of it, made and run by a test.

Its files are those that a kubelet mounts. It runs in a mount namespace (`start_in_namespace`), or in the image that
scripts/image makes (`harness.image`).
"""

import base64
import http.client
import json
import pathlib
import shutil

from . import deploy
from .fleet import add_node, claim, join_cluster, prepare_hub, quantity, quota
from .process import free_port, wait_for
from .program import binary
from .work_agent import WorkAgent

USER = "65532"
NODES = 4
CONFIGURATION = json.dumps({
    "apiVersion": "fairlead.io/v1alpha1", "kind": "Configuration", "claims": {"create": False},
    "capacity": {"headroom": {"percent": {}, "reserved": {}}},
    "members": {"kubeconfigs": [{"cluster": "cluster2", "secretRef": "fairlead/cluster2-kubeconfig"}]},
    "debounce": {"ingestCoalesce": "0s", "shrinkWindow": "0s", "growWindow": "0s", "firstQuiet": "0s",
                 "minGrowInterval": "0s", "writeInterval": "0s", "massShrinkPercent": 0}}) + "\n"
MOUNTS = {"data": "/var/lib/fairlead", "config": "/etc/fairlead"}
ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"  # where a kubelet mounts it

# In a mount namespace of its own: what a kubelet mounts, and nothing else that can be written.
AS_A_POD = r"""
set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/secrets/kubernetes.io/serviceaccount /run/image
cp "$POD/account/"* /run/secrets/kubernetes.io/serviceaccount/
cp "$PROGRAM" /run/image/fairlead
mount -t tmpfs tmpfs /var/lib
mkdir /var/lib/fairlead
mount --bind "$POD/volume" /var/lib/fairlead
mount -t tmpfs tmpfs /etc
mkdir /etc/fairlead
cp "$POD/config/"* /etc/fairlead/
for place in /etc /run /var/lib / /tmp; do mount -o remount,bind,ro "$place" 2>/dev/null || [ "$place" = /tmp ]; done
exec setpriv --reuid "$RUN_AS" --regid "$RUN_AS" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
  --pdeathsig KILL env -i PATH=/usr/bin:/bin KUBERNETES_SERVICE_HOST=127.0.0.1 KUBERNETES_SERVICE_PORT="$PORT" \
  /run/image/fairlead "$@"
"""

def overlay(directory):
    """A folder for kustomize: the overlay `hub` with the component `members` and CONFIGURATION."""
    folder = deploy.composed(directory, ["members"], [
        {"target": {"kind": "Role", "name": "fairlead-members"}, "patch": json.dumps(
            [{"op": "replace", "path": "/rules/0/resourceNames", "value": ["cluster2-kubeconfig"]}])}])
    (folder / "config.yaml").write_text(CONFIGURATION)
    text = json.loads((folder / "kustomization.yaml").read_text())
    text["configMapGenerator"] = [{"name": "fairlead", "namespace": "fairlead", "behavior": "replace",
                                   "files": ["config.yaml"]}]
    (folder / "kustomization.yaml").write_text(json.dumps(text))
    return folder


def prepare_world(server, member):
    """Queues, and a member with NODES Nodes that has joined; its agent, which a test has to let act."""
    secret = base64.b64encode(member.kubeconfig("fairlead", inline=True).read_bytes()).decode()
    server.create("/api/v1/namespaces/fairlead/secrets", {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cluster2-kubeconfig"},
        "data": {"kubeconfig": secret}})
    prepare_hub(server)
    for number in range(NODES):
        add_node(member, f"on-demand-{number}", "on-demand")
    join_cluster(server, "cluster2")
    return WorkAgent(server, member, "cluster2")


def wanted_claim():
    """The claim of that member, which assigns a queue 500 cpu: more than its Nodes have."""
    value = claim()
    value["spec"]["resourceAssignments"] = [
        {"clusterQueueName": "high-priority-queue", "flavor": "on-demand", "resources": {"cpu": "500"}}]
    return value


class Pod:
    """The files of the Pod's mounts, as the API server has them, and runs of its container."""

    def __init__(self, plane, server, found):
        """`found`: the objects of the overlay, which are applied."""
        self.plane = plane
        self.server = server
        self.folder = plane.directory / "pod"
        self.account, self.config, self.volume = (self.folder / name for name in ("account", "config", "volume"))
        for folder in (self.account, self.config, self.volume):
            folder.mkdir(parents=True)
        spec = deploy.template(found)
        [self.container] = spec["containers"]
        assert str(spec["securityContext"]["runAsUser"]) == USER, spec["securityContext"]
        mounts = {mount["name"]: mount["mountPath"] for mount in self.container["volumeMounts"]}
        assert mounts == MOUNTS, mounts
        (self.account / "token").write_text(deploy.token(server))
        (self.account / "namespace").write_text("fairlead")
        shutil.copy(plane.authority.certificate, self.account / "ca.crt")
        [mounted] = [volume["configMap"]["name"] for volume in spec["volumes"] if volume["name"] == "config"]
        for name, text in server.get(f"/api/v1/namespaces/fairlead/configmaps/{mounted}")["data"].items():
            (self.config / name).write_text(text)
        # As a volume with an fsGroup.
        shutil.chown(self.volume, "root", int(USER))
        self.volume.chmod(0o2770)
        for path in self.folder.rglob("*"):
            if path.is_file():
                path.chmod(0o644)

    def arguments(self):
        """The container's, on a free port of the machine in place of the Pod's own."""
        assert "--listen=:8080" in self.container["args"], self.container["args"]
        self.port = free_port()
        return [f"--listen=127.0.0.1:{self.port}" if word == "--listen=:8080" else word
                for word in self.container["args"]]

    def variables(self):
        """What a kubelet tells a container of the API server."""
        return {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(self.server.port)}

    def start(self, command, environment):
        """Runs `command`, which ends in the container, and waits until its probes pass."""
        run = self.plane.process("pod", command, environment)
        run.start()
        wait_for("the Pod to be ready", lambda: self.answers(run, "readinessProbe"), timeout=30)
        assert self.answers(run, "livenessProbe"), run.tail()
        return run

    def start_in_namespace(self):
        """The program of this build in a mount namespace of its own."""
        return self.start(
            ["unshare", "-m", "--propagation", "private", "sh", "-c", AS_A_POD, "sh", *self.arguments()],
            {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "POD": str(self.folder), "RUN_AS": USER,
             "PROGRAM": str(pathlib.Path(binary()).resolve()), "PORT": str(self.server.port)})

    def answers(self, run, probe):
        """Whether the container's probe passes."""
        assert run.running(), run.tail()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", self.container[probe]["httpGet"]["path"])
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()


def wait_for_cpu(server, agent, run, value):
    """Waits until the claim's queue has so much, while the member's agent acts."""
    def equal():
        assert run.running(), run.tail()
        agent.act()
        seen = quota(server, "high-priority-queue", "on-demand", "cpu")
        assert seen == quantity(value), f"{seen}\n{run.tail()}"
        return True
    wait_for(f"cpu quota {value}", equal, timeout=30)
