#include "engine/runtime/http_session.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/stream_traits.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <chrono>
#include <type_traits>
#include <utility>

namespace fairlead {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr std::uint64_t kRequestBodyMax = 4096;    // of what is no POST
constexpr std::uint32_t kRequestHeadMax = 32'768;  // a token that names many groups has 20 KB
constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;

// A page of ours runs no script but ours and asks no other host; no other page may show it. What
// was answered of a log or a State is outdated with the next event.
constexpr const char* kPageHeaders =
    "Content-Security-Policy: default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cache-Control: no-store\r\n";

using RequestParser = http::request_parser<http::string_body>;

std::string text_of(beast::string_view view) { return {view.data(), view.size()}; }

bool reads(const ReceivedRequest& request) {
  return request.method == "GET" || request.method == "HEAD";
}

bool is_probe(const ReceivedRequest& request) {
  return reads(request) &&
         std::find(kHttpProbes.begin(), kHttpProbes.end(), request.path()) != kHttpProbes.end();
}

HttpReply plain_reply(int status, std::string_view text) {
  return {status, "text/plain; charset=utf-8", std::string(text)};
}

HttpReply busy() {
  HttpReply reply = plain_reply(503, "busy with other questions\n");
  reply.retry_after_seconds = 1;
  return reply;
}

// Keeps the context of `executor` running.
asio::any_io_executor busy_executor(const asio::any_io_executor& executor) {
  return asio::prefer(executor, asio::execution::outstanding_work.tracked);
}

// What a client may do next with the connection.
enum class AfterReply { keep, close };

// Head and body in one text: two writes would wait for a delayed acknowledgement in between.
std::string bytes_of(const ReceivedRequest& request, const HttpReply& reply, std::string_view allow,
                     AfterReply after) {
  const auto status = static_cast<http::status>(reply.status);
  std::string out = "HTTP/1.1 " + std::to_string(reply.status) + " " +
                    text_of(http::obsolete_reason(status)) + "\r\n";
  out += "Content-Type: " + reply.content_type + "\r\n";
  out += kPageHeaders;
  if (reply.retry_after_seconds > 0)
    out += "Retry-After: " + std::to_string(reply.retry_after_seconds) + "\r\n";
  // RFC 9110 demands these two.
  if (reply.status == 401) out += "WWW-Authenticate: Bearer\r\n";
  if (reply.status == 405) out.append("Allow: ").append(allow).append("\r\n");
  out += after == AfterReply::close ? "Connection: close\r\n" : "Connection: keep-alive\r\n";
  out += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n";
  if (request.method != "HEAD") out += reply.body;
  return out;
}

constexpr const char* kStreamEnd = "event: end\ndata: ask again\n\n";

using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

// `Stream` is one of the two. The pending operation of a connection holds the only reference to its
// session, or the thread or guard that has its request does. Large: each asynchronous operation of
// a connection ends in a function of its own.
template <class Stream>
class Session final : public HttpSession, public std::enable_shared_from_this<Session<Stream>> {
 public:
  template <class... StreamArguments>
  Session(asio::ip::address remote, HttpShared& shared, StreamArguments&&... arguments)
      : stream_(std::forward<StreamArguments>(arguments)...),
        remote_(std::move(remote)),
        shared_(shared) {
    place_ = shared_.waiting.insert(shared_.waiting.end(), this);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() override {
    leave();
    free_body();
  }

  void start() {
    expire_after(shared_.serving.patience.header);
    if constexpr (std::is_same_v<Stream, TlsStream>)
      stream_.async_handshake(TlsStream::server,
                              [self = this->shared_from_this()](error_code error) {
                                if (!error && self->list_ != nullptr) self->read_head();
                              });
    else
      read_head();
  }

  const asio::ip::address& remote() const override { return remote_; }

  void give_way() override {
    leave();
    socket_stream().close();
  }

  void drain() override {
    if (list_ == &shared_.streaming) return give_way();
    error_code gone;
    const bool something_came = buffer_.size() > 0 || (parser_ && parser_->got_some()) ||
                                socket_stream().socket().available(gone) > 0;
    if (list_ == &shared_.waiting && !replying_ && !something_came) give_way();
  }

  void tell_version(const std::string& version) override {
    const HttpStreams& streams = shared_.serving.streams;
    const Duration silent{++silent_ticks_ * streams.tick.ns};
    const Duration age{++stream_ticks_ * streams.tick.ns};
    const bool old = streams.age_max.ns > 0 && age >= streams.age_max;
    if (old && told_end_) return give_way();
    if (!bytes_.empty()) {  // the client has not read the last one yet
      if (silent > shared_.serving.patience.answer) give_way();
    } else if (old) {
      send_of_stream(kStreamEnd);
      told_end_ = true;
    } else if (version != version_) {
      send_of_stream("event: version\ndata: " + version + "\n\n");
      version_ = version;
    } else if (silent >= streams.silence_max) {
      send_of_stream(":\n\n");
    }
  }

  void decided(std::optional<HttpReply> refusal) override {
    if (refusal) return write(std::move(*refusal));
    serve();
  }

 private:
  beast::tcp_stream& socket_stream() { return beast::get_lowest_layer(stream_); }
  // Closes the connection if the next operations do not end within `patience`.
  void expire_after(Duration patience) {
    socket_stream().expires_after(std::chrono::nanoseconds(patience.ns));
  }
  void leave() {
    if (list_ != nullptr) std::exchange(list_, nullptr)->erase(place_);
  }
  void move_to(std::list<HttpSession*>& list) {
    if (list_ == nullptr) return;
    list.splice(list.end(), *list_, place_);
    list_ = &list;
  }
  void free_body() {
    if (std::exchange(has_large_body_, false)) --shared_.large_bodies;
    request_.body = std::string();
  }

  // -- a request ---------------------------------------------------------------------------------

  // The deadline of the whole request is set: a client cannot extend it byte by byte.
  void read_head() {
    parser_.emplace();
    parser_->header_limit(kRequestHeadMax);
    parser_->body_limit(boost::none);  // what it is depends on the head
    http::async_read_header(stream_, buffer_, *parser_,
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              if (!error && self->list_ != nullptr) self->read_body();
                            });
  }

