#include "engine/fleet/work_agent.h"

#include <cctype>

#include "engine/base/quantity.h"
#include "engine/fleet/world.h"
#include "schema/work_feedback.h"

namespace fairlead {
namespace {

std::string path_of(const std::string& space, const std::string& name) {
  return "/apis/work.open-cluster-management.io/v1/namespaces/" + space + "/manifestworks/" + name;
}

// The plural of a kind, for those that Fairlead puts into works.
std::string resource_of(std::string kind) {
  for (char& letter : kind)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return kind + "s";
}

Json feedback_value(const std::string& name, const std::string& text) {
  return {{"name", name}, {"fieldValue", {{"type", "String"}, {"string", text}}}};
}

// What the paths of Fairlead's feedback rules lead to. Three fifths of every quota are in use.
Json feedback_of(const Json& queue) {
  Json values = Json::array();
  values.push_back(feedback_value(std::string(kActiveFeedback), "True"));
  for (const Json& group : queue["spec"].value("resourceGroups", Json::array()))
    for (const Json& flavor : group["flavors"])
      for (const Json& pair : flavor["resources"]) {
        const std::string name = pair["name"];
        const auto quota = Quantity::parse(pair["nominalQuota"].get<std::string>());
        const Amount amount = quota ? to_amount(name, *quota) : 0;
        values.push_back(feedback_value(
            std::string(kUsageFeedback) + flavor["name"].get<std::string>() + "/" + name,
            amount_text(name, amount / 5 * 3)));
      }
  return {{"values", std::move(values)}};
}

Json manifest_status(const Json& manifest, std::size_t ordinal, LogTime now) {
  const std::string api = manifest.value("apiVersion", "");
  const auto slash = api.find('/');
  const Json metadata = manifest.value("metadata", Json::object());
  const std::string kind = manifest.value("kind", "");
  Json meta = {{"ordinal", ordinal},
               {"group", slash == std::string::npos ? "" : api.substr(0, slash)},
               {"version", slash == std::string::npos ? api : api.substr(slash + 1)},
               {"kind", kind},
               {"resource", resource_of(kind)},
               {"name", metadata.value("name", "")}};
  if (metadata.contains("namespace")) meta["namespace"] = metadata["namespace"];
  Json out = {
      {"resourceMeta", std::move(meta)},
      {"conditions", Json::array({condition("Applied", "True", "AppliedManifestComplete", now),
                                  condition("Available", "True", "ResourceAvailable", now)})}};
  if (kind == "ClusterQueue") out["statusFeedback"] = feedback_of(manifest);
  return out;
}

}  // namespace

Json work_status(const Json& work, LogTime now) {
  Json conditions = Json::array({condition("Applied", "True", "AppliedManifestWorkComplete", now),
                                 condition("Available", "True", "ResourcesAvailable", now)});
  for (Json& entry : conditions) entry["observedGeneration"] = work["metadata"]["generation"];
  Json manifests = Json::array();
  const Json& listed = work["spec"]["workload"]["manifests"];
  for (std::size_t i = 0; i < listed.size(); ++i)
    manifests.push_back(manifest_status(listed[i], i, now));
  return {{"conditions", std::move(conditions)},
          {"resourceStatus", {{"manifests", std::move(manifests)}}}};
}

void WorkAgent::look(LogTime now, const std::set<std::string>& reachable) {
  find_new(now, reachable);
  for (auto at = due_.begin(); at != due_.end();) {
    const auto slash = at->first.find('/');
    const std::string space = at->first.substr(0, slash);
    if (at->second > now || !reachable.contains(space)) {
      ++at;
      continue;
    }
    if (const auto work = hub_.get(path_of(space, at->first.substr(slash + 1)))) report(*work, now);
    at = due_.erase(at);
  }
}

void WorkAgent::find_new(LogTime now, const std::set<std::string>& reachable) {
  const std::uint64_t revision = hub_.revision();
  // Without a change on the hub nothing is listed; a cluster that can be reached again may have
  // works that it missed.
  if (revision == seen_ && reachable == reachable_) return;
  seen_ = revision;
  reachable_ = reachable;
  const auto list = hub_.get(kWorks);
  if (!list) return;
  for (const Json& work : (*list)["items"]) {
    const Json& metadata = work["metadata"];
    const std::string space = metadata["namespace"];
    const std::string key = space + "/" + metadata["name"].get<std::string>();
    const Applied wanted{metadata["uid"], metadata["generation"]};
    if (!reachable.contains(space) || applied_[key] == wanted) continue;
    due_.try_emplace(key, now + kAgentDelay);
  }
}

void WorkAgent::report(const Json& work, LogTime now) {
  const Json& metadata = work["metadata"];
  const std::string space = metadata["namespace"], name = metadata["name"];
  const auto done =
      hub_.merge(path_of(space, name) + "/status", {{"status", work_status(work, now)}});
  if (done) applied_[space + "/" + name] = {metadata["uid"], metadata["generation"]};
}

}  // namespace fairlead
