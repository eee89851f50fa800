// From nodes to usable capacity: pure functions.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/fold/claim_spec.h"
#include "engine/fold/state.h"
#include "schema/facts.h"

namespace fairlead {

/// How `node` counts among `flavors` (all ResourceFlavors of the hub): the most specific flavor
/// whose nodeLabels are a subset of the node's labels (most labels, then name bytewise); eligible
/// if Ready, schedulable, and without a NoSchedule or NoExecute taint that neither the flavor's
/// nodeTaints nor its tolerations cover.
CountedNode classify(const NodeFacts& node,
                     const std::map<std::string, ResourceFlavorFacts>& flavors);

/// Whether `taint` keeps a node from counting for `flavor`: NoSchedule or NoExecute, and neither
/// the flavor's nodeTaints nor its tolerations cover it.
bool keeps_out(const Taint& taint, const ResourceFlavorFacts& flavor);

/// Amounts under canonical names; an alias and its canonical name add up.
std::map<std::string, Amount> canonical_amounts(const ResourceAmounts& amounts,
                                                const ResourceAliases& aliases);

/// Calls `use(resource, amount)` for each of canonical_amounts, in order. Where no alias is among
/// them, nothing is copied.
template <class Use>
void for_each_canonical(const ResourceAmounts& amounts, const ResourceAliases& aliases,
                        const Use& use) {
  const auto is_alias = [&](std::string_view resource) {
    return std::any_of(aliases.begin(), aliases.end(),
                       [&](const auto& alias) { return alias.first == resource; });
  };
  for (const auto& [resource, amount] : amounts)
    if (is_alias(resource)) {
      for (const auto& [canonical, sum] : canonical_amounts(amounts, aliases)) use(canonical, sum);
      return;
    }
  for (const auto& [resource, amount] : amounts) use(resource, amount);
}

/// The headroom in force for a cluster.
struct CanonicalHeadroom {
  struct Row {
    std::string resource;  ///< canonical
    std::int64_t percent = 0;
    Amount reserved = 0;
  };
  std::vector<Row> rows;  ///< a few; a resource without one has none

  Row& row_of(std::string_view resource);
};

/// The configuration's headroom, with the maps that `terms` gives replacing it whole. `terms` may
/// be null.
CanonicalHeadroom headroom_of(const Configuration& configuration, const ClaimTerms* terms);

/// max(0, floor(offered * (100 - percent) / 100) - reserved), saturated.
Amount usable_amount(Int128 offered, const std::string& resource,
                     const CanonicalHeadroom& headroom);

}  // namespace fairlead
