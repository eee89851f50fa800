#include "engine/runtime/hub_loop.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "engine/runtime/system_clock.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

// Answers from a thread of its own, as a connector does; or never.
class SinkDouble final : public PatchSink {
 public:
  SinkDouble(ServerDouble& server, const ReadableLog& log, Inbox& inbox)
      : server_(server), log_(log), inbox_(inbox) {}
  ~SinkDouble() override {
    for (std::thread& thread : threads_) thread.join();
  }
  void send(WriteRequest request, std::function<void(WriteAnswer)> answered) override {
    ++sent;
    if (silent) return;
    threads_.emplace_back([this, request = std::move(request), answered = std::move(answered)] {
      const Event event = events_of(log_, request.intent).front();
      const std::lock_guard lock(mutex);
      auto written = server_.write(request.intent, std::get<PatchIntended>(event.fact));
      if (written.observed) inbox_.push(std::move(*written.observed));
      answered(std::move(written.answer));
    });
  }

  std::atomic<int> sent{0};
  bool silent = false;
  std::mutex mutex;  ///< guards the server

 private:
  ServerDouble& server_;
  const ReadableLog& log_;
  Inbox& inbox_;
  std::vector<std::thread> threads_;
};

// A hub on its own thread, with the machine's clock.
struct RunningHub {
  RunningHub() : sink(bench.hub, *bench.log, inbox) {
    bench.at_once();
    bench.hub.put(HubBench::claim(), HubBench::claim_facts());
    replica =
        std::make_unique<Replica>(*bench.log, clock, HubSettings{"test"}, [](const Diagnostic&) {});
    REQUIRE(replica->fold({}).has_value());
    leader = std::make_unique<Leader>(*replica);
    REQUIRE(leader->begin(bench.configuration).has_value());
  }
  ~RunningHub() {
    if (!thread.joinable()) return;
    inbox.ask_to_stop();
    inbox.ask_to_stop();
    thread.join();
  }
  void run() {
    HubPorts ports;
    ports.sink_of = [this](const std::string& cluster) {
      return cluster == "hub" ? &sink : nullptr;
    };
    ports.absent_kinds = [] { return std::set<Kind>{Kind::cluster_profile}; };
    ports.read_configuration = [this]() -> std::optional<Configuration> {
      Configuration changed = bench.configuration;
      changed.debounce.stale_after = minutes(7);
      return changed;
    };
    ports.recommend = [](const Recommendation&) {};
    loop = std::make_unique<HubLoop>(*leader, inbox, status, std::move(ports));
    thread = std::thread([this] { result = loop->run(); });
  }
  // All but one kind, which ports.absent_kinds speaks for.
  void sync() {
    std::vector<WatchFact> facts;
    {
      const std::lock_guard lock(sink.mutex);
      std::vector<Kind> kinds = every_hub_kind();
      std::erase(kinds, Kind::cluster_profile);
      facts = bench.hub.list(kinds);
    }
    for (WatchFact& fact : bench.member.list({Kind::node})) inbox.push(std::move(fact));
    for (WatchFact& fact : facts) inbox.push(std::move(fact));
  }
  template <class Condition>
  bool eventually(Condition condition) {
    for (int i = 0; i < 2000; ++i) {
      if (condition()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return false;
  }
  std::string quotas() {
    const std::lock_guard lock(sink.mutex);
    return bench.quotas();
  }

  HubBench bench;
  SystemClock clock;
  Inbox inbox{8};
  HubStatus status;
  SinkDouble sink;
  std::unique_ptr<Replica> replica;
  std::unique_ptr<Leader> leader;
  std::unique_ptr<HubLoop> loop;
  std::thread thread;
  Result<void> result;
};

TEST_CASE("the loop brings facts through a full inbox to writes and ends cleanly") {
  RunningHub hub;
  CHECK_FALSE(hub.status.ready());
  hub.run();
  hub.sync();
  CHECK(hub.eventually([&] { return hub.quotas() == "500 500"; }));
  CHECK(hub.eventually([&] { return hub.status.ready() && hub.status.stats().accepted >= 4; }));
  hub.inbox.ask_to_stop();
  hub.thread.join();
  CHECK(hub.result.has_value());
  const auto intents = facts_in<PatchIntended>(*hub.bench.log);
  CHECK(facts_in<PatchAccepted>(*hub.bench.log).size() == intents.size());
  CHECK(hub.status.stats().inbox_max == 8);
}

TEST_CASE("asked for it, the loop reads the configuration again") {
  RunningHub hub;
  hub.run();
  hub.sync();
  hub.inbox.ask_for_configuration();
  CHECK(hub.eventually([&] { return facts_in<ConfigChanged>(*hub.bench.log).size() == 2; }));
}

TEST_CASE("a second word to stop does not wait for answers") {
  RunningHub hub;
  hub.sink.silent = true;
  hub.run();
  hub.sync();
  CHECK(hub.eventually([&] { return hub.sink.sent >= 2; }));
  const auto began = std::chrono::steady_clock::now();
  hub.inbox.ask_to_stop();
  hub.inbox.ask_to_stop();
  hub.thread.join();
  CHECK(std::chrono::steady_clock::now() - began < std::chrono::nanoseconds(kStopGrace.ns));
  CHECK(hub.result.has_value());
  CHECK(static_cast<int>(facts_in<PatchUnknown>(*hub.bench.log).size()) == hub.sink.sent);
}

TEST_CASE("who pushes into a full inbox waits, and is let go when it closes") {
  Inbox inbox(2);
  std::atomic<int> pushed{0};
  std::thread stream([&] {
    for (int i = 0; i < 5; ++i) {
      inbox.push(WatchFact{"hub", StreamAlive{Kind::claim, std::to_string(i)}});
      ++pushed;
    }
  });
  std::size_t taken = 0;
  while (taken < 3) {
    const auto content = inbox.dequeue(seconds(10), 1);
    CHECK(content.facts.size() <= 1);
    taken += content.facts.size();
    CHECK(pushed.load() <= static_cast<int>(taken) + 3);
  }
  inbox.close();
  stream.join();
  CHECK(pushed == 5);
  CHECK(inbox.dequeue({}, 10).facts.empty());
}

TEST_CASE("an inbox tells each stop and each wish for a configuration once") {
  Inbox inbox(2);
  CHECK(inbox.dequeue({}, 1).stops == 0);
  inbox.ask_to_stop();
  inbox.ask_for_configuration();
  auto content = inbox.dequeue(seconds(10), 1);
  CHECK(content.stops == 1);
  CHECK(content.configuration);
  content = inbox.dequeue({}, 1);
  CHECK(content.stops == 1);
  CHECK_FALSE(content.configuration);
}

}  // namespace
}  // namespace fairlead
