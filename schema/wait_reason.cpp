#include "schema/wait_reason.h"

#include <algorithm>
#include <array>
#include <optional>

namespace fairlead {

namespace {

const WorkloadCondition* find_condition(const WorkloadProgress& progress, std::string_view type) {
  const auto at = std::find_if(progress.conditions.begin(), progress.conditions.end(),
                               [type](const WorkloadCondition& one) { return one.type == type; });
  return at == progress.conditions.end() ? nullptr : &*at;
}

bool has(const WorkloadProgress& progress, std::string_view type, ConditionStatus status) {
  const WorkloadCondition* found = find_condition(progress, type);
  return found != nullptr && found->status == status;
}

using ReasonClass = std::pair<std::string_view, WaitClass>;

// The reasons of QuotaReserved False that come before the conditions Requeued and
// BlockedOnPreemptionGates. Source: Kueue apis/kueue/v1beta2/workload_types.go; Waiting and
// Inadmissible are what Kueue writes without its gate UnadmittedWorkloadsObservability.
constexpr std::array<ReasonClass, 9> kFirstReasons{{
    {"Deactivated", WaitClass::hold},
    {"OnHold", WaitClass::hold},
    {"Suspended", WaitClass::hold},
    {"AdmissionGated", WaitClass::hold},
    {"WaitingForPodsReady", WaitClass::hold},
    {"Waiting", WaitClass::hold},
    {"Misconfigured", WaitClass::config},
    {"NoMatchingFlavor", WaitClass::config},
    {"Inadmissible", WaitClass::config},
}};
// Those that come behind them. Pending is the word without that gate.
constexpr std::array<ReasonClass, 7> kLaterReasons{{
    {"ExceedsMaxQuota", WaitClass::quota},
    {kWaitingForQuota, WaitClass::quota},
    {"Pending", WaitClass::quota},
    {"TopologyPlacementFailed", WaitClass::topology},
    {kWaitingForPreempted, WaitClass::preemption},
    {"DRAResourcesUnresolved", WaitClass::device},
    {"PendingEvaluation", WaitClass::queue},
}};

template <std::size_t n>
std::optional<WaitClass> class_in(const std::array<ReasonClass, n>& table,
                                  std::string_view reason) {
  for (const auto& [word, of] : table)
    if (word == reason) return of;
  return std::nullopt;
}

// Returns whether Kueue writes this reason of Admitted before it reserves quota. Without its gate
// UnadmittedWorkloadsObservability Kueue does not replace it when it reserves quota.
bool is_before_reservation(std::string_view reason) {
  return reason == "NoReservation" || reason == "NoReservationUnsatisfiedChecks";
}

// Returns why a Workload with reserved quota waits: the reason of Admitted, unless Kueue wrote that
// before it reserved quota.
WaitReason reason_with_quota(const WorkloadFacts& workload, const WorkloadProgress& progress) {
  WaitReason out;
  const WorkloadCondition* admitted = find_condition(progress, "Admitted");
  if (admitted != nullptr && admitted->status == ConditionStatus::no &&
      !is_before_reservation(admitted->reason)) {
    out.reason = admitted->reason;
    out.message = admitted->message;
  }
  if (!workload.cluster_name.empty() || !workload.nominated_clusters.empty())
    out.of = WaitClass::worker;
  else
    out.of =
        out.reason == "PendingDelayedTopologyRequests" ? WaitClass::topology : WaitClass::check;
  return out;
}

WaitReason of_condition(WaitClass of, const WorkloadCondition& condition) {
  return {of, condition.reason, condition.message};
}

}  // namespace

WaitState wait_state_of(const WorkloadFacts& workload) {
  if (workload.finished) return WaitState::finished;
  if (workload.progress && has(*workload.progress, "Admitted", ConditionStatus::yes))
    return WaitState::admitted;
  return WaitState::waiting;
}

WaitReason wait_reason_of(const WorkloadFacts& workload) {
  if (!workload.progress) return {};
  const WorkloadProgress& progress = *workload.progress;
  if (workload.quota_reserved) return reason_with_quota(workload, progress);
  const WorkloadCondition* quota = find_condition(progress, "QuotaReserved");
  const std::string_view reason = quota == nullptr ? std::string_view() : quota->reason;
  const auto first = class_in(kFirstReasons, reason);
  if (progress.deactivated)
    return {WaitClass::hold, "Deactivated", first == WaitClass::hold ? quota->message : ""};
  if (first) return of_condition(*first, *quota);
  if (has(progress, "Requeued", ConditionStatus::no))
    return of_condition(WaitClass::hold, *find_condition(progress, "Requeued"));
  if (has(progress, "BlockedOnPreemptionGates", ConditionStatus::yes))
    return of_condition(WaitClass::preemption,
                        *find_condition(progress, "BlockedOnPreemptionGates"));
  if (quota == nullptr) return {WaitClass::queue, "", ""};
  return of_condition(class_in(kLaterReasons, reason).value_or(WaitClass::unknown), *quota);
}

}  // namespace fairlead
