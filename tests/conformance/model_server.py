"""The API-server model as a child process, asked in the same way as the real server of tests/e2e/harness."""

import http.client
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def program():
    """The model server of this build tree (ctest says which)."""
    chosen = os.environ.get("FAIRLEAD_MODEL_SERVER")
    assert chosen, "FAIRLEAD_MODEL_SERVER must name fairlead-model-server; ctest sets it"
    return chosen


class ModelServer:
    """Use it as a context manager. It ends when its standard input does, so it cannot outlive the test."""

    def __enter__(self):
        self.child = subprocess.Popen([program()], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.child.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    def __exit__(self, *_):
        self.child.stdin.close()
        self.child.wait(timeout=30)
        self.child.stdout.close()

    def command(self, line):
        """`compact` or `bookmarks`; returns when it is done."""
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        assert self.child.stdout.readline() == "ok\n"

    def exchange(self, method, path, body=None, headers=None, timeout=30):
        """(status, headers, bytes) of one request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        finally:
            connection.close()

    def as_json(self, crd_text):
        """A CRD written in YAML as JSON: the model reads both."""
        status, _, answer = self.exchange("POST", f"{CRDS}?dryRun=All", crd_text,
                                          {"Content-Type": "application/yaml"})
        value = json.loads(answer)
        assert status in (201, 409), value
        return value

    def kubeconfig(self, directory):
        path = pathlib.Path(directory) / "kubeconfig"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "model",
            "clusters": [{"name": "model", "cluster": {"server": self.url}}],
            "users": [{"name": "model", "user": {}}],
            "contexts": [{"name": "model", "context": {"cluster": "model", "user": "model"}}]}))
        return path
