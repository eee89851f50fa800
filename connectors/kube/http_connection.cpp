#include "connectors/kube/http_connection.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <boost/asio/connect.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace fairlead {
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

auto into(ErrorCondition& error) { return asio::redirect_error(asio::use_awaitable, error); }

// What both kinds share: name resolution, TCP, closing.
class TcpConnection : public Connection {
 public:
  TcpConnection(asio::io_context& context, const ConnectionTarget& target)
      : target_(target), resolver_(context), socket_(context) {}

  void close() override {
    closed_ = true;
    ErrorCondition ignored;
    resolver_.cancel();
    socket_.close(ignored);
  }
  bool quiet() override {
    char byte = 0;
    const auto got = ::recv(socket_.native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  std::string step() const override { return step_; }

 protected:
  asio::awaitable<void> connect_tcp(ErrorCondition& error) {
    step_ = "resolving " + target_.server.host;
    const auto found =
        co_await resolver_.async_resolve(target_.server.host, target_.server.port, into(error));
    if (error || stopped(error)) co_return;
    step_ = "connecting to " + target_.server.host + ":" + target_.server.port;
    co_await asio::async_connect(socket_, found, into(error));
    if (error || stopped(error)) co_return;
    ErrorCondition ignored;
    socket_.set_option(tcp::no_delay(true), ignored);
    socket_.set_option(asio::socket_base::keep_alive(true), ignored);
  }
  // close() between two steps must not be forgotten.
  bool stopped(ErrorCondition& error) {
    if (closed_) error = asio::error::operation_aborted;
    return closed_;
  }

  const ConnectionTarget& target_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  std::string step_ = "connecting";
  bool closed_ = false;
};

class PlainConnection final : public TcpConnection {
 public:
  using TcpConnection::TcpConnection;
  asio::awaitable<void> connect(ErrorCondition& error) override { return connect_tcp(error); }
  asio::awaitable<void> write(std::string_view bytes, ErrorCondition& error) override {
    co_await asio::async_write(socket_, asio::buffer(bytes), into(error));
  }
  asio::awaitable<std::size_t> read(char* to, std::size_t size, ErrorCondition& error) override {
    const std::size_t got = co_await socket_.async_read_some(asio::buffer(to, size), into(error));
    if (error == asio::error::eof) error = {};
    co_return got;
  }
};

class TlsConnection final : public TcpConnection {
 public:
  TlsConnection(asio::io_context& context, const ConnectionTarget& target)
      : TcpConnection(context, target), stream_(socket_, *target.tls) {}

  asio::awaitable<void> connect(ErrorCondition& error) override {
    co_await connect_tcp(error);
    if (error) co_return;
    step_ = "TLS handshake with " + target_.server.host + ":" + target_.server.port;
    // An address is no name: it may be verified, but not be asked for.
    ErrorCondition no_address;
    asio::ip::make_address(target_.verify_name, no_address);
    if (no_address)  // SSL_set_tlsext_host_name, whose macro holds an old-style cast
      SSL_ctrl(stream_.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
               const_cast<char*>(target_.verify_name.c_str()));
    stream_.set_verify_callback(asio::ssl::host_name_verification(target_.verify_name), error);
    if (error) co_return;
    co_await stream_.async_handshake(asio::ssl::stream_base::client, into(error));
    const long verified = SSL_get_verify_result(stream_.native_handle());
    if (error && verified != X509_V_OK)
      step_ += std::string(" (") + X509_verify_cert_error_string(verified) + ")";
    if (!error) stopped(error);
  }
  asio::awaitable<void> write(std::string_view bytes, ErrorCondition& error) override {
    co_await asio::async_write(stream_, asio::buffer(bytes), into(error));
  }
  asio::awaitable<std::size_t> read(char* to, std::size_t size, ErrorCondition& error) override {
    const std::size_t got = co_await stream_.async_read_some(asio::buffer(to, size), into(error));
    if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) error = {};
    co_return got;
  }

 private:
  asio::ssl::stream<tcp::socket&> stream_;
};

Error unusable(const char* what, const ErrorCondition& error) {
  return {ErrorCode::bad_input, std::string(what) + ": " + error.message()};
}

}  // namespace

Result<std::shared_ptr<asio::ssl::context>> make_tls(const Credentials& credentials) {
  if (!credentials.server.tls) return std::shared_ptr<asio::ssl::context>();
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  ErrorCondition error;
  if (!credentials.verify_server) {
    tls->set_verify_mode(asio::ssl::verify_none, error);
  } else {
    tls->set_verify_mode(asio::ssl::verify_peer, error);
    if (credentials.ca_pem.empty()) {
      tls->set_default_verify_paths(error);
    } else {
      tls->add_certificate_authority(asio::buffer(credentials.ca_pem), error);
    }
    if (error) return unusable("certificate-authority", error);
    // As Go does: whatever the file trusts is a root, self-signed or not.
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(tls->native_handle()),
                                X509_V_FLAG_PARTIAL_CHAIN);
  }
  if (credentials.client_certificate_pem.empty()) return tls;
  tls->use_certificate_chain(asio::buffer(credentials.client_certificate_pem), error);
  if (error) return unusable("client-certificate", error);
  tls->use_private_key(asio::buffer(credentials.client_key_pem), asio::ssl::context::pem, error);
  if (error) return unusable("client-key", error);
  return tls;
}

std::unique_ptr<Connection> make_connection(asio::io_context& context,
                                            const ConnectionTarget& target) {
  if (target.tls) return std::make_unique<TlsConnection>(context, target);
  return std::make_unique<PlainConnection>(context, target);
}

}  // namespace fairlead
