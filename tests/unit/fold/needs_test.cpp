// Which fleet claims a Workload needs, and who uses a claim: docs/devices.md.
#include "engine/fold/fleet_claims/needs.h"

#include <catch2/catch.hpp>

#include "engine/fold/state.h"
#include "tests/support/edit_workload.h"

namespace fairlead::needs_test {
namespace {

const NamespacedName kId{"team", "w"};
const ClaimConsumer kForeign{"", "pods", "p", "p"};

// Workload team/w, whose pods have fleet claims.
struct Hub {
  State state;
  WorkloadRecord& record = state.multikueue.workloads[kId];
  FleetClaimRecord& claim = state.fleet.claims[{"team", "site"}];

  Hub() {
    state.configuration.dra.fleet_claims = true;
    edit(record.seen)->uid = "w-uid";
  }
  void pods(const std::string& name, std::vector<PodClaim> entries) {
    auto seen = edit(record.seen);
    WorkloadPodSet& set = seen->facts.pod_sets.emplace_back();
    set.name = name;
    set.fleet.entries = std::move(entries);
  }
  FleetNeeds needs() const { return fleet_needs(state.configuration, kId, record.seen->facts); }
  bool has_needs() const { return has_fleet_needs(state.configuration, record.seen->facts); }
  // Another Workload of the namespace holds the claim.
  void holds(const std::string& workload, const std::string& namespace_ = "team") {
    edit(state.multikueue.workloads[{namespace_, workload}].seen)->uid = workload + "-uid";
    claim.holders.insert({namespace_, workload});
  }
};

std::vector<NamespacedName> claims_in(const FleetNeeds& needs) {
  std::vector<NamespacedName> claims;
  for (const FleetNeed& need : needs.all) claims.push_back(need.claim);
  return claims;
}

TEST_CASE("needs: an entry names a claim, or a template of which the Workload gets its own") {
  const FleetNeed named = need_of(kId, {"licence", "site", ""});
  CHECK(named.entry == "licence");
  CHECK(named.claim == NamespacedName{"team", "site"});
  CHECK(named.template_.empty());
  const FleetNeed made = need_of(kId, {"licence", "", "licences"});
  CHECK(made.claim == NamespacedName{"team", "w-licence"});
  CHECK(made.template_ == "licences");
}

TEST_CASE("needs: those of all pod sets are joined by the names of their entries") {
  Hub hub;
  hub.pods("driver", {{"b", "", "made"}, {"a", "site", ""}});
  hub.pods("worker", {{"a", "site", ""}, {"c", "other", ""}});
  CHECK(hub.needs().fault.empty());
  CHECK(claims_in(hub.needs()) ==
        std::vector<NamespacedName>{{"team", "w-b"}, {"team", "site"}, {"team", "other"}});
  CHECK(claims_named(kId, hub.record.seen->facts).size() == 4);
}

TEST_CASE("needs: a pod set that has no pod needs nothing, and still names its claims") {
  Hub hub;
  hub.pods("main", {{"a", "site", ""}});
  CHECK(hub.has_needs());
  SECTION("admitted with 0") { edit(hub.record.seen)->facts.pod_sets[0].admitted = 0; }
  SECTION("of count 0") { edit(hub.record.seen)->facts.pod_sets[0].count = 0; }
  CHECK_FALSE(hub.has_needs());
  CHECK(hub.needs().all.empty());
  CHECK(claims_named(kId, hub.record.seen->facts) == std::vector<NamespacedName>{{"team", "site"}});
  edit(hub.record.seen)->facts.pod_sets[0].admitted = 1;
  CHECK(hub.has_needs());
}

TEST_CASE("needs: there are none where fleet claims are switched off") {
  Hub hub;
  hub.pods("main", {{"a", "site", ""}});
  hub.state.configuration.dra.fleet_claims = false;
  CHECK_FALSE(hub.has_needs());
  CHECK(hub.needs().all.empty());
}

TEST_CASE("needs: an annotation that cannot be read leaves none, and names its pod set") {
  Hub hub;
  hub.pods("first", {{"a", "site", ""}});
  const std::string head = "podSet main: annotation dra.fairlead.io/claims: ";
  SECTION("it is no list of entries") {
    hub.pods("main", {});
    edit(hub.record.seen)->facts.pod_sets.back().fleet.fault = "expected a list";
    CHECK(hub.needs().fault == head + "expected a list");
  }
  SECTION("an entry has another claim than in an earlier pod set") {
    hub.pods("main", {{"a", "other", ""}});
    CHECK(hub.needs().fault == head + "entry a has another claim in an earlier pod set");
  }
  SECTION("an entry has a template, and not in an earlier pod set") {
    hub.pods("main", {{"a", "", "made"}});
    CHECK(hub.needs().fault == head + "entry a has another claim in an earlier pod set");
  }
  SECTION("the name of a claim would be too long") {
    hub.pods("main", {{std::string(252, 'e'), "", "made"}});  // w-eee: 254
    CHECK(hub.needs().fault.ends_with("the name of its claim has more than 253 bytes"));
  }
  CHECK(hub.needs().all.empty());
  CHECK(hub.has_needs());
}

TEST_CASE("needs: a name of 253 bytes is one") {
  Hub hub;
  hub.pods("main", {{std::string(251, 'e'), "", "made"}});
  CHECK(hub.needs().fault.empty());
  CHECK(hub.needs().all.at(0).claim.second.size() == 253);
}

TEST_CASE("needs: where a claim can be used, by its class and as it is allocated") {
  Hub hub;
  FleetResourceClaimFacts& facts = hub.claim.seen.facts;
  facts.spec.resource_class = "licences";
  CHECK(is_suitable(hub.state.fleet, facts, "c1"));  // there is no such class
  auto& suitable = hub.state.fleet.classes["licences"].facts.suitable;
  CHECK(is_suitable(hub.state.fleet, facts, "c1"));
  suitable = {"c2", "c3"};
  CHECK_FALSE(is_suitable(hub.state.fleet, facts, "c1"));
  CHECK(is_suitable(hub.state.fleet, facts, "c3"));
  CHECK(is_in_reach(facts, "c1"));  // it is not allocated yet
  facts.allocation.emplace();
  CHECK(is_in_reach(facts, "c1"));
  facts.allocation->clusters = {"c2"};
  CHECK_FALSE(is_in_reach(facts, "c1"));
  CHECK(is_in_reach(facts, "c2"));
}

TEST_CASE("needs: a FleetScheduling is that of the Workload which owns it") {
  Hub hub;
  CHECK(scheduling_of(hub.state.fleet, kId, hub.record) == nullptr);
  auto& scheduling = hub.state.fleet.schedulings[kId];
  CHECK(scheduling_of(hub.state.fleet, kId, hub.record) == &scheduling);  // it has no owner
  scheduling.facts.workload_owners = {"earlier"};
  CHECK(scheduling_of(hub.state.fleet, kId, hub.record) == nullptr);
  scheduling.facts.workload_owners = {"earlier", "w-uid"};
  CHECK(scheduling_of(hub.state.fleet, kId, hub.record) == &scheduling);
  scheduling.facts.unsuitable = {{"licence", {"c1", "c2"}}};
  CHECK(is_called_unsuitable(scheduling.facts, "licence", "c2"));
  CHECK_FALSE(is_called_unsuitable(scheduling.facts, "licence", "c3"));
  CHECK_FALSE(is_called_unsuitable(scheduling.facts, "machine", "c2"));
}

TEST_CASE("needs: a claim is reserved for a Workload by its uid") {
  Hub hub;
  auto& entries = hub.claim.seen.facts.reserved_for;
  entries = {kForeign, consumer_of("w", "earlier")};
  CHECK_FALSE(is_reserved_for(hub.claim, "w-uid"));
  entries.push_back(consumer_of("w", "w-uid"));
  CHECK(is_reserved_for(hub.claim, "w-uid"));
  CHECK_FALSE(is_reserved_for(hub.claim, "p"));  // a pod's
  hub.claim.seen.facts.workload_owners = {"a", "w-uid"};
  CHECK(is_made_for(hub.claim, "w-uid"));
  CHECK_FALSE(is_made_for(hub.claim, "b"));
}

TEST_CASE("needs: a Workload is not nominated before all of its claims are reserved for it") {
  Hub hub;
  hub.pods("main", {{"a", "site", ""}, {"b", "other", ""}});
  CHECK_FALSE(awaits_claims(hub.state, kId, hub.record));  // it has no place yet
  hub.record.edit_devices().reservation.emplace();
  CHECK(awaits_claims(hub.state, kId, hub.record));
  hub.claim.seen.facts.reserved_for = {consumer_of("w", "w-uid")};
  CHECK(awaits_claims(hub.state, kId, hub.record));  // there is no claim other
  hub.state.fleet.claims[{"team", "other"}].seen.facts.reserved_for = {consumer_of("w", "w-uid")};
  CHECK_FALSE(awaits_claims(hub.state, kId, hub.record));
  hub.claim.seen.facts.reserved_for.clear();
  edit(hub.record.seen)->facts.cluster_name = "gpu-c1";  // it runs
  CHECK_FALSE(awaits_claims(hub.state, kId, hub.record));
}

TEST_CASE("needs: the other consumers of a claim are its holders and what is no Workload") {
  Hub hub;
  CHECK(other_consumers(hub.claim, kId) == 0);
  hub.holds("w");
  hub.claim.seen.facts.reserved_for = {consumer_of("w", "w-uid"), consumer_of("gone", "g")};
  CHECK(other_consumers(hub.claim, kId) == 0);
  hub.holds("v");
  CHECK(other_consumers(hub.claim, kId) == 1);
  hub.claim.seen.facts.reserved_for.push_back(kForeign);
  CHECK(other_consumers(hub.claim, kId) == 2);
  CHECK(other_consumers(hub.claim, {"team", "another"}) == 3);
}

TEST_CASE("needs: reservedFor keeps what others wrote, and has the holders") {
  Hub hub;
  hub.holds("w");
  hub.holds("a");
  hub.holds("x", "elsewhere");  // no claim is for a Workload of another namespace
  hub.claim.holders.insert({"team", "unknown"});
  hub.claim.seen.facts.reserved_for = {consumer_of("gone", "g"), consumer_of("w", "w-uid"),
                                       kForeign, consumer_of("a", "earlier")};
  CHECK(wished_consumers(hub.state.multikueue, {"team", "site"}, hub.claim) ==
        std::vector<ClaimConsumer>{consumer_of("w", "w-uid"), kForeign, consumer_of("a", "a-uid")});
}

}  // namespace
}  // namespace fairlead::needs_test
