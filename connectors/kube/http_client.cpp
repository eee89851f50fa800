// The only file that sees Beast: its parser turns bytes into answers; connections come from
// http_connection.h.
#include "connectors/kube/http_client.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/parser.hpp>
#include <charconv>
#include <deque>
#include <list>

#include "connectors/kube/http_connection.h"

namespace fairlead {
namespace asio = boost::asio;
namespace http = boost::beast::http;

namespace {

constexpr std::size_t kReadBytes = 64 * 1024;
constexpr std::uint32_t kHeaderBytesMax = 64 * 1024;
constexpr Duration kTokenAgeMax = seconds(10);

// Feeds bytes to Beast's parser and hands out the body as it comes.
class ResponseReader {
 public:
  ResponseReader() {
    parser_.body_limit(boost::none);
    parser_.header_limit(kHeaderBytesMax);
    parser_.eager(true);
  }

  template <class OnBody>
  void feed(std::string_view bytes, const OnBody& on_body, ErrorCondition& error) {
    pending_.append(bytes);
    std::size_t used = 0;
    while (!parser_.is_done() && used < pending_.size()) {
      http::buffer_body::value_type& body = parser_.get().body();
      body.data = chunk_;
      body.size = sizeof chunk_;
      body.more = true;
      const std::size_t taken =
          parser_.put(asio::buffer(pending_.data() + used, pending_.size() - used), error);
      const std::size_t produced = sizeof chunk_ - body.size;
      used += taken;
      if (produced > 0 && !on_body(std::string_view(chunk_, produced))) {
        error = asio::error::operation_aborted;
        break;
      }
      const bool hungry = error == http::error::need_more;
      if (error == http::error::need_buffer || hungry) error = {};
      if (error || (taken == 0 && produced == 0) || (hungry && used == pending_.size())) break;
    }
    pending_.erase(0, used);
  }
  void end(ErrorCondition& error) { parser_.put_eof(error); }

