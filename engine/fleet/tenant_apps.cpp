#include "engine/fleet/tenant_apps.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace fairlead {
namespace {

constexpr Duration kAppsRound = seconds(1);

}  // namespace

TenantApps::TenantApps(const std::map<std::string, model::SharedModel*>& tenants) {
  for (const auto& [name, server] : tenants) tenants_.emplace(name, Api(*server, "controller"));
  for (PoolApp& layout : pool_apps()) {
    const std::string id = layout.id();
    apps_.emplace(id, App{std::move(layout)});
  }
}

TenantApps::App* TenantApps::find(const std::string& id) {
  const auto at = apps_.find(id);
  return at == apps_.end() ? nullptr : &at->second;
}

Result<void> TenantApps::scale(const std::string& app, std::int64_t pods) {
  App* const found = find(app);
  if (found == nullptr) return Error{ErrorCode::not_found, "no such app"};
  found->wanted = pods;
  return {};
}

Result<void> TenantApps::restart(const std::string& app) {
  const App* const found = find(app);
  if (found == nullptr) return Error{ErrorCode::not_found, "no such app"};
  for (const std::string& name : pods(*found)) {
    ++writes_;
    if (auto removed =
            tenants_.at(found->layout.tenant).remove(pods_of(found->layout.name) + "/" + name);
        !removed)
      return removed.error();
  }
  return {};
}

std::vector<std::string> TenantApps::pods(const App& app) const {
  std::vector<std::pair<bool, std::string>> found;
  for (const Json& pod : tenants_.at(app.layout.tenant).items(pods_of(app.layout.name)))
    if (label_of(pod, kAppLabel) == app.layout.name && !is_over(pod))
      // Those without a node come first: adjust() removes from the front.
      found.emplace_back(!node_of(pod).empty(), pod["metadata"]["name"]);
  std::sort(found.begin(), found.end());
  std::vector<std::string> names;
  for (auto& [runs, name] : found) names.push_back(std::move(name));
  return names;
}

void TenantApps::look(LogTime now) {
  if (now < next_look_) return;
  next_look_ = now + kAppsRound;
  for (auto& [id, app] : apps_) adjust(app);
}

// A write that is refused here is in a namespace that a user deleted: it needs no report.
void TenantApps::adjust(App& app) {
  const Api& tenant = tenants_.at(app.layout.tenant);
  const std::vector<std::string> names = pods(app);
  const auto there = static_cast<std::int64_t>(names.size());
  for (std::int64_t surplus = 0; surplus < there - app.wanted; ++surplus) {
    ++writes_;
    (void)tenant.remove(pods_of(app.layout.name) + "/" + names[static_cast<std::size_t>(surplus)]);
  }
  for (std::int64_t missing = there; missing < app.wanted; ++missing) {
    ++writes_;
    const std::string name = app.layout.name + "-" + std::to_string(app.made + 1);
    const WorldObject pod = app_pod(app.layout, name);
    if (!tenant.create(pod.collection, pod.object)) return;
    ++app.made;
  }
}

}  // namespace fairlead
