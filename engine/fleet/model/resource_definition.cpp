#include "engine/fleet/model/resource_definition.h"

#include <algorithm>
#include <tuple>

#include "engine/base/check.h"
#include "engine/fleet/model/embedded_files.h"
#include "engine/fleet/model/yaml.h"

namespace fairlead::model {
namespace {

std::vector<std::string> texts(const Json& from, const char* key) {
  std::vector<std::string> found;
  if (auto list = from.find(key); list != from.end() && list->is_array())
    for (const Json& item : *list) found.push_back(item.get<std::string>());
  return found;
}

std::vector<PrinterColumn> read_columns(const Json& version) {
  std::vector<PrinterColumn> columns;
  for (const Json& column : version.value("additionalPrinterColumns", Json::array()))
    columns.push_back({column.value("name", ""), column.value("type", "string"),
                       column.value("format", ""), column.value("jsonPath", ""),
                       column.value("description", ""), column.value("priority", std::int64_t{0})});
  return columns;
}

/// Sorts as kube-aware version order does: GA before beta before alpha, higher before lower.
std::tuple<int, int, int> version_rank(const std::string& name) {
  const int stability = name.find("alpha") != std::string::npos  ? 0
                        : name.find("beta") != std::string::npos ? 1
                                                                 : 2;
  int major = 0, minor = 0;
  std::size_t i = 1;
  while (i < name.size() && name[i] >= '0' && name[i] <= '9')
    major = major * 10 + (name[i++] - '0');
  while (i < name.size() && (name[i] < '0' || name[i] > '9')) ++i;
  while (i < name.size() && name[i] >= '0' && name[i] <= '9')
    minor = minor * 10 + (name[i++] - '0');
  return {-stability, -major, -minor};
}

Result<ResourceVersion> read_version(const Json& from, const ResourceDefinition& of) {
  ResourceVersion version;
  version.name = from.value("name", "");
  version.served = from.value("served", true);
  version.storage = from.value("storage", false);
  version.has_status = from.value("subresources", Json::object()).contains("status");
  version.columns = read_columns(from);
  version.openapi = from.value("schema", Json::object()).value("openAPIV3Schema", Json::object());
  if (from.value("deprecated", false))
    version.deprecation = from.value(
        "deprecationWarning", of.group + "/" + version.name + " " + of.kind + " is deprecated");
  Result<SchemaRef> schema = read_schema(version.openapi);
  if (!schema) return in_context(version.name, schema.error());
  version.schema = with_object_meta(*schema);
  return version;
}

Result<ResourceDefinition> read_definition(const Json& spec) {
  ResourceDefinition definition;
  const Json names = spec.value("names", Json::object());
  definition.group = spec.value("group", "");
  definition.kind = names.value("kind", "");
  definition.list_kind = names.value("listKind", definition.kind + "List");
  definition.plural = names.value("plural", "");
  definition.singular = names.value("singular", "");
  definition.short_names = texts(names, "shortNames");
  definition.categories = texts(names, "categories");
  definition.namespaced = spec.value("scope", "") == "Namespaced";
  definition.selectable_fields = {"metadata.name"};
  if (definition.namespaced) definition.selectable_fields.emplace_back("metadata.namespace");
  for (const std::string& path : texts(spec, "x-selectable-fields"))
    definition.selectable_fields.push_back(path);
  for (const Json& version : spec.value("versions", Json::array())) {
    for (const Json& field : version.value("selectableFields", Json::array()))
      definition.selectable_fields.push_back(field.value("jsonPath", ".").substr(1));
    Result<ResourceVersion> read = read_version(version, definition);
    if (!read) return in_context(definition.plural, read.error());
    definition.versions.push_back(std::move(*read));
  }
  if (definition.kind.empty() || definition.plural.empty() || definition.versions.empty())
    return Error{ErrorCode::bad_input, "a definition needs names and a version"};
  std::sort(
      definition.versions.begin(), definition.versions.end(),
      [](const auto& a, const auto& b) { return version_rank(a.name) < version_rank(b.name); });
  return definition;
}

}  // namespace

const ResourceVersion* ResourceDefinition::version(std::string_view name) const {
  for (const ResourceVersion& candidate : versions)
    if (candidate.name == name && candidate.served) return &candidate;
  return nullptr;
}

const ResourceVersion& ResourceDefinition::storage_version() const {
  for (const ResourceVersion& candidate : versions)
    if (candidate.storage) return candidate;
  return versions.front();
}

std::string ResourceDefinition::api_version(const ResourceVersion& of) const {
  return group.empty() ? of.name : group + "/" + of.name;
}

Result<ResourceDefinition> read_crd(const Json& crd) {
  try {
    return read_definition(crd.value("spec", Json::object()));
  } catch (const Json::exception& error) {
    return Error{ErrorCode::bad_input, error.what()};
  }
}

// Parsed once per process: a simulation makes hundreds of models, and YAML took most of their
// beginning.
const std::vector<Json>& fairlead_crds() {
  static const std::vector<Json> crds = [] {
    std::vector<Json> parsed;
    for (const EmbeddedFile& file : embedded_files()) {
      if (file.name == kBuiltInFile) continue;
      Result<Json> crd = parse_yaml(file.text);
      check(crd.has_value(), "schema/crd holds YAML");
      parsed.push_back(std::move(*crd));
    }
    return parsed;
  }();
  return crds;
}

std::vector<ResourceDefinition> built_in_resources() {
  static const std::vector<Json> documents = [] {
    const auto file = std::ranges::find(embedded_files(), kBuiltInFile, &EmbeddedFile::name);
    check(file != embedded_files().end(), "there are built-in kinds");
    Result<std::vector<Json>> parsed = parse_yaml_documents(file->text);
    check(parsed.has_value(), "built_in.yaml is YAML");
    return std::move(*parsed);
  }();
  std::vector<ResourceDefinition> definitions;
  for (const Json& document : documents) {
    Result<ResourceDefinition> definition = read_crd(document);
    check(definition.has_value(), "built_in.yaml holds definitions");
    definition->origin = Origin::built_in;
    definition->has_generation = definition->group == "apiextensions.k8s.io";
    definitions.push_back(std::move(*definition));
  }
  return definitions;
}

}  // namespace fairlead::model
