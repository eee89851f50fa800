// Drivers of every kind log the same bytes of the same input: the order is the core's alone.
#include "schema/codec.h"
#include "tests/unit/core/hand_driver.h"

namespace fairlead {
namespace {

// Like the hub: all that came is offered together, commits are pipelined, and the disk is waited
// for when the core says so.
struct HubStyle : OfferedWorld {
  std::vector<WriteRequest> run() {
    for (;;) {
      Ready next = ready();
      if (!next.append.drafts.empty()) {
        const Durability durability = next.append.durability;
        core.appended(stored(std::move(next.append)), durability);
      } else if (next.flush != Seq{}) {
        core.durable(next.flush);
      } else if (!next.closed) {
        return std::move(next.send);
      }
    }
  }
  void input(std::vector<WatchFact> facts) { offer(std::move(facts)); }
};

// Like a dry run: each fact alone, stored at once, while more of its moment is to come.
struct PlanStyle : OfferedWorld {
  std::vector<WriteRequest> run() { return turn().send; }
  void input(std::vector<WatchFact> facts) {
    for (WatchFact& fact : facts) {
      core.offer(std::move(fact));
      turn(Input::more_pending);
    }
  }
};

// Like a replicated log: the places of events are known later, and that they are stored later
// still. The core is asked in between, and has nothing to do.
struct LateStyle : OfferedWorld {
  std::vector<WriteRequest> run() {
    std::vector<WriteRequest> send;
    for (;;) {
      Ready next = ready();
      std::move(next.send.begin(), next.send.end(), std::back_inserter(send));
      if (!next.append.drafts.empty()) {
        const auto events = stored(std::move(next.append));
        CHECK(ready().append.drafts.empty());
        core.appended(events, Durability::pending);
      } else if (next.flush != Seq{}) {
        CHECK(ready().flush == next.flush);
        core.durable(next.flush);
      } else if (!next.closed) {
        return send;
      }
    }
  }
  void input(std::vector<WatchFact> facts) { offer(std::move(facts)); }
};

template <class Style>
std::vector<std::string> log_of() {
  Style driver;
  const auto rest = [&] {
    for (int i = 0; i < 100; ++i) {
      const auto requests = driver.run();
      if (requests.empty() && driver.core.next_deadline() > driver.now) return;
      for (const WriteRequest& request : requests) driver.carry_out(request);
    }
    FAIL("the core does not come to rest");
  };
  rest();
  SmallWorld& world = driver.world;
  driver.now = driver.now + seconds(1);
  driver.input({world.member.remove(SmallWorld::node("spot-3")),
                world.member.remove(SmallWorld::node("on-demand-0")),
                world.member.put(SmallWorld::node("other"), NodeFacts{})});
  rest();
  driver.now = driver.now + seconds(1);
  Configuration changed = driver.core.state().configuration;
  changed.debounce.grow_window = seconds(30);
  REQUIRE(driver.core.configure(changed));
  driver.input({world.add_node("spot-3", "spot"), world.add_node("spot-5", "spot")});
  rest();
  for (int i = 0; i < 50 && driver.core.next_deadline() != kForever; ++i) {
    driver.now = std::max(driver.now, driver.core.next_deadline());
    rest();
  }
  REQUIRE(driver.template count<TimerFired>() > 0);
  REQUIRE(driver.template count<PatchAccepted>() >= 5);
  std::vector<std::string> records;
  for (const Event& event : driver.log) records.push_back(encode(event));
  return records;
}

TEST_CASE("a hub, a dry run and a late log write the same events of the same input") {
  const auto hub = log_of<HubStyle>();
  const auto plan = log_of<PlanStyle>();
  const auto late = log_of<LateStyle>();
  CHECK(hub.size() > 40);
  CHECK((hub == plan));
  CHECK((hub == late));
}

}  // namespace
}  // namespace fairlead
