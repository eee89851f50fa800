// The writes of fleet claims: docs/devices.md.
#include "engine/plan/fleet_claims/fleet_claims.h"

#include <catch2/catch.hpp>

#include "engine/fold/fleet_claims/needs.h"
#include "engine/fold/writes/outcomes.h"
#include "schema/fleet_driver.h"
#include "tests/support/edit_workload.h"

namespace fairlead::fleet_claims_test {
namespace {

const NamespacedName kWorkload{"team", "w"};
const NamespacedName kMade{"team", "w-licence"};
const NamespacedName kSite{"team", "site"};
const ClaimConsumer kForeign{"", "pods", "p", "p-uid"};

// Workload team/w, whose entry licence is made from a template, and claim team/site of class
// licences.
struct Hub {
  State state;
  WorkloadRecord& record = state.multikueue.workloads[kWorkload];
  FleetClaimRecord& site = state.fleet.claims[kSite];
  std::vector<PatchIntended> proposals;

  Hub() {
    state.now = LogTime{} + seconds(1000);
    state.configuration.dra.fleet_claims = state.configuration.multikueue.dispatcher = true;
    auto seen = edit(record.seen);
    seen->uid = "w-uid";
    seen->version = "v1beta2";
    seen->seq = Seq{12};
    record.decision.edit().nominates = true;
    seen->facts.pod_sets.emplace_back().fleet.entries = {{"licence", "", "licences"}};
    state.fleet.users[kMade] = {kWorkload};
    auto& from = state.fleet.templates[{"team", "licences"}];
    from.seq = Seq{11};
    from.facts.labels = {{"team", "blue"}};
    from.facts.annotations = {{"note", "x"}};
    from.facts.spec.resource_class = "licences";
    from.facts.spec.parameters = {"example.com", "Licence", "big"};
    observed(site);
    state.fleet.classes["licences"].facts.driver = "licences.example.com";
  }
  static void observed(FleetClaimRecord& claim) {
    claim.seen.uid = "s";
    claim.seen.version = "v1alpha1";
    claim.seen.resource_version = "7";
    claim.seen.seq = Seq{20};
    claim.seen.facts.spec.resource_class = "licences";
  }
  const std::vector<PatchIntended>& of(const NamespacedName& claim) {
    proposals.clear();
    emit_fleet_claim(state, claim, proposals);
    return proposals;
  }
  const std::vector<PatchIntended>& scheduling() {
    proposals.clear();
    emit_fleet_scheduling(state, kWorkload, proposals);
    return proposals;
  }
  const PatchIntended& intent() const { return proposals.at(0); }
  Json body() const { return Json::parse(intent().body); }
};

TEST_CASE("fleet claims: one is made from its template, and owned by the Workload that waits") {
  Hub hub;
  REQUIRE(hub.of(kMade).size() == 1);
  CHECK(hub.proposals[0].rank == Rank::worker);
  CHECK(hub.intent().verb == Verb::create);
  CHECK(hub.body() == Json::parse(R"({
    "apiVersion": "dra.fairlead.io/v1alpha1", "kind": "FleetResourceClaim",
    "metadata": {"name": "w-licence", "namespace": "team", "labels": {"team": "blue"},
      "annotations": {"note": "x"}, "ownerReferences": [
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": "w",
         "uid": "w-uid", "controller": true}]},
    "spec": {"resourceClassName": "licences", "allocationMode": "WaitForFirstConsumer",
      "parametersRef": {"apiGroup": "example.com", "kind": "Licence", "name": "big"}}})"));
  CHECK(hub.intent().reason.because == std::vector<Seq>{Seq{11}, Seq{12}});
}

TEST_CASE("fleet claims: none is made without a Workload that waits, or without a template") {
  Hub hub;
  SECTION("it waits for no cluster") { hub.record.decision.edit().nominates = false; }
  SECTION("it is being deleted") { edit(hub.record.seen)->facts.deleting = true; }
  SECTION("it is gone") { hub.state.multikueue.workloads.clear(); }
  SECTION("there is no template") { hub.state.fleet.templates.clear(); }
  SECTION("no pod has the entry") { edit(hub.record.seen)->facts.pod_sets[0].admitted = 0; }
  SECTION("fleet claims are switched off") { hub.state.configuration.dra.fleet_claims = false; }
  SECTION("the dispatcher is off") { hub.state.configuration.multikueue.dispatcher = false; }
  SECTION("the last creation is not answered") {
    hub.of(kMade);
    const PatchIntended sent = hub.intent();
    note_intent(hub.state, sent, Seq{50});
  }
  CHECK(hub.of(kMade).empty());
}

TEST_CASE("fleet claims: reservedFor has the holders, and what other consumers wrote") {
  Hub hub;
  CHECK(hub.of(kSite).empty());
  hub.site.seen.facts.reserved_for = {kForeign};
  CHECK(hub.of(kSite).empty());
  hub.site.holders = {kWorkload};
  REQUIRE(hub.of(kSite).size() == 1);
  CHECK(hub.proposals[0].rank == Rank::status);
  CHECK(hub.intent().verb == Verb::apply_status);
  CHECK(hub.intent().force);
  CHECK(hub.body()["status"] == Json::parse(R"({"deallocationRequested": false, "reservedFor": [
    {"resource": "pods", "name": "p", "uid": "p-uid"},
    {"apiGroup": "kueue.x-k8s.io", "resource": "workloads", "name": "w", "uid": "w-uid"}]})"));
  CHECK(hub.intent().reason.text == "reserved for p w");
  CHECK(hub.intent().reason.because == std::vector<Seq>{Seq{12}, Seq{20}});
  hub.site.seen.facts.reserved_for.push_back(consumer_of("w", "w-uid"));
  CHECK(hub.of(kSite).empty());
  hub.site.holders.clear();
  REQUIRE(hub.of(kSite).size() == 1);
  CHECK(hub.body()["status"]["reservedFor"].size() == 1);
}

