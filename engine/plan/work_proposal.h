// One ManifestWork from its wished content to the write that is due, and what its deletion leaves
// at the member.
//
// OCM's agent owns what it applies, also what stood at the member before, and deletes it with the
// work, unless spec.deleteOption orphans it. What it owns is decided when it applies
// (OwnedByTheWork and manageOwnerRef of OCM 1.3): the option has to be applied before the work
// goes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/emit.h"

namespace fairlead {

/// What a work should carry.
struct WorkContent {
  Json spec;
  ManifestWorkFacts facts;  ///< that the watch will show of it
};

/// One of a member's works as it stands.
struct MemberWork {
  const State& state;
  const std::string& cluster;
  std::string_view name;
  const Work& work;
};

/// One of spec.deleteOption's orphaningRules, for an object without a namespace.
Json orphaning_rule(std::string_view group, std::string_view resource, const std::string& name);
Json orphaned_flavor(const std::string& name);
/// spec.deleteOption that leaves what `rules` name.
Json selectively_orphan(Json rules);

/// Adds the write of the work that is due, if any; without content, its removal.
void propose_work(const MemberWork& of, std::optional<WorkContent> content,
                  std::vector<Proposal>& proposals);

}  // namespace fairlead
