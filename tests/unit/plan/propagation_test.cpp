// What Propagated says of a work that the member's agent reports as failed.
#include "engine/plan/propagation.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

ConditionFacts says(ConditionStatus status, std::string reason) {
  return {status, std::move(reason), 1};
}

Propagation after(ConditionFacts applied, ConditionFacts available) {
  State state;
  state.configuration.member_mode = MemberMode::manifest_work;
  Work& work = state.clusters["c1"].quota_work;
  work.present = true;
  work.generation = 1;
  work.facts.applied = std::move(applied);
  work.facts.available = std::move(available);
  Claim claim;
  claim.known = true;
  claim.terms.emplace();
  claim.terms->cluster = "c1";
  QueueWishes wishes(state);
  return propagation_of(state, claim, wishes);
}

}  // namespace

TEST_CASE("a work that could not be applied is told apart from one that is not available") {
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

}  // namespace fairlead
