"""What `fairlead hub` does when one of its threads hangs, and when it has few descriptors. Its API server is that of
`fairlead dev`."""

import fcntl
import http.client
import os
import pathlib
import resource
import signal
import socket
import subprocess
import tempfile
import unittest

from harness.process import Process, free_port, stays, wait_for
from harness.program import binary

NEEDS = ("fairlead",)


class HubThreadsTest(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="fairlead-threads-test-")))
        kubeconfig = self.directory / "dev" / "kubeconfig"
        dev = Process("dev", [binary(), "dev", "--speed", "60", "--seed", "7", "--port", "0",
                              "--data", kubeconfig.parent], self.directory / "dev.txt").start()
        self.addCleanup(dev.kill)
        wait_for("the API server", kubeconfig.exists, 60)
        self.port = free_port()
        self.stderr = self.directory / "stderr.txt"
        self.command = [binary(), "hub", "--kubeconfig", kubeconfig, "--data", self.directory / "data",
                        "--recommend-only", "--listen", f"127.0.0.1:{self.port}"]

    def hub(self, stdout, files=None):
        """The hub, with a hard limit of `files` descriptors."""
        def limit():
            if files:
                resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, 64), files))
        with open(self.stderr, "ab") as err:
            child = subprocess.Popen([str(part) for part in self.command], stdin=subprocess.DEVNULL, stdout=stdout,
                                     stderr=err, preexec_fn=limit, start_new_session=True)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def get(self, path):
        """(status, text); None: no answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return None
        finally:
            connection.close()

    def test_a_hub_whose_thread_hangs_says_so_and_ends_on_sigterm(self):
        # A pipe that is full and that no program reads: the hub's thread waits when it prints the first write.
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, b"x" * 4096)
        os.set_blocking(writer, True)
        hub = self.hub(writer)
        os.close(writer)
        wait_for("a live hub", lambda: (self.get("/livez") or [0])[0] == 200)
        status, text = wait_for("a dead hub", lambda: (got := self.get("/livez")) and got[0] != 200 and got, 90, 1)
        self.assertEqual(status, 500)
        self.assertRegex(text, r"^the loop of the hub has not turned for \d+ s\n$")
        status, text = self.get("/readyz")
        self.assertEqual((status, "the loop of the hub" in text), (503, True), text)
        hub.send_signal(signal.SIGTERM)
        self.assertEqual(hub.wait(40), 3)
        lines = self.stderr.read_text()
        self.assertRegex(lines, r"Z error the loop of the hub has not turned for \d+ s: it hangs\n")
        self.assertRegex(lines, r"Z error asked to end, but the loop of the hub has not turned for \d+ s: "
                                r"the process ends at once\n")

    def test_clients_leave_the_log_its_descriptors(self):
        hub = self.hub(subprocess.DEVNULL, files=256)
        wait_for("a ready hub", lambda: (self.get("/readyz") or [0])[0] == 200, 60)
        self.assertIn("process_max_fds 256\n", self.get("/metrics")[1])
        held = []
        for number in range(300):
            held.append(self.enterContext(socket.socket()))
            held[-1].bind((f"127.0.0.{2 + number % 200}", 0))
            held[-1].settimeout(2)
            held[-1].connect(("127.0.0.1", self.port))
            held[-1].sendall(b"GET /ui/api/live HTTP/1.1\r\nHost: localhost\r\n\r\n" if number % 2 else b"G")
        stays("the hub is alive", lambda: hub.poll() is None and (self.get("/livez") or [0])[0] == 200, 5)
        self.assertLess(len(os.listdir(f"/proc/{hub.pid}/fd")), 256 - 32)
        hub.send_signal(signal.SIGTERM)
        self.assertEqual(hub.wait(40), 0)

    def test_a_hub_with_too_few_descriptors_does_not_start(self):
        hub = self.hub(subprocess.DEVNULL, files=200)
        self.assertEqual(hub.wait(40), 3)
        self.assertIn("the limit of open files is 200 (ulimit -n): a hub needs at least 256", self.stderr.read_text())


if __name__ == "__main__":
    unittest.main()
