#include <algorithm>
#include <charconv>

#include "engine/base/base64.h"
#include "engine/fleet/model/model_state.h"

namespace fairlead::model {
namespace {

std::optional<std::uint64_t> number(const std::string& text) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

ApiStatus invalid_list_options(const char* message) {
  return invalid(
      {"meta.k8s.io", "ListOptions", ""},
      {{"resourceVersionMatch", "FieldValueForbidden", std::string("Forbidden: ") + message}});
}

std::string bad_version_text(const std::string& asked) {
  const std::string quoted = to_text(Json(asked));
  return "resourceVersion: Invalid value: " + quoted + ": strconv.ParseUint: parsing " + quoted +
         ": invalid syntax";
}

ApiStatus bad_version(const std::string& asked) {
  return bad_request("invalid resource version: " + bad_version_text(asked));
}

RowObject row_object_of(const ApiRequest& request) {
  const std::string wanted = request.query_value("includeObject");
  return wanted == "Object" ? RowObject::whole
         : wanted == "None" ? RowObject::none
                            : RowObject::metadata;
}

constexpr const char* kContinueExpired =
    "The provided continue parameter is too old to display a consistent list result. You can start "
    "a new list without "
    "the continue parameter, or use the continue token in this response to retrieve the remainder "
    "of the results. "
    "Continuing with the provided token results in an inconsistent list - objects that were "
    "created, modified, or "
    "deleted between the time the first chunk was returned and now may show up in the list.";

/// The start of a page.
struct Page {
  std::uint64_t revision = 0;
  std::string after;  ///< key of the last object of the page before
};

std::string continue_token(std::uint64_t revision, const std::string& last_key) {
  // A server's token names the key that follows: the last one and a zero byte.
  return encode_base64url(to_text(
      {{"v", "meta.k8s.io/v1"}, {"rv", revision}, {"start", last_key + std::string(1, '\0')}}));
}

Outcome<Page> read_continue(const std::string& token) {
  const auto decoded = decode_base64url(token);
  const Json json = read_json(decoded ? *decoded : std::string());
  if (!json.is_object() || !json.contains("rv") || !json["rv"].is_number_unsigned() ||
      !json.contains("start") || !json["start"].is_string())
    return bad_request("invalid continue token: continue key is not valid");
  std::string start = json["start"].get<std::string>();
  while (!start.empty() && start.back() == '\0') start.pop_back();
  return Page{json["rv"].get<std::uint64_t>(), std::move(start)};
}

std::string watch_line(const char* type, const Json& object) {
  return to_text({{"type", type}, {"object", object}}) + "\n";
}

}  // namespace

Json Model::State::in_version(const Json& stored, const ResourceDefinition& definition,
                              const ResourceVersion& version) {
  Json object = stored;
  const std::string api_version = definition.api_version(version);
  if (object.value("apiVersion", "") == api_version) return object;
  object["apiVersion"] = api_version;
  prune_unknown(object, version.schema);
  apply_defaults(object, version.schema);
  return object;
}

Json Model::State::in_form(const ResourceRequest& request, const Json& object) const {
  if (request.form == Form::metadata) return partial_metadata(object);
  if (request.form == Form::object) return object;
  const Json metadata{{"resourceVersion", object["metadata"].value("resourceVersion", "")}};
  return as_table({*request.definition, *request.version, clock.now(), row_object_of(request.http)},
                  {object}, metadata);
}

Outcome<ApiAnswer> Model::State::get(ResourceRequest& request) {
  ObjectRef stored = store.find(request.resource(), request.key(request.name));
  if (!stored) return not_found(request.named(request.name));
  return json_answer(in_form(request, in_version(*stored, *request.definition, *request.version)));
}

Outcome<ApiAnswer> Model::State::list(ResourceRequest& request) {
  const ApiRequest& http = request.http;
  Outcome<Selector> selector =
      Selector::parse(http.query_value("labelSelector"), http.query_value("fieldSelector"),
                      request.definition->selectable_fields);
  if (!selector) return selector.error();
  const std::string match = http.query_value("resourceVersionMatch");
  const std::string asked = http.query_value("resourceVersion");
  if (!http.query_value("sendInitialEvents").empty())
    return invalid({"meta.k8s.io", "ListOptions", ""},
                   {{"sendInitialEvents", "FieldValueForbidden",
                     "Forbidden: sendInitialEvents is forbidden for list"}});
  if (!match.empty() && asked.empty())
    return invalid_list_options(
        "resourceVersionMatch is forbidden unless resourceVersion is provided");

  Page page{store.revision(), ""};
  if (!asked.empty()) {
    std::optional<std::uint64_t> version = number(asked);
    if (!version) return bad_version(asked);
    if (*version > store.revision())
      return version_too_large(asked, std::to_string(store.revision()));
    // Without Exact the newest version will do: it is not older than what was asked for.
    if (match == "Exact") page.revision = *version;
  }
  const std::string token = http.query_value("continue");
  if (!token.empty()) {
    Outcome<Page> continued = read_continue(token);
    if (!continued) return continued.error();
    page = *continued;
  }
  if (page.revision < store.compacted()) {
    ApiStatus status = expired(
        token.empty() ? "The resourceVersion for the provided list is too old." : kContinueExpired);
    // As the apiserver does: a client that bears a list of two versions may go on at the present
    // one.
    if (!token.empty())
      status.body["metadata"]["continue"] = continue_token(store.revision(), page.after);
    return status;
  }
  return list_page(request, *selector, page.revision, page.after);
}

Outcome<ApiAnswer> Model::State::list_page(const ResourceRequest& request, const Selector& selector,
                                           std::uint64_t revision, const std::string& after) const {
  const std::size_t limit = number(request.http.query_value("limit")).value_or(0);
  const std::string prefix = request.namespace_.empty() ? "" : request.namespace_ + "/";
  const ObjectsByKey objects = store.objects_at(request.resource(), revision);
  std::vector<Json> items;
  Json metadata{{"resourceVersion", std::to_string(revision)}};
  std::string last;
  for (auto it = objects.upper_bound(after); it != objects.end(); ++it) {
    if (!it->first.starts_with(prefix)) continue;
    Json object = in_version(*it->second, *request.definition, *request.version);
    if (!selector.matches(object)) continue;
    if (limit != 0 && items.size() == limit) {
      metadata["continue"] = continue_token(revision, last);
      const auto remaining = std::count_if(
          it, objects.end(), [&](const auto& entry) { return entry.first.starts_with(prefix); });
      // As a server: only a list without selectors has the number of the remaining objects.
      if (selector.everything()) metadata["remainingItemCount"] = remaining;
      break;
    }
    last = it->first;
    items.push_back(std::move(object));
  }
  if (request.form == Form::table)
    return json_answer(
        as_table({*request.definition, *request.version, clock.now(), row_object_of(request.http)},
                 items, metadata));
  if (request.form == Form::metadata)
    for (Json& item : items) item = partial_metadata(item);
  const bool partial = request.form == Form::metadata;
  // Lists of custom resources always have this field.
  if (!partial && request.definition->origin == Origin::custom) metadata.emplace("continue", "");
  return json_answer(
      {{"kind", partial ? "PartialObjectMetadataList" : request.definition->list_kind},
       {"apiVersion",
        partial ? "meta.k8s.io/v1" : request.definition->api_version(*request.version)},
       {"metadata", std::move(metadata)},
       {"items", std::move(items)}});
}

Outcome<ApiAnswer> Model::State::watch(ResourceRequest& request) {
  const ApiRequest& http = request.http;
  std::string fields = http.query_value("fieldSelector");
  if (!request.name.empty())
    fields += (fields.empty() ? "" : ",") + std::string("metadata.name=") + request.name;
  Outcome<Selector> selector = Selector::parse(http.query_value("labelSelector"), fields,
                                               request.definition->selectable_fields);
  if (!selector) return selector.error();
  const std::string match = http.query_value("resourceVersionMatch");
  const WatchStart start =
      http.query_flag("sendInitialEvents") ? WatchStart::objects : WatchStart::changes;
  const bool bookmarks = http.query_flag("allowWatchBookmarks");
  if (!http.query_value("sendInitialEvents").empty() && match != "NotOlderThan")
    return invalid_list_options(
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
  if (http.query_value("sendInitialEvents").empty() && !match.empty())
    return invalid_list_options(
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
  const std::string asked = http.query_value("resourceVersion");
  const std::optional<std::uint64_t> from =
      asked.empty() ? std::optional<std::uint64_t>(0) : number(asked);
  if (!from) return failure(500, "", bad_version_text(asked));

  auto stream = std::make_shared<WatchStream>(options.watch_lines_max);
  auto watcher = std::make_unique<Watcher>(
      Watcher{stream, request.version, request.resource(),
              request.namespace_.empty() ? "" : request.namespace_ + "/", std::move(*selector),
              request.form, row_object_of(http), bookmarks});
  begin_watch(*watcher, *stream, *from, start);
  // A stream that has ended with an error at once is not kept.
  if (!stream->ended()) watchers.push_back(std::move(watcher));

  ApiAnswer answer;
  answer.watch = std::move(stream);
  answer.watch_seconds = static_cast<int>(number(http.query_value("timeoutSeconds")).value_or(0));
  return answer;
}

void Model::State::begin_watch(Watcher& watcher, WatchStream& stream, std::uint64_t from,
                               WatchStart start) {
  const bool initial = start == WatchStart::objects;
  if (from != 0 && from < store.compacted() && !initial) {
    stream.push(watch_line("ERROR", expired("too old resource version: " + std::to_string(from) +
                                            " (" + std::to_string(store.compacted()) + ")")
                                        .body));
    return stream.end();
  }
  if (from != 0 && !initial) {
    for (const Change& change : store.changes_since(watcher.resource, from))
      notify(watcher, change);
    return;
  }
  for (const auto& [key, stored] : store.objects(watcher.resource))
    // Without `before`, so that the watcher gets ADDED.
    notify(watcher, Change{store.revision(), watcher.resource, key, nullptr, stored, nullptr});
  if (initial && watcher.bookmarks)
    stream.push(bookmark_line(watcher, {{"k8s.io/initial-events-end", "true"}}));
}

std::string Model::State::bookmark_line(const Watcher& watcher, const Json& annotations) const {
  const ResourceDefinition& definition = *definitions.at(watcher.resource);
  Json metadata{{"resourceVersion", std::to_string(store.revision())}};
  if (!annotations.empty()) metadata["annotations"] = annotations;
  const Json object{{"kind", definition.kind},
                    {"apiVersion", definition.api_version(*watcher.version)},
                    {"metadata", std::move(metadata)}};
  return watch_line("BOOKMARK", watcher.form == Form::metadata ? partial_metadata(object) : object);
}

void Model::State::notify(Watcher& watcher, const Change& change) const {
  auto stream = watcher.stream.lock();
  if (!stream || watcher.resource != change.resource || !change.key.starts_with(watcher.key_prefix))
    return;
  const ResourceDefinition& definition = *definitions.at(watcher.resource);
  auto selected = [&](const ObjectRef& object) {
    return object && watcher.selector.matches(*object);
  };
  // By the selector: an object that enters or leaves the selection is ADDED or DELETED to the
  // watcher.
  const bool was = selected(change.before), is = selected(change.after);
  if (!was && !is) return;
  const char* type = !is ? "DELETED" : was ? "MODIFIED" : "ADDED";
  // An object that leaves the selection is sent as it was before, with the version of the change.
  Json object = is ? *change.after : change.last ? *change.last : *change.before;
  if (!is) object["metadata"]["resourceVersion"] = std::to_string(change.revision);
  object = in_version(object, definition, *watcher.version);
  if (watcher.form == Form::metadata) object = partial_metadata(object);
  if (watcher.form == Form::table) {
    const Json metadata{{"resourceVersion", object["metadata"].value("resourceVersion", "")}};
    object = as_table({definition, *watcher.version, clock.now(), watcher.row_object}, {object},
                      metadata);
    // Columns are sent once in a watch.
    if (std::exchange(watcher.columns_sent, true)) object["columnDefinitions"] = nullptr;
  }
  stream->push(watch_line(type, object));
}

void Model::State::publish(const Change& change) {
  std::erase_if(watchers, [](const auto& watcher) {
    auto stream = watcher->stream.lock();
    return !stream || stream->ended();
  });
  for (auto& watcher : watchers) notify(*watcher, change);
  if (observer) changes.push_back(change);
}

void Model::send_bookmarks() {
  for (auto& watcher : state_->watchers) {
    auto stream = watcher->stream.lock();
    if (!stream || !watcher->bookmarks || watcher->form == Form::table) continue;
    stream->push(state_->bookmark_line(*watcher, Json::object()));
  }
}

}  // namespace fairlead::model
