// What the hub serves over HTTP: probes, metrics, questions and a webhook, plain or with TLS 1.3.
//
// Probes are answered on the endpoint's one thread and never wait; a question may need seconds of
// disk reads, so questions run on a thread of their own, one at a time, and POSTs on another. No
// answer holds a secret. Without a guard every client that reaches the address is served, so every
// connection is bounded in time, size and number.
//
// A connection that has not sent a whole request, or has not ended its TLS handshake, costs a
// client nothing, so it has no claim to its place: where places are short, the oldest such
// connection is closed for a new one. A probe (kHttpProbes) is answered as soon as it is read,
// whatever the other connections do.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/base/result.h"
#include "engine/http/connection.h"
#include "engine/http/listen_address.h"
#include "engine/runtime/http_exchange.h"
#include "engine/runtime/served_certificate.h"

namespace fairlead {

/// What an endpoint serves, and how.
struct HttpServing {
  /// Answers a GET of `path` (without the query). Runs on the endpoint's thread; must not block.
  std::function<HttpReply(std::string_view path)> handler = {};
  HttpQuestions questions = {};
  HttpPatience patience = {};
  HttpPosts posts = {};
  HttpGuard guard = {};  ///< null: every client is served; probes pass always
  /// Null: plain HTTP. Else TLS 1.3, and its look() is called from time to time; while it has no
  /// pair, connections are closed.
  std::shared_ptr<ServedCertificate> certificate = {};
  HttpPlaces places = {};
  HttpStreams streams = {};
  /// Which pages may show those that are served in a frame: `frame-ancestors` of their policy.
  std::string frame_ancestors = "'none'";
  /// How long the end of an endpoint waits for the answers to requests that were read.
  Duration drain = seconds(2);
};

struct HttpShared;
class HttpListener;

/// Serves until it is destroyed. Then requests that have begun to arrive are answered, with
/// `Connection: close`, for at most HttpServing::drain; all other connections are closed.
class HttpEndpoint {
 public:
  /// Listens on `address` and serves. Fails with `unavailable` if it cannot listen there.
  static Result<std::unique_ptr<HttpEndpoint>> start(const ListenAddress& address,
                                                     HttpServing serving);
  HttpEndpoint(const HttpEndpoint&) = delete;
  HttpEndpoint& operator=(const HttpEndpoint&) = delete;
  ~HttpEndpoint();
  /// The port that it listens on, also where `address` asked for any free one.
  std::uint16_t port() const;
  /// Runs `work` on its thread soon.
  void post(std::function<void()> work);

 private:
  explicit HttpEndpoint(HttpServing serving);
  Result<void> listen(const ListenAddress& address);
  void send_versions();

  std::unique_ptr<HttpShared> shared_;  // outlives the sessions that end with the listener
  std::unique_ptr<HttpListener> listener_;
};

}  // namespace fairlead
