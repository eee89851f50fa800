// The HTTP client. Connections come from http_connection.h, answers from response_reader.h.
#include "connectors/kube/transport/http_client.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <deque>
#include <list>

#include "connectors/kube/transport/failure_message.h"
#include "connectors/kube/transport/http_connection.h"
#include "connectors/kube/transport/response_reader.h"
#include "engine/base/descriptors.h"

namespace fairlead {
namespace asio = boost::asio;

namespace {

constexpr const char* kRenewed = "the credentials changed: connecting anew";

Error unavailable(std::string what) { return {ErrorCode::unavailable, std::move(what)}; }

// Closes a connection when its time is over, and records that it did. Only idle time of the loop
// counts against the server, up to ten times the span.
class Deadline {
 public:
  Deadline(IoLoop& loop, Connection& connection) : loop_(loop), connection_(connection) {}
  void set(Duration span) {
    span_ = span;
    idle_before_ = loop_.idle();
    latest_ = loop_.now() + Duration{span.ns * kBusyFactor};
    wait(span);
  }
  void clear() { timer_.reset(); }
  bool passed() const { return passed_; }

 private:
  void wait(Duration rest) {
    timer_ = loop_.after(rest, [this] { judge(); });
  }
  void judge() {
    const Duration rest{span_.ns - (loop_.idle().ns - idle_before_.ns)};
    if (rest.ns > span_.ns / kUncounted && loop_.now() < latest_) return wait(rest);
    passed_ = true;
    connection_.close();
  }

  static constexpr std::int64_t kBusyFactor = 10;
  static constexpr std::int64_t kUncounted = 8;  // of a span: the time of small pieces of work

  IoLoop& loop_;
  Connection& connection_;
  std::unique_ptr<IoLoop::Timer> timer_;
  Duration span_{}, idle_before_{};
  LogTime latest_{};
  bool passed_ = false;
};

struct Pending {
  HttpRequest request;
  std::function<void(Result<HttpResponse>)> done;
};

struct Idle {
  std::unique_ptr<Connection> connection;
  std::shared_ptr<const ConnectionTarget> target;
  LogTime since;
};

struct StreamState {
  HttpRequest request;
  HttpStreamHandler handler;
  std::unique_ptr<Connection> connection;
  std::shared_ptr<const ConnectionTarget> target;
  bool cancelled = false;
  bool renewed = false;  // ends because connections go elsewhere

  void cancel() {
    cancelled = true;
    if (connection) connection->close();
  }
};

std::unique_ptr<Connection> new_connection(IoLoop& loop, const Identity& identity,
                                           const HttpLimits& limits) {
  auto made = make_connection(loop.impl(), identity.target);
  made->use = limits.use;
  return made;
}

// The state that coroutines share; they keep it alive.
class Core : public std::enable_shared_from_this<Core> {
 public:
  Core(IoLoop& loop, std::unique_ptr<Identities> identities, HttpLimits limits)
      : loop_(loop), identities_(std::move(identities)), limits_(limits) {
    identities_->on_new_target([this] { renew_streams(); });
  }

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
    identities_->ask([self = shared_from_this(), state](Result<Identity> identity) {
      self->start_stream(state, std::move(identity), Tries::first);
    });
    return state;
  }

  void use(Result<Credentials> credentials) { identities_->replace(std::move(credentials)); }
  void set_limits(HttpLimits limits) {
    limits_ = limits;
    pump();
  }

  void stop() {
    if (std::exchange(stopped_, true)) return;  // a destructor calls it again, on any thread
    identities_->stop("stopped");
    idle_.clear();
    closes_idle_.reset();
    for (Connection* connection : active_) connection->close();
    for (auto& known : streams_)
      if (auto state = known.lock()) state->cancel();
    for (Pending& pending : std::exchange(queue_, {}))
      loop_.post([done = std::move(pending.done)] { done(unavailable("stopped")); });
  }

 private:
  void pump() {
    while (!stopped_ && inflight_ < limits_.inflight_max && !queue_.empty()) {
      auto next = std::make_shared<Pending>(std::move(queue_.front()));
      queue_.pop_front();
      ++inflight_;
      identities_->ask([self = shared_from_this(), next](Result<Identity> identity) {
        self->start_request(next, std::move(identity), Tries::first);
      });
    }
  }

  enum class Tries : std::uint8_t { first, again };

