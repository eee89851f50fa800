// Deletes one object, by its preconditions and finalizers, or all that a selector matches.
#include <algorithm>

#include "engine/fleet/model/model_state.h"
#include "engine/fleet/model/selector.h"

namespace fairlead::model {

namespace {

bool is_dry(const ApiRequest& request, const Json& options) {
  const Json runs = options.value("dryRun", Json::array());
  return request.query_value("dryRun") == "All" ||
         (runs.is_array() && runs.size() == 1 && runs.front() == "All");
}

/// The finalizer that the garbage collector of a real cluster removes again; empty for none.
std::string collector_of(const Json& options) {
  const std::string policy = options.value("propagationPolicy", "");
  if (policy == "Foreground") return "foregroundDeletion";
  return policy == "Orphan" ? "orphan" : "";
}

Outcome<Json> options_of(const ApiRequest& request) {
  if (request.body.empty()) return Json::object();
  Json options = read_json(request.body);
  if (!options.is_object()) return bad_request("the body of a delete must be DeleteOptions");
  return options;
}

void mark_deleted(Json& object, const std::string& moment, bool counts_generations) {
  Json& metadata = object["metadata"];
  if (metadata.contains("deletionTimestamp")) return;
  metadata["deletionTimestamp"] = moment;
  metadata["deletionGracePeriodSeconds"] = 0;
  if (counts_generations)
    metadata["generation"] = metadata.value("generation", std::int64_t{0}) + 1;
}

}  // namespace

Outcome<Json> Model::State::remove_one(ResourceRequest& request, const std::string& name,
                                       const Json& how) {
  const Json preconditions = how.value("preconditions", Json::object());
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
  const bool dry = is_dry(request.http, how);
  const bool is_namespace = definition.group.empty() && definition.plural == "namespaces";
  const std::string collector = is_namespace ? "" : collector_of(how);
  const Json finalizers = metadata.value("finalizers", Json::array());
  if (!finalizers.empty() || is_namespace || !collector.empty()) {
    Json marked = *stored;
    const bool known =
        std::find(finalizers.begin(), finalizers.end(), collector) != finalizers.end();
    if (!collector.empty() && !known) marked["metadata"]["finalizers"].push_back(collector);
    mark_deleted(marked, now_text(), definition.has_generation);
    if (is_namespace) marked["status"]["phase"] = "Terminating";
    if (!dry && marked != *stored)
      marked = *commit(request.resource(), key, std::move(marked)).after;
    if (is_namespace && !dry) drain_namespace(name);
    // No object of the model has owners, so the garbage collector has nothing to wait for.
    if (!collector.empty() && !known && !dry && finalizers.empty()) {
      erase(definition, key);
    } else if (!collector.empty() && !known && !dry) {
      Json collected = marked;
      collected["metadata"]["finalizers"] = finalizers;
      commit(request.resource(), key, std::move(collected));
    }
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
  Outcome<Json> wanted = options_of(request.http);
  if (!wanted) return wanted.error();
  Outcome<Json> removed = remove_one(request, request.name, *wanted);
  if (!removed) return removed.error();
  return object_answer(200, *removed);
}

Outcome<ApiAnswer> Model::State::remove_collection(ResourceRequest& request) {
  Outcome<Selector> selector = Selector::parse(request.http.query_value("labelSelector"),
                                               request.http.query_value("fieldSelector"),
                                               request.definition->selectable_fields);
  if (!selector) return selector.error();
  if (request.definition->namespaced && request.namespace_.empty()) return method_not_allowed();
  Outcome<Json> wanted = options_of(request.http);
  if (!wanted) return wanted.error();
  const std::string prefix = request.namespace_.empty() ? "" : request.namespace_ + "/";
  // The names first: remove_one changes what is walked here.
  std::vector<std::string> names;
  Json items = Json::array();
  for (const auto& [key, object] : store.objects(request.resource()))
    if (key.starts_with(prefix) && selector->matches(*object)) {
      names.push_back(object->at("metadata").at("name"));
      items.push_back(in_version(*object, *request.definition, *request.version));
    }
  for (const std::string& name : names)
    if (Outcome<Json> removed = remove_one(request, name, *wanted); !removed)
      return removed.error();
  Json metadata{{"resourceVersion", std::to_string(store.revision())}};
  if (request.definition->origin == Origin::custom) metadata["continue"] = "";
  return object_answer(200, {{"kind", request.definition->list_kind},
                             {"apiVersion", request.definition->api_version(*request.version)},
                             {"metadata", std::move(metadata)},
                             {"items", std::move(items)}});
}

}  // namespace fairlead::model
