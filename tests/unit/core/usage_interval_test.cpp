// ClusterQueues whose amounts in use change with each admission: which of their changes are events,
// and when (usage.interval).
#include <catch2/catch.hpp>
#include <random>

#include "engine/core/fact_queue.h"
#include "engine/fold/evolve.h"

namespace fairlead {
namespace {

const LogTime kUsageBegin{seconds(1000).ns};
constexpr Duration kUsageInterval = seconds(10);

/// Offers ClusterQueues, and logs and folds what passes.
struct UsageBench {
  UsageBench() { state.configuration.usage.interval = kUsageInterval; }

  WatchFact queue(Amount used, const std::string& cohort = "") {
    ObjectSeen seen;
    seen.key = {Kind::cluster_queue, "", "q"};
    seen.uid = "u";
    seen.resource_version = std::to_string(++version);
    ClusterQueueFacts shown;
    shown.cohort = cohort;
    shown.usage.push_back({"spot", "cpu", used});
    shown.reserved = shown.usage;
    seen.facts = std::move(shown);
    return {source, std::move(seen)};
  }
  /// Offers a fact, and runs what may pass then.
  void offer(LogTime now, WatchFact fact) {
    facts.offer(std::move(fact));
    run(now);
  }
  void run(LogTime now) {
    for (;;) {
      const auto drafts = facts.draft(state, now, HeldFacts::join);
      if (drafts.empty()) return;
      for (const EventDraft& draft : drafts) {
        Event event;
        event.seq = next(state.seq);
        event.log_time = now;
        event.source = draft.source;
        event.fact = draft.fact;
        evolve(state, event, dirty);
        log.push_back(std::move(event));
      }
      facts.logged(state);
    }
  }
  /// Runs what is due before `now` when it is.
  void run_due(LogTime now) {
    while (facts.next_due() <= now) run(facts.next_due());
  }
  /// "used@time" of each event in seconds since kUsageBegin, "(read)" where that was before.
  std::string logged() const {
    const auto at = [](LogTime time) {
      return std::to_string((time - kUsageBegin).ns / seconds(1).ns);
    };
    std::string text;
    for (const Event& event : log) {
      const auto* seen = std::get_if<ObjectObserved>(&event.fact);
      if (!seen) {
        text += "gone@" + at(event.log_time) + " ";
        continue;
      }
      const auto& usage = std::get<ClusterQueueFacts>(seen->facts).usage;
      text += std::to_string(usage.at(0).total) + "@" + at(event.log_time);
      if (seen->read != LogTime{}) text += "(" + at(seen->read) + ")";
      text += " ";
    }
    return text;
  }

