#include "connectors/kube/transport/http_connection.h"

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <charconv>
#include <cstdint>
#include <optional>
#include <vector>

#include "connectors/kube/transport/socket_tls.h"
#include "engine/base/descriptors.h"

namespace fairlead {
namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

constexpr std::size_t kProxyHeadMax = 16 * 1024;
constexpr std::uint8_t kReadsInARow = 8;

auto into(ErrorCondition& error) { return asio::redirect_error(asio::use_awaitable, error); }

// Where the host is an address and the port a number; else nothing. Names are resolved one after
// the other, in a thread of Asio's: those whose server hangs hold up names, and no addresses.
std::vector<tcp::endpoint> address_of(const std::string& host, const std::string& port) {
  ErrorCondition no_address;
  const auto address = asio::ip::make_address(host, no_address);
  std::uint16_t number = 0;
  const auto [end, failed] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (no_address || failed != std::errc{} || end != port.data() + port.size()) return {};
  return {{address, number}};
}

// The part that both kinds share: name resolution, TCP, closing.
class TcpConnection : public Connection {
 public:
  TcpConnection(IoLoop::Impl& loop, std::shared_ptr<const ConnectionTarget> target)
      : shared_(std::move(target)),
        target_(*shared_),
        loop_(loop),
        turn_came_(loop.context),
        resolver_(loop.context),
        socket_(loop.context) {}

