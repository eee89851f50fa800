// The endpoint under connections that ask nothing.
#include "engine/runtime/http_endpoint.h"

#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "tests/unit/http/plain_client.h"

namespace fairlead {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view kClose = " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

std::unique_ptr<HttpEndpoint> start(const HttpPatience& patience = {}) {
  auto endpoint = HttpEndpoint::start(
      {"127.0.0.1", 0},
      {[](std::string_view path) { return HttpReply{200, "text/plain", std::string(path)}; },
       {},
       patience});
  REQUIRE(endpoint.has_value());
  return *std::move(endpoint);
}

// How many of 50 probes are answered.
int probes_answered(std::uint16_t port) {
  int answered = 0;
  for (int i = 0; i < 50; ++i) {
    const PlainClient probe(port);
    probe.send("GET /livez" + std::string(kClose));
    if (probe.answer().ends_with("\r\n\r\n/livez")) ++answered;
  }
  return answered;
}

TEST_CASE("the places of a hub's endpoints fit into the descriptors for clients") {
  HttpPlaces page, webhook{512, 512, 512, 512};
  HttpStreams streams, none;
  fit_into(kHubConnectionsMax, page, streams);
  CHECK(page.requests + page.waiting + streams.max == 256);
  fit_into(384, page, streams);
  fit_into(384, webhook, none);
  CHECK(2 * (page.requests + page.waiting + streams.max) + webhook.requests + webhook.waiting ==
        384);
  CHECK(page.waiting_of_address == 8);
  fit_into(1, page, streams);
  CHECK(page.waiting == 4);  // a probe finds one
}

TEST_CASE("a hundred half-open connections take no probe its place") {
  const auto endpoint = start();
  const std::uint16_t port = endpoint->port();
  std::vector<PlainClient> half_open;
  for (int i = 0; i < 100; ++i) {
    half_open.emplace_back(port);
    half_open.back().send("GET /livez HTTP/1.1\r\nHost:");
  }
  CHECK(probes_answered(port) == 50);
}

TEST_CASE("half-open connections of many addresses take no probe its place") {
  const auto endpoint = start();
  const std::uint16_t port = endpoint->port();
  std::vector<PlainClient> half_open;
  for (int i = 0; i < 200; ++i)
    half_open.emplace_back(port, ("127.0.1." + std::to_string(1 + i % 20)).c_str());
  CHECK(probes_answered(port) == 50);
}

TEST_CASE("connections that are kept open after an answer make room for probes") {
  const auto endpoint = start();
  const std::uint16_t port = endpoint->port();
  std::vector<PlainClient> idle;
  for (int i = 0; i < 100; ++i) {
    idle.emplace_back(port);
    idle.back().send("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  CHECK(probes_answered(port) == 50);
}

constexpr std::string_view kKeep = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";

TEST_CASE("a connection that is answered and then says nothing is closed") {
  const auto endpoint = start({minutes(1), milliseconds(100), minutes(1)});
  const PlainClient client(endpoint->port());
  client.send(kKeep);
  CHECK(client.answer_until("/livez").ends_with("\r\n\r\n/livez"));
  const auto since = steady_clock::now();
  CHECK(client.closed_within(std::chrono::seconds(20)));
  CHECK(steady_clock::now() - since > std::chrono::milliseconds(50));
}

TEST_CASE("between two requests a connection may say nothing for longer than within one") {
  const auto endpoint = start({milliseconds(50), minutes(1), minutes(1)});
  const PlainClient client(endpoint->port());
  for (int request = 0; request < 3; ++request) {
    client.send(kKeep);
    CHECK(client.answer_until("/livez").ends_with("\r\n\r\n/livez"));
    CHECK_FALSE(client.closed_within(std::chrono::milliseconds(200)));
  }
  client.send(kKeep.substr(0, 5));
  CHECK(client.closed_within(std::chrono::seconds(20)));
}

TEST_CASE("a header that comes byte by byte is not waited for") {
  const auto endpoint = start();
  const PlainClient slow(endpoint->port());
  const auto begun = steady_clock::now();
  const std::chrono::nanoseconds patience(HttpPatience().header.ns);
  slow.send("GET /");
  while (steady_clock::now() - begun < patience / 2) {
    slow.send("x");
    ::usleep(100'000);
  }
  CHECK(slow.answer().empty());
  CHECK(steady_clock::now() - begun < patience * 3 / 2);
}

}  // namespace
}  // namespace fairlead
