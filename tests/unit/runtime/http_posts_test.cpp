// POSTs, guards, and the end of an endpoint.
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <string>
#include <thread>

#include "engine/runtime/http_endpoint.h"
#include "tests/unit/http/plain_client.h"
#include "tests/unit/runtime/tls_client.h"

namespace fairlead {
namespace {

constexpr std::string_view kLast = "Connection: close\r\n";

HttpServing echoing() {
  HttpServing serving;
  serving.handler = [](std::string_view path) {
    return HttpReply{200, "text/plain", std::string(path)};
  };
  serving.posts.path = "/admit";
  serving.posts.body_max = 100'000;
  serving.posts.answer = [](const ReceivedRequest& request) {
    return HttpReply{200, request.content_type, request.target + ":" + request.body};
  };
  return serving;
}

std::unique_ptr<HttpEndpoint> started(HttpServing serving) {
  auto endpoint = HttpEndpoint::start({"127.0.0.1", 0}, std::move(serving));
  REQUIRE(endpoint.has_value());
  return *std::move(endpoint);
}

std::string request_of(std::string_view method, std::string_view target, std::string_view body,
                       std::string_view headers = kLast) {
  std::string text = std::string(method) + " " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n" +
                     std::string(headers);
  if (!body.empty())
    text += "Content-Type: text/x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  return text + "\r\n" + std::string(body);
}

std::string answer_to(const HttpEndpoint& endpoint, std::string_view request) {
  const PlainClient client(endpoint.port());
  client.send(request);
  return client.answer();
}

// Lets a handler wait until the test says so.
class Gate {
 public:
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  bool handler_waits() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(20), [this] { return waiting_ > 0; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

TEST_CASE("a POST of the path gets its answer, with whatever query") {
  const auto endpoint = started(echoing());
  const std::string answer =
      answer_to(*endpoint, request_of("POST", "/admit?timeout=5s", "a body"));
  CHECK(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/x\r\n"));
  CHECK(answer.ends_with("\r\n\r\n/admit?timeout=5s:a body"));
  const std::string chunked =
      "POST /admit HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  CHECK(answer_to(*endpoint, chunked).ends_with("\r\n\r\n/admit:abcde"));
}

TEST_CASE("a connection takes one POST after the other") {
  const auto endpoint = started(echoing());
  const PlainClient client(endpoint->port());
  for (const std::string body : {"one", "two", "three"}) {
    client.send(request_of("POST", "/admit", body, ""));
    CHECK(client.answer_until(":" + body).ends_with(":" + body));
  }
}

TEST_CASE("a body that is too long gets 413, whether it says so or not") {
  const auto endpoint = started(echoing());
  const std::string fits(100'000, 'x');
  CHECK(answer_to(*endpoint, request_of("POST", "/admit", fits)).ends_with("/admit:" + fits));
  CHECK(answer_to(*endpoint, request_of("POST", "/admit", fits + "x"))
            .starts_with("HTTP/1.1 413 Payload Too Large\r\n"));
  std::string chunked = "POST /admit HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 11; ++i) chunked += "2710\r\n" + std::string(10'000, 'y') + "\r\n";
  CHECK(answer_to(*endpoint, chunked).starts_with("HTTP/1.1 413 "));
  CHECK(
      answer_to(*endpoint, "POST /admit HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000000\r\n\r\n")
          .starts_with("HTTP/1.1 413 "));
}

TEST_CASE("another method gets 405 with those that are allowed") {
  const auto endpoint = started(echoing());
  const std::string get = answer_to(*endpoint, request_of("GET", "/admit", ""));
  CHECK(get.starts_with("HTTP/1.1 405 "));
  CHECK(get.find("\r\nAllow: POST\r\n") != std::string::npos);
  const std::string post = answer_to(*endpoint, request_of("POST", "/metrics", "x"));
  CHECK(post.starts_with("HTTP/1.1 405 "));
  CHECK(post.find("\r\nAllow: GET, HEAD\r\n") != std::string::npos);
  CHECK(answer_to(*endpoint, request_of("POST", "/metrics", std::string(50'000, 'x')))
            .starts_with("HTTP/1.1 405 "));
  CHECK(answer_to(*endpoint, request_of("DELETE", "/livez", "")).starts_with("HTTP/1.1 405 "));
}

TEST_CASE("large bodies have places of their own, and small ones are read besides") {
  HttpServing serving = echoing();
  serving.posts.body_max = std::size_t{8} << 20;
  const auto endpoint = started(std::move(serving));
  const std::string head = "POST /admit HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n";
  std::vector<PlainClient> large;
  for (std::size_t i = 0; i < kHttpLargeBodiesMax; ++i) {
    large.emplace_back(endpoint->port());
    large.back().send(head + "begins");
  }
  // The heads before have been read when this one has its answer.
  CHECK(answer_to(*endpoint, request_of("POST", "/admit", "small")).ends_with(":small"));
  const std::string refused = answer_to(*endpoint, head);
  CHECK(refused.starts_with("HTTP/1.1 503 "));
  CHECK(refused.find("\r\nRetry-After: 1\r\n") != std::string::npos);
}

TEST_CASE("a short body is answered while the answer to a long one takes its time") {
  Gate gate;
  std::promise<std::thread::id> inline_thread;
  HttpServing serving = echoing();
  serving.posts.inline_body_max = 5;
  serving.posts.answer = [&](const ReceivedRequest& request) {
    if (request.body == "short") inline_thread.set_value(std::this_thread::get_id());
    if (request.body != "short") gate.pass();
    return HttpReply{200, "text/plain", request.body};
  };
  std::promise<std::thread::id> endpoint_thread;
  serving.handler = [&endpoint_thread](std::string_view path) {
    endpoint_thread.set_value(std::this_thread::get_id());
    return HttpReply{200, "text/plain", std::string(path)};
  };
  const auto endpoint = started(std::move(serving));
  const PlainClient asking(endpoint->port());
  asking.send(request_of("POST", "/admit", "longer"));
  REQUIRE(gate.handler_waits());
  CHECK(answer_to(*endpoint, request_of("POST", "/admit", "short")).ends_with("\r\n\r\nshort"));
  CHECK(answer_to(*endpoint, request_of("GET", "/livez", "")).ends_with("/livez"));
  CHECK(inline_thread.get_future().get() == endpoint_thread.get_future().get());
  gate.open();
  CHECK(asking.answer().ends_with("\r\n\r\nlonger"));
}

TEST_CASE("a guard decides from any thread, and probes need none") {
  HttpServing serving = echoing();
  std::atomic<int> asked{0};
  std::vector<std::thread> threads;
  serving.guard = [&](const ReceivedRequest& request,
                      std::function<void(std::optional<HttpReply>)> decided) {
    ++asked;
    threads.emplace_back([authorization = request.authorization, decided = std::move(decided)] {
      if (authorization == "Bearer good") return decided(std::nullopt);
      decided(HttpReply{401, "text/plain", "who?\n"});
    });
  };
  auto endpoint = started(std::move(serving));
  CHECK(answer_to(*endpoint, request_of("GET", "/readyz", "")).ends_with("\r\n\r\n/readyz"));
  CHECK(asked == 0);
  const std::string good = "Authorization: Bearer good\r\nConnection: close\r\n";
  CHECK(answer_to(*endpoint, request_of("GET", "/metrics", "", good)).ends_with("/metrics"));
  CHECK(answer_to(*endpoint, request_of("POST", "/admit", "b", good)).ends_with(":b"));
  const std::string refused = answer_to(*endpoint, request_of("GET", "/metrics", ""));
  CHECK(refused.starts_with("HTTP/1.1 401 Unauthorized\r\n"));
  CHECK(refused.find("\r\nWWW-Authenticate: Bearer\r\n") != std::string::npos);
  CHECK(refused.ends_with("\r\n\r\nwho?\n"));
  CHECK(asked == 3);
  endpoint.reset();
  for (std::thread& one : threads) one.join();
}

TEST_CASE("a decision that comes after the end of the endpoint is dropped") {
  HttpServing serving = echoing();
  serving.drain = milliseconds(50);
  std::promise<std::function<void(std::optional<HttpReply>)>> given;
  serving.guard = [&given](const ReceivedRequest&,
                           std::function<void(std::optional<HttpReply>)> decided) {
    given.set_value(std::move(decided));
  };
  auto endpoint = started(std::move(serving));
  const PlainClient client(endpoint->port());
  client.send(request_of("GET", "/metrics", ""));
  const auto decided = given.get_future().get();
  endpoint.reset();
  decided(std::nullopt);
  CHECK(client.answer().empty());
}

TEST_CASE("the end of an endpoint answers what was read and closes the rest") {
  Gate gate;
  HttpServing serving = echoing();
  serving.posts.answer = [&gate](const ReceivedRequest& request) {
    gate.pass();
    return HttpReply{200, "text/plain", request.body};
  };
  serving.drain = minutes(1);
  auto endpoint = started(std::move(serving));
  const PlainClient idle(endpoint->port());
  idle.send(request_of("GET", "/livez", "", ""));
  CHECK(idle.answer_until("/livez").ends_with("/livez"));
  const PlainClient silent(endpoint->port());
  const PlainClient asking(endpoint->port());
  asking.send(request_of("POST", "/admit", "the last", ""));
  REQUIRE(gate.handler_waits());
  auto ended = std::async(std::launch::async, [&endpoint] { endpoint.reset(); });
  CHECK(idle.closed_within(std::chrono::seconds(20)));
  CHECK(silent.closed_within(std::chrono::seconds(20)));
  CHECK(ended.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
  gate.open();
  const std::string answer = asking.answer();
  CHECK(answer.starts_with("HTTP/1.1 200 "));
  CHECK(answer.find("\r\nConnection: close\r\n") != std::string::npos);
  CHECK(answer.ends_with("\r\n\r\nthe last"));
  CHECK(ended.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
}

TEST_CASE("the end of an endpoint does not wait for a client that reads nothing") {
  HttpServing serving = echoing();
  serving.drain = milliseconds(100);
  serving.handler = [](std::string_view) {
    return HttpReply{200, "text/plain", std::string(50'000'000, 'x')};
  };
  auto endpoint = started(std::move(serving));
  const PlainClient client(endpoint->port());
  client.send(request_of("GET", "/metrics", ""));
  CHECK(client.answer_until("\r\n").starts_with("HTTP/1.1 200 "));
  const auto begun = std::chrono::steady_clock::now();
  endpoint.reset();
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
}

TEST_CASE("what only this machine reaches is loopback") {
  const auto loopback = [](const char* text) {
    const auto address = parse_listen_address(text);
    REQUIRE(address.has_value());
    return is_loopback(*address);
  };
  CHECK(loopback("127.0.0.1:8080"));
  CHECK(loopback("127.9.9.9:8080"));
  CHECK(loopback("localhost:8080"));
  CHECK(loopback("[::1]:8080"));
  CHECK_FALSE(loopback(":8080"));
  CHECK_FALSE(loopback("0.0.0.0:8080"));
  CHECK_FALSE(loopback("[::]:8080"));
  CHECK_FALSE(loopback("10.0.0.1:8080"));
}

}  // namespace
}  // namespace fairlead
