#include "engine/devices/fit/node_filter.h"

#include <algorithm>

#include "engine/devices/node_reach.h"
#include "engine/devices/tolerance.h"

namespace fairlead::fitting {

namespace {

// Source: resource.k8s.io/v1 ResourceClaimReservedForMaxSize.
constexpr std::size_t kReservedForMax = 256;

}  // namespace

bool is_wanted(const PodDeviceFacts& pod, const DeviceNode& node) {
  const auto has = [&](const auto& label) { return node.labels.find(label.first) == label.second; };
  if (!std::all_of(pod.node_selector.begin(), pod.node_selector.end(), has)) return false;
  return !pod.affinity || matches(*pod.affinity, node.name(), node.labels);
}

NodeFilter::NodeFilter(ClusterDeviceIndex& devices, const FitQuestion& question,
                       const GangPlan& gang)
    : devices_(devices), question_(question), gang_(gang), nodes_(devices.nodes().size()) {
  usable_.resize(gang.plans.size() * nodes_);
  may_fit_.resize(gang.plans.size() * nodes_);
}

bool NodeFilter::is_usable(std::uint32_t plan, const DeviceNode& node) {
  Known& known = at(usable_, plan, node);
  if (known == Known::unknown) known = usable(gang_.plans[plan], node) ? Known::yes : Known::no;
  return known == Known::yes;
}

bool NodeFilter::may_fit(std::uint32_t plan, DeviceNode& node) {
  Known& known = at(may_fit_, plan, node);
  if (known == Known::unknown) known = enough(gang_.plans[plan], node) ? Known::yes : Known::no;
  return known == Known::yes;
}

bool NodeFilter::usable(const PodPlan& plan, const DeviceNode& node) const {
  return node.facts->ready && !node.facts->unschedulable && taints_tolerated(*plan.pod, node) &&
         is_wanted(*plan.pod, node) &&
         std::all_of(plan.pins.begin(), plan.pins.end(),
                     [&](const Pin& pin) { return is_where(pin, node); });
}

bool NodeFilter::taints_tolerated(const PodDeviceFacts& pod, const DeviceNode& node) const {
  const std::vector<Toleration>* flavor = nullptr;
  if (!node.facts->taints.empty() && question_.flavor_tolerations)
    flavor = question_.flavor_tolerations(node.name());
  return std::all_of(node.facts->taints.begin(), node.facts->taints.end(), [&](const Taint& taint) {
    return tolerated(taint, pod.tolerations) || (flavor && tolerated(taint, *flavor));
  });
}

bool NodeFilter::is_where(const Pin& pin, const DeviceNode& node) const {
  if (pin.claim) {
    if (pin.claim->reserved_for.size() >= kReservedForMax) return false;
    const auto& selector = pin.claim->allocation->selector;
    return !selector || matches(*selector, node.name(), node.labels);
  }
  if (!pin.reserved) return true;
  return std::all_of(pin.reserved->begin(), pin.reserved->end(), [&](const DeviceId& id) {
    const Device* device = devices_.find(id);
    return device && devices_.reaches_node(*device, node);
  });
}

bool NodeFilter::enough(const PodPlan& plan, DeviceNode& node) {
  if (plan.alls > 0) return true;  // what "all" is depends on more than counts
  bool enough = true;
  for (const Request& request : plan.requests) {
    if (!request.extended.empty() && node.facts->allocatable.find(request.extended).value_or(0) > 0)
      continue;
    bool met = false;
    for (const Ask& ask : request.asks) {
      const auto whose = ask.facts->admin ? TallyOf::all : TallyOf::not_used_whole;
      std::int64_t yes = 0;
      if (!ask.nothing) {
        const IndexedPool* pool = nullptr;
        for (const DevicePlace& place : devices_.places(node)) {
          if (place.pool == pool || !place.pool->complete()) continue;
          pool = place.pool;
          const PoolTally tally = devices_.tally(*place.pool, ask.list, whose);
          if (tally.has_errors) return true;
          yes += tally.yes;
        }
      }
      met = met || yes >= ask.facts->count;
    }
    enough = enough && met;
  }
  return enough;
}

}  // namespace fairlead::fitting
