// An ApiServer over HTTP: it lives on the thread of an IoLoop, and any thread may call it.
//
// No type of Asio appears here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/kube/access/identity.h"
#include "connectors/kube/api_server.h"
#include "connectors/kube/transport/http_client.h"
#include "connectors/kube/transport/turn_gate.h"

namespace fairlead {

struct ConnectionSettings : ApiServerSettings {
  HttpLimits http;  ///< http.inflight_max bounds pages and writes together
  CredentialTimes credentials;
};

struct ConnectionCounters : ApiServerCounters {
  CredentialStats credentials;
};

class ApiServerConnection {
 public:
  /// Makes the connection. `name` is the source of its facts. `loop` outlives the connection. Fails
  /// with `bad_input` if the certificates cannot be used; a server that is down is no error: its
  /// kinds are listed once it answers.
  static Result<std::unique_ptr<ApiServerConnection>> make(IoLoop& loop, SourceName name,
                                                           Credentials credentials,
                                                           ConnectionSettings settings);
  /// Makes the connection before there are credentials; `why` is the reason. It calls `read_again`
  /// (may be empty) for them from time to time; use() may bring them, too.
  static std::unique_ptr<ApiServerConnection> waiting(
      IoLoop& loop, SourceName name, Error why, std::function<Result<Credentials>()> read_again,
      ConnectionSettings settings);
  /// Calls stop() if the caller did not. From any thread but the loop's.
  ~ApiServerConnection();
  ApiServerConnection(const ApiServerConnection&) = delete;
  ApiServerConnection& operator=(const ApiServerConnection&) = delete;

  /// Starts to watch `kinds`; call it once. `sink` runs on the loop's thread, in the order of the
  /// stream; blocking in it holds the streams back (that is how a full inbox slows a server down).
  void watch(std::vector<Kind> kinds, std::function<void(WatchFact)> sink);
  /// Returns a function that replaces the credentials. With an error there are none any more, and
  /// the server counts as lost until there are. Any thread may call it, also after the end of the
  /// connection (then it does nothing).
  std::function<void(Result<Credentials>)> use();
  /// Replaces the settings (rates, bounds, timeouts). From any thread.
  void adjust(const ConnectionSettings& settings);
  /// A handle on the watch of one object; see follow().
  class Follower {
   public:
    virtual ~Follower() = default;
  };
  /// Watches one object in the list at the path `collection`. Calls `on_object` on the loop's
  /// thread with the object, or nullopt if it does not exist: once at the beginning and after each
  /// change. Destroying the follower ends the watch; it may outlive the connection. Call from any
  /// thread but the loop's.
  std::unique_ptr<Follower> follow(std::string collection, std::string name,
                                   std::function<void(std::optional<JsonView>)> on_object);
  /// Returns the sink for writes, for any thread; it lives as long as the connection.
  PatchSink& sink();
  /// ApiServer::post() from any thread.
  void post(std::string path, std::string body);
  /// Returns a copy. From any thread.
  ConnectionCounters counters() const;
  /// Closes all connections. No fact and no answer follows, except the answers of writes under way
  /// (unknown, "stopped"), which come before it returns or soon after.
  void stop();

 private:
  struct Impl;
  struct FollowerHandle;
  explicit ApiServerConnection(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
