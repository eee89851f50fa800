// HTTP/1.1 to one API server: requests over a small pool of kept connections, and streams over one
// of their own each, which a request may have made.
//
// No type of Asio, Beast or OpenSSL appears here. All methods are called on the IoLoop's thread,
// and all callbacks run there.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connectors/kube/access/identity.h"
#include "connectors/kube/access/kubeconfig.h"
#include "connectors/kube/transport/io_loop.h"
#include "engine/base/descriptors.h"

namespace fairlead {

struct HttpRequest {
  std::string method = "GET";
  std::string target;  ///< path and query, behind the server's own path prefix
  std::string accept = "application/json";
  std::string content_type;
  std::string more_headers;  ///< whole lines, each with its CRLF. May hold a secret
  std::string body;
  Duration timeout = seconds(30);  ///< for connecting (from its turn on), sending and the whole
                                   ///< answer; idle time of the loop
  std::size_t body_bytes_max = std::size_t{16} << 20;
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

struct HttpLimits {
  std::size_t inflight_max = 64;    ///< requests on the wire at a time; more wait in order
  std::size_t queued_max = 10'000;  ///< waiting requests; more are refused as unavailable
  std::size_t idle_connections_max = 8;
  Duration idle_max = seconds(30);         ///< a connection that is kept for longer is closed
  Duration connect_timeout = seconds(10);  ///< counted as HttpRequest::timeout
  ConnectionPlace::Use use = ConnectionPlace::Use::hub;
};

class HttpClient {
 public:
  /// Makes a client. Fails with `bad_input` if certificates or keys cannot be used.
  static Result<std::unique_ptr<HttpClient>> make(IoLoop& loop, Credentials credentials,
                                                  HttpLimits limits);
  /// Makes a client that owns identities which were made before.
  static std::unique_ptr<HttpClient> make(IoLoop& loop, std::unique_ptr<Identities> identities,
                                          HttpLimits limits);
  virtual ~HttpClient() = default;

  /// Sends `request` and calls `done` once. `denied`: there are no credentials, nothing was sent.
  /// `unavailable`: no answer came (a timeout says so); the server may have executed the request.
  /// After a 401 the request is sent once more if there are other credentials.
  virtual void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) = 0;

  /// An open stream; destroying it cancels: no callback runs afterwards. `request.timeout` bounds
  /// only the time to the first answer; `body_bytes_max` only the body of a refusal.
  class Stream {
   public:
    virtual ~Stream() = default;
  };
  virtual std::unique_ptr<Stream> stream(HttpRequest request, HttpStreamHandler handler) = 0;
  /// Replaces the credentials, or removes them. Streams end (`unavailable`) if connections go
  /// elsewhere or are secured otherwise; they do so, too, when the identities renew themselves.
  virtual void use(Result<Credentials> credentials) = 0;
  virtual void set_limits(HttpLimits limits) = 0;
  /// Ends every request (`unavailable`, "stopped") and every stream (without a callback).
  virtual void stop() = 0;
};

}  // namespace fairlead
