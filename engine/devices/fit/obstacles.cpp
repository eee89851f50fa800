#include "engine/devices/obstacles.h"

#include <utility>

#include "engine/devices/fit/node_filter.h"
#include "engine/devices/fit/plan.h"
#include "engine/devices/fit/taken.h"
#include "engine/devices/tolerance.h"

namespace fairlead {

namespace {

using fitting::Ask;
using fitting::GangPlan;
using fitting::NodeFilter;
using fitting::PodPlan;
using fitting::Request;
using fitting::Resolver;
using fitting::Shares;
using fitting::Taken;

// Which devices reach a node on which a pod of the plan may be: by pool, then by index.
class UsableReach {
 public:
  UsableReach(ClusterDeviceIndex& devices, NodeFilter& filter, std::uint32_t plan)
      : reached_(devices.pool_numbers()) {
    for (DeviceNode* node : devices.nodes()) {
      if (!filter.is_usable(plan, *node)) continue;
      for (const DevicePlace& place : devices.places(*node)) {
        std::vector<bool>& of_pool = reached_[place.pool->number];
        of_pool.resize(place.pool->devices.size());
        for (std::uint32_t i = place.begin; i < place.end; ++i) of_pool[i] = true;
      }
    }
  }
  bool reaches(const IndexedPool& pool, std::size_t index) const {
    const std::vector<bool>& of_pool = reached_[pool.number];
    return index < of_pool.size() && of_pool[index];
  }

 private:
  std::vector<std::vector<bool>> reached_;
};

class Judge {
 public:
  Judge(ClusterDeviceIndex& devices, const PodPlan& plan, UsableReach reach)
      : devices_(devices), taken_(devices), plan_(plan), reach_(std::move(reach)) {}

  RequestObstacles judge(const Request& request, const Ask& ask) {
    RequestObstacles judged;
    judged.request = plan_.claims[request.claim].entry + "/" + ask.name;
    judged.mode = ask.facts->mode;
    judged.count = ask.facts->count;
    for (auto& [key, pool] : devices_.pools())
      if (pool.complete())
        for (std::size_t i = 0; i < pool.devices.size(); ++i) add(judged, pool, i, request, ask);
    return judged;
  }

 private:
  void add(RequestObstacles& judged, IndexedPool& pool, std::size_t index, const Request& request,
           const Ask& ask) {
    const Device& device = pool.devices[index];
    const SelectorVerdict verdict = devices_.verdict(device, ask.list);
    if (verdict == SelectorVerdict::no) {
      ++judged.others;
      return;
    }
    DeviceRefusal& row = judged.devices.emplace_back();
    row.device = {pool.driver(), pool.name(), device.facts().name};
    row.slice = device.slice->name();
    row.obstacle = verdict == SelectorVerdict::yes ? obstacle(pool, index, request, ask)
                                                   : DeviceObstacle::selector_error;
    if (row.obstacle == DeviceObstacle::taint) row.detail = first_taint(device, ask);
  }

  DeviceObstacle obstacle(IndexedPool& pool, std::size_t index, const Request& request,
                          const Ask& ask) {
    const Device& device = pool.devices[index];
    if (taken_.is_out(device, ask, request.claim)) return DeviceObstacle::used;
    if (!taken_.capacities_fit(device, ask, Shares::of_all)) return DeviceObstacle::capacity;
    if (!taken_.taints_tolerated(device, ask)) return DeviceObstacle::taint;
    if (!taken_.counters_fit(pool, device)) return DeviceObstacle::counters;
    return reach_.reaches(pool, index) ? DeviceObstacle::none : DeviceObstacle::no_node;
  }

  std::string first_taint(const Device& device, const Ask& ask) const {
    for (const Taint& taint : devices_.taints(device))
      if (!tolerated(taint, ask.facts->tolerations)) return text(taint);
    return "";
  }

  ClusterDeviceIndex& devices_;
  Taken taken_;
  const PodPlan& plan_;
  UsableReach reach_;
};

}  // namespace

std::vector<RequestObstacles> find_obstacles(ClusterDeviceIndex& devices,
                                             const FitQuestion& question) {
  devices.forget_selectors();
  const Resolver resolver(devices, question);
  std::vector<RequestObstacles> requests;
  if (resolver.refusal()) return requests;
  const GangPlan plans = resolver.each_alone();
  NodeFilter filter(devices, question, plans);
  for (std::uint32_t set = 0; set < plans.plans.size(); ++set) {
    const PodPlan& plan = plans.plans[set];
    if (!plan.pod) continue;  // its pods ask for no devices
    Judge judge(devices, plan, UsableReach(devices, filter, set));
    for (const Request& request : plan.requests)
      for (const Ask& ask : request.asks) {
        if (ask.nothing) continue;
        requests.push_back(judge.judge(request, ask));
        requests.back().pod_set = question.pod_sets[set].name;
      }
  }
  return requests;
}

}  // namespace fairlead
