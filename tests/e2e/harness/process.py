"""Child processes that cannot outlive the test, and waiting with a deadline."""

import ctypes
import os
import pathlib
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


def _die_with_parent():
    # Runs in the child between fork and exec: the kernel kills it when the test's process ends,
    # however it ends. (Tied to the starting thread, so start processes from the main thread.)
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def free_port():
    """A TCP port of 127.0.0.1 without a listener at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Deadline(AssertionError):
    """Something that was waited for did not happen; the message says what was there instead."""


def wait_for(what, condition, timeout=30.0, interval=0.1):
    """Calls `condition` until it returns something true, and returns that.

    An AssertionError inside `condition` counts as "not yet", and its text is shown when time is up.
    """
    end = time.monotonic() + timeout
    last = None
    while True:
        try:
            value = condition()
            if value:
                return value
            last = value
        except AssertionError as problem:
            last = problem
        if time.monotonic() >= end:
            raise Deadline(f"waited {timeout:g} s for {what}; last seen: {last!r}")
        time.sleep(interval)


def stays(what, condition, seconds, interval=0.2):
    """Fails as soon as `condition` is false within `seconds`: for what must not happen."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not condition():
            raise AssertionError(f"did not stay: {what}")
        time.sleep(interval)


class Process:
    """One child in its own process group, its output in a file."""

    def __init__(self, name, command, log, env=None, cwd=None):
        self.name = name
        self.command = [str(part) for part in command]
        self.log = pathlib.Path(log)
        self.env, self.cwd = env, cwd
        self.child = None

    def start(self):
        assert not self.running(), f"{self.name} runs already"
        with open(self.log, "ab") as out:
            self.child = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                env=self.env, cwd=self.cwd, start_new_session=True, preexec_fn=_die_with_parent)
        return self

    def running(self):
        return self.child is not None and self.child.poll() is None

    def signal(self, number):
        os.killpg(self.child.pid, number)

    def pause(self):
        """SIGSTOP: connections stay open and nothing moves on them. A thread may still run for a moment after it."""
        self.signal(signal.SIGSTOP)
        tasks = pathlib.Path(f"/proc/{self.child.pid}/task")

        def stopped():
            try:
                states = {stat.read_text().rpartition(")")[2].split()[0] for stat in tasks.glob("*/stat")}
            except OSError:
                return False  # one has ended
            assert states == {"T"}, states
            return True

        wait_for("every thread to be stopped", stopped)

    def resume(self):
        self.signal(signal.SIGCONT)

    def kill(self):
        """kill -9, and waits until it is gone."""
        if self.running():
            self.signal(signal.SIGKILL)
            self.child.wait()

    def stop(self, timeout=15.0):
        """SIGTERM; returns the exit code. A process that does not end in time is killed: an error."""
        if not self.running():
            return self.child.returncode if self.child else None
        self.signal(signal.SIGTERM)
        try:
            return self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"{self.name} did not stop within {timeout:g} s\n{self.tail()}")

    def wait(self, timeout):
        """The exit code of a process that ends by itself."""
        try:
            return self.child.wait(timeout)
        except subprocess.TimeoutExpired:
            raise Deadline(f"{self.name} still runs after {timeout:g} s\n{self.tail()}")

    def text(self):
        """Everything it has printed so far."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def tail(self, lines=30):
        return "\n".join([f"--- last lines of {self.name}:"] + self.text().splitlines()[-lines:])
