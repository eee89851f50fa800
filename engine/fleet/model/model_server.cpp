#include "engine/fleet/model/model_server.h"

#include <cstdio>
#include <optional>
#include <utility>
#include <variant>

namespace fairlead::model {
namespace {

// Clients keep connections for minutes; a test may hold one open while it waits.
constexpr HttpPatience kPatience{.header = minutes(1), .idle = minutes(10), .answer = minutes(1)};

// Returns the text of a Warning header: quotes and backslashes escaped, without characters that
// would break the header.
std::string warning_value(const std::string& text) {
  std::string out = "299 - \"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

std::string headers_of(const ApiAnswer& answer) {
  std::string headers;
  if (!answer.etag.empty()) headers += "Etag: " + answer.etag + "\r\nVary: Accept\r\n";
  for (const std::string& warning : answer.warnings)
    headers += "Warning: " + warning_value(warning) + "\r\n";
  return headers;
}

std::string chunk(const std::string& text) {
  char size[20];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + text + "\r\n";
}

// What every connection of a server uses.
struct Served {
  const HttpServerOptions& options;
  SharedModel& model;
};

// One connection: answers requests in turn; a watch is its last answer.
class Session final : public HttpHandler {
 public:
  Session(HttpConnection& connection, Served served) : connection_(connection), served_(served) {}

  std::variant<std::uint64_t, HttpReply> expect_body(std::optional<std::uint64_t>) override {
    return std::uint64_t{served_.options.body_bytes_max};
  }
  HttpReply body_too_long() override {
    return {413, "text/plain; charset=utf-8", "the body is too long\n"};
  }
  void answer() override;
  void sent() override;
  void closed() override { watch_.reset(); }
  void woken() override {
    expired_ = true;
    send_lines();
  }

 private:
  void begin_watch(const ApiAnswer& answer);
  void send_lines();

  HttpConnection& connection_;
  const Served served_;
  std::shared_ptr<WatchStream> watch_;
  bool expired_ = false;   // the watch
  bool sent_end_ = false;  // of the watch
};

void Session::answer() {
  const ReceivedRequest& received = connection_.request();
  ApiRequest request = parse_target(received.method, received.target);
  request.accept = received.accept;
  request.content_type = received.content_type;
  request.user_agent = received.user_agent;
  request.if_none_match = received.if_none_match;
  request.body = received.body;
  ApiAnswer answer = served_.model.with_model([&](Model& model) { return model.handle(request); });
  if (answer.watch) return begin_watch(answer);
  connection_.reply({answer.code, std::move(answer.content_type), std::move(answer.body),
                     answer.retry_after.value_or(0), headers_of(answer)});
}

void Session::begin_watch(const ApiAnswer& answer) {
  watch_ = answer.watch;
  connection_.begin_stream("HTTP/1.1 200 OK\r\nContent-Type: " + answer.content_type + "\r\n" +
                           headers_of(answer) + "Transfer-Encoding: chunked\r\n\r\n");
  // Another thread may change the model; this one fetches the line.
  const auto fetch = [this, weak = connection_.weak_from_this(), &loop = connection_.loop()] {
    loop.post([this, weak] {
      if (weak.lock()) send_lines();
    });
  };
  // The model may be adding lines already.
  served_.model.with_model([&](Model&) { watch_->on_ready(fetch); });
  connection_.wake_after(answer.watch_seconds > 0 ? seconds(answer.watch_seconds)
                                                  : served_.options.watch_lifetime);
}

void Session::sent() {
  if (sent_end_) return connection_.close();
  send_lines();
}

void Session::send_lines() {
  if (connection_.is_sending() || sent_end_ || !watch_) return;
  std::string lines;
  bool ended = false;
  constexpr std::size_t kBatchMax = 64u << 10;
  served_.model.with_model([&](Model&) {
    for (bool more = true; more && lines.size() < kBatchMax;) {
      const std::optional<std::string> line = watch_->next();
      more = line.has_value();
      if (line) lines += *line;
    }
    ended = watch_->ended();
  });
  if (!lines.empty()) return connection_.send(chunk(lines));
  sent_end_ = ended || expired_;
  if (sent_end_) connection_.send("0\r\n\r\n");
}

}  // namespace

ModelServer::ModelServer(const ModelServerOptions& options, Clock& clock)
    : model_(clock, options.model), options_(options.http) {}

Result<std::unique_ptr<ModelServer>> ModelServer::start(const ModelServerOptions& options,
                                                        Clock& clock) {
  std::unique_ptr<ModelServer> server(new ModelServer(options, clock));
  const Served served{server->options_, server->model_};
  HttpListening listening{[served](HttpConnection& connection) {
                            return std::make_unique<Session>(connection, served);
                          },
                          kPatience, served.options.connections_max};
  auto listener = HttpListener::start({"127.0.0.1", served.options.port}, std::move(listening));
  if (!listener) return listener.error();
  server->listener_ = std::move(*listener);
  server->model_.url = "http://127.0.0.1:" + std::to_string(server->port());
  server->listener_->repeat(served.options.bookmark_interval, [served] {
    served.model.with_model([](Model& model) { model.send_bookmarks(); });
  });
  return server;
}

void ModelServer::stop() {
  if (listener_) listener_->stop({});
}

}  // namespace fairlead::model
