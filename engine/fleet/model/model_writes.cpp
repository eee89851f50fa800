#include <algorithm>
#include <regex>

#include "engine/fleet/model/json_patches.h"
#include "engine/fleet/model/model_state.h"
#include "engine/fleet/model/protobuf_body.h"
#include "engine/fleet/model/schema_validation.h"
#include "engine/fleet/model/typed_value.h"
#include "engine/fleet/model/yaml.h"

namespace fairlead::model {
namespace {

constexpr std::string_view kApplyType = "application/apply-patch+yaml";
constexpr const char* kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

std::string media_type(const ApiRequest& request) {
  return request.content_type.substr(0, request.content_type.find(';'));
}

Json& metadata_of(Json& object) {
  Json& metadata = object["metadata"];
  if (!metadata.is_object()) metadata = Json::object();
  return metadata;
}

std::string meta_text(const Json& object, const char* field) {
  auto metadata = object.find("metadata");
  if (metadata == object.end() || !metadata->is_object()) return {};
  auto found = metadata->find(field);
  return found != metadata->end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool is_subdomain(const std::string& name) {
  static const std::regex pattern(
      "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*");
  return name.size() <= 253 && std::regex_match(name, pattern);
}

/// Lists `spec.a`, `spec.b` as the errors of strict decoding do.
std::string unknown_list(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths)
    text += (text.empty() ? "" : ", ") + ("unknown field " + to_text(Json(path)));
  return text;
}

std::vector<FieldError> metadata_errors(const Json& object, const Json* old) {
  std::vector<FieldError> errors;
  const std::string name = meta_text(object, "name");
  if (old == nullptr && name.empty())
    errors.push_back({"metadata.name", "FieldValueRequired",
                      "Required value: name or generateName is required"});
  else if (old == nullptr && !is_subdomain(name))
    errors.push_back({"metadata.name", "FieldValueInvalid",
                      "Invalid value: " + to_text(Json(name)) + ": " + kSubdomain});
  if (old != nullptr)
    for (const char* field : {"name", "namespace", "uid", "creationTimestamp"})
      if (meta_text(object, field) != meta_text(*old, field))
        errors.push_back(
            {std::string("metadata.") + field, "FieldValueInvalid",
             "Invalid value: " + to_text(Json(meta_text(object, field))) + ": field is immutable"});
  return errors;
}

/// The part of an object whose changes a generation counts: all but metadata, and but status where
/// that is separate.
Json counted_part(Json object, Door door) {
  object.erase("metadata");
  object.erase("apiVersion");
  if (door != Door::whole) object.erase("status");
  return object;
}

Json without_times(Json object) {
  if (auto metadata = object.find("metadata"); metadata != object.end())
    if (auto entries = metadata->find("managedFields"); entries != metadata->end())
      for (Json& entry : *entries) entry.erase("time");
  return object;
}

}  // namespace

ApiAnswer object_answer(int code, const Json& object) {
  ApiAnswer answer;
  answer.code = code;
  answer.body = to_text(object);
  return answer;
}

Door Model::State::door(const ResourceRequest& request) {
  if (request.subresource == "status") return Door::status;
  return request.version->has_status ? Door::main : Door::whole;
}

WriteIdentity Model::State::writer(const ResourceRequest& request) const {
  std::string manager = request.http.query_value("fieldManager");
  if (manager.empty())
    manager = request.http.user_agent.substr(0, request.http.user_agent.find('/'));
  if (manager.empty()) manager = "unknown";
  return {std::move(manager), request.definition->api_version(*request.version), door(request),
          now_text()};
}

/// Reads the body of a create or an update: one object of the kind and version of the URL.
Outcome<Json> Model::State::decode_body(ResourceRequest& request) const {
  const std::string type = media_type(request.http);
  const bool yaml = type == "application/yaml";
  const bool protobuf = type == kProtobufType;
  if (!type.empty() && type != "application/json" && !yaml && !protobuf)
    return unsupported_media_type(
        "application/json, application/yaml, application/vnd.kubernetes.protobuf");
  Json object = protobuf ? read_protobuf_object(request.http.body).value_or(Json())
                         : read_json(request.http.body);
  if (yaml)
    if (Result<Json> read = parse_yaml(request.http.body)) object = std::move(*read);
  const std::string& kind = request.definition->kind;
  const std::string unrecognized =
      "the object provided is unrecognized (must be of type " + kind + "): ";
  if (object.is_discarded() || !object.is_object())
    return bad_request(unrecognized + "couldn't get version/kind; json parse error");
  const std::string given_kind =
      object.value("kind", Json()).is_string() ? object["kind"].get<std::string>() : "";
  const std::string given_version =
      object.value("apiVersion", Json()).is_string() ? object["apiVersion"].get<std::string>() : "";
  const std::string wanted = request.definition->api_version(*request.version);
  const bool custom = request.definition->origin == Origin::custom;
  if (given_kind.empty() && custom)
    return bad_request(unrecognized + "Object 'Kind' is missing in '" + request.http.body + "' (" +
                       request.http.body + ")");
  if (!given_version.empty() && given_version != wanted)
    return bad_request("the API version in the data (" + given_version +
                       ") does not match the expected API version (" + wanted + ")");
  if (!given_kind.empty() && given_kind != kind) {
    if (custom)
      return invalid({request.definition->group, given_kind, meta_text(object, "name")},
                     {{"kind", "FieldValueInvalid",
                       "Invalid value: " + to_text(Json(given_kind)) + ": must be " + kind}});
    return bad_request(kind + " in version \"" + request.version->name +
                       "\" cannot be handled as a " + kind);
  }
  object["apiVersion"] = wanted;
  object["kind"] = kind;
  metadata_of(object);
  return object;
}

/// Prunes and defaults; warns the client of unknown fields, or refuses them, as it asked for.
Outcome<std::monostate> Model::State::coerce(ResourceRequest& request, Json& object) const {
  const std::vector<std::string> unknown = prune_unknown(object, request.version->schema);
  const std::string mode = request.http.query_value("fieldValidation");
  if (!unknown.empty() && mode == "Strict") {
    const std::string& kind = request.definition->kind;
    const std::string error = "strict decoding error: " + unknown_list(unknown);
    if (request.http.method == "PATCH")
      return invalid({"", "", ""},
                     {{"patch", "FieldValueInvalid",
                       "Invalid value: " + to_text(Json(to_text(object))) + ": " + error}});
    return bad_request(kind + " in version \"" + request.version->name +
                       "\" cannot be handled as a " + kind + ": " + error);
  }
  if (mode != "Ignore" && mode != "Strict")
    for (const std::string& path : unknown)
      request.warnings.push_back("unknown field " + to_text(Json(path)));
  apply_defaults(object, request.version->schema);
  return std::monostate();
}

Outcome<ApiAnswer> Model::State::create(ResourceRequest& request) {
  Outcome<Json> body = decode_body(request);
  if (!body) return body.error();
  if (!request.name.empty()) return method_not_allowed();
  const std::string given = meta_text(*body, "namespace");
  if (!given.empty() && given != request.namespace_)
    return bad_request(
        "the namespace of the provided object does not match the namespace sent on the request");
  Outcome<std::monostate> coerced = coerce(request, *body);
  if (!coerced) return coerced.error();
  Outcome<Json> stored = store_new(request, std::move(*body), Json::array());
  if (!stored) return stored.error();
  return object_answer(201, in_form(request, *stored));
}

/// Completes, validates and stores a new object. `applied_fields` are the managedFields of an
/// apply, or empty.
Outcome<Json> Model::State::store_new(ResourceRequest& request, Json object,
                                      const Json& applied_fields) {
  const ResourceDefinition& definition = *request.definition;
  const SchemaRef& schema = request.version->schema;
  Json& metadata = metadata_of(object);
  if (meta_text(object, "name").empty() && !meta_text(object, "generateName").empty())
    metadata["name"] = meta_text(object, "generateName") + make_id("name").substr(0, 5);
  request.name = meta_text(object, "name");
  if (Outcome<std::monostate> allowed = check_namespace(request); !allowed) return allowed.error();

  // A kubelet creates its Node with a status, and kube-apiserver keeps that.
  const Door through = definition.plural == "nodes" ? Door::whole : door(request);
  if (through == Door::main) object.erase("status");
  for (const char* field : {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp",
                            "generation", "deletionGracePeriodSeconds", "selfLink"})
    metadata.erase(field);
  if (definition.namespaced)
    metadata["namespace"] = request.namespace_;
  else
    metadata.erase("namespace");
  prepare_built_in(definition, object);
  if (applied_fields.empty()) {
    metadata.erase("managedFields");
    object = track_update(Json::object(), std::move(object), schema, writer(request));
  } else {
    metadata["managedFields"] = applied_fields;
  }
  std::vector<FieldError> errors = metadata_errors(object, nullptr);
  const std::vector<FieldError> more = validate(object, nullptr, schema, definition.origin);
  errors.insert(errors.end(), more.begin(), more.end());
  if (!errors.empty()) return invalid({definition.group, definition.kind, request.name}, errors);
  if (const ObjectRef there = store.find(request.resource(), request.key(request.name)))
    return (*there)["metadata"].contains("deletionTimestamp")
               ? still_exists(request.named(request.name))
               : already_exists(request.named(request.name));

  Json& complete = object["metadata"];
  std::string id = make_id("uid");
  id[12] = '4';
  complete["uid"] = id.substr(0, 8) + "-" + id.substr(8, 4) + "-" + id.substr(12, 4) + "-a" +
                    id.substr(17, 3) + "-" + id.substr(20, 12);
  complete["creationTimestamp"] = now_text();
  if (definition.has_generation) complete["generation"] = 1;
  complete_built_in(definition, object);
  if (request.http.query_value("dryRun") == "All") return object;
  if (Outcome<std::monostate> served = after_write(definition, object); !served)
    return served.error();
  const Json stored = in_version(object, definition, definition.storage_version());
  const Change& change = commit(request.resource(), request.key(request.name), stored);
  return in_version(*change.after, definition, *request.version);
}

Outcome<ApiAnswer> Model::State::update(ResourceRequest& request) {
  Outcome<Json> body = decode_body(request);
  if (!body) return body.error();
  const std::string name = meta_text(*body, "name");
  if (name != request.name)
    return bad_request("the name of the object (" + name +
                       ") does not match the name on the URL (" + request.name + ")");
  ObjectRef stored = store.find(request.resource(), request.key(request.name));
  if (!stored) return not_found(request.named(request.name));
  // Kinds of the core group allow an update without a version (AllowUnconditionalUpdate).
  const bool unconditional =
      request.definition->origin == Origin::built_in && request.definition->group.empty();
  if (meta_text(*body, "resourceVersion").empty() && !unconditional)
    return invalid({request.definition->group, request.definition->plural, request.name},
                   {{"metadata.resourceVersion", "FieldValueInvalid",
                     "Invalid value: 0: must be specified for an update"}});
  if (const std::string uid = meta_text(*body, "uid");
      !uid.empty() && uid != meta_text(*stored, "uid"))
    return conflict(request.named(request.name),
                    "Precondition failed: UID in precondition: " + uid +
                        ", UID in object meta: " + meta_text(*stored, "uid"));
  if (Outcome<std::monostate> coerced = coerce(request, *body); !coerced) return coerced.error();
  const Json old = in_version(*stored, *request.definition, *request.version);
  Outcome<Json> changed = store_changed(request, old, std::move(*body));
  if (!changed) return changed.error();
  return object_answer(200, in_form(request, *changed));
}

/// Keeps the part of `object` that the request may change and copies the rest from `old`.
void Model::State::keep_own_part(const ResourceRequest& request, const Json& old, Json& object) {
  const Door through = door(request);
  if (through == Door::status) {
    const Json sent = std::move(object);
    object = old;
    object.erase("status");
    if (auto status = sent.find("status"); status != sent.end()) object["status"] = *status;
    if (auto metadata = sent.find("metadata"); metadata != sent.end() && metadata->is_object())
      for (const char* field : {"resourceVersion", "managedFields"})
        if (metadata->contains(field)) object["metadata"][field] = (*metadata)[field];
  } else if (through == Door::main) {
    object.erase("status");
    if (auto status = old.find("status"); status != old.end()) object["status"] = *status;
  }
  Json& metadata = metadata_of(object);
  for (const char* field : {"uid", "creationTimestamp", "namespace", "name"})
    if (meta_text(object, field).empty() && !meta_text(old, field).empty())
      metadata[field] = old["metadata"][field];
  // Only the server writes these.
  for (const char* field :
       {"generation", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink"}) {
    metadata.erase(field);
    if (old["metadata"].contains(field)) metadata[field] = old["metadata"][field];
  }
}

/// Stores `object` (in the request's version, coerced) in the place of `old`. Returns the object as
/// stored; if nothing changes, the old one. An object that was only waiting for its finalizers is
/// removed.
Outcome<Json> Model::State::store_changed(ResourceRequest& request, const Json& old, Json object) {
  const ResourceDefinition& definition = *request.definition;
  const Door through = door(request);
  const std::string version = meta_text(object, "resourceVersion");
  keep_own_part(request, old, object);
  // Not a change of its own: the version that was sent is compared below.
  object["metadata"]["resourceVersion"] = old["metadata"]["resourceVersion"];
  prepare_built_in(definition, object);
  // An apply has changed the owners of fields already (apply_configuration()).
  if (media_type(request.http) != kApplyType || request.http.method != "PATCH")
    object = track_update(old, std::move(object), request.version->schema, writer(request));
  complete_built_in(definition, object);
  if (!version.empty() && version != meta_text(old, "resourceVersion"))
    return conflict(request.named(request.name), kModified);
  std::vector<FieldError> errors = metadata_errors(object, &old);
  // A server checks the metadata of custom resources twice.
  if (definition.origin == Origin::custom) {
    const std::vector<FieldError> again = errors;
    errors.insert(errors.end(), again.begin(), again.end());
  }
  const std::vector<FieldError> more =
      validate(object, &old, request.version->schema, definition.origin);
  errors.insert(errors.end(), more.begin(), more.end());
  if (!errors.empty()) return invalid({definition.group, definition.kind, request.name}, errors);

  if (definition.has_generation && through != Door::status &&
      counted_part(old, through) != counted_part(object, through))
    object["metadata"]["generation"] = old["metadata"].value("generation", std::int64_t{0}) + 1;
  // As kube-apiserver: a write that would change nothing but times of managedFields stores nothing,
  // and the version stays.
  if (without_times(object) == without_times(old) || request.http.query_value("dryRun") == "All")
    return request.http.query_value("dryRun") == "All" ? object : old;

  const bool finished = object["metadata"].contains("deletionTimestamp") &&
                        object["metadata"].value("finalizers", Json::array()).empty() &&
                        definition.plural != "namespaces";
  if (finished) {
    erase(definition, request.key(request.name));
    return object;
  }
  if (Outcome<std::monostate> served = after_write(definition, object); !served)
    return served.error();
  const Json stored = in_version(object, definition, definition.storage_version());
  const Change& change = commit(request.resource(), request.key(request.name), stored);
  return in_version(*change.after, definition, *request.version);
}

Outcome<ApiAnswer> Model::State::patch(ResourceRequest& request) {
  const std::string type = media_type(request.http);
  const bool built_in = request.definition->origin == Origin::built_in;
  const bool strategic = type == "application/strategic-merge-patch+json";
  if (type != kApplyType && type != "application/merge-patch+json" &&
      type != "application/json-patch+json" && !(strategic && built_in))
    return unsupported_media_type(
        std::string("application/json-patch+json, application/merge-patch+json, ") +
        (built_in ? "application/strategic-merge-patch+json, " : "") +
        "application/apply-patch+yaml");
  ObjectRef stored = store.find(request.resource(), request.key(request.name));
  if (type == kApplyType) return patch_by_apply(request, stored);
  if (!stored) return not_found(request.named(request.name));

  const Json body = read_json(request.http.body);
  if (body.is_discarded()) return bad_request("error decoding patch: invalid JSON");
  const Json old = in_version(*stored, *request.definition, *request.version);
  Json object;
  if (type == "application/json-patch+json") {
    Outcome<Json> patched = json_patched(old, body);
    if (!patched) return patched.error();
    object = std::move(*patched);
  } else {
    object =
        strategic ? strategic_merged(old, body, request.version->schema) : merge_patched(old, body);
  }
  if (!object.is_object()) return bad_request("the patch does not give an object");
  if (const std::string name = meta_text(object, "name"); name != request.name)
    return bad_request("the name of the object (" + name +
                       ") does not match the name on the URL (" + request.name + ")");
  if (Outcome<std::monostate> coerced = coerce(request, object); !coerced) return coerced.error();
  Outcome<Json> changed = store_changed(request, old, std::move(object));
  if (!changed) return changed.error();
  return object_answer(200, in_form(request, *changed));
}

/// Reads an applied configuration, and checks it before it is merged.
Outcome<Json> Model::State::read_applied(const ResourceRequest& request) const {
  if (request.http.query_value("fieldManager").empty())
    return invalid(
        {"meta.k8s.io", "PatchOptions", ""},
        {{"fieldManager", "FieldValueRequired", "Required value: is required for apply patch"}});
  Result<Json> body = parse_yaml(request.http.body);
  if (!body || !body->is_object()) return bad_request("error decoding YAML");
  const std::string kind = body->value("kind", ""), version = body->value("apiVersion", "");
  if (kind.empty() || version.empty()) return bad_request("invalid object type: /, Kind=");
  const std::string wanted = request.definition->api_version(*request.version);
  if (version != wanted || kind != request.definition->kind)
    return bad_request("invalid object type: " + version + ", Kind=" + kind);
  if (!body->value("metadata", Json::object()).value("managedFields", Json()).is_null())
    return bad_request("metadata.managedFields must be nil");
  const std::vector<std::string> wrong = undeclared(*body, request.version->schema);
  if (!wrong.empty()) {
    std::string list;
    for (const std::string& line : wrong) list += (list.empty() ? "" : "\n") + line;
    return failure(500, "",
                   "failed to create typed patch object (" + meta_text(*body, "namespace") + "/" +
                       meta_text(*body, "name") + "; " + wanted + ", Kind=" + kind + "): " + list);
  }
  metadata_of(*body);
  return std::move(*body);
}

Outcome<ApiAnswer> Model::State::patch_by_apply(ResourceRequest& request, const ObjectRef& stored) {
  Outcome<Json> applied = read_applied(request);
  if (!applied) return applied.error();
  if (!stored && !request.subresource.empty()) return not_found(request.named(request.name));
  if (const std::string uid = meta_text(*applied, "uid"); !stored && !uid.empty())
    return conflict(request.named(request.name),
                    "uid mismatch: the provided object specified uid " + uid +
                        ", and no existing object was found");
  const Json live =
      stored ? in_version(*stored, *request.definition, *request.version) : Json::object();
  const ApplyMode mode = request.http.query_flag("force") ? ApplyMode::forced : ApplyMode::polite;
  Outcome<Json> object =
      apply_configuration(live, *applied, request.version->schema, writer(request), mode);
  if (!object) return object.error();
  const std::string name = meta_text(*object, "name");
  if (name.empty())
    return bad_request("the name of the object (" + request.name +
                       " based on URL) was undeterminable: name must be provided");
  if (name != request.name)
    return bad_request("the name of the object (" + name +
                       ") does not match the name on the URL (" + request.name + ")");
  // After the merge: a default belongs to no field manager.
  apply_defaults(*object, request.version->schema);
  if (stored) {
    Outcome<Json> changed = store_changed(request, live, std::move(*object));
    if (!changed) return changed.error();
    return object_answer(200, in_form(request, *changed));
  }
  const Json fields = (*object)["metadata"].value("managedFields", Json::array());
  Outcome<Json> made = store_new(request, std::move(*object), fields);
  if (!made) return made.error();
  return object_answer(201, in_form(request, *made));
}

}  // namespace fairlead::model
