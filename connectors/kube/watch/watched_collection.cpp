#include "connectors/kube/watch/watched_collection.h"

#include <utility>

#include "connectors/kube/resource_path.h"

namespace fairlead {
namespace {

std::string stream_query(std::int64_t seconds_asked) {
  return "watch=true&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(seconds_asked);
}

}  // namespace

void WatchedCollection::confine(WatchScope scope) {
  scope_ = std::move(scope);
  namespace_ = scope_.breadth == WatchScope::Breadth::one_namespace ? scope_.namespace_ : "";
}

bool WatchedCollection::narrow() {
  if (scope_.breadth != WatchScope::Breadth::everywhere_if_allowed) return false;
  const bool narrower = namespace_.empty();
  namespace_ = narrower ? scope_.namespace_ : "";
  return narrower;
}

void WatchedCollection::widen() {
  if (scope_.breadth == WatchScope::Breadth::everywhere_if_allowed) namespace_.clear();
}

ReflectorRequest WatchedCollection::page(std::int64_t limit,
                                         const std::string& continue_token) const {
  std::string query = "limit=" + std::to_string(limit);
  if (!continue_token.empty()) query += "&continue=" + url_encode(continue_token);
  return request(ReflectorRequest::Kind::page, query);
}

ReflectorRequest WatchedCollection::streaming_list(std::int64_t seconds_asked) const {
  return request(
      ReflectorRequest::Kind::watch,
      stream_query(seconds_asked) + "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
}

ReflectorRequest WatchedCollection::watch(std::int64_t seconds_asked,
                                          const std::string& resource_version) const {
  return request(ReflectorRequest::Kind::watch,
                 stream_query(seconds_asked) + "&resourceVersion=" + url_encode(resource_version));
}

std::string WatchedCollection::path() const {
  return resource_path(info(kind_), version_, namespace_, {});
}

// An API server answers 406 where a list is asked for as PartialObjectMetadata, and sends nothing
// on a watch that is asked for as a list of it.
ReflectorRequest WatchedCollection::request(ReflectorRequest::Kind kind,
                                            const std::string& query) const {
  std::string target = path() + "?" + query;
  if (!scope_.label_selector.empty())
    target += "&labelSelector=" + url_encode(scope_.label_selector);
  std::string_view accept = "application/json";
  if (scope_.part == ObjectPart::metadata)
    accept = kind == ReflectorRequest::Kind::page
                 ? "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
                 : "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
  return {kind, std::move(target), accept};
}

bool is_written(Kind kind) { return kind == Kind::local_queue || written_kind(kind); }

}  // namespace fairlead
