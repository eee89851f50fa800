"""The Debian package: lintian has no error, the same bytes each time, and what shells and kubectl complete."""

import hashlib
import os
import pathlib
import subprocess
import tarfile
import tempfile
import unittest

import yaml

from harness.controlplane import assets
from harness.program import ROOT

NEEDS = ("controlplane", "fairlead", "lintian")


def build():
    done = subprocess.run([ROOT / "scripts/package"], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return ROOT / done.stdout.strip()


class PackageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.package = build()
        cls.folder = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        subprocess.run(["dpkg-deb", "-x", cls.package, cls.folder], check=True)
        cls.usr = cls.folder / "usr"
        cls.path = {**os.environ, "PATH": f"{cls.usr / 'bin'}:{assets()}:{os.environ['PATH']}"}

    def run_installed(self, *words):
        return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=60, env=self.path)

    def test_lintian_has_no_error(self):
        done = self.run_installed("lintian", "--allow-root", "--fail-on", "error,warning", self.package)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_two_builds_are_the_same(self):
        def digests():
            return {path.name: hashlib.sha256(path.read_bytes()).hexdigest()
                    for path in self.package.parent.iterdir() if path.is_file()}
        before = digests()
        self.assertGreaterEqual(len(before), 3)
        build()
        self.assertEqual(digests(), before)

    def test_krew_gets_the_plugin_and_its_digest(self):
        folder = self.package.parent
        manifest = yaml.safe_load((folder / "krew.yaml").read_text())
        [platform] = manifest["spec"]["platforms"]
        archive = folder / platform["uri"].removeprefix("RELEASES/")
        self.assertEqual(platform["sha256"], hashlib.sha256(archive.read_bytes()).hexdigest())
        self.assertIn(manifest["spec"]["version"].removeprefix("v"), archive.name)
        self.assertEqual(manifest["metadata"]["name"], "fairlead")
        unpacked = self.folder / "krew"
        with tarfile.open(archive) as tar:
            tar.extractall(unpacked, filter="data")
        self.assertEqual({path.name for path in unpacked.iterdir()}, {one["from"] for one in platform["files"]})
        self.assertEqual({one["to"] for one in platform["files"]}, {"."})
        done = self.run_installed(unpacked / platform["bin"], "--version")
        self.assertEqual("v" + done.stdout.split()[-1], manifest["spec"]["version"], done.stderr)

    def manifest_for(self, releases):
        """(exit code, what it said, krew.yaml) of `scripts/package krew` for archives published there."""
        variables = {name: value for name, value in os.environ.items() if name != "FAIRLEAD_RELEASES"}
        if releases:
            variables["FAIRLEAD_RELEASES"] = releases
        done = subprocess.run([ROOT / "scripts/package", "krew"], capture_output=True, text=True, timeout=60,
                              env=variables)
        return done.returncode, done.stdout + done.stderr, (self.package.parent / "krew.yaml").read_text()

    def test_a_release_fills_in_where_it_publishes(self):
        code, said, before = self.manifest_for("")
        self.assertEqual((code, said.strip()), (0, "build/package/krew.yaml"))
        self.assertIn("FAIRLEAD_RELEASES", before.splitlines()[0])
        self.addCleanup(self.manifest_for, "")
        code, said, text = self.manifest_for("https://releases.test/v1")
        self.assertEqual(code, 0, said)
        self.assertNotRegex(text, "RELEASES|VERSION|SHA256|ARCHIVE")
        manifest, unpublished = yaml.safe_load(text), yaml.safe_load(before)
        archive = unpublished["spec"]["platforms"][0]["uri"].removeprefix("RELEASES/")
        self.assertTrue((self.package.parent / archive).is_file())
        self.assertEqual(manifest["spec"]["homepage"], "https://releases.test/v1")
        self.assertEqual(manifest["spec"]["platforms"][0]["uri"], f"https://releases.test/v1/{archive}")
        for each in (manifest, unpublished):
            del each["spec"]["homepage"], each["spec"]["platforms"][0]["uri"]
        self.assertEqual(manifest, unpublished)
        for wrong in ("releases.test/v1", "http://releases.test/v1", "https://releases.test/a|b", "https://a.test/&"):
            with self.subTest(releases=wrong):
                code, said, untouched = self.manifest_for(wrong)
                self.assertEqual((code, untouched), (2, text))
                self.assertIn("FAIRLEAD_RELEASES", said)

    def test_each_command_has_a_man_page(self):
        pages = {path.name.removesuffix(".1.gz") for path in (self.usr / "share/man/man1").iterdir()}
        words = self.run_installed("fairlead", "completion", "words", "--", "").stdout.split()
        self.assertGreater(len(words), 8)
        wanted = {"fairlead", "kubectl-fairlead", "kubectl_complete-fairlead", *(f"fairlead-{word}" for word in words)}
        for word in words:
            below = self.run_installed("fairlead", "completion", "words", "--", word, "").stdout.split()
            # Of words that are no commands, such as names of shells, `man` says so.
            wanted |= {f"fairlead-{word}-{each}" for each in below
                       if self.run_installed("fairlead", "man", word, each).returncode == 0}
        self.assertEqual(pages, wanted)
        self.assertIn("fairlead-log-stat", pages)

    def test_bash_completes_commands_and_options(self):
        script = self.usr / "share/bash-completion/completions/fairlead"
        for line, expected in ((["fairlead", "sn"], ["snapshot"]), (["fairlead", "log", "ex"], ["export"]),
                               (["fairlead", "hub", "--reco"], ["--recommend-only", "--record"]),
                               (["fairlead", "hub", "--data", ""], [])):
            words = " ".join(f"'{word}'" for word in line)
            done = self.run_installed("bash", "-c", f"source {script}; COMP_WORDS=({words}); "
                                      f"COMP_CWORD={len(line) - 1}; _fairlead; printf '%s\\n' \"${{COMPREPLY[@]}}\"")
            with self.subTest(line=line):
                self.assertEqual(done.stdout.split(), expected, done.stderr)

    def test_kubectl_knows_the_plugin_and_completes_it(self):
        self.assertIn("fairlead", self.run_installed("kubectl", "fairlead", "--version").stdout)
        done = self.run_installed("kubectl", "__complete", "fairlead", "log", "st")
        self.assertEqual(done.stdout.split(), ["stat", ":0"], done.stderr)

    def test_the_unit_is_not_enabled(self):
        control = self.folder / "control"
        subprocess.run(["dpkg-deb", "-e", self.package, control], check=True)
        # What enables or starts a unit is a script of the package: there is none.
        self.assertEqual({path.name for path in control.iterdir()}, {"control", "md5sums"})
        self.assertEqual([str(path) for path in self.folder.rglob("*.wants")], [])

    def test_the_unit_starts_what_there_is(self):
        unit = (self.usr / "lib/systemd/system/fairlead.service").read_text()
        [start] = [line for line in unit.splitlines() if line.startswith("ExecStart=")]
        program, command, *words = start.removeprefix("ExecStart=").split()
        self.assertTrue((self.folder / program.lstrip("/")).exists())
        known = self.run_installed("fairlead", "completion", "words", "--", command, "--").stdout.split()
        self.assertEqual([word for word in words if word.startswith("--") and word not in known], [])


if __name__ == "__main__":
    unittest.main()