  void start_request(const std::shared_ptr<Pending>& pending, Result<Identity> identity,
                     Tries tries) {
    if (identity.has_value() && !stopped_) {
      asio::co_spawn(loop_.impl().context,
                     run_request(shared_from_this(), pending, std::move(*identity), tries),
                     asio::detached);
      return;
    }
    loop_.post([self = shared_from_this(), pending,
                why = identity.has_error() ? identity.error() : unavailable("stopped")] {
      self->finish_request(*pending, why);
    });
  }

  void finish_request(Pending& pending, Result<HttpResponse> answer) {
    --inflight_;
    pending.done(std::move(answer));
    pump();
  }

  void start_stream(const std::shared_ptr<StreamState>& state, Result<Identity> identity,
                    Tries tries) {
    if (identity.has_value() && !stopped_ && !state->cancelled) {
      asio::co_spawn(loop_.impl().context,
                     run_stream(shared_from_this(), state, std::move(*identity), tries),
                     asio::detached);
      return;
    }
    loop_.post([state, why = identity.has_error() ? identity.error() : unavailable("stopped")] {
      if (!state->cancelled) state->handler.ended(why);
    });
  }

  void renew_streams() {
    idle_.clear();
    for (auto& known : streams_)
      if (auto state = known.lock(); state && state->connection) {
        state->renewed = true;
        state->connection->close();
      }
  }

  static std::string head_of(const HttpRequest& request, const Identity& identity) {
    const ServerAddress& server = identity.target->server;
    std::string head = request.method + " " + server.path + request.target + " HTTP/1.1\r\nHost: ";
    head += server.host.find(':') == std::string::npos ? server.host : "[" + server.host + "]";
    head += ":" + server.port +
            "\r\nUser-Agent: fairlead/" FAIRLEAD_VERSION "\r\nAccept: " + request.accept + "\r\n";
    if (!identity.token.empty()) head += "Authorization: Bearer " + identity.token + "\r\n";
    if (!request.content_type.empty()) head += "Content-Type: " + request.content_type + "\r\n";
    if (!request.body.empty() || request.method != "GET")
      head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
    if (!request.if_none_match.empty()) head += "If-None-Match: " + request.if_none_match + "\r\n";
    return head + request.more_headers + "\r\n" + request.body;
  }

  std::unique_ptr<Connection> acquire_idle(const Identity& identity, const HttpRequest& request) {
    while (!request.new_connection && !idle_.empty()) {
      Idle one = std::move(idle_.back());
      idle_.pop_back();
      if (one.target == identity.target && one.connection->quiet() &&
          loop_.now() < one.since + limits_.idle_max)
        return std::move(one.connection);
    }
    return nullptr;
  }

  void keep(std::unique_ptr<Connection> connection, const Identity& identity) {
    if (stopped_ || ConnectionPlace::are_scarce()) return;
    if (idle_.size() >= limits_.idle_connections_max) idle_.erase(idle_.begin());
    idle_.push_back({std::move(connection), identity.target, loop_.now()});
    if (!closes_idle_) close_idle_later();
  }
  // Of a member that is only watched no request comes that would find it too old.
  void close_idle_later() {
    closes_idle_ = loop_.after(limits_.idle_max, [this] {
      const LogTime now = loop_.now();
      std::erase_if(idle_, [&](const Idle& one) { return now >= one.since + limits_.idle_max; });
      closes_idle_.reset();
      if (!idle_.empty()) close_idle_later();
    });
  }

