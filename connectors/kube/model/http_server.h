// HTTP/1.1 on the loopback interface: keep-alive requests, chunked watch streams.
//
// The only place that knows Beast. It speaks ApiRequest and ApiAnswer and hides every template
// behind one class.
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
  Duration watch_lifetime = minutes(30);  ///< a watch that asks for no other is closed after this
  Duration bookmark_interval = seconds(60);  ///< `tick` is called this often
};

/// Serves until it is destroyed. All handlers run on its one thread.
class HttpServer {
 public:
  using Handler = std::function<ApiAnswer(const ApiRequest&)>;
  /// Takes a line from a stream under whatever lock the handler uses; nullopt if there is none now.
  using Puller = std::function<std::optional<std::string>(WatchStream&, bool& ended)>;
  /// Sets a stream's on_ready under that lock: the model may be pushing lines already.
  using Subscriber = std::function<void(WatchStream&, std::function<void()>)>;

  struct Callbacks {
    Handler handle;
    Puller pull;
    Subscriber subscribe;
    std::function<void()> tick;
  };

  /// Starts listening on 127.0.0.1. ErrorCode::unavailable if the port is taken.
  static Result<std::unique_ptr<HttpServer>> start(const HttpServerOptions& options,
                                                   Callbacks callbacks);
  virtual ~HttpServer() = default;
  virtual std::uint16_t port() const = 0;
  /// Closes every connection and joins the thread. Idempotent; not from a handler.
  virtual void stop() = 0;
};

}  // namespace fairlead::model
