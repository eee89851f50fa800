// Shared by tests of connections: a server on a port of its own with scripted answers.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "connectors/kube/access/kubeconfig.h"

namespace fairlead {

// A server on 127.0.0.1 that passes each connection in turn to `serve`, which reads and writes
// freely.
class TinyServer {
 public:
  explicit TinyServer(std::function<void(int socket, int nth)> serve) : serve_(std::move(serve)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(listener_, 16) == 0);
    REQUIRE(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { accept_all(); });
  }
  ~TinyServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    for (std::thread& one : connections_) one.join();
    ::close(listener_);
  }
  Credentials credentials() const {
    Credentials out;
    out.server = {false, "127.0.0.1", std::to_string(port_), "/base"};
    out.token = "hush";
    return out;
  }
  int connections() const { return accepted_; }

 private:
  void accept_all() {
    for (int socket = ::accept(listener_, nullptr, nullptr); socket >= 0;
         socket = ::accept(listener_, nullptr, nullptr)) {
      connections_.emplace_back([this, socket, nth = accepted_++] {
        serve_(socket, nth);
        ::close(socket);
      });
    }
  }

  std::function<void(int, int)> serve_;
  int listener_ = -1;
  std::uint16_t port_ = 0;
  std::atomic<int> accepted_{0};
  std::thread thread_;
  std::vector<std::thread> connections_;
};

// Reads one request with its body; empty at the end of the stream.
inline std::string read_request(int socket) {
  std::string text;
  char byte = 0;
  while (!text.ends_with("\r\n\r\n")) {
    if (::recv(socket, &byte, 1, 0) != 1) return {};
    text += byte;
  }
  std::size_t length = 0;
  if (auto at = text.find("Content-Length: "); at != std::string::npos)
    length = std::stoul(text.substr(at + 16));
  for (std::size_t i = 0; i < length && ::recv(socket, &byte, 1, 0) == 1; ++i) text += byte;
  return text;
}

inline void write_all(int socket, std::string_view text) {
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(sent));
  }
}

}  // namespace fairlead
