// How few connections an API server costs: those that are idle end, and streams take them.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "connectors/kube/api_server_connection.h"
#include "tests/unit/kube/tiny_server.h"

using namespace fairlead;

namespace {

constexpr const char* kEmptyAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
constexpr const char* kOpenAnswer =
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n0\r\n\r\n";

bool within_ten_seconds(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000 && !holds(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return holds();
}

struct IdleBench {
  explicit IdleBench(const TinyServer& server, HttpLimits limits = {}) {
    auto made = HttpClient::make(loop, server.credentials(), limits);
    REQUIRE(made.has_value());
    client = std::move(*made);
  }
  ~IdleBench() {
    loop.run([&] { client.reset(); });
    loop.stop();
  }
  int get() {
    std::promise<int> status;
    loop.run([&] {
      client->send({}, [&](Result<HttpResponse> said) {
        status.set_value(said.has_value() ? said->status : 0);
      });
    });
    return status.get_future().get();
  }
  // What a stream that the server ends brings: "one\n200".
  std::string follow() {
    std::promise<void> over;
    std::string calls;
    HttpStreamHandler handler;
    handler.opened = [] {};
    handler.bytes = [&](std::string_view part) { calls += part; };
    handler.ended = [&](Result<HttpResponse> said) {
      calls += said.has_value() ? std::to_string(said->status) : said.error().message;
      over.set_value();
    };
    std::unique_ptr<HttpClient::Stream> stream;
    loop.run([&] { stream = client->stream({}, handler); });
    over.get_future().wait();
    loop.run([&] { stream.reset(); });
    return calls;
  }

  IoLoop loop;
  std::unique_ptr<HttpClient> client;
};

}  // namespace

TEST_CASE("a kept connection is closed when it has been idle for long, without another request") {
  std::atomic<int> ended{0};
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket))
      write_all(socket, kEmptyAnswer);
    ++ended;
  });
  HttpLimits limits;
  limits.idle_max = milliseconds(50);
  IdleBench bench(server, limits);
  CHECK(bench.get() == 200);
  CHECK(within_ten_seconds([&] { return ended == 1; }));
  // The timer runs again for what is kept later.
  CHECK(bench.get() == 200);
  CHECK(within_ten_seconds([&] { return ended == 2; }));
  CHECK(server.connections() == 2);
}

TEST_CASE("a stream takes a kept connection") {
  TinyServer server([&](int socket, int) {
    read_request(socket);
    write_all(socket, kEmptyAnswer);
    read_request(socket);
    write_all(socket, kOpenAnswer);
    read_request(socket);
  });
  IdleBench bench(server);
  CHECK(bench.get() == 200);
  CHECK(bench.follow() == "one\n200");
  CHECK(server.connections() == 1);
}

TEST_CASE("a stream on a kept connection that the server gives up goes over another one") {
  TinyServer server([&](int socket, int nth) {
    read_request(socket);
    write_all(socket, nth == 0 ? kEmptyAnswer : kOpenAnswer);
    // The first one ends with the second request, before a byte of its answer.
    read_request(socket);
  });
  IdleBench bench(server);
  CHECK(bench.get() == 200);
  CHECK(bench.follow() == "one\n200");
  CHECK(server.connections() == 2);
}

TEST_CASE("a discovery with one request at a time needs one connection") {
  std::mutex mutex;
  std::set<std::string> asked;
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket)) {
      {
        const std::lock_guard lock(mutex);
        asked.insert(text.substr(0, text.find(" HTTP")));
      }
      write_all(socket, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    }
  });
  ConnectionSettings settings;
  settings.discovery_inflight = 1;
  settings.http.idle_connections_max = 1;
  IoLoop loop;
  auto made = ApiServerConnection::make(loop, "member", server.credentials(), settings);
  REQUIRE(made.has_value());
  (*made)->watch({Kind::node, Kind::cluster_queue, Kind::resource_slice}, [](WatchFact) {});
  // Both documents and, where they are not served, each version.
  CHECK(within_ten_seconds([&] {
    const std::lock_guard lock(mutex);
    return asked.size() >= 8;
  }));
  made->reset();
  loop.stop();
  CHECK(server.connections() == 1);
}
