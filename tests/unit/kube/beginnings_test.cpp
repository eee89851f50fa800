// How many API servers begin at a time, and that a busy loop blames none of them.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "connectors/kube/api_server_connection.h"
#include "tests/unit/kube/client_bench.h"

using namespace fairlead;

namespace {

using Milliseconds = std::chrono::milliseconds;

bool becomes_true(const std::function<bool()>& holds) {
  for (int i = 0; i < 1000 && !holds(); ++i) std::this_thread::sleep_for(Milliseconds(10));
  return holds();
}

// Members of one server, who begin through one gate.
struct Members {
  Members(const TinyServer& server, int count, TurnGate::Limits limits)
      : gate(std::make_shared<TurnGate>(loop, limits)) {
    ConnectionSettings settings;
    settings.discovery_inflight = 1;
    settings.http.idle_connections_max = 1;
    settings.beginnings = gate;
    for (int i = 0; i < count; ++i) {
      Credentials credentials = server.credentials();
      credentials.token = "member-" + std::to_string(i);
      auto made = ApiServerConnection::make(loop, credentials.token, credentials, settings);
      REQUIRE(made.has_value());
      all.push_back(std::move(*made));
      all.back()->watch({Kind::node}, [](WatchFact) {});
    }
  }
  ~Members() {
    all.clear();
    loop.stop();
  }

  IoLoop loop;
  std::shared_ptr<TurnGate> gate;
  std::vector<std::unique_ptr<ApiServerConnection>> all;
};

void hang(int socket) {
  while (!read_request(socket).empty()) continue;
}

}  // namespace

TEST_CASE("servers begin in turn, and one that is given up makes room") {
  TinyServer server([&](int socket, int) { hang(socket); });
  Members members(server, 5, {.places = 2, .silence_max = hours(1), .held_max = hours(1)});
  CHECK(becomes_true([&] { return server.connections() == 2; }));
  std::this_thread::sleep_for(Milliseconds(100));
  CHECK(server.connections() == 2);
  members.all.front().reset();
  CHECK(becomes_true([&] { return server.connections() == 3; }));
}

TEST_CASE("servers that hang in their beginning do not hold others up") {
  TinyServer server([&](int socket, int) { hang(socket); });
  Members members(server, 6, {.places = 1, .silence_max = milliseconds(20)});
  CHECK(becomes_true([&] { return server.connections() == 6; }));
}

TEST_CASE("servers that refuse, and those whose list is complete, give their turn to the next") {
  const bool refuses = GENERATE(true, false);
  std::mutex mutex;
  std::vector<std::string> order;  // of the members that were heard of
  TinyServer server([&](int socket, int) {
    for (std::string text = read_request(socket); !text.empty(); text = read_request(socket)) {
      const std::string who = text.substr(text.find("member-"), 8);
      {
        const std::lock_guard lock(mutex);
        if (std::find(order.begin(), order.end(), who) == order.end()) order.push_back(who);
      }
      const bool lists = text.find("/nodes?") != std::string::npos;
      if (refuses)
        write_all(socket, "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n");
      else if (lists)
        write_all(socket,
                  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" +
                      chunk(R"({"type":"BOOKMARK","object":{"kind":"Node","apiVersion":"v1",)"
                            R"("metadata":{"resourceVersion":"5","annotations":)"
                            R"({"k8s.io/initial-events-end":"true"}}}})"
                            "\n"));
      else if (text.find("GET /base/api/v1 ") != std::string::npos)
        write_all(socket, answer(R"({"kind":"APIResourceList","groupVersion":"v1",)"
                                 R"("resources":[{"name":"nodes"}]})"));
      else
        write_all(socket, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    }
  });
  Members members(server, 4, {.places = 1, .silence_max = hours(1), .held_max = hours(1)});
  CHECK(becomes_true([&] {
    const std::lock_guard lock(mutex);
    return order.size() == 4;
  }));
  if (refuses) return;
  CHECK(becomes_true([&] {
    return std::all_of(members.all.begin(), members.all.end(),
                       [](const auto& member) { return member->counters().synced[Kind::node]; });
  }));
  const std::lock_guard lock(mutex);
  CHECK(order == std::vector<std::string>{"member-0", "member-1", "member-2", "member-3"});
}

TEST_CASE("time in which the loop is busy does not count against a server") {
  TinyServer server([](int socket, int) {
    while (!read_request(socket).empty()) {
      std::this_thread::sleep_for(Milliseconds(400));
      write_all(socket, answer("{}"));
    }
  });
  Bench bench(server);
  HttpRequest request;
  request.timeout = milliseconds(200);
  const auto idle = bench.send(request).get();
  REQUIRE(idle.has_error());
  CHECK(idle.error().message == "timeout while waiting for the answer");
  std::atomic<bool> over{false};
  std::function<void()> work = [&] {
    std::this_thread::sleep_for(Milliseconds(10));
    if (!over) bench.loop.post(work);
  };
  bench.loop.post(work);
  const auto under_load = bench.send(request).get();
  over = true;
  bench.loop.run([] {});
  CHECK(under_load.has_value());
}
