"""The container image of scripts/image, run by podman with runc; where that cannot run, its root by chroot."""

import os
import shutil
import subprocess
import sys
import tempfile

from .pod import ACCOUNT, MOUNTS, USER

# After so many seconds a container ends by itself: killing podman does not end it.
LONGEST = 300

# What matters of that without podman: a mount namespace with the mounts, a read-only root, the user.
BY_CHROOT = r"""
import ctypes, os, subprocess, sys
root, user, mounts, words = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(","), sys.argv[4:]
def mount(*words): subprocess.run(["mount", *words], check=True)
mount("--bind", root, root)
for source, target in (one.split("=") for one in mounts if one):
    os.makedirs(root + target, exist_ok=True)
    mount("--bind", source, root + target)
mount("-o", "remount,bind,ro", root)
libc = ctypes.CDLL(None)
os.chroot(root)
os.chdir("/")
os.setgroups([])
os.setgid(user)
os.setuid(user)
libc.prctl(1, 9, 0, 0, 0)   # PR_SET_PDEATHSIG, SIGKILL
libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
os.execv("/usr/bin/fairlead", ["/usr/bin/fairlead", *words])
"""


class Image:
    """`root`: the layers unpacked, with owners and modes; for where podman cannot run."""

    def __init__(self, archive, root):
        self.root = root
        self.storage = tempfile.mkdtemp(prefix="fairlead-podman-")
        self.serial = 0
        self.podman = [
            "podman", "--root", f"{self.storage}/root", "--runroot", f"{self.storage}/run", "--tmpdir",
            f"{self.storage}/tmp", "--storage-driver", "vfs", "--runtime", "runc", "--cgroup-manager", "cgroupfs",
            "--events-backend", "none"]
        self.name = ""
        self.why = self._load(archive)

    def _load(self, archive):
        """Why podman does not run the image; empty where it does."""
        if shutil.which("podman") is None or shutil.which("runc") is None:
            return "podman or runc is missing"
        loaded = subprocess.run([*self.podman, "pull", "--quiet", f"oci-archive:{archive}"], capture_output=True,
                                text=True, timeout=120)
        if loaded.returncode != 0:
            return loaded.stderr.strip()
        self.name = loaded.stdout.strip()
        tried = subprocess.run(self._by_podman({}, {}, ["--version"]), capture_output=True, text=True, timeout=60)
        return "" if tried.returncode == 0 else tried.stderr.strip().splitlines()[-1]

    def how(self):
        return f"chroot, because podman does not run here: {self.why}" if self.why else "podman with runc"

    def _by_podman(self, mounts, variables, words):
        self.serial += 1
        command = [*self.podman, "run", "--rm", "--name", f"fairlead-{self.serial}", "--timeout", str(LONGEST),
                   # The limits of this machine may be above what it may set.
                   "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=4096:4096", "--network", "host", "--read-only",
                   "--read-only-tmpfs=false", "--cap-drop", "all", "--security-opt", "no-new-privileges"]
        for source, (target, mode) in mounts.items():
            command += ["--volume", f"{source}:{target}:{mode}"]
        for name, value in variables.items():
            command += ["--env", f"{name}={value}"]
        return [*command, self.name, *words]

    def command(self, words, mounts=None, variables=None):
        """The command that runs the image with `words` after its entry point.

        `mounts`: {folder of the machine: (place in the container, "ro" or "rw")}. `variables`: the environment.
        """
        mounts, variables = mounts or {}, variables or {}
        if not self.why:
            return self._by_podman(mounts, variables, words)
        places = ",".join(f"{source}={target}" for source, (target, _) in mounts.items())
        return ["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                *(f"{name}={value}" for name, value in variables.items()), "unshare", "-m", "--propagation", "private",
                sys.executable, "-c", BY_CHROOT, str(self.root), USER, places, *words]

    def run(self, words, mounts=None):
        """A run that ends by itself."""
        return subprocess.run([str(word) for word in self.command(words, mounts)], capture_output=True, text=True,
                              timeout=60)

    def start(self, pod):
        """The Pod's container, with its arguments and mounts, until its probes pass."""
        mounts = {pod.account: (ACCOUNT, "ro"), pod.config: (MOUNTS["config"], "ro"),
                  pod.volume: (MOUNTS["data"], "rw")}
        return pod.start(self.command(pod.arguments(), mounts, pod.variables()), dict(os.environ))

    def close(self):
        """Ends what still runs, and removes the storage."""
        if self.name:
            subprocess.run([*self.podman, "rm", "--force", "--time", "0", "--all"], capture_output=True, timeout=60)
        shutil.rmtree(self.storage, ignore_errors=True)
