#include "engine/fleet/syncer.h"

#include <set>
#include <utility>

namespace fairlead {
namespace {

constexpr Duration kSyncRound = seconds(1);
constexpr const char* kAllPods = "/api/v1/pods";

std::string metadata_text(const Json& object, const char* field) {
  return object["metadata"].value(field, "");
}

std::string pod_path(const std::string& namespace_, const std::string& name) {
  return pods_of(namespace_) + "/" + name;
}

/// What is here for a tenant's namespace, and not the cluster's own.
bool is_for_tenants(const Json& namespace_) {
  return !annotation_of(namespace_, kTenantKey).empty();
}

// The tenant deleted its namespace and made it anew: what is here is of the former one.
bool is_of_another(const Json& here, const Json& wanted) {
  return annotation_of(here, kTenantUidKey) != annotation_of(wanted, kTenantUidKey);
}

// Returns a merge patch of the annotations that a tenant decides; null where they are equal.
Json patch_between(const Json& here, const Json& wanted) {
  Json patch;
  for (const std::string& key : {kSliceKey, kPlacementsKey}) {
    const std::string text = annotation_of(wanted, key);
    if (annotation_of(here, key) != text) patch[key] = text.empty() ? Json() : Json(text);
  }
  return patch;
}

Amount of_machine(const std::string& resource) {
  const std::string& text = resource == "cpu" ? kPoolMachine.cpu : kPoolMachine.memory;
  return to_amount(resource, *Quantity::parse(text));
}

}  // namespace

Syncer::Syncer(std::string id, model::SharedModel& super,
               const std::map<std::string, model::SharedModel*>& tenants, FleetLogger logger)
    : id_(std::move(id)), super_(super, "syncer"), logger_(std::move(logger)) {
  for (const auto& [name, server] : tenants) tenants_.emplace(name, Api(*server, "syncer-" + id_));
}

void Syncer::look(LogTime now, const std::vector<Machine>& machines) {
  if (now < next_look_) return;
  next_look_ = now + kSyncRound;
  if (nothing_changed(now, machines)) return;
  sync_namespaces(now);
  evict(now, machines);
  remove_orphans();
  sync_pods(machines);
}

bool Syncer::nothing_changed(LogTime now, const std::vector<Machine>& machines) {
  for (const Machine& machine : machines)
    if (machine.down)
      down_.try_emplace(machine.layout.name, now);
    else
      down_.erase(machine.layout.name);
  std::uint64_t revisions = super_.revision();
  for (const auto& [tenant, api] : tenants_) revisions += api.revision();
  // Revisions only rise, so an equal sum means that no server has changed. What waits for its time
  // to pass is looked at all the same.
  return std::exchange(seen_, revisions) == revisions && unlisted_.empty() && down_.empty();
}

void Syncer::want(const std::string& tenant, const Json& seen) {
  if (!listed_ids(seen).contains(id_)) return;
  const std::string name = metadata_text(seen, "name");
  WorldObject made = namespace_object(tenant + "-" + name);
  Json& annotations = made.object["metadata"]["annotations"];
  annotations = {{kTenantKey, tenant},
                 {kTenantNamespaceKey, name},
                 {kTenantUidKey, metadata_text(seen, "uid")}};
  for (const std::string& key : {kSliceKey, kPlacementsKey})
    if (const std::string text = annotation_of(seen, key); !text.empty()) annotations[key] = text;
  wanted_[tenant + "-" + name] = {tenant, name, std::move(made.object)};
}

void Syncer::sync_namespaces(LogTime now) {
  wanted_.clear();
  for (const auto& [tenant, api] : tenants_)
    for (const Json& seen : api.items(kNamespaces)) want(tenant, seen);
  std::set<std::string> here;
  for (const Json& namespace_ : super_.items(kNamespaces)) {
    if (!is_for_tenants(namespace_)) continue;
    const std::string name = metadata_text(namespace_, "name");
    here.insert(name);
    const auto wanted = wanted_.find(name);
    if (wanted == wanted_.end() || is_of_another(namespace_, wanted->second.object)) {
      remove_unlisted(now, namespace_);
      continue;
    }
    unlisted_.erase(name);
    const Json patch = patch_between(namespace_, wanted->second.object);
    if (patch.is_null()) continue;
    ++writes_;
    (void)super_.merge(kNamespaces + "/" + name, {{"metadata", {{"annotations", patch}}}});
  }
  std::erase_if(unlisted_, [&](const auto& entry) { return !here.contains(entry.first); });
  for (const auto& [name, wanted] : wanted_) {
    if (here.contains(name)) continue;
    ++writes_;
    if (super_.create(kNamespaces, wanted.object))
      logger_("syncer", id_ + ": makes namespace " + name + ", which " + wanted.tenant + "/" +
                            wanted.name + " lists it for");
  }
}

void Syncer::remove_unlisted(LogTime now, const Json& namespace_) {
  const std::string name = metadata_text(namespace_, "name");
  const auto since = unlisted_.try_emplace(name, now).first->second;
  if (now < since + kRemovalDelay) return;
  const std::size_t pods = super_.items(pods_of(name)).size();
  ++writes_;
  if (!super_.remove(kNamespaces + "/" + name)) return;
  unlisted_.erase(name);
  logger_("syncer", id_ + ": removes namespace " + name + " with " + std::to_string(pods) +
                        (pods == 1 ? " pod" : " pods") + ": it is not listed any more");
}

void Syncer::evict(LogTime now, const std::vector<Machine>& machines) {
  for (const Machine& machine : machines) {
    const std::string& name = machine.layout.name;
    const auto since = down_.find(name);
    if (since == down_.end() || now < since->second + kEvictionDelay) continue;
    for (const Json& pod : super_.items(kAllPods)) {
      if (node_of(pod) != name) continue;
      ++writes_;
      (void)super_.remove(pod_path(metadata_text(pod, "namespace"), metadata_text(pod, "name")));
    }
  }
}

// A pod that is gone in its tenant ends here as well.
void Syncer::remove_orphans() {
  for (const Json& pod : super_.items(kAllPods)) {
    const std::string namespace_ = metadata_text(pod, "namespace"),
                      name = metadata_text(pod, "name");
    const auto wanted = wanted_.find(namespace_);
    if (wanted == wanted_.end()) continue;
    const auto in_tenant =
        tenants_.at(wanted->second.tenant).get(pod_path(wanted->second.name, name));
    const bool same =
        in_tenant && metadata_text(*in_tenant, "uid") == annotation_of(pod, kTenantUidKey);
    if (same) continue;
    ++writes_;
    (void)super_.remove(pod_path(namespace_, name));
  }
}

void Syncer::sync_pods(const std::vector<Machine>& machines) {
  for (const auto& [tenant, api] : tenants_)
    for (const Json& pod : api.items(kAllPods))
      if (annotation_of(pod, kSuperClusterKey) == id_ && !is_over(pod))
        sync_pod(tenant, pod, machines);
}

void Syncer::sync_pod(const std::string& tenant, const Json& pod,
                      const std::vector<Machine>& machines) {
  const std::string namespace_ = metadata_text(pod, "namespace"), name = metadata_text(pod, "name");
  const std::string here = tenant + "-" + namespace_;
  if (node_of(pod).empty()) {
    if (wanted_.contains(here)) run(tenant, pod, machines);
    return;
  }
  if (super_.get(pod_path(here, name))) return;
  ++writes_;
  if (tenants_.at(tenant).remove(pod_path(namespace_, name)))
    logger_("syncer", id_ + ": pod " + name + " of " + tenant + "/" + namespace_ +
                          " ended with its node or its namespace");
}

void Syncer::run(const std::string& tenant, const Json& pod, const std::vector<Machine>& machines) {
  const std::string namespace_ = metadata_text(pod, "namespace"), name = metadata_text(pod, "name");
  const std::string node = node_for(pod, machines);
  if (node.empty()) return;
  const Json metadata = {{"name", name},
                         {"namespace", tenant + "-" + namespace_},
                         {"annotations",
                          {{kTenantKey, tenant},
                           {kTenantNamespaceKey, namespace_},
                           {kTenantUidKey, metadata_text(pod, "uid")}}}};
  Json spec = pod["spec"];
  spec["nodeName"] = node;
  writes_ += 4;
  const Json running = {{"status", {{"phase", "Running"}}}};
  const std::string here = tenant + "-" + namespace_;
  const auto made = super_.create(
      pods_of(here),
      {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", metadata}, {"spec", spec}});
  if (!made) return;
  (void)super_.merge(pod_path(here, name) + "/status", running);
  const Api& api = tenants_.at(tenant);
  const std::string path = pod_path(namespace_, name);
  if (!api.merge(path, {{"spec", {{"nodeName", node}}}})) return;
  (void)api.merge(path + "/status", running);
  logger_("syncer",
          id_ + ": pod " + name + " of " + tenant + "/" + namespace_ + " runs on " + node);
}

std::string Syncer::node_for(const Json& pod, const std::vector<Machine>& machines) const {
  std::map<std::string, std::map<std::string, Amount>> used;
  for (const Json& other : super_.items(kAllPods))
    for (const char* resource : {"cpu", "memory"})
      used[node_of(other)][resource] += requested(other, resource);
  std::string best;
  for (const Machine& machine : machines) {
    if (machine.down || machine.cordoned) continue;
    auto& here = used[machine.layout.name];
    bool fits = true;
    for (const char* resource : {"cpu", "memory"})
      fits = fits && here[resource] + requested(pod, resource) <= of_machine(resource);
    if (fits && (best.empty() || here["cpu"] < used[best]["cpu"])) best = machine.layout.name;
  }
  return best;
}

}  // namespace fairlead
