// Two engines on one log: one leads, the other folds what the first appended, and they change
// roles.
#include <array>
#include <memory>

#include "snapshots/state_codec.h"
#include "tests/unit/core/hand_driver.h"

namespace fairlead {
namespace {

// Two replicas of the engine, whose streams and requests reach one world. The log of the one that
// leads is the log of both.
class Replicas {
 public:
  Replicas() {
    world.hub.put(SmallWorld::claim(), SmallWorld::claim_facts());
    world.at_once();
    for (auto& core : cores) core = std::make_unique<Core>(CoreSettings{});
    REQUIRE(leader().configure(world.configuration));
    lead();
  }

  Core& leader() { return *cores[leading]; }
  Core& follower() { return *cores[1 - leading]; }

  /// What a process does when it begins to lead: a new epoch, then the first lists.
  void lead() {
    ++epoch.value;
    leader().propose(EpochStarted{"replica-" + std::to_string(leading), "test", 1, 1});
    for (WatchFact& fact : lists_of(world)) leader().offer(std::move(fact));
    leader().set_planning(Planning::on);
  }

  /// The leader steps down. What it had sent and was not answered is unknown to the next one.
  void change_roles() {
    auto next = std::make_unique<Core>(CoreSettings{});
    next->restore(std::move(leader()).release_state());
    cores[leading] = std::move(next);
    leading = 1 - leading;
    lead();
  }

  /// Appends until the leader asks for nothing more, and returns what is to be sent. After each
  /// commit both replicas hold the same.
  std::vector<WriteRequest> run() {
    std::vector<WriteRequest> send;
    for (;;) {
      Ready next = leader().ready(now, Input::complete);
      std::move(next.send.begin(), next.send.end(), std::back_inserter(send));
      if (!next.append.drafts.empty()) {
        const std::vector<Event> events = stored(std::move(next.append));
        leader().appended(events, Durability::durable);
        follower().learned(events);
        REQUIRE(follower().state().seq == log.back().seq);
        REQUIRE(state_digest(follower().state()) == state_digest(leader().state()));
      } else if (next.idle()) {
        return send;
      } else {
        leader().durable(next.flush);
      }
    }
  }
  /// Until nothing is left to write.
  void settle() {
    for (int i = 0; i < 100; ++i) {
      const std::vector<WriteRequest> send = run();
      for (const WriteRequest& request : send) carry_out(request);
      if (!send.empty()) continue;
      if (leader().next_deadline() > now + minutes(10)) return;
      now = std::max(now, leader().next_deadline());
    }
    FAIL("the leader does not come to rest");
  }
  void carry_out(const WriteRequest& request) {
    const Event& event = log.at(request.intent.value - 1);
    auto written = world.hub.write(request.intent, std::get<PatchIntended>(event.fact));
    if (written.observed) leader().offer(std::move(*written.observed));
    leader().answer(std::move(written.answer));
  }

  SmallWorld world;
  std::vector<Event> log;
  LogTime now = *parse_rfc3339("2026-01-01T00:00:00Z");
  Epoch epoch;
  std::size_t leading = 0;
  std::array<std::unique_ptr<Core>, 2> cores;

 private:
  std::vector<Event> stored(Append append) {
    std::vector<Event> events;
    for (EventDraft& draft : append.drafts) {
      log.push_back({Seq{log.size() + 1}, append.time, epoch, std::move(draft.source), draft.cause,
                     std::move(draft.fact)});
      events.push_back(log.back());
    }
    return events;
  }
};

std::size_t intents_in(const std::vector<Event>& log) {
  return static_cast<std::size_t>(std::count_if(log.begin(), log.end(), [](const Event& event) {
    return std::holds_alternative<PatchIntended>(event.fact);
  }));
}

TEST_CASE("a follower holds what its leader holds, and goes on in its place, ten times") {
  Replicas two;
  two.settle();
  REQUIRE(intents_in(two.log) > 0);
  for (int change = 0; change < 10; ++change) {
    const std::size_t before = intents_in(two.log);
    two.now = two.now + seconds(30);
    two.change_roles();
    two.settle();
    CHECK(intents_in(two.log) == before);  // nothing differs, so the new leader writes nothing
    CHECK(two.leader().state().epoch == two.epoch);
    two.now = two.now + seconds(30);
    two.leader().offer(change % 2 == 0 ? two.world.member.remove(SmallWorld::node("spot-0"))
                                       : two.world.add_node("spot-0", "spot"));
    two.settle();
    CHECK(intents_in(two.log) > before);  // the quota follows the node
  }
}

TEST_CASE("a write of the former leader that was not answered is looked at by the next one") {
  for (const bool carried_out : {false, true}) {
    CAPTURE(carried_out);
    Replicas two;
    std::vector<WriteRequest> send;
    for (int i = 0; i < 100 && send.empty(); ++i) {
      send = two.run();
      if (send.empty()) two.now = std::max(two.now, two.leader().next_deadline());
    }
    REQUIRE_FALSE(send.empty());
    if (carried_out)
      for (const WriteRequest& request : send)
        two.world.hub.write(request.intent,
                            std::get<PatchIntended>(two.log.at(request.intent.value - 1).fact));
    const std::size_t asked = intents_in(two.log);
    two.now = two.now + seconds(30);
    two.change_roles();
    two.settle();
    if (!carried_out) CHECK(intents_in(two.log) > asked);
    const auto& queue = two.world.hub.facts<ClusterQueueFacts>(SmallWorld::queue("high"));
    CHECK(queue.groups.at(0).flavors.at(0).resources.at(0).nominal > Quantity());
  }
}

}  // namespace
}  // namespace fairlead
