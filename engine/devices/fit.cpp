#include "engine/devices/fit.h"

#include <map>
#include <utility>

#include "engine/devices/fit/gang_search.h"
#include "engine/devices/fit/plan.h"
#include "engine/devices/fit/reason.h"
#include "engine/devices/fit/repeat.h"

namespace fairlead {

std::string_view text_of(FitReason reason) {
  switch (reason) {
    case FitReason::template_not_found: return "TemplateNotFound";
    case FitReason::claim_not_found: return "ClaimNotFound";
    case FitReason::class_not_found: return "ClassNotFound";
    case FitReason::unsupported: return "Unsupported";
    case FitReason::budget: return "Budget";
    case FitReason::pool_updating: return "PoolUpdating";
    case FitReason::selector_error: return "SelectorError";
    case FitReason::no_devices: return "NoDevices";
    case FitReason::no_node: return "NoNode";
    case FitReason::gang_too_big: return "GangTooBig";
  }
  return {};
}

FitAnswer fit(ClusterDeviceIndex& devices, const FitQuestion& question) {
  // First, because it makes numbers of lists invalid, and the plan below holds such numbers.
  devices.forget_selectors();
  FitAnswer answer;
  const fitting::Resolver resolver(devices, question);
  answer.refusal = resolver.refusal();
  if (answer.refusal) return answer;
  const fitting::GangPlan gang = resolver.gang(question.pod_sets.size());
  fitting::GangSearch search(devices, question, gang, question.steps_max);
  const fitting::GangOutcome outcome = search.run();
  answer.steps = search.steps();
  switch (outcome) {
    case fitting::GangOutcome::found: search.write(answer); break;
    case fitting::GangOutcome::budget: answer.refusal = {FitReason::budget, {}}; break;
    case fitting::GangOutcome::none:
      answer.refusal = fitting::Reasons(devices, question, resolver).of(gang, search);
      break;
  }
  return answer;
}

bool still_fits(ClusterDeviceIndex& devices, const FitQuestion& question,
                const std::vector<FitPod>& pods) {
  devices.forget_selectors();
  const fitting::Resolver resolver(devices, question);
  return !resolver.refusal() && fitting::Repeat(devices, question, resolver).acquire(pods);
}

std::vector<DeviceUse> reservation_of(const FitAnswer& answer) {
  std::vector<DeviceUse> uses;
  for (const FitPod& pod : answer.pods)
    for (const FitClaim& claim : pod.claims)
      for (const FitDevice& device : claim.devices) {
        if (device.admin) continue;
        DeviceUse& use = uses.emplace_back();
        use.device = device.device;
        use.share = device.share;
        use.consumed = device.consumed;
      }
  return uses;
}

std::vector<PluginUse> plugin_uses_of(const std::vector<FitPod>& pods) {
  std::vector<PluginUse> uses;
  for (const FitPod& pod : pods)
    for (const FitClaim& claim : pod.claims)
      if (claim.of_plugin > 0) uses.push_back({pod.node, claim.entry, claim.of_plugin});
  return uses;
}

std::int64_t free_devices_after(ClusterDeviceIndex& devices, const FitQuestion& question,
                                const FitAnswer& answer) {
  std::vector<SelectorListId> lists;
  for (const std::string& name : fitting::Resolver(devices, question).classes())
    lists.push_back(devices.selectors().intern(devices.find_class(name)->selectors));
  std::map<std::pair<std::string, std::string>, std::set<std::string>> taken;
  for (const DeviceUse& use : reservation_of(answer))
    taken[{use.device.driver, use.device.pool}].insert(use.device.device);
  std::int64_t free = 0;
  for (const auto& [key, pool] : devices.pools()) {
    if (!pool.complete()) continue;
    const auto of_pool = taken.find(key);
    for (const Device& device : pool.devices) {
      if (device.uses) continue;
      if (of_pool != taken.end() && of_pool->second.contains(device.facts().name)) continue;
      for (const SelectorListId list : lists)
        if (devices.verdict(device, list) == SelectorVerdict::yes) {
          ++free;
          break;
        }
    }
  }
  return free;
}

}  // namespace fairlead
