#include "engine/fleet/model/model.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/digest.h"
#include "engine/fleet/model/discovery.h"
#include "engine/fleet/model/model_state.h"
#include "engine/fleet/model/openapi.h"
#include "engine/fleet/model/yaml.h"

namespace fairlead::model {
namespace {

std::vector<std::string> segments_of(std::string_view path) {
  std::vector<std::string> segments;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (slash != 0) segments.emplace_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
  }
  return segments;
}

ApiAnswer text_answer(int code, std::string text) {
  ApiAnswer answer;
  answer.code = code;
  answer.content_type = "text/plain; charset=utf-8";
  answer.body = std::move(text);
  return answer;
}

ApiAnswer status_answer(const ApiStatus& status) {
  ApiAnswer answer;
  answer.code = status.code;
  answer.body = to_text(status.body);
  const Json details = status.body.value("details", Json::object());
  if (details.contains("retryAfterSeconds"))
    answer.retry_after = details["retryAfterSeconds"].get<int>();
  return answer;
}

/// Allows every user everything: `kubectl auth can-i` prints yes.
ApiAnswer allow_review(const ApiRequest& http) {
  Json review = read_json(http.body);
  if (!review.is_object())
    review = {{"kind", "SelfSubjectAccessReview"}, {"apiVersion", "authorization.k8s.io/v1"}};
  review["status"] = {{"allowed", true}};
  ApiAnswer answer;
  answer.code = 201;
  answer.body = to_text(review);
  return answer;
}

Form form_of(std::string_view accept) {
  const std::string_view first = accept.substr(0, accept.find(','));
  if (first.find("as=Table") != std::string_view::npos) return Form::table;
  if (first.find("as=PartialObjectMetadata") != std::string_view::npos) return Form::metadata;
  return Form::object;
}

}  // namespace

