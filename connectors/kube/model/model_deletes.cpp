// Deleting: one object, by its preconditions and finalizers, or all that a selector names.
#include "connectors/kube/model/model_state.h"
#include "connectors/kube/model/selector.h"

namespace fairlead::model {

Outcome<Json> Model::State::remove_one(ResourceRequest& request, const std::string& name,
                                       const Json& preconditions) {
  const ResourceDefinition& definition = *request.definition;
  const std::string key = request.key(name);
  ObjectRef stored = store.find(request.resource(), key);
  if (!stored) return not_found(request.named(name));
  const Json& metadata = stored->at("metadata");
  const std::string uid = metadata.value("uid", ""),
                    version = metadata.value("resourceVersion", "");
  if (const std::string wanted = preconditions.value("uid", uid); wanted != uid)
    return conflict({definition.group, definition.kind, name},
                    "the UID in the precondition (" + wanted +
                        ") does not match the UID in record (" + uid +
                        "). The object might have been deleted and then recreated");
  if (const std::string wanted = preconditions.value("resourceVersion", version); wanted != version)
    return conflict({definition.group, definition.kind, name},
                    "the ResourceVersion in the precondition (" + wanted +
                        ") does not match the ResourceVersion in record (" + version +
                        "). The object might have been modified");
  const bool dry = request.http.query_value("dryRun") == "All";
  const bool is_namespace = definition.group.empty() && definition.plural == "namespaces";
  if (!(*stored)["metadata"].value("finalizers", Json::array()).empty() || is_namespace) {
    Json marked = *stored;
    if (!marked["metadata"].contains("deletionTimestamp")) {
      marked["metadata"]["deletionTimestamp"] = now_text();
      marked["metadata"]["deletionGracePeriodSeconds"] = 0;
      if (definition.has_generation)
        marked["metadata"]["generation"] =
            marked["metadata"].value("generation", std::int64_t{0}) + 1;
      if (is_namespace) marked["status"]["phase"] = "Terminating";
      if (!dry) marked = *commit(request.resource(), key, std::move(marked)).after;
    }
    if (is_namespace && !dry) drain_namespace(name);
    return in_version(marked, definition, *request.version);
  }
  if (!dry) erase(definition, key);
  Json details{{"name", name}, {"kind", definition.plural}, {"uid", uid}};
  if (!definition.group.empty()) details["group"] = definition.group;
  return Json{{"kind", "Status"},
              {"apiVersion", "v1"},
              {"metadata", Json::object()},
              {"status", "Success"},
              {"details", std::move(details)}};
}

Outcome<ApiAnswer> Model::State::remove(ResourceRequest& request) {
  Json wanted = Json::object();
  if (!request.http.body.empty()) {
    wanted = Json::parse(request.http.body, nullptr, false);
    if (!wanted.is_object()) return bad_request("the body of a delete must be DeleteOptions");
  }
  Outcome<Json> removed =
      remove_one(request, request.name, wanted.value("preconditions", Json::object()));
  if (!removed) return removed.error();
  return object_answer(200, *removed);
}

Outcome<ApiAnswer> Model::State::remove_collection(ResourceRequest& request) {
  Outcome<Selector> selector = Selector::parse(request.http.query_value("labelSelector"),
                                               request.http.query_value("fieldSelector"),
                                               request.definition->selectable_fields);
  if (!selector) return selector.error();
  if (request.definition->namespaced && request.namespace_.empty()) return method_not_allowed();
  const std::string prefix = request.namespace_.empty() ? "" : request.namespace_ + "/";
  std::vector<std::string> names;
  Json items = Json::array();
  for (const auto& [key, object] : store.objects(request.resource()))
    if (key.starts_with(prefix) && selector->matches(*object)) {
      names.push_back(object->at("metadata").at("name"));
      items.push_back(in_version(*object, *request.definition, *request.version));
    }
  for (const std::string& name : names)
    if (Outcome<Json> removed = remove_one(request, name, Json::object()); !removed)
      return removed.error();
  Json metadata{{"resourceVersion", std::to_string(store.revision())}};
  if (request.definition->origin == Origin::custom) metadata["continue"] = "";
  return object_answer(200, {{"kind", request.definition->list_kind},
                             {"apiVersion", request.definition->api_version(*request.version)},
                             {"metadata", std::move(metadata)},
                             {"items", std::move(items)}});
}

}  // namespace fairlead::model
