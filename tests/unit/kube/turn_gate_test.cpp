#include "connectors/kube/transport/turn_gate.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

using namespace fairlead;

namespace {

struct GateBench {
  explicit GateBench(TurnGate::Limits limits) : gate(loop, limits) {}
  ~GateBench() { loop.stop(); }

  void enter(int number) {
    tickets.push_back(gate.enter([this, number] { turns.push_back(number); }));
  }
  // The turns so far, after everything that was posted.
  std::vector<int> seen() {
    std::vector<int> out;
    for (int i = 0; i < 2; ++i) loop.run([&] { out = turns; });
    return out;
  }
  bool come(std::size_t count) {
    for (int i = 0; i < 1000 && seen().size() < count; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return seen().size() >= count;
  }

  IoLoop loop;
  TurnGate gate;
  std::vector<std::unique_ptr<TurnGate::Ticket>> tickets;  // on the loop's thread
  std::vector<int> turns;
};

}  // namespace

TEST_CASE("turns come in order, a bounded number at a time") {
  GateBench bench({.places = 2, .silence_max = hours(1), .held_max = hours(1)});
  bench.loop.run([&] {
    for (int i = 0; i < 5; ++i) bench.enter(i);
  });
  CHECK(bench.seen() == std::vector{0, 1});
  // One that leaves the queue gets no turn; one that leaves its place makes room.
  bench.loop.run([&] { bench.tickets[2].reset(); });
  CHECK(bench.seen() == std::vector{0, 1});
  bench.loop.run([&] { bench.tickets[0].reset(); });
  CHECK(bench.seen() == std::vector{0, 1, 3});
  bench.loop.run([&] { bench.tickets.clear(); });
  CHECK(bench.seen() == std::vector{0, 1, 3});
}

TEST_CASE("a turn in which nothing happens passes on, and one that lasts for long") {
  GateBench bench({.places = 1, .silence_max = milliseconds(40), .held_max = milliseconds(400)});
  bench.loop.run([&] {
    bench.enter(0);
    bench.enter(1);
  });
  CHECK(bench.come(2));
  // The second one makes progress all the time: it keeps its place, but not for ever.
  std::atomic<bool> ended{false};
  std::function<void()> progress = [&] {
    if (ended) return;
    bench.tickets[1]->progressed();
    bench.loop.post(progress);
  };
  bench.loop.run([&] { bench.enter(2); });
  const auto before = std::chrono::steady_clock::now();
  bench.loop.post(progress);
  CHECK(bench.come(3));
  CHECK(std::chrono::steady_clock::now() - before > std::chrono::milliseconds(150));
  ended = true;
  bench.loop.run([&] { bench.tickets.clear(); });
}

TEST_CASE("a loop that is busy passes no turn on for silence") {
  GateBench bench({.places = 1, .silence_max = milliseconds(200), .held_max = hours(1)});
  bench.loop.run([&] {
    bench.enter(0);
    bench.enter(1);
  });
  CHECK(bench.seen() == std::vector{0});
  for (int i = 0; i < 10; ++i)
    bench.loop.post([] { std::this_thread::sleep_for(std::chrono::milliseconds(50)); });
  bench.loop.run([&] { CHECK(bench.turns == std::vector{0}); });
  CHECK(bench.come(2));
  bench.loop.run([&] { bench.tickets.clear(); });
}

TEST_CASE("a ticket may outlive its gate") {
  IoLoop loop;
  std::unique_ptr<TurnGate::Ticket> first, second;
  auto gate = std::make_unique<TurnGate>(loop, TurnGate::Limits{.places = 1});
  bool came = false;
  loop.run([&] {
    first = gate->enter([] {});
    second = gate->enter([&] { came = true; });
    gate.reset();
    first.reset();
  });
  loop.run([&] { second.reset(); });
  loop.stop();
  CHECK_FALSE(came);
}