TEST_CASE("fleet claims: a driver is asked to deallocate, and its fields are not written") {
  Hub hub;
  hub.site.release = true;
  CHECK(hub.of(kSite).empty());  // it has no allocation
  hub.site.seen.facts.driver = "licences.example.com";
  hub.site.seen.facts.allocation.emplace();
  REQUIRE(hub.of(kSite).size() == 1);
  CHECK(hub.body()["status"] ==
        Json::parse(R"({"deallocationRequested": true, "reservedFor": []})"));
  hub.site.seen.facts.deallocation_requested = true;
  CHECK(hub.of(kSite).empty());
  hub.site.release = false;
  CHECK(hub.of(kSite).empty());  // it is asked until it has done so
  hub.site.seen.facts.allocation.reset();
  REQUIRE(hub.of(kSite).size() == 1);
  CHECK_FALSE(hub.body()["status"]["deallocationRequested"].get<bool>());
}

TEST_CASE("fleet claims: what is booked is the allocation of a claim that we drive") {
  Hub hub;
  hub.state.fleet.classes["licences"].facts.driver = kBookingDriver;
  CHECK(hub.of(kSite).empty());
  hub.site.booking = Booking{"c1", {{"", {"gpu", "rack/7", "d0"}, false, false, {}}}, {Seq{30}}};
  REQUIRE(hub.of(kSite).size() == 1);
  CHECK(hub.body()["status"] == Json::parse(R"({
    "driverName": "fairlead.io/devices", "deallocationRequested": false, "reservedFor": [],
    "allocation": {"availableOnClusters": ["c1"], "resourceHandle": "[\"gpu/rack/7/d0\"]",
      "shareable": false}})"));
  CHECK(hub.intent().reason.because == std::vector<Seq>{Seq{20}, Seq{30}});
  hub.site.seen.facts = std::get<FleetResourceClaimFacts>(*hub.intent().expected);
  CHECK(hub.of(kSite).empty());
  SECTION("it goes with the booking that is given up") {
    hub.site.booking.reset();
    hub.site.release = true;
    REQUIRE(hub.of(kSite).size() == 1);
    CHECK(hub.body()["status"] ==
          Json::parse(R"({"deallocationRequested": false, "reservedFor": []})"));
  }
  SECTION("another driver's allocation is left alone") {
    hub.site.seen.facts.driver = "another";
    CHECK(hub.of(kSite).empty());
  }
}

