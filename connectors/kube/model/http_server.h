// A model's requests and watch streams over HTTP/1.1, on the loopback interface.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "connectors/kube/model/api_request.h"
#include "engine/base/result.h"
#include "engine/base/time.h"

namespace fairlead::model {

/// Limits of one server.
struct HttpServerOptions {
  std::uint16_t port = 0;  ///< 0: any free one
  std::size_t connections_max = 512;
  std::size_t body_bytes_max = 8u << 20;
  Duration watch_lifetime = minutes(30);     ///< of a watch whose request has no timeoutSeconds
  Duration bookmark_interval = seconds(60);  ///< `tick` is called this often
};

/// Serves until it is destroyed. All handlers run on its one thread.
class HttpServer {
 public:
  using Handler = std::function<ApiAnswer(const ApiRequest&)>;
  /// A line of a stream, nullopt if there is none now, and whether none will follow.
  struct Pulled {
    std::optional<std::string> line;
    bool ended = false;
  };
  /// Removes a line from a stream under the handler's lock.
  using Puller = std::function<Pulled(WatchStream&)>;
  /// Sets a stream's on_ready under that lock, because the model may be adding lines already.
  using Subscriber = std::function<void(WatchStream&, std::function<void()>)>;

  struct Callbacks {
    Handler handle;
    Puller pull;
    Subscriber subscribe;
    std::function<void()> tick;
  };

  /// Starts to listen on 127.0.0.1. Fails with `unavailable` if the port is in use.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   Callbacks callbacks);
  virtual ~HttpServer() = default;
  virtual std::uint16_t port() const = 0;
  /// Closes every connection and joins the thread. Idempotent; must not be called by a handler.
  virtual void stop() = 0;
};

}  // namespace fairlead::model
