#include "connectors/kube/model/http_server.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <optional>
#include <thread>
#include <variant>

namespace fairlead::model {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

std::chrono::nanoseconds span(Duration duration) { return std::chrono::nanoseconds(duration.ns); }

const char* reason_phrase(int code) {
  switch (code) {
    case 200: return "OK";
    case 201: return "Created";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Request Entity Too Large";
    case 415: return "Unsupported Media Type";
    case 422: return "Unprocessable Entity";
    case 429: return "Too Many Requests";
    case 504: return "Gateway Timeout";
    default: return code < 400 ? "OK" : "Internal Server Error";
  }
}

/// Returns the text of a Warning header: quotes and backslashes escaped, without characters that
/// would break the header.
std::string warning_value(const std::string& text) {
  std::string out = "299 - \"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

std::string head_of(const ApiAnswer& answer, bool keep_alive) {
  std::string head =
      "HTTP/1.1 " + std::to_string(answer.code) + " " + reason_phrase(answer.code) + "\r\n";
  head += "Content-Type: " + answer.content_type + "\r\n";
  for (const std::string& warning : answer.warnings)
    head += "Warning: " + warning_value(warning) + "\r\n";
  if (answer.retry_after) head += "Retry-After: " + std::to_string(*answer.retry_after) + "\r\n";
  if (!keep_alive) head += "Connection: close\r\n";
  head += answer.watch ? "Transfer-Encoding: chunked\r\n"
                       : "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
  return head + "\r\n";
}

std::string chunk(const std::string& text) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + text + "\r\n";
}

class Server;

/// One connection: reads requests and answers them in turn; a watch is its last answer.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(Server& server, tcp::socket socket);
  ~Session();
  void read();
  void close();

 private:
  void answer();
  void begin_watch(ApiAnswer answer);
  void pump();
  void write(std::string bytes, void (Session::*then)());
  void finish();
  void watch_for_close();

  Server& server_;
  tcp::socket socket_;
  boost::beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  std::string outgoing_;
  bool keep_alive_ = true;
  std::shared_ptr<WatchStream> watch_;
  asio::steady_timer deadline_;
  bool writing_ = false;
  bool finished_ = false;
  std::array<char, 1> probe_{};
};

class Server final : public HttpServer {
 public:
  Server(const HttpServerOptions& options, Callbacks callbacks)
      : options_(options), callbacks_(std::move(callbacks)), acceptor_(io_), ticker_(io_) {}
  ~Server() override { stop(); }

  Result<std::monostate> listen() {
    error_code error;
    const tcp::endpoint endpoint(asio::ip::address_v4::loopback(), options_.port);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      return Error{ErrorCode::unavailable,
                   "127.0.0.1:" + std::to_string(options_.port) + ": " + error.message()};
    port_ = acceptor_.local_endpoint().port();
    accept();
    tick();
    thread_ = std::thread([this] { io_.run(); });
    return std::monostate();
  }

  std::uint16_t port() const override { return port_; }

  void stop() override {
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

  const HttpServerOptions options_;
  const Callbacks callbacks_;
  std::size_t connections_ = 0;  // before io_: the last sessions end with it and still count
  asio::io_context io_{1};

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (!error && connections_ < options_.connections_max) {
        error_code ignored;
        socket.set_option(tcp::no_delay(true), ignored);
        std::make_shared<Session>(*this, std::move(socket))->read();
      }
      if (acceptor_.is_open()) accept();
    });
  }

  void tick() {
    ticker_.expires_after(span(options_.bookmark_interval));
    ticker_.async_wait([this](error_code error) {
      if (error) return;
      callbacks_.tick();
      tick();
    });
  }

  tcp::acceptor acceptor_;
  asio::steady_timer ticker_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

Session::Session(Server& server, tcp::socket socket)
    : server_(server), socket_(std::move(socket)), deadline_(server.io_) {
  ++server_.connections_;
}

Session::~Session() { --server_.connections_; }

void Session::read() {
  parser_.emplace();
  parser_->body_limit(server_.options_.body_bytes_max);
  http::async_read(socket_, buffer_, *parser_,
                   [self = shared_from_this()](error_code error, std::size_t) {
                     if (error) return self->close();
                     self->answer();
                   });
}

void Session::answer() {
  const auto& message = parser_->get();
  const auto target = message.target();
  ApiRequest request =
      parse_target(std::string_view(message.method_string()), std::string_view(target));
  auto header = [&](http::field name) { return std::string(message[name]); };
  request.accept = header(http::field::accept);
  request.content_type = header(http::field::content_type);
  request.user_agent = header(http::field::user_agent);
  request.body = message.body();
  keep_alive_ = message.keep_alive();
  ApiAnswer answer = server_.callbacks_.handle(request);
  if (answer.watch) return begin_watch(std::move(answer));
  const bool head_only = message.method() == http::verb::head;
  write(head_of(answer, keep_alive_) + (head_only ? "" : answer.body), &Session::finish);
}

void Session::finish() {
  if (keep_alive_ && !watch_)
    read();
  else
    close();
}

void Session::begin_watch(ApiAnswer answer) {
  watch_ = answer.watch;
  // Another thread may change the model; this one fetches the line.
  server_.callbacks_.subscribe(*watch_, [weak = weak_from_this(), &io = server_.io_] {
    asio::post(io, [weak] {
      if (auto self = weak.lock()) self->pump();
    });
  });
  deadline_.expires_after(answer.watch_seconds > 0 ? std::chrono::seconds(answer.watch_seconds)
                                                   : span(server_.options_.watch_lifetime));
  deadline_.async_wait([weak = weak_from_this()](error_code error) {
    auto self = weak.lock();
    if (error || !self) return;
    self->finished_ = true;
    self->pump();
  });
  watch_for_close();
  write(head_of(answer, true), &Session::pump);
}

/// A client sends nothing during a watch: a read that ends shows that it closed the connection.
void Session::watch_for_close() {
  socket_.async_read_some(asio::buffer(probe_),
                          [self = shared_from_this()](error_code error, std::size_t) {
                            if (error) return self->close();
                            self->watch_for_close();
                          });
}

void Session::pump() {
  if (writing_ || !socket_.is_open()) return;
  std::string lines;
  bool ended = false;
  constexpr std::size_t kBatchMax = 64u << 10;
  while (lines.size() < kBatchMax) {
    std::optional<std::string> line = server_.callbacks_.pull(*watch_, ended);
    if (!line) break;
    lines += *line;
  }
  std::string bytes = lines.empty() ? std::string() : chunk(lines);
  if (lines.empty() && (ended || finished_)) return write("0\r\n\r\n", &Session::finish);
  if (!bytes.empty()) write(std::move(bytes), &Session::pump);
}

void Session::write(std::string bytes, void (Session::*then)()) {
  outgoing_ = std::move(bytes);
  writing_ = true;
  asio::async_write(socket_, asio::buffer(outgoing_),
                    [self = shared_from_this(), then](error_code error, std::size_t) {
                      self->writing_ = false;
                      if (error) return self->close();
                      ((*self).*then)();
                    });
}

void Session::close() {
  error_code ignored;
  deadline_.cancel();
  socket_.shutdown(tcp::socket::shutdown_both, ignored);
  socket_.close(ignored);
  watch_.reset();
}

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const HttpServerOptions& options,
                                                      Callbacks callbacks) {
  auto server = std::make_unique<Server>(options, std::move(callbacks));
  Result<std::monostate> listening = server->listen();
  if (!listening) return listening.error();
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace fairlead::model
