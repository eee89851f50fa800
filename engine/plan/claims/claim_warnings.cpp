#include "engine/plan/claims/claim_warnings.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/capacity/flavors.h"

namespace fairlead {

std::vector<std::string> claim_warnings(const State& state, const Claim& claim,
                                        const Cluster* cluster) {
  std::vector<std::string> warnings = claim.warnings;
  if (!claim.terms || !claim.winner) return warnings;
  for (const Grant& grant : claim.grants) {
    if (!state.queues.by_name.contains(grant.row.cluster_queue))
      warnings.push_back("ClusterQueue " + grant.row.cluster_queue + " does not exist");
    if (!flavor_exists(state, grant.row.flavor))
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

}  // namespace fairlead
