"""An etcd of its own for the ring of a replicated log: members behind TLS that ask for a client certificate."""

import json
import os
import ssl
import subprocess
import urllib.request

from harness import controlplane
from harness.process import free_port, wait_for


def run(selected, **environment):
    """Runs hidden test cases of the C++ program for rings; what it prints."""
    program = os.environ.get("FAIRLEAD_RING_TEST")
    assert program, "FAIRLEAD_RING_TEST must name test-unit-ring; ctest sets it"
    done = subprocess.run([program, f"[{selected}]"], capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, **{name: str(text) for name, text in environment.items()}})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Etcd:
    """`members` of an etcd, started. They end with `plane`."""

    def __init__(self, plane, members=3, program=None, name="ring"):
        self.plane = plane
        # The gateway of a member is a client of the member itself, with the member's certificate.
        self.served = plane.authority.member(f"{name}-member")
        self.client = plane.authority.client("fairlead", name=f"{name}-client")
        self.endpoints = [f"https://127.0.0.1:{free_port()}" for _ in range(members)]
        peers = [f"http://127.0.0.1:{free_port()}" for _ in range(members)]
        cluster = ",".join(f"{name}{i}={peer}" for i, peer in enumerate(peers))
        certificate, key = self.served
        self.members = [plane.process(f"{name}-etcd-{i}", [
            program or controlplane.assets() / "etcd", f"--name={name}{i}",
            f"--data-dir={plane.directory / f'{name}-etcd-{i}'}", f"--listen-client-urls={self.endpoints[i]}",
            f"--advertise-client-urls={self.endpoints[i]}", f"--listen-peer-urls={peers[i]}",
            f"--initial-advertise-peer-urls={peers[i]}", f"--initial-cluster={cluster}",
            f"--cert-file={certificate}", f"--key-file={key}", "--client-cert-auth",
            f"--trusted-ca-file={plane.authority.certificate}"]) for i in range(members)]
        for member in self.members:
            member.start()
        for endpoint in self.endpoints:
            wait_for(f"etcd at {endpoint}", lambda at=endpoint: self._healthy(at))

    def environment(self, endpoints=None, client=None):
        certificate, key = client or self.client
        return {"FAIRLEAD_RING_ETCD": " ".join(endpoints or self.endpoints),
                "FAIRLEAD_RING_ETCD_CA": self.plane.authority.certificate,
                "FAIRLEAD_RING_ETCD_CERTIFICATE": certificate, "FAIRLEAD_RING_ETCD_KEY": key}

    def _healthy(self, endpoint):
        context = ssl.create_default_context(cafile=self.plane.authority.certificate)
        context.load_cert_chain(*self.client)
        try:
            with urllib.request.urlopen(f"{endpoint}/health", timeout=2, context=context) as answer:
                return json.load(answer).get("health") == "true"
        except OSError as problem:
            raise AssertionError(str(problem)) from None
