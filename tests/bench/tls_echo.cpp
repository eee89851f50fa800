#include "tests/bench/tls_echo.h"

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <cstdlib>
#include <utility>

#include "tests/bench/bench.h"

namespace fairlead::bench {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::string_view kLength = "Content-Length: ";

tcp::endpoint loopback(std::uint16_t port) { return {asio::ip::address_v4::loopback(), port}; }

void need_no(const error_code& error, const char* doing) {
  if (error) give_up(std::string(doing) + ": " + error.message());
}

// The bytes of the whole answer whose beginning `text` is; 0 while its head is not complete.
std::size_t answer_bytes(const std::string& text) {
  const std::size_t end = text.find("\r\n\r\n");
  const std::size_t length = text.find(kLength);
  if (end == std::string::npos || length == std::string::npos) return 0;
  return end + 4 + std::strtoul(text.c_str() + length + kLength.size(), nullptr, 10);
}

}  // namespace

TlsAsker::TlsAsker(std::uint16_t port) {
  error_code error;
  stream_.next_layer().connect(loopback(port), error);
  need_no(error, "connecting");
  stream_.next_layer().set_option(tcp::no_delay(true), error);
  stream_.handshake(asio::ssl::stream_base::client, error);
  need_no(error, "the TLS handshake");
}

std::string TlsAsker::ask(const std::string& request) {
  error_code error;
  asio::write(stream_, asio::buffer(request), error);
  need_no(error, "sending a request");
  std::string answer;
  std::array<char, 16384> chunk{};
  for (std::size_t whole = 0; whole == 0 || answer.size() < whole; whole = answer_bytes(answer)) {
    answer.append(chunk.data(), stream_.read_some(asio::buffer(chunk), error));
    need_no(error, "reading an answer");
  }
  return answer;
}

TlsEcho::TlsEcho(std::shared_ptr<asio::ssl::context> tls, std::size_t request_bytes,
                 std::string reply)
    : tls_(std::move(tls)),
      request_bytes_(request_bytes),
      reply_(std::move(reply)),
      acceptor_(context_, loopback(0)),
      thread_([this] { run(); }) {}

TlsEcho::~TlsEcho() {
  ending_ = true;
  error_code ignored;
  tcp::socket waker(context_);  // ends the accept
  waker.connect(loopback(port()), ignored);
  thread_.join();
}

void TlsEcho::run() {
  while (!ending_) {
    error_code error;
    tcp::socket socket = acceptor_.accept(error);
    need_no(error, "accepting");
    if (!ending_) serve(std::move(socket));
  }
}

void TlsEcho::serve(tcp::socket socket) {
  error_code error;
  socket.set_option(tcp::no_delay(true), error);
  asio::ssl::stream<tcp::socket> stream(std::move(socket), *tls_);
  stream.handshake(asio::ssl::stream_base::server, error);
  std::array<char, 16384> chunk{};
  for (std::size_t came = 0; !error;) {
    came += stream.read_some(asio::buffer(chunk), error);
    if (error || came < request_bytes_) continue;
    came -= request_bytes_;
    asio::write(stream, asio::buffer(reply_), error);
  }
}

}  // namespace fairlead::bench
