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

bool is_offered(const Request& request, const DeviceNode& node) {
  // The index lists known nodes only, so there are facts.
  return !request.extended.empty() &&
         node.facts->allocatable.find(request.extended).value_or(0) > 0;
}

// A pool's counter sets concern every node, so an incomplete pool with counters counts for each.
const IndexedPool* incomplete_pool(ClusterDeviceIndex& devices, DeviceNode& node) {
  const IndexedPool* first = nullptr;
  const auto consider = [&](const IndexedPool* pool) {
    if (!pool->complete() && (!first || *pool->key < *first->key)) first = pool;
  };
  for (const DevicePlace& place : devices.places(node)) consider(place.pool);
  for (const IndexedPool* pool : devices.incomplete_everywhere()) consider(pool);
  return first;
}

NodeFilter::NodeFilter(ClusterDeviceIndex& devices, const FitQuestion& question,
                       const GangPlan& gang)
    : devices_(devices),
      question_(question),
      gang_(gang),
      nodes_(devices.nodes()),
      usable_(gang.plans.size() * nodes_.size()),
      of_plan_(gang.plans.size()) {}

bool NodeFilter::is_usable(std::uint32_t plan, const DeviceNode& node) {
  Known& known = usable_[plan * nodes_.size() + node.number];
  if (known == Known::unknown) known = usable(gang_.plans[plan], node) ? Known::yes : Known::no;
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
    // Without a nodeSelector the devices are available on all nodes (AllocationResult).
    return !selector || matches(*selector, node.name(), node.labels);
  }
  // A claim that an earlier pod is solved with: the gang search knows where that is.
  if (!pin.reserved) return true;
  return std::all_of(pin.reserved->begin(), pin.reserved->end(), [&](const DeviceId& id) {
    const Device* device = devices_.find(id);
    return device && devices_.reaches_node(*device, node);
  });
}

bool NodeFilter::may_fit(std::uint32_t plan, std::uint32_t node) {
  if (gang_.plans[plan].alls > 0) return true;  // what "all" is depends on more than counts
  auto tallies = of(plan).tallies.begin();
  bool enough = true;
  for (const Request& request : gang_.plans[plan].requests) {
    const bool offered = is_offered(request, *nodes_[node]);
    // The search itself looks up what others have reserved of it.
    bool met = offered && amount_of(request) <=
                              nodes_[node]->facts->allocatable.find(request.extended).value_or(0);
    for (const Ask& ask : request.asks) {
      // Advanced before anything is left out: there is a tally for each ask.
      const NodeTallies* tally = *tallies++;
      if (offered || !tally) continue;
      // The search has to meet the error, which may keep the pod from every node.
      if (tally->nodes[node].has_errors) return true;
      met = met || tally->nodes[node].yes >= ask.facts->count;
    }
    enough = enough && met;
  }
  return enough;
}

const std::vector<std::uint32_t>& NodeFilter::fallible(std::uint32_t plan) {
  return of(plan).fallible;
}

const NodeFilter::OfPlan& NodeFilter::of(std::uint32_t plan) {
  std::optional<OfPlan>& known = of_plan_[plan];
  if (!known) known = look_at(gang_.plans[plan]);
  return *known;
}

NodeFilter::OfPlan NodeFilter::look_at(const PodPlan& plan) {
  OfPlan found;
  bool may_be = plan.alls > 0;
  for (const Request& request : plan.requests)
    for (const Ask& ask : request.asks) {
      // Devices in use are not asked, except where all are wanted.
      const auto whose = ask.facts->admin || ask.all() ? TallyOf::all : TallyOf::not_used_whole;
      found.tallies.push_back(ask.nothing ? nullptr : &devices_.node_tallies(ask.list, whose));
      may_be = may_be || (found.tallies.back() && found.tallies.back()->has_errors);
    }
  // The usual case: no selector fails anywhere, so no node is looked at.
  if (!may_be) return found;
  for (DeviceNode* node : nodes_)
    if (is_fallible(plan, found.tallies, *node)) found.fallible.push_back(node->number);
  return found;
}

bool NodeFilter::is_fallible(const PodPlan& plan, const std::vector<const NodeTallies*>& tallies,
                             DeviceNode& node) {
  auto tally = tallies.begin();
  for (const Request& request : plan.requests) {
    const bool offered = is_offered(request, node);
    for (const Ask& ask : request.asks) {
      const NodeTallies* of_ask = *tally++;
      if (offered || !of_ask) continue;
      if (of_ask->nodes[node.number].has_errors) return true;
      // A device that breaks a constraint, and a pool that is not complete, end the search on the
      // node (PodSolver::attempt_of_all, PodSolver::precheck).
      if (ask.all() && (!ask.constraints.empty() || incomplete_pool(devices_, node))) return true;
    }
  }
  return false;
}

}  // namespace fairlead::fitting
