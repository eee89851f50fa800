#include "engine/core/moments.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

const LogTime kNoon{1'000'000'000};

Event event_at(std::uint64_t seq, LogTime time, Fact fact) {
  return {Seq{seq}, time, Epoch{1}, std::string(kSelf), Seq{}, std::move(fact)};
}

TEST_CASE("an event after a closed moment is strictly later where the clock is strict") {
  Moments moments;
  moments.appended(event_at(1, kNoon, Checkpoint{}));
  CHECK(moments.open());
  CHECK(moments.next_time(kNoon, Clocking::strict) == kNoon);
  moments.close();
  CHECK_FALSE(moments.open());
  CHECK(moments.next_time(kNoon, Clocking::strict) == kNoon + Duration{1});
  CHECK(moments.next_time(kNoon, Clocking::shared) == kNoon);
  CHECK(moments.next_time(kNoon + seconds(1), Clocking::strict) == kNoon + seconds(1));
}

TEST_CASE("a clock that went back does not take log time with it") {
  Moments moments;
  moments.appended(event_at(1, kNoon, Checkpoint{}));
  CHECK(moments.next_time(LogTime{0}, Clocking::strict) == kNoon);
  moments.close();
  CHECK(moments.next_time(LogTime{0}, Clocking::strict) == kNoon + Duration{1});
}

TEST_CASE("a timer closes its moment itself") {
  Moments moments;
  moments.appended(event_at(1, kNoon, TimerFired{kNoon}));
  CHECK(moments.open());  // for planning: it is not planned yet
  CHECK(moments.next_time(kNoon, Clocking::strict) == kNoon + Duration{1});
}

TEST_CASE("a moment counts its events, and is planned with what they changed") {
  Moments moments;
  Event queue = event_at(
      1, kNoon,
      ObjectObserved{
          {Kind::cluster_queue, "", "q"}, "v1beta2", "u", "1", 1, ClusterQueueFacts{}, {}});
  queue.source = kHub;
  moments.appended(queue);
  moments.appended(event_at(2, kNoon, Checkpoint{}));
  CHECK(moments.events() == 2);
  moments.close();
  CHECK(moments.events() == 0);
  CHECK_FALSE(moments.dirty().empty());
  CHECK(moments.planned().empty());
  CHECK(moments.dirty().empty());
  moments.mark_all();
  CHECK(moments.dirty().everything);
}

TEST_CASE("a restored State may have an open moment") {
  State state;
  state.seq = Seq{7};
  state.now = kNoon;
  Moments moments;
  moments.restore(state);
  CHECK(moments.open());
  CHECK(moments.next_time(LogTime{0}, Clocking::strict) == kNoon);
  moments.appended(event_at(8, kNoon, Checkpoint{}));
  CHECK(moments.release_state().seq == Seq{8});
}

}  // namespace
}  // namespace fairlead
