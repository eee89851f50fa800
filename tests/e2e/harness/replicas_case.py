"""What tests of hubs that share a log have in common: one control plane per module, and changes that hubs follow."""

import http.client
import unittest

from . import program
from .fleet import CLAIMS, CRDS, NODES, add_nodes, claim, prepare_hub, quantity, quota
from .process import wait_for
from .replicas import NAMESPACE, ReplicatedPlane, Replicas, leads, status_of

LOG_COMMITS = "logcommits.fairlead.io"


class ReplicasCase(unittest.TestCase):
    """The control plane, for the module; each test has a log of its own, or shares `common`."""

    plane = None
    cpu = 100

    @classmethod
    def setUpClass(cls):
        if ReplicasCase.plane is None:
            plane = ReplicasCase.plane = unittest.enterModuleContext(ReplicatedPlane())
            unittest.addModuleCleanup(setattr, ReplicasCase, "plane", None)
            server, _ = plane.add_hub_servers()
            server.install_crds(only=(*CRDS, LOG_COMMITS))
            server.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
            prepare_hub(server)
            add_nodes(server)
            server.create(CLAIMS, claim())
        cls.server, cls.other = ReplicasCase.plane.servers.values()

    def replicas(self, name, *arguments, **options):
        made = Replicas(self.plane, name, *arguments, **options)
        self.addCleanup(made.finish)
        return made

    def running(self, name, *arguments, **options):
        """Three hubs that agree, one of which leads: (replicas, leader)."""
        made = self.replicas(name, *arguments, **options).start()
        leader = made.leader()
        made.ready()
        self.change()
        made.agree()
        return made, leader

    def show(self):
        """Changes a Node; what a hub that decides makes of it."""
        cpu = ReplicasCase.cpu = 100 - (101 - ReplicasCase.cpu) % 50

        def shown():
            try:
                self.alive().merge(f"{NODES}/on-demand-0/status", {"status": {"allocatable": {"cpu": str(cpu)}}},
                                   user="admin")
            except OSError as problem:
                raise AssertionError(str(problem)) from None
            return True
        wait_for("the Node to be changed", shown)
        return quantity(str(400 + cpu))

    def alive(self):
        return next(server for server in self.plane.servers.values() if server.process.running())

    def decided(self, wanted):
        try:
            return quota(self.alive(), "high-priority-queue", "on-demand", "cpu") == wanted
        except (OSError, http.client.HTTPException) as problem:
            raise AssertionError(str(problem)) from None

    def change(self, timeout=30):
        """A Node changes, and the quota follows."""
        wanted = self.show()
        wait_for("the quota to follow", lambda: self.decided(wanted), timeout, interval=0.05)

    def command(self, hubs, name, data, *more):
        """`fairlead log replicate` or `unreplicate`, with the settings of the hubs."""
        return program.fairlead("log", name, "--data", data, "--kubeconfig", hubs.kubeconfigs[0], *more,
                                *(word for one in hubs.settings for word in ("--set", one)))

    def not_ready(self, hub, *words):
        """It decides nothing, lives, and says why."""
        def said():
            try:
                status, text = hub.http("/readyz")
            except OSError as problem:
                raise AssertionError(str(problem)) from None
            assert status == 503 and all(word in text for word in words), (status, text)
            return True
        hub.wait_until("the hub to be not ready", said)
        self.assertEqual(status_of(hub, "/livez"), 200)

    def leader_not_ready(self, hubs, *words):
        """The same of the leader, which may be another meanwhile: a busy machine renews a Lease late."""
        def said():
            found = [hub.http("/readyz") for hub in hubs.hubs if leads(hub)]
            assert any(status == 503 and all(word in text for word in words) for status, text in found), found
            return True
        wait_for("the leader to be not ready", said)
