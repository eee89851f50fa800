// TLS over a socket, for a client that has thousands of connections, few of which do anything.
//
// Asio's stream keeps four buffers of 17 KiB for each connection as long as it lives. Here OpenSSL
// reads and writes the socket itself, keeps a buffer only while a record is incomplete, and Asio
// waits. Included by http_connection.* only.
#pragma once

#include <openssl/ssl.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead {

/// The session of one server and identity that a later handshake resumes: neither side verifies or
/// signs again. The newest one only. On the thread of its connections.
class TlsSession {
 public:
  TlsSession() = default;
  ~TlsSession() { forget(); }
  TlsSession(const TlsSession&) = delete;
  TlsSession& operator=(const TlsSession&) = delete;

  /// Connections with this context bring their sessions. Call it before they are made.
  static void enable(boost::asio::ssl::context& tls);
  /// Takes over the caller's reference.
  void keep(SSL_SESSION* session);
  /// Has the handshake resume it, if the server's certificate is still valid.
  void resume(SSL* tls);
  void forget();

 private:
  SSL_SESSION* session_ = nullptr;
};

/// One connection. Its socket is connected before handshake(), and may be closed at any time, which
/// ends what waits. Errors are those of Asio's stream.
class SocketTls {
 public:
  using ErrorCondition = boost::system::error_code;

  /// All outlive it.
  SocketTls(boost::asio::ip::tcp::socket& socket, boost::asio::ssl::context& tls,
            TlsSession& session);
  ~SocketTls();
  SocketTls(const SocketTls&) = delete;
  SocketTls& operator=(const SocketTls&) = delete;

  SSL* native_handle() { return tls_; }
  /// The name or address that the server's certificate must be for, unless nothing is verified.
  void verify(std::string name) { name_ = std::move(name); }
  boost::asio::awaitable<void> handshake(ErrorCondition& error);
  boost::asio::awaitable<void> write(std::string_view bytes, ErrorCondition& error);
  /// Reads at most `size` bytes, and writes to `to` only as it returns. Fails with eof or
  /// stream_truncated at the end.
  boost::asio::awaitable<std::size_t> read(char* to, std::size_t size, ErrorCondition& error);

 private:
  friend class TlsSession;
  struct Bio;

  boost::asio::awaitable<void> wait_after(int result, ErrorCondition& error);

  boost::asio::ip::tcp::socket& socket_;
  TlsSession& session_;
  SSL* const tls_;
  std::string name_;
  ErrorCondition socket_error_;  // of the last operation
};

}  // namespace fairlead
