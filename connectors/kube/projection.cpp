#include "connectors/kube/projection.h"

#include "connectors/kube/projection_fields.h"

namespace fairlead {
namespace {

// Stands for what `make` gives, so that it is made where it stays.
template <class T>
struct Made {
  T (*make)(JsonView);
  JsonView object;
  operator T() const { return make(object); }  // NOLINT: that is what it is for
};

template <class T>
void put(Facts& out, T (*make)(JsonView), JsonView object) {
  out.emplace<T>(Made<T>{make, object});
}

void set_facts(Facts& out, Kind kind, JsonView object) {
  switch (kind) {
    case Kind::node: return put(out, projection::node, object);
    case Kind::cluster_metrics: return put(out, projection::cluster_metrics, object);
    case Kind::managed_cluster: return put(out, projection::managed_cluster, object);
    case Kind::cluster_profile: return put(out, projection::cluster_profile, object);
    case Kind::resource_flavor: return put(out, projection::resource_flavor, object);
    case Kind::cluster_queue: return put(out, projection::cluster_queue, object);
    case Kind::local_queue: return put(out, projection::local_queue, object);
    case Kind::admission_check: return put(out, projection::admission_check, object);
    case Kind::multikueue_config: return put(out, projection::multikueue_config, object);
    case Kind::manifest_work: return put(out, projection::manifest_work, object);
    case Kind::claim: return put(out, projection::claim, object);
    case Kind::multikueue_cluster: return put(out, projection::multikueue_cluster, object);
    case Kind::placement: return put(out, projection::placement, object);
    case Kind::placement_decision: return put(out, projection::placement_decision, object);
    case Kind::addon_placement_score: return put(out, projection::addon_placement_score, object);
    case Kind::workload: return put(out, projection::workload, object);
    case Kind::secret: return put(out, projection::secret, object);
    case Kind::custom_resource_definition:
      return put(out, projection::custom_resource_definition, object);
    case Kind::binding_policy: return put(out, projection::binding_policy, object);
  }
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

bool is_read(Kind kind, std::string_view name) {
  switch (kind) {
    case Kind::manifest_work:
    case Kind::binding_policy: return name.starts_with("fairlead-");
    case Kind::custom_resource_definition:
      return name == "multikueueconfigs.kueue.x-k8s.io" ||
             name == "multikueueclusters.kueue.x-k8s.io";
    default: return true;
  }
}

ObjectIdentity identity_of(JsonView object) {
  ObjectIdentity out;
  // One pass over metadata instead of one a field.
  for (JsonView member : object["metadata"]) {
    const std::string_view name = member.key();
    switch (name.size()) {
      case 3:
        if (name == "uid") out.uid = member.string();
        break;
      case 4:
        if (name == "name") out.name = member.string();
        break;
      case 9:
        if (name == "namespace") out.name_space = member.string();
        break;
      case 10:
        if (name == "generation") out.generation = member.integer().value_or(0);
        break;
      case 15:
        if (name == "resourceVersion") out.resource_version = member.string();
        break;
      default: break;
    }
  }
  return out;
}

bool project_into(ObjectSeen& out, Kind kind, std::string_view version, JsonView object,
                  const ObjectIdentity& identity) {
  if (!is_read(kind, identity.name)) return false;
  out.key.kind = kind;
  out.key.name = identity.name;
  if (info(kind).namespaced) out.key.namespace_ = identity.name_space;
  out.uid = identity.uid;
  out.resource_version = identity.resource_version;
  out.generation = identity.generation;
  out.version = version;
  set_facts(out.facts, kind, object);
  return true;
}

Result<std::optional<ObjectSeen>> project_as(Kind kind, std::string_view version, JsonView object) {
  const ObjectIdentity identity = identity_of(object);
  if (identity.name.empty())
    return Error{ErrorCode::bad_input, std::string(info(kind).name) + ": metadata.name is missing"};
  std::optional<ObjectSeen> out(std::in_place);
  if (!project_into(*out, kind, version, object, identity)) out.reset();
  return out;
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

bool people_write(Kind kind) {
  switch (kind) {
    case Kind::claim:
    case Kind::cluster_queue:
    case Kind::local_queue:
    case Kind::resource_flavor:
    case Kind::admission_check:
    case Kind::multikueue_config:
    case Kind::multikueue_cluster:
    case Kind::placement: return true;
    case Kind::node:
    case Kind::cluster_metrics:
    case Kind::managed_cluster:
    case Kind::cluster_profile:
    case Kind::manifest_work:
    case Kind::placement_decision:
    case Kind::addon_placement_score:
    case Kind::workload:
    case Kind::secret:
    case Kind::custom_resource_definition:
    case Kind::binding_policy: return false;
  }
  return false;
}

std::string not_too_long(std::string text) { return text.size() <= kRawBytesMax ? text : ""; }

// Reads the line again: a tree of what projections read is not all that people wrote.
std::string kept_of_line(std::string_view line) {
  JsonFault fault;
  const auto read = parse_json(line, fault);
  return read ? not_too_long(raw_text(read->root()["object"])) : std::string();
}

}  // namespace

std::string raw_to_keep(Kind kind, JsonView object) {
  if (!people_write(kind)) return "";
  return not_too_long(raw_text(object));
}

RawObject raw_of_line(Kind kind, std::string_view line) {
  if (!people_write(kind)) return {};
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
