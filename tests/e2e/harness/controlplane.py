"""A real etcd and real kube-apiservers on free ports of 127.0.0.1.

    with ControlPlane() as plane:
        hub = plane.add_server("hub")
        hub.install_crds()
        hub.kubectl("get", "clusterqueues")

The programs come from $KUBEBUILDER_ASSETS, or from the cache that scripts/controlplane fills. Several servers
share one etcd under different prefixes, so their resourceVersions come from one counter: a good check that
no code compares them. Everything dies with the test, also when it crashes.
"""

import http.client
import json
import os
import pathlib
import secrets
import shutil
import subprocess
import tempfile
import urllib.parse
import urllib.request

from .apiserver import ApiServer, USERS
from .canary import CANARY
from .certificates import Authority
from .process import Process, free_port, wait_for

ROOT = pathlib.Path(__file__).resolve().parents[3]
VERSION = (ROOT / "tests/e2e/controlplane/VERSION").read_text().strip()
PROGRAMS = ("etcd", "kube-apiserver", "kubectl", "kube-controller-manager")


def cache():
    """Where scripts/controlplane keeps what it built."""
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return base / "fairlead/controlplane"


def assets():
    """The folder of the control plane's programs, or None where there is none."""
    chosen = os.environ.get("KUBEBUILDER_ASSETS")
    folder = pathlib.Path(chosen) if chosen else cache() / VERSION
    needed = PROGRAMS[:3] if chosen else PROGRAMS
    return folder if all(os.access(folder / name, os.X_OK) for name in needed) else None


def scheduler():
    """kube-scheduler, or None: a folder of KUBEBUILDER_ASSETS need not have it."""
    program = (assets() or cache() / VERSION) / "kube-scheduler"
    return program if os.access(program, os.X_OK) else None


def oracle(name):
    """A program of tests/e2e/controlplane that says what Kubernetes would, or None."""
    program = cache() / VERSION / name
    return program if os.access(program, os.X_OK) else None


def old_etcd():
    """An etcd 3.4, which cannot serve streaming lists, or None."""
    for program in (cache() / "etcd-3.4/etcd", pathlib.Path("/usr/bin/etcd")):
        if os.access(program, os.X_OK):
            version = subprocess.run([str(program), "--version"], capture_output=True, text=True).stdout
            if version.startswith("etcd Version: 3.4."):
                return program
    return None


def crd_folders():
    """The folders whose CRDs are installed: the real ones where they can be had, else the project's own."""
    own = ROOT / "schema/crd"
    shared = pathlib.Path(os.environ.get("FAIRLEAD_CRDS") or ROOT.parent / "shared/crds")
    if not shared.is_dir():
        return [own]
    return [shared / name for name in REAL_CRDS if (shared / name).is_dir()] + [own]


REAL_CRDS = ("kueue-v0.19.2", "ocm-v1.3.0", "cluster-inventory-v0.1.2", "kubestellar-v0.30.0")


