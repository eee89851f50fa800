// The seam between what Fairlead does with an API server and how requests get there.
//
// Lists, watches, discovery, writes, reviews and the pauses between them (ApiServer, KubeSink, ...)
// run over this port, on one thread. HttpClient implements it with sockets and the machine's
// clock, model::ModelTransport with the API server in memory and virtual time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/result.h"
#include "engine/base/time.h"

namespace fairlead {

struct HttpRequest {
  std::string method = "GET";
  std::string target;  ///< path and query, behind the server's own path prefix
  std::string accept = "application/json";
  std::string content_type;
  std::string if_none_match;  ///< the value of that header; empty: without
  std::string more_headers;   ///< whole lines, each with its CRLF. May hold a secret
  std::string body;
  Duration timeout = seconds(30);  ///< for connecting (from its turn on), sending and the whole
                                   ///< answer; idle time of the loop
  std::size_t body_bytes_max = std::size_t{16} << 20;
  bool new_connection = false;  ///< over no kept one: behind one address may be several servers
};

struct HttpResponse {
  int status = 0;
  std::optional<Duration> retry_after;  ///< of the header, if it is a number of seconds
  std::string body;
  std::string etag{};  ///< of the header, as it was sent; empty: none
};

/// Callbacks of a stream, in this order; `ended` exactly once unless the stream was cancelled.
struct HttpStreamHandler {
  std::function<void()> opened;  ///< the answer is 200: bytes follow
  std::function<void(std::string_view)> bytes;
  /// Status 200: the server ended the stream. Another status: it refused, with the body. An error:
  /// the connection or the handshake failed.
  std::function<void(Result<HttpResponse>)> ended;
};

/// One API server. Everything is called on the transport's thread, and all callbacks run there,
/// never within the call that was given them.
class Transport {
 public:
  virtual ~Transport() = default;

  /// Sends `request` and calls `done` once. `denied`: there are no credentials, nothing was sent.
  /// `unavailable`: no answer came (a timeout says so); the server may have executed the request.
  /// Nothing calls it back; a caller that no longer wants the answer ignores it.
  virtual void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) = 0;

  /// An open stream; destroying it cancels: no callback runs afterwards. `request.timeout` bounds
  /// only the time to the first answer; `body_bytes_max` only the body of a refusal.
  class Stream {
   public:
    virtual ~Stream() = default;
  };
  virtual std::unique_ptr<Stream> stream(HttpRequest request, HttpStreamHandler handler) = 0;

  /// Work that is still to come; destroying it cancels.
  class Timer {
   public:
    virtual ~Timer() = default;
  };
  /// Runs `work` once after `span`.
  virtual std::unique_ptr<Timer> after(Duration span, std::function<void()> work) = 0;
  /// Returns a monotonic time; not a wall clock.
  virtual LogTime now() const = 0;
};

}  // namespace fairlead
