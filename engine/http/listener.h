// Accepts connections on one address and runs them on one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "engine/base/result.h"
#include "engine/base/time.h"
#include "engine/http/connection.h"
#include "engine/http/listen_address.h"

namespace boost::asio::ssl {
class context;
}

namespace fairlead {

/// What a listener serves, and how.
struct HttpListening {
  /// Makes the handler of a connection that was accepted. Runs on the listener's thread.
  MakeHttpHandler make_handler;
  HttpPatience patience = {};
  /// At a time; further ones are closed. Less where the limit of open files has no room for them.
  std::size_t connections_max = 1024;
  /// Null: plain HTTP. Else it returns the TLS settings for a connection; where it returns null the
  /// connection is closed.
  std::function<std::shared_ptr<boost::asio::ssl::context>()> tls = {};
};

/// Serves from start() until stop() or its end.
class HttpListener : public HttpLoop {
 public:
  /// Fails with `unavailable` if it cannot listen on `address`.
  static Result<std::unique_ptr<HttpListener>> start(const ListenAddress& address,
                                                     HttpListening listening);
  /// The port that it listens on, even if `address` asked for any free one.
  virtual std::uint16_t port() const = 0;
  /// Runs `work` on the listener's thread, again and again, `period` after its last end.
  virtual void repeat(Duration period, std::function<void()> work) = 0;
  /// Accepts no more, and drains the connections for at most `patience`. Joins the thread; must not
  /// be called on it. Idempotent.
  virtual void stop(Duration patience) = 0;
};

}  // namespace fairlead
