// The stream of versions of an endpoint.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "engine/runtime/http_endpoint.h"
#include "tests/unit/http/plain_client.h"

namespace fairlead {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kAsk = "GET /live?x=1 HTTP/1.1\r\nHost: x\r\n\r\n";

class Versions {
 public:
  explicit Versions(std::size_t max = 128, Duration age_max = {}) {
    HttpServing serving;
    serving.handler = [](std::string_view path) {
      return HttpReply{200, "text/plain", std::string(path)};
    };
    serving.streams = {"/live",
                       [this] { return std::to_string(version_.load()); },
                       max,
                       milliseconds(10),
                       milliseconds(200),
                       age_max};
    auto started = HttpEndpoint::start({"127.0.0.1", 0}, std::move(serving));
    REQUIRE(started.has_value());
    endpoint_ = *std::move(started);
  }
  void grow() { ++version_; }
  std::uint16_t port() const { return endpoint_->port(); }
  void end() { endpoint_.reset(); }

 private:
  std::atomic<int> version_ = 7;
  std::unique_ptr<HttpEndpoint> endpoint_;
};

std::string event(int version) {
  return "event: version\ndata: " + std::to_string(version) + "\n\n";
}

TEST_CASE("a stream tells the version at once, and each other one") {
  Versions versions;
  const PlainClient client(versions.port());
  client.send(kAsk);
  const std::string head = client.answer_until(event(7));
  CHECK(head.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"));
  CHECK(head.find("Content-Length") == std::string::npos);
  versions.grow();
  CHECK(client.answer_until(event(8)).ends_with(event(8)));
  versions.grow();
  CHECK(client.answer_until(event(9)).ends_with(event(9)));
}

TEST_CASE("a stream without another version says so now and then, to find who left") {
  Versions versions;
  const PlainClient client(versions.port());
  client.send(kAsk);
  client.answer_until(event(7));
  CHECK(client.answer_until(":\n\n") == ":\n\n");
  CHECK(client.answer_until(":\n\n") == ":\n\n");
}

TEST_CASE("a stream at its greatest age gets an event to ask again, and ends") {
  Versions versions(128, milliseconds(100));
  const PlainClient client(versions.port());
  client.send(kAsk);
  client.answer_until(event(7));
  const auto begin = steady_clock::now();
  CHECK(client.answer() == "event: end\ndata: ask again\n\n");
  CHECK(steady_clock::now() - begin < std::chrono::seconds(5));
}

TEST_CASE("a hundred streams take no request its place, and more than allowed are refused") {
  Versions versions(100);
  std::vector<PlainClient> streams;
  for (int i = 0; i < 100; ++i) {
    streams.emplace_back(versions.port());
    streams.back().send(kAsk);
    REQUIRE(streams.back().answer_until(event(7)).ends_with(event(7)));
  }
  const PlainClient other(versions.port());
  other.send("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(other.answer().ends_with("\r\n\r\n/metrics"));
  const PlainClient refused(versions.port());
  refused.send(kAsk);
  CHECK(refused.answer_until("\r\n\r\n").starts_with("HTTP/1.1 503 "));
  // One that leaves makes room.
  streams.pop_back();
  std::string answer;
  for (int tries = 0; tries < 500 && !answer.starts_with("HTTP/1.1 200 "); ++tries) {
    const PlainClient next(versions.port());
    next.send(kAsk);
    answer = next.answer_until("\r\n\r\n");
  }
  CHECK(answer.starts_with("HTTP/1.1 200 "));
}

TEST_CASE("the end of an endpoint does not wait for streams") {
  Versions versions;
  const PlainClient client(versions.port());
  client.send(kAsk);
  client.answer_until(event(7));
  const auto since = steady_clock::now();
  versions.end();
  CHECK(steady_clock::now() - since < std::chrono::seconds(2));
  CHECK(client.closed_within(std::chrono::seconds(5)));
}

}  // namespace
}  // namespace fairlead
