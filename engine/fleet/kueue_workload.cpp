#include "engine/fleet/kueue_workload.h"

#include <algorithm>

#include "engine/fleet/worker_world.h"
#include "engine/fleet/world.h"

namespace fairlead {
namespace {

Json check_state(const std::string& name, const char* state, const char* message, LogTime now) {
  const LogTime whole{now.ns / seconds(1).ns * seconds(1).ns};
  return {{"name", name},
          {"state", state},
          {"message", message},
          {"lastTransitionTime", to_rfc3339(whole)}};
}

Json checks_of(const Json& workload) {
  return workload.value("/status/admissionChecks"_json_pointer, Json::array());
}

std::string state_of(const Json& workload, const std::string& check) {
  for (const Json& one : checks_of(workload))
    if (one["name"] == check) return one["state"];
  return "";
}

// Returns the checks of `workload` with `state` for Kueue's own check.
Json checks_with(const Json& workload, const QueueView& queue, const char* state,
                 const char* message, LogTime now) {
  Json all = checks_of(workload);
  for (Json& one : all)
    if (one["name"] == queue.multikueue_check)
      one = check_state(queue.multikueue_check, state, message, now);
  return all;
}

Json all_pending(const QueueView& queue, LogTime now) {
  Json checks = Json::array();
  for (const std::string& name : queue.checks)
    checks.push_back(check_state(name, "Pending", "", now));
  return checks;
}

std::optional<KueueStep> keep_waiting(const Json& workload, const char* reason,
                                      const std::string& message, LogTime now) {
  auto status = waiting_status(workload, reason, message, now);
  if (!status) return std::nullopt;
  // Of what it waits for only the first is news to a reader of the account.
  const bool news = !workload.contains("/status/conditions/0"_json_pointer);
  return KueueStep{std::move(*status), news ? "waits: " + message : "", ""};
}

std::optional<KueueStep> reserve(const Json& workload, const QueueView& queue,
                                 const KueueView& view, LogTime now) {
  if (!queue.active)
    return keep_waiting(workload, "Inadmissible", "ClusterQueue " + queue.name + " is inactive",
                        now);
  const QuotaLedger::Verdict verdict = view.ledgers.at(queue.name).judge(workload);
  if (verdict.admission.is_null()) return keep_waiting(workload, "Pending", verdict.message, now);
  std::vector<Json> said{condition("QuotaReserved", "True", "QuotaReserved", now,
                                   "Quota reserved in ClusterQueue " + queue.name)};
  if (is_true(workload, "Evicted"))
    said.push_back(condition("Evicted", "False", "QuotaReserved", now,
                             "Previously: " + message_of(workload, "Evicted")));
  Json status = {{"admission", verdict.admission},
                 {"resourceRequests", nullptr},
                 {"conditions", conditions_with(workload, said)}};
  if (checks_of(workload).empty()) status["admissionChecks"] = all_pending(queue, now);
  return KueueStep{std::move(status), "has quota; its checks are Pending", ""};
}

// Nominates all workers at once, as Kueue's default dispatcher does.
std::optional<KueueStep> nominate(const Json& workload, const QueueView& queue) {
  for (const std::string& check : queue.checks)
    if (check != queue.multikueue_check && state_of(workload, check) != "Ready")
      return std::nullopt;
  if (queue.workers.empty()) return std::nullopt;
  return KueueStep{{{"nominatedClusterNames", queue.workers}}, "", ""};
}

// The worker with the most free GPUs is the first to admit it.
std::optional<KueueStep> start(const Json& workload, const QueueView& queue, const KueueView& view,
                               LogTime now) {
  const std::int64_t wanted = gpus_of(workload);
  std::string best;
  const WorkerView* chosen = nullptr;
  for (const Json& name : workload["status"]["nominatedClusterNames"]) {
    const auto worker = view.workers.find(name);
    if (worker == view.workers.end() || !worker->second.connected) continue;
    if (worker->second.free_gpus < wanted) continue;
    if (chosen && chosen->free_gpus >= worker->second.free_gpus) continue;
    best = name;
    chosen = &worker->second;
  }
  if (!chosen) return std::nullopt;
  const Json admitted = condition("Admitted", "True", "Admitted", now, "The workload is admitted");
  return KueueStep{{{"clusterName", best},
                    {"nominatedClusterNames", nullptr},
                    {"admissionChecks", checks_with(workload, queue, "Ready", "admitted", now)},
                    {"conditions", conditions_with(workload, {admitted})}},
                   "runs on " + chosen->cluster + " (MultiKueueCluster " + best + ")",
                   best};
}

std::optional<KueueStep> watch_over(const Json& workload, const QueueView& queue,
                                    const std::string& worker, CopyState copy, LogTime now) {
  if (copy == CopyState::ended)
    return KueueStep{
        {{"conditions", conditions_with(workload, {condition("Finished", "True", "Succeeded", now,
                                                             "Job finished successfully")})}},
        "is finished",
        ""};
  if (std::find(queue.workers.begin(), queue.workers.end(), worker) != queue.workers.end())
    return std::nullopt;
  if (state_of(workload, queue.multikueue_check) != "Retry")
    return KueueStep{
        {{"admissionChecks", checks_with(workload, queue, "Retry", "the worker is gone", now)}},
        "lost its worker " + worker + ": it is not in the list any more",
        ""};
  const std::string message = "Evicted due to at least one admission check being Retry";
  std::vector<Json> said = released("AdmissionCheck", message, now);
  said.push_back(condition("Evicted", "True", "AdmissionCheck", now, message));
  return KueueStep{{{"clusterName", nullptr},
                    {"admission", nullptr},
                    {"admissionChecks", all_pending(queue, now)},
                    {"conditions", conditions_with(workload, said)}},
                   "is evicted and will start again; its old copy on " + worker + " runs on",
                   ""};
}

}  // namespace

std::optional<KueueStep> next_step(const Json& workload, const KueueView& view, CopyState copy,
                                   LogTime now) {
  const Json& metadata = workload["metadata"];
  if (is_true(workload, "Finished") || metadata.contains("deletionTimestamp")) return std::nullopt;
  const std::string queue_name = metadata["namespace"].get<std::string>() + "/" +
                                 workload.value("/spec/queueName"_json_pointer, "");
  const auto queue = view.queues.find(queue_name);
  if (queue == view.queues.end()) return std::nullopt;
  const std::string worker = workload.value("/status/clusterName"_json_pointer, "");
  if (!worker.empty()) return watch_over(workload, queue->second, worker, copy, now);
  if (!is_true(workload, "QuotaReserved")) return reserve(workload, queue->second, view, now);
  if (workload.value("/status/nominatedClusterNames"_json_pointer, Json::array()).empty())
    return view.nominator == Nominator::kueue ? nominate(workload, queue->second) : std::nullopt;
  return start(workload, queue->second, view, now);
}

}  // namespace fairlead
