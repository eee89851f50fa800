// One API server as the rest of Fairlead sees it: watch facts come out, writes go in.
//
// Inside are an HTTP client, discovery and one reflector per kind, all on the given IoLoop. No type
// of Asio appears here.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "connectors/kube/kube_sink.h"
#include "connectors/kube/transport/http_client.h"
#include "connectors/kube/transport/turn_gate.h"
#include "connectors/kube/watch/reflector.h"

namespace fairlead {

struct ApiServerSettings {
  HttpLimits http;  ///< http.inflight_max bounds pages and writes together
  WriteRate writes;
  ReflectorSettings reflector;
  std::map<Kind, WatchScope> scopes;          ///< kinds that are not simply watched everywhere
  Duration discovery_waiting = seconds(10);   ///< discovery interval while a kind is not served yet
  Duration discovery_settled = seconds(300);  ///< discovery interval when all kinds are served
  std::size_t discovery_inflight = 8;         ///< requests of a discovery at a time
  /// Credentials, discovery and the first lists wait for a turn there, again where discovery
  /// failed; null: they do not. Outlives the connection; adjust() does not change it.
  std::shared_ptr<TurnGate> beginnings;
  CredentialTimes credentials;
  /// Logs one line for an operator, on the loop's thread; may be empty.
  DiagnosticSink diagnose;
};

/// For metrics. Names follow client-go where the meaning matches.
struct ApiServerCounters {
  std::map<Kind, ReflectorCounters> reflectors;
  std::map<Kind, bool> synced;
  std::set<Kind> absent;  ///< discovery was answered, and no version of the kind is served
  std::map<int, std::uint64_t> requests_by_code;  ///< rest_client_requests_total; 0: no answer
  std::map<WriteResult, std::uint64_t> writes;
  std::uint64_t posts_lost = 0;  ///< dropped or refused
  CredentialStats credentials;
};

class ApiServerConnection {
 public:
  /// Makes the connection. `name` is the source of its facts. `loop` outlives the connection. Fails
  /// with `bad_input` if the certificates cannot be used; a server that is down is no error: its
  /// kinds are listed once it answers.
  static Result<std::unique_ptr<ApiServerConnection>> make(IoLoop& loop, SourceName name,
                                                           Credentials credentials,
                                                           ApiServerSettings settings);
  /// Makes the connection before there are credentials; `why` is the reason. It calls `read_again`
  /// (may be empty) for them from time to time; use() may bring them, too.
  static std::unique_ptr<ApiServerConnection> waiting(
      IoLoop& loop, SourceName name, Error why, std::function<Result<Credentials>()> read_again,
      ApiServerSettings settings);
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
  void adjust(const ApiServerSettings& settings);
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
  /// Returns the sink for writes; it lives as long as the connection.
  PatchSink& sink();
  /// POSTs an object once, without a guarantee: more than kPostsMax at a time are dropped, and a
  /// failure is only counted. From any thread.
  void post(std::string path, std::string body);
  static constexpr std::size_t kPostsMax = 32;
  /// Returns a copy. From any thread.
  ApiServerCounters counters() const;
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
