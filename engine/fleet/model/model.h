// An API server in memory: `fairlead dev` embeds it, and unit tests use it as a double.
//
// It answers requests as kube-apiserver does (tests/conformance sends the same ones to a real
// server and compares): resourceVersions, paging, watches with bookmarks and 410, server-side apply
// with field ownership, defaulting, pruning and validation by structural schemas, status
// subresources, finalizers, preconditions, Status bodies. It does no I/O and is deterministic: a
// clock and a seed are given, one owner calls it, and it changes nothing between calls. Not
// modelled: authentication and authorization, admission webhooks, CEL other than `self == oldSelf`,
// conversion other than by name, owner references, validation ratcheting. Namespaces are emptied at
// once, as if their controller had already run.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/fleet/model/api_request.h"
#include "engine/fleet/model/api_status.h"
#include "engine/fleet/model/object_store.h"
#include "engine/fleet/model/resource_definition.h"

namespace fairlead::model {

struct ModelOptions {
  std::size_t history_max = 100'000;     ///< changes that can be read back
  std::size_t watch_lines_max = 10'000;  ///< lines that may wait for one watcher
  std::size_t body_bytes_max =
      3u << 20;  ///< larger bodies are refused with 413, as etcd's limit makes a server do
  std::string git_version = "v1.36.3";
  std::uint64_t seed =
      1;  ///< of uids and generated names: the same seed and requests give the same objects
};

/// One API server. Owned and called by one thread at a time; the clock must outlive it.
class Model {
 public:
  explicit Model(Clock& clock, ModelOptions options = {});
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  /// Answers one request. It never fails: the answer to a bad request is a Status.
  ApiAnswer handle(const ApiRequest& request);

  /// Calls handle() for callers in the same process: `target` is `/path?query`, `body` null for
  /// none. Returns the answered object, or the Status if the code is not 2xx. Patches are merge
  /// patches if `content_type` names no other format.
  Outcome<Json> call(std::string_view method, std::string_view target, const Json& body = nullptr,
                     std::string_view content_type = "");

  /// Serves the kind of a CustomResourceDefinition, as a POST of it does; replaces an existing one.
  Result<std::monostate> install_crd(const Json& crd);
  /// Serves every kind of schema/crd.
  void install_fairlead_crds();

  /// Drops history: older watches and continue tokens get 410.
  void compact();
  /// Sends a BOOKMARK to every watcher that allows them.
  void send_bookmarks();
  /// The current resourceVersion.
  std::uint64_t revision() const;
  /// The oldest one that can still be read.
  std::uint64_t oldest() const;

  /// Returns all objects as they are, for restore().
  ObjectStore save() const;
  /// Has etcd restored from a backup: goes back to `saved`, with versions that go on `jump` above
  /// it, and ends all watches. The observer is not called.
  void restore(const ObjectStore& saved, std::uint64_t jump);

  /// Has `seen` called after each request that is no GET, with the changes that it made: for a
  /// recording of what a server did. It must not use the model.
  using Observer =
      std::function<void(const ApiRequest&, const ApiAnswer&, std::span<const Change>)>;
  void observe(Observer seen);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace fairlead::model
