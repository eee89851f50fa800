"""A webhook whose answers a test chooses, and the configuration that makes an API server ask it."""

import base64
import http.server
import json
import socketserver
import ssl
import threading

from harness.handler import QuietHandler

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"


def review(request, **response):
    """An AdmissionReview that answers `request`."""
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
            "response": {"uid": request["uid"], **response}}


class Webhook:
    """Serves TLS on 127.0.0.1. `answer` gets the request of a review and returns what is sent: a dictionary (200,
    JSON), (status, bytes, headers), or None: the connection is closed without an answer. `asked` keeps what came."""

    def __init__(self, certificate, key):
        self.answer = lambda request: review(request, allowed=True)
        self.asked = []
        self.heads = []
        outer = self

        class Handler(QuietHandler):
            def do_POST(self):
                outer.heads.append((self.client_address[1], self.request_version, self.path, dict(self.headers)))
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
                outer.asked.append(request)
                answer = outer.answer(request)
                if answer is None:
                    self.close_connection = True
                    return
                status, body, headers = answer if isinstance(answer, tuple) else \
                    (200, json.dumps(answer).encode(), {"Content-Type": "application/json"})
                self.reply(status, body, headers)

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass  # a client that refuses our certificate is what some tests want

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.load_cert_chain(certificate, key)
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                 do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()


def configuration(name, port, authority, rules, policy="Fail", host="127.0.0.1", timeout=5, conditions=(), bundle=None):
    """A ValidatingWebhookConfiguration with one webhook, `name`.example.com, at `port`."""
    bundle = bundle if bundle is not None else authority.certificate.read_bytes()
    return {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": {"name": name}, "webhooks": [{
                "name": f"{name}.example.com", "admissionReviewVersions": ["v1"], "sideEffects": "None",
                "failurePolicy": policy, "timeoutSeconds": timeout, "rules": rules,
                "matchConditions": list(conditions),
                "clientConfig": {"url": f"https://{host}:{port}/admit",
                                 "caBundle": base64.b64encode(bundle).decode()}}]}
