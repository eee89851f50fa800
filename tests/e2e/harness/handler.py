"""What the HTTP servers of tests have in common."""

import http.server


class QuietHandler(http.server.BaseHTTPRequestHandler):
    """Keeps connections open and writes no log."""

    protocol_version = "HTTP/1.1"

    def reply(self, status, body, headers=()):
        self.send_response(status)
        for name, value in {**dict(headers), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass
