"""A running `fairlead hub`, and what can be asked about its log."""

import http.client
import itertools
import json
import os

from .canary import CANARY, check_absent, forbidden, texts_of
from .process import free_port, wait_for
from .program import binary, fairlead, json_lines

# Every window off: what a test does is seen at once.
AT_ONCE = ("debounce={ingestCoalesce: 0s, shrinkWindow: 0s, growWindow: 0s, firstQuiet: 0s, minGrowInterval: 0s, "
           "growDeadbandPercent: 0, flapPenalty: 0, massShrinkPercent: 0, massShrinkHold: 0s, writeInterval: 0s}")
_serial = itertools.count(1)


class Hub:
    """`fairlead hub` on `server`, its data below the control plane's folder.

    `members`: {cluster name: ApiServer} whose Nodes are watched directly, or what the configuration says of it
    ({"secretRef": "team/name"}). `settings`: more --set values.
    `program`: another than the one under test. `listen`: the address of its plain port.
    """

    def __init__(self, plane, server, members=(), settings=(AT_ONCE,), config=None, data=None, kubeconfig=None,
                 arguments=(), program=None, listen="127.0.0.1"):
        number = next(_serial)
        self.server = server
        self.data = data or plane.directory / f"data-{number}"
        self.config = plane.directory / f"configuration-{number}.yaml"
        self.port = free_port()
        self.config.write_text(config if config is not None else json.dumps({
            "apiVersion": "fairlead.io/v1alpha1", "kind": "Configuration",
            # A claim gets no hub quota before its member reports; no program plays the member's agent here.
            "members": {"mode": "none", "kubeconfigs": [
                {"cluster": name, **(member if isinstance(member, dict)
                                     else {"file": str(member.kubeconfig("fairlead"))})}
                for name, member in dict(members).items()]},
            "capacity": {"headroom": {"percent": {}, "reserved": {}}}, "claims": {"create": False}}, indent=1) + "\n")
        command = [program or binary(), "hub", "--kubeconfig", kubeconfig or server.kubeconfig("fairlead"),
                   "--data", self.data, "--config", self.config, "--listen", f"{listen}:{self.port}", *arguments]
        for setting in settings:
            command += ["--set", setting]
        self.process = plane.process(f"fairlead-{number}", command)
        self.plane = plane
        self.metrics = ""
        self.unchecked = False
        plane.hubs.append(self)

    def start(self, environment=None):
        self.process.env = {**os.environ, "FAIRLEAD_TEST_CANARY": CANARY, **(environment or {})}
        self.process.start()
        self.unchecked = True
        return self

    def stop(self):
        """SIGTERM: a clean end, exit code 0."""
        self._remember_metrics()
        code = self.process.stop()
        assert code == 0, f"the hub ended with {code}\n{self.process.tail()}"
        self.check_no_secret()

    def kill(self):
        self.process.kill()

    def finish(self):
        """For the end of a test: killed if it still runs, and nothing that it wrote holds a secret."""
        self._remember_metrics()
        self.kill()
        self.check_no_secret()

    def _remember_metrics(self):
        if self.process.running():
            try:
                self.metrics += self.http("/metrics")[1]
            except OSError:
                pass  # paused, or not listening yet

    def check_no_secret(self):
        """Log, exports, files, metrics and diagnostics hold none of the suite's secrets."""
        if not self.unchecked:
            return
        self.unchecked = False
        texts = [("metrics", self.metrics.encode()), ("diagnostics", self.process.text().encode()),
                 *texts_of(self.data)]
        check_absent(texts, forbidden(self.plane.directory))

    def check_running(self):
        assert self.process.running(), self.process.tail()
        return True

    def http(self, path):
        """(status, text) from its own HTTP server."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        finally:
            connection.close()

    def ready(self):
        """Whether it answers, and says that it is ready."""
        try:
            return self.http("/readyz")[0] == 200
        except OSError:
            return False

    def wait_until(self, what, condition, timeout=30):
        """As wait_for, but a hub that ended is said at once."""
        def still_running_and(inner=condition):
            if not self.process.running():
                raise RuntimeError(f"the hub ended while waiting for {what}\n{self.process.tail()}")
            return inner()
        return wait_for(what, still_running_and, timeout)

    def said(self, *words):
        """Whether its diagnostics hold all `words`, in any case."""
        text = self.process.text().lower()
        return all(word.lower() in text for word in words)

    # -- the log, also of a running hub ----------------------------------------------------------------------

    def stat(self):
        done = fairlead("log", "stat", "--data", self.data, "-o", "json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def events(self, **wanted):
        """The events whose fields have these values: events(fact="ObjectObserved", kind="Node")."""
        done = fairlead("log", "cat", "--data", self.data)
        assert done.returncode == 0, done.stderr
        return [event for event in json_lines(done.stdout)
                if all(event.get(key) == text for key, text in wanted.items())]

    def check_log(self):
        """The chain holds, and folding again gives what was folded and written."""
        for command in (("log", "verify", "--data", self.data), ("replay", "--verify", "--data", self.data)):
            done = fairlead(*command, timeout=300)
            assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.returncode}\n{done.stdout}{done.stderr}"
