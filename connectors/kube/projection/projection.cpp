#include "connectors/kube/projection/projection.h"

#include <algorithm>
#include <array>
#include <utility>

#include "connectors/kube/projection/projection_fields.h"
#include "engine/base/check.h"

namespace fairlead {
namespace {

const projection::KindProjection& projection_of_kind(Kind kind) {
  using namespace projection;
  static const auto kAll = [] {
    std::array<const KindProjection*, kKindCount> all{};
    for (const auto& family :
         {capacity_projections(), claim_projections(), device_claim_projections(),
          device_projections(), fleet_projections(), kueue_projections(), multikueue_projections(),
          pool_projections(), workload_projections()})
      for (const KindProjection& one : family) all[static_cast<std::size_t>(one.kind)] = &one;
    check(std::find(all.begin(), all.end(), nullptr) == all.end(), "each kind has a projection");
    return all;
  }();
  return *kAll[static_cast<std::size_t>(kind)];
}

Facts facts_of(Kind kind, std::string_view version, JsonView object, ObjectRefusal& refused) {
  projection::ApiReading api{version, refused};
  return projection_of_kind(kind).make(object, api);
}

}  // namespace

std::string_view unread_fields(Kind kind) { return projection_of_kind(kind).unread; }

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
  const auto [name, namespace_, uid, version, generation] =
      object["metadata"].members("name", "namespace", "uid", "resourceVersion", "generation");
  return {name.string(), namespace_.string(), uid.string(), version.string(),
          generation.integer().value_or(0)};
}

ObjectSeen seen_of(Kind kind, std::string_view version, JsonView object,
                   const ObjectIdentity& identity, ObjectRefusal& refused) {
  return {.key = {kind, std::string(is_namespaced(kind) ? identity.namespace_ : ""),
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
  if (kind == Kind::config_map && identity.namespace_ != "kube-system")
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
  if (!info(kind).has(kIsByPeople)) return "";
  return not_too_long(raw_text(object));
}

RawObject raw_of_line(Kind kind, std::string_view line) {
  if (!info(kind).has(kIsByPeople)) return {};
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