std::string Model::State::now_text() const {
  const std::int64_t whole = clock.now().ns / 1'000'000'000;
  return to_rfc3339(LogTime{whole * 1'000'000'000});
}

std::string Model::State::make_id(std::string_view purpose) {
  const std::string counter = std::to_string(options.seed) + "/" + std::to_string(++ids) + "/";
  const std::string_view parts[] = {counter, purpose};
  return sha256(parts).hex();
}

const ResourceDefinition* Model::State::find(const std::string& group,
                                             const std::string& plural) const {
  auto found = definitions.find(plural + "." + group);
  return found == definitions.end() ? nullptr : found->second.get();
}

void Model::State::add_definition(ResourceDefinition definition) {
  auto& place = definitions[definition.plural + "." + definition.group];
  if (place) retired.push_back(std::move(place));
  place = std::make_unique<ResourceDefinition>(std::move(definition));
  for (auto& watcher : watchers) {
    if (watcher->resource != place->plural + "." + place->group) continue;
    if (const ResourceVersion* version = place->version(watcher->version->name))
      watcher->version = version;
  }
}

void Model::State::remove_definition(const std::string& resource) {
  auto found = definitions.find(resource);
  if (found == definitions.end()) return;
  std::vector<std::string> keys;
  for (const auto& entry : store.objects(resource)) keys.push_back(entry.first);
  for (const std::string& key : keys) publish(store.remove(resource, key));
  for (auto& watcher : watchers)
    if (auto stream = watcher->stream.lock(); stream && watcher->resource == resource)
      stream->end();
  retired.push_back(std::move(found->second));
  definitions.erase(found);
}

Outcome<ApiAnswer> Model::State::route(ResourceRequest& request) {
  const std::string& method = request.http.method;
  if (!request.version->deprecation.empty())
    request.warnings.push_back(request.version->deprecation);
  if (!request.subresource.empty() &&
      (request.subresource != "status" || !request.version->has_status || request.name.empty()))
    return not_found({request.definition->group, request.definition->plural, request.name});
  if (method == "GET") {
    if (request.http.query_flag("watch")) return watch(request);
    return request.name.empty() ? list(request) : get(request);
  }
  if (!request.subresource.empty() && method != "PUT" && method != "PATCH")
    return method_not_allowed();
  if (method == "POST") return create(request);
  if (method == "DELETE")
    return request.name.empty() ? remove_collection(request) : remove(request);
  if (request.name.empty()) return bad_request("name must be provided");
  if (method == "PUT") return update(request);
  if (method == "PATCH") return patch(request);
  return method_not_allowed();
}

namespace {

/// Reads `/api/v1/...` and `/apis/GROUP/VERSION/...`. Returns whether the path has that form.
bool read_path(const std::vector<std::string>& path, std::string& group, std::string& version,
               std::vector<std::string>& rest) {
  std::size_t used = 0;
  if (path.size() >= 3 && path[0] == "api") {
    version = path[1];
    used = 2;
  } else if (path.size() >= 4 && path[0] == "apis") {
    group = path[1];
    version = path[2];
    used = 3;
  } else {
    return false;
  }
  rest.assign(path.begin() + static_cast<std::ptrdiff_t>(used), path.end());
  return true;
}

/// A path that nothing is served at: below a group of built-in kinds a Status says so.
ApiAnswer unknown_path(const std::vector<std::string>& path,
                       const std::vector<const ResourceDefinition*>& served) {
  const bool core = path.size() > 1 && path[0] == "api";
  const bool built_in =
      core || (path.size() > 2 && path[0] == "apis" &&
               std::any_of(served.begin(), served.end(), [&](const ResourceDefinition* one) {
                 return one->origin == Origin::built_in && one->group == path[1];
               }));
  if (!built_in) return text_answer(404, "404 page not found\n");
  ApiStatus status = failure(404, "NotFound", "the server could not find the requested resource");
  status.body["details"] = Json::object();
  return status_answer(status);
}

}  // namespace

Model::Model(Clock& clock, ModelOptions options)
    : state_(std::make_unique<State>(clock, std::move(options))) {
  for (ResourceDefinition& definition : built_in_resources())
    state_->add_definition(std::move(definition));
  for (const char* name : {"default", "kube-node-lease", "kube-public", "kube-system"}) {
    Outcome<Json> made =
        call("POST", "/api/v1/namespaces?fieldManager=kube-apiserver",
             {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    check(made.has_value(), "a new model accepts its own namespaces");
  }
  // As a server that has just started: no watch can begin before this version.
  state_->store.compact();
}

Model::~Model() = default;

ApiAnswer Model::handle(const ApiRequest& http) {
  if (http.body.size() > state_->options.body_bytes_max)
    return status_answer(failure(
        413, "RequestEntityTooLarge",
        "Request entity too large: limit is " + std::to_string(state_->options.body_bytes_max)));
  if (http.path == "/readyz" || http.path == "/livez" || http.path == "/healthz")
    return text_answer(200, "ok");
  std::vector<const ResourceDefinition*> served;
  for (const auto& entry : state_->definitions) served.push_back(entry.second.get());
  if (auto answer = answer_discovery(http, served, state_->options.git_version)) return *answer;
  if (auto answer = answer_openapi(http, served)) return *answer;

  if (http.path == "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" &&
      http.method == "POST")
    return allow_review(http);

  ResourceRequest request{http, nullptr, nullptr, "", "", "", form_of(http.accept), {}};
  std::string group, version;
  std::vector<std::string> rest;
  const ApiAnswer unknown = unknown_path(segments_of(http.path), served);
  if (!read_path(segments_of(http.path), group, version, rest)) return unknown;
  if (rest.size() >= 3 && rest[0] == "namespaces" && state_->find(group, rest[2]) != nullptr) {
    request.namespace_ = rest[1];
    rest.erase(rest.begin(), rest.begin() + 2);
  }
  request.definition = state_->find(group, rest[0]);
  if (request.definition == nullptr || rest.size() > 3) return unknown;
  request.version = request.definition->version(version);
  if (request.version == nullptr ||
      (!request.namespace_.empty() && !request.definition->namespaced))
    return unknown;
  if (rest.size() > 1) request.name = rest[1];
  if (rest.size() > 2) request.subresource = rest[2];
  if (request.definition->namespaced && request.namespace_.empty() &&
      (!request.name.empty() || http.method == "POST"))
    return unknown;

  Outcome<ApiAnswer> outcome = state_->route(request);
  ApiAnswer answer = outcome ? std::move(*outcome) : status_answer(outcome.error());
  answer.warnings = std::move(request.warnings);
  if (state_->observer && http.method != "GET")
    state_->observer(http, answer, std::exchange(state_->changes, {}));
  return answer;
}

Outcome<Json> Model::call(std::string_view method, std::string_view target, const Json& body,
                          std::string_view content_type) {
  ApiRequest request = parse_target(method, target);
  request.user_agent = "model";
  request.content_type = !content_type.empty() ? std::string(content_type)
                         : method == "PATCH"   ? "application/merge-patch+json"
                                               : "application/json";
  if (!body.is_null()) request.body = to_text(body);
  ApiAnswer answer = handle(request);
  Json json = read_json(answer.body);
  if (answer.code < 300 && !json.is_discarded()) return json;
  return ApiStatus{answer.code, json.is_discarded() ? Json(answer.body) : std::move(json)};
}

Result<std::monostate> Model::install_crd(const Json& crd) {
  Result<ResourceDefinition> definition = read_crd(crd);
  if (!definition) return definition.error();
  constexpr const char* kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  Outcome<Json> made = call("POST", kCrds, crd);
  if (!made && made.error().code == 409) {
    const std::string target = std::string(kCrds) + "/" + crd["metadata"].value("name", "");
    made = call("PATCH", target, {{"spec", crd["spec"]}});
  }
  if (!made) return Error{ErrorCode::bad_input, to_text(made.error().body)};
  return std::monostate();
}

void Model::install_fairlead_crds() {
  for (const Json& crd : fairlead_crds()) {
    const bool installed = install_crd(crd).has_value();
    check(installed, "the CRDs of schema/crd install");
  }
}

void Model::compact() { state_->store.compact(); }
std::uint64_t Model::revision() const { return state_->store.revision(); }
std::uint64_t Model::oldest() const { return state_->store.compacted(); }

ObjectStore Model::save() const { return state_->store; }

void Model::restore(const ObjectStore& saved, std::uint64_t jump) {
  state_->store.restore(saved, jump);
  for (const auto& watcher : state_->watchers)
    if (const auto stream = watcher->stream.lock()) stream->end();
}

void Model::observe(Observer seen) { state_->observer = std::move(seen); }

}  // namespace fairlead::model
