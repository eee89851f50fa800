// Blocking TLS on 127.0.0.1, for benches of a TLS server: a client, and the barest server there is.
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

namespace fairlead::bench {

/// One connection that is kept. Gives up if it fails.
class TlsAsker {
 public:
  explicit TlsAsker(std::uint16_t port);
  /// Sends `request` and returns the whole HTTP answer, which names its length.
  std::string ask(const std::string& request);

 private:
  boost::asio::io_context context_;
  boost::asio::ssl::context tls_{boost::asio::ssl::context::tlsv13_client};
  boost::asio::ssl::stream<boost::asio::ip::tcp::socket> stream_{context_, tls_};
};

/// Answers each `request_bytes` bytes with `reply`, one connection after another. It parses
/// nothing, and reads and writes on one thread: no TLS server does less for the same bytes.
class TlsEcho {
 public:
  TlsEcho(std::shared_ptr<boost::asio::ssl::context> tls, std::size_t request_bytes,
          std::string reply);
  ~TlsEcho();
  TlsEcho(const TlsEcho&) = delete;
  TlsEcho& operator=(const TlsEcho&) = delete;

  std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

 private:
  void run();
  void serve(boost::asio::ip::tcp::socket socket);

  const std::shared_ptr<boost::asio::ssl::context> tls_;
  const std::size_t request_bytes_;
  const std::string reply_;
  boost::asio::io_context context_;
  boost::asio::ip::tcp::acceptor acceptor_;
  std::atomic<bool> ending_{false};
  std::thread thread_;
};

}  // namespace fairlead::bench