  SourceName source = std::string(kHub);
  int version = 0;
  State state;
  DirtySet dirty;
  Ingest ingest;
  FactQueue facts{ingest, nullptr};
  std::vector<Event> log;
};

LogTime after(std::int64_t span) { return kUsageBegin + seconds(span); }

TEST_CASE("the first change of what is in use is an event at once, then the last of an interval") {
  for (const char* source : {"hub", "member"}) {
    UsageBench bench;
    bench.source = source;
    bench.offer(after(0), bench.queue(1));
    bench.offer(after(1), bench.queue(2));
    for (int i = 2; i < 9; ++i) bench.offer(after(i), bench.queue(i + 1));
    CHECK(bench.facts.next_due() == after(11));
    bench.run(after(11));
    bench.offer(after(12), bench.queue(20));
    bench.run(after(21));
    CHECK(bench.logged() == "1@0 2@1 9@11(8) 20@21(12) ");
    bench.offer(after(40), bench.queue(21));
    CHECK(bench.logged() == "1@0 2@1 9@11(8) 20@21(12) 21@40 ");
  }
}

TEST_CASE("an interval of 0s holds nothing back") {
  UsageBench bench;
  bench.state.configuration.usage.interval = {};
  for (int i = 0; i < 4; ++i) bench.offer(after(i), bench.queue(i));
  CHECK(bench.logged() == "0@0 1@1 2@2 3@3 ");
}

TEST_CASE("a change of anything else passes at once, with the newest amounts") {
  UsageBench bench;
  bench.offer(after(0), bench.queue(1));
  bench.offer(after(1), bench.queue(2));
  bench.offer(after(2), bench.queue(3));
  bench.offer(after(3), bench.queue(4, "all"));
  bench.offer(after(4), bench.queue(5, "all"));
  bench.run(after(11));
  CHECK(bench.logged() == "1@0 2@1 4@3 5@11(4) ");
  bench.offer(after(12), bench.queue(6, "all"));
  bench.offer(after(13), {bench.source, ObjectMissing{{Kind::cluster_queue, "", "q"}, "u", ""}});
  bench.run(after(30));
  CHECK(bench.logged() == "1@0 2@1 4@3 5@11(4) gone@13 ");
}

TEST_CASE("an edit that is taken back at once leaves no state of the queue behind") {
  UsageBench bench;
  bench.offer(after(0), bench.queue(1));
  bench.offer(after(1), bench.queue(2));
  bench.facts.offer(bench.queue(2, "all"));
  bench.facts.offer(bench.queue(3));  // as State has it, but for what is in use
  bench.run(after(2));
  CHECK(bench.logged() == "1@0 2@1 3@2 ");
  CHECK(bench.facts.next_due() == kForever);
}

TEST_CASE("what came back to the logged amounts within the interval is no event") {
  UsageBench bench;
  bench.offer(after(0), bench.queue(1));
  bench.offer(after(1), bench.queue(2));
  bench.offer(after(2), bench.queue(3));
  bench.offer(after(3), bench.queue(2));
  bench.run(after(11));
  CHECK(bench.logged() == "1@0 2@1 ");
}

TEST_CASE("a queue whose write is awaited is not held back") {
  UsageBench bench;
  bench.offer(after(0), bench.queue(1));
  bench.offer(after(1), bench.queue(2));
  Event intent;
  intent.seq = next(bench.state.seq);
  intent.log_time = after(2);
  intent.source = std::string(kSelf);
  PatchIntended patch;
  patch.cluster = std::string(kHub);
  patch.target = {Kind::cluster_queue, "", "q"};
  patch.body = "{}";
  intent.fact = patch;
  evolve(bench.state, intent, bench.dirty);
  bench.offer(after(3), bench.queue(3));
  CHECK(bench.logged() == "1@0 2@1 3@3 ");
}

// However the changes come: State has a queue's newest amounts at the latest one interval after
// they were offered, events of amounts alone keep their distance, and the events and the times at
// which they were read are in order.
TEST_CASE("property: amounts are late by an interval at most") {
  for (unsigned seed = 0; seed < 200; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    UsageBench bench;
    std::vector<std::pair<LogTime, Amount>> offered;
    LogTime now = kUsageBegin;
    std::string cohort;
    for (int i = 0; i < 60; ++i) {
      now = now + milliseconds(1 + random() % 4000);
      bench.run_due(now);
      if (random() % 8 == 0) cohort = cohort.empty() ? "all" : "";
      offered.emplace_back(now, static_cast<Amount>(random() % 5));
      bench.offer(now, bench.queue(offered.back().second, cohort));
    }
    bench.run_due(now + kUsageInterval);
    const Queue& queue = bench.state.queues.by_name.at("q");
    CHECK(queue.facts.usage.at(0).total == offered.back().second);
    CHECK(queue.facts.cohort == cohort);
    LogTime read_before;
    LogTime alone_before{-kUsageInterval.ns};
    std::string cohort_before = "none";
    for (const Event& event : bench.log) {
      const auto& seen = std::get<ObjectObserved>(event.fact);
      const auto& facts = std::get<ClusterQueueFacts>(seen.facts);
      const LogTime read = seen.read == LogTime{} ? event.log_time : seen.read;
      CHECK(read <= event.log_time);
      CHECK(event.log_time - read <= kUsageInterval);
      CHECK(read_before <= read);
      // What it says was offered at that time.
      CHECK(std::any_of(offered.begin(), offered.end(), [&](const auto& one) {
        return one.first == read && one.second == facts.usage.at(0).total;
      }));
      if (facts.cohort == cohort_before) {
        CHECK(event.log_time - alone_before >= kUsageInterval);
        alone_before = event.log_time;
      }
      read_before = read;
      cohort_before = facts.cohort;
    }
  }
}

}  // namespace
}  // namespace fairlead
