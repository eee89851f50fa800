#include "engine/fold/queues/pairs.h"

#include <algorithm>
#include <tuple>

#include "engine/fold/queues/queue_state.h"

namespace fairlead {

std::optional<std::string> covered_name(const std::vector<ResourceGroup>& groups,
                                        const ResourceAliases& aliases,
                                        const std::string& canonical) {
  for (const ResourceGroup& group : groups)
    for (const std::string& resource : group.covered_resources)
      if (canonical_resource(aliases, resource) == canonical) return resource;
  return std::nullopt;
}

const ResourceQuota* find_quota(const std::vector<ResourceGroup>& groups, const std::string& flavor,
                                const std::string& resource) {
  for (const ResourceGroup& group : groups)
    for (const FlavorQuotas& quotas : group.flavors) {
      if (quotas.name != flavor) continue;
      for (const ResourceQuota& quota : quotas.resources)
        if (quota.name == resource) return &quota;
    }
  return nullptr;
}

std::optional<Amount> amount_in(const std::vector<ResourceGroup>& groups,
                                const ResourceAliases& aliases, const QuotaKey& pair) {
  const auto name = covered_name(groups, aliases, pair.resource);
  const ResourceQuota* quota = name ? find_quota(groups, pair.flavor, *name) : nullptr;
  if (!quota) return std::nullopt;
  return to_amount(pair.resource, quota->nominal);
}

std::map<QuotaKey, Amount> amounts_in(const std::vector<ResourceGroup>& groups,
                                      const ResourceAliases& aliases) {
  std::map<std::string, std::string> covered;  // covered_name of each canonical resource
  for (const ResourceGroup& group : groups)
    for (const std::string& resource : group.covered_resources)
      covered.try_emplace(canonical_resource(aliases, resource), resource);
  std::map<QuotaKey, Amount> amounts;
  for (const ResourceGroup& group : groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources) {
        const std::string resource = canonical_resource(aliases, quota.name);
        // Of an alias and its canonical name only the one that is covered first counts, as in
        // covered_name().
        const auto name = covered.find(resource);
        if (name != covered.end() && name->second == quota.name)
          amounts.try_emplace({flavor.name, resource}, to_amount(resource, quota.nominal));
      }
  return amounts;
}

bool covers_alias_twice(StateView<const Configuration, const QueueTables> state,
                        const std::string& queue, const std::string& canonical) {
  const auto at = state.queues.by_name.find(queue);
  if (at == state.queues.by_name.end()) return false;
  int names = 0;
  for (const ResourceGroup& group : at->second.facts.groups)
    for (const std::string& resource : group.covered_resources)
      names +=
          canonical_resource(state.configuration.resource_aliases, resource) == canonical ? 1 : 0;
  return names > 1;
}

Amount part_of(const std::vector<Contribution>& contributions, const std::string& cluster,
               const QuotaKey& pair) {
  const auto key = [](const Contribution& part) {
    return std::tie(part.cluster, part.flavor, part.resource);
  };
  const auto wanted = std::tie(cluster, pair.flavor, pair.resource);
  const auto at =
      std::partition_point(contributions.begin(), contributions.end(),
                           [&](const Contribution& part) { return key(part) < wanted; });
  return at != contributions.end() && key(*at) == wanted ? at->amount : 0;
}

}  // namespace fairlead
