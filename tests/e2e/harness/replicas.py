"""Hubs that share one log, on three etcd members and two API servers.

    with ReplicatedPlane() as plane:
        hubs = Replicas(plane, "one")
        hubs.start()
        hubs.leader().kill()
        hubs.new_leader()
"""

import http.client
import itertools
import json
import re
import shutil
import time
import urllib.request

from .apiserver import ApiServer
from .certificates import MountedSecret
from .controlplane import ControlPlane
from .hub import AT_ONCE, Hub
from .process import free_port, wait_for
from .program import fairlead

NAMESPACE = "ha"
COMMITS = f"/apis/fairlead.io/v1alpha1/namespaces/{NAMESPACE}/logcommits"
LEASES = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases"
WINDOW = 32
# A dead leader is replaced within leaseDuration + 2 x retryPeriod x 1.2 + 2 s.
TIMES = ("leaderElection.leaseDuration=2s", "leaderElection.renewDeadline=1500ms", "leaderElection.retryPeriod=250ms")
SHORT = ("leaderElection.leaseDuration=1s", "leaderElection.renewDeadline=800ms", "leaderElection.retryPeriod=100ms")
FAIL_OVER = 2 + 2 * 0.25 * 1.2 + 2
_numbers = itertools.count(1)


class ReplicatedPlane(ControlPlane):
    """Three etcd members in the place of one, and two API servers that serve the same objects."""

    def _start_etcd(self):
        names = [f"etcd-{number}" for number in range(3)]
        clients, peers = ([f"http://127.0.0.1:{free_port()}" for _ in names] for _ in range(2))
        cluster = ",".join(f"{name}={peer}" for name, peer in zip(names, peers))
        self.etcd_url = ",".join(clients)
        self.members = [self.process(name, [
            self._etcd_program, f"--data-dir={self.directory / name}", f"--name={name}",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}", f"--initial-cluster={cluster}", "--unsafe-no-fsync"])
            for name, client, peer in zip(names, clients, peers)]
        for member in self.members:
            member.start()
        wait_for("etcd", self._etcd_healthy)

    def _etcd_healthy(self):
        for member, url in zip(self.members, self.etcd_url.split(",")):
            assert member.running(), member.tail()
            try:
                with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
                    assert json.load(answer).get("health") == "true", url
            except OSError as problem:
                raise AssertionError(str(problem)) from None
        return True

    def etcd_leader(self):
        """The member that leads the others."""
        for member, url in zip(self.members, self.etcd_url.split(",")):
            try:
                request = urllib.request.Request(f"{url}/v3/maintenance/status", b"{}")
                with urllib.request.urlopen(request, timeout=2) as answer:
                    status = json.load(answer)
            except OSError:
                continue
            if status["leader"] == status["header"]["member_id"]:
                return member
        raise AssertionError("no etcd leader")

    def add_hub_servers(self, **options):
        """Two API servers of the hub, started together."""
        made = [ApiServer(self, name, "/hub", **options) for name in ("hub", "hub-2")]
        for server in made:
            self.servers[server.name] = server
            server.process.start()
        for server in made:
            wait_for(f"{server.name} to be ready", server._ready, 180)
        return made

    def recover(self):
        """Everything runs again."""
        for process in (*self.members, *(server.process for server in self.servers.values())):
            if process.running():
                process.resume()
            else:
                process.start()
        wait_for("etcd", self._etcd_healthy, 60)
        for server in self.servers.values():
            wait_for(f"{server.name} to be ready", server._ready, 180)

    def backup(self):
        kept = self.directory / f"etcd-backup-{next(_numbers)}"
        for member in self.members:
            member.pause()
        try:
            for member in self.members:
                shutil.copytree(self.directory / member.name, kept / member.name)
        finally:
            for member in self.members:
                member.resume()
        return kept

    def restore(self, kept):
        """The members' stores of `kept`, under API servers that go on running."""
        for member in self.members:
            member.kill()
        for member in self.members:
            shutil.rmtree(self.directory / member.name)
            shutil.copytree(kept / member.name, self.directory / member.name)
        self.recover()


class Replicas:
    """Hubs with a data directory each that share the log `name`.

    `kubeconfigs`: one per hub, by default the two API servers in turn. `store`: the settings that name the ring.
    `member`: the API server whose Nodes the quotas follow. `secure`: each asks the others, and copies the log of the
    next one, over TLS.
    """

    def __init__(self, plane, name, count=3, settings=(), kubeconfigs=(), store=None, create=True, member=None,
                 secure=False):
        servers = list(plane.servers.values())
        self.plane, self.name, self.server = plane, name, servers[0]
        self.lease = f"{LEASES}/{name}"
        self.store = store or (f"log.replication.kubernetes={{namespace: {NAMESPACE}, name: {name}}}",)
        self.settings = (f"leaderElection.lease={NAMESPACE}/{name}", *TIMES, *self.store,
                         f"log.replication.window={WINDOW}", "log.replication.pace={perSecond: 50, burst: 500}")
        self.kubeconfigs = list(kubeconfigs) or [servers[number % len(servers)].kubeconfig("fairlead")
                                                 for number in range(count)]
        self.member = member or self.server
        ports = [free_port() for _ in self.kubeconfigs]
        self.hubs = [self.hub(kubeconfig, arguments=self._over_tls(ports, number) if secure else (), settings=(
            *self.settings, f"log.replication.create={str(create).lower()}", *settings))
            for number, kubeconfig in enumerate(self.kubeconfigs)]
        self.paused = set()

    def hub(self, kubeconfig, settings, **options):
        # The API server of the hub is the member, too: its Nodes are what the quotas follow.
        return Hub(self.plane, self.server, {"cluster2": self.member}, kubeconfig=kubeconfig,
                   settings=(AT_ONCE, *settings), **options)

    def _over_tls(self, ports, number):
        secret = MountedSecret(self.plane.directory / f"serving-{self.name}-{number}")
        secret.put(*self.plane.server_certificate)
        token = self.plane.directory / f"token-{self.name}"
        token.write_text(self.plane.tokens["admin"])
        address, other = (f"127.0.0.1:{ports[at % len(ports)]}" for at in (number, number + 1))
        return ("--listen-secure", address, "--certificate", secret.folder, "--advertise", f"https://{address}",
                "--copy-from", f"https://{other}", "--copy-from-token-file", token,
                "--copy-from-ca", self.plane.authority.certificate)

    def start(self):
        for hub in self.hubs:
            if not hub.process.running():
                hub.start()
        return self

    def finish(self):
        for hub in self.hubs:
            if hub.process.running():
                hub.process.resume()
            hub.finish()

    def pause(self, hub):
        hub.process.pause()
        self.paused.add(hub)

    def resume(self, hub):
        hub.process.resume()
        self.paused.discard(hub)

    def answering(self):
        return [hub for hub in self.hubs if hub.process.running() and hub not in self.paused]

    # -- who leads -----------------------------------------------------------------------------------------------

    def leader(self, timeout=30):
        """The one hub that says that it leads."""
        def found():
            leading = [hub for hub in self.answering() if leads(hub)]
            assert len(leading) == 1, f"{len(leading)} lead\n" + "\n".join(hub.process.tail(5) for hub in self.hubs)
            return leading[0]
        return wait_for("a leader", found, timeout, interval=0.05)

    def ready(self, hubs=None, timeout=60):
        for hub in hubs or self.answering():
            hub.wait_until("the hub to be ready", lambda hub=hub: status_of(hub, "/readyz") == 200, timeout)

    def holder(self):
        """Who holds the Lease; "" where it was given up."""
        return (self.server.get(self.lease) or {}).get("spec", {}).get("holderIdentity", "")

    # -- the log -------------------------------------------------------------------------------------------------

    def agree(self, hubs=None, timeout=30):
        """Waits until the hubs are at one place of one history, and returns it."""
        def same():
            found = [position(hub) for hub in hubs or self.answering()]
            assert all(one == found[0] for one in found), "\n".join(
                [*map(str, found), *(hub.process.tail(8) for hub in self.hubs)])
            return found[0]
        return wait_for("the replicas to agree", same, timeout)

    def check_agreement(self):
        """The hubs come to one place of one history, and each log verifies."""
        self.agree()
        self.check_logs()

    def longest(self):
        """Of hubs that do not run, the one with the most commits."""
        return max(self.hubs, key=lambda hub: hub.stat()["replication"]["commit"])

    def check_logs(self, hubs=None):
        """Each hub's log verifies, and those that are shorter are the beginning of the longest."""
        texts = []
        for hub in hubs or self.hubs:
            done = fairlead("log", "verify", "--data", hub.data)
            assert done.returncode == 0, done.stdout + done.stderr
            texts.append(fairlead("log", "cat", "--data", hub.data).stdout.splitlines())
        longest = max(texts, key=len)
        for hub, lines in zip(hubs or self.hubs, texts):
            differing = next((at for at, (ours, theirs) in enumerate(zip(lines, longest)) if ours != theirs), None)
            assert differing is None, f"{hub.data}: {lines[differing]}\nelsewhere: {longest[differing]}"
        return longest


def status_of(hub, path):
    try:
        return hub.http(path)[0]
    except (OSError, http.client.HTTPException):
        return 0


def metrics(hub):
    """{name: value} of the series without their labels; the last of several."""
    try:
        text = hub.http("/metrics")[1]
    except (OSError, http.client.HTTPException):
        return {}
    return {name: float(value) for name, value in re.findall(r"^(\w+)(?:\{[^}]*\})? (\S+)$", text, re.MULTILINE)}


def leads(hub):
    return metrics(hub).get("leader_election_master_status") == 1


def counted(hub, name):
    return metrics(hub).get(f"fairlead_replication_{name}", 0)


def position(hub):
    try:
        status, text = hub.http("/log/position")
    except (OSError, http.client.HTTPException) as problem:
        raise AssertionError(f"{problem}\n{hub.process.tail(5)}") from None
    assert status == 200, (status, text)
    return json.loads(text)


def seconds_until(condition, timeout=60):
    begin = time.monotonic()
    wait_for("it", condition, timeout, interval=0.05)
    return time.monotonic() - begin
