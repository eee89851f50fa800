// The server's own actions for some kinds: it empties namespaces, encodes Secrets that were written
// as text, and serves the kinds of definitions.
#include "engine/base/base64.h"
#include "engine/fleet/model/model_state.h"

namespace fairlead::model {
namespace {

bool is_kind(const ResourceDefinition& definition, const char* group, const char* plural) {
  return definition.group == group && definition.plural == plural;
}

void prepare_secret(Json& object) {
  auto text = object.find("stringData");
  if (text == object.end()) return;
  if (text->is_object())
    for (const auto& [name, value] : text->items())
      if (value.is_string()) object["data"][name] = encode_base64(value.get<std::string>());
  object.erase("stringData");
}

void complete_namespace(Json& object) {
  if (!object["metadata"].contains("deletionTimestamp")) {
    object["spec"]["finalizers"] = {"kubernetes"};
    object["status"]["phase"] = "Active";
  }
}

/// Completes a Node on a write: the writer of a condition owns these fields.
void prepare_node(Json& object) {
  const auto status = object.find("status");
  if (status == object.end() || !status->is_object() || !status->contains("conditions")) return;
  for (Json& condition : (*status)["conditions"])
    if (condition.is_object())
      for (const char* moment : {"lastHeartbeatTime", "lastTransitionTime"})
        if (!condition.contains(moment)) condition[moment] = nullptr;
}

/// Adds the fields that a server's own types always have, and that no manager owns.
void complete_node(Json& object) {
  if (!object["spec"].is_object()) object["spec"] = Json::object();
  Json& status = object["status"];
  if (!status.is_object()) status = Json::object();
  if (!status.contains("daemonEndpoints")) status["daemonEndpoints"]["kubeletEndpoint"]["Port"] = 0;
  Json& software = status["nodeInfo"];
  if (!software.is_object()) software = Json::object();
  for (const char* text :
       {"machineID", "systemUUID", "bootID", "kernelVersion", "osImage", "containerRuntimeVersion",
        "kubeletVersion", "kubeProxyVersion", "operatingSystem", "architecture"})
    if (!software.contains(text)) software[text] = "";
}

void complete_pod(Json& object) {
  Json& status = object["status"];
  if (!status.is_object()) status = Json::object();
  if (!status.contains("phase")) status["phase"] = "Pending";
}

}  // namespace

void Model::State::prepare_built_in(const ResourceDefinition& definition, Json& object) const {
  if (is_kind(definition, "", "secrets")) prepare_secret(object);
  if (is_kind(definition, "", "nodes")) prepare_node(object);
  if (is_kind(definition, "", "namespaces"))
    object["metadata"]["labels"]["kubernetes.io/metadata.name"] =
        object["metadata"].value("name", "");
}

void Model::State::complete_built_in(const ResourceDefinition& definition, Json& object) const {
  if (is_kind(definition, "", "namespaces")) complete_namespace(object);
  if (is_kind(definition, "", "nodes")) complete_node(object);
  if (is_kind(definition, "", "pods")) complete_pod(object);
  if (is_kind(definition, "apiextensions.k8s.io", "customresourcedefinitions") &&
      !object.contains("status")) {
    Json stored = Json::array();
    for (const Json& version : object["spec"].value("versions", Json::array()))
      if (version.value("storage", false)) stored.push_back(version.value("name", ""));
    Json conditions = Json::array();
    for (const char* type : {"NamesAccepted", "Established"})
      conditions.push_back({{"type", type},
                            {"status", "True"},
                            {"reason", "Accepted"},
                            {"lastTransitionTime", now_text()},
                            {"message", "served"}});
    object["status"] = {{"acceptedNames", object["spec"].value("names", Json::object())},
                        {"conditions", std::move(conditions)},
                        {"storedVersions", std::move(stored)}};
  }
}

Outcome<std::monostate> Model::State::after_write(const ResourceDefinition& definition,
                                                  const Json& object) {
  if (!is_kind(definition, "apiextensions.k8s.io", "customresourcedefinitions"))
    return std::monostate();
  Result<ResourceDefinition> served = read_crd(object);
  if (!served)
    return invalid({definition.group, definition.kind, object["metadata"].value("name", "")},
                   {{"spec", "FieldValueInvalid", "Invalid value: " + served.error().message}});
  add_definition(std::move(*served));
  return std::monostate();
}

void Model::State::after_removal(const ResourceDefinition& definition, const Json& last) {
  if (is_kind(definition, "apiextensions.k8s.io", "customresourcedefinitions")) {
    const Json spec = last["spec"];
    remove_definition(spec["names"].value("plural", "") + "." + spec.value("group", ""));
  }
  if (definition.namespaced) drain_namespace(last["metadata"].value("namespace", ""));
}

Outcome<std::monostate> Model::State::check_namespace(const ResourceRequest& request) const {
  if (!request.definition->namespaced) return std::monostate();
  ObjectRef found = store.find("namespaces.", request.namespace_);
  if (!found) return not_found({"", "namespaces", request.namespace_});
  if (!(*found)["metadata"].contains("deletionTimestamp")) return std::monostate();
  return failure(403, "Forbidden",
                 request.definition->plural + " \"" + request.name +
                     "\" is forbidden: unable to create new content in "
                     "namespace " +
                     request.namespace_ + " because it is being terminated");
}

const Change& Model::State::commit(const std::string& resource, const std::string& key,
                                   Json object) {
  const Change& change = store.put(resource, key, std::move(object));
  publish(change);
  return change;
}

void Model::State::erase(const ResourceDefinition& definition, const std::string& key) {
  const Change change = store.remove(definition.plural + "." + definition.group, key);
  publish(change);
  after_removal(definition, *change.last);
}

/// Removes the objects of a namespace that is being deleted, then the namespace. Objects with
/// finalizers stay, and the namespace with them.
void Model::State::drain_namespace(const std::string& name) {
  ObjectRef found = store.find("namespaces.", name);
  if (!found || !(*found)["metadata"].contains("deletionTimestamp")) return;
  std::vector<std::pair<const ResourceDefinition*, std::string>> content;
  for (const auto& [resource, definition] : definitions) {
    if (!definition->namespaced) continue;
    for (const auto& entry : store.objects(resource))
      if (entry.first.starts_with(name + "/")) content.emplace_back(definition.get(), entry.first);
  }
  for (const auto& [definition, key] : content) {
    const std::string resource = definition->plural + "." + definition->group;
    ObjectRef object = store.find(resource, key);
    if (!object) continue;  // removed together with another one
    if ((*object)["metadata"].value("finalizers", Json::array()).empty()) {
      erase(*definition, key);
      continue;
    }
    if ((*object)["metadata"].contains("deletionTimestamp")) continue;
    Json marked = *object;
    marked["metadata"]["deletionTimestamp"] = now_text();
    marked["metadata"]["deletionGracePeriodSeconds"] = 0;
    commit(resource, key, std::move(marked));
  }
  for (const auto& [resource, definition] : definitions)
    if (definition->namespaced)
      for (const auto& entry : store.objects(resource))
        if (entry.first.starts_with(name + "/")) return;
  if (store.find("namespaces.", name)) erase(*find("", "namespaces"), name);
}

}  // namespace fairlead::model
