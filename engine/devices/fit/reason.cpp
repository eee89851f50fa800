#include "engine/devices/fit/reason.h"

#include <algorithm>

namespace fairlead::fitting {

namespace {

const FitRefusal kBudget{FitReason::budget, {}};

// One request of a pod, wherever its other entries are, without constraints.
GangPlan only(const GangPlan& alone, std::size_t request) {
  GangPlan part = alone;
  PodPlan& plan = part.plans.front();
  plan.requests = {alone.plans.front().requests[request]};
  for (Ask& ask : plan.requests.front().asks) ask.constraints.clear();
  plan.pins.clear();
  return part;
}

// Whether the pod is one request that nothing else binds: then only() is the pod itself.
bool is_one_request(const PodPlan& plan) {
  return plan.requests.size() == 1 && plan.pins.empty() &&
         std::all_of(plan.requests.front().asks.begin(), plan.requests.front().asks.end(),
                     [](const Ask& ask) { return ask.constraints.empty(); });
}

// The entries of a pod up to one of them.
GangPlan up_to(const GangPlan& alone, std::uint32_t order) {
  GangPlan part = alone;
  PodPlan& plan = part.plans.front();
  std::erase_if(plan.requests,
                [&](const Request& request) { return plan.claims[request.claim].order > order; });
  std::erase_if(plan.pins, [&](const Pin& pin) { return pin.order > order; });
  return part;
}

}  // namespace

GangOutcome Reasons::search(const GangPlan& gang) {
  GangSearch search(devices_, question_, gang, question_.steps_max - steps_);
  const GangOutcome outcome = search.run();
  steps_ += search.steps();
  return outcome;
}

FitRefusal Reasons::of(const GangPlan& gang, const GangSearch& search) {
  if (gang.runs.size() == 1 && gang.runs.front().count == 1) return of_pod(gang, search.findings());
  for (std::size_t set = 0; set < question_.pod_sets.size(); ++set) {
    const GangPlan alone = resolver_.alone(set);
    GangSearch one(devices_, question_, alone, question_.steps_max - steps_);
    const GangOutcome outcome = one.run();
    steps_ += one.steps();
    if (outcome == GangOutcome::budget) return kBudget;
    // A set without claims has no plan, but it is always found.
    if (outcome == GangOutcome::none) return of_pod(alone, one.findings());
  }
  return of_gang();
}

// In the order of FitReason: what made nodes unfit comes before a request that no node can meet,
// and that before requests that no node can meet together.
FitRefusal Reasons::of_pod(const GangPlan& alone, const Findings& findings) {
  if (!findings.pool_updating.empty()) return {FitReason::pool_updating, findings.pool_updating};
  if (!findings.selector_error.empty()) return {FitReason::selector_error, findings.selector_error};
  const PodPlan& plan = alone.plans.front();
  for (std::size_t i = 0; i < plan.requests.size(); ++i) {
    const GangOutcome outcome = is_one_request(plan) ? GangOutcome::none : search(only(alone, i));
    if (outcome == GangOutcome::budget) return kBudget;
    if (outcome == GangOutcome::none)
      return {FitReason::no_devices,
              plan.claims[plan.requests[i].claim].entry + "/" + plan.requests[i].name};
  }
  // Not for the last entry: with it the part is the whole pod, which does not fit.
  for (std::uint32_t order = 0; order + 1 < plan.entries.size(); ++order) {
    const GangOutcome outcome = search(up_to(alone, order));
    if (outcome == GangOutcome::budget) return kBudget;
    if (outcome == GangOutcome::none) return {FitReason::no_node, plan.entries[order]};
  }
  return {FitReason::no_node, plan.entries.back()};
}

// Every pod fits alone: which set is the first that does not fit with those before it?
FitRefusal Reasons::of_gang() {
  const auto& sets = question_.pod_sets;
  for (std::size_t set = 0; set < sets.size(); ++set) {
    // All sets together are the gang, for which nothing was found.
    if (set + 1 == sets.size()) return {FitReason::gang_too_big, sets[set].name};
    const GangOutcome outcome = search(resolver_.gang(set + 1));
    if (outcome == GangOutcome::budget) return kBudget;
    if (outcome == GangOutcome::none) return {FitReason::gang_too_big, sets[set].name};
  }
  // Not reached: a gang that does not fit has a pod set.
  return kBudget;
}

}  // namespace fairlead::fitting
