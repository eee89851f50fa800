#include "connectors/kube/projection/projection.h"

#include "connectors/kube/projection/projection_fields.h"
#include "engine/base/made.h"

namespace fairlead {
namespace {

Facts facts_of(Kind kind, std::string_view version, JsonView object, ObjectRefusal& refused) {
  const auto made = [object]<class T>(T (*make)(JsonView)) {
    return Facts(std::in_place_type<T>, Made([make, object] { return make(object); }));
  };
  projection::ApiReading api{version, refused};
  const auto made_or_refused = [&]<class T>(T (*make)(JsonView, projection::ApiReading&)) {
    return Facts(std::in_place_type<T>, Made([&] { return make(object, api); }));
  };
  switch (kind) {
    case Kind::node: return made_or_refused(projection::node);
    case Kind::cluster_metrics: return made_or_refused(projection::cluster_metrics);
    case Kind::managed_cluster: return made_or_refused(projection::managed_cluster);
    case Kind::cluster_profile: return made(projection::cluster_profile);
    case Kind::resource_flavor: return made(projection::resource_flavor);
    case Kind::cluster_queue: return made(projection::cluster_queue);
    case Kind::local_queue: return made(projection::local_queue);
    case Kind::admission_check: return made(projection::admission_check);
    case Kind::multikueue_config: return made(projection::multikueue_config);
    case Kind::manifest_work: return made(projection::manifest_work);
    case Kind::claim: return made(projection::claim);
    case Kind::multikueue_cluster: return made(projection::multikueue_cluster);
    case Kind::placement: return made(projection::placement);
    case Kind::placement_decision: return made(projection::placement_decision);
    case Kind::addon_placement_score: return made(projection::addon_placement_score);
    case Kind::workload: return made(projection::workload);
    case Kind::secret: return made(projection::secret);
    case Kind::custom_resource_definition: return made(projection::custom_resource_definition);
    case Kind::binding_policy: return made(projection::binding_policy);
    case Kind::cohort: return made(projection::cohort);
    case Kind::mutating_admission_policy: return made(projection::mutating_admission_policy);
    case Kind::virtual_cluster: return made(projection::virtual_cluster);
    case Kind::namespace_: return made(projection::namespace_of);
    case Kind::resource_quota: return made(projection::resource_quota);
    case Kind::pod: return made(projection::pod);
    case Kind::resource_slice: return made_or_refused(projection::resource_slice);
    case Kind::device_class: return made_or_refused(projection::device_class);
    case Kind::resource_claim: return made_or_refused(projection::resource_claim);
    case Kind::resource_claim_template: return made_or_refused(projection::resource_claim_template);
    case Kind::device_taint_rule: return made_or_refused(projection::device_taint_rule);
    case Kind::fleet_resource_class: return made(projection::fleet_resource_class);
    case Kind::fleet_resource_claim: return made(projection::fleet_resource_claim);
    case Kind::fleet_resource_claim_template:
      return made(projection::fleet_resource_claim_template);
    case Kind::fleet_scheduling: return made(projection::fleet_scheduling);
    case Kind::topology: return made(projection::topology);
    case Kind::config_map: break;
  }
  return made(projection::config_map);
}

}  // namespace

bool reads_version(Kind kind, std::string_view version) {
  std::string_view versions = info(kind).versions;  // separated by commas
  while (!versions.empty()) {
    const std::size_t comma = versions.find(',');
    if (versions.substr(0, comma) == version) return true;
    if (comma == std::string_view::npos) break;
    versions.remove_prefix(comma + 1);
  }
  return false;
}

GroupVersion split_api_version(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {{}, api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

Result<std::optional<ObjectSeen>> project(JsonView object) {
  const auto [group, version] = split_api_version(object["apiVersion"].string());
  const auto kind = find_kind(group, object["kind"].string());
  if (!kind || !reads_version(*kind, version)) return std::optional<ObjectSeen>{};
  return project_as(*kind, version, object);
}

bool is_read(Kind kind, std::string_view name) {
  if (kind == Kind::manifest_work || kind == Kind::binding_policy)
    return name.starts_with("fairlead-");
  if (kind == Kind::custom_resource_definition)
    return name == "multikueueconfigs.kueue.x-k8s.io" ||
           name == "multikueueclusters.kueue.x-k8s.io";
  if (kind == Kind::config_map) return name == "supercluster-info";
  return true;
}

std::string other_kind(Kind kind, JsonView object) {
  const std::string_view is = object["kind"].string();
  // Items of a list have none, and of some kinds the metadata alone is asked for.
  if (is.empty() || is == info(kind).name || is == "PartialObjectMetadata") return {};
  return "kind: expected " + std::string(info(kind).name);
}

ObjectIdentity identity_of(JsonView object) {
  const auto [name, name_space, uid, version, generation] =
      object["metadata"].members("name", "namespace", "uid", "resourceVersion", "generation");
  return {name.string(), name_space.string(), uid.string(), version.string(),
          generation.integer().value_or(0)};
}

ObjectSeen seen_of(Kind kind, std::string_view version, JsonView object,
                   const ObjectIdentity& identity, ObjectRefusal& refused) {
  return {.key = {kind, std::string(is_namespaced(kind) ? identity.name_space : ""),
                  std::string(identity.name)},
          .version = std::string(version),
          .uid = std::string(identity.uid),
          .resource_version = std::string(identity.resource_version),
          .generation = identity.generation,
          .facts = facts_of(kind, version, object, refused),
          .raw = {},
          .writers = has_quota_writers(kind) ? projection::quota_writers(object)
                                             : std::vector<FieldWriter>()};
}

Result<std::optional<ObjectSeen>> project_as(Kind kind, std::string_view version, JsonView object) {
  const ObjectIdentity identity = identity_of(object);
  if (identity.name.empty())
    return Error{ErrorCode::bad_input, std::string(info(kind).name) + ": metadata.name is missing"};
  if (const std::string other = other_kind(kind, object); !other.empty())
    return Error{ErrorCode::bad_input, std::string(info(kind).name) + ": " + other};
  if (!is_read(kind, identity.name)) return std::optional<ObjectSeen>{};
  if (kind == Kind::config_map && identity.name_space != "kube-system")
    return std::optional<ObjectSeen>{};
  ObjectRefusal refused;
  std::optional<ObjectSeen> seen = seen_of(kind, version, object, identity, refused);
  if (refused)
    return Error{ErrorCode::bad_input, std::string(info(kind).name) + ": " + refused.why()};
  return seen;
}

namespace {

// The first may repeat what is cut out elsewhere; the second is a kubeconfig.
bool is_secret_annotation(std::string_view name) {
  return name == "kubectl.kubernetes.io/last-applied-configuration" ||
         name == "tenancy.x-k8s.io/admin-kubeconfig";
}

// Copies `value` without the fields that must not be kept. `parent` is its name in its object.
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
  // Also one that another object embeds.
  const bool secret = value["kind"].string() == "Secret";
  out.open(JsonKind::object, value.key());
  for (JsonView member : value) {
    const std::string_view name = member.key();
    if (value.key() == "metadata" && name == "managedFields") continue;
    if (value.key() == "annotations" && is_secret_annotation(name)) continue;
    if (secret && (name == "data" || name == "stringData")) continue;
    // Values of environment variables may be secrets.
    if (parent == "env" && name == "value") continue;
    copy_kept(out, member, name);
  }
  out.close();
}

std::string not_too_long(std::string text) { return text.size() <= kRawBytesMax ? text : ""; }

// Parses the line again: the tree of a stream lacks fields that no projection reads, and the raw
// text has all that people wrote.
std::string kept_of_line(std::string_view line) {
  JsonFault fault;
  const auto read = parse_json(line, fault);
  return read ? not_too_long(raw_text(read->root()["object"])) : std::string();
}

}  // namespace

std::string raw_to_keep(Kind kind, JsonView object) {
  if (!info(kind).has(kByPeople)) return "";
  return not_too_long(raw_text(object));
}

RawObject raw_of_line(Kind kind, std::string_view line) {
  if (!info(kind).has(kByPeople)) return {};
  if (line.size() > kRawBytesMax) return {kept_of_line(line), nullptr};
  return {std::string(line), kept_of_line};
}

std::string raw_text(JsonView object) {
  if (!object.given()) return "null";
  JsonDocument kept;
  copy_kept(kept, object, {});
  return canonical_text(kept.root());
}

}  // namespace fairlead
