// A driver of the core for tests: it does what each Ready says, and a test may do it otherwise.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/core.h"
#include "tests/unit/core/small_world.h"

namespace fairlead {

/// The lists of a SmallWorld, hub first.
inline std::vector<WatchFact> lists_of(const SmallWorld& world) {
  std::vector<WatchFact> facts = world.hub.list(every_hub_kind());
  for (WatchFact& fact : world.member.list({Kind::node, Kind::local_queue, Kind::cluster_queue}))
    facts.push_back(std::move(fact));
  return facts;
}

class HandDriver {
 public:
  explicit HandDriver(const CoreSettings& settings = {}) : core(settings) {}

  /// Logs the configuration.
  void begin(const Configuration& configuration) {
    REQUIRE(core.configure(configuration));
    turn();
  }
  void offer(std::vector<WatchFact> facts) {
    for (WatchFact& fact : facts) core.offer(std::move(fact));
  }
  Ready ready(Input input = Input::complete) { return core.ready(now, input); }
  /// Gives the drafts their places in the log, without telling the core.
  std::vector<Event> stored(Append append) {
    std::vector<Event> events;
    for (EventDraft& draft : append.drafts) {
      log.push_back({Seq{log.size() + 1}, append.time, Epoch{1}, std::move(draft.source),
                     draft.cause, std::move(draft.fact)});
      events.push_back(log.back());
    }
    return events;
  }
  /// Appends until something else is to be done, and tells the core that it is stored so far.
  Ready append_all(Durability durability, Input input = Input::complete) {
    for (;;) {
      Ready next = ready(input);
      if (!next.append.drafts.empty())
        core.appended(stored(std::move(next.append)), durability);
      else if (!next.closed)
        return next;
      else
        ++closed;
    }
  }
  /// Does all that is to be done, and returns the effects.
  Ready turn(Input input = Input::complete) {
    Ready all;
    for (;;) {
      Ready next = append_all(Durability::durable, input);
      std::move(next.send.begin(), next.send.end(), std::back_inserter(all.send));
      std::move(next.recommendations.begin(), next.recommendations.end(),
                std::back_inserter(all.recommendations));
      all.next_deadline = next.next_deadline;
      if (next.idle()) return all;
      core.durable(next.flush);
    }
  }
  template <class T>
  std::size_t count() const {
    return static_cast<std::size_t>(std::count_if(log.begin(), log.end(), [](const Event& event) {
      return std::holds_alternative<T>(event.fact);
    }));
  }

  Core core;
  LogTime now = *parse_rfc3339("2026-01-01T00:00:00Z");
  std::vector<Event> log;
  int closed = 0;  ///< moments
};

/// A world with a claim, all of which is offered to a core that plans.
struct OfferedWorld : HandDriver {
  explicit OfferedWorld(const CoreSettings& settings = {}) : HandDriver(settings) {
    world.hub.put(SmallWorld::claim(), SmallWorld::claim_facts());
    world.at_once();
    begin(world.configuration);
    core.set_planning(Planning::on);
    offer(lists_of(world));
  }
  /// Carries a request out; the answer and the observation are offered.
  void carry_out(const WriteRequest& request) {
    const Event& event = log.at(request.intent.value - 1);
    auto written = world.hub.write(request.intent, std::get<PatchIntended>(event.fact));
    if (written.observed) core.offer(std::move(*written.observed));
    core.answer(std::move(written.answer));
  }
  /// Until nothing is left to write.
  void settle() {
    for (int i = 0; i < 100; ++i) {
      const Ready done = turn();
      for (const WriteRequest& request : done.send) carry_out(request);
      if (done.send.empty() && core.next_deadline() > now) return;
    }
    FAIL("the core does not come to rest");
  }

  SmallWorld world;
};

}  // namespace fairlead
