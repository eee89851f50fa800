// What is watched of one kind on one API server, and the requests that ask for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "connectors/kube/watch/reflector_output.h"
#include "engine/ingest/watch_scope.h"
#include "schema/kind.h"

namespace fairlead {

/// The kind, its served version and its scope. Makes requests of them, and sends none.
class WatchedCollection {
 public:
  explicit WatchedCollection(Kind kind) : kind_(kind) {}

  Kind kind() const { return kind_; }
  /// The served version; empty before the first discovery.
  const std::string& version() const { return version_; }
  void set_version(std::string version) { version_ = std::move(version); }

  const WatchScope& scope() const { return scope_; }
  /// Whether the scope has a namespace at all.
  bool wanted() const { return scope_.breadth != WatchScope::Breadth::nowhere; }
  void confine(WatchScope scope);
  /// All namespaces were refused: turns to the one that may be allowed. Returns whether it did; the
  /// attempt after that is for all namespaces again.
  bool narrow();
  /// The path of the list, without a query.
  std::string path() const;
  /// Another server may allow what the last one refused.
  void widen();

  /// At most `limit` objects from the place that `continue_token` names; empty: from the start.
  ReflectorRequest page(std::int64_t limit, const std::string& continue_token) const;
  /// A stream that begins with every object (KEP-3157) and goes on as a watch.
  ReflectorRequest streaming_list(std::int64_t seconds_asked) const;
  ReflectorRequest watch(std::int64_t seconds_asked, const std::string& resource_version) const;

 private:
  ReflectorRequest request(ReflectorRequest::Kind kind, const std::string& query) const;

  Kind kind_;
  std::string version_;
  WatchScope scope_;
  std::string namespace_;  // where it is watched at present; empty: everywhere
};

/// Whether Fairlead writes objects of the kind.
bool is_written(Kind kind);

}  // namespace fairlead
