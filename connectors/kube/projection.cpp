#include "connectors/kube/projection.h"

#include "connectors/kube/projection_fields.h"

namespace fairlead {
namespace {

Facts facts_of(Kind kind, JsonView object) {
  switch (kind) {
    case Kind::node: return projection::node(object);
    case Kind::cluster_metrics: return projection::cluster_metrics(object);
    case Kind::managed_cluster: return projection::managed_cluster(object);
    case Kind::cluster_profile: return projection::cluster_profile(object);
    case Kind::resource_flavor: return projection::resource_flavor(object);
    case Kind::cluster_queue: return projection::cluster_queue(object);
    case Kind::local_queue: return projection::local_queue(object);
    case Kind::admission_check: return projection::admission_check(object);
    case Kind::multikueue_config: return projection::multikueue_config(object);
    case Kind::manifest_work: return projection::manifest_work(object);
    case Kind::claim: return projection::claim(object);
  }
  return NodeFacts{};
}

// `versions` is a list separated by commas.
bool lists(std::string_view versions, std::string_view version) {
  while (!versions.empty()) {
    const std::size_t comma = versions.find(',');
    if (versions.substr(0, comma) == version) return true;
    if (comma == std::string_view::npos) break;
    versions.remove_prefix(comma + 1);
  }
  return false;
}

}  // namespace

GroupVersion split_api_version(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {{}, api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

Result<std::optional<ObjectSeen>> project(JsonView object) {
  const auto [group, version] = split_api_version(object["apiVersion"].string());
  const auto kind = find_kind(group, object["kind"].string());
  if (!kind || !lists(info(*kind).versions, version)) return std::optional<ObjectSeen>{};
  return project_as(*kind, version, object);
}

Result<std::optional<ObjectSeen>> project_as(Kind kind, std::string_view version, JsonView object) {
  JsonView metadata = object["metadata"];
  ObjectSeen out;
  out.key.kind = kind;
  out.key.name = metadata["name"].string();
  if (out.key.name.empty())
    return Error{ErrorCode::bad_input, std::string(info(kind).name) + ": metadata.name is missing"};
  if (kind == Kind::manifest_work && !out.key.name.starts_with("fairlead-"))
    return std::optional<ObjectSeen>{};
  if (info(kind).namespaced) out.key.namespace_ = metadata["namespace"].string();
  out.version = version;
  out.uid = metadata["uid"].string();
  out.resource_version = metadata["resourceVersion"].string();
  out.generation = metadata["generation"].integer().value_or(0);
  out.facts = facts_of(kind, object);
  return std::optional<ObjectSeen>(std::move(out));
}

namespace {

// Copies `value` without what must not be kept. `parent` is the name under which it hangs.
void copy_kept(JsonDocument& out, JsonView value, std::string_view parent) {
  if (value.is(JsonKind::array)) {
    out.open(JsonKind::array, value.key());
    for (JsonView item : value) copy_kept(out, item, value.key());
    out.close();
    return;
  }
  if (!value.is(JsonKind::object)) {
    out.leaf(value.kind(), value.key(), value.text());
    return;
  }
  const bool secret = value["kind"].string() == "Secret";
  out.open(JsonKind::object, value.key());
  for (JsonView member : value) {
    const std::string_view name = member.key();
    if (value.key() == "metadata" && name == "managedFields") continue;
    if (value.key() == "annotations" && name == "kubectl.kubernetes.io/last-applied-configuration")
      continue;
    if (secret && (name == "data" || name == "stringData")) continue;
    if (parent == "env" && name == "value") continue;
    copy_kept(out, member, name);
  }
  out.close();
}

}  // namespace

std::string raw_text(JsonView object) {
  if (!object.given()) return "null";
  JsonDocument kept;
  copy_kept(kept, object, {});
  return canonical_text(kept.root());
}

}  // namespace fairlead