  // `reader` is null before the connection is there.
  static Error failure(const Connection& connection, const Deadline& deadline,
                       const ErrorCondition& error, const ResponseReader* reader) {
    const std::string doing = reader ? "waiting for the answer" : connection.step();
    if (deadline.passed()) return unavailable("timeout while " + doing);
    if (!error) return unavailable(doing + ": the server closed the connection");
    return unavailable(doing + ": " + (reader ? reader->fault(error) : error.message()));
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
      co_await connection.wait_turn(error);
      deadline.set(std::min(limits_.connect_timeout, request.timeout));
      if (!error) co_await connection.connect(error);
      if (error || deadline.passed()) {
        out.answer = failure(connection, deadline, error, nullptr);
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
    while (!error && !reader->done()) {
      const std::string_view got = co_await connection.read(error);
      loop_.woke();
      if (error) break;
      out.answered_a_byte = out.answered_a_byte || !got.empty();
      if (got.empty()) {
        reader->end(error);
        if (!error && !reader->done()) error = asio::error::eof;
        break;
      }
      reader->feed(got, on_body, error);
    }
    if (too_long) {
      response.status = 413;  // here the answer is too large; the caller asks for a smaller page
      response.body = too_long_status(request.body_bytes_max);
      out.answer = std::move(response);
      co_return;
    }
    if (error || !reader->has_header() || deadline.passed()) {
      out.answer = failure(connection, deadline, error, reader.get());
      co_return;
    }
    reader->copy_head(response);
    out.answer = std::move(response);
    out.reusable = reader->keep_alive();
  }

  static asio::awaitable<void> run_request(std::shared_ptr<Core> self,
                                           std::shared_ptr<Pending> pending, Identity identity,
                                           Tries tries) {
    Attempt attempt;
    const std::string bytes = head_of(pending->request, identity);
    std::unique_ptr<Connection> connection = self->acquire_idle(identity, pending->request);
    bool reused = connection != nullptr;
    for (;;) {
      if (!connection) connection = new_connection(self->loop_, identity, self->limits_);
      self->active_.push_back(connection.get());
      attempt = Attempt{};
      co_await self->exchange(*connection, bytes, pending->request, reused, attempt);
      self->active_.remove(connection.get());
      // The server may have closed a kept connection. Only a GET is safe to repeat.
      const bool again = reused && attempt.answer.has_error() && !attempt.answered_a_byte &&
                         pending->request.method == "GET" && !self->stopped_;
      if (!again) break;
      connection.reset();
      reused = false;
    }
    if (attempt.reusable) self->keep(std::move(connection), identity);
    const bool refused = attempt.answer.has_value() && attempt.answer->status == 401;
    if (!refused || tries == Tries::again || self->stopped_) {
      self->finish_request(*pending, std::move(attempt.answer));
      co_return;
    }
    // A 401 was not executed, so any request may be repeated with another identity.
    self->identities_->refused(
        identity, [self, pending, identity,
                   answer = std::move(attempt.answer)](Result<Identity> other) mutable {
          if (other.has_value() && differs(*other, identity))
            self->start_request(pending, std::move(other), Tries::again);
          else
            self->finish_request(*pending, std::move(answer));
        });
  }

  static bool differs(const Identity& a, const Identity& b) {
    return a.target != b.target || a.token != b.token;
  }

  static asio::awaitable<void> run_stream(std::shared_ptr<Core> self,
                                          std::shared_ptr<StreamState> state, Identity identity,
                                          Tries tries) {
    Result<HttpResponse> outcome = Error{};
    StreamEnd ends;
    const std::string bytes = head_of(state->request, identity);
    state->connection = self->acquire_idle(identity, state->request);
    if (state->connection) {
      co_await self->follow(*state, bytes, /*connected=*/true, outcome, ends);
      // The server may have closed a kept connection.
      const bool again = outcome.has_error() && !ends.answered_a_byte && !state->renewed &&
                         !state->cancelled && !self->stopped_;
      if (again) state->connection.reset();
    }
    if (!state->connection) {
      state->connection = new_connection(self->loop_, identity, self->limits_);
      if (self->stopped_) state->cancelled = true;
      co_await self->follow(*state, bytes, false, outcome, ends);
    }
    if (ends.reusable && !state->renewed && !state->cancelled)
      self->keep(std::move(state->connection), identity);
    state->connection.reset();
    if (state->cancelled) co_return;
    if (std::exchange(state->renewed, false)) outcome = unavailable(kRenewed);
    const bool refused = outcome.has_value() && outcome->status == 401;
    if (!refused || tries == Tries::again) {
      state->handler.ended(std::move(outcome));
      co_return;
    }
    self->identities_->refused(identity, [self, state, identity, outcome](Result<Identity> other) {
      if (state->cancelled) return;
      if (other.has_value() && differs(*other, identity))
        self->start_stream(state, std::move(other), Tries::again);
      else
        state->handler.ended(outcome);
    });
  }

  // As Attempt has them.
  struct StreamEnd {
    bool answered_a_byte = false;
    bool reusable = false;
  };
  asio::awaitable<void> follow(StreamState& state, const std::string& bytes, bool connected,
                               Result<HttpResponse>& outcome, StreamEnd& ends) {
    Connection& connection = *state.connection;
    ErrorCondition error;
    Deadline deadline(loop_, connection);
    if (!connected) {
      co_await connection.wait_turn(error);
      deadline.set(std::min(limits_.connect_timeout, state.request.timeout));
      if (!error) co_await connection.connect(error);
    }
    if (error || deadline.passed() || state.cancelled) {
      outcome = failure(connection, deadline, error, nullptr);
      co_return;
    }
    deadline.set(state.request.timeout);
    co_await connection.write(bytes, error);
    HttpResponse response;
    auto reader = std::make_unique<ResponseReader>();
    auto on_body = [&](std::string_view part) {
      if (reader->status() == 200)
        state.handler.bytes(part);
      else if (response.body.size() + part.size() <= state.request.body_bytes_max)
        response.body.append(part);
      return !state.cancelled;
    };
    // `opened` is called before the first bytes of the body: the header is parsed to its end first.
    bool opened = false;
    while (!error && !state.cancelled && !reader->done()) {
      const std::string_view got = co_await connection.read(error);
      loop_.woke();
      if (error || state.cancelled) break;
      ends.answered_a_byte = ends.answered_a_byte || !got.empty();
      if (got.empty()) {
        reader->end(error);
        if (!error && !reader->done()) error = asio::error::eof;
        break;
      }
      auto on_part = [&](std::string_view part) {
        if (!opened && reader->status() == 200) opened = true, state.handler.opened();
        return !state.cancelled && on_body(part);
      };
      reader->feed(got, on_part, error);
      if (!opened && !state.cancelled && reader->has_header() && reader->status() == 200)
        opened = true, state.handler.opened();
      if (opened) deadline.clear();
    }
    if (error || !reader->has_header()) {
      outcome = failure(connection, deadline, error, reader.get());
      co_return;
    }
    reader->copy_head(response);
    ends.reusable = reader->done() && reader->keep_alive();
    outcome = std::move(response);
  }

  IoLoop& loop_;
  const std::unique_ptr<Identities> identities_;
  HttpLimits limits_;
  std::deque<Pending> queue_;
  std::size_t inflight_ = 0;
  std::vector<Idle> idle_;
  std::unique_ptr<IoLoop::Timer> closes_idle_;  // null: none is idle
  std::list<Connection*> active_;
  std::vector<std::weak_ptr<StreamState>> streams_;
  bool stopped_ = false;
};

struct OpenStream final : HttpClient::Stream {
  explicit OpenStream(std::shared_ptr<StreamState> state_given) : state(std::move(state_given)) {}
  ~OpenStream() override { state->cancel(); }
  const std::shared_ptr<StreamState> state;
};

class Client final : public HttpClient {
 public:
  Client(IoLoop& loop, std::shared_ptr<Core> core) : loop_(loop), core_(std::move(core)) {}
  ~Client() override { core_->stop(); }
  void send(HttpRequest request, std::function<void(Result<HttpResponse>)> done) override {
    core_->send({std::move(request), std::move(done)});
  }
  std::unique_ptr<Stream> stream(HttpRequest request, HttpStreamHandler handler) override {
    return std::make_unique<OpenStream>(core_->stream(std::move(request), std::move(handler)));
  }
  std::unique_ptr<Timer> after(Duration span, std::function<void()> work) override {
    return loop_.after(span, std::move(work));
  }
  LogTime now() const override { return loop_.now(); }
  void use(Result<Credentials> credentials) override { core_->use(std::move(credentials)); }
  void set_limits(HttpLimits limits) override { core_->set_limits(limits); }
  void stop() override { core_->stop(); }

 private:
  IoLoop& loop_;
  std::shared_ptr<Core> core_;
};

}  // namespace

Result<std::unique_ptr<HttpClient>> HttpClient::make(IoLoop& loop, Credentials credentials,
                                                     HttpLimits limits) {
  auto identities = Identities::make(loop, std::move(credentials), {}, {});
  if (identities.has_error()) return identities.error();
  return make(loop, std::move(*identities), limits);
}

std::unique_ptr<HttpClient> HttpClient::make(IoLoop& loop, std::unique_ptr<Identities> identities,
                                             HttpLimits limits) {
  return std::make_unique<Client>(loop,
                                  std::make_shared<Core>(loop, std::move(identities), limits));
}

}  // namespace fairlead
