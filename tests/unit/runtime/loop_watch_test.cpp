#include "engine/runtime/loop_watch.h"

#include <catch2/catch.hpp>
#include <deque>
#include <vector>

namespace fairlead {
namespace {

// A watch whose time the test moves, and what it says.
struct WatchBench {
  std::vector<std::string> said, ended;
  LoopWatch watch{[this](const std::string& line) { said.push_back(line); },
                  [this](const std::string& why) { ended.push_back(why); }};
  LogTime now{};

  // One look a second.
  void pass(int count) {
    for (int i = 0; i < count; ++i) watch.look(now = now + seconds(1));
  }
};

// A loop that does its work when the test says so.
struct FakeLoop {
  std::deque<std::function<void()>> work;
  LoopWatch::Post post() {
    return [this](std::function<void()> piece) { work.push_back(std::move(piece)); };
  }
  void turn() {
    while (!work.empty()) {
      work.front()();
      work.pop_front();
    }
  }
};

TEST_CASE("loop watch: a loop that does not turn for 30 s is named until it turns again") {
  WatchBench bench;
  FakeLoop io;
  const auto core = bench.watch.watch("the hub");
  const auto watched = bench.watch.watch("the members' connections", io.post());
  for (int i = 0; i < 100; ++i) {
    core->turned();
    io.turn();
    bench.pass(1);
  }
  CHECK(bench.watch.hung().empty());
  for (int i = 0; i < 30; ++i) {
    CHECK(bench.watch.hung().empty());
    core->turned();
    bench.pass(1);
  }
  CHECK(bench.watch.hung() == "the loop of the members' connections has not turned for 30 s");
  CHECK(io.work.size() == 1);  // it is asked once, not again and again
  bench.pass(3);
  CHECK(bench.said == std::vector<std::string>{"the loop of the members' connections has not "
                                               "turned for 30 s: it hangs"});
  io.turn();
  core->turned();
  bench.pass(1);
  CHECK(bench.watch.hung().empty());
  CHECK(bench.said.back() == "the loop of the members' connections turns again");
  CHECK(bench.ended.empty());
}

TEST_CASE("loop watch: a loop that has ended is forgotten, its last work may come later") {
  WatchBench bench;
  FakeLoop io;
  auto watched = bench.watch.watch("x", io.post());
  bench.pass(10);
  watched.reset();
  io.turn();
  bench.pass(60);
  CHECK(bench.watch.hung().empty());
}

TEST_CASE("loop watch: a machine that was asleep is no loop that hangs") {
  WatchBench bench;
  FakeLoop io;
  const auto watched = bench.watch.watch("x", io.post());
  bench.pass(2);
  bench.now = bench.now + minutes(10);
  bench.pass(1);
  CHECK(bench.watch.hung().empty());
  bench.pass(30);
  CHECK_FALSE(bench.watch.hung().empty());
}

TEST_CASE("loop watch: a process that was asked to end does so although a loop hangs") {
  WatchBench bench;
  const auto core = bench.watch.watch("the hub");
  bench.pass(1);
  bench.watch.ask_to_end();
  bench.pass(20);
  CHECK(bench.ended.empty());
  bench.pass(1);
  CHECK(bench.ended ==
        std::vector<std::string>{"asked to end, but the loop of the hub has not turned for 21 s"});
}

TEST_CASE("loop watch: an end has a minute where all loops turn") {
  WatchBench bench;
  const auto core = bench.watch.watch("the hub");
  bench.watch.ask_to_end();
  for (int i = 0; i < 60; ++i) {
    core->turned();
    bench.pass(1);
  }
  CHECK(bench.ended.empty());
  bench.pass(1);
  CHECK(bench.ended == std::vector<std::string>{"asked to end, and did not within 60 s"});
}

}  // namespace
}  // namespace fairlead
