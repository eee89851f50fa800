#include "engine/fleet/model/discovery.h"

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <tuple>

#include "engine/base/digest.h"

namespace fairlead::model {
namespace {

using Definitions = std::vector<const ResourceDefinition*>;

const Json kVerbs = {"create", "delete", "deletecollection", "get",
                     "list",   "patch",  "update",           "watch"};
const Json kCustomVerbs = {"delete", "deletecollection", "get",    "list",
                           "patch",  "create",           "update", "watch"};
const Json kStatusVerbs = {"get", "patch", "update"};
constexpr const char* kAggregated =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
constexpr int kNotModified = 304;

/// A key that sorts versions as Kubernetes does: v2, v1, v1beta2, v1beta1, v1alpha1, then all
/// others by name. Smaller is better.
auto order_of(const std::string& version) {
  static const std::regex pattern("v([0-9]+)(?:(alpha|beta)([0-9]+))?");
  std::smatch parts;
  if (!std::regex_match(version, parts, pattern)) return std::tuple(3, 0, 0, version);
  const auto number = [&](std::size_t at) {
    return parts[at].length() > 0 && parts[at].length() < 9 ? -std::stoi(parts[at].str()) : 0;
  };
  const int stage = parts[2].length() == 0 ? 0 : parts[2] == "beta" ? 1 : 2;
  return std::tuple(stage, number(1), number(3), std::string());
}

/// Versions of a group that any kind serves, best first.
std::vector<std::string> versions_of(const Definitions& served, const std::string& group) {
  std::vector<std::string> versions;
  for (const ResourceDefinition* definition : served)
    if (definition->group == group)
      for (const ResourceVersion& version : definition->versions)
        if (version.served &&
            std::find(versions.begin(), versions.end(), version.name) == versions.end())
          versions.push_back(version.name);
  std::sort(versions.begin(), versions.end(),
            [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
  return versions;
}

const Json& verbs_of(const ResourceDefinition& definition) {
  return definition.origin == Origin::built_in ? kVerbs : kCustomVerbs;
}

Json group_kind(const ResourceDefinition& definition, const std::string& version) {
  // Core kinds omit their group and version; clients fill in those of the list.
  const bool core = definition.group.empty();
  return {{"group", definition.group}, {"version", core ? "" : version}, {"kind", definition.kind}};
}

Json aggregated_resource(const ResourceDefinition& definition, const ResourceVersion& version) {
  Json resource{{"resource", definition.plural},
                {"responseKind", group_kind(definition, version.name)},
                {"scope", definition.namespaced ? "Namespaced" : "Cluster"},
                {"singularResource", definition.singular},
                {"verbs", verbs_of(definition)}};
  if (!definition.short_names.empty()) resource["shortNames"] = definition.short_names;
  if (!definition.categories.empty()) resource["categories"] = definition.categories;
  if (version.has_status)
    resource["subresources"] = {{{"subresource", "status"},
                                 {"responseKind", group_kind(definition, version.name)},
                                 {"verbs", kStatusVerbs}}};
  return resource;
}

Json aggregated_group(const Definitions& served, const std::string& group) {
  Json versions = Json::array();
  for (const std::string& name : versions_of(served, group)) {
    Json resources = Json::array();
    for (const ResourceDefinition* definition : served)
      if (const ResourceVersion* version = definition->version(name);
          version && definition->group == group)
        resources.push_back(aggregated_resource(*definition, *version));
    versions.push_back(
        {{"version", name}, {"resources", std::move(resources)}, {"freshness", "Current"}});
  }
  Json metadata = Json::object();
  if (!group.empty()) metadata["name"] = group;
  return {{"metadata", std::move(metadata)}, {"versions", std::move(versions)}};
}

Json aggregated(const Definitions& served, const std::vector<std::string>& groups) {
  Json items = Json::array();
  for (const std::string& group : groups) items.push_back(aggregated_group(served, group));
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", Json::object()},
          {"items", std::move(items)}};
}

Json group_object(const Definitions& served, const std::string& group) {
  Json versions = Json::array();
  for (const std::string& name : versions_of(served, group))
    versions.push_back({{"groupVersion", group + "/" + name}, {"version", name}});
  Json preferred = versions.empty() ? Json() : versions.front();
  return {{"name", group},
          {"versions", std::move(versions)},
          {"preferredVersion", std::move(preferred)}};
}

Json resource_list(const Definitions& served, const std::string& group,
                   const std::string& version) {
  Json resources = Json::array();
  for (const ResourceDefinition* definition : served) {
    const ResourceVersion* of = definition->version(version);
    if (definition->group != group || of == nullptr) continue;
    Json resource{{"name", definition->plural},
                  {"singularName", definition->singular},
                  {"namespaced", definition->namespaced},
                  {"kind", definition->kind},
                  {"verbs", verbs_of(*definition)}};
    if (!definition->short_names.empty()) resource["shortNames"] = definition->short_names;
    if (!definition->categories.empty()) resource["categories"] = definition->categories;
    resources.push_back(std::move(resource));
    if (of->has_status)
      resources.push_back({{"name", definition->plural + "/status"},
                           {"singularName", ""},
                           {"namespaced", definition->namespaced},
                           {"kind", definition->kind},
                           {"verbs", kStatusVerbs}});
  }
  Json list{{"kind", "APIResourceList"},
            {"groupVersion", group.empty() ? version : group + "/" + version},
            {"resources", std::move(resources)}};
  if (!group.empty()) list["apiVersion"] = "v1";
  return list;
}

Json version_info(const std::string& git_version) {
  const std::size_t dot = git_version.find('.');
  const std::string minor = git_version.substr(dot + 1, git_version.find('.', dot + 1) - dot - 1);
  return {{"major", git_version.substr(1, dot - 1)},
          {"minor", minor},
          {"emulationMajor", git_version.substr(1, dot - 1)},
          {"emulationMinor", minor},
          {"minCompatibilityMajor", git_version.substr(1, dot - 1)},
          {"minCompatibilityMinor", std::to_string(std::stoi(minor) - 1)},
          {"gitVersion", git_version},
          {"gitCommit", ""},
          {"gitTreeState", "clean"},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", ""},
          {"compiler", "c++"},
          {"platform", "linux/amd64"}};
}

std::vector<std::string> groups_of(const Definitions& served) {
  std::set<std::string> groups;
  for (const ResourceDefinition* definition : served)
    if (!definition->group.empty()) groups.insert(definition->group);
  return {groups.begin(), groups.end()};
}

std::optional<ApiAnswer> answer_group(std::string_view path, const Definitions& served) {
  if (!path.starts_with("/apis/")) return std::nullopt;
  path.remove_prefix(6);
  if (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.find('/');
  const std::string group(path.substr(0, slash));
  const std::vector<std::string> versions = versions_of(served, group);
  if (versions.empty()) return std::nullopt;
  if (slash == std::string_view::npos) {
    Json body = group_object(served, group);
    body["kind"] = "APIGroup";
    body["apiVersion"] = "v1";
    return json_answer(body);
  }
  const std::string version(path.substr(slash + 1));
  if (std::find(versions.begin(), versions.end(), version) == versions.end()) return std::nullopt;
  return json_answer(resource_list(served, group, version));
}

}  // namespace

std::optional<ApiAnswer> answer_discovery(const ApiRequest& request, const Definitions& served,
                                          const std::string& git_version) {
  if (request.method != "GET") return std::nullopt;
  const bool root = request.path == "/api" || request.path == "/api/";
  const bool groups = request.path == "/apis" || request.path == "/apis/";
  if (request.path == "/version" || request.path == "/version/")
    return json_answer(version_info(git_version));
  // A client that knows only the beta form must not get the aggregated one.
  if ((root || groups) && request.accept.find("g=apidiscovery.k8s.io;v=v2;") != std::string::npos) {
    ApiAnswer answer =
        json_answer(aggregated(served, root ? std::vector<std::string>{""} : groups_of(served)));
    answer.content_type = kAggregated;
    answer.etag = '"' + sha256(answer.body).hex() + '"';
    if (request.if_none_match == answer.etag) {
      answer.code = kNotModified;
      answer.body.clear();
    }
    return answer;
  }
  if (root)
    return json_answer({{"kind", "APIVersions"},
                        {"versions", {"v1"}},
                        {"serverAddressByClientCIDRs", Json::array()}});
  if (groups) {
    Json list = Json::array();
    for (const std::string& group : groups_of(served)) list.push_back(group_object(served, group));
    return json_answer(
        {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(list)}});
  }
  if (request.path == "/api/v1") return json_answer(resource_list(served, "", "v1"));
  return answer_group(request.path, served);
}

}  // namespace fairlead::model
