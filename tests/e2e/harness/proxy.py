"""Small proxies: HTTP that only knows CONNECT, plain or behind TLS, and SOCKS 5."""

import base64
import select
import socket
import ssl
import threading


class Proxy:
    """Tunnels for clients that know `password`; `tunnels` lists the targets that were asked for."""

    established = b"HTTP/1.1 200 Connection established\r\n\r\n"

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
            target = self._asked_for(client)
            if not target:
                self.refused += 1
                return
            self.tunnels.append(target)
            host, port = target.rsplit(":", 1)
            with socket.create_connection((host, int(port))) as server:
                client.sendall(self.established)
                self._copy(client, server)
        except (OSError, ValueError):
            pass  # one side went away
        finally:
            client.close()

    def _asked_for(self, client):
        """host:port; None, and an answer that says no, for a client that does not know the password."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        lines = head.decode().split("\r\n")
        method, target, _ = lines[0].split()
        headers = dict(line.split(": ", 1) for line in lines[1:] if line)
        if method == "CONNECT" and headers.get("Proxy-Authorization") == self.expected:
            return target
        client.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        return None

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


class Socks5Proxy(Proxy):
    """RFC 1928 with the user and password of RFC 1929."""

    # The address where it is bound, as a name: the client has to skip it.
    established = b"\x05\x00\x00\x03\x05bound\x00\x01"

    def __init__(self, password):
        super().__init__(password)
        self.expected = ("fairlead", password)
        self.url = self.url.replace("http://", "socks5://")

    def _asked_for(self, client):
        take = client.makefile("rb", buffering=0).read
        version, count = take(2)
        assert version == 5
        if 2 not in take(count):
            client.sendall(b"\x05\xff")
            return None
        client.sendall(b"\x05\x02")
        assert take(1) == b"\x01"
        login = tuple(take(take(1)[0]).decode() for _ in range(2))
        if login != self.expected:
            client.sendall(b"\x01\x01")
            return None
        client.sendall(b"\x01\x00")
        version, command, _, kind = take(4)
        assert (version, command) == (5, 1)
        host = take(take(1)[0]).decode() if kind == 3 else socket.inet_ntop(
            socket.AF_INET if kind == 1 else socket.AF_INET6, take(4 if kind == 1 else 16))
        return f"{host}:{int.from_bytes(take(2), 'big')}"
