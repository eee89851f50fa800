"""A small HTTP proxy that only knows CONNECT, plain or behind TLS."""

import base64
import select
import socket
import ssl
import threading


class Proxy:
    """Tunnels for whoever knows `password`; `tunnels` lists the targets that were asked for."""

    def __init__(self, password, certificate=None):
        self.expected = "Basic " + base64.b64encode(f"fairlead:{password}".encode()).decode()
        self.tunnels = []
        self.refused = 0
        self._tls = None
        if certificate:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*map(str, certificate))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open = []
        scheme = "https" if certificate else "http"
        self.url = f"{scheme}://fairlead:{password}@127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self._listener.close()
        for one in self._open:
            one.close()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            if self._tls:
                client = self._tls.wrap_socket(client, server_side=True)
            self._open.append(client)
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += client.recv(1)
            lines = head.decode().split("\r\n")
            method, target, _ = lines[0].split()
            headers = dict(line.split(": ", 1) for line in lines[1:] if line)
            if method != "CONNECT" or headers.get("Proxy-Authorization") != self.expected:
                self.refused += 1
                client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
                return
            self.tunnels.append(target)
            host, port = target.rsplit(":", 1)
            with socket.create_connection((host, int(port))) as server:
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                self._copy(client, server)
        except (OSError, ValueError):
            pass  # one side went away
        finally:
            client.close()

    @staticmethod
    def _copy(client, server):
        while True:
            pending = getattr(client, "pending", lambda: 0)()
            ready = [client] if pending else select.select([client, server], [], [])[0]
            for one in ready:
                data = one.recv(65536)
                if not data:
                    return
                (server if one is client else client).sendall(data)
