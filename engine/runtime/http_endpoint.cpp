#include "engine/runtime/http_endpoint.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "engine/runtime/http_session.h"

namespace fairlead {

namespace {

namespace asio = boost::asio;
using tcp = asio::ip::tcp;
using boost::system::error_code;

class BeastEndpoint final : public HttpEndpoint {
 public:
  explicit BeastEndpoint(HttpServing serving) : shared_(std::move(serving), context_) {}
  BeastEndpoint(const BeastEndpoint&) = delete;
  BeastEndpoint& operator=(const BeastEndpoint&) = delete;
  ~BeastEndpoint() override {
    if (thread_.joinable()) {
      asio::post(context_, [this] { drain(); });
      ended_.wait_for(std::chrono::nanoseconds(shared_.serving.drain.ns));
      context_.stop();
      thread_.join();
    }
    shared_.question_thread.stop();
    shared_.post_thread.stop();
    // What still waits holds sessions, whose sockets belong to the context.
    shared_.question_thread.forget();
    shared_.post_thread.forget();
    shared_.decisions->close();
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
    look_at_certificate();
    if (shared_.serving.streams.version) tell_versions();
    if (shared_.serving.questions.answer) shared_.question_thread.start();
    if (shared_.serving.posts.answer) shared_.post_thread.start();
    std::promise<void> ended;
    ended_ = ended.get_future();
    thread_ = std::thread([this, ended = std::move(ended)]() mutable {
      context_.run();
      ended.set_value();
    });
    return error;
  }
  std::uint16_t port() const override { return port_; }

 private:
  void accept() {
    acceptor_.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || shared_.draining) return;
      if (!error) open(std::move(socket));
      accept();
    });
  }

  void open(tcp::socket socket) {
    error_code gone;
    const asio::ip::address remote = socket.remote_endpoint(gone).address();
    if (!gone) open_session(std::move(socket), remote, shared_);
  }

  void look_at_certificate() {
    if (!shared_.serving.certificate) return;
    certificate_timer_.expires_after(
        std::chrono::nanoseconds(shared_.serving.certificate->look_every().ns));
    certificate_timer_.async_wait([this](error_code error) {
      if (error || shared_.draining) return;
      shared_.serving.certificate->look();
      look_at_certificate();
    });
  }

  void tell_versions() {
    stream_timer_.expires_after(std::chrono::nanoseconds(shared_.serving.streams.tick.ns));
    stream_timer_.async_wait([this](error_code error) {
      if (error || shared_.draining) return;
      tell_versions();
      if (shared_.streaming.empty()) return;
      const std::string version = shared_.serving.streams.version();
      // A session that ends leaves the list.
      const std::vector<HttpSession*> streaming(shared_.streaming.begin(), shared_.streaming.end());
      for (HttpSession* const session : streaming) session->tell_version(version);
    });
  }

  // The context ends by itself when nothing is pending any more.
  void drain() {
    shared_.draining = true;
    error_code ignored;
    acceptor_.close(ignored);
    certificate_timer_.cancel();
    stream_timer_.cancel();
    // A session that ends leaves its list.
    std::vector<HttpSession*> idle(shared_.waiting.begin(), shared_.waiting.end());
    idle.insert(idle.end(), shared_.streaming.begin(), shared_.streaming.end());
    for (HttpSession* const session : idle) session->drain();
  }

  HttpShared shared_;  // outlives the sessions that end with the context
  asio::io_context context_{1};
  tcp::acceptor acceptor_{context_};
  asio::steady_timer certificate_timer_{context_};
  asio::steady_timer stream_timer_{context_};
  std::uint16_t port_ = 0;
  std::thread thread_;
  std::future<void> ended_;  // ready when the context has ended
};

}  // namespace

Result<std::unique_ptr<HttpEndpoint>> HttpEndpoint::start(const ListenAddress& address,
                                                          HttpServing serving) {
  auto endpoint = std::make_unique<BeastEndpoint>(std::move(serving));
  if (const error_code error = endpoint->listen(address); error)
    return Error{ErrorCode::unavailable, "cannot listen on " + address.host + ":" +
                                             std::to_string(address.port) + ": " + error.message()};
  return std::unique_ptr<HttpEndpoint>(std::move(endpoint));
}

}  // namespace fairlead
