#include "engine/plan/claims/claim_warnings.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"
#include "engine/fold/queues/queues.h"
#include "engine/fold/writes/record.h"
#include "engine/plan/claims/propagation.h"

namespace fairlead {

std::vector<std::string> claim_warnings(
    StateView<const FlavorTables, const ClaimTables, const QueueTables, const WriteTables> state,
    const std::string& name, const Cluster* cluster) {
  const Claim& claim = state.claims.by_name.at(name);
  std::vector<std::string> warnings = claim.warnings;
  if (const Refusal* refusal = refusal_of(state.writes, {Kind::claim, "", name}))
    warnings.push_back("the claim itself cannot be written: " + answer_text(*refusal));
  if (!claim.terms || !claim.winner) return warnings;
  for (const Grant& grant : claim.grants) {
    if (!state.queues.by_name.contains(grant.row.cluster_queue))
      warnings.push_back("ClusterQueue " + grant.row.cluster_queue + " does not exist");
    if (!flavor_exists(state.flavors, grant.row.flavor))
      warnings.push_back("ResourceFlavor " + grant.row.flavor + " does not exist");
  }
  if (cluster && cluster->known && !cluster->presence.detached)
    for (const auto& [resource, nominal] : claim.terms->nominal)
      if (nominal.amount > accepted_total(*cluster, resource))
        warnings.push_back("nominalResources." + nominal.spelled +
                           " is above the cluster's capacity");
  std::sort(warnings.begin(), warnings.end());
  warnings.erase(std::unique(warnings.begin(), warnings.end()), warnings.end());
  return warnings;
}

std::string contested_pairs(const QueueTables& queues, const Claim& claim) {
  std::string pairs;
  for (const Grant& grant : claim.grants) {
    const AssignmentRow& row = grant.row;
    if (!is_contested(queues, row.cluster_queue, {row.flavor, row.resource})) continue;
    pairs += (pairs.empty() ? "" : ", ") + row.flavor + " " + row.spelled + " of ClusterQueue " +
             row.cluster_queue;
  }
  return pairs;
}

}  // namespace fairlead
