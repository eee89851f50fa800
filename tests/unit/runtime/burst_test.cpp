// Facts that are folded while their commit is on its way, and what must wait for it.
#include "engine/log/commit.h"
#include "engine/runtime/leader.h"
#include "replay/verify.h"
#include "tests/unit/log/log_fixture.h"
#include "tests/unit/runtime/hub_bench.h"
#include "tests/unit/runtime/stubborn_log.h"

namespace fairlead {
namespace {

// A log on which commits stay on their way until the test completes them, and are not to be seen
// until then.
class SlowLog final : public StubbornLog {
 public:
  Result<std::vector<Event>> append(std::vector<EventDraft>&& drafts, LogTime time, Epoch epoch,
                                    Durability durability) override {
    if (durability == Durability::durable) {
      if (auto before = wait_durable(); !before) return before.error();
    } else {
      if (on_its_way && fails) return wait_durable().error();
      if (!on_its_way) durable = {log.last_seq(), log.last_time(), log.chain()};
      on_its_way = true;
    }
    return StubbornLog::append(std::move(drafts), time, epoch, durability);
  }
  Result<void> wait_durable() override {
    if (on_its_way && fails) return Error{ErrorCode::unavailable, "the disk does not answer"};
    on_its_way = false;
    return {};
  }
  Seq last_seq() const override { return on_its_way ? durable.last : log.last_seq(); }
  LogTime last_time() const override { return on_its_way ? durable.last_time : log.last_time(); }
  Digest chain() const override { return on_its_way ? durable.chain : log.chain(); }

  LogTail durable;
  bool on_its_way = false;
  bool fails = false;
};

TEST_CASE("in a burst the next facts need not wait for the disk, at its end all is durable") {
  auto log = std::make_shared<SlowLog>();
  HubBench bench(log);
  bench.at_once();
  bench.run();
  CHECK_FALSE(log->on_its_way);
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  const auto during = bench.leader->step(Input::more_pending);
  REQUIRE(during.has_value());
  CHECK(during->requests.empty());
  CHECK(log->on_its_way);
  const auto after = bench.leader->step(Input::complete);
  REQUIRE(after.has_value());
  CHECK_FALSE(log->on_its_way);
}

TEST_CASE("what follows from a commit that did not reach the disk is never returned") {
  auto log = std::make_shared<SlowLog>();
  HubBench bench(log);
  bench.at_once();
  bench.run();
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  REQUIRE(bench.leader->step(Input::more_pending).has_value());
  log->fails = true;
  const auto effects = bench.leader->step(Input::complete);
  REQUIRE(effects.has_error());
  CHECK(effects.error().message == "the disk does not answer");
}

// As many as are not left undecided in a burst. They are not ready, so nothing follows from them.
void offer_machines(HubBench& bench) {
  for (std::size_t i = 0; i < kUnplannedEventsMax; ++i)
    bench.leader->offer(bench.member.put(HubBench::node("new-" + std::to_string(i)), NodeFacts{}));
}

TEST_CASE("what is logged in a burst does not depend on whether the disk was waited for") {
  const auto log = std::make_shared<SlowLog>();
  HubBench waits, ahead(log);
  for (HubBench* bench : {&waits, &ahead}) {
    bench->at_once();
    bench->run();
    offer_machines(*bench);
    REQUIRE(bench->leader->step(Input::more_pending).has_value());
    CHECK(log->on_its_way == (bench == &ahead));
    CHECK(bench->requests.empty());
    // That moment was decided while its last commit was on its way: what follows is later.
    const Event last = events_of(*bench->log).back();
    CHECK(bench->leader->now() == last.log_time);
    bench->leader->offer(bench->member.remove(HubBench::node("spot-3")));
    REQUIRE(bench->leader->step(Input::more_pending).has_value());
    CHECK(events_of(*bench->log).back().log_time == last.log_time + Duration{1});
    bench->settle();
  }
  CHECK((events_of(*waits.log) == events_of(*log)));
}

TEST_CASE("a snapshot in a burst covers what is durable") {
  const ScratchDirectory directory;
  SnapshotStore store(directory.path());
  const auto log = std::make_shared<SlowLog>();
  HubBench bench(log);
  bench.at_once();
  bench.configuration.snapshot_every = 1000;
  bench.snapshots = &store;
  bench.run();
  offer_machines(bench);
  REQUIRE(bench.leader->step(Input::more_pending).has_value());
  CHECK(store.list()->size() >= 1);
  REQUIRE(bench.leader->step(Input::complete).has_value());
  const auto verdicts = verify_snapshots(*log, store);
  REQUIRE(verdicts.has_value());
  for (const SnapshotVerdict& verdict : *verdicts) CHECK(verdict.fault == "");
}

TEST_CASE("in a burst, what is recommended or asked for waits for the disk") {
  for (const WriteMode mode : {WriteMode::recommend, WriteMode::apply}) {
    const auto log = std::make_shared<SlowLog>();
    HubBench bench(log);
    bench.at_once();
    bench.start(mode);
    bench.sync();
    bench.settle();
    bench.leader->offer(bench.hub.put(HubBench::claim(), HubBench::claim_facts()));
    offer_machines(bench);
    const auto effects = bench.leader->step(Input::more_pending);
    REQUIRE(effects.has_value());
    CHECK(effects->requests.empty() == (mode == WriteMode::recommend));
    CHECK(effects->recommendations.empty() == (mode == WriteMode::apply));
    CHECK_FALSE(log->on_its_way);
  }
}

}  // namespace
}  // namespace fairlead
