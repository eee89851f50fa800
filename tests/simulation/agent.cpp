#include "tests/simulation/agent.h"

#include <algorithm>
#include <utility>

#include "engine/fleet/work_agent.h"
#include "engine/fleet/worker_world.h"
#include "schema/work_feedback.h"
#include "tests/simulation/checkers/reading.h"

namespace fairlead::simulation {
namespace {

constexpr std::string_view kWorkResource = "manifestworks.work.open-cluster-management.io";
constexpr std::string_view kApply = "application/apply-patch+yaml";

std::string works_of(const std::string& cluster) {
  return "/apis/work.open-cluster-management.io/v1/namespaces/" + cluster + "/manifestworks";
}

// Where an object of a kind that Fairlead puts into works is.
std::string manifest_path(const Json& object) {
  const std::string kind = object.value("kind", ""), api = object.value("apiVersion", "");
  const Json& metadata = object["metadata"];
  std::string plural = kind + "s";
  if (kind == "Topology") plural = "topologies";
  std::ranges::transform(plural, plural.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  std::string path = (api.find('/') == std::string::npos ? "/api/" : "/apis/") + api;
  if (metadata.contains("namespace"))
    path += "/namespaces/" + metadata["namespace"].get<std::string>();
  return path + "/" + plural + "/" + metadata["name"].get<std::string>();
}

// Whether an orphaning rule of the work names the object.
bool stays(const Json& work, const std::string& path) {
  const Json rules = work.value("/spec/deleteOption/selectivelyOrphans/orphaningRules"_json_pointer,
                                Json::array());
  return std::ranges::any_of(rules, [&](const Json& rule) {
    return path.ends_with("/" + rule.value("resource", "") + "/" + rule.value("name", ""));
  });
}

}  // namespace

void Agent::saw(const SeenWrite& write) {
  const bool concerns = std::ranges::any_of(write.changes, [&](const SeenChange& change) {
    return write.server == kHub
               ? change.resource == kWorkResource && change.key.starts_with(member_.name() + "/")
               : change.resource == kQueueResource;
  });
  if (concerns && write.who != "work-agent") look_soon();
}

void Agent::look_soon() {
  if (next_ != nullptr) return;
  next_ = time_.after(kAgentDelay, [this] {
    next_.reset();
    look();
  });
}

void Agent::look() {
  if (hub_.away() || member_.away()) {
    next_ = time_.after(minutes(1), [this] {
      next_.reset();
      look();
    });
    return;
  }
  std::set<std::string> there;
  for (const Json& work : hub_.items(works_of(member_.name()))) {
    there.insert(work["metadata"]["name"]);
    carry_out(work);
  }
  for (const auto& [work, paths] : std::map(applied_))
    if (!there.contains(work)) remove_others(work, {});
  std::erase_if(applied_, [&](const auto& entry) { return !there.contains(entry.first); });
}

bool Agent::apply(const Json& manifest) {
  const std::string path = manifest_path(manifest);
  if (const Json stored = member_.read(path); !stored.is_null()) {
    Json merged = stored;
    merged.merge_patch(manifest);
    if (merged == stored) return true;
  }
  return !member_.try_write("work-agent", "PATCH", path + "?force=true", manifest, kApply)
              .is_null();
}

void Agent::carry_out(const Json& work) {
  const std::string name = work["metadata"]["name"];
  std::set<std::string> paths, orphans;
  std::set<std::size_t> failed;
  const Json& manifests = work["spec"]["workload"]["manifests"];
  for (std::size_t at = 0; at < manifests.size(); ++at) {
    const std::string path = manifest_path(manifests[at]);
    paths.insert(path);
    if (stays(work, path)) orphans.insert(path);
    if (!apply(manifests[at])) failed.insert(at);
  }
  orphans_[name] = std::move(orphans);
  remove_others(name, paths);
  applied_[name] = std::move(paths);
  const Json status = report(work, failed);
  Json stored = work.value("status", Json::object());
  const auto without_times = [](Json of) {
    for (Json& one : of["conditions"]) one.erase("lastTransitionTime");
    for (Json& manifest : of["resourceStatus"]["manifests"])
      for (Json& one : manifest["conditions"]) one.erase("lastTransitionTime");
    return of;
  };
  if (without_times(stored) == without_times(status)) return;
  (void)hub_.try_write("work-agent", "PATCH", works_of(member_.name()) + "/" + name + "/status",
                       {{"status", status}});
}

void Agent::remove_others(const std::string& work, const std::set<std::string>& now) {
  for (const std::string& path : applied_[work])
    if (!now.contains(path) && !orphans_[work].contains(path))
      (void)member_.try_write("work-agent", "DELETE", path, nullptr);
}

Json Agent::report(const Json& work, const std::set<std::size_t>& failed) {
  Json status = work_status(work, time_.now());
  if (!failed.empty()) status["conditions"][0]["status"] = "False";
  const Json& manifests = work["spec"]["workload"]["manifests"];
  Json& reports = status["resourceStatus"]["manifests"];
  for (std::size_t at = 0; at < manifests.size(); ++at) {
    if (failed.contains(at)) reports[at]["conditions"][0]["status"] = "False";
    if (manifests[at].value("kind", "") == "ClusterQueue") report_usage(manifests[at], reports[at]);
  }
  return status;
}

void Agent::report_usage(const Json& manifest, Json& status) {
  const Json queue = member_.read(manifest_path(manifest));
  if (queue.is_null()) return;
  std::map<std::string, std::string> used;
  for (const Json& flavor : queue.value("/status/flavorsUsage"_json_pointer, Json::array()))
    for (const Json& resource : flavor["resources"])
      used[std::string(kUsageFeedback) + flavor["name"].get<std::string>() + "/" +
           resource["name"].get<std::string>()] = resource.value("total", "0");
  for (Json& value : status["statusFeedback"]["values"])
    if (const std::string name = value["name"]; name.starts_with(kUsageFeedback))
      value["fieldValue"]["string"] = used.contains(name) ? used[name] : "0";
}

}  // namespace fairlead::simulation
