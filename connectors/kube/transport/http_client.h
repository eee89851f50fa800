// The port Transport over HTTP/1.1: requests over a small pool of kept connections, and streams
// over one of their own each, which a request may have made.
//
// No type of Asio, Beast or OpenSSL appears here. All methods are called on the IoLoop's thread,
// and all callbacks run there.
#pragma once

#include <cstddef>
#include <memory>

#include "connectors/kube/access/identity.h"
#include "connectors/kube/access/kubeconfig.h"
#include "connectors/kube/transport/io_loop.h"
#include "connectors/kube/transport/transport.h"
#include "engine/base/descriptors.h"

namespace fairlead {

struct HttpLimits {
  std::size_t inflight_max = 64;    ///< requests on the wire at a time; more wait in order
  std::size_t queued_max = 10'000;  ///< waiting requests; more are refused as unavailable
  std::size_t idle_connections_max = 8;
  Duration idle_max = seconds(30);         ///< a connection that is kept for longer is closed
  Duration connect_timeout = seconds(10);  ///< counted as HttpRequest::timeout
  ConnectionPlace::Use use = ConnectionPlace::Use::hub;
};

/// After a 401 a request is sent once more if there are other credentials.
class HttpClient : public Transport {
 public:
  /// Makes a client. Fails with `bad_input` if certificates or keys cannot be used.
  static Result<std::unique_ptr<HttpClient>> make(IoLoop& loop, Credentials credentials,
                                                  HttpLimits limits);
  /// Makes a client that owns identities which were made before.
  static std::unique_ptr<HttpClient> make(IoLoop& loop, std::unique_ptr<Identities> identities,
                                          HttpLimits limits);

  /// Replaces the credentials, or removes them. Streams end (`unavailable`) if connections go
  /// elsewhere or are secured otherwise; they do so, too, when the identities renew themselves.
  virtual void use(Result<Credentials> credentials) = 0;
  virtual void set_limits(HttpLimits limits) = 0;
  /// Ends every request (`unavailable`, "stopped") and every stream (without a callback).
  virtual void stop() = 0;
};

}  // namespace fairlead