  void read_body() {
    const auto& head = parser_->get();
    request_.method = text_of(head.method_string());
    request_.target = text_of(head.target());
    request_.host = text_of(head[http::field::host]);
    request_.authorization = text_of(head[http::field::authorization]);
    request_.own_authorization = text_of(head[kHttpOwnAuthorization]);
    request_.content_type = text_of(head[http::field::content_type]);
    const std::uint64_t most = is_post() ? shared_.serving.posts.body_max : kRequestBodyMax;
    if (parser_->content_length().value_or(0) > most) return refuse_body();
    if (is_post() && !acquire_body()) return write(busy());
    parser_->body_limit(most);
    http::async_read(stream_, buffer_, *parser_,
                     [self = this->shared_from_this()](error_code error, std::size_t) {
                       if (self->list_ == nullptr) return;
                       if (error == http::error::body_limit) return self->refuse_body();
                       if (!error) self->answer();
                     });
  }

  bool is_post() const {
    const HttpPosts& posts = shared_.serving.posts;
    return posts.answer && request_.method == "POST" && request_.path() == posts.path;
  }
  bool takes_posts() const {
    return shared_.serving.posts.answer && request_.path() == shared_.serving.posts.path;
  }
  bool is_question() const {
    const HttpQuestions& questions = shared_.serving.questions;
    const auto begins = [this](const std::string& prefix) {
      return request_.target.starts_with(prefix);
    };
    return questions.answer &&
           std::any_of(questions.prefixes.begin(), questions.prefixes.end(), begins);
  }
  // Whether the body of a POST may be read: large ones have places of their own.
  bool acquire_body() {
    const auto length = parser_->content_length();
    if (!length && !parser_->chunked()) return true;  // there is none
    if (length && *length <= kHttpSmallBody) return true;
    if (shared_.large_bodies >= kHttpLargeBodiesMax) return false;
    ++shared_.large_bodies;
    return has_large_body_ = true;
  }
  void refuse_body() {
    if (is_post() || reads(request_)) return write(plain_reply(413, "the body is too long\n"));
    write(not_allowed());
  }
  HttpReply not_allowed() const {
    return plain_reply(405, takes_posts() ? "POST only\n" : "GET only\n");
  }

  // Acquires a place for a request that is no probe; false if there is none.
  bool begin_answer() {
    std::list<HttpSession*>& answering = shared_.answering;
    const HttpPlaces& places = shared_.serving.places;
    const auto of_address =
        std::count_if(answering.begin(), answering.end(),
                      [this](const HttpSession* other) { return other->remote() == remote_; });
    if (answering.size() >= places.requests ||
        static_cast<std::size_t>(of_address) >= places.requests_of_address)
      return false;
    move_to(answering);
    return true;
  }

