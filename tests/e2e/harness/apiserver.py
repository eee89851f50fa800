"""One kube-apiserver: its life, its users, and requests to it."""

import base64
import http.client
import itertools
import json
import pathlib
import ssl
import subprocess
import time
import urllib.parse

from .canary import CANARY
from .process import free_port, wait_for

# Token users and their group. `limited` may do nothing until grant() says so.
USERS = {"admin": "system:masters", "fairlead": "system:masters", "human": "system:masters", "limited": None}


_serial = itertools.count(1)
_crds_of_files = {}


class Refused(AssertionError):
    """The server answered with a Status that is no success."""

    def __init__(self, code, status):
        self.code = code
        self.status = status
        super().__init__(f"{code} {status.get('reason', '')}: {status.get('message', status)}")


class ApiServer:
    """A kube-apiserver under a prefix of the shared etcd.

    Options: `compaction_interval` ("5s": an old watch soon gets 410), `watch_cache_size`, `arguments` (more
    command line). Requests use http.client (fast, raw answers); kubectl() is the real program.
    """

    def __init__(self, plane, name, prefix, compaction_interval=None, watch_cache_size=None, arguments=()):
        self.plane = plane
        self.name = name
        self.port = free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        private, public = plane.signing_key
        certificate, key = plane.server_certificate
        command = [
            plane.assets / "kube-apiserver", f"--etcd-servers={plane.etcd_url}", f"--etcd-prefix={prefix}",
            "--bind-address=127.0.0.1", f"--secure-port={self.port}", "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
            "--disable-admission-plugins=ServiceAccount",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={public}", f"--service-account-signing-key-file={private}",
            f"--client-ca-file={plane.authority.certificate}", f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}", f"--cert-dir={plane.directory / (name + '-certs')}",
            f"--token-auth-file={plane.token_file}", *arguments]
        if compaction_interval:
            command.append(f"--etcd-compaction-interval={compaction_interval}")
        if watch_cache_size is not None:
            command.append(f"--default-watch-cache-size={watch_cache_size}")
        self.process = plane.process(f"{name}-apiserver", command)
        self.tls = ssl.create_default_context(cafile=plane.authority.certificate)

    # -- life ----------------------------------------------------------------------------------------------

    def start(self, timeout=180):
        self.process.start()
        wait_for(f"{self.name} to be ready", self._ready, timeout)

    def kill(self):
        """kill -9: what a machine failure looks like."""
        self.process.kill()

    def restart(self):
        """On the same port and prefix: the same server, with an empty watch cache."""
        self.process.kill()
        self.start()

    def pause(self):
        """Connections stay open, streams fall silent."""
        self.process.pause()

    def resume(self):
        self.process.resume()

    def _ready(self):
        assert self.process.running(), self.process.tail()
        try:
            return self.raw("GET", "/readyz", timeout=5)[0] == 200
        except OSError as problem:
            raise AssertionError(str(problem)) from None

    # -- requests ------------------------------------------------------------------------------------------

    def raw(self, method, path, body=None, content_type="application/json", user="admin", timeout=30, headers=()):
        """(status, bytes) of one request with the token of `user` (None: no credentials)."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self.tls)
        try:
            sent = {"Content-Type": content_type, "Accept": "application/json", **dict(headers)}
            if user:
                sent["Authorization"] = f"Bearer {self.plane.tokens[user]}"
            connection.request(method, path, body=body, headers=sent)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def request(self, method, path, body=None, content_type="application/json", user="admin"):
        """The JSON answer; Refused where the server says no.

        429 is tried again, as every client does: just after a start the server has it for each CRD
        ("storage is (re)initializing"). So is a create that gets 404 as plain text: once that was the answer for a
        kind that had just been listed.
        """
        data = None if body is None else body if isinstance(body, (str, bytes)) else json.dumps(body)
        end = time.monotonic() + 30
        status, answer = self.raw(method, path, data, content_type, user)
        while (status == 429 or method == "POST" and answer == b"404 page not found\n") and time.monotonic() < end:
            time.sleep(0.2)
            status, answer = self.raw(method, path, data, content_type, user)
        try:
            value = json.loads(answer)
        except ValueError:
            value = {"message": answer.decode(errors="replace")}
        if status >= 300:
            raise Refused(status, value)
        return value

    def get(self, path):
        """The object at `path`, or None where there is none."""
        try:
            return self.request("GET", path)
        except Refused as refused:
            if refused.code == 404:
                return None
            raise

    def create(self, path, value, user="admin"):
        return self.request("POST", path, value, user=user)

    def delete(self, path):
        return self.request("DELETE", path)

    def clear(self, path):
        """Deletes every object that a list of `path` has, finalizers or not, and waits until they are gone."""
        for item in (self.get(path) or {"items": []})["items"]:
            metadata = item["metadata"]
            base, plural = path.rsplit("/", 1)
            place = f"{base}/namespaces/{metadata['namespace']}/{plural}" if "namespace" in metadata else path
            if metadata.get("finalizers"):
                self.merge(f"{place}/{metadata['name']}", {"metadata": {"finalizers": None}}, user="admin")
            self.raw("DELETE", f"{place}/{metadata['name']}")
        wait_for(f"{path} to be empty", lambda: not (self.get(path) or {"items": []})["items"])

    def merge(self, path, patch, user="human"):
        """A JSON merge patch, as `kubectl edit` sends it."""
        return self.request("PATCH", f"{path}?fieldManager={user}", patch, "application/merge-patch+json", user)

    def apply(self, path, value, manager="human", force=False, user="admin"):
        """A server-side apply of `value` at `path`."""
        query = urllib.parse.urlencode({"fieldManager": manager, "force": str(force).lower()})
        return self.request("PATCH", f"{path}?{query}", value, "application/apply-patch+yaml", user)

    def watch(self, path, resource_version, timeout_seconds=5):
        """The notifications that a watch from `resource_version` gets within `timeout_seconds`."""
        query = f"watch=true&resourceVersion={resource_version}&timeoutSeconds={timeout_seconds}"
        _, answer = self.raw("GET", f"{path}?{query}", timeout=timeout_seconds + 30)
        return [json.loads(line) for line in answer.splitlines() if line.strip()]

    def kubectl(self, *arguments, stdin=None, user="admin", check=True, timeout=60):
        """Runs the real kubectl; its standard output. With check=False, the finished process."""
        command = [str(self.plane.assets / "kubectl"), f"--kubeconfig={self.kubeconfig(user)}",
                   f"--cache-dir={self.plane.directory / 'kubectl-cache'}", *map(str, arguments)]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=timeout)
        if not check:
            return done
        assert done.returncode == 0, f"kubectl {' '.join(map(str, arguments))}: {done.stderr}"
        return done.stdout

    # -- what tests prepare --------------------------------------------------------------------------------

    def install_crds(self, folders=None, only=None):
        """Creates the CRDs of `folders` (default: crd_folders()) and waits until they are served.

        `only`: names of CRDs such as `clusterqueues.kueue.x-k8s.io`; by default all of them.
        """
        from .controlplane import crd_folders
        paths = [path for folder in folders or crd_folders() for path in sorted(pathlib.Path(folder).glob("*.yaml"))]
        if only is not None:
            paths = [path for path in paths if any(f"name: {name}" in path.read_text() for name in only)]
        wanted = {}
        for document in self._crd_documents(tuple(paths)):
            name = document["metadata"]["name"]
            # The first folder wins: the real CRD before the project's trimmed one.
            if name not in wanted and (only is None or name in only):
                wanted[name] = document
        crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
        for document in wanted.values():
            self.create(crds, document)
        for name, document in wanted.items():
            wait_for(f"CRD {name}", lambda crd=document: self._served(crd))
        return sorted(wanted)

    def wait_for_openapi(self, groups):
        """Waits until the OpenAPI index has each API group: it is published some time after a CRD is served."""
        def missing():
            index = json.loads(self.raw("GET", "/openapi/v3")[1])["paths"]
            return set(groups) - {path.split("/")[1] for path in index if "/" in path}
        wait_for(f"OpenAPI of {', '.join(sorted(groups))}", lambda: not missing())

    def _crd_documents(self, paths):
        if paths not in _crds_of_files:
            # kubectl turns YAML into JSON, so that the harness needs no YAML reader; once for all, since a start of
            # it costs more than the rest.
            files = [word for path in paths for word in ("-f", path)]
            text = self.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", *files)
            found = _crds_of_files[paths] = []
            while text:
                value, end = json.JSONDecoder().raw_decode(text)
                text = text[end:].lstrip()
                items = value["items"] if value["kind"] == "List" else [value]
                found += [item for item in items if item["kind"] == "CustomResourceDefinition"]
            for item in found:
                item.pop("status", None)
                item["metadata"].pop("creationTimestamp", None)
        return _crds_of_files[paths]

    def _served(self, crd):
        # "Established" is said a moment before the paths answer: ask the paths.
        spec = crd["spec"]
        paths = [f"/apis/{spec['group']}/{version['name']}/{spec['names']['plural']}?limit=1"
                 for version in spec["versions"] if version["served"]]
        return all(self.raw("GET", path)[0] == 200 for path in paths)

    def grant(self, user, rules):
        """Lets `user` do what `rules` (RBAC PolicyRules) say, and nothing else of ours."""
        rbac = "/apis/rbac.authorization.k8s.io/v1"
        name = f"test-{user}"
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": name}, "rules": rules}
        binding = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
                   "metadata": {"name": name},
                   "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
                   "subjects": [{"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": user}]}
        self.apply(f"{rbac}/clusterroles/{name}", role, force=True)
        self.apply(f"{rbac}/clusterrolebindings/{name}", binding, force=True)

    def kubeconfig(self, user="admin", credential="token", name=None, server=None, expired=False, inline=False):
        """Writes a kubeconfig whose only context is `name` (default: this server's), and returns its path.

        `credential`: token | certificate | none. `server`: another URL; "" leaves the server out.
        `inline`: certificates as data in the file instead of paths.
        """
        name = name or self.name
        url = self.url if server is None else server
        cluster = self._file_or_data("certificate-authority", self.plane.authority.certificate, inline)
        if url:
            cluster["server"] = url
        config = {"apiVersion": "v1", "kind": "Config", "current-context": name,
                  "clusters": [{"name": name, "cluster": cluster}],
                  "contexts": [{"name": name, "context": {"cluster": name, "user": user}}],
                  "users": [{"name": user, "user": self._user(user, credential, expired, inline)}]}
        path = self.plane.directory / f"kubeconfig-{name}-{user}-{next(_serial)}.json"
        path.write_text(json.dumps(config, indent=1))
        path.chmod(0o600)
        return path

    def account(self, name, role="cluster-admin"):
        """A service account that may do what `role` may: (name, token). Deleting the account revokes the token."""
        accounts = "/api/v1/namespaces/default/serviceaccounts"
        bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
        self.apply(f"{accounts}/{name}", {"apiVersion": "v1", "kind": "ServiceAccount",
                                          "metadata": {"name": name, "namespace": "default"}}, force=True)
        self.apply(f"{bindings}/{name}", {
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": "default"}]}, force=True)
        answer = self.create(f"{accounts}/{name}/token", {"apiVersion": "authentication.k8s.io/v1",
                                                          "kind": "TokenRequest", "spec": {}})
        return name, answer["status"]["token"]

    def remove_account(self, name):
        self.delete(f"/api/v1/namespaces/default/serviceaccounts/{name}")

    def kubeconfig_of(self, user, cluster=None, inline=False):
        """The text of a kubeconfig with this `user` entry; `cluster` overrides fields of its cluster."""
        path = self.kubeconfig(credential="none", inline=inline)
        config = json.loads(path.read_text())
        config["users"][0]["user"] = user
        config["clusters"][0]["cluster"].update(cluster or {})
        # Somewhere in each kubeconfig there is a secret.
        config["preferences"] = {"extensions": [{"name": "test", "extension": {"note": CANARY}}]}
        return json.dumps(config, indent=1)

    def _user(self, user, credential, expired, inline):
        if credential == "token":
            return {"token": self.plane.tokens[user]}
        if credential == "none":
            return {}
        label = f"client-{user}-{next(_serial)}"
        certificate, key = self.plane.authority.client(user, USERS.get(user), label, expired)
        return {**self._file_or_data("client-certificate", certificate, inline),
                **self._file_or_data("client-key", key, inline)}

    @staticmethod
    def _file_or_data(key, path, inline):
        if not inline:
            return {key: str(path)}
        return {f"{key}-data": base64.b64encode(pathlib.Path(path).read_bytes()).decode()}
