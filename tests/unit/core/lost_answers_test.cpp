// Writes whose answers are lost, each at each of its places: what the world asks for meanwhile is
// in force in the end, on the server and in State.
#include <catch2/catch.hpp>
#include <optional>

#include "engine/base/json.h"
#include "engine/fold/queues/pairs.h"
#include "engine/fold/writes/record.h"
#include "tests/unit/core/hand_driver.h"

namespace fairlead {
namespace {

// When the stream shows what a write made whose answer is lost: before its client gives up waiting,
// after, when the doubt about it is over, or never, because the server did not get it.
enum class Shown : std::uint8_t { before, after, late, never };

// Nodes leave, one of the writes that follow has no answer, and at once the nodes are back.
struct LossyWorld : OfferedWorld {
  int lost_at = 0;  ///< the first write is 1; 0: all are answered
  Shown shown = Shown::before;
  int writes = 0;
  std::optional<WatchFact> late;  ///< shown at `late_at`
  LogTime late_at = kForever;

  void nodes_leave() {
    for (const char* name : {"spot-0", "spot-1", "spot-2"})
      core.offer(world.member.remove(SmallWorld::node(name)));
  }
  void lose(const WriteRequest& request) {
    const Event& event = log.at(request.intent.value - 1);
    std::optional<WatchFact> seen;
    if (shown != Shown::never)
      seen = world.hub.write(request.intent, std::get<PatchIntended>(event.fact)).observed;
    if (seen && shown == Shown::before) core.offer(*std::exchange(seen, std::nullopt));
    turn();
    WriteAnswer none;
    none.intent = request.intent;
    none.result = WriteResult::unknown;
    core.answer(std::move(none));
    turn();
    for (const char* name : {"spot-0", "spot-1", "spot-2"})
      core.offer(world.add_node(name, "spot"));
    late = std::move(seen);
    if (late) late_at = shown == Shown::late ? now + kDoubt + seconds(5) : now;
  }
  void go_on() {
    for (int i = 0; i < 200; ++i) {
      const Ready done = turn();
      for (const WriteRequest& request : done.send)
        ++writes == lost_at ? lose(request) : carry_out(request);
      if (!done.send.empty()) continue;
      const LogTime next = std::min(core.next_deadline(), late_at);
      if (next == kForever) return;
      now = std::max(now, next);
      if (now < late_at) continue;
      late_at = kForever;
      core.offer(*std::exchange(late, std::nullopt));
    }
    FAIL("the core does not come to rest");
  }
  // What the hub made of its API server: queues, and the status without times and positions.
  std::string made() const {
    Json all = read_json(world.hub.status(SmallWorld::claim()))["status"];
    for (Json& condition : all["conditions"]) condition.erase("lastTransitionTime");
    all.erase("seq");
    for (const char* name : {"high", "low"})
      for (const char* flavor : {"on-demand", "spot"})
        all[name][flavor] =
            amount_in(world.hub.facts<ClusterQueueFacts>(SmallWorld::queue(name)).groups, {},
                      {flavor, "cpu"})
                .value();
    return to_text(all);
  }
};

TEST_CASE("a write without an answer keeps nothing from being as the world asks for") {
  LossyWorld answered;
  answered.settle();
  const std::string wanted = answered.made();
  answered.nodes_leave();
  answered.go_on();
  REQUIRE(answered.writes >= 2);
  REQUIRE(answered.made() != wanted);

  for (int lost_at = 1; lost_at <= answered.writes; ++lost_at)
    for (const Shown shown : {Shown::before, Shown::after, Shown::late, Shown::never}) {
      LossyWorld lossy;
      lossy.settle();
      lossy.lost_at = lost_at;
      lossy.shown = shown;
      lossy.nodes_leave();
      lossy.go_on();
      INFO("write " << lost_at << ", shown " << static_cast<int>(shown));
      CHECK(lossy.writes >= lost_at);
      CHECK(lossy.made() == wanted);
      // What our own write left is no other writer's.
      if (shown != Shown::late)
        for (const Event& event : lossy.log)
          if (const auto* intent = std::get_if<PatchIntended>(&event.fact))
            CHECK(intent->reason.text != "another writer changed the status");
    }
}

}  // namespace
}  // namespace fairlead
