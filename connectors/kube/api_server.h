// One API server as the engine sees it: watch facts come out, writes go in.
//
// Inside are discovery, one reflector per kind and the sink for writes, all over one Transport and
// on its thread. Nothing here knows sockets, threads, credentials or the machine's clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "connectors/kube/kube_sink.h"
#include "connectors/kube/transport/transport.h"
#include "connectors/kube/watch/object_follower.h"
#include "connectors/kube/watch/random_bits.h"
#include "connectors/kube/watch/reflector.h"

namespace fairlead {

class TurnGate;

struct ApiServerSettings {
  WriteRate writes;
  ReflectorSettings reflector;
  std::map<Kind, WatchScope> scopes;          ///< kinds that are not simply watched everywhere
  Duration discovery_waiting = seconds(10);   ///< discovery interval while a kind is not served yet
  Duration discovery_settled = seconds(300);  ///< discovery interval when all kinds are served
  std::size_t discovery_inflight = 8;         ///< requests of a discovery at a time
  /// Credentials, discovery and the first lists wait for a turn there, again where discovery
  /// failed; null: they do not. Outlives the connection; adjust() does not change it.
  std::shared_ptr<TurnGate> beginnings;
  /// Returns 64 random bits, for jitter; adjust() does not change it.
  std::function<std::uint64_t()> random = random_bits;
  /// Logs one line for an operator, on the transport's thread; may be empty.
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
};

/// On the transport's thread only, but for counters().
class ApiServer {
 public:
  /// `name` is the source of its facts. `transport` outlives stop().
  ApiServer(Transport& transport, SourceName name, ApiServerSettings settings);
  /// Calls stop() if the caller did not.
  ~ApiServer();
  ApiServer(const ApiServer&) = delete;
  ApiServer& operator=(const ApiServer&) = delete;

  /// Starts to watch `kinds`; call it once. `sink` gets the facts, in the order of the stream.
  void watch(const std::vector<Kind>& kinds, std::function<void(WatchFact)> sink);
  /// The server has another address: everything is listed anew.
  void moved();
  /// There are no credentials any more: the server counts as lost until reconnected().
  void disconnected();
  /// There are credentials: ends the waits of what failed.
  void reconnected();
  /// Replaces the settings (rates, bounds, timeouts, scopes).
  void adjust(const ApiServerSettings& settings);
  /// Watches one object in the list at the path `collection`. Calls `on_object` with the object, or
  /// nullopt if it does not exist: once at the beginning and after each change. Destroying the
  /// follower ends the watch; it ends before this.
  std::unique_ptr<ObjectFollower> follow(std::string collection, std::string name,
                                         std::function<void(std::optional<JsonView>)> on_object);
  /// Returns the sink for writes; it lives as long as this.
  PatchSink& sink();
  /// POSTs an object once, without a guarantee: more than kPostsMax at a time are dropped, and a
  /// failure is only counted.
  void post(std::string path, std::string body);
  static constexpr std::size_t kPostsMax = 32;
  /// Returns a copy. From any thread.
  ApiServerCounters counters() const;
  /// Ends every stream. No fact follows; a write that still waits here is answered as unknown.
  void stop();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
