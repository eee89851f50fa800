#include "engine/fleet/machine_fleet.h"

#include <algorithm>
#include <utility>

namespace fairlead {
namespace {

// ClusterMetrics is written this often for its pods, which changes no capacity.
constexpr Duration kReportInterval = seconds(20);
// A fault that needs a claim which the hub has not made yet is tried again after this.
constexpr Duration kClaimInterval = seconds(15);
constexpr int kClaimTries = 40;
constexpr std::int64_t kAssignedCpu = 400;
constexpr std::int64_t kGuestCpu = 200;

std::string claim_path(const std::string& cluster) {
  return kClaims + "/" + cluster + "-resource-claim";
}

}  // namespace

MachineFleet::MachineFleet(model::SharedModel& hub,
                           const std::map<std::string, model::SharedModel*>& members,
                           std::uint64_t seed, LogTime start, FleetLogger logger)
    : agents_(hub, "fleet"),
      admin_(hub, "kubectl-edit"),
      work_agent_(hub),
      seed_(seed),
      start_(start),
      logger_(std::move(logger)),
      users_(hub, machine_jobs_of_round, seed, start, logger_),
      kueue_(hub, logger_),
      next_report_(start + kReportInterval) {
  for (const auto& [name, server] : members) members_api_.emplace(name, Api(*server, "kubelet"));
  for (const ClusterLayout& layout : fleet_layout()) {
    Member member{layout, {}, false, false, false};
    for (const MachineLayout& machine : layout.machines)
      member.machines.push_back({machine, false, false});
    members_.emplace(layout.name, std::move(member));
  }
}

Result<void> MachineFleet::create(const Api& api, const WorldObject& wanted) {
  ++writes_;
  if (auto made = api.create(wanted.collection, wanted.object); !made)
    return in_context("create " + wanted.collection, made.error());
  return {};
}

Result<void> MachineFleet::merge(const Api& api, const std::string& path, const Json& patch) {
  ++writes_;
  if (auto done = api.merge(path, patch); !done) return done.error();
  return {};
}

MachineFleet::Member* MachineFleet::find(const std::string& cluster) {
  const auto at = members_.find(cluster);
  return at == members_.end() ? nullptr : &at->second;
}

Result<void> MachineFleet::begin() {
  for (const WorldObject& wanted : hub_objects())
    if (auto made = create(admin_, wanted); !made) return made;
  const Json preemption = {{"withinClusterQueue", "LowerPriority"}};
  if (auto done = merge(admin_, kQueues + "/" + std::string(kHighQueue),
                        {{"spec", {{"preemption", preemption}}}});
      !done)
    return done;
  logger_("admin",
          "installs Kueue's two ResourceFlavors, two ClusterQueues with quotas of 0 and two "
          "LocalQueues");
  for (auto& [name, member] : members_) {
    if (member.layout.presence == Presence::joins_later) continue;
    if (const auto api = members_api_.find(name); api != members_api_.end())
      for (const Machine& machine : member.machines)
        if (auto made = create(api->second, node(machine)); !made) return made;
    if (auto joined = join(member, start_); !joined) return joined;
    logger_("fleet",
            name + ": joins the hub with " + std::to_string(member.machines.size()) + " nodes");
  }
  logger_("admin",
          "cluster2: kubectl apply of a ClusterResourceClaim that assigns 500 cpu, 500Gi, 5 "
          "GPUs to each queue");
  return create(admin_, first_claim());
}

void MachineFleet::advance(LogTime now) {
  if (script_.empty()) refill();
  if (start_ + script_.front().at <= now) {
    const ScheduledFault fault = std::move(script_.front());
    script_.pop_front();
    play(fault, now);
  }
  if (next_report_ <= now) report_everything(now);
  std::set<std::string> reachable;
  for (const auto& [name, member] : members_)
    if (member.joined && !member.silent) reachable.insert(name);
  work_agent_.look(now, reachable);
  users_.look(now);
  kueue_.look(now);
}

void MachineFleet::refill() {
  for (ScheduledFault& fault : script_of_round(seed_, round_)) script_.push_back(std::move(fault));
  ++round_;
}

// Plays one fault. Only for a missing claim it is put off: the hub is going to make that.
void MachineFleet::play(const ScheduledFault& fault, LogTime now) {
  const bool waits = fault.kind == FaultKind::assign && fault.cpu < kClaimTries;
  if (waits && !admin_.get(claim_path(fault.cluster))) {
    ScheduledFault later = fault;
    later.at = {(now - start_).ns + kClaimInterval.ns};
    ++later.cpu;  // an assignment has no number of its own: it counts the tries
    const auto place = std::upper_bound(
        script_.begin(), script_.end(), later,
        [](const ScheduledFault& a, const ScheduledFault& b) { return a.at < b.at; });
    script_.insert(place, std::move(later));
    return;
  }
  const std::string about = fault.cluster.empty() ? "" : fault.cluster + ": ";
  const auto done = carry_out(fault, now);
  logger_(actor_of(fault.kind),
          about + fault.text + (done ? "" : " -- not possible: " + done.error().message));
}

Result<void> MachineFleet::carry_out(const ScheduledFault& fault, LogTime now) {
  if (fault.kind == FaultKind::assign) return assign(fault.cluster);
  if (fault.kind == FaultKind::edit_claim) return edit_claim(fault);
  if (fault.kind == FaultKind::overwrite_queue) return overwrite_queue(fault.cpu);
  Member* member = find(fault.cluster);
  if (member == nullptr) return Error{ErrorCode::not_found, "no such cluster"};
  switch (fault.kind) {
    case FaultKind::join: return join(*member, now);
    case FaultKind::leave: return leave(*member);
    case FaultKind::go_silent:
      member->silent = true;
      return merge(agents_, kManagedClusters + "/" + fault.cluster + "/status",
                   {{"status", silent_status(now)}});
    case FaultKind::come_back:
      member->silent = false;
      if (auto reported = report_machines(*member, now); !reported) return reported;
      return report_cluster(*member, now);
    case FaultKind::assign:
    case FaultKind::edit_claim:
    case FaultKind::overwrite_queue:  // returned above
    case FaultKind::cordon:
    case FaultKind::uncordon:
    case FaultKind::stop:
    case FaultKind::start: break;
  }
  return change_machines(fault, now);
}

Result<void> MachineFleet::change_machines(const ScheduledFault& fault, LogTime now) {
  Member& member = *find(fault.cluster);
  const auto api = members_api_.find(fault.cluster);
  for (Machine& machine : member.machines) {
    const std::string& name = machine.layout.name;
    if (std::find(fault.nodes.begin(), fault.nodes.end(), name) == fault.nodes.end()) continue;
    machine.cordoned =
        fault.kind == FaultKind::cordon || (machine.cordoned && fault.kind != FaultKind::uncordon);
    machine.down =
        fault.kind == FaultKind::stop || (machine.down && fault.kind != FaultKind::start);
    member.reported = false;
    if (api == members_api_.end()) continue;
    const std::string path = kNodes + "/" + name;
    if (auto done = merge(api->second, path, {{"spec", node_spec(machine)}}); !done) return done;
    if (auto done = merge(api->second, path + "/status", {{"status", node_status(machine, now)}});
        !done)
      return done;
  }
  return api == members_api_.end() ? report_machines(member, now) : Result<void>();
}

Result<void> MachineFleet::join(Member& member, LogTime now) {
  const std::string& name = member.layout.name;
  member.joined = true;
  // The namespace may exist: it stays when a cluster leaves.
  if (!agents_.get(kNamespaces + "/" + name))
    if (auto made = create(agents_, namespace_object(name)); !made) return made;
  if (auto made = create(agents_, managed_cluster(name)); !made) return made;
  if (member.layout.report == CapacityReport::metrics)
    if (auto made = create(agents_, cluster_metrics(name)); !made) return made;
  if (auto reported = report_machines(member, now); !reported) return reported;
  return report_cluster(member, now);
}

Result<void> MachineFleet::leave(Member& member) {
  const std::string& name = member.layout.name;
  member.joined = false;
  writes_ += 2;
  const auto cluster = agents_.remove(kManagedClusters + "/" + name);
  const auto metrics = agents_.remove(kClusterMetrics + "/" + name);
  // The claim is deleted with its cluster; the finalizer returns the quota.
  const auto claim = admin_.remove(claim_path(name));
  if (!cluster) return cluster.error();
  if (!metrics) return metrics.error();
  if (!claim && claim.error().code != ErrorCode::not_found) return claim.error();
  return {};
}

Result<void> MachineFleet::assign(const std::string& cluster) {
  const std::int64_t cpu = cluster == "cluster4" ? kGuestCpu : kAssignedCpu;
  return merge(admin_, claim_path(cluster),
               {{"spec", {{"resourceAssignments", assignments(cpu)}}}});
}

Result<void> MachineFleet::edit_claim(const ScheduledFault& fault) {
  auto claim = admin_.get(claim_path(fault.cluster));
  if (!claim) return claim.error();
  Json rows = (*claim)["spec"].value("resourceAssignments", Json::array());
  for (Json& row : rows)
    if (row.value("clusterQueueName", "") == kHighQueue)
      row["resources"]["cpu"] = std::to_string(fault.cpu);
  return merge(admin_, claim_path(fault.cluster), {{"spec", {{"resourceAssignments", rows}}}});
}

Result<void> MachineFleet::overwrite_queue(std::int64_t cpu) {
  const std::string path = kQueues + "/" + std::string(kHighQueue);
  auto queue = admin_.get(path);
  if (!queue) return queue.error();
  Json groups = (*queue)["spec"].value("resourceGroups", Json::array());
  for (Json& group : groups)
    for (Json& flavor : group["flavors"])
      for (Json& pair : flavor["resources"])
        if (flavor["name"] == kOnDemand && pair["name"] == "cpu")
          pair["nominalQuota"] = std::to_string(cpu);
  return merge(admin_, path, {{"spec", {{"resourceGroups", groups}}}});
}

Result<void> MachineFleet::report_machines(Member& member, LogTime now) {
  const std::string& name = member.layout.name;
  if (!member.joined || member.silent) return {};
  if (member.layout.report == CapacityReport::metrics)
    return merge(agents_, kClusterMetrics + "/" + name + "/status",
                 {{"status", cluster_metrics_status(member.machines, pods_)}});
  const auto api = members_api_.find(name);
  if (api == members_api_.end() || member.reported) return {};
  for (const Machine& machine : member.machines)
    if (auto done = merge(api->second, kNodes + "/" + machine.layout.name + "/status",
                          {{"status", node_status(machine, now)}});
        !done)
      return done;
  return {};
}

Result<void> MachineFleet::report_cluster(Member& member, LogTime now) {
  member.reported = true;
  return merge(agents_, kManagedClusters + "/" + member.layout.name + "/status",
               {{"status", managed_cluster_status(member.machines, now)}});
}

// A write that is refused here is of an object that a user deleted: it needs no report.
void MachineFleet::report_everything(LogTime now) {
  next_report_ = now + kReportInterval;
  ++pods_;
  for (auto& [name, member] : members_) {
    if (!member.joined || member.silent) continue;
    if (member.layout.report == CapacityReport::metrics) (void)report_machines(member, now);
    if (!member.reported) (void)report_cluster(member, now);
  }
}

}  // namespace fairlead
