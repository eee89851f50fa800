#include "engine/http/connection.h"

#include <algorithm>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/status.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

#include "engine/http/byte_stream.h"

namespace fairlead {

namespace {

namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

constexpr std::uint32_t kRequestHeadMax = 32'768;  // a token that names many groups has 20 KB
constexpr std::size_t kUnparsedMax = std::size_t{64} << 10;
constexpr std::size_t kReadMax = std::size_t{32} << 10;  // at a time
constexpr const char* kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

std::string text_of(beast::string_view view) { return {view.data(), view.size()}; }

// What a client may do next with the connection.
enum class AfterReply { keep, close };

bool is_word(beast::string_view text, beast::string_view word) {
  return beast::iequals(text, word);
}

// Why a head is refused: it is one that another reader on the way may have understood otherwise, as
// to where the body ends or which host is meant. Empty: it is not.
std::string fault_of(const http::request_parser<http::string_body>& parser) {
  const auto& head = parser.get();
  const bool is_old = head.version() == 10;  // the parser reads no other one than it and 1.1
  // RFC 9112, 3.2.
  const std::size_t hosts = head.count(http::field::host);
  if (hosts > 1 || (hosts == 0 && !is_old)) return "one Host header was expected";
  // RFC 9112, 6.1: `identity` is no longer a transfer coding, and HTTP/1.0 has none.
  const std::size_t codings = head.count(http::field::transfer_encoding);
  if (codings == 0) return {};
  if (is_old) return "HTTP/1.0 has no Transfer-Encoding";
  if (codings > 1 || !is_word(head[http::field::transfer_encoding], "chunked"))
    return "no other Transfer-Encoding than chunked was expected";
  return {};
}

// Head and body in one text: two writes would wait for a delayed acknowledgement in between.
std::string bytes_of(const ReceivedRequest& request, const HttpReply& reply, AfterReply after) {
  const auto status = static_cast<http::status>(reply.status);
  std::string out = "HTTP/1.1 " + std::to_string(reply.status) + " " +
                    text_of(http::obsolete_reason(status)) + "\r\n";
  out += "Content-Type: " + reply.content_type + "\r\n";
  out += reply.headers;
  if (reply.retry_after_seconds > 0)
    out += "Retry-After: " + std::to_string(reply.retry_after_seconds) + "\r\n";
  out += after == AfterReply::close ? "Connection: close\r\n" : "Connection: keep-alive\r\n";
  out += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n\r\n";
  if (request.method != "HEAD") out += reply.body;
  return out;
}

// The pending operation of a connection holds a reference to it. Large: each operation ends in a
// function of its own.
class Connection final : public HttpConnection {
 public:
  Connection(HttpOpening opening, const MakeHttpHandler& make)
      : stream_(std::move(opening.stream)),
        remote_(std::move(opening.remote)),
        loop_(opening.loop),
        patience_(opening.patience),
        ended_(std::move(opening.ended)),
        handler_(make(*this)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() override {
    // Not closed before: the server ended while an operation or an answer was pending.
    if (stage_ != Stage::closed) handler_->closed();
    ended_();
  }

  void start() {
    stream_->expire_after(patience_.header);
    stream_->handshake(then(&Connection::read_head));
  }

  HttpLoop& loop() override { return loop_; }
  const std::string& remote() const override { return remote_; }
  const ReceivedRequest& request() const override { return request_; }

  void reply(const HttpReply& reply) override {
    if (stage_ == Stage::closed) return;
    stage_ = Stage::replying;
    read_whole_ = parser_->is_done() && understood_;
    keeps_ = parser_->keep_alive() && read_whole_ && !draining_;
    bytes_ = bytes_of(request_, reply, keeps_ ? AfterReply::keep : AfterReply::close);
    // A large body is not kept while the client reads its answer.
    request_.body = std::string();
    stream_->expire_after(patience_.answer);
    stream_->write(bytes_, then(&Connection::end_reply));
  }

  void begin_stream(std::string bytes) override {
    if (stage_ == Stage::closed) return;
    stage_ = Stage::streaming;
    stream_->expire_never();
    send(std::move(bytes));
    drop_received();
  }
  void send(std::string bytes) override {
    bytes_ = std::move(bytes);
    stream_->write(bytes_, then(&Connection::end_send));
  }
  bool is_sending() const override { return !bytes_.empty(); }
  void wake_after(Duration delay) override {
    // It does not keep the connection.
    stream_->wait(delay, [weak = weak_from_this()](std::optional<std::size_t> passed) {
      const auto self = std::static_pointer_cast<Connection>(weak.lock());
      if (passed && self && self->stage_ != Stage::closed) self->handler_->woken();
    });
  }

  void close() override {
    if (std::exchange(stage_, Stage::closed) == Stage::closed) return;
    stream_->close();
    handler_->closed();
  }
  void drain() override {
    draining_ = true;
    const bool something_came =
        buffer_.size() > 0 || (parser_ && parser_->got_some()) || stream_->has_unread();
    if (stage_ == Stage::streaming || (stage_ == Stage::reading && !something_came)) close();
  }
  bool is_draining() const override { return draining_; }

 private:
  enum class Stage { reading, answering, replying, streaming, ending, closed };

  // Goes on with `next`, or closes the connection if the operation failed.
  ByteStream::Done then(void (Connection::*next)()) {
    auto self = std::static_pointer_cast<Connection>(shared_from_this());
    return [self = std::move(self), next](std::optional<std::size_t> bytes) {
      if (!bytes) return self->close();
      if (self->stage_ != Stage::closed) ((*self).*next)();
    };
  }
  void receive(void (Connection::*next)()) {
    const std::size_t most = std::min(kReadMax, buffer_.max_size() - buffer_.size());
    // The buffer is full of what cannot be parsed yet.
    if (most == 0) return close();
    const auto space = buffer_.prepare(most);
    stream_->read_some({static_cast<char*>(space.data()), space.size()},
                       [go_on = then(next), this](std::optional<std::size_t> bytes) {
                         buffer_.commit(bytes.value_or(0));
                         go_on(bytes);
                       });
  }

  // -- a request ---------------------------------------------------------------------------------

  void read_head() {
    parser_.emplace();
    parser_->header_limit(kRequestHeadMax);
    parser_->body_limit(boost::none);  // what it is depends on the head
    parse_head();
  }
  void parse_head() {
    while (!parser_->is_header_done()) {
      const error_code error = parse_some();
      if (error == http::error::need_more) return receive(&Connection::parse_head);
      if (error) return close();
    }
    read_body();
  }

  void read_body() {
    keep_head();
    if (const std::string fault = fault_of(*parser_); !fault.empty()) {
      understood_ = false;  // nor is where it ends
      return reply({400, "text/plain; charset=utf-8", fault + "\n"});
    }
    const auto length = parser_->content_length();
    std::optional<std::uint64_t> announced;
    if (length) announced = *length;
    // RFC 9112, 6.3: a request with neither has no body.
    if (!length && !parser_->chunked()) announced = 0;
    const auto expected = handler_->expect_body(announced);
    if (const auto* refusal = std::get_if<HttpReply>(&expected)) return reply(*refusal);
    const std::uint64_t most = std::get<std::uint64_t>(expected);
    if (announced.value_or(0) > most) return reply(handler_->body_too_long());
    parser_->body_limit(most);
    parser_->eager(true);
    // RFC 9110, 10.1.1: not where some of the body has come.
    const auto& head = parser_->get();
    if (!parser_->is_done() && buffer_.size() == 0 && head.version() == 11 &&
        is_word(head[http::field::expect], "100-continue")) {
      bytes_ = kContinue;
      return stream_->write(bytes_, then(&Connection::parse_body));
    }
    parse_body();
  }
  void parse_body() {
    while (!parser_->is_done()) {
      const error_code error = parse_some();
      if (error == http::error::need_more) return receive(&Connection::parse_body);
      if (error == http::error::body_limit) return reply(handler_->body_too_long());
      if (error) return close();
    }
    request_.body = std::move(parser_->get().body());
    stage_ = Stage::answering;
    handler_->answer();
  }

  error_code parse_some() {
    if (buffer_.size() == 0) return http::error::need_more;
    error_code error;
    buffer_.consume(parser_->put(buffer_.data(), error));
    return error;
  }
  void keep_head() {
    const auto& head = parser_->get();
    request_.method = text_of(head.method_string());
    request_.target = text_of(head.target());
    request_.host = text_of(head[http::field::host]);
    request_.authorization = text_of(head[http::field::authorization]);
    request_.own_authorization = text_of(head[kHttpOwnAuthorization]);
    request_.accept = text_of(head[http::field::accept]);
    request_.content_type = text_of(head[http::field::content_type]);
    request_.user_agent = text_of(head[http::field::user_agent]);
    request_.if_none_match = text_of(head[http::field::if_none_match]);
    request_.accept_encoding = text_of(head[http::field::accept_encoding]);
  }

  // -- its answer --------------------------------------------------------------------------------

  void end_reply() {
    bytes_ = std::string();
    handler_->answered();
    if (stage_ == Stage::closed) return;
    if (keeps_) return await_request();
    stage_ = Stage::ending;
    stream_->expire_after(patience_.header);
    // Closing with something unread would reset the connection, and the client might lose the
    // answer.
    if (read_whole_)
      stream_->shutdown(then(&Connection::close));
    else
      stream_->discard(then(&Connection::close));
  }

  void await_request() {
    stage_ = Stage::reading;
    parser_.reset();
    // A client may send its next request before it has this answer. While the server ends it is
    // answered, too.
    if (buffer_.size() > 0) return begin_request();
    if (draining_) return close();
    stream_->expire_after(patience_.idle);
    receive(&Connection::begin_request);
  }
  void begin_request() {
    stream_->expire_after(patience_.header);
    read_head();
  }

  void end_send() {
    // First: sent() may send more, and asks is_sending().
    bytes_ = std::string();
    handler_->sent();
  }
  // Of a stream's client. That it leaves ends the stream.
  void drop_received() {
    buffer_.clear();
    receive(&Connection::drop_received);
  }

  const std::unique_ptr<ByteStream> stream_;
  const std::string remote_;
  HttpLoop& loop_;
  const HttpPatience patience_;
  const std::function<void()> ended_;
  Stage stage_ = Stage::reading;
  bool draining_ = false;
  beast::flat_buffer buffer_{kUnparsedMax};
  std::optional<http::request_parser<http::string_body>> parser_;
  ReceivedRequest request_;
  std::string bytes_;        // that are being sent
  bool understood_ = true;   // the head of the request
  bool read_whole_ = false;  // the request that is answered
  bool keeps_ = false;       // the connection, after the answer
  const std::unique_ptr<HttpHandler> handler_;
};

}  // namespace

std::shared_ptr<HttpConnection> open_connection(HttpOpening opening, const MakeHttpHandler& make) {
  const auto connection = std::make_shared<Connection>(std::move(opening), make);
  connection->start();
  return connection;
}

}  // namespace fairlead
