#include "engine/fold/dispatch/refusals.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "engine/fold/cluster_state.h"
#include "engine/fold/condition_message.h"
#include "engine/fold/devices/search_index.h"
#include "engine/fold/fleet_claims/bookings.h"
#include "engine/fold/multikueue/lookup.h"
#include "engine/fold/multikueue/multikueue_state.h"

namespace fairlead {

namespace {

const char* text_of(Obstacle obstacle) {
  switch (obstacle) {
    case Obstacle::none: return "";
    case Obstacle::leaving: return "Leaving";
    case Obstacle::not_watched: return "NotWatched";
    case Obstacle::not_reachable: return "NotReachable";
    case Obstacle::spent: return "Spent";
  }
  return "";
}

// Asks a cluster as if the Workload had nothing reserved there. What is taken out of the index for
// the question is put back after it: a const State keeps its index, and an index that is only
// borrowed is dropped.
template <class Ask>
auto ask_beside_others(DispatchReader state, const std::string& cluster, const NamespacedName& id,
                       const WorkloadRecord& record, const ExtendedNames& names, const Ask& ask) {
  const std::shared_ptr<SearchIndex> index = borrow_index(state, cluster);
  const auto seen = record.seen.read();
  const FitQuestion question = question_of(state, cluster, id, pod_sets_of(seen->facts), names);
  const auto& own = record.devices().reservation;
  const bool reserved_here = own && own->cluster == cluster;
  const OwnBookings booked(state, *index, cluster, id, seen->facts);
  if (reserved_here) index->release(id);
  auto answer = ask(index->devices, question);
  if (reserved_here) index->reserve(id, *own);
  return answer;
}

}  // namespace

std::vector<WorkerAnswer> worker_answers(DispatchReader state, const NamespacedName& id) {
  std::vector<WorkerAnswer> answers;
  const auto at = state.multikueue.workloads.find(id);
  if (at == state.multikueue.workloads.end()) return answers;
  const WorkloadRecord& record = at->second;
  const auto seen = record.seen.read();
  const WorkerList* list = list_of_workload(state.multikueue, seen->facts);
  if (!list) return answers;
  if (!uses_devices(state, list, seen->facts)) return answers;
  const ExtendedNames names = extended_names(state.clusters, *list);
  for (const std::string& worker : list->names) {
    WorkerAnswer& answer = answers.emplace_back();
    answer.worker = worker;
    if (const auto known = list->workers.find(worker); known != list->workers.end())
      answer.cluster = known->second.cluster;
    answer.obstacle = obstacle_of(state.clusters, *list, worker, record.devices());
    answer.reason = text_of(answer.obstacle);
    if (answer.obstacle != Obstacle::none) continue;
    answer.fit = ask_beside_others(state, answer.cluster, id, record, names, fit);
    if (!answer.fit.refusal) continue;
    answer.reason = text_of(answer.fit.refusal->reason);
    answer.detail = answer.fit.refusal->detail;
  }
  return answers;
}

std::vector<RequestObstacles> obstacles_of(DispatchReader state, const NamespacedName& id,
                                           const std::string& cluster) {
  const auto at = state.multikueue.workloads.find(id);
  if (at == state.multikueue.workloads.end()) return {};
  const WorkloadRecord& record = at->second;
  const WorkerList* list = list_of_workload(state.multikueue, record.seen->facts);
  const auto known = state.clusters.find(cluster);
  if (!list || known == state.clusters.end() || !is_watched(known->second)) return {};
  return ask_beside_others(state, cluster, id, record, extended_names(state.clusters, *list),
                           find_obstacles);
}

std::string refusals_text(const std::vector<WorkerAnswer>& answers) {
  std::string said;
  for (const WorkerAnswer& answer : answers) {
    if (answer.reason.empty()) continue;
    if (!said.empty()) said += "; ";
    said += answer.worker + ": " + answer.reason;
    if (!answer.detail.empty()) said += " " + answer.detail;
  }
  bound_message(said);
  return said;
}

ConditionWish devices_condition(const DeviceDispatch& devices) {
  switch (devices.verdict) {
    case DeviceVerdict::none: return {};
    case DeviceVerdict::reserved: return {ConditionStatus::yes, "Reserved", ""};
    case DeviceVerdict::no_cluster: return {ConditionStatus::no, "NoCluster", ""};
    case DeviceVerdict::bypassed: return {ConditionStatus::no, "Bypassed", ""};
    case DeviceVerdict::unsupported: return {ConditionStatus::no, "Unsupported", ""};
    case DeviceVerdict::claim_not_found: return {ConditionStatus::no, "ClaimNotFound", ""};
    case DeviceVerdict::claim_not_for_workload:
      return {ConditionStatus::no, "ClaimNotForWorkload", ""};
    case DeviceVerdict::class_not_found: return {ConditionStatus::no, "ClassNotFound", ""};
    case DeviceVerdict::claim_not_allocated: return {ConditionStatus::no, "ClaimNotAllocated", ""};
    case DeviceVerdict::claim_deallocating: return {ConditionStatus::no, "ClaimDeallocating", ""};
    case DeviceVerdict::conflicting_pins: return {ConditionStatus::no, "ConflictingPins", ""};
    case DeviceVerdict::waiting_for_drivers: return {ConditionStatus::no, "WaitingForDrivers", ""};
    case DeviceVerdict::no_suitable_cluster: return {ConditionStatus::no, "NoSuitableCluster", ""};
    case DeviceVerdict::claim_in_use: return {ConditionStatus::no, "ClaimInUse", ""};
    case DeviceVerdict::reserved_for_full: return {ConditionStatus::no, "ReservedForFull", ""};
  }
  return {};
}

std::string devices_message(DispatchReader state, const NamespacedName& id,
                            const WorkloadRecord& record) {
  const auto& reservation = record.devices().reservation;
  switch (record.devices().verdict) {
    case DeviceVerdict::none: return "";
    case DeviceVerdict::reserved:
      return reservation ? reservation->worker : record.seen->facts.cluster_name;
    case DeviceVerdict::no_cluster: {
      std::string said = refusals_text(worker_answers(state, id));
      return said.empty() ? "the list has no cluster" : said;
    }
    case DeviceVerdict::bypassed:
      return "dispatched to " + record.seen->facts.cluster_name + " without a reservation";
    case DeviceVerdict::unsupported:
    case DeviceVerdict::claim_not_found:
    case DeviceVerdict::claim_not_for_workload:
    case DeviceVerdict::class_not_found:
    case DeviceVerdict::claim_not_allocated:
    case DeviceVerdict::claim_deallocating:
    case DeviceVerdict::conflicting_pins:
    case DeviceVerdict::waiting_for_drivers:
    case DeviceVerdict::no_suitable_cluster:
    case DeviceVerdict::claim_in_use:
    case DeviceVerdict::reserved_for_full: return record.devices().about;
  }
  return "";
}

}  // namespace fairlead
