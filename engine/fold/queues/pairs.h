// The pairs in the quota lists of a ClusterQueue, and in what clusters contribute to it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/fold/claims/claim_spec.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Whether a queue covers a resource by two names (aliases): neither can be granted then.
bool covers_alias_twice(StateView<const Configuration, const QueueTables> state,
                        const std::string& queue, const std::string& canonical);

/// Returns the name under which `groups` cover the canonical resource; nullopt if they do not.
std::optional<std::string> covered_name(const std::vector<ResourceGroup>& groups,
                                        const ResourceAliases& aliases,
                                        const std::string& canonical);

/// Returns the quota entry of (flavor, covered resource name); null if the list has none.
const ResourceQuota* find_quota(const std::vector<ResourceGroup>& groups, const std::string& flavor,
                                const std::string& resource);

/// Returns the nominal quota of a pair; nullopt if the list has none.
std::optional<Amount> amount_in(const std::vector<ResourceGroup>& groups,
                                const ResourceAliases& aliases, const QuotaKey& pair);

/// Returns amount_in of every pair of the list.
std::map<QuotaKey, Amount> amounts_in(const std::vector<ResourceGroup>& groups,
                                      const ResourceAliases& aliases);

/// Returns what the cluster contributes to the pair; 0 if nothing. `contributions` are sorted.
Amount part_of(const std::vector<Contribution>& contributions, const std::string& cluster,
               const QuotaKey& pair);

}  // namespace fairlead
