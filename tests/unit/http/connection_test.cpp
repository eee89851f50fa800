// A connection, under a handler that is not the hub's: bodies of each kind, streams, its end.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <ctime>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/http/listener.h"
#include "tests/unit/http/plain_client.h"

namespace fairlead {
namespace {

constexpr std::uint64_t kBodyMax = 10;

// What the connections of a test count, on the listener's thread.
struct Counts {
  std::atomic<int> open{0};
  std::atomic<int> answered{0};
};

// Answers with the request's method and body. "/stream" gets a stream of three texts, "/wait" one
// that ends when it wakes.
class EchoHandler final : public HttpHandler {
 public:
  EchoHandler(HttpConnection& connection, Counts& counts)
      : connection_(connection), counts_(counts) {
    ++counts_.open;
  }

  std::variant<std::uint64_t, HttpReply> expect_body(std::optional<std::uint64_t> length) override {
    if (connection_.request().path() == "/refused") return HttpReply{403, "text/plain", "unread"};
    announced_ = length ? std::to_string(*length) : "unknown";
    return kBodyMax;
  }
  HttpReply body_too_long() override { return {413, "text/plain", "too long"}; }
  void answer() override {
    const ReceivedRequest& request = connection_.request();
    if (request.path() == "/stream") return connection_.begin_stream("one,");
    if (request.path() == "/wait") {
      connection_.begin_stream("begun,");
      return connection_.wake_after(milliseconds(20));
    }
    connection_.reply({200, "text/plain", request.method + " " + announced_ + " " + request.body, 0,
                       "X-Agent: " + request.user_agent + "\r\n"});
  }
  void answered() override { ++counts_.answered; }
  void sent() override {
    if (connection_.request().path() == "/wait" && !woken_) return;
    if (++sent_ == 3 || woken_) return connection_.close();
    connection_.send(sent_ == 1 ? "two," : "three");
  }
  void woken() override {
    woken_ = true;
    connection_.send("woken");
  }
  void closed() override { --counts_.open; }

