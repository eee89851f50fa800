"""`fairlead serve` as a process, and questions to it."""

import json
import os
import pathlib
import tempfile
import unittest
import urllib.error
import urllib.parse
import urllib.request

from harness import answers
from harness.process import Process, wait_for
from harness.program import binary, fairlead


class Served:
    """Serves until stop(). `url` ends with /ui/; `base` is what all paths are below."""

    def __init__(self, folder, *arguments, cwd=None, **environment):
        self.output = folder / "serve.txt"
        self.output.write_text("")
        self.process = Process("serve", [binary(), "serve", "--listen", "127.0.0.1:0", *arguments], self.output,
                               cwd=cwd, env={**os.environ, **environment}).start()

        def url():
            assert self.process.running(), self.output.read_text()
            lines = [line for line in self.output.read_text().splitlines() if line.startswith("http://")]
            return lines and lines[0]

        self.url = wait_for("the URL of the page", url)
        self.base = self.url.removesuffix("/ui/")

    @classmethod
    def at(cls, url):
        """A page that another process serves."""
        served = cls.__new__(cls)
        served.url, served.base = url, url.removesuffix("/ui/")
        return served

    def stop(self):
        self.process.stop(20)

    def request(self, target, **headers):
        """(status, headers, text) of a GET."""
        try:
            request = urllib.request.Request(self.base + target, headers=headers)
            with urllib.request.urlopen(request, timeout=60) as reply:
                text = reply.read().decode()
                if target.startswith(("/audit/", "/ui/api/")):
                    answers.check(json.loads(text))
                return reply.status, reply.headers, text
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, refusal.headers, refusal.read().decode()

    def versions(self):
        """The versions that the live stream tells, as they come."""
        with urllib.request.urlopen(self.base + "/ui/api/live", timeout=60) as stream:
            assert stream.headers["Content-Type"] == "text/event-stream", stream.headers
            for line in stream:
                if line.startswith(b"data: "):
                    yield line.decode().removeprefix("data: ").strip()

    def text(self, path, **parameters):
        status, _, text = self.request(target_of(path, parameters))
        assert status == 200, f"{path} {parameters}: {status} {text}"
        return text

    def ask(self, path, **parameters):
        return json.loads(self.text(path, **parameters))

    def refusal(self, path, **parameters):
        """The sentence of a question that is refused with 400."""
        status, _, text = self.request(target_of(path, parameters))
        assert status == 400, f"{path} {parameters}: {status} {text}"
        return json.loads(text)["error"]


def target_of(path, parameters):
    named = {name.rstrip("_").replace("_", "-"): value for name, value in parameters.items()}
    return path + ("?" + urllib.parse.urlencode(named, doseq=True) if named else "")


class PageCase(unittest.TestCase):
    """Tests with a folder of their own."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def done(self, *arguments, stdin=None):
        """What the program prints; it must succeed."""
        done = fairlead(*arguments, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def serve(self, *arguments, **environment):
        served = Served(self.folder, *arguments, **environment)
        self.addCleanup(served.stop)
        return served
