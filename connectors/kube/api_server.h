// One API server as the rest of Fairlead sees it: watch facts come out, writes go in.
//
// Inside are an HTTP client, discovery and a reflector a kind, all on the given IoLoop. Nothing of
// Asio shows here.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "connectors/kube/http_client.h"
#include "connectors/kube/kube_sink.h"
#include "connectors/kube/reflector.h"

namespace fairlead {

struct ApiServerSettings {
  HttpLimits http;  ///< http.inflight_max bounds pages and writes together
  WriteRate writes;
  ReflectorSettings reflector;
  std::map<Kind, WatchScope> scopes;          ///< kinds that are not simply watched everywhere
  Duration discovery_waiting = seconds(10);   ///< between looks for a kind that is not served yet
  Duration discovery_settled = seconds(300);  ///< between looks when all are
  CredentialTimes credentials;
  /// One line for an operator, on the loop's thread; may be empty.
  std::function<void(const std::string&)> diagnose;
};

/// For metrics. Names follow client-go where the meaning matches.
struct ApiServerCounters {
  std::map<Kind, ReflectorCounters> reflectors;
  std::map<Kind, bool> synced;
  std::set<Kind> absent;  ///< discovery was answered, and no version of the kind is served
  std::map<int, std::uint64_t> requests_by_code;  ///< rest_client_requests_total; 0: no answer
  std::map<WriteResult, std::uint64_t> writes;
  std::uint64_t posts_lost = 0;  ///< dropped or refused
  CredentialFigures credentials;
};

class ApiServerConnection {
 public:
  /// `name` is what facts call this server: "hub" or a member. `loop` outlives the connection.
  /// bad_input if the certificates cannot be used; a server that is down is no error, it is waited
  /// for.
  static Result<std::unique_ptr<ApiServerConnection>> make(IoLoop& loop, SourceName name,
                                                           Credentials credentials,
                                                           ApiServerSettings settings);
  /// The same before there are credentials, for the reason given: `read_again` (may be empty) is
  /// asked for them from time to time, use() brings them.
  static std::unique_ptr<ApiServerConnection> waiting(
      IoLoop& loop, SourceName name, Error why, std::function<Result<Credentials>()> read_again,
      ApiServerSettings settings);
  /// stop(), if that was not called. From any thread but the loop's.
  ~ApiServerConnection();
  ApiServerConnection(const ApiServerConnection&) = delete;
  ApiServerConnection& operator=(const ApiServerConnection&) = delete;

  /// Starts to watch; once. `sink` runs on the loop's thread, in the order of the stream; blocking
  /// in it holds the streams back (that is how a full queue slows a server down).
  void watch(std::vector<Kind> kinds, std::function<void(WatchFact)> sink);
  /// From now on these credentials count. An error: there are none any more, the server counts as
  /// lost until there are. The function may be called from any thread, also after the end of the
  /// connection (then nothing happens).
  std::function<void(Result<Credentials>)> use();
  /// From now on these settings count (rates, bounds, patience). From any thread.
  void adjust(const ApiServerSettings& settings);
  /// One object of this server, told at once and after each change, on the loop's thread; nullopt:
  /// it is not there. `collection` is the path of its list.
  class Follower {
   public:
    virtual ~Follower() = default;
  };
  /// Destroying the follower ends it; it may outlive the connection. From any thread but the
  /// loop's.
  std::unique_ptr<Follower> follow(std::string collection, std::string name,
                                   std::function<void(std::optional<JsonView>)> told);
  /// For writes; lives as long as the connection.
  PatchSink& sink();
  /// POSTs an object once, as well as can be: more than kPostsMax at a time are dropped, and nobody
  /// waits for the answer. From any thread.
  void post(std::string path, std::string body);
  static constexpr std::size_t kPostsMax = 32;
  /// A copy; from any thread.
  ApiServerCounters counters() const;
  /// Closes everything. No fact and no answer comes afterwards, except answers of writes under way
  /// ("stopped": unknown), which come before it returns or soon after.
  void stop();

 private:
  struct Impl;
  struct FollowerHandle;
  explicit ApiServerConnection(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
