// A client without TLS for tests of a server.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <string_view>

namespace fairlead {

// A connection of a client, closed with it.
class PlainClient {
 public:
  explicit PlainClient(std::uint16_t port, const char* from = "127.0.0.1")
      : file_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, from, &address.sin_addr);
    REQUIRE(::bind(file_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    address.sin_port = htons(port);
    ::inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    REQUIRE(::connect(file_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
  }
  PlainClient(PlainClient&& other) noexcept : file_(other.file_) { other.file_ = -1; }
  PlainClient& operator=(PlainClient&&) = delete;
  ~PlainClient() {
    if (file_ >= 0) ::close(file_);
  }

  // A connection that was closed takes nothing; that shows when the answer is read.
  void send(std::string_view text) const {
    static_cast<void>(::send(file_, text.data(), text.size(), MSG_NOSIGNAL));
  }
  // Whether the endpoint closes the connection, with nothing more on it, within `most`.
  bool closed_within(std::chrono::milliseconds most) const {
    pollfd waiting{file_, POLLIN, 0};
    char byte = 0;
    return ::poll(&waiting, 1, static_cast<int>(most.count())) == 1 && ::read(file_, &byte, 1) == 0;
  }
  // What comes until `end` has come.
  std::string answer_until(std::string_view end) const {
    std::string text;
    for (char byte = 0; !text.ends_with(end) && ::read(file_, &byte, 1) == 1;) text += byte;
    return text;
  }
  // What comes until the endpoint closes.
  std::string answer() const {
    std::string text;
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(file_, buffer, sizeof buffer)) > 0;)
      text.append(buffer, static_cast<std::size_t>(n));
    return text;
  }

 private:
  int file_;
};

}  // namespace fairlead