  void answer() {
    request_.body = std::move(parser_->get().body());
    if (is_probe(request_)) return write(shared_.serving.handler(request_.path()));
    if (!begin_answer()) return write(busy());
    if (request_.target.size() > kHttpTargetMax)
      return write(
          plain_reply(414, "the target is longer than 8192 bytes: ask for less at once\n"));
    if (!is_post() && (takes_posts() || !reads(request_))) return write(not_allowed());
    if (!shared_.serving.guard) return serve();
    shared_.serving.guard(request_,
                          GuardDecisions::expect(shared_.decisions, this->shared_from_this()));
  }

  void serve() {
    if (is_stream()) return begin_stream();
    if (is_post()) return serve_post();
    if (is_question())
      return hand_over(shared_.question_thread,
                       [this] { return shared_.serving.questions.answer(request_.target); });
    write(shared_.serving.handler(request_.path()));
  }

  void serve_post() {
    const HttpPosts& posts = shared_.serving.posts;
    if (request_.body.size() <= posts.inline_body_max) return write(posts.answer(request_));
    hand_over(shared_.post_thread, [this] { return shared_.serving.posts.answer(request_); });
  }

  // -- a stream of versions ----------------------------------------------------------------------

  bool is_stream() const {
    const HttpStreams& streams = shared_.serving.streams;
    return streams.version && request_.method == "GET" && request_.path() == streams.path;
  }
  void begin_stream() {
    const HttpStreams& streams = shared_.serving.streams;
    if (shared_.streaming.size() >= streams.max || shared_.draining) return write(busy());
    move_to(shared_.streaming);
    socket_stream().expires_never();  // tell_version() ends a client that does not read
    version_ = streams.version();
    send_of_stream(std::string("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n") +
                   kPageHeaders + "Connection: close\r\n\r\nevent: version\ndata: " + version_ +
                   "\n\n");
    await_leave();
  }
  void send_of_stream(std::string bytes) {
    bytes_ = std::move(bytes);
    silent_ticks_ = 0;
    asio::async_write(stream_, asio::buffer(bytes_),
                      [self = this->shared_from_this()](error_code error, std::size_t) {
                        self->bytes_ = std::string();
                        if (error && self->list_ != nullptr) self->give_way();
                      });
  }
  // What a client sends after its request is no request any more; that it leaves ends the stream.
  void await_leave() {
    buffer_.clear();
    stream_.async_read_some(buffer_.prepare(kRequestHeadMax),
                            [self = this->shared_from_this()](error_code error, std::size_t) {
                              if (self->list_ == nullptr) return;
                              if (error) return self->give_way();
                              self->await_leave();
                            });
  }

  // Has `thread` make the answer. Nothing else uses the session meanwhile.
  template <class Answer>
  void hand_over(WorkThread& thread, Answer make_answer) {
    auto work = [self = this->shared_from_this(), make_answer = std::move(make_answer),
                 executor = busy_executor(stream_.get_executor())](WorkThread::Turn turn) mutable {
      HttpReply reply = turn == WorkThread::Turn::late ? busy() : make_answer();
      // Moved, not copied: the session belongs to the endpoint's thread and must be destroyed
      // there.
      asio::post(executor, [self = std::move(self), reply = std::move(reply)]() mutable {
        self->write(std::move(reply));
      });
    };
    if (!thread.offer(std::move(work))) write(busy());
  }

  // -- its answer --------------------------------------------------------------------------------

  void write(HttpReply reply) {
    replying_ = true;
    const bool read_whole = parser_->is_done();
    const bool keeps = parser_->keep_alive() && read_whole && !shared_.draining;
    const AfterReply after = keeps ? AfterReply::keep : AfterReply::close;
    bytes_ = bytes_of(request_, reply, takes_posts() ? "POST" : "GET, HEAD", after);
    free_body();
    expire_after(shared_.serving.patience.answer);
    asio::async_write(
        stream_, asio::buffer(bytes_),
        [self = this->shared_from_this(), after, read_whole](error_code error, std::size_t) {
          self->bytes_ = std::string();
          if (error) return;
          if (after == AfterReply::keep) return self->await_request();
          self->finish(read_whole ? AfterReply::close : AfterReply::keep);
        });
  }

  // Ends the connection. `unread`: whether to keep reading what the client still sends: closing
  // with something unread would reset the connection, and the client might lose the answer.
  void finish(AfterReply unread) {
    move_to(shared_.waiting);
    expire_after(shared_.serving.patience.header);
    buffer_.clear();
    const auto closed = [self = this->shared_from_this(), unread](error_code) {
      error_code ignored;
      self->socket_stream().socket().shutdown(tcp::socket::shutdown_send, ignored);
      if (unread == AfterReply::keep) self->discard();
    };
    if constexpr (std::is_same_v<Stream, TlsStream>) {
      // Of what is unread the answer of the client's TLS cannot be waited for.
      if (unread == AfterReply::close) return stream_.async_shutdown(closed);
    }
    closed({});
  }
  // The deadline for all of it is set.
  void discard() {
    socket_stream().async_read_some(
        buffer_.prepare(kRequestHeadMax),
        [self = this->shared_from_this()](error_code error, std::size_t) {
          if (!error && self->list_ != nullptr) self->discard();
        });
  }

