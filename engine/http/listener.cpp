#include "engine/http/listener.h"

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <chrono>
#include <future>
#include <list>
#include <thread>
#include <utility>
#include <vector>

#include "engine/base/descriptors.h"
#include "engine/http/byte_stream.h"

namespace fairlead {

namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

// How long a listener does not accept after it could not for want of descriptors or memory.
constexpr std::chrono::milliseconds kShortagePause{100};

bool is_shortage(const error_code& error) {
  return error == asio::error::no_descriptors || error == asio::error::no_buffer_space ||
         error == asio::error::no_memory ||
         error == error_code(ENFILE, boost::system::system_category());
}

// Lives in the pending wait of its timer.
struct Repeated {
  Repeated(asio::io_context& context, Duration period_given, std::function<void()> work_given)
      : timer(context), period(period_given.ns), work(std::move(work_given)) {}

  asio::steady_timer timer;
  const std::chrono::nanoseconds period;
  const std::function<void()> work;
};

class AsioListener final : public HttpListener {
 public:
  explicit AsioListener(HttpListening listening)
      : listening_(std::move(listening)),
        connections_max_(std::min(listening_.connections_max, descriptor_shares().accepted)) {}
  AsioListener(const AsioListener&) = delete;
  AsioListener& operator=(const AsioListener&) = delete;
  ~AsioListener() override { AsioListener::stop({}); }

  error_code listen(const ListenAddress& address) {
    error_code error;
    const std::string host = address.host.empty() ? "0.0.0.0" : address.host;
    const auto ip = asio::ip::make_address(host, error);
    if (error) return error;
    const tcp::endpoint endpoint(ip, address.port);
    acceptor_.open(endpoint.protocol(), error);
    // A hub that starts again must not wait for the connections of the last one to leave TIME_WAIT.
    if (!error) acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (!error) port_ = acceptor_.local_endpoint(error).port();
    if (error) return error;
    accept();
    std::promise<void> ended;
    ended_ = ended.get_future();
    thread_ = std::thread([this, ended = std::move(ended)]() mutable {
      context_.run();
      ended.set_value();
    });
    return error;
  }

  std::uint16_t port() const override { return port_; }
  void post(std::function<void()> work) override { asio::post(context_, std::move(work)); }
  void repeat(Duration period, std::function<void()> work) override {
    auto repeated = std::make_shared<Repeated>(context_, period, std::move(work));
    post([this, repeated = std::move(repeated)] { await(repeated); });
  }

  void stop(Duration patience) override {
    if (!thread_.joinable()) return;
    post([this] { drain(); });
    ended_.wait_for(std::chrono::nanoseconds(patience.ns));
    context_.stop();
    thread_.join();
  }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || draining_) return;
      if (!error) open(std::move(socket));
      if (is_shortage(error)) return accept_later();
      accept();
    });
  }
  // The connection stays in the kernel's queue, so trying again at once would fail again at once.
  void accept_later() {
    accepts_again_.expires_after(kShortagePause);
    accepts_again_.async_wait([this](error_code error) {
      if (!error && !draining_) accept();
    });
  }

  void open(tcp::socket socket) {
    error_code error;
    const tcp::endpoint remote = socket.remote_endpoint(error);
    // Returning closes the socket.
    if (error || connections_.size() >= connections_max_) return;
    std::shared_ptr<asio::ssl::context> tls;
    if (listening_.tls && !(tls = listening_.tls())) return;
    socket.set_option(tcp::no_delay(true), error);
    // Its end is passed on below: places of a list stay valid whatever else is erased.
    const auto place = connections_.emplace(connections_.end());
    HttpOpening opening{make_byte_stream(std::move(socket), tls.get()),
                        remote.address().to_string(), *this, listening_.patience,
                        [this, place] { forget(place); }};
    // A connection that ends at once still lives until the end of this statement.
    *place = open_connection(std::move(opening), listening_.make_handler);
  }

  using Connections = std::list<std::weak_ptr<HttpConnection>>;
  void forget(Connections::iterator place) {
    connections_.erase(place);
    if (draining_ && connections_.empty()) context_.stop();
  }

  void await(const std::shared_ptr<Repeated>& repeated) {
    repeated->timer.expires_after(repeated->period);
    repeated->timer.async_wait([this, repeated](error_code error) {
      if (error || draining_) return;
      repeated->work();
      await(repeated);
    });
  }

  void drain() {
    draining_ = true;
    error_code ignored;
    acceptor_.close(ignored);
    accepts_again_.cancel();
    // One that ends leaves the list.
    std::vector<std::shared_ptr<HttpConnection>> open;
    for (const auto& connection : connections_) open.push_back(connection.lock());
    for (const auto& connection : open)
      if (connection) connection->drain();
    if (connections_.empty()) context_.stop();
  }

  const HttpListening listening_;
  const std::size_t connections_max_;
  Connections connections_;  // outlives the connections that end with the context
  bool draining_ = false;
  asio::io_context context_{1};
  // A connection may have no operation of its own while its answer is made elsewhere.
  asio::executor_work_guard<asio::io_context::executor_type> work_{context_.get_executor()};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer accepts_again_{context_};
  std::uint16_t port_ = 0;
  std::thread thread_;
  std::future<void> ended_;  // ready when the context has ended
};

}  // namespace

Result<std::unique_ptr<HttpListener>> HttpListener::start(const ListenAddress& address,
                                                          HttpListening listening) {
  auto listener = std::make_unique<AsioListener>(std::move(listening));
  if (const error_code error = listener->listen(address); error)
    return Error{ErrorCode::unavailable, "cannot listen on " + address.host + ":" +
                                             std::to_string(address.port) + ": " + error.message()};
  return std::unique_ptr<HttpListener>(std::move(listener));
}

}  // namespace fairlead
