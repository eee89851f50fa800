// From the desired content of one ManifestWork to the write that is due, and what its deletion
// leaves at the member.
//
// OCM's agent owns what it applies, also what existed at the member before, and deletes it with the
// work unless spec.deleteOption orphans it. The agent decides what it owns when it applies the work
// (OwnedByTheWork and manageOwnerRef of OCM 1.3): the option has to be applied before the work is
// deleted.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/emit.h"

namespace fairlead {

/// What a work should contain.
struct WorkContent {
  Json spec;
  ManifestWorkFacts facts;  ///< that the watch will report for it
};

/// One of a member's works as observed.
struct MemberWork {
  const State& state;
  const std::string& cluster;
  std::string_view name;
  const Work& work;
};

/// Returns one of spec.deleteOption's orphaningRules, for an object without a namespace.
Json orphaning_rule(std::string_view group, std::string_view resource, const std::string& name);
Json orphaned_flavor(const std::string& name);
/// Returns a spec.deleteOption that leaves the objects of `rules` at the member.
Json selectively_orphan(Json rules);

/// Adds the write of the work that is due, if any, to `proposals`. Without content that is its
/// removal.
void propose_work(const MemberWork& of, std::optional<WorkContent> content,
                  std::vector<PatchIntended>& proposals);

}  // namespace fairlead
