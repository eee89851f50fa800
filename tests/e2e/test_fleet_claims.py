"""Fleet claims on real API servers: the test plays the drivers, OCM's placement controller and Kueue's manager."""

import json
import unittest

from harness.controlplane import ROOT
from harness.fleet_claims import CLAIMS, CLASSES, CRDS, SCHEDULINGS, TEMPLATES, FleetObjects
from harness.hollow import REAL
from harness.multikueue import LONG, WINDOWS, WORKLOADS, MultiKueueTest

NEEDS = ("controlplane", "fairlead")
DEVICE_TEMPLATES = "/apis/resource.k8s.io/v1/namespaces/team/resourceclaimtemplates"


def setUpModule():
    MultiKueueTest.open((*WINDOWS, "multikueue.dispatcher=true", "dra.fleetClaims=true", "dra.admitTimeout=0s"),
                        members=("w1", "w2"), crds=CRDS)
    MultiKueueTest.server.kubectl("apply", "-f", ROOT / "docs/dispatcher/clear-nominations.yaml")
    for name, member in MultiKueueTest.members.items():
        publish(name, member)


def publish(name, member):
    """A node with one GPU, and a class of them."""
    member.create("/api/v1/nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
    member.merge(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [
        {"type": "Ready", "status": "True", "reason": "KubeletReady"}]}}, user="admin")
    member.merge(f"/api/v1/nodes/{name}", {"spec": {"taints": None}}, user="admin")
    member.create("/apis/resource.k8s.io/v1/deviceclasses", {
        **REAL, "kind": "DeviceClass", "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": 'device.driver == "gpu.example.com"'}}]}})
    member.create("/apis/resource.k8s.io/v1/resourceslices", {
        **REAL, "kind": "ResourceSlice", "metadata": {"name": name}, "spec": {
            "driver": "gpu.example.com", "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "nodeName": name, "devices": [{"name": "gpu-0"}]}})


class FleetClaimsTest(FleetObjects, MultiKueueTest):
    written = (*MultiKueueTest.written, CLAIMS, SCHEDULINGS)

    def clear(self):
        super().clear()
        # A write to a claim that is deleted meanwhile would count as refused in the next test.
        self.hub.wait_until("no claim to be reserved", lambda: not any(
            claim.get("status", {}).get("reservedFor") for claim in self.server.get(CLAIMS)["items"]))
        for path in (CLAIMS, TEMPLATES, SCHEDULINGS, DEVICE_TEMPLATES):
            self.server.request("DELETE", path)
        self.server.clear(CLASSES)

    def wants(self, name, *entries):
        self.workload(name, {"multikueue": "Pending"}, annotations=self.entries(*entries))

    # -- what is to be seen ----------------------------------------------------------------------------------

    def consumers(self, claim):
        status = self.server.get(f"{CLAIMS}/{claim}").get("status", {})
        return [consumer["name"] for consumer in status.get("reservedFor", [])]

    def wait_for_claim(self, name, what, found):
        def true():
            claim = self.server.get(f"{CLAIMS}/{name}")
            assert found(claim), claim
            return True
        self.hub.wait_until(f"{name} {what}", true, LONG)

    # -- the tests -------------------------------------------------------------------------------------------

    def test_a_licence_is_reserved_for_one_workload_after_the_other(self):
        self.licences()
        self.claim_of_licences("site-licence")
        self.started("site", "w1", "w2")
        self.wants("sim", ("licence", "site-licence"))
        self.wait_for_reason("sim", "WaitingForDrivers")
        scheduling = self.server.get(f"{SCHEDULINGS}/sim")
        self.assertEqual(scheduling["spec"], {"potentialClusters": ["w1", "w2"], "selectedCluster": "w1"})
        self.assertEqual(scheduling["metadata"]["ownerReferences"][0]["uid"],
                         self.server.get(f"{WORKLOADS}/sim")["metadata"]["uid"])
        self.allocate("site-licence", "w1")
        self.wait_for_nomination("sim", "site-w1")
        self.assertEqual(self.consumers("site-licence"), ["sim"])
        self.wait_for_reason("sim", "Reserved")
        self.wants("sim-2", ("licence", "site-licence"))
        self.wait_for_reason("sim-2", "ClaimInUse")
        self.survives_a_kill()
        self.takes("sim", "site-w1")
        self.finished("sim")
        self.wait_for_nomination("sim-2", "site-w1")
        self.assertEqual(self.consumers("site-licence"), ["sim-2"])
        allocation = self.server.get(f"{CLAIMS}/site-licence")["status"]["allocation"]
        self.assertEqual(allocation, {"resourceHandle": "7", "availableOnClusters": ["w1"]})

    def test_a_claim_is_made_from_a_template_and_ends_with_its_workload(self):
        self.licences()
        self.template_of_licences("qpu", {"team": "a"}, allocationMode="Immediate")
        self.started("made", "w1", "w2")
        self.wants("sim", ("q", None, "qpu"))
        self.wait_for_reason("sim", "ClaimNotAllocated")
        claim = self.server.get(f"{CLAIMS}/sim-q")
        self.assertEqual((claim["metadata"]["labels"], claim["spec"]["allocationMode"]), ({"team": "a"}, "Immediate"))
        self.allocate("sim-q", "w2")
        self.wait_for_nomination("sim", "made-w2")
        self.takes("sim", "made-w2")
        self.finished("sim")
        self.hub.wait_until("the claim to be deleted", lambda: self.server.get(f"{CLAIMS}/sim-q") is None, LONG)

    def test_an_unused_allocation_elsewhere_is_given_up(self):
        self.licences()
        for name in ("one", "two"):
            self.claim_of_licences(name)
        self.allocate("one", "w1")
        # The allocation that is the newest in the log is given up, and a burst may be logged in another order.
        self.hub.wait_until("the allocation of one to be logged", lambda: any(
            event["facts"].get("allocation") for event in self.hub.events(fact="ObjectObserved", name="one")), LONG)
        self.allocate("two", "w2")
        self.started("both", "w1", "w2")
        self.wants("sim", ("a", "one"), ("b", "two"))
        self.wait_for_reason("sim", "ClaimDeallocating")
        self.wait_for_claim("two", "to be deallocated", lambda c: c["status"].get("deallocationRequested"))
        self.assertIsNone(self.server.get(f"{CLAIMS}/one")["status"].get("deallocationRequested"))
        self.driver_says("two", {})
        self.wait_for_reason("sim", "WaitingForDrivers")
        self.wait_for_claim("two", "to be free", lambda c: not c["status"].get("deallocationRequested"))
        self.allocate("two", "w1")
        self.wait_for_nomination("sim", "both-w1")
        self.assertEqual((self.consumers("one"), self.consumers("two")), (["sim"], ["sim"]))

    def test_a_booking_keeps_a_device_until_it_is_deleted(self):
        self.made(CLASSES, "FleetResourceClass", "booked", driverName="fairlead.io/devices")
        self.server.create(DEVICE_TEMPLATES, {
            **REAL, "kind": "ResourceClaimTemplate", "metadata": {"name": "one-gpu"}, "spec": {"spec": {"devices": {
                "requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}}})
        self.started("later", "w1", "w2")
        booking = {"resourceClassName": "booked", "allocationMode": "Immediate", "parametersRef": {
            "apiGroup": "resource.k8s.io", "kind": "ResourceClaimTemplate", "name": "one-gpu"}}
        for number, cluster in enumerate(("w1", "w2"), 1):
            self.claim_of_licences(f"for-{number}", **booking)
            self.wait_for_claim(f"for-{number}", "to be booked", lambda c: c.get("status", {}).get("allocation"))
            status = self.server.get(f"{CLAIMS}/for-{number}")["status"]
            self.assertEqual((status["driverName"], status["allocation"]), ("fairlead.io/devices", {
                "availableOnClusters": [cluster], "shareable": False,
                "resourceHandle": json.dumps([f"gpu.example.com/{cluster}/gpu-0"])}))
        self.claim_of_licences("for-3", **booking)
        self.rest()
        self.assertNotIn("allocation", self.server.get(f"{CLAIMS}/for-3").get("status", {}))
        self.survives_a_kill()
        self.server.delete(f"{CLAIMS}/for-2")
        self.wait_for_claim("for-3", "to be booked", lambda c: c.get("status", {}).get("allocation"))
        self.assertEqual(self.server.get(f"{CLAIMS}/for-3")["status"]["allocation"]["availableOnClusters"], ["w2"])


if __name__ == "__main__":
    unittest.main()
