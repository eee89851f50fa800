#include "connectors/kube/projection.h"

#include "connectors/kube/projection_fields.h"

namespace fairlead {
namespace {

void set_facts(Facts& out, Kind kind, JsonView object) {
  switch (kind) {
    case Kind::node: out = projection::node(object); return;
    case Kind::cluster_metrics: out = projection::cluster_metrics(object); return;
    case Kind::managed_cluster: out = projection::managed_cluster(object); return;
    case Kind::cluster_profile: out = projection::cluster_profile(object); return;
    case Kind::resource_flavor: out = projection::resource_flavor(object); return;
    case Kind::cluster_queue: out = projection::cluster_queue(object); return;
    case Kind::local_queue: out = projection::local_queue(object); return;
    case Kind::admission_check: out = projection::admission_check(object); return;
    case Kind::multikueue_config: out = projection::multikueue_config(object); return;
    case Kind::manifest_work: out = projection::manifest_work(object); return;
    case Kind::claim: out = projection::claim(object); return;
    case Kind::multikueue_cluster: out = projection::multikueue_cluster(object); return;
    case Kind::placement: out = projection::placement(object); return;
    case Kind::placement_decision: out = projection::placement_decision(object); return;
    case Kind::addon_placement_score: out = projection::addon_placement_score(object); return;
    case Kind::workload: out = projection::workload(object); return;
    case Kind::secret: out = projection::secret(object); return;
    case Kind::custom_resource_definition:
      out = projection::custom_resource_definition(object);
      return;
    case Kind::binding_policy: out = projection::binding_policy(object); return;
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

bool project_into(ObjectSeen& out, Kind kind, std::string_view version, JsonView object) {
  JsonView metadata = object["metadata"];
  out.key.kind = kind;
  // One pass over metadata instead of one a field.
  for (JsonView member : metadata) {
    const std::string_view name = member.key();
    if (name == "name")
      out.key.name = member.string();
    else if (name == "namespace" && info(kind).namespaced)
      out.key.namespace_ = member.string();
    else if (name == "uid")
      out.uid = member.string();
    else if (name == "resourceVersion")
      out.resource_version = member.string();
    else if (name == "generation")
      out.generation = member.integer().value_or(0);
  }
  if (!is_read(kind, out.key.name)) return false;
  out.version = version;
  set_facts(out.facts, kind, object);
  return true;
}

Result<std::optional<ObjectSeen>> project_as(Kind kind, std::string_view version, JsonView object) {
  if (object["metadata"]["name"].string().empty())
    return Error{ErrorCode::bad_input, std::string(info(kind).name) + ": metadata.name is missing"};
  std::optional<ObjectSeen> out(std::in_place);
  if (!project_into(*out, kind, version, object)) out.reset();
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
