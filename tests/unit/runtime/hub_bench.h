// Shared by the tests of the hub: a virtual clock, and a bench that steps a Leader against API
// servers made of facts until nothing is left to do.
#pragma once

#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "engine/fold/evolve.h"
#include "engine/log/memory_log.h"
#include "engine/runtime/leader.h"
#include "replay/verify.h"
#include "tests/unit/core/small_world.h"

namespace fairlead {

class VirtualClock final : public Clock {
 public:
  LogTime now() override { return time; }
  LogTime time = *parse_rfc3339("2026-01-01T00:00:00Z");
};

// Also called by threads of the doubles, where Catch's macros may not be used.
inline std::vector<Event> events_of(const ReadableLog& log, Seq from = {1}) {
  std::vector<Event> events;
  auto reader = log.read(from);
  check(reader.has_value(), "a test's log can be read");
  for (;;) {
    auto event = (*reader)->next();
    check(event.has_value(), "a test's events can be read");
    if (!*event) return events;
    events.push_back(std::move(**event));
  }
}

template <class T>
std::vector<T> facts_in(const ReadableLog& log, Seq from = {1}) {
  std::vector<T> facts;
  for (const Event& event : events_of(log, from))
    if (const T* fact = std::get_if<T>(&event.fact)) facts.push_back(*fact);
  return facts;
}

/// A SmallWorld and the hub that runs it.
class HubBench : public SmallWorld {
 public:
  explicit HubBench(std::shared_ptr<EventLog> log_given = std::make_shared<MemoryLog>())
      : log(std::move(log_given)) {}

  void start(WriteMode mode = WriteMode::apply) {
    HubSettings settings{"test", mode, snapshots};
    settings.stops = [this] { return stops; };
    settings.present = present;
    settings.saved_aside_nodes = saved_aside_nodes;
    begin(std::move(settings));
  }
  void begin(HubSettings settings) {
    leader.reset();
    replica = std::make_unique<Replica>(
        *log, clock, std::move(settings),
        [this](const Diagnostic& said) { diagnostics.push_back(to_line(said)); });
    REQUIRE(replica->fold({}).has_value());
    leader = std::make_unique<Leader>(*replica);
    REQUIRE(leader->begin(configuration).has_value());
  }
  void sync() {
    for (WatchFact& fact : hub.list(every_hub_kind())) leader->offer(std::move(fact));
    for (WatchFact& fact : member.list({Kind::node, Kind::local_queue, Kind::cluster_queue}))
      leader->offer(std::move(fact));
  }
  /// One step; its requests are kept in `requests`, unanswered.
  void step() {
    auto effects = leader->step(Input::complete);
    REQUIRE(effects.has_value());
    for (WriteRequest& request : effects->requests) requests.push_back(std::move(request));
    for (Recommendation& recommendation : effects->recommendations)
      recommendations.push_back(std::move(recommendation));
  }
  /// Carries a request out at the server; the answer and the watch fact that follows come with the
  /// next step.
  void carry_out(const WriteRequest& request) {
    const Event event = events_of(*log, request.intent).front();
    ServerDouble::Written written = hub.write(request.intent, std::get<PatchIntended>(event.fact));
    if (written.observed) leader->offer(std::move(*written.observed));
    leader->answer(std::move(written.answer));
  }
  /// Steps and carries out until nothing is due.
  void settle() {
    for (int rounds = 0; rounds < 1000; ++rounds) {
      step();
      for (const WriteRequest& request : std::exchange(requests, {})) carry_out(request);
      if (leader->next_due() > leader->now()) return;
    }
    FAIL("the hub does not come to rest");
  }
  /// Advances time, from one due moment to the next.
  void advance(Duration span) {
    const LogTime end = clock.time + span;
    settle();
    while (leader->next_due() <= end) {
      clock.time = std::max(clock.time, leader->next_due());
      settle();
    }
    clock.time = end;
    settle();
  }
  void run(WriteMode mode = WriteMode::apply) {
    hub.put(claim(), claim_facts());
    start(mode);
    sync();
    settle();
  }

  std::string quota(const std::string& queue_name, const std::string& flavor) const {
    for (const ResourceGroup& group : hub.facts<ClusterQueueFacts>(queue(queue_name)).groups)
      for (const FlavorQuotas& entry : group.flavors)
        if (entry.name == flavor) return entry.resources.front().nominal.text();
    return "none";
  }
  std::string quotas() const { return quota("high", "on-demand") + " " + quota("low", "spot"); }

  std::shared_ptr<EventLog> log;
  VirtualClock clock;
  SnapshotStore* snapshots = nullptr;
  PresentState* present = nullptr;
  std::size_t saved_aside_nodes = kSavedAsideNodes;
  int stops = 0;  ///< that were asked for
  std::unique_ptr<Replica> replica;
  std::unique_ptr<Leader> leader;
  std::vector<WriteRequest> requests;
  std::vector<Recommendation> recommendations;
  std::vector<std::string> diagnostics;
};

/// Folds the events, with the present moment closed as the hub closed it.
inline State folded(const std::vector<Event>& events) {
  State state;
  DirtySet dirty;
  for (const Event& event : events) evolve(state, event, dirty);
  close_moment(state, dirty);
  return state;
}

/// Whatever happened: the log folds to what the hub holds, and each of its writes is derived again.
inline void check_log(HubBench& bench) {
  const State held = bench.leader->state();
  CHECK((folded(events_of(*bench.log)) == held));
  ReplayOptions options;
  options.comparison = Comparison::all;
  const auto report = replay(*bench.log, nullptr, options);
  REQUIRE(report.has_value());
  if (report->first) INFO(report->first->seq.value << " differs in " << report->first->what);
  CHECK(report->holds());
  CHECK(report->compared == facts_in<PatchIntended>(*bench.log).size());
  CHECK(report->checkpoints == facts_in<Checkpoint>(*bench.log).size());
}

}  // namespace fairlead
