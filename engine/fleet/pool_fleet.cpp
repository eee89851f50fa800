#include "engine/fleet/pool_fleet.h"

#include <utility>

#include "engine/fleet/worker_world.h"

namespace fairlead {
namespace {

std::map<std::string, model::SharedModel*> servers_of(
    const std::map<std::string, model::SharedModel*>& all, const std::vector<std::string>& names) {
  std::map<std::string, model::SharedModel*> out;
  for (const std::string& name : names)
    if (const auto at = all.find(name); at != all.end()) out.insert(*at);
  return out;
}

std::string amounts_in_words(const CpuAndMemory& amounts) {
  return amounts.cpu + " cpu, " + amounts.memory;
}

}  // namespace

std::string pool_clusters_setting(const std::set<std::string>& draining) {
  std::string entries;
  for (const std::string& name : draining) entries += "{cluster: " + name + ", drain: true}, ";
  return "pool.clusters=[" + entries + "{cluster: \"*\"}]";
}

PoolFleet::PoolFleet(model::SharedModel& hub,
                     const std::map<std::string, model::SharedModel*>& servers, std::uint64_t seed,
                     LogTime start, FleetLogger logger)
    : admin_(hub, "kubectl-edit"),
      seed_(seed),
      start_(start),
      logger_(std::move(logger)),
      tenant_servers_(servers_of(servers, pool_tenants())),
      apps_(tenant_servers_) {
  for (const auto& [name, server] : servers_of(servers, super_clusters())) {
    Super super{Api(*server, "kubelet"), {}, nullptr};
    for (MachineLayout& machine : super_cluster_machines(name))
      super.machines.push_back({std::move(machine)});
    super.syncer = std::make_unique<Syncer>(name, *server, tenant_servers_, logger_);
    supers_.emplace(name, std::move(super));
  }
}

Result<void> PoolFleet::create(const Api& api, const std::vector<WorldObject>& wanted) {
  for (const WorldObject& each : wanted) {
    ++writes_;
    if (auto made = api.create(each.collection, each.object); !made)
      return in_context("create " + each.collection, made.error());
  }
  return {};
}

Result<void> PoolFleet::merge(const Api& api, const std::string& path, const Json& patch) {
  ++writes_;
  if (auto done = api.merge(path, patch); !done) return done.error();
  return {};
}

Result<void> PoolFleet::begin() {
  if (auto made = create(admin_, {namespace_object("kueue-system")}); !made) return made;
  for (const auto& [name, super] : supers_)
    if (auto begun = begin_cluster(name, super); !begun) return begun;
  for (const auto& [tenant, server] : tenant_servers_)
    if (auto begun = begin_tenant(tenant); !begun) return begun;
  return {};
}

Result<void> PoolFleet::begin_cluster(const std::string& name, const Super& super) {
  if (auto made = create(super.api, {super_cluster_info(name)}); !made) return made;
  for (const Machine& machine : super.machines) {
    WorldObject made = node(machine);
    made.object["status"] = super_node_status(machine, start_);
    if (auto created = create(super.api, {std::move(made)}); !created) return created;
  }
  if (auto made = create(admin_, {managed_cluster(name)}); !made) return made;
  logger_("fleet", name + ": joins the hub as a super cluster with " +
                       std::to_string(super.machines.size()) + " nodes of " +
                       amounts_in_words(kPoolMachine));
  return merge(admin_, kManagedClusters + "/" + name + "/status",
               {{"status", available_status(start_)}});
}

Result<void> PoolFleet::begin_tenant(const std::string& tenant) {
  model::SharedModel& server = *tenant_servers_.at(tenant);
  const Api api(server, "kubectl");
  const std::string kubeconfig = model::kubeconfig_for(tenant, server.url);
  if (auto made = create(admin_, tenant_on_hub(tenant, kubeconfig)); !made) return made;
  logger_("admin",
          "VirtualCluster " + tenant + " is Running: a tenant with an API server of its own");
  for (const PoolApp& app : pool_apps()) {
    if (app.tenant != tenant) continue;
    if (auto made = create(api, {namespace_object(app.name)}); !made) return made;
  }
  return {};
}

void PoolFleet::advance(LogTime now) {
  if (script_.empty()) {
    for (PoolFault& fault : pool_script_of_round(seed_, round_))
      script_.push_back(std::move(fault));
    ++round_;
  }
  if (start_ + script_.front().at <= now) {
    const PoolFault fault = std::move(script_.front());
    script_.pop_front();
    const auto done = carry_out(fault, now);
    logger_(actor_of(fault.kind), fault.subject + ": " + fault.text +
                                      (done ? "" : " -- not possible: " + done.error().message));
  }
  apps_.look(now);
  for (auto& [name, super] : supers_)
    if (!super.silent) super.syncer->look(now, super.machines);
}

std::uint64_t PoolFleet::writes() const {
  std::uint64_t sum = writes_ + apps_.writes();
  for (const auto& [name, super] : supers_) sum += super.syncer->writes();
  return sum;
}

std::vector<std::string> PoolFleet::settings() const {
  if (draining_.empty()) return {};
  return {pool_clusters_setting(draining_)};
}

Result<void> PoolFleet::carry_out(const PoolFault& fault, LogTime now) {
  switch (fault.kind) {
    case PoolFaultKind::stop:
    case PoolFaultKind::start:
    case PoolFaultKind::go_silent:
    case PoolFaultKind::come_back:
    case PoolFaultKind::drain:
    case PoolFaultKind::undrain: return change_cluster(fault, now);
    case PoolFaultKind::scale: return apps_.scale(fault.subject, fault.amount);
    case PoolFaultKind::restart: return apps_.restart(fault.subject);
    case PoolFaultKind::set_quota:
    case PoolFaultKind::edit:
    case PoolFaultKind::clear: break;
  }
  return change_app(fault);
}

Result<void> PoolFleet::change_cluster(const PoolFault& fault, LogTime now) {
  const auto at = supers_.find(fault.subject);
  if (at == supers_.end()) return Error{ErrorCode::not_found, "no such cluster"};
  if (fault.kind == PoolFaultKind::drain) {
    draining_.insert(fault.subject);
    return {};
  }
  if (fault.kind == PoolFaultKind::undrain) {
    draining_.erase(fault.subject);
    return {};
  }
  Super& super = at->second;
  if (fault.kind == PoolFaultKind::stop || fault.kind == PoolFaultKind::start)
    return change_machine(super, fault, now);
  super.silent = fault.kind == PoolFaultKind::go_silent;
  return merge(admin_, kManagedClusters + "/" + fault.subject + "/status",
               {{"status", super.silent ? silent_status(now) : available_status(now)}});
}

Result<void> PoolFleet::change_machine(Super& super, const PoolFault& fault, LogTime now) {
  for (Machine& machine : super.machines) {
    if (machine.layout.name != fault.value) continue;
    machine.down = fault.kind == PoolFaultKind::stop;
    const std::string path = kNodes + "/" + fault.value;
    if (auto done = merge(super.api, path, {{"spec", node_spec(machine)}}); !done) return done;
    return merge(super.api, path + "/status", {{"status", super_node_status(machine, now)}});
  }
  return Error{ErrorCode::not_found, "no such node"};
}

Result<void> PoolFleet::change_app(const PoolFault& fault) {
  const auto slash = fault.subject.find('/');
  const auto server = tenant_servers_.find(fault.subject.substr(0, slash));
  if (slash == std::string::npos || server == tenant_servers_.end())
    return Error{ErrorCode::not_found, "no such tenant"};
  const Api api(*server->second, "kubectl-edit");
  const std::string namespace_ = fault.subject.substr(slash + 1);
  if (fault.kind == PoolFaultKind::set_quota) {
    const CpuAndMemory quota = quota_of(fault.amount);
    if (api.get(quota_path(namespace_)))
      return merge(api, quota_path(namespace_), {{"spec", quota_spec(quota)}});
    return create(api, {quota_object(namespace_, quota)});
  }
  const Json value = fault.kind == PoolFaultKind::edit ? Json(fault.value) : Json(nullptr);
  return merge(api, kNamespaces + "/" + namespace_,
               {{"metadata", {{"annotations", {{kPlacementsKey, value}}}}}});
}

}  // namespace fairlead
