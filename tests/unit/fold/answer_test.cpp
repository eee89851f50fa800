// Whether the fleet claims of a Workload let it go to a cluster, and to which:
// engine/fold/fleet_claims/answer.cpp. docs/devices.md has the reasons.
#include "engine/fold/fleet_claims/answer.h"

#include <catch2/catch.hpp>

#include "engine/fold/fleet_claims/needs.h"
#include "engine/fold/state.h"
#include "tests/support/edit_workload.h"

namespace fairlead::answer_test {
namespace {

using Names = std::vector<std::string>;
const NamespacedName kId{"team", "w"};

// Workload team/w, whose pods fit in c1 and then in c2. Its claims are of class licences, which an
// external driver allocates.
struct Hub {
  State state;
  WorkloadRecord& record = state.multikueue.workloads[kId];
  FleetQuestion& asked = record.edit_devices().asked;
  Names candidates = {"c1", "c2"};

  Hub() {
    state.configuration.dra.fleet_claims = state.configuration.multikueue.dispatcher = true;
    auto seen = edit(record.seen);
    seen->uid = "w-uid";
    seen->facts.pod_sets.emplace_back().name = "main";
    state.fleet.classes["licences"].facts.driver = "licences.example.com";
  }
  FleetClaimRecord& claim(const std::string& name) { return state.fleet.claims[{"team", name}]; }
  // Adds an entry that names a claim of that class, not allocated yet.
  FleetClaimRecord& needs(const std::string& entry) {
    edit(record.seen)->facts.pod_sets[0].fleet.entries.push_back({entry, entry + "-claim", ""});
    FleetClaimRecord& made = claim(entry + "-claim");
    made.seen.facts.spec.resource_class = "licences";
    state.fleet.users[{"team", entry + "-claim"}].insert(kId);
    return made;
  }
  // The same, allocated for these clusters.
  FleetClaimRecord& has(const std::string& entry, std::optional<Names> clusters = std::nullopt) {
    FleetClaimRecord& made = needs(entry);
    made.seen.facts.allocation.emplace().clusters = std::move(clusters);
    return made;
  }
  FleetAnswer answer(const std::string& preferred = "") {
    return answer_fleet_claims(state, kId, record, candidates, preferred);
  }
  DeviceVerdict verdict() { return answer().verdict; }
  // The driver of each entry answers which clusters it cannot serve.
  void drivers_say(std::map<std::string, Names> unsuitable) {
    auto& scheduling = state.fleet.schedulings[kId].facts;
    scheduling.workload_owners = {"w-uid"};
    scheduling.unsuitable = std::move(unsuitable);
  }
};

TEST_CASE("fleet claims: a Workload with allocated claims goes to the first cluster in reach") {
  Hub hub;
  hub.has("a");
  CHECK(hub.answer().cluster == "c1");
  CHECK(hub.verdict() == DeviceVerdict::reserved);
  CHECK(hub.answer("c2").cluster == "c2");  // where it was before
  CHECK(hub.answer("c9").cluster == "c1");
  hub.claim("a-claim").seen.facts.allocation->clusters = {"c2"};
  CHECK(hub.answer("c1").cluster == "c2");
}

TEST_CASE("fleet claims: the first reason for which a Workload waits") {
  Hub hub;
  FleetClaimRecord& claim = hub.has("a");
  FleetResourceClaimFacts& facts = claim.seen.facts;
  hub.candidates.clear();
  const auto waits = [&](DeviceVerdict verdict, const std::string& about) {
    const FleetAnswer answer = hub.answer();
    CHECK(answer.cluster.empty());
    CHECK(answer.verdict == verdict);
    CHECK(answer.about == about);
  };
  waits(DeviceVerdict::no_cluster, "");
  facts.deallocation_requested = true;
  waits(DeviceVerdict::claim_deallocating,
        "entry a: FleetResourceClaim a-claim is being deallocated");
  facts.deallocation_requested = false;
  claim.release = true;
  waits(DeviceVerdict::claim_deallocating,
        "entry a: FleetResourceClaim a-claim is being deallocated");
  facts.allocation.reset();
  facts.spec.immediate = true;
  waits(DeviceVerdict::claim_not_allocated, "entry a: FleetResourceClaim a-claim is not allocated");
  facts.spec.resource_class = "none";
  waits(DeviceVerdict::class_not_found, "entry a: FleetResourceClass none is missing");
  facts.deleting = true;
  waits(DeviceVerdict::claim_not_found, "entry a: FleetResourceClaim a-claim is being deleted");
  hub.state.fleet.claims.clear();
  waits(DeviceVerdict::claim_not_found, "entry a: FleetResourceClaim a-claim is missing");
  edit(hub.record.seen)->facts.pod_sets[0].fleet.fault = "expected a list";
  CHECK(hub.verdict() == DeviceVerdict::unsupported);
}

TEST_CASE("fleet claims: a claim from a template was made for this Workload, or is made") {
  Hub hub;
  edit(hub.record.seen)->facts.pod_sets[0].fleet.entries = {{"a", "", "made"}};
  CHECK(hub.answer().about == "entry a: FleetResourceClaimTemplate made is missing");
  hub.state.fleet.templates[{"team", "made"}];
  CHECK(hub.answer().about == "entry a: FleetResourceClaim w-a is being created");
  FleetClaimRecord& claim = hub.claim("w-a");
  claim.seen.facts.spec.resource_class = "licences";
  claim.seen.facts.allocation.emplace();
  CHECK(hub.verdict() == DeviceVerdict::claim_not_for_workload);
  claim.seen.facts.workload_owners = {"w-uid"};
  CHECK(hub.answer().cluster == "c1");
}

TEST_CASE("fleet claims: claims that no cluster has in reach together are named for each") {
  Hub hub;
  hub.has("a", Names{"c1"}).holders = {{"team", "v"}};
  hub.has("b", Names{"c2"}).holders = {{"team", "v"}};
  CHECK(hub.verdict() == DeviceVerdict::conflicting_pins);
  CHECK(hub.answer().about == "c1: b; c2: a");
  hub.state.fleet.classes["licences"].facts.suitable = Names{"c9"};
  CHECK(hub.answer().about == "c1: a; c2: a");
}

TEST_CASE("fleet claims: an allocation without a consumer that is in the way is given up") {
  Hub hub;
  FleetClaimRecord& old = hub.has("a", Names{"c1"});
  FleetClaimRecord& recent = hub.has("b", Names{"c2"});
  old.allocated_seq = Seq{20};
  recent.allocated_seq = Seq{30};
  SECTION("the one that was seen last") {
    const FleetAnswer answer = hub.answer();
    CHECK(answer.verdict == DeviceVerdict::claim_deallocating);
    CHECK(answer.about == "entry b: FleetResourceClaim b-claim is being deallocated");
    CHECK(recent.release);
    CHECK_FALSE(old.release);
    CHECK(hub.state.fleet.dirty_claims.contains({"team", "b-claim"}));
  }
  SECTION("not one that has a consumer") {
    recent.holders = {{"team", "v"}};
    CHECK(hub.verdict() == DeviceVerdict::claim_deallocating);
    CHECK(old.release);
    CHECK_FALSE(recent.release);
  }
  SECTION("not one of a consumer of another kind") {
    recent.seen.facts.reserved_for = {{"", "pods", "p", "p"}};
    hub.answer();
    CHECK(old.release);
  }
  SECTION("not an Immediate one") {
    recent.seen.facts.spec.immediate = true;
    hub.answer();
    CHECK(old.release);
    CHECK_FALSE(recent.release);
  }
}

TEST_CASE("fleet claims: the Workload's own reservation pins it to no cluster") {
  Hub hub;
  FleetClaimRecord& claim = hub.has("a", Names{"c9"});
  claim.holders = {kId, {"team", "v"}};
  CHECK(hub.verdict() == DeviceVerdict::conflicting_pins);  // another one uses it, too
  claim.holders = {kId};
  CHECK(hub.verdict() == DeviceVerdict::claim_deallocating);
  CHECK(claim.release);
  CHECK(claim.holders.empty());
}

TEST_CASE("fleet claims: an allocation that allows only unsuitable clusters is given up") {
  Hub hub;
  FleetClaimRecord& pin = hub.has("a", Names{"c1"});
  hub.needs("b");
  hub.drivers_say({{"b", {"c1", "c2"}}});
  CHECK(hub.verdict() == DeviceVerdict::no_suitable_cluster);  // nowhere is better
  hub.drivers_say({{"b", {"c1"}}});
  CHECK(hub.answer().about == "entry a: FleetResourceClaim a-claim is being deallocated");
  CHECK(pin.release);
  pin.release = false;
  pin.holders = {{"team", "v"}};
  CHECK(hub.verdict() == DeviceVerdict::no_suitable_cluster);
}

TEST_CASE("fleet claims: one claim that waits has a cluster selected before its driver answers") {
  Hub hub;
  hub.needs("a");
  FleetAnswer answer = hub.answer();
  CHECK(answer.verdict == DeviceVerdict::waiting_for_drivers);
  CHECK(answer.about == "selected c1, not allocated: a");
  CHECK(hub.asked == FleetQuestion{{"c1", "c2"}, "c1"});
  CHECK(hub.state.fleet.dirty_schedulings.contains(kId));
  hub.drivers_say({{"a", {"c1"}}});  // it cannot serve that one
  CHECK(hub.answer().about == "selected c2, not allocated: a");
  hub.drivers_say({{"a", {}}});
  CHECK(hub.answer().about == "selected c2, not allocated: a");  // a selection stays
  hub.drivers_say({{"a", {"c1", "c2"}}});
  answer = hub.answer();
  CHECK(answer.verdict == DeviceVerdict::no_suitable_cluster);
  CHECK(answer.about == "c1: a; c2: a");
  CHECK(hub.asked.selected.empty());
}

TEST_CASE("fleet claims: with several that wait every driver answers before one is selected") {
  Hub hub;
  hub.needs("a");
  hub.needs("b");
  CHECK(hub.answer().about == "no answer for a, b");
  hub.drivers_say({{"a", {"c1"}}});
  CHECK(hub.answer().about == "no answer for b");
  CHECK(hub.asked.selected.empty());
  hub.drivers_say({{"a", {"c1"}}, {"b", {}}});
  CHECK(hub.answer().about == "selected c2, not allocated: a, b");
  hub.state.fleet.schedulings[kId].facts.workload_owners = {"earlier"};  // of another Workload
  hub.asked = {};
  CHECK(hub.answer().about == "no answer for a, b");
}

TEST_CASE("fleet claims: drivers are asked about 128 clusters, those that the claims allow") {
  Hub hub;
  hub.needs("a");
  hub.has("b", Names{"c2"});
  hub.answer();
  CHECK(hub.asked.potential == Names{"c2"});
  hub.claim("b-claim").seen.facts.allocation->clusters.reset();
  for (int i = 3; i <= 200; ++i) hub.candidates.push_back("c" + std::to_string(i));
  hub.answer();
  CHECK(hub.asked.potential.size() == 128);
}

TEST_CASE("fleet claims: a Workload goes where its drivers allocated") {
  Hub hub;
  FleetClaimRecord& claim = hub.needs("a");
  hub.asked.selected = "c2";
  hub.answer();
  claim.seen.facts.allocation.emplace();  // it can be used everywhere
  CHECK(hub.answer().cluster == "c2");
  CHECK(hub.answer("c1").cluster == "c1");
}

TEST_CASE("fleet claims: an exclusive claim has one consumer, a shareable one up to 256") {
  Hub hub;
  FleetClaimRecord& claim = hub.has("a");
  claim.holders = {kId};
  CHECK(hub.answer().cluster == "c1");
  claim.holders.insert({"team", "v"});
  CHECK(hub.verdict() == DeviceVerdict::claim_in_use);
  CHECK(hub.answer().about == "entry a: FleetResourceClaim a-claim is reserved for v");
  claim.seen.facts.reserved_for = {{"", "pods", "p", "p"}};
  CHECK(hub.answer().about == "entry a: FleetResourceClaim a-claim is reserved for pods/p");
  claim.seen.facts.allocation->shareable = true;
  CHECK(hub.answer().cluster == "c1");
  for (int i = 2; i < 255; ++i) claim.holders.insert({"team", "v" + std::to_string(i)});
  CHECK(hub.answer().cluster == "c1");  // it is the last of 256
  claim.holders.insert({"team", "one-more"});
  CHECK(hub.verdict() == DeviceVerdict::reserved_for_full);
}

TEST_CASE("fleet claims: a Workload with a reservation, or that runs by its claims, holds them") {
  Hub hub;
  FleetClaimRecord& claim = hub.has("a");
  reserve_claims(hub.state, kId, hub.record);
  CHECK(claim.holders == std::set<NamespacedName>{kId});
  SECTION("until its reservation ends") {
    hub.record.edit_devices().reservation.emplace();
    follow_holder(hub.state, kId, hub.record);
    CHECK(claim.holders.contains(kId));
    hub.record.edit_devices().reservation.reset();
    hub.state.multikueue.workloads[{"team", "v"}].seen = hub.record.seen;
    hub.state.fleet.users[{"team", "a-claim"}].insert({"team", "v"});
    follow_holder(hub.state, kId, hub.record);
    CHECK(claim.holders.empty());
    CHECK(hub.state.dispatch.dirty_workloads.contains({"team", "v"}));  // waits for it
  }
  SECTION("until it is gone") {
    forget_holder(hub.state, kId, hub.record);
    CHECK(claim.holders.empty());
  }
  SECTION("while it runs and the claim says so") {
    claim.holders.clear();
    edit(hub.record.seen)->facts.quota_reserved = true;
    edit(hub.record.seen)->facts.cluster_name = "gpu-c1";
    follow_holder(hub.state, kId, hub.record);
    CHECK(claim.holders.empty());
    claim.seen.facts.reserved_for = {consumer_of("w", "w-uid")};
    follow_holder(hub.state, kId, hub.record);
    CHECK(claim.holders.contains(kId));
    edit(hub.record.seen)->facts.finished = true;
    follow_holder(hub.state, kId, hub.record);
    CHECK(claim.holders.empty());
  }
}

TEST_CASE("fleet claims: a nominated Workload loses a claim that is not its own there any more") {
  Hub hub;
  FleetClaimRecord& claim = hub.has("a", Names{"c1"});
  claim.holders = {kId};
  const auto lost = [&] { return has_lost_claim(hub.state, kId, hub.record, "c1"); };
  claim.seen.facts.allocation->clusters = {"c2"};
  CHECK_FALSE(lost());  // it is not nominated
  hub.record.edit_devices().reservation.emplace();
  CHECK(lost());
  claim.seen.facts.allocation->clusters = {"c1", "c2"};
  CHECK_FALSE(lost());
  SECTION("it is not allocated") { claim.seen.facts.allocation.reset(); }
  SECTION("it is another's") { claim.holders.clear(); }
  SECTION("it is gone") { hub.state.fleet.claims.clear(); }
  CHECK(lost());
}

}  // namespace
}  // namespace fairlead::answer_test
