// A small HTTP server for probes, metrics and questions. Beast and Asio stay behind it.
//
// GET and HEAD only. Probes are answered on the endpoint's one thread and never wait; a question
// may need seconds of disk reads, so questions run on a thread of their own, one at a time. Every
// client that reaches the address is served without credentials, so no answer holds a secret, and
// every connection is bounded in time, size and number.
//
// A connection that has not sent a whole request costs a client nothing, so it has no claim to its
// place: where places are short, the oldest such connection is closed for a new one. A probe
// (kHttpProbes) is answered as soon as it is read, whatever the other connections do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/time.h"

namespace fairlead {

/// Where to listen: `127.0.0.1:8080`, `[::1]:8080`, `:8080` (every IPv4 address). Port 0 means any
/// free port.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};
/// Parses such an address. Fails with `bad_input` for another form, a host that is no IP address
/// (except `localhost`) or a bad port.
Result<ListenAddress> parse_listen_address(std::string_view text);

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  int retry_after_seconds = 0;  ///< the Retry-After header; 0: none
};

/// Requests other than probes that are answered at a time; further ones get 503 with Retry-After.
inline constexpr std::size_t kHttpRequestsMax = 64;
/// The same limit for one remote address.
inline constexpr std::size_t kHttpRequestsOfAddressMax = 32;
/// Further connections at a time: for probes, and for those that have not sent a whole request.
inline constexpr std::size_t kHttpWaitingMax = 64;
/// The same limit for one remote address.
inline constexpr std::size_t kHttpWaitingOfAddressMax = 32;
/// How long a client may send nothing, or read nothing, before its connection is closed.
struct HttpPatience {
  /// From a request's first byte, or from the beginning of the connection, to the request's end.
  Duration header = seconds(5);
  Duration idle = seconds(30);    ///< between the end of an answer and the next request
  Duration answer = seconds(10);  ///< for the client to read an answer
};
/// The paths that the kubelet requests; it restarts a Pod whose probe gets no answer.
inline constexpr std::array<std::string_view, 3> kHttpProbes{"/livez", "/readyz", "/healthz"};
/// Questions that wait behind the one being answered; further ones get 503 with Retry-After.
inline constexpr std::size_t kHttpQuestionsMax = 4;
/// A question that has waited longer gets 503 instead of an answer.
inline constexpr Duration kHttpQuestionPatience = seconds(5);

/// Serves until it is destroyed.
class HttpEndpoint {
 public:
  /// Answers a GET of `path` (without the query). Runs on the endpoint's thread; must not block.
  using Handler = std::function<HttpReply(std::string_view path)>;

  /// Paths that begin with one of `prefixes` are questions: `answer` gets the whole target (path
  /// and query) on the thread for questions, and may read disks. Without `answer` there are none.
  struct Questions {
    std::vector<std::string> prefixes;
    std::function<HttpReply(std::string_view target)> answer;
  };

  /// Listens on `address` and serves. Fails with `unavailable` if it cannot listen there.
  static Result<std::unique_ptr<HttpEndpoint>> start(const ListenAddress& address, Handler handler,
                                                     Questions questions = {},
                                                     const HttpPatience& patience = {});
  virtual ~HttpEndpoint() = default;
  /// The port that it listens on, also where `address` asked for any free one.
  virtual std::uint16_t port() const = 0;
};

}  // namespace fairlead
