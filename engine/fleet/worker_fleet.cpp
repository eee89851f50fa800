#include "engine/fleet/worker_fleet.h"

#include <utility>

namespace fairlead {

WorkerFleet::WorkerFleet(model::SharedModel& hub,
                         const std::map<std::string, model::SharedModel*>& servers,
                         std::uint64_t seed, LogTime start, FleetLogger logger)
    : admin_(hub, "kubectl-edit"),
      seed_(seed),
      start_(start),
      logger_(std::move(logger)),
      placement_(hub, logger_),
      kueue_(hub, logger_, Nominator::kueue, servers),
      next_report_(start) {
  for (WorkerCluster& cluster : worker_clusters()) {
    const std::string name = cluster.name;
    members_.emplace(name, Member{std::move(cluster)});
  }
  // The account has lines about these Workloads from Kueue on the hub, and none from the workers.
  const FleetLogger quiet = [](std::string_view, const std::string&) {};
  for (const auto& [name, server] : servers)
    sides_.emplace(name, Side{Api(*server, "kubectl-edit"),
                              QuotaController(*server, quiet, WaitingReasons::granular)});
}

std::uint64_t WorkerFleet::writes() const {
  std::uint64_t sum = writes_ + placement_.writes() + kueue_.writes();
  for (const auto& [name, side] : sides_) sum += side.kueue.writes();
  return sum;
}

Result<void> WorkerFleet::create(const WorldObject& wanted) {
  ++writes_;
  if (auto made = admin_.create(wanted.collection, wanted.object); !made)
    return in_context("create " + wanted.collection, made.error());
  return {};
}

Result<void> WorkerFleet::merge(const std::string& path, const Json& patch) {
  ++writes_;
  if (auto done = admin_.merge(path, patch); !done) return done.error();
  return {};
}

Result<void> WorkerFleet::begin() {
  for (const WorldObject& wanted : placement_objects())
    if (auto made = create(wanted); !made) return made;
  logger_("admin",
          "writes two Placements: best (the one cluster with the most free GPUs) and t4 (every "
          "cluster with the label accelerator=nvidia-tesla-t4)");
  logger_("admin",
          "writes for each an AdmissionCheck for Fairlead, one for Kueue, and a queue with both: "
          "training, serving");
  for (const auto& [name, member] : members_) {
    if (auto joined = join(member.cluster); !joined) return joined;
    const bool secret = member.cluster.credential == CredentialKind::secret;
    logger_("fleet", name + ": joins the hub with " + std::to_string(member.cluster.gpus) +
                         " GPUs" + (member.cluster.labelled ? ", labelled, " : ", ") +
                         (secret ? "reached by a Secret" : "reached by a ClusterProfile"));
  }
  report_scores(start_);
  return {};
}

Result<void> WorkerFleet::join(const WorkerCluster& cluster) {
  if (const auto side = sides_.find(cluster.name); side != sides_.end())
    if (auto begun = begin_side(cluster, side->second.admin); !begun) return begun;
  for (const WorldObject& wanted : worker_cluster_objects(cluster))
    if (auto made = create(wanted); !made) return made;
  if (auto said = merge(kManagedClusters + "/" + cluster.name + "/status",
                        {{"status", available_status(start_)}});
      !said)
    return said;
  if (auto made = create(credential_object(cluster)); !made) return made;
  if (cluster.credential == CredentialKind::secret) return {};
  return merge(kProfiles + "/" + cluster.name + "/status", {{"status", credential_status()}});
}

Result<void> WorkerFleet::begin_side(const WorkerCluster& cluster, const Api& api) {
  for (const WorldObject& wanted : worker_side_objects(cluster)) {
    ++writes_;
    if (auto made = api.create(wanted.collection, wanted.object); !made)
      return in_context("create " + wanted.collection + " of " + cluster.name, made.error());
  }
  ++writes_;
  if (auto done = api.merge(kNodes + "/" + cluster.name + "-1/status",
                            {{"status", worker_node_status(cluster, start_)}});
      !done)
    return done.error();
  return {};
}

// The worker's administrator leaves to Kueue what others do not occupy.
Result<void> WorkerFleet::shift_gpus(Member& member, std::int64_t gpus) {
  member.taken += gpus;
  const auto side = sides_.find(member.cluster.name);
  if (side == sides_.end()) return {};
  ++writes_;
  const Json groups = gpu_groups(member.cluster.gpus - member.taken);
  if (auto done =
          side->second.admin.merge(kQueues + "/training", {{"spec", {{"resourceGroups", groups}}}});
      !done)
    return done.error();
  return {};
}

void WorkerFleet::advance(LogTime now) {
  if (script_.empty()) {
    for (WorkerFault& fault : worker_script_of_round(seed_, round_))
      script_.push_back(std::move(fault));
    ++round_;
  }
  if (start_ + script_.front().at <= now) {
    const WorkerFault fault = std::move(script_.front());
    script_.pop_front();
    const auto done = carry_out(fault);
    logger_(actor_of(fault.kind), fault.subject + ": " + fault.text +
                                      (done ? "" : " -- not possible: " + done.error().message));
  }
  if (next_report_ <= now) report_scores(now);
  placement_.look(now);
  kueue_.look(now, gpus());
  for (auto& [name, side] : sides_) side.kueue.look(now);
}

Result<void> WorkerFleet::carry_out(const WorkerFault& fault) {
  if (fault.kind == WorkerFaultKind::submit)
    return create(training_job(fault.subject, fault.gpus, fault.length));
  if (fault.kind == WorkerFaultKind::withdraw) {
    ++writes_;
    if (auto gone = admin_.remove(kTeamWorkloads + "/" + fault.subject); !gone) return gone.error();
    return {};
  }
  const auto at = members_.find(fault.subject);
  if (at == members_.end()) return Error{ErrorCode::not_found, "no such cluster"};
  switch (fault.kind) {
    case WorkerFaultKind::occupy_gpus: return shift_gpus(at->second, fault.gpus);
    case WorkerFaultKind::free_gpus: return shift_gpus(at->second, -fault.gpus);
    case WorkerFaultKind::add_label:
    case WorkerFaultKind::remove_label: {
      const Json label = fault.kind == WorkerFaultKind::add_label ? Json(kGpuModel) : Json(nullptr);
      return merge(kManagedClusters + "/" + fault.subject,
                   {{"metadata", {{"labels", {{kGpuLabel, label}}}}}});
    }
    case WorkerFaultKind::submit:
    case WorkerFaultKind::withdraw:  // returned above
    case WorkerFaultKind::drop_credential:
    case WorkerFaultKind::return_credential: break;
  }
  return change_credential(at->second.cluster, fault.kind);
}

Result<void> WorkerFleet::change_credential(const WorkerCluster& cluster, WorkerFaultKind kind) {
  const bool drops = kind == WorkerFaultKind::drop_credential;
  if (cluster.credential == CredentialKind::cluster_profile)
    return merge(kProfiles + "/" + cluster.name + "/status",
                 {{"status", drops ? no_credential_status() : credential_status()}});
  if (!drops) return create(credential_object(cluster));
  ++writes_;
  if (auto removed = admin_.remove(kSecrets + "/" + secret_name(cluster.name)); !removed)
    return removed.error();
  return {};
}

std::map<std::string, std::int64_t> WorkerFleet::gpus() const {
  std::map<std::string, std::int64_t> out;
  for (const auto& [name, member] : members_) out[name] = member.cluster.gpus - member.taken;
  return out;
}

// A write that is refused here is of an object that a user deleted: it needs no report.
void WorkerFleet::report_scores(LogTime now) {
  // Not from `now`: the script relies on reports at whole intervals since the start.
  while (next_report_ <= now) next_report_ = next_report_ + kScoreInterval;
  for (const auto& [name, all] : gpus())
    (void)merge(score_path(name) + "/status",
                {{"status", score_status(all - kueue_.gpus_in_use(name))}});
}

}  // namespace fairlead