  void await_request() {
    replying_ = false;
    move_to(shared_.waiting);
    parser_.reset();
    if (buffer_.size() > 0) {
      expire_after(shared_.serving.patience.header);
      return read_head();
    }
    if (shared_.draining) return give_way();
    expire_after(shared_.serving.patience.idle);
    stream_.async_read_some(buffer_.prepare(kRequestHeadMax),
                            [self = this->shared_from_this()](error_code error, std::size_t size) {
                              if (error || self->list_ == nullptr) return;
                              self->buffer_.commit(size);
                              self->expire_after(self->shared_.serving.patience.header);
                              self->read_head();
                            });
  }

  Stream stream_;
  const asio::ip::address remote_;
  HttpShared& shared_;
  std::list<HttpSession*>* list_ = &shared_.waiting;  // null: it gave way
  std::list<HttpSession*>::iterator place_;
  beast::flat_buffer buffer_{kReadAtOnce};
  std::optional<RequestParser> parser_;
  ReceivedRequest request_;
  std::string bytes_;              // of the answer
  std::string version_;            // that a stream sent last
  std::int64_t stream_ticks_ = 0;  // since it began
  std::int64_t silent_ticks_ = 0;  // since it sent something
  bool told_end_ = false;          // the event "end" was sent
  bool replying_ = false;
  bool has_large_body_ = false;
};

// Closes the oldest waiting connection if one more from `remote` would exceed a limit: that of the
// same address if it has its share, so that it does not displace others, else that of all.
void make_place(HttpShared& shared, const asio::ip::address& remote) {
  const HttpPlaces& places = shared.serving.places;
  const auto same = [&remote](const HttpSession* other) { return other->remote() == remote; };
  const auto of_address = std::count_if(shared.waiting.begin(), shared.waiting.end(), same);
  if (static_cast<std::size_t>(of_address) >= places.waiting_of_address)
    (*std::find_if(shared.waiting.begin(), shared.waiting.end(), same))->give_way();
  else if (shared.waiting.size() >= places.waiting)
    shared.waiting.front()->give_way();
}

}  // namespace

std::function<void(std::optional<HttpReply>)> GuardDecisions::expect(
    const std::shared_ptr<GuardDecisions>& self, std::shared_ptr<HttpSession> session) {
  const std::uint64_t number = ++self->last_;
  self->pending_.emplace(
      number, Pending{std::move(session), busy_executor(self->context_->get_executor())});
  return [self, number](std::optional<HttpReply> refusal) {
    const std::lock_guard lock(self->mutex_);
    if (self->context_ == nullptr) return;
    asio::post(*self->context_, [self, number, refusal = std::move(refusal)]() mutable {
      self->pass_on(number, std::move(refusal));
    });
  };
}

void GuardDecisions::pass_on(std::uint64_t number, std::optional<HttpReply> refusal) {
  auto found = pending_.extract(number);
  if (!found.empty()) found.mapped().session->decided(std::move(refusal));
}

void GuardDecisions::close() {
  {
    const std::lock_guard lock(mutex_);
    context_ = nullptr;
  }
  pending_.clear();
}

HttpShared::HttpShared(HttpServing serving_given, asio::io_context& context)
    : serving(std::move(serving_given)),
      question_thread(serving.questions.waiting_max, serving.questions.patience),
      post_thread(serving.posts.waiting_max, serving.posts.patience),
      decisions(std::make_shared<GuardDecisions>(context)) {}

void open_session(tcp::socket socket, asio::ip::address remote, HttpShared& shared) {
  std::shared_ptr<asio::ssl::context> tls;
  if (shared.serving.certificate) {
    tls = shared.serving.certificate->context();
    if (!tls) return;  // the socket is closed
  }
  make_place(shared, remote);
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  // The stream keeps what it needs of the TLS settings: a new certificate leaves it alone.
  if (tls)
    std::make_shared<Session<TlsStream>>(std::move(remote), shared, std::move(socket), *tls)
        ->start();
  else
    std::make_shared<Session<PlainStream>>(std::move(remote), shared, std::move(socket))->start();
}

}  // namespace fairlead