TEST_CASE("fleet claims: one that was made for a Workload is deleted when that is finished") {
  Hub hub;
  FleetClaimRecord& made = hub.state.fleet.claims[kMade];
  Hub::observed(made);
  made.seen.facts.workload_owners = {"w-uid"};
  CHECK(hub.of(kMade).empty());
  edit(hub.record.seen)->facts.finished = true;
  REQUIRE(hub.of(kMade).size() == 1);
  CHECK(hub.proposals[0].rank == Rank::release);
  CHECK(hub.intent().verb == Verb::remove);
  CHECK(hub.intent().uid == "s");
  CHECK(hub.intent().reason.because == std::vector<Seq>{Seq{12}, Seq{20}});
  SECTION("its finalizer waits for reservedFor") {
    made.seen.facts.deleting = true;
    made.seen.facts.reserved_for = {consumer_of("w", "w-uid")};
    REQUIRE(hub.of(kMade).size() == 1);
    CHECK(hub.intent().verb == Verb::apply_status);
  }
  SECTION("one of another Workload stays") {
    made.seen.facts.workload_owners = {"another"};
    CHECK(hub.of(kMade).empty());
  }
}

TEST_CASE("fleet claims: drivers are asked by a FleetScheduling that the Workload owns") {
  Hub hub;
  hub.record.edit_devices().asked = {{"c2", "c1"}, "c2"};
  hub.record.edit_devices().about = "no answer for licence";
  CHECK(hub.scheduling().empty());
  hub.record.edit_devices().verdict = DeviceVerdict::waiting_for_drivers;
  REQUIRE(hub.scheduling().size() == 1);
  CHECK(hub.intent().verb == Verb::apply);
  CHECK(hub.intent().force);
  CHECK(hub.body() == Json::parse(R"({
    "apiVersion": "dra.fairlead.io/v1alpha1", "kind": "FleetScheduling",
    "metadata": {"name": "w", "namespace": "team", "ownerReferences": [
      {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": "w",
       "uid": "w-uid", "controller": true}]},
    "spec": {"potentialClusters": ["c2", "c1"], "selectedCluster": "c2"}})"));
  CHECK(hub.intent().reason.text == "no answer for licence");
  auto& seen = hub.state.fleet.schedulings[kWorkload];
  seen.uid = "f";
  seen.resource_version = "9";
  seen.seq = Seq{21};
  seen.facts = std::get<FleetSchedulingFacts>(*hub.intent().expected);
  CHECK(hub.scheduling().empty());
  hub.record.edit_devices().asked.selected.clear();
  REQUIRE(hub.scheduling().size() == 1);
  CHECK(hub.intent().uid == "f");
  CHECK(hub.intent().resource_version == "9");
  CHECK_FALSE(hub.body()["spec"].contains("selectedCluster"));
  CHECK(hub.intent().reason.because == std::vector<Seq>{Seq{12}, Seq{21}});
}

TEST_CASE("fleet claims: no driver is asked for a Workload that does not wait for one") {
  Hub hub;
  hub.record.edit_devices().asked = {{"c1"}, ""};
  hub.record.edit_devices().verdict = DeviceVerdict::no_suitable_cluster;
  REQUIRE(hub.scheduling().size() == 1);
  SECTION("it waits for a device") {
    hub.record.edit_devices().verdict = DeviceVerdict::no_cluster;
  }
  SECTION("it is not nominated here") { hub.record.decision.edit().nominates = false; }
  SECTION("it is being deleted") { edit(hub.record.seen)->facts.deleting = true; }
  SECTION("fleet claims are switched off") { hub.state.configuration.dra.fleet_claims = false; }
  SECTION("the FleetScheduling is of an earlier one of its name") {
    hub.state.fleet.schedulings[kWorkload].facts.workload_owners = {"earlier"};
  }
  CHECK(hub.scheduling().empty());
}

}  // namespace
}  // namespace fairlead::fleet_claims_test
