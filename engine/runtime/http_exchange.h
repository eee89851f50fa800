// What an endpoint of the hub serves: questions, POSTs, streams, and their bounds.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/time.h"
#include "engine/http/message.h"

namespace fairlead {

/// How many requests and connections an endpoint has at a time.
struct HttpPlaces {
  /// Requests other than probes that are answered; further ones get 503 with Retry-After.
  std::size_t requests = 64;
  std::size_t requests_of_address = 32;  ///< the same limit for one remote address
  /// Further connections: for probes, and for those that have not sent a whole request.
  std::size_t waiting = 64;
  std::size_t waiting_of_address = 32;  ///< the same limit for one remote address
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
/// text that `version` returns, at once and whenever the text has changed. A stream does not take
/// the place of a request.
struct HttpStreams {
  std::string path;  ///< without a query; a request's query is ignored
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
  std::string path;                             ///< without a query; a request's query is ignored
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

/// Connections of all endpoints of a hub, at most: the two of `--listen` and `--listen-secure` have
/// 256 places, the webhook 1,024.
inline constexpr std::size_t kHubConnectionsMax = 1536;
/// Where the process may accept fewer connections than that, each bound shrinks in proportion.
void fit_into(std::size_t accepted, HttpPlaces& places, HttpStreams& streams);

/// Decides whether a request that is not a probe may be answered. Calls `decided` exactly once, at
/// once or later, from any thread: with nothing to let the request pass, or with the refusal. It is
/// called on the endpoint's thread and must not block.
using HttpGuard = std::function<void(const ReceivedRequest& request,
                                     std::function<void(std::optional<HttpReply>)> decided)>;

}  // namespace fairlead
