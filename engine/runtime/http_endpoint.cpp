#include "engine/runtime/http_endpoint.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <charconv>
#include <chrono>
#include <optional>
#include <thread>
#include <utility>

namespace fairlead {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint64_t kRequestBodyMax = 4096;
constexpr std::uint32_t kRequestHeadMax = 8192;

http::response<http::string_body> response_to(const http::request<http::empty_body>& request,
                                              const HttpEndpoint::Handler& handler) {
  HttpReply reply;
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    reply = {405, "text/plain; charset=utf-8", "GET only\n"};
  } else {
    const std::string_view target(request.target().data(), request.target().size());
    reply = handler(target.substr(0, target.find('?')));
  }
  http::response<http::string_body> response;
  response.version(request.version());
  response.result(static_cast<unsigned>(reply.status));
  response.set(http::field::content_type, reply.content_type);
  response.keep_alive(request.keep_alive());
  response.body() = std::move(reply.body);
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  return response;
}

// One connection; lives as long as something is awaited on it.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, const HttpEndpoint::Handler& handler, std::size_t& open)
      : stream_(std::move(socket)), handler_(handler), open_(open) {
    ++open_;
  }
  ~Session() { --open_; }

  void read() {
    parser_.emplace();
    parser_->header_limit(kRequestHeadMax);
    parser_->body_limit(kRequestBodyMax);
    stream_.expires_after(std::chrono::nanoseconds(kHttpPatience.ns));
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (!error) self->write();
                     });
  }

 private:
  void write() {
    response_ = response_to(parser_->get(), handler_);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (!error && self->response_.keep_alive()) return self->read();
                        error_code ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                      });
  }

  beast::tcp_stream stream_;
  const HttpEndpoint::Handler& handler_;
  std::size_t& open_;
  beast::flat_buffer buffer_{kRequestHeadMax + kRequestBodyMax};
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
};

class BeastEndpoint final : public HttpEndpoint {
 public:
  explicit BeastEndpoint(Handler handler) : handler_(std::move(handler)) {}
  ~BeastEndpoint() override {
    context_.stop();
    if (thread_.joinable()) thread_.join();
  }

  error_code listen(const ListenAddress& address) {
    error_code error;
    const std::string host = address.host.empty() ? "0.0.0.0" : address.host;
    const auto ip = asio::ip::make_address(host, error);
    if (error) return error;
    const tcp::endpoint endpoint(ip, address.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error) return error;
    accept();
    thread_ = std::thread([this] { context_.run(); });
    return error;
  }
  std::uint16_t port() const override { return port_; }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error && open_ < kHttpConnectionsMax)
        std::make_shared<Session>(std::move(socket), handler_, open_)->read();
      accept();
    });
  }

  const Handler handler_;
  std::size_t open_ = 0;  // sessions; of the endpoint's thread
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  std::uint16_t port_ = 0;
  std::thread thread_;
};

}  // namespace

Result<ListenAddress> parse_listen_address(std::string_view text) {
  const Error bad{ErrorCode::bad_input,
                  "expected ADDRESS:PORT, like 127.0.0.1:8080, got \"" + std::string(text) + "\""};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return bad;
  ListenAddress address;
  address.host = text.substr(0, colon);
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  if (address.host == "localhost") address.host = "127.0.0.1";
  const std::string_view port = text.substr(colon + 1);
  const auto read = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || read.ec != std::errc{} || read.ptr != port.data() + port.size()) return bad;
  error_code error;
  if (!address.host.empty()) asio::ip::make_address(address.host, error);
  if (error) return bad;
  return address;
}

Result<std::unique_ptr<HttpEndpoint>> HttpEndpoint::start(const ListenAddress& address,
                                                          Handler handler) {
  auto endpoint = std::make_unique<BeastEndpoint>(std::move(handler));
  if (const error_code error = endpoint->listen(address); error)
    return Error{ErrorCode::unavailable, "cannot listen on " + address.host + ":" +
                                             std::to_string(address.port) + ": " + error.message()};
  return std::unique_ptr<HttpEndpoint>(std::move(endpoint));
}

}  // namespace fairlead
