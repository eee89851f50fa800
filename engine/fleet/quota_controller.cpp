#include "engine/fleet/quota_controller.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/fleet/worker_world.h"
#include "engine/fleet/workload_status.h"

namespace fairlead {
namespace {

constexpr Duration kQuotaRound = seconds(1);

std::string words_for(const Json& workload) {
  return "job " + space_of(workload) + "/" + name_of(workload) + " ";
}

std::int64_t priority_of(const Json& workload) {
  return workload.value("/spec/priority"_json_pointer, std::int64_t{0});
}

// The time since which `type` has its status; kForever where there is none.
LogTime since(const Json& workload, const std::string& type) {
  for (const Json& one : workload.value("/status/conditions"_json_pointer, Json::array()))
    if (one["type"] == type)
      return parse_rfc3339(one["lastTransitionTime"].get<std::string>()).value_or(kForever);
  return kForever;
}

// The place of a queue in the tree of cohorts, as messages about preemption spell it.
std::string tree_path_of(const Json& queue) {
  const std::string cohort = queue.value("/spec/cohortName"_json_pointer, "");
  return (cohort.empty() ? "/" : "/" + cohort + "/") + name_of(queue);
}

bool has_checks(const Json& queue) {
  const Json none = Json::array();
  return !queue.value("/spec/admissionChecksStrategy/admissionChecks"_json_pointer, none).empty();
}

bool is_stopped(const Json& queue) {
  return queue.value("/spec/stopPolicy"_json_pointer, "None") != "None";
}

}  // namespace

std::string reason_of(const QuotaLedger::Verdict& verdict, WaitingReasons reasons) {
  if (reasons == WaitingReasons::pending) return "Pending";
  return verdict.exceeds_max ? "ExceedsMaxQuota" : "WaitingForQuota";
}

void QuotaController::look(LogTime now) {
  if (now < next_look_) return;
  next_look_ = now + kQuotaRound;
  // Taken before anything is read: what is written meanwhile, by anyone, is looked at once more.
  const std::uint64_t revision = api_.revision();
  if (revision == seen_ && now < next_end_) return;
  seen_ = revision;
  read_queues();
  read_jobs();
  // What was evicted gives its quota back before another one is judged.
  for (Job& job : jobs_)
    if (is_true(job.workload, "Evicted") && is_true(job.workload, "QuotaReserved"))
      release(job, now);
  next_end_ = kForever;
  for (Job& job : jobs_) next_end_ = std::min(next_end_, attend(job, now));
  for (const auto& [name, queue] : queues_) write_status(queue, now);
}

void QuotaController::read_queues() {
  queues_.clear();
  for (Json& object : api_.items(kQueues)) {
    if (has_checks(object)) continue;
    QuotaLedger ledger(object);
    const std::string name = name_of(object);
    queues_.emplace(name, Queue{std::move(object), std::move(ledger)});
  }
}

void QuotaController::read_jobs() {
  std::map<std::string, std::string> queue_of;  // by `<namespace>/<LocalQueue>`
  for (const Json& local : api_.items(kLocalQueues))
    queue_of[space_of(local) + "/" + name_of(local)] =
        local.value("/spec/clusterQueue"_json_pointer, "");
  jobs_.clear();
  for (Json& workload : api_.items(kWorkloads)) {
    const auto local = queue_of.find(space_of(workload) + "/" +
                                     workload.value("/spec/queueName"_json_pointer, ""));
    if (local == queue_of.end()) continue;
    const auto queue = queues_.find(local->second);
    if (queue == queues_.end()) continue;
    queue->second.ledger.count(workload);
    jobs_.push_back({std::move(workload), local->second});
  }
  std::sort(jobs_.begin(), jobs_.end(), [](const Job& a, const Job& b) {
    const auto rank = [](const Job& job) {
      return std::tuple(-priority_of(job.workload),
                        job.workload["metadata"].value("creationTimestamp", ""),
                        space_of(job.workload), name_of(job.workload));
    };
    return rank(a) < rank(b);
  });
}

// The patch names the version that it was derived from: users write the same objects.
bool QuotaController::write(Job& job, const Json& status) {
  ++writes_;
  const std::string path =
      kKueueApi + "/namespaces/" + space_of(job.workload) + "/workloads/" + name_of(job.workload);
  const Json& version = job.workload["metadata"]["resourceVersion"];
  auto done = api_.merge(path + "/status",
                         {{"metadata", {{"resourceVersion", version}}}, {"status", status}});
  if (!done) return false;
  QuotaLedger& ledger = queues_.at(job.queue).ledger;
  ledger.forget(job.workload);
  job.workload = std::move(*done);
  ledger.count(job.workload);
  return true;
}

LogTime QuotaController::attend(Job& job, LogTime now) {
  const Json& workload = job.workload;
  const bool evicted = is_true(workload, "Evicted") && is_true(workload, "QuotaReserved");
  if (is_true(workload, "Finished") || workload["metadata"].contains("deletionTimestamp") ||
      !workload.value("/spec/active"_json_pointer, true) || evicted)
    return kForever;
  if (is_true(workload, "Admitted")) {
    const LogTime ends = since(workload, "Admitted") + length_of(workload);
    if (now < ends) return ends;
    const Json finished =
        condition("Finished", "True", "Succeeded", now, "Job finished successfully");
    if (write(job, {{"conditions", conditions_with(workload, {finished})}}))
      logger_("kueue", words_for(workload) + "is finished");
    return kForever;
  }
  const Queue& queue = queues_.at(job.queue);
  if (is_stopped(queue.object)) {
    const char* reason = reasons_ == WaitingReasons::pending ? "Inadmissible" : "Suspended";
    if (const auto status =
            waiting_status(workload, reason, "ClusterQueue " + job.queue + " is inactive", now))
      write(job, *status);
    return kForever;
  }
  const QuotaLedger::Verdict verdict = queue.ledger.judge(workload);
  if (verdict.admission.is_null()) {
    keep_waiting(job, verdict, now);
    return kForever;
  }
  admit(job, verdict.admission, now);
  return now + length_of(workload);
}

void QuotaController::admit(Job& job, Json admission, LogTime now) {
  std::vector<Json> said{
      condition("QuotaReserved", "True", "QuotaReserved", now,
                "Quota reserved in ClusterQueue " + job.queue),
      condition("Admitted", "True", "Admitted", now, "The workload is admitted")};
  for (const char* past : {"Evicted", "Preempted"})
    if (is_true(job.workload, past))
      said.push_back(condition(past, "False", "QuotaReserved", now,
                               "Previously: " + message_of(job.workload, past)));
  if (write(job, {{"admission", std::move(admission)},
                  {"resourceRequests", nullptr},
                  {"conditions", conditions_with(job.workload, said)}}))
    logger_("kueue", words_for(job.workload) + "has quota of " + job.queue + " and runs");
}

void QuotaController::keep_waiting(Job& job, const QuotaLedger::Verdict& verdict, LogTime now) {
  const std::vector<Job*> victims = victims_of(job);
  std::string message = verdict.message;
  const Json& queue = queues_.at(job.queue).object;
  for (Job* victim : victims) {
    const std::string path = tree_path_of(queue);
    const std::string why = "Preempted to accommodate a workload (UID: " +
                            job.workload["metadata"]["uid"].get<std::string>() +
                            ", JobUID: UNKNOWN) due to prioritization in the ClusterQueue; "
                            "preemptor path: " +
                            path + "; preemptee path: " + path;
    const Json conditions = conditions_with(
        victim->workload, {condition("Evicted", "True", "Preempted", now, why),
                           condition("Preempted", "True", "InClusterQueue", now, why)});
    if (write(*victim, {{"conditions", conditions}}))
      logger_("kueue", words_for(victim->workload) + "is evicted: " + name_of(job.workload) +
                           " has a higher priority");
  }
  if (!victims.empty())
    message += ". Pending the preemption of " + std::to_string(victims.size()) + " workload(s)";
  const bool news = !job.workload.contains("/status/conditions/0"_json_pointer);
  auto status = waiting_status(job.workload, reason_of(verdict, reasons_), message, now);
  if (status && write(job, *status) && news)
    logger_("kueue", words_for(job.workload) + "waits: " + message);
}

std::vector<QuotaController::Job*> QuotaController::victims_of(const Job& job) {
  const Queue& queue = queues_.at(job.queue);
  if (queue.object.value("/spec/preemption/withinClusterQueue"_json_pointer, "") != "LowerPriority")
    return {};
  QuotaLedger ledger = queue.ledger;
  std::vector<Job*> victims;
  // The last of jobs_ has the lowest priority, and is the youngest of these.
  for (auto other = jobs_.rbegin(); other != jobs_.rend(); ++other) {
    if (other->queue != job.queue || is_true(other->workload, "Finished") ||
        !is_true(other->workload, "QuotaReserved"))
      continue;
    if (priority_of(other->workload) >= priority_of(job.workload)) break;
    ledger.forget(other->workload);
    victims.push_back(&*other);
    if (!ledger.judge(job.workload).admission.is_null()) return victims;
  }
  return {};
}

// The job of an evicted Workload has stopped: only now its quota is free.
void QuotaController::release(Job& job, LogTime now) {
  const std::string message = message_of(job.workload, "Evicted");
  write(job, {{"admission", nullptr},
              {"conditions", conditions_with(job.workload, released("Preempted", message, now))}});
}

void QuotaController::write_status(const Queue& queue, LogTime now) {
  Json status = queue.ledger.status();
  const Json active =
      is_stopped(queue.object)
          ? condition("Active", "False", "Stopped", now, "Can't admit new workloads: is stopped.")
          : condition("Active", "True", "Ready", now, "Can admit new workloads");
  status["conditions"] = conditions_with(queue.object, {active});
  if (has_all(queue.object.value("status", Json::object()), status)) return;
  ++writes_;
  (void)api_.merge(kQueues + "/" + name_of(queue.object) + "/status", {{"status", status}});
}

}  // namespace fairlead