 private:
  HttpConnection& connection_;
  Counts& counts_;
  std::string announced_;
  int sent_ = 0;
  bool woken_ = false;
};

std::unique_ptr<HttpListener> started(Counts& counts, HttpPatience patience = {},
                                      std::size_t connections_max = 8) {
  HttpListening listening{[&counts](HttpConnection& connection) {
                            return std::make_unique<EchoHandler>(connection, counts);
                          },
                          patience, connections_max};
  auto listener = HttpListener::start({"127.0.0.1", 0}, std::move(listening));
  REQUIRE(listener.has_value());
  return *std::move(listener);
}

// Returns what `read` returns on the listener's thread.
int on_thread(HttpListener& listener, std::function<int()> read) {
  std::promise<int> result;
  listener.post([&] { result.set_value(read()); });
  return result.get_future().get();
}

TEST_CASE("a connection reads bodies of each kind, one request after the other") {
  Counts counts;
  const auto listener = started(counts);
  const PlainClient client(listener->port());
  // Two requests in one segment, the second in pieces.
  client.send(
      "GET / HTTP/1.1\r\nHost: h\r\nUser-Agent: a\r\n\r\nPUT / HTTP/1.1\r\nHost: h\r\nContent-Le");
  std::string answer = client.answer_until("GET 0 ");
  CHECK(
      answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Agent: a\r\n"
                         "Connection: keep-alive\r\nContent-Length: 6\r\n\r\n"));
  client.send("ngth: 4\r\n\r\nab");
  client.send("cd");
  CHECK(client.answer_until("abcd").ends_with("\r\n\r\nPUT 4 abcd"));
  client.send("PATCH / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.send("2\r\nde\r\n0\r\n\r\n");
  CHECK(client.answer_until("abcde").ends_with("\r\n\r\nPATCH unknown abcde"));
  // The answer is here before the listener's thread knows that it was sent.
  listener->stop(seconds(20));
  CHECK(counts.answered == 3);
}

TEST_CASE(
    "a body that is too long is answered before the connection ends, whatever its head says") {
  Counts counts;
  const auto listener = started(counts);
  for (const std::string_view body : {"Content-Length: 11\r\n\r\n01234",
                                      "Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\n"}) {
    const PlainClient client(listener->port());
    client.send("POST / HTTP/1.1\r\nHost: h\r\n" + std::string(body));
    const std::string answer = client.answer_until("too long");
    CHECK(answer.starts_with("HTTP/1.1 413 "));
    CHECK(answer.find("Connection: close\r\n") != std::string::npos);
  }
  const PlainClient client(listener->port());
  client.send("POST /refused HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n");
  CHECK(client.answer_until("unread").starts_with("HTTP/1.1 403 "));
}

TEST_CASE("a head that may be understood in two ways is refused, and the connection ends") {
  Counts counts;
  const auto listener = started(counts);
  const std::pair<const char*, const char*> refused[] = {
      {"GET / HTTP/1.1\r\n", "one Host header was expected"},
      {"GET / HTTP/1.1\r\nHost: h\r\nHost: h\r\n", "one Host header was expected"},
      {"GET / HTTP/1.0\r\nHost: h\r\nHost: g\r\n", "one Host header was expected"},
      {"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: identity\r\n", "chunked was expected"},
      {"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n", "chunked was expected"},
      {"PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
       "chunked was expected"},
      {"PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n", "HTTP/1.0 has no Transfer-Encoding"}};
  for (const auto& [head, why] : refused) {
    CAPTURE(head);
    const PlainClient client(listener->port());
    // What follows may be a body or a request: it gets no answer of its own.
    client.send(std::string(head) + "\r\nGET /second HTTP/1.1\r\nHost: h\r\n\r\n");
    const std::string answer = client.answer_until(std::string(why) + "\n");
    CHECK(answer.find("HTTP/1.1 400 Bad Request\r\n") == 0);
    CHECK(answer.find("Connection: close\r\n") != std::string::npos);
    CHECK(answer.ends_with(std::string(why) + "\n"));
    CHECK(client.closed_within(std::chrono::seconds(2)));
  }
  const PlainClient old(listener->port());
  old.send("GET / HTTP/1.0\r\n\r\n");
  CHECK(old.answer().find("HTTP/1.1 200 OK\r\n") == 0);
}

TEST_CASE("a client that waits for 100 Continue gets it when its head is accepted") {
  Counts counts;
  const auto listener = started(counts);
  const PlainClient client(listener->port());
  for (const char* body : {"Content-Length: 3\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"}) {
    client.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\n" + std::string(body));
    CHECK(client.answer_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    client.send(body[0] == 'C' ? "abc" : "3\r\nabc\r\n0\r\n\r\n");
    CHECK(client.answer_until("abc").find("HTTP/1.1 200 OK\r\n") == 0);
  }
  // Whose body has come, who has none and who is refused are told nothing before the answer.
  client.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc");
  CHECK(client.answer_until("abc").find("HTTP/1.1 200 OK\r\n") == 0);
  client.send("GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n");
  CHECK(client.answer_until("GET 0 ").find("HTTP/1.1 200 OK\r\n") == 0);
  client.send("PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 30\r\n\r\n");
  CHECK(client.answer_until("too long").find("HTTP/1.1 413 ") == 0);
}

TEST_CASE("a stream is sent piece by piece and ends when its handler closes it") {
  Counts counts;
  const auto listener = started(counts);
  const PlainClient client(listener->port());
  client.send("GET /stream HTTP/1.1\r\nHost: h\r\n\r\nwhat a client sends now is dropped");
  CHECK(client.answer() == "one,two,three");
  const PlainClient waiting(listener->port());
  waiting.send("GET /wait HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(waiting.answer() == "begun,woken");
  CHECK(on_thread(*listener, [&] { return counts.open.load(); }) == 0);
}

TEST_CASE("a request that does not end in time, or is no HTTP, closes the connection") {
  Counts counts;
  const auto listener = started(counts, {.header = milliseconds(50)});
  const PlainClient slow(listener->port());
  slow.send("GET / HTTP/1.1\r\n");
  CHECK(slow.closed_within(std::chrono::seconds(20)));
  const PlainClient foreign(listener->port());
  foreign.send("\x16\x03\x01\x02\r\n\r\n");
  CHECK(foreign.closed_within(std::chrono::seconds(20)));
  CHECK(on_thread(*listener, [&] { return counts.open.load(); }) == 0);
}

TEST_CASE("a listener closes connections past its bound and serves the others") {
  Counts counts;
  const auto listener = started(counts, {}, 2);
  const PlainClient first(listener->port());
  const PlainClient second(listener->port());
  const PlainClient third(listener->port());
  CHECK(third.closed_within(std::chrono::seconds(20)));
  second.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(second.answer_until("GET 0 ").starts_with("HTTP/1.1 200 OK\r\n"));
  CHECK(on_thread(*listener, [&] { return counts.open.load(); }) == 2);
}

// All descriptors that this process may have, until it is destroyed.
class NoDescriptors {
 public:
  NoDescriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit few{256, before_.rlim_max};
    ::setrlimit(RLIMIT_NOFILE, &few);
    for (int file = ::dup(0); file >= 0; file = ::dup(0)) held_.push_back(file);
  }
  NoDescriptors(const NoDescriptors&) = delete;
  NoDescriptors& operator=(const NoDescriptors&) = delete;
  ~NoDescriptors() {
    for (const int file : held_) ::close(file);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }
  void free_one() {
    ::close(held_.back());
    held_.pop_back();
  }

 private:
  rlimit before_{};
  std::vector<int> held_;
};

TEST_CASE("a listener without a descriptor for a connection waits for one and does not spin") {
  Counts counts;
  const auto listener = started(counts);
  std::optional<NoDescriptors> shortage(std::in_place);
  shortage->free_one();
  const PlainClient client(listener->port());  // has the last one
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  const std::clock_t before = std::clock();
  const bool closed = client.closed_within(std::chrono::milliseconds(500));
  const double spent = double(std::clock() - before) / CLOCKS_PER_SEC;
  const auto open = counts.open.load();
  shortage.reset();  // before anything is checked: a sanitizer needs descriptors for that
  CHECK_FALSE(closed);
  CHECK(spent < 0.25);  // of one CPU; accepting again at once takes all of it
  CHECK(open == 0);
  CHECK(client.answer_until("GET 0 ").starts_with("HTTP/1.1 200 OK\r\n"));
}

TEST_CASE("the end of a listener closes idle connections and streams") {
  Counts counts;
  const auto listener = started(counts);
  const PlainClient idle(listener->port());
  idle.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(idle.answer_until("GET 0 ").starts_with("HTTP/1.1 200 OK\r\n"));
  listener->stop(seconds(20));
  CHECK(idle.closed_within(std::chrono::seconds(20)));
  CHECK(counts.open == 0);
  listener->stop(seconds(20));
}

TEST_CASE("a listener repeats work until it ends, and names an address that is in use") {
  Counts counts;
  const auto listener = started(counts);
  std::promise<void> third;
  listener->repeat(milliseconds(1), [&third, runs = 0]() mutable {
    if (++runs == 3) third.set_value();
  });
  CHECK(third.get_future().wait_for(std::chrono::seconds(20)) == std::future_status::ready);
  listener->stop({});
  const auto other = started(counts);
  const auto taken = HttpListener::start({"127.0.0.1", other->port()}, {});
  REQUIRE(taken.has_error());
  CHECK(taken.error().message.find("cannot listen on 127.0.0.1:") == 0);
}

}  // namespace
}  // namespace fairlead
