"""`fairlead hub` while the hub's etcd is restored from a backup: what the store forgot is written again."""

import unittest

from harness.controlplane import ControlPlane
from harness.fleet import CRDS, QUEUES, cluster_queue
from survival import LESS, LONG_QUIET, WHOLE, SurvivalTest

NEEDS = ("controlplane", "fairlead")

LATE = "late-queue"
# More than an API server writes while it starts: when it is asked, the restored store is behind what the hub has seen.
REVISIONS = 3000


class RestoreTest(SurvivalTest):
    """The hub has an etcd of its own: the member's is not restored with it."""

    @classmethod
    def setUpClass(cls):
        cls.plane = cls.enterClassContext(ControlPlane())
        cls.server = cls.plane.add_server("hub")
        cls.server.install_crds(only=CRDS)
        cls.member = cls.enterClassContext(ControlPlane()).add_server("cluster2")

    def backup_before(self, hub, change, writes=REVISIONS):
        """A backup of the store as it was before `change`, a late queue and so many writes; the hub saw them."""
        kept = self.plane.backup()
        self.plane.revision(writes)
        change()
        self.wait_for_convergence(hub)
        self.server.create(QUEUES, cluster_queue(LATE))
        hub.wait_until("the late queue in the log", lambda: hub.events(fact="ObjectObserved", name=LATE))
        self.wait_for_rest(hub)
        return kept

    def test_a_running_hub_takes_the_list_of_a_restored_store_as_the_truth(self):
        hub = self.undisturbed_first()
        kept = self.backup_before(hub, lambda: self.show(LESS))
        self.plane.restore(kept)
        hub.wait_until("the late queue to be gone", lambda: hub.events(fact="ObjectGone", name=LATE), timeout=120)
        self.assertTrue(hub.said("store went back"))
        self.check_survived(hub, quiet=LONG_QUIET, timeout=120)

    def test_a_hub_that_was_down_meanwhile_writes_what_the_store_forgot(self):
        hub = self.undisturbed_first()
        kept = self.backup_before(hub, lambda: self.show(LESS))
        hub.stop()
        self.plane.restore(kept)
        hub.start()
        hub.wait_until("the late queue to be gone", lambda: hub.events(fact="ObjectGone", name=LATE), timeout=120)
        self.check_survived(hub, quiet=LONG_QUIET, timeout=120)

    def test_a_store_that_has_grown_past_what_was_lost_is_listed_too(self):
        hub = self.undisturbed_first()
        kept = self.backup_before(hub, lambda: self.show(LESS), writes=0)
        for picture in (WHOLE, LESS):
            self.plane.restore(kept)
            self.show(picture)
            self.wait_for_convergence(hub, timeout=120)
        self.check_survived(hub, timeout=120)


if __name__ == "__main__":
    unittest.main()