class ControlPlane:
    """One etcd and the API servers on it. Use it as a context manager.

    `etcd`: another etcd program. `directory`: where state and logs are kept (default: a temporary folder,
    removed at the end unless FAIRLEAD_KEEP is set). `synced`: etcd waits for its disk, as one that is used does.
    """

    def __init__(self, etcd=None, directory=None, synced=False):
        self.assets = assets()
        assert self.assets, "no control plane: run scripts/controlplane or set KUBEBUILDER_ASSETS"
        self.directory = pathlib.Path(directory or tempfile.mkdtemp(prefix="fairlead-e2e-"))
        self.servers = {}
        self.processes = []
        self.hubs = []
        self._synced = synced
        self._etcd_program = etcd or self.assets / "etcd"
        self._temporary = directory is None

    def __enter__(self):
        try:
            self._make_credentials()
            self._start_etcd()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        for process in reversed(self.processes):
            if process.running():
                process.resume()
            process.kill()
        problem = self._hub_with_a_secret()
        if self._temporary and not os.environ.get("FAIRLEAD_KEEP"):
            shutil.rmtree(self.directory, ignore_errors=True)
        if problem:
            raise problem

    def _hub_with_a_secret(self):
        """The failure of the first hub that gave a secret away, of those that were not looked at yet."""
        for hub in self.hubs:
            try:
                hub.check_no_secret()
            except AssertionError as problem:
                return problem
        return None

    def process(self, name, command, env=None):
        """A Process that ends with this control plane; not started yet."""
        made = Process(name, command, self.directory / f"{name}.log", env)
        self.processes.append(made)
        return made

    def add_server(self, name="hub", prefix=None, **options):
        """Starts one more kube-apiserver; with the `prefix` of another one it serves the same objects.

        Options: see ApiServer.
        """
        server = ApiServer(self, name, prefix or f"/{name}", **options)
        self.servers[name] = server
        server.start()
        return server

    def add_controller_manager(self, server, controllers="namespace,garbagecollector", *arguments):
        """Starts controllers beside `server`; by default those that finish deletions of namespaces and the like."""
        manager = self.process(f"{server.name}-controller-manager", [
            self.assets / "kube-controller-manager", f"--kubeconfig={server.kubeconfig()}",
            f"--controllers={controllers}", "--leader-elect=false", f"--secure-port={free_port()}",
            f"--cert-dir={self.directory / (server.name + '-controller-manager')}", *arguments])
        return manager.start()

    def add_scheduler(self, server, *arguments):
        """Starts a kube-scheduler beside `server`, with its default profile."""
        made = self.process(f"{server.name}-scheduler", [
            scheduler(), f"--kubeconfig={server.kubeconfig()}", "--bind-address=127.0.0.1",
            f"--secure-port={free_port()}", "--leader-elect=false",
            f"--cert-dir={self.directory / (server.name + '-scheduler')}", *arguments])
        return made.start()

    def backup(self):
        """A copy of etcd's data as it is at one instant; restore() takes it."""
        kept = self.directory / f"etcd-backup-{len(list(self.directory.glob('etcd-backup-*')))}"
        self.etcd.pause()
        try:
            shutil.copytree(self.directory / "etcd", kept)
        finally:
            self.etcd.resume()
        return kept

    def restore(self, kept):
        """The store of `kept` in the place of the present one, and the API servers started on it."""
        for server in self.servers.values():
            server.kill()
        self.etcd.kill()
        shutil.rmtree(self.directory / "etcd")
        shutil.copytree(kept, self.directory / "etcd")
        self.etcd.start()
        wait_for("etcd", self._etcd_healthy)
        for server in self.servers.values():
            server.start()

    def revision(self, writes=0):
        """Where the store is, after so many more writes."""
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.etcd_url).netloc, timeout=10)
        try:
            for _ in range(writes + 1):
                connection.request("POST", "/v3/kv/put", json.dumps({"key": "ZmFpcmxlYWQtZmlsbGVy"}))
                answer = json.load(connection.getresponse())
            return int(answer["header"]["revision"])
        finally:
            connection.close()

    def _make_credentials(self):
        self.authority = Authority(self.directory)
        self.server_certificate = self.authority.server()
        self.signing_key = self.authority.signing_key()
        self.tokens = {user: CANARY + secrets.token_hex(16) for user in USERS}
        lines = [f'{self.tokens[user]},{user},{user}' + (f',"{group}"' if group else "")
                 for user, group in USERS.items()]
        self.token_file = self.directory / "tokens.csv"
        self.token_file.write_text("\n".join(lines) + "\n")

    def _start_etcd(self):
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        self.etcd_url = client
        self.etcd = self.process("etcd", [
            self._etcd_program, f"--data-dir={self.directory / 'etcd'}", "--name=test",
            f"--listen-client-urls={client}", f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=test={peer}", *([] if self._synced else ["--unsafe-no-fsync"])])
        self.etcd.start()
        wait_for("etcd", self._etcd_healthy)

    def _etcd_healthy(self):
        assert self.etcd.running(), self.etcd.tail()
        try:
            with urllib.request.urlopen(f"{self.etcd_url}/health", timeout=2) as answer:
                return json.load(answer).get("health") == "true"
        except OSError as problem:
            raise AssertionError(str(problem)) from None
