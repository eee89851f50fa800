// Watches one object of an API server, of any kind.
//
// For objects that Fairlead uses but never logs: a Secret with a kubeconfig. Only this object is
// requested (fieldSelector metadata.name), so a Role may allow exactly that. Every answer holds the
// whole object; its content is passed to the callback only, never into a diagnostic.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "connectors/kube/transport/transport.h"
#include "connectors/kube/watch/diagnostic_line.h"
#include "connectors/kube/watch/retry_backoff.h"
#include "connectors/kube/watch/watch_decoder.h"

namespace fairlead {

/// On the transport's thread, but the destructor may run after that has ended.
class ObjectFollower {
 public:
  /// Watches the object `name` in the list at the path `collection`. Calls `on_object` with the
  /// object, or nullopt if it does not exist, after the first list and after each change; not while
  /// the server is unreachable. Calls `log` with each log line. `server` outlives the
  /// follower.
  ObjectFollower(Transport& server, std::string collection, std::string name,
                 std::function<void(std::optional<JsonView>)> on_object, DiagnosticSink log);
  ~ObjectFollower();
  ObjectFollower(const ObjectFollower&) = delete;
  ObjectFollower& operator=(const ObjectFollower&) = delete;

 private:
  void list();
  void listed(const Result<HttpResponse>& answer);
  void watch(const std::string& resource_version);
  void bytes(std::string_view chunk);
  void retry(const std::string& why, std::optional<Duration> asked_wait);
  void retry(const Result<HttpResponse>& answer);
  void after(Duration span, void (ObjectFollower::*what)());

  Transport& server_;
  const std::string collection_, name_;
  const std::function<void(std::optional<JsonView>)> on_object_;
  const DiagnosticSink log_;

  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // answers may come afterwards
  std::unique_ptr<Transport::Stream> stream_;
  std::unique_ptr<Transport::Timer> timer_;
  WatchDecoder decoder_;
  LogTime watching_since_{};
  RetryBackoff backoff_;
  std::string said_;
};

}  // namespace fairlead
