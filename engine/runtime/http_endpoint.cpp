#include "engine/runtime/http_endpoint.h"

#include <algorithm>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <list>
#include <mutex>
#include <optional>
#include <string>
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

using Request = http::request<http::empty_body>;

std::string_view target_of(const Request& request) {
  return {request.target().data(), request.target().size()};
}

bool reads(const Request& request) {
  return request.method() == http::verb::get || request.method() == http::verb::head;
}

HttpReply busy() { return {503, "text/plain; charset=utf-8", "busy with other questions\n", 1}; }

// Answers questions one after the other on a thread of its own.
class QuestionThread {
 public:
  ~QuestionThread() { stop(); }
  void start() {
    thread_ = std::thread([this] { run(); });
  }
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  // Drops the questions that remain unanswered. Call it after stop().
  void forget() { waiting_.clear(); }
  // Queues `work`; false if too many wait already. `late`: it waited longer than
  // kHttpQuestionPatience.
  bool offer(std::function<void(bool late)> work) {
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.size() >= kHttpQuestionsMax) return false;
      waiting_.push_back({std::chrono::steady_clock::now(), std::move(work)});
    }
    wake_.notify_one();
    return true;
  }

 private:
  struct Waiting {
    std::chrono::steady_clock::time_point since;
    std::function<void(bool late)> work;
  };
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      const Waiting next = std::move(waiting_.front());
      waiting_.pop_front();
      lock.unlock();
      const auto waited = std::chrono::steady_clock::now() - next.since;
      next.work(waited > std::chrono::nanoseconds(kHttpQuestionPatience.ns));
      lock.lock();
    }
  }

  std::mutex mutex_;  // guards the next three
  std::condition_variable wake_;
  std::deque<Waiting> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

class Session;

// The open connections of each kind, oldest first. Only the endpoint's thread uses it.
struct Connections {
  // Without a whole request: holding one open costs a client nothing, so these are closed where
  // places are short.
  std::list<Session*> waiting;
  // With a whole request, not a probe, that is being answered: never closed for another one.
  std::list<Session*> answering;
};

// The state that sessions share; outlives them.
struct Service {
  HttpEndpoint::Handler handler;
  HttpEndpoint::Questions questions;
  HttpPatience patience;
  QuestionThread thread;
  Connections connections;

  bool asks(const Request& request) const {
    const auto begins = [target = target_of(request)](const std::string& prefix) {
      return target.starts_with(prefix);
    };
    return questions.answer && reads(request) &&
           std::any_of(questions.prefixes.begin(), questions.prefixes.end(), begins);
  }
};

std::string_view path_of(const Request& request) {
  const std::string_view target = target_of(request);
  return target.substr(0, target.find('?'));
}

bool is_probe(const Request& request) {
  return std::find(kHttpProbes.begin(), kHttpProbes.end(), path_of(request)) != kHttpProbes.end();
}

http::response<http::string_body> response_of(const Request& request, HttpReply reply) {
  http::response<http::string_body> response;
  response.version(request.version());
  response.result(static_cast<unsigned>(reply.status));
  response.set(http::field::content_type, reply.content_type);
  if (reply.retry_after_seconds > 0)
    response.set(http::field::retry_after, std::to_string(reply.retry_after_seconds));
  response.keep_alive(request.keep_alive());
  response.body() = std::move(reply.body);
  response.prepare_payload();
  if (request.method() == http::verb::head) response.body().clear();
  return response;
}

