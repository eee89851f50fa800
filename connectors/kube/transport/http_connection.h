// One connection, plain or TLS, behind one virtual interface: Beast's parser and the pool are
// compiled once. Included by http_*.cpp only.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <memory>

#include "connectors/kube/transport/http_client.h"
#include "connectors/kube/transport/io_types.h"
#include "connectors/kube/transport/socket_tls.h"
#include "engine/base/descriptors.h"

namespace fairlead {

using ErrorCondition = boost::system::error_code;

/// Settings that all connections to one server share.
struct ConnectionTarget {
  ServerAddress server;
  std::string verify_name;                         // SNI and the name in the certificate
  std::shared_ptr<boost::asio::ssl::context> tls;  // null: plain
  // Of this server by this identity. Used on the loop's thread, by all connections.
  std::unique_ptr<TlsSession> tls_session;
  std::optional<ProxyAddress> proxy;
  std::shared_ptr<boost::asio::ssl::context> proxy_tls;  // null: plain TCP to the proxy
};

/// Makes the target of `credentials` with this client certificate (both empty: none). Fails with
/// `bad_input` if a certificate or key cannot be used.
Result<std::shared_ptr<const ConnectionTarget>> make_target(const Credentials& credentials,
                                                            const std::string& certificate_pem,
                                                            const std::string& key_pem);

/// A byte stream to the server. Operations report through `error` and never throw; close() makes
/// pending ones fail.
class Connection {
 public:
  virtual ~Connection() = default;
  /// Waits for the turn to connect(), which ends with it: the deadline of connecting begins here.
  virtual boost::asio::awaitable<void> wait_turn(ErrorCondition& error) = 0;
  virtual boost::asio::awaitable<void> connect(ErrorCondition& error) = 0;
  /// Sends all of `bytes`.
  virtual boost::asio::awaitable<void> write(std::string_view bytes, ErrorCondition& error) = 0;
  /// Waits for bytes and returns them; nothing at the end of the stream (a missing TLS close_notify
  /// is an end too: HTTP frames its bodies). They are valid until the caller waits for anything:
  /// the loop lends one buffer to all connections.
  virtual boost::asio::awaitable<std::string_view> read(ErrorCondition& error) = 0;
  virtual void close() = 0;
  /// Whether the peer has neither closed nor sent anything: only then another request may be sent.
  virtual bool quiet() = 0;
  /// The step in which connect() failed, for a message.
  virtual std::string step() const = 0;

  ConnectionPlace::Use use = ConnectionPlace::Use::hub;  ///< set before connect()
};

std::unique_ptr<Connection> make_connection(IoLoop::Impl& loop,
                                            std::shared_ptr<const ConnectionTarget> target);

}  // namespace fairlead
