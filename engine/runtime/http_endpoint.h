// A small HTTP server for probes, metrics and questions. Beast and Asio stay behind it.
//
// GET only. Probes are answered on the endpoint's one thread and never wait; a question may take a
// while, so questions have a thread of their own, one at a time. Every client that reaches the
// address is served without credentials, so no answer holds a secret, and every connection is
// bounded in time, size and number.
//
// A connection that has not sent a whole request costs a client nothing, so it holds no place:
// where places are short, the oldest such connection is closed for a new one. A probe (kHttpProbes)
// is answered as soon as it is read, whatever the other connections do.
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

/// Where to listen: `127.0.0.1:8080`, `[::1]:8080`, `:8080` (every address), port 0: any free one.
struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;

  friend bool operator==(const ListenAddress&, const ListenAddress&) = default;
};
Result<ListenAddress> parse_listen_address(std::string_view text);

struct HttpReply {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";
  std::string body;
  int retry_after_seconds = 0;  ///< of a 503; 0: not said
};

/// Requests that are answered at a time, other than probes; more get 503 with Retry-After.
inline constexpr std::size_t kHttpRequestsMax = 64;
/// The same of one remote address.
inline constexpr std::size_t kHttpRequestsOfAddressMax = 32;
/// Connections at a time beyond those: for probes, and for what has not sent a whole request.
inline constexpr std::size_t kHttpWaitingMax = 64;
/// The same of one remote address.
inline constexpr std::size_t kHttpWaitingOfAddressMax = 32;
/// How long a client may say nothing, or take nothing, before its connection is closed.
struct HttpPatience {
  /// From a request's first byte, or from the beginning of the connection, to the request's end.
  Duration header = seconds(5);
  Duration idle = seconds(30);    ///< between the end of an answer and the next request
  Duration answer = seconds(10);  ///< for the client to read an answer
};
/// What the kubelet asks for; it restarts a Pod whose probe gets no answer.
inline constexpr std::array<std::string_view, 3> kHttpProbes{"/livez", "/readyz", "/healthz"};
/// Questions that wait behind the one that is answered; more are told 503 with Retry-After.
inline constexpr std::size_t kHttpQuestionsMax = 4;
/// A question that has waited longer is told 503 instead of being answered.
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

  /// unavailable if the address cannot be listened on.
  static Result<std::unique_ptr<HttpEndpoint>> start(const ListenAddress& address, Handler handler,
                                                     Questions questions = {},
                                                     const HttpPatience& patience = {});
  virtual ~HttpEndpoint() = default;
  virtual std::uint16_t port() const = 0;
};

}  // namespace fairlead
