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
  Duration discovery_waiting = seconds(10);   ///< between looks for a kind that is not served yet
  Duration discovery_settled = seconds(300);  ///< between looks when all are
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
};

class ApiServerConnection {
 public:
  /// `name` is what facts call this server: "hub" or a member. `loop` outlives the connection.
  /// bad_input if the certificates cannot be used; a server that is down is no error, it is waited
  /// for.
  static Result<std::unique_ptr<ApiServerConnection>> make(IoLoop& loop, SourceName name,
                                                           Credentials credentials,
                                                           ApiServerSettings settings);
  /// stop(), if that was not called. From any thread but the loop's.
  ~ApiServerConnection();
  ApiServerConnection(const ApiServerConnection&) = delete;
  ApiServerConnection& operator=(const ApiServerConnection&) = delete;

  /// Starts to watch; once. `sink` runs on the loop's thread, in the order of the stream; blocking
  /// in it holds the streams back (that is how a full queue slows a server down).
  void watch(std::vector<Kind> kinds, std::function<void(WatchFact)> sink);
  /// For writes; lives as long as the connection.
  PatchSink& sink();
  /// A copy; from any thread.
  ApiServerCounters counters() const;
  /// Closes everything. No fact and no answer comes afterwards, except answers of writes under way
  /// ("stopped": unknown), which come before it returns or soon after.
  void stop();

 private:
  struct Impl;
  explicit ApiServerConnection(std::shared_ptr<Impl> impl);
  std::shared_ptr<Impl> impl_;
};

}  // namespace fairlead
