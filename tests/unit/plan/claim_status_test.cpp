#include "engine/plan/claims/claim_status.h"

#include <catch2/catch.hpp>

namespace fairlead::claim_status_test {
namespace {

TEST_CASE("claim status: the state of a capacity value is the first thing that is the matter") {
  Cluster cluster;
  cluster.known = true;
  DampedValue value;
  value.accepted = value.usable = 5;
  const auto state = [&] { return capacity_state(cluster, value); };
  CHECK(state() == "Accepted");
  value.usable = 6;
  CHECK(state() == "Growing");
  value.usable = 4;
  CHECK(state() == "Shrinking");
  cluster.liveness_at_close = Liveness::stale;
  CHECK(state() == "Stale");
  cluster.hold = Hold{};
  CHECK(state() == "Held");
  cluster.known = false;
  CHECK(state() == "Unknown");
  cluster.liveness_at_close = Liveness::lost;
  CHECK(state() == "Lost");
  cluster.presence.detached = true;
  CHECK(state() == "Detached");
}

TEST_CASE("claim status: a row's reason is the queue's where that decides, else the grant's") {
  State state;
  state.flavors.by_name["od"] = {};
  Claim& claim = state.claims.by_name["k"];
  claim.terms = ClaimTerms{};
  claim.terms->cluster = "c1";
  claim.terms->rows = {{"q", "od", "cpu", "cpu", 5000, 0, 0}};
  claim.grants = {{claim.terms->rows[0], 3000, GrantReason::flavor_capacity}};
  claim.winner = claim.known = true;
  state.claims.of_queue["q"] = {"k"};
  state.claims.of_cluster["c1"] = {"k"};
  const auto reason = [&] {
    QueueWishes wishes(state);
    return text_of(grant_reason(state, claim, claim.grants[0], wishes));
  };
  CHECK(reason() == "QueueNotFound");
  Queue& queue = state.queues.by_name["q"];
  CHECK(reason() == "QueueNotFound");  // it was there
  queue.present = true;
  CHECK(reason() == "ResourceNotCovered");
  queue.facts.groups = {{{"cpu"}, {}}};
  CHECK(reason() == "FlavorCapacity");
  state.flavors.gone = {"od"};
  CHECK(reason() == "FlavorNotFound");
  queue.facts.effective = EffectiveQuotas{};
  CHECK(reason() == "QuotaOrchestrated");
  claim.winner = false;  // of a claim that is not in force its own reason is reported
  CHECK(reason() == "FlavorCapacity");
}

TEST_CASE(
    "claim status: of a claim that is not there, or goes without our finalizer, none is due") {
  State state;
  QueueWishes wishes(state);
  CHECK_FALSE(emit_claim_status(state, "none", wishes));
  Claim& claim = state.claims.by_name["k"];
  claim.facts.deleting = true;
  CHECK_FALSE(emit_claim_status(state, "k", wishes));
}

}  // namespace
}  // namespace fairlead::claim_status_test
