// The running sums of the hub's ClusterQueues, and the clock that silence stops.
#include "engine/fold/usage/queue_use.h"

#include <catch2/catch.hpp>

#include "engine/fold/evolve.h"

namespace fairlead {
namespace {

TEST_CASE("The clock stands still while it is stopped, and remembers the last hour") {
  KnownClock clock;
  CHECK(clock.shown_at(500) == 500);
  clock.stop(1'000);
  clock.start(1'400);
  clock.start(1'500);  // it runs already
  CHECK(clock.shown_at(900) == 900);
  CHECK(clock.shown_at(1'200) == 1'000);
  CHECK(clock.shown_at(2'000) == 1'600);
  clock.stop(1'400 + 2 * kReadBack);
  clock.start(1'400 + 3 * kReadBack);
  CHECK(clock.shown_at(1'400 + 4 * kReadBack) == 1'000 + 3 * kReadBack);
  CHECK(clock.changes.size() == 2);  // what is older than an hour is not asked for
}

TEST_CASE("Milliseconds are rounded down, before 1970 too") {
  CHECK(millis_of({1'999'999}) == 1);
  CHECK(millis_of({-1}) == -1);
  CHECK(millis_of({-1'000'000}) == -1);
}

Event event_at(std::uint64_t seq, std::int64_t second, SourceName source, Fact fact) {
  return {Seq{seq}, LogTime{} + seconds(second), Epoch{1}, std::move(source), {}, std::move(fact)};
}

ObjectObserved queue_seen(const std::string& uid, Amount used) {
  ObjectObserved seen;
  seen.key = {Kind::cluster_queue, "", "training"};
  seen.version = "v1beta2";
  seen.uid = uid;
  seen.resource_version = "1";
  ClusterQueueFacts facts;
  facts.usage = {{"od", "cpu", used}};  // cpu is in thousandths as it is
  seen.facts = facts;
  return seen;
}

struct Hub {
  State state;
  DirtySet dirty;
  std::uint64_t seq = 0;

  void take(std::int64_t second, Fact fact, const SourceName& source = SourceName(kHub)) {
    evolve(state, event_at(++seq, second, source, std::move(fact)), dirty);
  }
  QueueCounter counter(std::int64_t second) {
    const auto counters = queue_counters(state.usage, LogTime{} + seconds(second));
    REQUIRE(counters.size() == 1);
    return counters.front();
  }
};

TEST_CASE("A counter goes on from observation to observation, and begins anew with a new queue") {
  Hub hub;
  hub.take(100, queue_seen("1", 2'000));
  hub.take(110, queue_seen("1", 3'000));
  CHECK(hub.counter(120).sums.used == 2'000 * 10'000 + 3'000 * 10'000);
  CHECK(hub.counter(120).sums.borrowed == hub.counter(120).sums.used);  // it has no quota
  CHECK(hub.counter(120).created == LogTime{} + seconds(100));
  hub.take(130, queue_seen("2", 1'000));
  CHECK(hub.counter(140).sums.used == 1'000 * 10'000);
  CHECK(hub.counter(140).created == LogTime{} + seconds(130));
  hub.take(150, ObjectGone{{Kind::cluster_queue, "", "training"}, "2", ""});
  CHECK(queue_counters(hub.state.usage, LogTime{} + seconds(160)).empty());
}

TEST_CASE("An observation that was held back counts from when it was read") {
  Hub hub;
  hub.take(100, queue_seen("1", 2'000));
  ObjectObserved late = queue_seen("1", 5'000);
  late.read = LogTime{} + seconds(104);
  hub.take(110, late);
  CHECK(hub.counter(110).sums.used == 2'000 * 4'000 + 5'000 * 6'000);
}

TEST_CASE("Silence of the hub's API server and time without a hub are unknown") {
  Hub hub;
  hub.take(100, queue_seen("1", 1'000));
  hub.take(110, SourceStale{Kind::cluster_queue, "", StaleCause::silence});
  hub.take(115, SourceStale{Kind::cluster_queue, "", StaleCause::too_many});
  hub.take(120, SourceSynced{Kind::cluster_queue, "", "1"});
  hub.take(130, SourceStale{Kind::cluster_queue, ""}, "w1");  // of a member
  hub.take(160, EpochStarted{"b", "1", 1, 1}, SourceName(kSelf));
  CHECK(hub.counter(170).unknown == 10'000 + 30'000);
  CHECK(hub.counter(170).sums.used == 1'000 * 30'000);
}

}  // namespace
}  // namespace fairlead
