#include "engine/devices/fit/repeat.h"

#include <algorithm>

namespace fairlead::fitting {

namespace {

const Ask* find_ask(const PodPlan& plan, std::uint32_t claim, const std::string& name) {
  for (const Request& request : plan.requests)
    for (const Ask& ask : request.asks)
      if (request.claim == claim && ask.name == name && !ask.nothing) return &ask;
  return nullptr;
}

}  // namespace

Repeat::Repeat(ClusterDeviceIndex& devices, const FitQuestion& question, const Resolver& resolver)
    : devices_(devices),
      plans_(resolver.each_alone()),
      filter_(devices, question, plans_),
      taken_(devices) {}

bool Repeat::acquire(const std::vector<FitPod>& pods) {
  return std::all_of(pods.begin(), pods.end(), [&](const FitPod& pod) {
    const bool taken = acquire(pod);
    taken_.enter_pod();
    return taken;
  });
}

bool Repeat::acquire(const FitPod& pod) {
  if (pod.pod_set >= plans_.plans.size()) return false;
  const PodPlan& plan = plans_.plans[pod.pod_set];
  const auto& nodes = devices_.nodes();
  const auto node = std::lower_bound(
      nodes.begin(), nodes.end(), pod.node,
      [](const DeviceNode* one, const std::string& name) { return one->name() < name; });
  if (node == nodes.end() || (*node)->name() != pod.node) return false;
  return plan.pod && filter_.is_usable(pod.pod_set, **node) &&
         std::all_of(pod.claims.begin(), pod.claims.end(),
                     [&](const FitClaim& claim) { return acquire(plan, claim, **node); });
}

bool Repeat::acquire(const PodPlan& plan, const FitClaim& claim, const DeviceNode& node) {
  const auto at = std::find_if(plan.claims.begin(), plan.claims.end(),
                               [&](const ClaimPlan& one) { return one.entry == claim.entry; });
  if (at == plan.claims.end()) return claim.devices.empty();
  const auto number = static_cast<std::uint32_t>(at - plan.claims.begin());
  if (!acquire_of_plugin(plan, number, claim.of_plugin, node)) return false;
  return std::all_of(claim.devices.begin(), claim.devices.end(),
                     [&](const FitDevice& device) { return acquire(plan, number, device, node); });
}

bool Repeat::acquire_of_plugin(const PodPlan& plan, std::uint32_t claim, Amount amount,
                               const DeviceNode& node) {
  // The claim of an extended resource has one request.
  const auto request = std::find_if(plan.requests.begin(), plan.requests.end(),
                                    [&](const Request& one) { return one.claim == claim; });
  const bool offered = request != plan.requests.end() && is_offered(*request, node);
  if (offered != (amount > 0)) return false;  // the plugin has come or gone
  if (!offered) return true;
  if (amount != amount_of(*request) || taken_.plugin_left(node, request->extended) < amount)
    return false;
  taken_.take_of_plugin(node, request->extended, amount);
  return true;
}

bool Repeat::acquire(const PodPlan& plan, std::uint32_t claim, const FitDevice& wanted,
                     const DeviceNode& node) {
  const Ask* ask = find_ask(plan, claim, wanted.request);
  const auto pool = devices_.pools().find({wanted.device.driver, wanted.device.pool});
  if (!ask || pool == devices_.pools().end() || !pool->second.complete()) return false;
  Device* device = pool->second.find(wanted.device.device);
  if (!device || !devices_.reaches_node(*device, node)) return false;
  if (taken_.is_out(*device, *ask, claim) ||
      devices_.verdict(*device, ask->list) != SelectorVerdict::yes ||
      !taken_.capacities_fit(*device, *ask, Shares::of_all) ||
      !taken_.taints_tolerated(*device, *ask) || !taken_.counters_fit(pool->second, *device) ||
      !taken_.constraints_hold(*device, *ask, plan.claims[claim], claim))
    return false;
  // No search goes on behind this device, so its position does not matter.
  taken_.take(pool->second, *device, *ask, claim, {});
  return true;
}

}  // namespace fairlead::fitting
