// Facts that are folded while their commit is on its way, and what must wait for it.
#include "engine/runtime/hub_core.h"
#include "tests/unit/runtime/hub_bench.h"
#include "tests/unit/runtime/stubborn_log.h"

namespace fairlead {
namespace {

// A log on which commits stay on their way until somebody asks.
class SlowLog final : public StubbornLog {
 public:
  Result<std::vector<Event>> append_ahead(std::vector<EventDraft>&& drafts, LogTime time,
                                          Epoch epoch) override {
    on_its_way = true;
    return append(drafts, time, epoch);
  }
  Result<void> settle() override {
    on_its_way = false;
    if (fails) return Error{ErrorCode::unavailable, "the disk does not answer"};
    return {};
  }

  bool on_its_way = false;
  bool fails = false;
};

TEST_CASE("in a burst the next facts need not wait for the disk, at its end all is durable") {
  auto log = std::make_shared<SlowLog>();
  HubBench bench(log);
  bench.at_once();
  bench.run();
  CHECK_FALSE(log->on_its_way);
  bench.core->offer(bench.member.remove(HubBench::node("spot-3")));
  const auto during = bench.core->step(Inflow::continuing);
  REQUIRE(during.has_value());
  CHECK(during->requests.empty());
  CHECK(log->on_its_way);
  const auto after = bench.core->step(Inflow::paused);
  REQUIRE(after.has_value());
  CHECK_FALSE(log->on_its_way);
}

TEST_CASE("what follows from a commit that did not reach the disk is never returned") {
  auto log = std::make_shared<SlowLog>();
  HubBench bench(log);
  bench.at_once();
  bench.run();
  bench.core->offer(bench.member.remove(HubBench::node("spot-3")));
  REQUIRE(bench.core->step(Inflow::continuing).has_value());
  log->fails = true;
  const auto effects = bench.core->step(Inflow::paused);
  REQUIRE(effects.has_error());
  CHECK(effects.error().message == "the disk does not answer");
}

}  // namespace
}  // namespace fairlead
