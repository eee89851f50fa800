// The kinds between a Placement and a running Workload, in every version that is served of them.
#include <algorithm>
#include <array>
#include <map>

#include "connectors/kube/projection/projection_fields.h"
#include "schema/kind.h"

namespace fairlead::projection {
namespace {

// The names of a status list of a ClusterProfile.
// Of the list and of that by its former name: each of the two counts.
std::vector<std::string> provider_names(JsonView status) {
  std::vector<std::string> out;
  for (const char* list : {"accessProviders", "credentialProviders"}) {
    if (!status[list].is(JsonKind::array)) continue;
    for (JsonView item : status[list])
      if (const auto name = item["name"].string(); !name.empty()) out.emplace_back(name);
  }
  make_set(out);
  return out;
}

OwnerMark owner_mark(JsonView metadata) {
  return {metadata["labels"]["app.kubernetes.io/managed-by"].string() == "fairlead",
          std::string(metadata["annotations"]["fairlead.io/owner"].string())};
}

// Of the versions that are served, the first of `versions` (separated by commas).
JsonView best_served(JsonView spec, std::string_view versions) {
  while (!versions.empty()) {
    const std::size_t comma = std::min(versions.find(','), versions.size());
    for (JsonView item : spec["versions"])
      if (item["name"].string() == versions.substr(0, comma) && item["served"].is_true())
        return item;
    versions.remove_prefix(std::min(versions.size(), comma + 1));
  }
  return {};
}

// `name`, or what a kustomization with a namePrefix makes of it: "kueue-" before it, for example.
bool is_name_with_prefix(std::string_view whole, std::string_view name) {
  if (!whole.ends_with(name)) return false;
  whole.remove_suffix(name.size());
  return whole.empty() || whole.ends_with('-');
}

}  // namespace

template <>
ClusterProfileFacts facts_of(JsonView object, ApiReading&) {
  JsonView metadata = object["metadata"];
  ClusterProfileFacts out;
  out.cluster = metadata["labels"]["open-cluster-management.io/cluster-name"].string();
  out.labelled = !out.cluster.empty();
  if (!out.labelled) out.cluster = metadata["name"].string();
  out.access_providers = provider_names(object["status"]);
  return out;
}

template <>
AdmissionCheckFacts facts_of(JsonView object, ApiReading&) {
  constexpr std::string_view setting = "fairlead.io/multikueue.";
  JsonView metadata = object["metadata"];
  JsonView parameters = object["spec"]["parameters"];
  AdmissionCheckFacts out;
  out.controller_name = object["spec"]["controllerName"].string();
  out.parameters_api_group = parameters["apiGroup"].string();
  out.parameters_kind = parameters["kind"].string();
  out.parameters_name = parameters["name"].string();
  for (auto& [name, value] : strings(metadata["annotations"]))
    if (name.starts_with(setting)) out.settings[name.substr(setting.size())] = value;
  out.finalizers = string_items(metadata["finalizers"]);
  out.active = condition(object["status"], "Active");
  out.all_clusters_used = condition(object["status"], "AllClustersUsed");
  out.dispatcher_ready = condition(object["status"], "DispatcherReady");
  out.deleting = deleting(object);
  return out;
}

template <>
MultiKueueConfigFacts facts_of(JsonView object, ApiReading&) {
  MultiKueueConfigFacts out;
  out.clusters = string_items(object["spec"]["clusters"]);
  out.quota_management = object["spec"]["quotaManagement"].string();
  out.mark = owner_mark(object["metadata"]);
  out.deleting = deleting(object);
  return out;
}

template <>
MultiKueueClusterFacts facts_of(JsonView object, ApiReading&) {
  MultiKueueClusterFacts out;
  JsonView spec = object["spec"];
  // v1beta2 has the sources one below; v1beta1 asks for a kubeConfig beside a profile too.
  JsonView source = spec["clusterSource"].given() ? spec["clusterSource"] : spec;
  JsonView kubeconfig = source["kubeConfig"];
  out.cluster_profile = source["clusterProfileRef"]["name"].string();
  if (out.cluster_profile.empty()) {
    const bool path = kubeconfig["locationType"].string() == "Path";
    (path ? out.path : out.secret) = kubeconfig["location"].string();
  }
  out.mark = owner_mark(object["metadata"]);
  out.active = condition(object["status"], "Active");
  out.deleting = deleting(object);
  return out;
}

template <>
PlacementFacts facts_of(JsonView object, ApiReading&) {
  PlacementFacts out;
  for (JsonView item : object["spec"]["prioritizerPolicy"]["configurations"]) {
    JsonView coordinate = item["scoreCoordinate"];
    ScorePrioritizer prioritizer;
    prioritizer.resource_name = coordinate["addOn"]["resourceName"].string();
    prioritizer.score_name = coordinate["addOn"]["scoreName"].string();
    prioritizer.weight = item["weight"].integer().value_or(1);
    if (coordinate["type"].string() == "AddOn" && !prioritizer.resource_name.empty() &&
        !prioritizer.score_name.empty())
      out.prioritizers.push_back(std::move(prioritizer));
  }
  // Not a set: the same prioritizer twice counts twice.
  std::sort(out.prioritizers.begin(), out.prioritizers.end());
  out.deleting = deleting(object);
  return out;
}

template <>
PlacementDecisionFacts facts_of(JsonView object, ApiReading&) {
  PlacementDecisionFacts out;
  out.placement =
      object["metadata"]["labels"]["cluster.open-cluster-management.io/placement"].string();
  for (JsonView item : object["status"]["decisions"])
    if (const auto name = item["clusterName"].string(); !name.empty())
      out.clusters.emplace_back(name);
  make_set(out.clusters);
  return out;
}

template <>
AddOnPlacementScoreFacts facts_of(JsonView object, ApiReading&) {
  JsonView status = object["status"];
  AddOnPlacementScoreFacts out;
  for (JsonView item : status["scores"]) {
    const std::string_view name = item["name"].string();
    const auto value = item["value"].integer();
    if (!name.empty() && value) out.scores.insert_or_assign(std::string(name), *value);
  }
  out.valid_until = parse_rfc3339(status["validUntil"].string());
  return out;
}

template <>
SecretFacts facts_of(JsonView object, ApiReading&) {
  SecretFacts out;
  JsonView data = object["data"];
  if (data.is(JsonKind::object))
    for (JsonView member : data) out.keys.emplace_back(member.key());
  make_set(out.keys);
  const std::string text = data.is(JsonKind::object) ? canonical_text(data) : "{}";
  const std::array<std::string_view, 3> parts{object["metadata"]["uid"].string(),
                                              std::string_view("\0", 1), text};
  out.content = sha256(parts);
  return out;
}

template <>
CustomResourceDefinitionFacts facts_of(JsonView object, ApiReading&) {
  CustomResourceDefinitionFacts out;
  const auto of = [&](Kind kind) {
    return best_served(
        object["spec"],
        info(kind).versions)["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"];
  };
  const std::string_view plural = object["spec"]["names"]["plural"].string();
  if (plural == info(Kind::multikueue_config).resource)
    out.clusters_max = of(Kind::multikueue_config)["clusters"]["maxItems"].integer();
  if (plural == info(Kind::multikueue_cluster).resource) {
    JsonView spec = of(Kind::multikueue_cluster);
    JsonView source = spec["clusterSource"];
    out.cluster_profile_ref =
        (source.given() ? source["properties"] : spec)["clusterProfileRef"].given();
  }
  return out;
}

template <>
MutatingAdmissionPolicyFacts facts_of(JsonView object, ApiReading&) {
  constexpr std::string_view kueues = "clear-nominated-cluster-names";
  const auto [name, labels] = object["metadata"].members("name", "labels");
  const bool label = labels["fairlead.io/clears-nominations"].string() == "true";
  return {.clears_nominations = label || is_name_with_prefix(name.string(), kueues),
          .deleting = deleting(object)};
}

std::span<const KindProjection> multikueue_projections() {
  static constexpr std::array kAll{
      projection_of<ClusterProfileFacts>("spec status.{conditions,version,properties}"),
      projection_of<AdmissionCheckFacts>(),
      projection_of<MultiKueueConfigFacts>("status"),
      projection_of<MultiKueueClusterFacts>(),
      projection_of<PlacementFacts>("status"),
      projection_of<PlacementDecisionFacts>("status.decisions.*.reason"),
      projection_of<AddOnPlacementScoreFacts>("spec"),
      projection_of<SecretFacts>(),
      projection_of<CustomResourceDefinitionFacts>("spec.conversion status"),
      projection_of<MutatingAdmissionPolicyFacts>("spec")};
  return kAll;
}

}  // namespace fairlead::projection
