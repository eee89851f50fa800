"""`fairlead hub` on the data directories that older versions left, and the way back to those versions.

data.tar.gz in a folder of tests/golden is a data directory as the program with that schema version left it, data.json
what that program said of it (`log verify`).
"""

import json
import pathlib
import struct
import tarfile
import tempfile
import unittest

from harness.controlplane import ControlPlane
from harness.fleet import CRDS, QUEUES, cluster_queue
from harness.hub import AT_ONCE, Hub
from harness.process import wait_for
from harness.program import ROOT, fairlead

NEEDS = ("controlplane", "fairlead")

GOLDEN = sorted(ROOT.glob("tests/golden/v*/data.tar.gz"))
BAD_INPUT = 2


def sections(bundle):
    """[(tag, payload)] of a bundle (replay/bundle/bundle_file.h)."""
    found, at, data = [], 0, bundle.read_bytes()
    while at < len(data):
        tag, size = data[at:at + 4].decode(), struct.unpack_from("<Q", data, at + 8)[0]
        found.append((tag, data[at + 64:at + 64 + size]))
        at += 64 + size
    return found


class UpgradeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("hub")
        cls.server.install_crds(only=CRDS)
        cls.server.create(QUEUES, cluster_queue("after-the-upgrade"))

    def setUp(self):
        self.assertTrue(GOLDEN, "no data directory of an older version is there")

    def each(self):
        """(schema version, data directory, what its program said of it) of each older version."""
        for archive in GOLDEN:
            version = int(archive.parent.name.removeprefix("v"))
            folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
            with tarfile.open(archive) as packed:
                packed.extractall(folder, filter="data")
            with self.subTest(version=version):
                yield version, folder / "data", json.loads(archive.with_name("data.json").read_text())

    def started(self, data, *settings):
        hub = Hub(self.plane, self.server, data=data, settings=(AT_ONCE, *settings)).start()
        self.addCleanup(hub.finish)
        hub.wait_until("the hub to be synced", lambda: hub.said("the hub is synced"))
        return hub

    def verified(self, data):
        done = fairlead("log", "verify", "--data", data, "-o", "json")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_the_log_goes_on_and_the_way_back_is_there(self):
        for version, data, known in self.each():
            self.assertEqual(self.verified(data)["digest"], known["digest"])
            hub = self.started(data)
            [export] = data.glob("before-*.export")
            self.assertTrue(hub.said("older version", str(export)))
            head = json.loads(sections(export)[0][1])
            self.assertEqual(head["schemaVersion"], version)
            packs = [payload for tag, payload in sections(export) if tag == "PACK"]
            self.assertEqual({struct.unpack_from("<H", pack, 4)[0] for pack in packs}, {version})
            hub.stop()
            self.assertGreater(hub.stat()["last_seq"], known["events"])
            self.verified(data)

            back = data.with_name("back")
            done = fairlead("log", "import", export, "--data", back)
            self.assertEqual(done.returncode, 0, done.stderr)
            # The snapshot that `snapshot take` made then is in the file; no Checkpoint names it.
            self.assertEqual({**self.verified(back), **known}, self.verified(back))

    def test_a_second_start_exports_nothing(self):
        for _, data, _ in self.each():
            self.started(data).stop()
            [export] = data.glob("before-*.export")
            export.unlink()
            self.started(data).stop()
            self.assertEqual(list(data.glob("before-*.export")), [])

    def test_the_switch_leaves_it_out(self):
        for _, data, _ in self.each():
            self.started(data, "log.exportBeforeUpgrade=false").stop()
            self.assertEqual(list(data.glob("before-*.export")), [])

    def test_without_the_file_the_log_is_not_touched(self):
        for _, data, known in self.each():
            in_the_way = data / "before-0.1.0.export.partial"
            in_the_way.mkdir()
            hub = Hub(self.plane, self.server, data=data).start()
            self.addCleanup(hub.finish)
            wait_for("its end", lambda: not hub.process.running())
            self.assertTrue(hub.said("before-0.1.0.export", "log.exportBeforeUpgrade"), hub.process.tail())
            self.assertEqual(self.verified(data)["digest"], known["digest"])
            self.assertEqual(fairlead("log", "prune", "--data", data, "--before", "2").returncode, BAD_INPUT)

    def test_prune_would_lock_out_the_older_program(self):
        for _, data, known in self.each():
            done = fairlead("log", "prune", "--data", data, "--before", str(known["events"]))
            self.assertEqual(done.returncode, BAD_INPUT, done.stdout)
            self.assertIn("older version", done.stderr)


if __name__ == "__main__":
    unittest.main()
