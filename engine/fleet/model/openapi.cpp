#include "engine/fleet/model/openapi.h"

#include <map>

#include "engine/base/digest.h"

namespace fairlead::model {
namespace {

using Definitions = std::vector<const ResourceDefinition*>;
constexpr const char* kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

/// `kueue.x-k8s.io` -> `io.x-k8s.kueue`.
std::string reversed(const std::string& group) {
  std::string out;
  std::size_t end = group.size();
  while (true) {
    const std::size_t dot = end == 0 ? std::string::npos : group.rfind('.', end - 1);
    const std::size_t begin = dot == std::string::npos ? 0 : dot + 1;
    out += (out.empty() ? "" : ".") + group.substr(begin, end - begin);
    if (dot == std::string::npos) return out;
    end = dot;
  }
}

std::string schema_name(const ResourceDefinition& definition, const ResourceVersion& version) {
  const std::string prefix =
      definition.group.empty() ? "io.k8s.api.core" : reversed(definition.group);
  return prefix + "." + version.name + "." + definition.kind;
}

Json reference(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

Json group_version_kind(const ResourceDefinition& definition, const ResourceVersion& version) {
  return {{"group", definition.group}, {"version", version.name}, {"kind", definition.kind}};
}

Json text(const char* description) { return {{"type", "string"}, {"description", description}}; }

/// ObjectMeta in our own words: enough for `kubectl explain x.metadata`.
Json object_meta() {
  const Json strings{{"type", "object"}, {"additionalProperties", {{"type", "string"}}}};
  Json labels = strings, annotations = strings;
  labels["description"] = "Labels that selectors match.";
  annotations["description"] = "Notes of tools.";
  return {
      {"type", "object"},
      {"description", "What every object has."},
      {"properties",
       {{"name", text("Name, unique among the kind and namespace.")},
        {"generateName", text("Prefix of a name that the server makes.")},
        {"namespace", text("Namespace; empty for cluster-scoped kinds.")},
        {"uid", text("Identity in time and space.")},
        {"resourceVersion", text("Version; compare only for equality.")},
        {"creationTimestamp",
         {{"type", "string"}, {"format", "date-time"}, {"description", "When it was made."}}},
        {"deletionTimestamp",
         {{"type", "string"}, {"format", "date-time"}, {"description", "When it was deleted."}}},
        {"deletionGracePeriodSeconds",
         {{"type", "integer"}, {"format", "int64"}, {"description", "Time to go."}}},
        {"generation",
         {{"type", "integer"},
          {"format", "int64"},
          {"description", "Counts changes of the spec."}}},
        {"labels", labels},
        {"annotations", annotations},
        {"finalizers",
         {{"type", "array"},
          {"items", {{"type", "string"}}},
          {"x-kubernetes-list-type", "set"},
          {"x-kubernetes-patch-strategy", "merge"},
          {"description", "Who must let go before it goes."}}},
        {"ownerReferences",
         {{"type", "array"},
          {"items", {{"type", "object"}}},
          {"description", "Whose part it is."}}},
        {"managedFields",
         {{"type", "array"},
          {"items", {{"type", "object"}}},
          {"description", "Who owns which field."}}}}}};
}

Json list_schema(const ResourceDefinition& definition, const ResourceVersion& version) {
  return {
      {"type", "object"},
      {"description", definition.list_kind + " is a list of " + definition.kind},
      {"required", {"items"}},
      {"properties",
       {{"apiVersion", {{"type", "string"}}},
        {"kind", {{"type", "string"}}},
        {"metadata", {{"allOf", {reference(std::string(kMeta) + "ListMeta")}}}},
        {"items", {{"type", "array"}, {"items", reference(schema_name(definition, version))}}}}},
      {"x-kubernetes-group-version-kind",
       {{{"group", definition.group}, {"version", version.name}, {"kind", definition.list_kind}}}}};
}

Json kind_schema(const ResourceDefinition& definition, const ResourceVersion& version) {
  Json schema = version.openapi;
  schema["properties"]["metadata"] = {
      {"description", "Name, labels, version and the rest that every object has."},
      {"allOf", {reference(std::string(kMeta) + "ObjectMeta")}}};
  schema["properties"]["apiVersion"] = text("Group and version of the form this object is in.");
  schema["properties"]["kind"] = text("What the object is.");
  schema["x-kubernetes-group-version-kind"] =
      Json::array({group_version_kind(definition, version)});
  return schema;
}

Json query_parameter(const char* name, const char* description) {
  return {{"name", name},
          {"in", "query"},
          {"description", description},
          {"schema", {{"type", "string"}}}};
}

Json operation(const ResourceDefinition& definition, const ResourceVersion& version,
               const char* action) {
  Json content{{"application/json", {{"schema", reference(schema_name(definition, version))}}}};
  return {{"operationId", std::string(action) + definition.kind + version.name},
          {"parameters",
           {query_parameter("dryRun", "All: nothing is stored."),
            query_parameter("fieldManager", "Who writes."),
            query_parameter("fieldValidation", "Ignore, Warn or Strict.")}},
          {"responses", {{"200", {{"description", "OK"}, {"content", std::move(content)}}}}},
          {"x-kubernetes-action", action},
          {"x-kubernetes-group-version-kind", group_version_kind(definition, version)}};
}

/// Adds the operations that kubectl reads: whether a kind can be listed, created and patched with
/// validation.
void add_paths(Json& paths, const ResourceDefinition& definition, const ResourceVersion& version) {
  const std::string root = definition.group.empty()
                               ? "/api/" + version.name
                               : "/apis/" + definition.group + "/" + version.name;
  const std::string collection =
      root + (definition.namespaced ? "/namespaces/{namespace}/" : "/") + definition.plural;
  paths[collection] = {{"get", operation(definition, version, "list")},
                       {"post", operation(definition, version, "post")}};
  const Json one{{"get", operation(definition, version, "get")},
                 {"put", operation(definition, version, "put")},
                 {"patch", operation(definition, version, "patch")},
                 {"delete", operation(definition, version, "delete")}};
  paths[collection + "/{name}"] = one;
  if (version.has_status) paths[collection + "/{name}/status"] = one;
}

Json document(const Definitions& served, const std::string& group,
              const std::string& version_name) {
  Json schemas{
      {std::string(kMeta) + "ObjectMeta", object_meta()},
      {std::string(kMeta) + "ListMeta",
       {{"type", "object"}, {"description", "Of which moment a list is, and how to go on."}}}};
  Json paths = Json::object();
  for (const ResourceDefinition* definition : served) {
    const ResourceVersion* version = definition->version(version_name);
    if (definition->group != group || version == nullptr) continue;
    schemas[schema_name(*definition, *version)] = kind_schema(*definition, *version);
    schemas[schema_name(*definition, *version) + "List"] = list_schema(*definition, *version);
    add_paths(paths, *definition, *version);
  }
  return {{"openapi", "3.0.0"},
          {"info", {{"title", "Fairlead API model"}, {"version", "v0.1.0"}}},
          {"paths", std::move(paths)},
          {"components", {{"schemas", std::move(schemas)}}}};
}

/// Every served group and version by its path: `api/v1`, `apis/GROUP/VERSION`.
std::map<std::string, std::pair<std::string, std::string>> documents_of(const Definitions& served) {
  std::map<std::string, std::pair<std::string, std::string>> found;
  for (const ResourceDefinition* definition : served)
    for (const ResourceVersion& version : definition->versions)
      if (version.served)
        found[definition->group.empty() ? "api/" + version.name
                                        : "apis/" + definition->group + "/" + version.name] = {
            definition->group, version.name};
  return found;
}

}  // namespace

std::optional<ApiAnswer> answer_openapi(const ApiRequest& request, const Definitions& served) {
  if (request.method != "GET" || !request.path.starts_with("/openapi/")) return std::nullopt;
  if (request.path == "/openapi/v2") {
    if (request.accept.find("proto") == std::string::npos)
      return json_answer({{"swagger", "2.0"},
                          {"info", {{"title", "Fairlead API model"}, {"version", "v0.1.0"}}},
                          {"paths", Json::object()}});
    ApiAnswer answer;
    answer.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    answer.body = std::string("\x0a\x03", 2) + "2.0";  // field 1, the string "2.0"
    return answer;
  }
  const auto documents = documents_of(served);
  if (request.path == "/openapi/v3" || request.path == "/openapi/v3/") {
    Json paths = Json::object();
    for (const auto& [path, of] : documents) {
      const std::string hash = sha256(to_text(document(served, of.first, of.second))).hex();
      paths[path] = {{"serverRelativeURL", "/openapi/v3/" + path + "?hash=" + hash}};
    }
    return json_answer({{"paths", std::move(paths)}});
  }
  constexpr std::string_view kPrefix = "/openapi/v3/";
  if (!request.path.starts_with(kPrefix)) return std::nullopt;
  auto found = documents.find(request.path.substr(kPrefix.size()));
  if (found == documents.end()) return std::nullopt;
  return json_answer(document(served, found->second.first, found->second.second));
}

}  // namespace fairlead::model