  bool has_header() const { return parser_.is_header_done(); }
  bool done() const { return parser_.is_done(); }
  bool keep_alive() const { return parser_.keep_alive(); }
  int status() const { return static_cast<int>(parser_.get().result_int()); }
  std::optional<Duration> retry_after() const {
    const auto text = parser_.get()[http::field::retry_after];
    std::int64_t count = 0;
    auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (text.empty() || failed != std::errc{} || end != text.data() + text.size() || count < 0)
      return std::nullopt;
    return seconds(std::min<std::int64_t>(count, 86'400));
  }

 private:
  http::response_parser<http::buffer_body> parser_;
  std::string pending_;
  char chunk_[16 * 1024];
};

Error unavailable(std::string what) { return {ErrorCode::unavailable, std::move(what)}; }

// Closes a connection when the time is over, and remembers that it did.
class Deadline {
 public:
  Deadline(IoLoop& loop, Connection& connection) : loop_(loop), connection_(connection) {}
  void set(Duration span) {
    timer_ = loop_.after(span, [this] {
      passed_ = true;
      connection_.close();
    });
  }
  void clear() { timer_.reset(); }
  bool passed() const { return passed_; }

 private:
  IoLoop& loop_;
  Connection& connection_;
  std::unique_ptr<IoLoop::Timer> timer_;
  bool passed_ = false;
};

class Client;

struct Pending {
  HttpRequest request;
  std::function<void(Result<HttpResponse>)> done;
};

struct Idle {
  std::unique_ptr<Connection> connection;
  LogTime since;
};

struct StreamState {
  HttpRequest request;
  HttpStreamHandler handler;
  std::unique_ptr<Connection> connection;
  bool cancelled = false;

  void cancel() {
    cancelled = true;
    if (connection) connection->close();
  }
};

// All that coroutines share; they keep it alive.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(IoLoop& loop, Credentials credentials, HttpLimits limits, ConnectionTarget target)
      : loop_(loop),
        credentials_(std::move(credentials)),
        limits_(limits),
        target_(std::move(target)) {}

  void send(Pending pending) {
    if (stopped_ || queue_.size() >= limits_.queued_max) {
      const char* why = stopped_ ? "stopped" : "too many requests are waiting";
      loop_.post([done = std::move(pending.done), why] { done(unavailable(why)); });
      return;
    }
    queue_.push_back(std::move(pending));
    pump();
  }

  std::shared_ptr<StreamState> stream(HttpRequest request, HttpStreamHandler handler) {
    auto state = std::make_shared<StreamState>();
    state->request = std::move(request);
    state->handler = std::move(handler);
    std::erase_if(streams_, [](const auto& known) { return known.expired(); });
    streams_.push_back(state);
    asio::co_spawn(loop_.impl().context, run_stream(shared_from_this(), state), asio::detached);
    return state;
  }

  void stop() {
    stopped_ = true;
    idle_.clear();
    for (Connection* connection : active_) connection->close();
    for (auto& known : streams_)
      if (auto state = known.lock()) state->cancel();
    for (Pending& pending : std::exchange(queue_, {}))
      loop_.post([done = std::move(pending.done)] { done(unavailable("stopped")); });
  }

 private:
  void pump() {
    while (!stopped_ && inflight_ < limits_.inflight_max && !queue_.empty()) {
      Pending next = std::move(queue_.front());
      queue_.pop_front();
      ++inflight_;
      asio::co_spawn(loop_.impl().context, run_request(shared_from_this(), std::move(next)),
                     asio::detached);
    }
  }

  Result<std::string> head_of(const HttpRequest& request) {
    if (!credentials_.token_file.empty() || token_read_.ns == 0) {
      if (token_read_.ns == 0 || loop_.now() >= token_read_ + kTokenAgeMax) {
        auto token = current_token(credentials_);
        if (token.has_error()) return Error{ErrorCode::denied, token.error().message};
        token_ = *token;
        token_read_ = loop_.now();
      }
    }
    const ServerAddress& server = target_.server;
    std::string head = request.method + " " + server.path + request.target + " HTTP/1.1\r\nHost: ";
    head += server.host.find(':') == std::string::npos ? server.host : "[" + server.host + "]";
    head += ":" + server.port +
            "\r\nUser-Agent: fairlead/" FAIRLEAD_VERSION "\r\nAccept: application/json\r\n";
    if (!token_.empty()) head += "Authorization: Bearer " + token_ + "\r\n";
    if (!request.content_type.empty()) head += "Content-Type: " + request.content_type + "\r\n";
    if (!request.body.empty() || request.method != "GET")
      head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    return head + "\r\n" + request.body;
  }

  std::unique_ptr<Connection> take_idle() {
    while (!idle_.empty()) {
      Idle one = std::move(idle_.back());
      idle_.pop_back();
      if (one.connection->quiet() && loop_.now() < one.since + limits_.idle_max)
        return std::move(one.connection);
    }
    return nullptr;
  }

  void keep(std::unique_ptr<Connection> connection) {
    if (stopped_) return;
    if (idle_.size() >= limits_.idle_connections_max) idle_.erase(idle_.begin());
    idle_.push_back({std::move(connection), loop_.now()});
  }

  static Error failure(const Connection& connection, const Deadline& deadline,
                       const ErrorCondition& error, bool connected) {
    const std::string doing = connected ? "waiting for the answer" : connection.step();
    if (deadline.passed()) return unavailable("timeout while " + doing);
    return unavailable(doing + ": " +
                       (error ? error.message() : "the server closed the connection"));
  }

  struct Attempt {
    Result<HttpResponse> answer = Error{};
    bool answered_a_byte = false;
    bool reusable = false;
  };

  // One request on one connection. Coroutine parameters are references to what the caller's frame
  // owns.
  asio::awaitable<void> exchange(Connection& connection, const std::string& bytes,
                                 const HttpRequest& request, bool connected, Attempt& out) {
    Deadline deadline(loop_, connection);
    ErrorCondition error;
    if (!connected) {
      deadline.set(std::min(limits_.connect_timeout, request.timeout));
      co_await connection.connect(error);
      if (error || deadline.passed()) {
        out.answer = failure(connection, deadline, error, false);
        co_return;
      }
    }
    deadline.set(request.timeout);
    co_await connection.write(bytes, error);
    HttpResponse response;
    bool too_long = false;
    auto reader = std::make_unique<ResponseReader>();
    auto on_body = [&](std::string_view part) {
      too_long = response.body.size() + part.size() > request.body_bytes_max;
      if (!too_long) response.body.append(part);
      return !too_long;
    };
    std::string chunk(kReadBytes, '\0');
    while (!error && !reader->done()) {
      const std::size_t got = co_await connection.read(chunk.data(), chunk.size(), error);
      if (error) break;
      out.answered_a_byte = out.answered_a_byte || got > 0;
      if (got == 0) {
        reader->end(error);
        if (!error && !reader->done()) error = asio::error::eof;
        break;
      }
      reader->feed(std::string_view(chunk).substr(0, got), on_body, error);
    }
    if (too_long) {
      response.status = 413;  // the answer, not the request, is too large; callers ask for less
      response.body =
          "the answer is longer than " + std::to_string(request.body_bytes_max) + " bytes";
      out.answer = std::move(response);
      co_return;
    }
    if (error || !reader->has_header() || deadline.passed()) {
      out.answer = failure(connection, deadline, error, true);
      co_return;
    }
    response.status = reader->status();
    response.retry_after = reader->retry_after();
    out.answer = std::move(response);
    out.reusable = reader->keep_alive();
  }

  static asio::awaitable<void> run_request(std::shared_ptr<Core> self, Pending pending) {
    Attempt attempt;
    auto bytes = self->head_of(pending.request);
    if (bytes.has_error()) {
      attempt.answer = bytes.error();
    } else {
      std::unique_ptr<Connection> connection = self->take_idle();
      bool reused = connection != nullptr;
      for (;;) {
        if (!connection) connection = make_connection(self->loop_.impl().context, self->target_);
        self->active_.push_back(connection.get());
        attempt = Attempt{};
        co_await self->exchange(*connection, *bytes, pending.request, reused, attempt);
        self->active_.remove(connection.get());
        // A kept connection may have been closed under us. Only reading is safe to repeat.
        const bool again = reused && attempt.answer.has_error() && !attempt.answered_a_byte &&
                           pending.request.method == "GET" && !self->stopped_;
        if (!again) break;
        connection.reset();
        reused = false;
      }
      if (attempt.reusable) self->keep(std::move(connection));
    }
    --self->inflight_;
    pending.done(std::move(attempt.answer));
    self->pump();
  }

  static asio::awaitable<void> run_stream(std::shared_ptr<Core> self,
                                          std::shared_ptr<StreamState> state) {
    state->connection = make_connection(self->loop_.impl().context, self->target_);
    if (self->stopped_) state->cancelled = true;
    Result<HttpResponse> outcome = Error{};
    co_await self->follow(*state, outcome);
    if (!state->cancelled) state->handler.ended(std::move(outcome));
    state->connection.reset();
  }

  asio::awaitable<void> follow(StreamState& state, Result<HttpResponse>& outcome) {
    Connection& connection = *state.connection;
    auto bytes = head_of(state.request);
    if (bytes.has_error()) {
      outcome = bytes.error();
      co_return;
    }
    ErrorCondition error;
    Deadline deadline(loop_, connection);
    deadline.set(std::min(limits_.connect_timeout, state.request.timeout));
    co_await connection.connect(error);
    if (error || deadline.passed() || state.cancelled) {
      outcome = failure(connection, deadline, error, false);
      co_return;
    }
    deadline.set(state.request.timeout);
    co_await connection.write(*bytes, error);
    HttpResponse response;
    auto reader = std::make_unique<ResponseReader>();
    auto on_body = [&](std::string_view part) {
      if (reader->status() == 200)
        state.handler.bytes(part);
      else if (response.body.size() + part.size() <= state.request.body_bytes_max)
        response.body.append(part);
      return !state.cancelled;
    };
    // The header is told before the first bytes of the body, so it is fed until it is complete.
    bool told = false;
    std::string chunk(kReadBytes, '\0');
    while (!error && !state.cancelled && !reader->done()) {
      const std::size_t got = co_await connection.read(chunk.data(), chunk.size(), error);
      if (error || state.cancelled) break;
      if (got == 0) {
        reader->end(error);
        if (!error && !reader->done()) error = asio::error::eof;
        break;
      }
      auto tell_then = [&](std::string_view part) {
        if (!told && reader->status() == 200) told = true, state.handler.opened();
        return !state.cancelled && on_body(part);
      };
      reader->feed(std::string_view(chunk).substr(0, got), tell_then, error);
      if (!told && !state.cancelled && reader->has_header() && reader->status() == 200)
        told = true, state.handler.opened();
      if (told) deadline.clear();
    }
    if (error || !reader->has_header()) {
      outcome = failure(connection, deadline, error, true);
      co_return;
    }
    response.status = reader->status();
    response.retry_after = reader->retry_after();
    outcome = std::move(response);
  }

  IoLoop& loop_;
  const Credentials credentials_;
  const HttpLimits limits_;
  const ConnectionTarget target_;
  std::string token_;
  LogTime token_read_;
  std::deque<Pending> queue_;
  std::size_t inflight_ = 0;
  std::vector<Idle> idle_;
  std::list<Connection*> active_;
  std::vector<std::weak_ptr<StreamState>> streams_;
  bool stopped_ = false;
};

class OpenStream final : public HttpClient::Stream {
 public:
  explicit OpenStream(std::shared_ptr<StreamState> state) : state_(std::move(state)) {}
  ~OpenStream() override { state_->cancel(); }

 private:
  std::shared_ptr<StreamState> state_;
};

class Client final : public HttpClient {
 public:
  explicit Client(std::shared_ptr<Core> core) : core_(std::move(core)) {}
  ~Client() override { core_->stop(); }
  void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) override {
    core_->send({std::move(request), std::move(done)});
  }
  std::unique_ptr<Stream> stream(HttpRequest request, HttpStreamHandler handler) override {
    return std::make_unique<OpenStream>(core_->stream(std::move(request), std::move(handler)));
  }
  void stop() override { core_->stop(); }

 private:
  std::shared_ptr<Core> core_;
};

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::make(IoLoop& loop, Credentials credentials,
                                                     HttpLimits limits) {
  auto tls = make_tls(credentials);
  if (tls.has_error()) return tls.error();
  ConnectionTarget target{
      credentials.server,
      credentials.tls_server_name.empty() ? credentials.server.host : credentials.tls_server_name,
      *tls};
  return std::unique_ptr<HttpClient>(std::make_unique<Client>(
      std::make_shared<Core>(loop, std::move(credentials), limits, std::move(target))));
}

}  // namespace fairlead
