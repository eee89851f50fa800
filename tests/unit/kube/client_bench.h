// Shared by tests of the HTTP client: a client against a TinyServer, and what such a server says.
#pragma once

#include <cstdio>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "connectors/kube/transport/http_client.h"
#include "tests/unit/kube/tiny_server.h"

namespace fairlead {

inline std::string answer(const std::string& body, const std::string& headers = "") {
  return "HTTP/1.1 200 OK\r\n" + headers + "Content-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

inline std::string chunk(const std::string& text) {
  char size[32];
  std::snprintf(size, sizeof size, "%zx\r\n", text.size());
  return size + text + "\r\n";
}

// The loop, a client on it, and requests that wait for their answers.
struct Bench {
  explicit Bench(const TinyServer& server, HttpLimits limits = {})
      : Bench(server.credentials(), limits) {}
  explicit Bench(const Credentials& credentials, HttpLimits limits = {}) {
    auto made = HttpClient::make(loop, credentials, limits);
    REQUIRE(made.has_value());
    client = std::move(*made);
  }
  ~Bench() {
    loop.run([&] { client.reset(); });
    loop.stop();
  }
  std::future<Result<HttpResponse>> send(HttpRequest request) {
    auto promise = std::make_shared<std::promise<Result<HttpResponse>>>();
    loop.run([&] {
      client->send(std::move(request),
                   [promise](Result<HttpResponse> said) { promise->set_value(std::move(said)); });
    });
    return promise->get_future();
  }
  Result<HttpResponse> get(const std::string& target) {
    HttpRequest request;
    request.target = target;
    return send(std::move(request)).get();
  }

  IoLoop loop;
  std::unique_ptr<HttpClient> client;
};

}  // namespace fairlead
