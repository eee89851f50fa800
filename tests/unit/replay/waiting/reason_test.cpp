// The table of reasons, row by row, with conditions as Kueue 0.19 writes them with and without its
// gate UnadmittedWorkloadsObservability, and as 0.20 does.
#include <catch2/catch.hpp>

#include "schema/wait_reason.h"

namespace fairlead {
namespace {

WorkloadCondition no(const char* type, const char* reason) {
  return {type, ConditionStatus::no, reason, std::string("text of ") + reason};
}
WorkloadCondition yes(const char* type, const char* reason) {
  return {type, ConditionStatus::yes, reason, std::string("text of ") + reason};
}

WorkloadFacts with(std::vector<WorkloadCondition> conditions) {
  WorkloadFacts workload;
  workload.progress.emplace();
  for (const WorkloadCondition& one : conditions)
    if (one.type == "QuotaReserved") workload.quota_reserved = one.status == ConditionStatus::yes;
  workload.progress->conditions = std::move(conditions);
  return workload;
}

std::string reason_text(const WorkloadFacts& workload) {
  const WaitReason reason = wait_reason_of(workload);
  return std::string(text_of(reason.of)) + " " + reason.reason + "|" + reason.message;
}

TEST_CASE("each reason of QuotaReserved has its class, in the old words and in the new ones") {
  const std::vector<std::pair<const char*, const char*>> rows{
      {"Deactivated", "hold"},
      {"OnHold", "hold"},
      {"Suspended", "hold"},
      {"AdmissionGated", "hold"},
      {"WaitingForPodsReady", "hold"},
      {"Waiting", "hold"},
      {"Misconfigured", "config"},
      {"NoMatchingFlavor", "config"},
      {"Inadmissible", "config"},
      {"ExceedsMaxQuota", "quota"},
      {"WaitingForQuota", "quota"},
      {"Pending", "quota"},
      {"TopologyPlacementFailed", "topology"},
      {"WaitingForPreemptedWorkloads", "preemption"},
      {"DRAResourcesUnresolved", "device"},
      {"PendingEvaluation", "queue"},
      {"SomethingNew", "unknown"},
  };
  for (const auto& [reason, of] : rows)
    CHECK(reason_text(with({no("QuotaReserved", reason)})) ==
          std::string(of) + " " + reason + "|text of " + reason);
  CHECK(reason_text(with({})) == "queue |");
  CHECK(reason_text(WorkloadFacts()) == "unknown |");
}

TEST_CASE("with quota reserved, Admitted says what is missing") {
  const WorkloadCondition reserved = yes("QuotaReserved", "QuotaReserved");
  const auto missing = [&](const char* reason) { return with({reserved, no("Admitted", reason)}); };
  CHECK(reason_text(missing("UnsatisfiedAdmissionChecks")) ==
        "check UnsatisfiedAdmissionChecks|text of UnsatisfiedAdmissionChecks");
  CHECK(reason_text(missing("PendingDelayedTopologyRequests")) ==
        "topology PendingDelayedTopologyRequests|text of PendingDelayedTopologyRequests");
  // Kueue 0.19 wrote these when it evicted the Workload, and keeps them when it reserves again.
  CHECK(reason_text(missing("NoReservation")) == "check |");
  CHECK(reason_text(missing("NoReservationUnsatisfiedChecks")) == "check |");
  CHECK(reason_text(with({reserved})) == "check |");
  for (const char* reason : {"UnsatisfiedAdmissionChecks", "PendingDelayedTopologyRequests"}) {
    WorkloadFacts workload = missing(reason);
    workload.nominated_clusters = {"w1"};
    CHECK(reason_text(workload) == std::string("worker ") + reason + "|text of " + reason);
    workload.nominated_clusters.clear();
    workload.cluster_name = "w1";
    CHECK(reason_text(workload) == std::string("worker ") + reason + "|text of " + reason);
  }
  // A deactivated one that still has quota: Kueue is about to take it back.
  WorkloadFacts workload = missing("UnsatisfiedAdmissionChecks");
  workload.progress->deactivated = true;
  CHECK(reason_text(workload).starts_with("check "));
}

TEST_CASE("of several conditions the first of the table decides") {
  const WorkloadCondition requeued = no("Requeued", "PodsReadyTimeout");
  const WorkloadCondition gated = yes("BlockedOnPreemptionGates", "PreemptionGated");
  CHECK(reason_text(with({no("QuotaReserved", "Pending"), requeued, gated})) ==
        "hold PodsReadyTimeout|text of PodsReadyTimeout");
  CHECK(reason_text(with({no("QuotaReserved", "Pending"), gated})) ==
        "preemption PreemptionGated|text of PreemptionGated");
  CHECK(reason_text(with({requeued})) == "hold PodsReadyTimeout|text of PodsReadyTimeout");
  CHECK(reason_text(with({no("QuotaReserved", "Inadmissible"), requeued})) ==
        "config Inadmissible|text of Inadmissible");
  CHECK(reason_text(with({no("QuotaReserved", "OnHold"), requeued})) ==
        "hold OnHold|text of OnHold");
  // The backoff is over, and the gates are open.
  CHECK(reason_text(with({no("QuotaReserved", "Pending"), yes("Requeued", "BackoffFinished"),
                          no("BlockedOnPreemptionGates", "PreemptionGated")})) ==
        "quota Pending|text of Pending");
}

TEST_CASE("a deactivated one is Deactivated, whatever else its conditions say") {
  const auto deactivated = [](std::vector<WorkloadCondition> conditions) {
    WorkloadFacts workload = with(std::move(conditions));
    workload.progress->deactivated = true;
    return reason_text(workload);
  };
  CHECK(deactivated({}) == "hold Deactivated|");
  CHECK(deactivated({no("QuotaReserved", "Deactivated")}) ==
        "hold Deactivated|text of Deactivated");
  CHECK(deactivated({no("QuotaReserved", "Suspended")}) == "hold Deactivated|text of Suspended");
  CHECK(deactivated({no("QuotaReserved", "Pending"), no("Requeued", "Deactivated")}) ==
        "hold Deactivated|");
}

TEST_CASE("how far a Workload is") {
  CHECK(wait_state_of(with({no("QuotaReserved", "Pending")})) == WaitState::waiting);
  CHECK(wait_state_of(with({yes("QuotaReserved", "QuotaReserved")})) == WaitState::waiting);
  CHECK(wait_state_of(with({yes("Admitted", "Admitted")})) == WaitState::admitted);
  // Kueue holds the quota of an evicted one until its job has stopped.
  CHECK(wait_state_of(with({yes("Admitted", "Admitted"), yes("Evicted", "Preempted")})) ==
        WaitState::admitted);
  WorkloadFacts finished = with({yes("Admitted", "Admitted")});
  finished.finished = true;
  CHECK(wait_state_of(finished) == WaitState::finished);
}

}  // namespace
}  // namespace fairlead