// One connection. Its pending operation holds the only reference, so it lives until none is left.
class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(tcp::socket socket, asio::ip::address remote, Service& service)
      : stream_(std::move(socket)), remote_(std::move(remote)), service_(service) {
    Connections& all = service_.connections;
    place_ = all.waiting.insert(all.waiting.end(), this);
  }
  ~Session() { leave(); }

  const asio::ip::address& remote() const { return remote_; }

  void read() {
    parser_.emplace();
    parser_->header_limit(kRequestHeadMax);
    parser_->body_limit(kRequestBodyMax);
    // One deadline for the whole request, so that a client cannot extend it byte by byte.
    expire_after(service_.patience.header);
    http::async_read(stream_, buffer_, *parser_,
                     [self = shared_from_this()](error_code error, std::size_t) {
                       if (!error && self->list_ != nullptr) self->answer();
                     });
  }

  // Closes the connection to make room for another one.
  void give_way() {
    leave();
    stream_.close();
  }

 private:
  // Closes the connection if the next operation does not end within `patience`.
  void expire_after(Duration patience) {
    stream_.expires_after(std::chrono::nanoseconds(patience.ns));
  }
  void leave() {
    if (list_ != nullptr) std::exchange(list_, nullptr)->erase(place_);
  }
  void move_to(std::list<Session*>& list) {
    if (list_ == nullptr) return;
    list.splice(list.end(), *list_, place_);
    list_ = &list;
  }
  // Acquires a place for a request that is no probe; false if there is none.
  bool begin_answer() {
    std::list<Session*>& answering = service_.connections.answering;
    const auto of_address =
        std::count_if(answering.begin(), answering.end(),
                      [this](const Session* other) { return other->remote_ == remote_; });
    if (answering.size() >= kHttpRequestsMax ||
        static_cast<std::size_t>(of_address) >= kHttpRequestsOfAddressMax)
      return false;
    move_to(answering);
    return true;
  }

  void answer() {
    const Request& request = parser_->get();
    if (!is_probe(request) && !begin_answer()) return write(busy());
    if (!reads(request)) return write({405, "text/plain; charset=utf-8", "GET only\n"});
    if (!service_.asks(request)) return write(service_.handler(path_of(request)));
    auto work = [self = shared_from_this(),
                 target = std::string(target_of(request))](bool late) mutable {
      HttpReply reply = late ? busy() : self->service_.questions.answer(target);
      asio::any_io_executor executor = self->stream_.get_executor();
      // Moved, not copied: the session belongs to the endpoint's thread and must be destroyed
      // there.
      asio::post(executor, [self = std::move(self), reply = std::move(reply)]() mutable {
        self->write(std::move(reply));
      });
    };
    if (!service_.thread.offer(std::move(work))) write(busy());
  }

  void write(HttpReply reply) {
    response_ = response_of(parser_->get(), std::move(reply));
    expire_after(service_.patience.answer);
    http::async_write(stream_, response_,
                      [self = shared_from_this()](error_code error, std::size_t) {
                        if (!error && self->response_.keep_alive()) return self->await_request();
                        error_code ignored;
                        self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
                      });
  }

  void await_request() {
    move_to(service_.connections.waiting);
    if (buffer_.size() > 0) return read();
    expire_after(service_.patience.idle);
    stream_.async_read_some(buffer_.prepare(kRequestHeadMax),
                            [self = shared_from_this()](error_code error, std::size_t size) {
                              if (error) return;
                              self->buffer_.commit(size);
                              self->read();
                            });
  }

  beast::tcp_stream stream_;
  const asio::ip::address remote_;
  Service& service_;
  std::list<Session*>* list_ = &service_.connections.waiting;  // null: it gave way
  std::list<Session*>::iterator place_;
  beast::flat_buffer buffer_{kRequestHeadMax + kRequestBodyMax};
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> response_;
};

// Closes the oldest waiting connection if one more from `remote` would exceed a limit: that of the
// same address if it has its share, so that it does not displace others, else that of all.
void make_place(const Connections& connections, const asio::ip::address& remote) {
  const std::list<Session*>& waiting = connections.waiting;
  const auto same = [&remote](const Session* other) { return other->remote() == remote; };
  const auto of_address = std::count_if(waiting.begin(), waiting.end(), same);
  if (static_cast<std::size_t>(of_address) >= kHttpWaitingOfAddressMax)
    (*std::find_if(waiting.begin(), waiting.end(), same))->give_way();
  else if (waiting.size() >= kHttpWaitingMax)
    waiting.front()->give_way();
}

class BeastEndpoint final : public HttpEndpoint {
 public:
  BeastEndpoint(Handler handler, Questions questions, const HttpPatience& patience) {
    service_.patience = patience;
    service_.handler = std::move(handler);
    service_.questions = std::move(questions);
  }
  ~BeastEndpoint() override {
    service_.thread.stop();
    context_.stop();
    if (thread_.joinable()) thread_.join();
    service_.thread.forget();  // its sessions hold sockets of context_, which ends before service_
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
    if (service_.questions.answer) service_.thread.start();
    thread_ = std::thread([this] { context_.run(); });
    return error;
  }
  std::uint16_t port() const override { return port_; }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (!error) open(std::move(socket));
      accept();
    });
  }

  void open(tcp::socket socket) {
    error_code gone;
    const asio::ip::address remote = socket.remote_endpoint(gone).address();
    if (gone) return;
    make_place(service_.connections, remote);
    std::make_shared<Session>(std::move(socket), remote, service_)->read();
  }

  Service service_;
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
                                                          Handler handler, Questions questions,
                                                          const HttpPatience& patience) {
  auto endpoint =
      std::make_unique<BeastEndpoint>(std::move(handler), std::move(questions), patience);
  if (const error_code error = endpoint->listen(address); error)
    return Error{ErrorCode::unavailable, "cannot listen on " + address.host + ":" +
                                             std::to_string(address.port) + ": " + error.message()};
  return std::unique_ptr<HttpEndpoint>(std::move(endpoint));
}

}  // namespace fairlead
