// What the hub's HTTP server and the code behind it exchange: requests, replies, bounds.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/time.h"

namespace fairlead {

/// A request that was read whole.
struct ReceivedRequest {
  std::string method;
  std::string target;         ///< path and query, as the client sent them
  std::string host;           ///< the Host header; empty: none
  std::string authorization;  ///< the header; empty: none. Never to be stored or logged
  /// The header kHttpOwnAuthorization; the same holds for it.
  std::string own_authorization;
  std::string content_type;  ///< the header; empty: none
  std::string body;          ///< of a POST; empty for others

  /// The target without the query.
  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
};

/// What a client sends that cannot use Authorization: an API server's service proxy takes that one
/// for its own and does not pass it on.
inline constexpr std::string_view kHttpOwnAuthorization = "Fairlead-Authorization";

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  int retry_after_seconds = 0;  ///< the Retry-After header; 0: none
};

/// How many requests and connections an endpoint has at a time.
struct HttpPlaces {
  /// Requests other than probes that are answered; further ones get 503 with Retry-After.
  std::size_t requests = 64;
  std::size_t requests_of_address = 32;  ///< the same limit for one remote address
  /// Further connections: for probes, and for those that have not sent a whole request.
  std::size_t waiting = 64;
  std::size_t waiting_of_address = 32;  ///< the same limit for one remote address
};

/// How long a client may send nothing, or read nothing, before its connection is closed.
struct HttpPatience {
  /// From a request's first byte, or from the beginning of the connection (a TLS handshake
  /// included), to the request's end.
  Duration header = seconds(5);
  Duration idle = seconds(30);    ///< between the end of an answer and the next request
  Duration answer = seconds(10);  ///< for the client to read an answer
};

/// The paths that the kubelet requests; it restarts a Pod whose probe gets no answer.
inline constexpr std::array<std::string_view, 3> kHttpProbes{"/livez", "/readyz", "/healthz"};

/// A target of more bytes, path and query, gets 414.
inline constexpr std::size_t kHttpTargetMax = std::size_t{8} << 10;

/// Questions that wait behind the one being answered; further ones get 503 with Retry-After.
inline constexpr std::size_t kHttpQuestionsMax = 4;
/// A question that has waited longer gets 503 instead of an answer.
inline constexpr Duration kHttpQuestionPatience = seconds(5);
/// Requests that are answered on a thread of their own, one at a time, because an answer may need
/// seconds of disk reads.
struct HttpQuestions {
  std::vector<std::string> prefixes;  ///< of the paths that are questions
  /// Gets the target, path and query. Null: there are no questions.
  std::function<HttpReply(std::string_view target)> answer;
  std::size_t waiting_max = kHttpQuestionsMax;
  Duration patience = kHttpQuestionPatience;
};

/// One path whose GET is answered by a stream of Server-Sent Events: a "version" event with the
/// text that `version` returns, at once and whenever it is another one. A stream takes the place of
/// no request.
struct HttpStreams {
  std::string path;  ///< without a query; that of a request is ignored
  /// Runs on the endpoint's thread, once a tick for all streams; must not block. Null: there are no
  /// streams. Its text has no line break.
  std::function<std::string()> version;
  std::size_t max = 128;  ///< further ones get 503 with Retry-After
  Duration tick = seconds(1);
  Duration silence_max = seconds(15);  ///< then a comment follows, which finds a client that left
  /// A stream of this age ends with an "end" event, so that a guard judges its client again when it
  /// asks for another one; zero: it does not end.
  Duration age_max{};
};

/// POSTs of one path; any other POST gets 405. Short ones may be answered on the endpoint's thread;
/// the others are answered on a thread of their own, one at a time and in the order in which they
/// came.
struct HttpPosts {
  std::string path;                             ///< without a query; that of a request is ignored
  std::size_t body_max = std::size_t{8} << 20;  ///< bytes; a longer body gets 413
  std::size_t waiting_max = 256;                ///< posts behind the one being answered
  Duration patience = seconds(5);               ///< one that has waited longer gets 503
  /// A body of at most so many bytes is answered on the endpoint's thread: that saves waking two
  /// threads, which costs more than a short answer. It may overtake a longer one.
  std::size_t inline_body_max = 0;
  /// Null: there are no POSTs. With `inline_body_max` it runs on two threads at a time, and must
  /// not block for such a body.
  std::function<HttpReply(const ReceivedRequest&)> answer;
};
/// A body up to this many bytes needs no place of its own.
inline constexpr std::size_t kHttpSmallBody = std::size_t{256} << 10;
/// Longer bodies, or bodies of unknown length, that are in memory at a time; further ones get 503.
inline constexpr std::size_t kHttpLargeBodiesMax = 8;

/// Decides whether a request that is no probe may be answered. Calls `decided` exactly once, at
/// once or later, from any thread: with nothing to let the request pass, or with the refusal. It is
/// called on the endpoint's thread and must not block.
using HttpGuard = std::function<void(const ReceivedRequest& request,
                                     std::function<void(std::optional<HttpReply>)> decided)>;

}  // namespace fairlead
