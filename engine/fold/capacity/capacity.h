// From nodes to usable capacity: pure functions.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/cluster_terms.h"
#include "engine/fold/claims/claim_spec.h"
#include "engine/fold/cluster_state.h"
#include "schema/facts.h"

namespace fairlead {

/// All ResourceFlavors of the hub.
using Flavors = std::map<std::string, ResourceFlavorFacts>;

/// Returns the candidates of each resource: the flavors of the hub that stand with it in `uses`, or
/// all of them where none does. Equal tables number their sets alike.
CandidateTable candidates_of(const FlavorUses& uses, const Flavors& flavors,
                             const ResourceAliases& aliases);

/// Returns, for each candidate set, the flavor that wins the node: of the candidates whose
/// nodeLabels are a subset of the node's labels the most specific one, which is the one with most
/// labels, then with most of its nodeTaints on the node, then with fewest that the node lacks, then
/// the first name bytewise. A flavor is matched once, however many sets it is in.
std::vector<NodeFlavor> winning_flavors(const NodeFacts& node, const FlavorTables& flavors);
/// Returns the flavor that wins the node for one resource; empty if none matches.
std::string winning_flavor(const NodeFacts& node, const FlavorTables& flavors,
                           std::string_view resource);
/// Whether other taints of a node whose labels stay may let another flavor win it.
bool taints_may_decide(const std::vector<Taint>& before, const std::vector<Taint>& after,
                       const Flavors& flavors);

/// Whether `node` counts for `flavor`, which wins it: it is Ready, schedulable, and without a
/// NoSchedule or NoExecute taint that neither the flavor's nodeTaints nor its tolerations cover.
bool is_eligible(const NodeFacts& node, const std::string& flavor, const Flavors& flavors);

/// Whether `taint` keeps a node from counting for `flavor`: NoSchedule or NoExecute, and neither
/// the flavor's nodeTaints nor its tolerations cover it.
bool keeps_out(const Taint& taint, const ResourceFlavorFacts& flavor);

/// Whether one of the amounts is named by an alias.
bool has_alias(const ResourceAmounts& amounts, const ResourceAliases& aliases);

/// Returns the amounts by canonical name; an alias and its canonical name add up.
std::map<std::string, Amount> canonical_amounts(const ResourceAmounts& amounts,
                                                const ResourceAliases& aliases);

/// Calls `use(resource, amount)` for each of canonical_amounts, in order. Copies nothing where no
/// alias is among them.
template <class Use>
void for_each_canonical(const ResourceAmounts& amounts, const ResourceAliases& aliases,
                        const Use& use) {
  if (has_alias(amounts, aliases))
    for (const auto& [resource, amount] : canonical_amounts(amounts, aliases))
      use(resource, amount);
  else
    for (const auto& [resource, amount] : amounts) use(resource, amount);
}

/// Returns max(0, floor(offered * (100 - percent) / 100) - reserved), saturated, in the unit of
/// Amount for `resource`.
Amount usable_amount(Int128 offered, const std::string& resource,
                     const CanonicalHeadroom& headroom);

}  // namespace fairlead
