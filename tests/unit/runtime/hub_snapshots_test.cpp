// Snapshots of a hub: those that a child process saves, the last one, and one that is being taken
// when the signal comes.
#include "engine/runtime/hub_snapshots.h"

#include <thread>

#include "tests/unit/log/log_fixture.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

// Names that do not compress: a State of some MiB, of which a snapshot is as large.
std::map<std::string, std::string> many_aliases() {
  std::map<std::string, std::string> aliases;
  for (int i = 0; i < 40'000; ++i)
    aliases[sha256(std::to_string(i)).hex()] = sha256(std::to_string(-1 - i)).hex();
  return aliases;
}

/// A hub that takes a snapshot every ten events.
class SnapshotBench : public HubBench {
 public:
  SnapshotBench() {
    at_once();
    configuration.snapshot_every = 10;
    snapshots = &store;
  }
  const ScratchDirectory directory;
  SnapshotStore store{directory.path()};
};

TEST_CASE("a hub goes on while a child process saves its snapshot") {
  SnapshotBench bench;
  bench.saved_aside_nodes = 0;
  bench.run();
  const auto announced = facts_in<Checkpoint>(*bench.log);
  REQUIRE_FALSE(announced.empty());
  CHECK(announced.front().state == Digest{});
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.advance(seconds(1));
  CHECK(bench.quotas() == "500 400");
  const auto last_is_named = [&] {
    bench.settle();
    return facts_in<Checkpoint>(*bench.log).back().state != Digest{};
  };
  while (!last_is_named()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto verdicts = verify_snapshots(*bench.log, bench.store);
  REQUIRE(verdicts.has_value());
  CHECK_FALSE(verdicts->empty());
  for (const SnapshotVerdict& verdict : *verdicts) CHECK(verdict.fault == "");
  check_log(bench);
  REQUIRE(bench.leader->give_up().has_value());
  bench.start();
  bench.sync();
  bench.advance(seconds(1));
  CHECK(bench.quotas() == "500 400");
  check_log(bench);
}

TEST_CASE("a hub with a large State leaves out the last snapshot while it has a newer one") {
  SnapshotBench bench;
  bench.configuration.resource_aliases = many_aliases();
  bench.run();
  const auto taken = bench.store.list();
  REQUIRE(taken.has_value());
  REQUIRE_FALSE(taken->empty());
  REQUIRE(taken->back().bytes >= std::uint64_t{2} << 20);
  bench.leader->offer(bench.member.remove(HubBench::node("spot-3")));
  bench.advance(seconds(1));
  REQUIRE(bench.leader->give_up().has_value());
  CHECK(bench.store.list()->back().seq == taken->back().seq);
  CHECK(bench.log->last_seq() > taken->back().seq);
  CHECK((folded(events_of(*bench.log)) == bench.leader->state()));
}

TEST_CASE("a snapshot that is being taken when the hub is asked to stop is given up") {
  SnapshotBench bench;
  bench.stops = 1;
  bench.run();
  CHECK(bench.store.list()->empty());
  CHECK(facts_in<Checkpoint>(*bench.log).empty());
  // The last one waits for a second signal.
  SECTION("and the last one is taken") {
    REQUIRE(bench.leader->give_up().has_value());
    CHECK(bench.store.list()->size() == 1);
  }
  CHECK((folded(events_of(*bench.log)) == bench.leader->state()));
}

}  // namespace
}  // namespace fairlead
