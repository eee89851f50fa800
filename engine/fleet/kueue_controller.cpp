#include "engine/fleet/kueue_controller.h"

#include <algorithm>
#include <set>

#include "engine/fleet/worker_world.h"

namespace fairlead {
namespace {

constexpr Duration kKueueRound = seconds(1);

// A user who wrote the check with kubectl may have omitted optional fields.
std::string controller_of(const Json& check) {
  return check.value("/spec/controllerName"_json_pointer, "");
}

std::vector<std::string> workers_of(const Json& config) {
  return config.value("/spec/clusters"_json_pointer, std::vector<std::string>());
}

std::string path_of(const Json& workload) {
  return kKueueApi + "/namespaces/" + workload["metadata"]["namespace"].get<std::string>() +
         "/workloads/" + name_of(workload);
}

std::string queue_key_of(const Json& workload) {
  return workload["metadata"]["namespace"].get<std::string>() + "/" +
         workload.value("/spec/queueName"_json_pointer, "");
}

// Returns the cluster in `kueue-admin-<cluster>-kubeconfig`, or the whole of another name.
std::string cluster_behind(const std::string& secret) {
  for (const WorkerCluster& cluster : worker_clusters())
    if (secret_name(cluster.name) == secret) return cluster.name;
  return secret;
}

}  // namespace

void KueueController::look(LogTime now, const std::map<std::string, std::int64_t>& gpus) {
  if (now < next_look_) return;
  next_look_ = now + kKueueRound;
  KueueView view;
  view.nominator = nominator_;
  see_workers(now, gpus, view);
  see_checks(now, view);
  see_queues(now, view);
  see_workloads(now, view);
}

std::int64_t KueueController::gpus_in_use(const std::string& cluster) const {
  std::int64_t sum = 0;
  for (const auto& [key, copy] : copies_)
    if (key.second == cluster) sum += copy.gpus;
  return sum;
}

bool KueueController::set_condition(const std::string& collection, const Json& object,
                                    Json condition) {
  for (const Json& current : object.value("/status/conditions"_json_pointer, Json::array()))
    if (current["type"] == condition["type"] && current["status"] == condition["status"] &&
        current["reason"] == condition["reason"])
      return false;
  ++writes_;
  return hub_
      .merge(collection + "/" + name_of(object) + "/status",
             {{"status", {{"conditions", Json::array({std::move(condition)})}}}})
      .has_value();
}

std::pair<bool, std::string> KueueController::connection(const Json& worker) const {
  const Json source = worker.value("/spec/clusterSource"_json_pointer, Json::object());
  const std::string profile = source.value("/clusterProfileRef/name"_json_pointer, "");
  if (!profile.empty()) {
    const auto seen = hub_.get(kProfiles + "/" + profile);
    const Json none = Json::array();
    return {seen && !seen->value("/status/accessProviders"_json_pointer, none).empty(), profile};
  }
  const std::string secret = source.value("/kubeConfig/location"_json_pointer, "");
  const auto seen = hub_.get(kSecrets + "/" + secret);
  return {seen && seen->value("data", Json::object()).contains("kubeconfig"),
          cluster_behind(secret)};
}

void KueueController::see_workers(LogTime now, const std::map<std::string, std::int64_t>& gpus,
                                  KueueView& view) {
  for (const Json& worker : hub_.items(kWorkers)) {
    const auto [connected, cluster] = connection(worker);
    const bool by_profile = worker.contains("/spec/clusterSource/clusterProfileRef"_json_pointer);
    const char* fault = by_profile ? "BadClusterProfile" : "BadKubeConfig";
    Json active = connected ? condition("Active", "True", "Active", now)
                            : condition("Active", "False", fault, now);
    if (set_condition(kWorkers, worker, std::move(active)))
      logger_("kueue", "MultiKueueCluster " + name_of(worker) +
                           (connected ? " is connected" : " has no credential: Active is False"));
    const auto offered = gpus.find(cluster);
    const std::int64_t all = offered == gpus.end() ? 0 : offered->second;
    view.workers[name_of(worker)] = {cluster, connected, all - gpus_in_use(cluster)};
  }
}

// A check is Active while one worker of its MultiKueueConfig is usable.
void KueueController::see_checks(LogTime now, const KueueView& view) {
  for (const Json& check : hub_.items(kAdmissionChecks)) {
    if (controller_of(check) != kMultiKueueController) continue;
    const auto config =
        hub_.get(kWorkerConfigs + "/" + check.value("/spec/parameters/name"_json_pointer, ""));
    if (!config) {
      set_condition(kAdmissionChecks, check, condition("Active", "False", "BadConfig", now));
      continue;
    }
    std::size_t usable = 0;
    const std::vector<std::string> names = workers_of(*config);
    for (const std::string& name : names) {
      const auto worker = view.workers.find(name);
      if (worker != view.workers.end() && worker->second.connected) ++usable;
    }
    const char* reason = usable == names.size() ? "Active"
                         : usable > 0           ? "SomeActiveClusters"
                                                : "NoUsableClusters";
    set_condition(kAdmissionChecks, check,
                  condition("Active", usable > 0 ? "True" : "False", reason, now));
  }
}

QueueView KueueController::see_queue(const Json& queue, const std::map<std::string, Json>& checks) {
  QueueView seen;
  seen.name = name_of(queue);
  seen.active = true;
  for (const Json& one :
       queue.value("/spec/admissionChecksStrategy/admissionChecks"_json_pointer, Json::array())) {
    const std::string name = one["name"];
    const auto check = checks.find(name);
    seen.checks.push_back(name);
    // As in Kueue: a queue with a check that is missing or not Active admits nothing.
    seen.active = seen.active && check != checks.end() && is_true(check->second, "Active");
    if (check == checks.end() || controller_of(check->second) != kMultiKueueController) continue;
    seen.multikueue_check = name;
    const auto config = hub_.get(kWorkerConfigs + "/" +
                                 check->second.value("/spec/parameters/name"_json_pointer, ""));
    if (config) seen.workers = workers_of(*config);
  }
  return seen;
}

void KueueController::see_queues(LogTime now, KueueView& view) {
  std::map<std::string, Json> checks;
  for (Json& check : hub_.items(kAdmissionChecks)) checks.emplace(name_of(check), check);
  std::map<std::string, QueueView> by_name;
  for (const Json& queue : hub_.items(kQueues)) {
    QueueView seen = see_queue(queue, checks);
    Json active = seen.active ? condition("Active", "True", "Ready", now)
                              : condition("Active", "False", "AdmissionCheckInactive", now);
    if (set_condition(kQueues, queue, std::move(active)))
      logger_("kueue", "ClusterQueue " + name_of(queue) +
                           (seen.active ? " is active: its checks are"
                                        : " takes no new work: a check of it is not Active"));
    // What it does with a Workload is about the check.
    if (seen.multikueue_check.empty()) continue;
    view.ledgers.emplace(seen.name, QuotaLedger(queue));
    by_name.emplace(seen.name, std::move(seen));
  }
  for (const Json& local : hub_.items(kLocalQueues)) {
    const auto queue = by_name.find(local.value("/spec/clusterQueue"_json_pointer, ""));
    if (queue == by_name.end()) continue;
    const std::string place = local["metadata"]["namespace"];
    view.queues.emplace(place + "/" + name_of(local), queue->second);
  }
}

CopyState KueueController::copy_of(const Json& workload, const KueueView& view, LogTime now) const {
  const auto worker = view.workers.find(workload.value("/status/clusterName"_json_pointer, ""));
  if (worker == view.workers.end()) return CopyState::running;
  const auto copy = copies_.find({workload["metadata"]["uid"], worker->second.cluster});
  // Another writer may have set that a copy runs; this controller never ends such a copy.
  if (copy == copies_.end()) return CopyState::running;
  return copy->second.ends <= now ? CopyState::ended : CopyState::running;
}

void KueueController::see_workloads(LogTime now, KueueView& view) {
  Json workloads = hub_.items(kWorkloads);
  const auto ledger_of = [&](const Json& workload) -> QuotaLedger* {
    const auto queue = view.queues.find(queue_key_of(workload));
    return queue == view.queues.end() ? nullptr : &view.ledgers.at(queue->second.name);
  };
  for (const Json& workload : workloads)
    if (QuotaLedger* ledger = ledger_of(workload)) ledger->count(workload);
  std::set<std::string> there;
  std::set<CopyKey> current;
  for (Json& workload : workloads) {
    const std::string uid = workload["metadata"]["uid"];
    const auto worker = view.workers.find(workload.value("/status/clusterName"_json_pointer, ""));
    there.insert(uid);
    if (worker != view.workers.end() && !is_true(workload, "Finished"))
      current.insert({uid, worker->second.cluster});
    auto step = next_step(workload, view, copy_of(workload, view, now), now);
    if (!step) continue;
    ledger_of(workload)->forget(workload);
    workload = apply_step(std::move(workload), view, std::move(*step), now);
    ledger_of(workload)->count(workload);
  }
  // A copy ends with its Workload; one that its Workload no longer uses ends after its run time.
  std::erase_if(copies_, [&](const auto& entry) {
    const bool over = entry.second.ends <= now && !current.contains(entry.first);
    return over || !there.contains(entry.first.first);
  });
  write_copies(workloads, view);
  write_usage(view);
}

// The patch names the version that it was derived from: Fairlead writes the same object.
Json KueueController::apply_step(Json workload, const KueueView& view, KueueStep step,
                                 LogTime now) {
  ++writes_;
  const Json patch = {{"metadata", {{"resourceVersion", workload["metadata"]["resourceVersion"]}}},
                      {"status", std::move(step.status)}};
  auto done = hub_.merge(path_of(workload) + "/status", patch);
  if (!done) return workload;
  if (!step.starts_on.empty()) {
    const std::string& cluster = view.workers.at(step.starts_on).cluster;
    copies_[{workload["metadata"]["uid"], cluster}] = {gpus_of(workload),
                                                       now + length_of(workload)};
  }
  if (!step.log_line.empty()) logger_("kueue", "job " + name_of(workload) + " " + step.log_line);
  return std::move(*done);
}

// A Workload has copies on all workers that are nominated, then on the one that runs it.
void KueueController::write_copies(const Json& workloads, const KueueView& view) {
  std::map<std::string, std::vector<Json>> wanted;
  for (const auto& [name, worker] : view.workers)
    if (worker.connected) wanted[worker.cluster];
  for (const Json& workload : workloads) {
    std::set<std::string> clusters;
    const auto add = [&](const std::string& worker) {
      const auto at = view.workers.find(worker);
      if (at != view.workers.end()) clusters.insert(at->second.cluster);
    };
    if (!is_true(workload, "Finished")) {
      for (const Json& name :
           workload.value("/status/nominatedClusterNames"_json_pointer, Json::array()))
        add(name);
      add(workload.value("/status/clusterName"_json_pointer, ""));
    }
    const std::string uid = workload["metadata"]["uid"];
    for (const auto& [key, copy] : copies_)
      if (key.first == uid) clusters.insert(key.second);
    for (const std::string& cluster : clusters)
      if (const auto at = wanted.find(cluster); at != wanted.end()) at->second.push_back(workload);
  }
  for (const auto& [cluster, copies] : wanted) worker_copies_.follow(cluster, copies);
}

void KueueController::write_usage(const KueueView& view) {
  for (const Json& queue : hub_.items(kQueues)) {
    const auto ledger = view.ledgers.find(name_of(queue));
    if (ledger == view.ledgers.end()) continue;
    const Json status = ledger->second.status();
    if (has_all(queue.value("status", Json::object()), status)) continue;
    ++writes_;
    (void)hub_.merge(kQueues + "/" + name_of(queue) + "/status", {{"status", status}});
  }
}

}  // namespace fairlead