  void close() override {
    closed_ = true;
    ErrorCondition ignored;
    turn_.reset();
    turn_came_.cancel();
    resolver_.cancel();
    socket().close(ignored);
  }
  asio::awaitable<void> wait_turn(ErrorCondition& error) override {
    step_ = "waiting for its turn";
    turn_came_.expires_at(asio::steady_timer::time_point::max());
    turn_ = loop_.handshakes->enter([this] { turn_came_.cancel(); });
    co_await turn_came_.async_wait(into(error));  // always cancelled
    error = {};
    stopped(error);
  }
  asio::awaitable<void> connect(ErrorCondition& error) final {
    co_await connect_all(error);
    turn_.reset();
  }
  bool quiet() override {
    char byte = 0;
    const auto got = ::recv(socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  }
  std::string step() const override { return step_; }

 protected:
  // Connects with all layers.
  virtual asio::awaitable<void> connect_all(ErrorCondition& error) = 0;
  // The TCP socket below all layers.
  virtual tcp::socket& socket() { return socket_; }
  // Connects to the server, or to the proxy before it.
  asio::awaitable<void> connect_tcp(ErrorCondition& error) {
    const std::string& host = target_.proxy ? target_.proxy->host : target_.server.host;
    const std::string& port = target_.proxy ? target_.proxy->port : target_.server.port;
    const std::string whom = target_.proxy ? "proxy " : "";
    if (!place_) place_ = ConnectionPlace::acquire(use);
    if (!place_) {
      const DescriptorShares& shares = descriptor_shares();
      step_ = "opening a connection to " + whom + host + ":" + port + ", beside " +
              std::to_string(shares.connected) + " that are open (the limit of open files is " +
              std::to_string(shares.limit) + ")";
      error = asio::error::no_descriptors;
      co_return;
    }
    std::vector<tcp::endpoint> found = address_of(host, port);
    if (found.empty()) {
      step_ = "resolving " + whom + host;
      const auto resolved = co_await resolver_.async_resolve(host, port, into(error));
      if (error || stopped(error)) co_return;
      found.assign(resolved.begin(), resolved.end());
    }
    step_ = "connecting to " + whom + host + ":" + port;
    co_await asio::async_connect(socket(), found, into(error));
    if (error || stopped(error)) co_return;
    ErrorCondition ignored;
    socket().set_option(tcp::no_delay(true), ignored);
    socket().set_option(asio::socket_base::keep_alive(true), ignored);
  }
  // A server that sends without a pause does not keep the thread for itself.
  asio::awaitable<void> let_others(ErrorCondition& error) {
    if (++reads_ % kReadsInARow == 0) co_await asio::post(loop_.context, into(error));
    if (!error) stopped(error);
  }
  // Checked after each step: a close() between two steps must end the connection.
  bool stopped(ErrorCondition& error) {
    if (closed_) error = asio::error::operation_aborted;
    return closed_;
  }

  const std::shared_ptr<const ConnectionTarget> shared_;
  const ConnectionTarget& target_;
  IoLoop::Impl& loop_;
  asio::steady_timer turn_came_;
  std::unique_ptr<TurnGate::Ticket> turn_;
  tcp::resolver resolver_;
  tcp::socket socket_;
  std::string step_ = "connecting";
  bool closed_ = false;
  std::uint8_t reads_ = 0;
  std::optional<ConnectionPlace> place_;  // nothing: not connected yet
};

class PlainConnection final : public TcpConnection {
 public:
  using TcpConnection::TcpConnection;
  asio::awaitable<void> connect_all(ErrorCondition& error) override { return connect_tcp(error); }
  asio::awaitable<void> write(std::string_view bytes, ErrorCondition& error) override {
    co_await asio::async_write(socket_, asio::buffer(bytes), into(error));
  }
  // Asio would fill the buffer before the coroutine goes on, with another one's turn between.
  asio::awaitable<std::string_view> read(ErrorCondition& error) override {
    co_await let_others(error);
    std::array<char, kReadBytes>& lent = loop_.read_buffer;
    while (!error && !stopped(error)) {
      const auto got = ::recv(socket_.native_handle(), lent.data(), lent.size(), MSG_DONTWAIT);
      if (got >= 0) co_return std::string_view(lent.data(), static_cast<std::size_t>(got));
      if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
        co_await socket_.async_wait(tcp::socket::wait_read, into(error));
      else
        error.assign(errno, asio::error::get_system_category());
    }
    co_return std::string_view();
  }
};

asio::awaitable<void> handshake(SocketTls& stream, const std::string& name, ErrorCondition& error) {
  stream.verify(name);
  co_await stream.handshake(error);
}

template <class Below>
asio::awaitable<void> handshake(asio::ssl::stream<Below>& stream, const std::string& name,
                                ErrorCondition& error) {
  stream.set_verify_callback(asio::ssl::host_name_verification(name), error);
  if (!error) co_await stream.async_handshake(asio::ssl::stream_base::client, into(error));
}

// Does the TLS handshake with the server or a proxy. Coroutine parameters outlive the handshake.
template <class Stream>
asio::awaitable<void> shake_hands(Stream& stream, const std::string& name, std::string& step,
                                  ErrorCondition& error) {
  // An address is not a name: the certificate is verified for it, but SNI must not hold it (RFC
  // 6066).
  ErrorCondition no_address;
  asio::ip::make_address(name, no_address);
  if (no_address)  // SSL_set_tlsext_host_name, whose macro holds an old-style cast
    SSL_ctrl(stream.native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
             const_cast<char*>(name.c_str()));
  co_await handshake(stream, name, error);
  const long verified = SSL_get_verify_result(stream.native_handle());
  // A verify callback that refuses without a reason, as that for the name, is an unspecified error.
  if (error && verified == X509_V_ERR_UNSPECIFIED)
    step += " (the certificate is not for " + name + ")";
  else if (error && verified != X509_V_OK)
    step += std::string(" (") + X509_verify_cert_error_string(verified) + ")";
}

// The status code of the head of an answer, three digits; empty: it has none.
std::string_view status_code(std::string_view head) {
  constexpr std::string_view kDigits = "0123456789";
  if (!head.starts_with("HTTP/1.") || head.size() < 12 || head[8] != ' ') return {};
  const std::string_view code = head.substr(9, 3);
  const bool ends = head.size() == 12 || kDigits.find(head[12]) == std::string_view::npos;
  return ends && code.find_first_not_of(kDigits) == std::string_view::npos ? code
                                                                           : std::string_view();
}

// Asks a proxy for a tunnel to the server; the bytes that follow are the server's. The error for a
// refusal has the status code only: a proxy may quote our request, with its password.
template <class Stream>
asio::awaitable<void> open_tunnel(Stream& stream, const ConnectionTarget& target, std::string& step,
                                  ErrorCondition& error) {
  const std::string& host = target.server.host;
  const std::string to =
      (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + target.server.port;
  step = "asking proxy " + target.proxy->host + ":" + target.proxy->port + " for " + to;
  std::string request = "CONNECT " + to + " HTTP/1.1\r\nHost: " + to + "\r\n";
  if (!target.proxy->authorization.empty())
    request += "Proxy-Authorization: " + target.proxy->authorization + "\r\n";
  request += "User-Agent: fairlead/" FAIRLEAD_VERSION "\r\n\r\n";
  co_await asio::async_write(stream, asio::buffer(request), into(error));
  // Byte by byte: the bytes behind the head belong to the tunnel.
  std::string head;
  while (!error && !head.ends_with("\r\n\r\n") && head.size() < kProxyHeadMax) {
    char byte = 0;
    if (co_await stream.async_read_some(asio::buffer(&byte, 1), into(error)) == 1) head += byte;
  }
  if (error) co_return;
  const std::string_view code = status_code(head);
  if (code.starts_with('2')) co_return;
  step += code.empty() ? " (its answer has no HTTP status)"
                       : " (it answered " + std::string(code) + ")";
  error = asio::error::connection_refused;
}

constexpr const char* kSocksFailures[] = {"",
                                          "a general failure",
                                          "that its rules do not allow it",
                                          "that the network is unreachable",
                                          "that the host is unreachable",
                                          "that the connection was refused",
                                          "that the time to live expired"};

// Returns DST.ADDR and DST.PORT of RFC 1928, with the address type before them. The proxy resolves
// names.
std::string socks_destination(const ServerAddress& server) {
  std::string out;
  ErrorCondition no_address;
  const auto address = asio::ip::make_address(server.host, no_address);
  if (no_address) {
    out = "\x03";
    // At most 255 bytes: open_socks_tunnel() refuses a longer name before.
    out += static_cast<char>(server.host.size());
    out += server.host;
  } else if (address.is_v4()) {
    out = "\x01";
    for (const unsigned char byte : address.to_v4().to_bytes()) out += static_cast<char>(byte);
  } else {
    out = "\x04";
    for (const unsigned char byte : address.to_v6().to_bytes()) out += static_cast<char>(byte);
  }
  const auto port = static_cast<unsigned>(std::stoul(server.port));
  out += static_cast<char>(port >> 8 & 0xFF);
  out += static_cast<char>(port & 0xFF);
  return out;
}

// Sends `request` and reads an answer of `size` bytes; empty after an error.
template <class Stream>
asio::awaitable<std::string> exchange(Stream& stream, std::string request, std::size_t size,
                                      ErrorCondition& error) {
  if (!request.empty()) co_await asio::async_write(stream, asio::buffer(request), into(error));
  std::string answer(error ? 0 : size, '\0');
  if (!error) co_await asio::async_read(stream, asio::buffer(answer), into(error));
  if (error) answer.clear();
  co_return answer;
}

// Asks a SOCKS 5 proxy for a tunnel to the server.
template <class Stream>
asio::awaitable<void> open_socks_tunnel(Stream& stream, const ConnectionTarget& target,
                                        std::string& step, ErrorCondition& error) {
  const auto refuse = [&](const std::string& why) {
    step += " (it answered " + why + ")";
    error = asio::error::connection_refused;
  };
  const std::string& login = target.proxy->authorization;
  step = "asking proxy " + target.proxy->host + ":" + target.proxy->port + " for " +
         target.server.host + ":" + target.server.port;
  if (target.server.host.size() > 255)
    co_return refuse("nothing: the server's name is too long for it to be asked");
  // RFC 1928, 3: version 5, and how many methods follow: none (0), and a login (2) if we have one.
  const std::string greeting =
      login.empty() ? std::string("\x05\x01\x00", 3) : std::string("\x05\x02\x00\x02", 4);
  const std::string method = co_await exchange(stream, greeting, 2, error);
  if (error) co_return;
  if (method[0] != 5) co_return refuse("with another protocol than SOCKS 5");
  if (method[1] == 2 && !login.empty()) {
    const std::string verdict = co_await exchange(stream, login, 2, error);
    if (!error && verdict[1] != 0) refuse("that it does not know us");
  } else if (method[1] != 0) {
    refuse("that it wants to know who we are");
  }
  if (error) co_return;
  const std::string request = std::string("\x05\x01\x00", 3) + socks_destination(target.server);
  const std::string reply = co_await exchange(stream, request, 4, error);
  if (error) co_return;
  const auto failure = static_cast<unsigned char>(reply[1]);
  if (failure != 0)
    co_return refuse(failure < std::size(kSocksFailures) ? kSocksFailures[failure] : "a failure");
  // Skips the bound address: 4 or 16 bytes, or a name behind its length, and a port.
  std::size_t rest = reply[3] == 4 ? 18 : 6;
  if (reply[3] == 3) {
    const std::string length = co_await exchange(stream, "", 1, error);
    if (error) co_return;
    rest = static_cast<unsigned char>(length[0]) + std::size_t{2};
  }
  co_await exchange(stream, "", rest, error);
}

// The layer below is connected; now the tunnel, if there is a proxy, and the server's TLS.
template <class Below, class Stream>
asio::awaitable<void> secure(Below& below, Stream& stream, const ConnectionTarget& target,
                             std::string& step, ErrorCondition& error) {
  if (target.proxy && target.proxy->protocol == ProxyProtocol::socks5)
    co_await open_socks_tunnel(below, target, step, error);
  else if (target.proxy)
    co_await open_tunnel(below, target, step, error);
  if (error) co_return;
  step = "TLS handshake with " + target.server.host + ":" + target.server.port;
  co_await shake_hands(stream, target.verify_name, step, error);
}

// What no TLS stream distinguishes: HTTP frames its bodies.
void forgive_end(ErrorCondition& error) {
  if (error == asio::error::eof || error == asio::ssl::error::stream_truncated) error = {};
}

class TlsConnection final : public TcpConnection {
 public:
  TlsConnection(IoLoop::Impl& loop, std::shared_ptr<const ConnectionTarget> target)
      : TcpConnection(loop, std::move(target)),
        stream_(socket_, *target_.tls, *target_.tls_session) {}
  asio::awaitable<void> connect_all(ErrorCondition& error) override {
    co_await connect_tcp(error);
    if (!error) co_await secure(socket_, stream_, target_, step_, error);
    if (!error) stopped(error);
  }
  asio::awaitable<void> write(std::string_view bytes, ErrorCondition& error) override {
    co_await stream_.write(bytes, error);
  }
  asio::awaitable<std::string_view> read(ErrorCondition& error) override {
    co_await let_others(error);
    std::array<char, kReadBytes>& lent = loop_.read_buffer;
    const std::size_t got = co_await stream_.read(lent.data(), lent.size(), error);
    forgive_end(error);
    co_return std::string_view(lent.data(), got);
  }

 private:
  SocketTls stream_;
};

using ProxyStream = asio::ssl::stream<tcp::socket&>;

// A base class of its own, so that it is constructed before the connection that runs over it.
struct ProxyLayer {
  ProxyLayer(asio::io_context& context, asio::ssl::context& tls)
      : proxy_socket(context), proxy_stream(proxy_socket, tls) {}
  tcp::socket proxy_socket;
  ProxyStream proxy_stream;
};

class TlsByTlsProxy final : private ProxyLayer, public TcpConnection {
 public:
  TlsByTlsProxy(IoLoop::Impl& loop, std::shared_ptr<const ConnectionTarget> target)
      : ProxyLayer(loop.context, *target->proxy_tls),
        TcpConnection(loop, std::move(target)),
        stream_(proxy_stream, *target_.tls) {}
  asio::awaitable<void> connect_all(ErrorCondition& error) override {
    co_await connect_tcp(error);
    if (error) co_return;
    step_ = "TLS handshake with proxy " + target_.proxy->host + ":" + target_.proxy->port;
    co_await shake_hands(proxy_stream, target_.proxy->host, step_, error);
    if (error || stopped(error)) co_return;
    co_await secure(proxy_stream, stream_, target_, step_, error);
    if (!error) stopped(error);
  }
  asio::awaitable<void> write(std::string_view bytes, ErrorCondition& error) override {
    co_await asio::async_write(stream_, asio::buffer(bytes), into(error));
  }
  asio::awaitable<std::string_view> read(ErrorCondition& error) override {
    const std::size_t got = co_await stream_.async_read_some(asio::buffer(buffer_), into(error));
    forgive_end(error);
    co_return std::string_view(buffer_.data(), got);
  }

 private:
  tcp::socket& socket() override { return proxy_socket; }

  asio::ssl::stream<ProxyStream&> stream_;
  std::array<char, kReadBytes> buffer_;
};

Error unusable(const char* what, const ErrorCondition& error) {
  return {ErrorCode::bad_input, std::string(what) + ": " + error.message()};
}

void set_roots(asio::ssl::context& tls, const std::string& ca_pem, ErrorCondition& error) {
  if (ca_pem.empty())
    tls.set_default_verify_paths(error);
  else
    tls.add_certificate_authority(asio::buffer(ca_pem), error);
  // As Go does: every certificate of the file is a root, self-signed or not.
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(tls.native_handle()), X509_V_FLAG_PARTIAL_CHAIN);
}

Result<std::shared_ptr<asio::ssl::context>> make_tls(const Credentials& credentials,
                                                     const std::string& certificate_pem,
                                                     const std::string& key_pem) {
  if (!credentials.server.tls) return std::shared_ptr<asio::ssl::context>();
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  ErrorCondition error;
  if (!credentials.verify_server) {
    tls->set_verify_mode(asio::ssl::verify_none, error);
  } else {
    tls->set_verify_mode(asio::ssl::verify_peer, error);
    set_roots(*tls, credentials.ca_pem, error);
    if (error) return unusable("certificate-authority", error);
  }
  if (certificate_pem.empty()) return tls;
  tls->use_certificate_chain(asio::buffer(certificate_pem), error);
  if (error) return unusable("client-certificate", error);
  tls->use_private_key(asio::buffer(key_pem), asio::ssl::context::pem, error);
  if (error) return unusable("client-key", error);
  return tls;
}

// A proxy is verified by the roots of the machine and those of the cluster, and never gets the
// client certificate.
Result<std::shared_ptr<asio::ssl::context>> make_proxy_tls(const Credentials& credentials) {
  if (!credentials.proxy || !credentials.proxy->tls) return std::shared_ptr<asio::ssl::context>();
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  ErrorCondition error;
  tls->set_verify_mode(asio::ssl::verify_peer, error);
  set_roots(*tls, "", error);
  if (!credentials.ca_pem.empty()) set_roots(*tls, credentials.ca_pem, error);
  if (error) return unusable("certificate-authority", error);
  return tls;
}

}  // namespace

Result<std::shared_ptr<const ConnectionTarget>> make_target(const Credentials& credentials,
                                                            const std::string& certificate_pem,
                                                            const std::string& key_pem) {
  auto tls = make_tls(credentials, certificate_pem, key_pem);
  if (tls.has_error()) return tls.error();
  auto proxy_tls = make_proxy_tls(credentials);
  if (proxy_tls.has_error()) return proxy_tls.error();
  auto target = std::make_shared<ConnectionTarget>();
  target->server = credentials.server;
  target->verify_name =
      credentials.tls_server_name.empty() ? credentials.server.host : credentials.tls_server_name;
  target->tls = std::move(*tls);
  if (target->tls) TlsSession::enable(*target->tls);
  target->tls_session = std::make_unique<TlsSession>();
  target->proxy = credentials.proxy;
  target->proxy_tls = std::move(*proxy_tls);
  return std::shared_ptr<const ConnectionTarget>(std::move(target));
}

std::unique_ptr<Connection> make_connection(IoLoop::Impl& loop,
                                            std::shared_ptr<const ConnectionTarget> target) {
  if (target->proxy_tls) return std::make_unique<TlsByTlsProxy>(loop, std::move(target));
  if (target->tls) return std::make_unique<TlsConnection>(loop, std::move(target));
  return std::make_unique<PlainConnection>(loop, std::move(target));
}

}  // namespace fairlead
