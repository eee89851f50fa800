"""A man in the middle on purpose: between a program and one API server, it records and does wrong on demand.

    with Interceptor(server) as between:
        hub = Hub(plane, server, kubeconfig=between.kubeconfig())
        between.fault = lambda request: Answer(429, retry_after=2) if request.writes() else None

It ends TLS with the control plane's own certificate, so it sees what is sent.
"""

import http.client
import http.server
import json
import socketserver
import ssl
import threading
import urllib.parse

_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "content-length", "te", "trailer", "upgrade"}


class Request:
    """What was asked: `path` without the query, `query` as a dictionary of its last values."""

    def __init__(self, method, target, headers, body):
        self.method = method
        self.target = target
        self.path, _, query = target.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        self.headers = dict(headers)
        self.body = body

    def writes(self):
        return self.method != "GET"

    def watches(self):
        return self.query.get("watch") in ("true", "1")

    def __repr__(self):
        return f"{self.method} {self.target}"


class Answer:
    """Said instead of asking the API server; `retry_after` in seconds."""

    def __init__(self, code, reason="", message="said by the test", retry_after=None):
        self.code = code
        self.headers = {"Content-Type": "application/json"}
        if retry_after is not None:
            self.headers["Retry-After"] = str(retry_after)
        self.body = json.dumps({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
                                "message": message, "reason": reason, "code": code}).encode()


# The server does it, and the client does not learn of it: the connection ends instead of an answer.
SWALLOW = object()


class Held:
    """Kept back: the client's connection ends, and deliver() sends the request when the test wants it."""

    def __init__(self):
        self.request = None

    def deliver(self, server):
        """Sends it to `server` now: (status, bytes)."""
        headers = [(name, text) for name, text in self.request.headers.items()
                   if name.lower() not in _HOP_BY_HOP and name.lower() not in ("host", "content-type")]
        return server.raw(self.request.method, self.request.target, self.request.body,
                          self.request.headers.get("Content-Type", "application/json"), user=None, headers=headers)


class Exchange:
    """A request and what came back; of a watch, `body` grows."""

    def __init__(self, request):
        self.request = request
        self.code = None
        self.headers = None
        self.body = b""


class Interceptor:
    """Use it as a context manager.

    `fault(request)`: what is done instead of passing it on: an Answer, SWALLOW, a Held, or None.
    `carried_out(request)` is called when the server has answered and before that is passed on. Both may be replaced
    at any time and are called by many threads. `exchanges` holds everything that passed.
    """

    def __init__(self, server):
        self.server = server
        self.fault = lambda request: None
        self.carried_out = lambda request: None
        self.exchanges = []
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(*server.plane.server_certificate)

    def __enter__(self):
        self._listener = _Listener(self)
        self.port = self._listener.server_address[1]
        self.url = f"https://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._listener.serve_forever, kwargs={"poll_interval": 0.05},
                                        daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()

    def kubeconfig(self, user="fairlead"):
        """As the API server's, but through here."""
        return self.server.kubeconfig(user, server=self.url)


class _Listener(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, interceptor):
        self.interceptor = interceptor
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request, client_address):
        pass  # clients that die, servers that are killed: what the tests are about


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        # The handshake in the connection's own thread: a client that is stopped holds up no other client.
        self.request = self.server.interceptor.tls.wrap_socket(self.request, server_side=True)
        self.upstream = None
        super().setup()

    def finish(self):
        if self.upstream is not None:
            self.upstream.close()
        super().finish()

    def log_message(self, *_):
        pass

    def _handle(self):
        between = self.server.interceptor
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        request = Request(self.command, self.path, self.headers.items(), body)
        exchange = Exchange(request)
        between.exchanges.append(exchange)
        action = between.fault(request)
        if isinstance(action, Answer):
            exchange.code, exchange.headers, exchange.body = action.code, action.headers, action.body
            self._answer(action.code, action.headers.items(), action.body)
            return
        if isinstance(action, Held):
            action.request = request
            self.close_connection = True
            return
        answered = self._ask(request)
        exchange.code, exchange.headers = answered.status, answered.headers
        if answered.chunked and request.watches():
            self._stream(answered, exchange)
            return
        exchange.body = answered.read()
        between.carried_out(request)
        if action is SWALLOW:
            self.close_connection = True
            return
        self._answer(answered.status, answered.headers.items(), exchange.body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

    def _ask(self, request):
        server = self.server.interceptor.server
        if self.upstream is None:
            self.upstream = http.client.HTTPSConnection("127.0.0.1", server.port, context=server.tls)
        headers = {name: text for name, text in request.headers.items()
                   if name.lower() not in _HOP_BY_HOP and name.lower() != "host"}
        self.upstream.request(request.method, request.target, body=request.body or None, headers=headers)
        return self.upstream.getresponse()

    def _head(self, code, headers):
        self.send_response_only(code)
        for name, text in headers:
            if name.lower() not in _HOP_BY_HOP:
                self.send_header(name, text)

    def _answer(self, code, headers, body):
        self._head(code, headers)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, answered, exchange):
        self._head(answered.status, answered.headers.items())
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        while part := answered.read1(65536):
            exchange.body += part
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")
