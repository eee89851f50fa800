"""A member's API server that streams new Nodes without end. `calm` makes it list a few and be quiet; `restless` makes
it list a few, and then add and delete one without end.

    with EndlessMember(directory) as member:
        Hub(plane, server, {"cluster3": {"file": str(member.kubeconfig)}})
        member.calm(20)
        member.restless(20)
"""

import http.server
import json
import pathlib
import socketserver
import threading

from harness.handler import QuietHandler

BOOKMARK = {"type": "BOOKMARK", "object": {"apiVersion": "v1", "kind": "Node", "metadata": {
    "resourceVersion": "1", "annotations": {"k8s.io/initial-events-end": "true"}}}}


def node(name, version, pool="on-demand"):
    allocatable = {"cpu": "100", "memory": "100Gi", "nvidia.com/gpu": "1", "pods": "110"}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "uid": f"uid-{name}", "resourceVersion": str(version), "labels": {"pool": pool}},
            "spec": {}, "status": {"allocatable": allocatable, "conditions": [{"type": "Ready", "status": "True"}]}}


class EndlessMember:
    """Plain HTTP on 127.0.0.1. It never says how many Nodes it has."""

    def __init__(self, directory):
        self.count = None  # of Nodes; None: without end
        self.rests = True  # once it has shown them
        self.streams = 0
        self.ended = threading.Event()
        member = self

        class Handler(QuietHandler):
            def do_GET(self):
                path, _, query = self.path.partition("?")
                if path == "/api/v1":
                    self.answer(200, {"kind": "APIResourceList", "resources": [{"name": "nodes"}]})
                elif path != "/api/v1/nodes":
                    self.answer(404, {"kind": "Status", "code": 404})
                elif "watch=true" in query:
                    self.stream()
                else:
                    self.answer(200, {"kind": "NodeList", "metadata": {"resourceVersion": "1"}, "items": []})

            def answer(self, code, value):
                self.reply(code, json.dumps(value).encode(), {"Content-Type": "application/json"})

            def stream(self):
                member.streams += 1
                self.send_response(200)
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                number = 0
                while member.count is None and not member.ended.is_set():
                    number += 1
                    self.event({"type": "ADDED", "object": node(f"n{member.streams}-{number}", number)})
                for number in range(member.count or 0):
                    self.event({"type": "ADDED", "object": node(f"calm-{number}", number + 1)})
                self.event(BOOKMARK)
                while not member.rests and not member.ended.is_set():
                    number += 1
                    for change in ("ADDED", "DELETED"):
                        self.event({"type": change, "object": node(f"n{member.streams}-{number}", 1000 + number)})
                member.ended.wait()

            def event(self, value):
                line = json.dumps(value).encode() + b"\n"
                self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))

            def handle(self):
                try:
                    super().handle()
                except OSError:
                    pass  # the hub has read enough

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

        self.server = Server(("127.0.0.1", 0), Handler)
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.kubeconfig = pathlib.Path(directory) / "endless.kubeconfig"
        self.kubeconfig.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {"server": url}}], "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}]}))

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()

    def calm(self, count):
        """So many Nodes from now on, and no more."""
        self.count, self.rests = count, True

    def restless(self, count):
        """So many Nodes from now on, and behind them one that comes and goes as fast as it is read."""
        self.count, self.rests = count, False
