#include "replay/waiting/lowered_quotas.h"

namespace fairlead {

void LoweredQuotas::observe(const std::string& name, const ClusterQueueFacts& queue,
                            const When& when) {
  Nominals now;
  for (const ResourceGroup& group : queue.effective ? queue.effective->groups : queue.groups)
    for (const FlavorQuotas& flavor : group.flavors)
      for (const ResourceQuota& quota : flavor.resources)
        now[{flavor.name, quota.name}] = to_amount(quota.name, quota.nominal);
  Nominals& before = last_[name];
  for (const auto& [pair, amount] : before) {
    const auto at = now.find(pair);
    const Amount left = at == now.end() ? 0 : at->second;
    if (left < amount)
      all_.push_back(
          {name, pair.first, pair.second, amount, left, when.time, when.seq, when.causes});
  }
  before = std::move(now);
}

}  // namespace fairlead
