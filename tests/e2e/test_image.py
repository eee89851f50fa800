"""The container image: the same bytes each time, nothing in it but the program and what it needs, and it runs."""

import json
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile
import unittest

from harness import deploy, pod
from harness.controlplane import ControlPlane
from harness.fleet import CLAIMS, CRDS, QUEUE_CRDS, add_node
from harness.image import Image
from harness.program import ROOT, binary, fairlead

NEEDS = ("controlplane", "fairlead", "root", "buildah")

LABELS = "org.opencontainers.image."
SOURCE = "https://git.test/fairlead"


def build():
    """(archive, digest) of scripts/image."""
    done = subprocess.run([ROOT / "scripts/image"], capture_output=True, text=True, timeout=300,
                          env={**os.environ, "FAIRLEAD_SOURCE": SOURCE})
    assert done.returncode == 0, done.stderr
    archive, digest = done.stdout.split()
    return ROOT / archive, digest


class ImageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.archive, cls.digest = build()
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        with tarfile.open(cls.archive) as tar:
            tar.extractall(cls.folder / "oci", filter="data")
        cls.manifest = cls.blob(json.loads((cls.folder / "oci/index.json").read_text())["manifests"][0])
        cls.config = cls.blob(cls.manifest["config"])
        cls.root = cls.folder / "root"
        cls.root.mkdir(mode=0o755)
        cls.folder.chmod(0o755)
        for layer in cls.manifest["layers"]:
            # With owners and modes, as a container engine unpacks it.
            with tarfile.open(cls.path_of(layer)) as tar:
                tar.extractall(cls.root, numeric_owner=True, filter="tar")
        cls.image = Image(cls.archive, cls.root)
        cls.addClassCleanup(cls.image.close)
        print(f"the image is run by {cls.image.how()}", flush=True)

    @classmethod
    def path_of(cls, descriptor):
        return cls.folder / "oci/blobs" / descriptor["digest"].replace(":", "/")

    @classmethod
    def blob(cls, descriptor):
        return json.loads(cls.path_of(descriptor).read_text())

    def test_two_builds_have_one_digest(self):
        self.assertEqual(build(), (self.archive, self.digest))

    def test_it_says_what_it_is(self):
        config = self.config["config"]
        self.assertEqual(config["User"], "65532:65532")
        self.assertEqual(config["Entrypoint"], ["/usr/bin/fairlead"])
        version = subprocess.run([binary(), "--version"], capture_output=True, text=True).stdout.split()[-1]
        revision = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
        labels = {key.removeprefix(LABELS): text for key, text in config["Labels"].items() if key.startswith(LABELS)}
        self.assertEqual(labels, {"title": "fairlead", "version": version, "revision": revision,
                                  "licenses": "Apache-2.0", "source": SOURCE})

    def test_there_is_no_shell_and_nothing_else_to_run(self):
        runnable = sorted(path.name for folder in ("bin", "sbin", "usr/bin", "usr/sbin", "usr/local/bin")
                          for path in (self.root / folder).glob("*"))
        self.assertEqual(sorted(set(runnable)), ["fairlead", "kubectl-fairlead"])
        loose = [str(path) for path in self.root.rglob("*") if not path.is_symlink() and path.is_file()
                 and path.stat().st_mode & 0o6000]
        self.assertEqual(loose, [])
        self.assertLess(self.archive.stat().st_size, 80_000_000)

    def test_the_containerfile_says_the_same(self):
        text = re.sub(r" *\\\n *", " ", (ROOT / "deploy/image/Containerfile").read_text())
        last = dict(line.split(" ", 1) for line in text[text.index("FROM scratch"):].splitlines() if " " in line)
        config = self.config["config"]
        self.assertEqual(last["USER"], config["User"])
        self.assertEqual(json.loads(last["ENTRYPOINT"]), config["Entrypoint"])
        self.assertEqual(last["WORKDIR"], config["WorkingDir"])
        labels = dict(re.findall(r'(\S+)="([^"]*)"', last["LABEL"]))
        self.assertEqual(labels, {**{key: text for key, text in config["Labels"].items() if key.startswith(LABELS)},
                                  f"{LABELS}revision": "${REVISION}", f"{LABELS}source": "${SOURCE}"})

    def test_it_runs_as_its_user(self):
        done = self.image.run(["--version"])
        self.assertEqual(done.stdout.split()[:1], ["fairlead"], done.stderr)
        plan = subprocess.run([binary(), "plan", ROOT / "docs/quota/hub.yaml"], capture_output=True, text=True).stdout
        self.assertTrue(plan)
        inside = self.image.run(["plan", "/etc/fairlead/hub.yaml"], {ROOT / "docs/quota": ("/etc/fairlead", "ro")})
        self.assertEqual((inside.returncode, inside.stdout), (0, plan), inside.stderr)

    def test_the_hub_runs_in_it_and_writes_quotas(self):
        plane = self.enterContext(ControlPlane())
        server, member = plane.add_server("hub"), plane.add_server("cluster2")
        server.install_crds(only=CRDS)
        member.install_crds(only=QUEUE_CRDS)
        for name in ("kueue-system", "cluster2"):
            deploy.ensure_namespace(server, name)
        folder = pod.overlay(plane.directory / "overlay")
        deploy.apply(server, folder)
        agent = pod.prepare_world(server, member)
        made = pod.Pod(plane, server, deploy.objects(server, deploy.kustomize(folder)))
        run = self.image.start(made)
        self.addCleanup(run.kill)
        server.create(CLAIMS, pod.wanted_claim())
        pod.wait_for_cpu(server, agent, run, "400")
        self.assertEqual((made.volume / "data").stat().st_uid, int(pod.USER))
        self.assertEqual(run.stop(), 0, run.tail())
        run = self.image.start(made)
        self.addCleanup(run.kill)
        add_node(member, "late", "on-demand")
        pod.wait_for_cpu(server, agent, run, "500")
        self.assertEqual(run.stop(), 0, run.tail())
        self.assertIn("epoch=2", run.text())
        done = fairlead("log", "verify", "--data", made.volume / "data")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_certificates_licences_and_the_list_of_packages_are_there(self):
        bundle = (self.root / "etc/ssl/certs/ca-certificates.crt").read_text()
        self.assertGreater(bundle.count("BEGIN CERTIFICATE"), 100)
        listed = (self.root / "usr/share/fairlead/packages.spdx").read_text()
        names = re.findall(r"^PackageName: (\S+)$", listed, re.MULTILINE)
        self.assertIn("libc6", names)
        # A package may keep its licence in that of another (a link between folders of documentation).
        licensed = {path.name for path in (self.root / "usr/share/doc").iterdir()}
        self.assertEqual([name for name in names if name not in licensed], [])


if __name__ == "__main__":
    unittest.main()
