"""Debian's Prometheus, unpacked by scripts/controlplane: promtool, and a server that scrapes one hub."""

import json
import os
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from .controlplane import cache
from .process import free_port, wait_for


def program(name):
    """`prometheus` or `promtool`; None where it was not unpacked."""
    path = cache() / "prometheus" / name
    return path if os.access(path, os.X_OK) else None


def promtool(*arguments, stdin=None):
    """(exit code, what it printed)."""
    done = subprocess.run([str(program("promtool")), *map(str, arguments)], input=stdin, capture_output=True, text=True,
                          timeout=120)
    return done.returncode, done.stdout + done.stderr


class Prometheus:
    """A server of 127.0.0.1 that scrapes `target` each second, as job `fairlead`, and evaluates `rules`."""

    def __init__(self, plane, target, rules):
        folder = plane.directory / "prometheus"
        folder.mkdir()
        (folder / "rules.json").write_text(json.dumps(rules))
        (folder / "prometheus.json").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": ["rules.json"],
            "scrape_configs": [{"job_name": "fairlead", "static_configs": [{"targets": [target]}]}]}))
        self.port = free_port()
        self.process = plane.process("prometheus", [
            program("prometheus"), f"--config.file={folder / 'prometheus.json'}",
            f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address=127.0.0.1:{self.port}"])

    def start(self):
        self.process.start()
        wait_for("Prometheus", self._ready)
        return self

    def _ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=2) as answer:
                return answer.status == 200
        except OSError as problem:
            raise AssertionError(str(problem)) from None

    def _get(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"{query}: {refused.read().decode()}") from None

    def query(self, expression):
        """The series that `expression` has now."""
        return self._get("query", query=expression)["result"]

    def rules(self):
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]
