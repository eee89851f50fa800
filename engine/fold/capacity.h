// From nodes to usable capacity: pure functions.
#pragma once

#include <map>
#include <string>

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

/// Amounts under canonical names; an alias and its canonical name add up.
std::map<std::string, Amount> canonical_amounts(const ResourceAmounts& amounts,
                                                const ResourceAliases& aliases);

/// The headroom in force for a cluster, by canonical resource.
struct CanonicalHeadroom {
  std::map<std::string, std::int64_t> percent;
  std::map<std::string, Amount> reserved;
};

/// The configuration's headroom, with the maps that `terms` gives replacing it whole. `terms` may
/// be null.
CanonicalHeadroom headroom_of(const Configuration& configuration, const ClaimTerms* terms);

/// max(0, floor(offered * (100 - percent) / 100) - reserved), saturated.
Amount usable_amount(Int128 offered, const std::string& resource,
                     const CanonicalHeadroom& headroom);

}  // namespace fairlead
