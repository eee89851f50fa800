// What Propagated says of a member: of a work that its agent reports as failed, and of one that is
// being written.
#include "engine/plan/claims/propagation.h"

#include <catch2/catch.hpp>

#include "engine/fold/members/works.h"

namespace fairlead {
namespace {

ConditionFacts says(ConditionStatus status, std::string reason) {
  return {status, std::move(reason), 1};
}

// One claim without assignments, and its cluster's work.
struct World {
  State state;
  Claim claim;
};

World world_with(ConditionFacts applied, ConditionFacts available) {
  World world;
  State& state = world.state;
  state.configuration.member_mode = MemberMode::manifest_work;
  Work& work = state.clusters["c1"].member.quota_works["fairlead-quota"];
  work.present = true;
  work.generation = 1;
  work.facts.applied = std::move(applied);
  work.facts.available = std::move(available);
  world.claim.known = true;
  world.claim.terms.emplace();
  world.claim.terms->cluster = "c1";
  return world;
}

Propagation propagation_in(const World& world) {
  QueueWishes wishes(world.state);
  return propagation_of(world.state, world.claim, wishes);
}

Propagation after(ConditionFacts applied, ConditionFacts available) {
  return propagation_in(world_with(std::move(applied), std::move(available)));
}

}  // namespace

TEST_CASE("a work that could not be applied is distinguished from one that is not available") {
  const ConditionFacts good = says(ConditionStatus::yes, "Complete");
  const Propagation refused = after(says(ConditionStatus::no, "AppliedManifestWorkFailed"), good);
  CHECK(refused.reason == "MemberRejected");
  CHECK(refused.message ==
        "ManifestWork fairlead-quota could not be applied: AppliedManifestWorkFailed; its "
        "status.resourceStatus has what the agent says of each object");
  const Propagation missing = after(good, says(ConditionStatus::no, "ResourcesNotAvailable"));
  CHECK(missing.reason == "MemberRejected");
  CHECK(missing.message ==
        "ManifestWork fairlead-quota is not available at the member: ResourcesNotAvailable; its "
        "status.resourceStatus has what the agent says of each object");
  CHECK(after(good, good).status == "True");
}

TEST_CASE(
    "what the member has is not known between a write of its work and the watch's sight of it") {
  const ConditionFacts good = says(ConditionStatus::yes, "Complete");
  World world = world_with(good, good);
  const ObjectKey work{Kind::manifest_work, "c1", std::string(kQuotaWork)};
  WriteState& write = world.state.writes.by_key[{std::string(kHub), work, false}];
  CHECK(propagation_in(world).status == "True");
  write.awaited_version = "7";
  const Propagation accepted = propagation_in(world);
  CHECK(accepted.status == "False");
  CHECK(accepted.reason == "WaitingForMember");
  CHECK(accepted.soon_over);
  write.await_nothing();
  write.outstanding.emplace();
  CHECK(propagation_in(world).soon_over);
}

TEST_CASE("a queue that the member's Kueue calls inactive is named, with Kueue's reason") {
  const ConditionFacts good = says(ConditionStatus::yes, "Complete");
  World world = world_with(good, good);
  world.claim.winner = true;
  world.claim.terms->rows = {{"qa", "od", "cpu", "cpu", 5000, 0, 0}};
  world.claim.grants = {{world.claim.terms->rows[0], 5000, {}}};
  Cluster& cluster = world.state.clusters["c1"];
  Work& work = cluster.member.quota_works["fairlead-quota"];
  work.facts.quotas = {{"qa", "od", "cpu", 5000}, {"qb", "od", "cpu", 5000}};
  cluster.member.confirmed[{"qa", "od", "cpu"}] = 5000;
  // Of a queue that is not the claim's nothing is said.
  work.facts.feedback = {{"qb", ConditionStatus::no, false, {}, "Stopped", {}}};
  CHECK(propagation_in(world).status == "True");
  work.facts.feedback = {{"qa", ConditionStatus::no, false, {}, "TopologyNotFound", {}}};
  CHECK(propagation_in(world).reason == "MemberQueueInactive");
  CHECK(
      propagation_in(world).message ==
      "ClusterQueue qa of c1 is not active: TopologyNotFound; the hub does not grow before it is");
  work.facts.feedback = {{"qa", ConditionStatus::absent, false, {}, "", ConditionStatus::yes}};
  CHECK(propagation_in(world).message.find("has not set the condition Active") !=
        std::string::npos);
  work.facts.feedback = {{"qa", ConditionStatus::absent, false, {}, "", {}}};
  CHECK(propagation_in(world).status == "True");
  // What is watched counts before what its agent reports.
  cluster.member.queues["qa"].active = ConditionStatus::no;
  cluster.member.queues["qa"].reason = "Stopped";
  CHECK(propagation_in(world).message.find("Stopped") != std::string::npos);
}

TEST_CASE("of several works each is looked at") {
  const ConditionFacts good = says(ConditionStatus::yes, "Complete");
  World world = world_with(good, good);
  Work& second = world.state.clusters["c1"].member.quota_works["fairlead-quota-1"];
  second.present = true;
  second.generation = 1;
  second.facts.applied = good;
  second.facts.available = says(ConditionStatus::no, "ResourcesNotAvailable");
  CHECK(propagation_in(world).message.starts_with("ManifestWork fairlead-quota-1 is not"));
  second.facts.available = says(ConditionStatus::unknown, "");
  CHECK(propagation_in(world).reason == "WaitingForMember");
  second.facts.available = good;
  CHECK(propagation_in(world).status == "True");
}

}  // namespace fairlead
