// When what an event says became so, as far as the log shows.
#include "replay/audit/event_times.h"

#include <catch2/catch.hpp>

#include "engine/log/memory_log.h"

namespace fairlead {
namespace event_times {
namespace {

LogTime at(std::int64_t minute) { return LogTime{} + seconds(60 * minute); }

struct World {
  MemoryLog log;
  std::uint64_t epoch = 1;

  World() { add(0, {start(), {"self", {}, ConfigChanged{}}}); }  // seq 1, 2
  static EventDraft start() { return {"self", {}, EpochStarted{"hub-0", "1", 1, 1}}; }
  static EventDraft synced(const SourceName& source, Kind kind) {
    return {source, {}, SourceSynced{kind, "", "7"}};
  }
  static EventDraft seen(const SourceName& source, Kind kind, Facts facts,
                         std::vector<FieldWriter> writers = {}) {
    return {source,
            {},
            ObjectObserved{
                {kind, "", "x"}, "v1", "x", "1", 1, std::move(facts), {}, std::move(writers)}};
  }
  static EventDraft node(Amount cpus) {
    NodeFacts facts;
    facts.ready = true;
    facts.allocatable = {{"cpu", 1000 * cpus}};
    return seen("c1", Kind::node, facts);
  }
  void add(std::int64_t minute, const std::vector<EventDraft>& drafts) {
    REQUIRE(log.append(drafts, at(minute), Epoch{epoch}).has_value());
  }
  /// "how from..to known", in minutes; "none" where the event has no times.
  std::string times(std::uint64_t seq) const {
    EventLookup lookup(log);
    EventChanges changes(lookup);
    const Json json = EventTimes(lookup, changes).json_of(lookup.at(Seq{seq}));
    if (json.is_null()) return "none";
    const auto minutes = [](const Json& time) {
      if (time.is_null()) return std::string("?");
      const std::int64_t whole = parse_rfc3339(time.get<std::string>())->ns / 1'000'000'000;
      return std::to_string(whole / 60) + ":" + std::to_string(whole % 60);
    };
    return json["how"].get<std::string>() + " " + minutes(json["from"]) + ".." +
           minutes(json["to"]) + " " + minutes(json["known"]) +
           (json.contains("by") ? " by " + json["by"].get<std::string>() : "");
  }
};

TEST_CASE(
    "an event of a live stream has only its log time; an event of a first list has no earlier "
    "time") {
  World world;
  world.add(1, {World::node(8), World::synced("c1", Kind::node)});  // 3, 4
  world.add(5, {World::node(7)});                                   // 5
  CHECK(world.times(3) == "listed ?..1:0 1:0");
  CHECK(world.times(4) == "none");
  CHECK(world.times(5) == "logged 5:0..5:0 5:0");
  CHECK(world.times(1) == "none");
  CHECK(world.times(2) == "none");
}

TEST_CASE("where no sign of a source is logged it was listed when a hub started, then live") {
  World world;
  world.add(1, {World::node(8)});                      // 3
  world.add(2, {World::node(7)});                      // 4: a second record is no list
  world.add(12, {World::node(6)});                     // 5
  world.add(20, {{"c1", {}, SourceStale{{}, "c1"}}});  // 6: the input of `plan` says so
  world.add(25, {World::node(5)});                     // 7
  world.add(30, {{"c1", {}, SourceSynced{{}, "c1", ""}}});
  world.add(40, {World::node(4)});  // 9
  CHECK(world.times(3) == "listed ?..1:0 1:0");
  CHECK(world.times(4) == "logged 2:0..2:0 2:0");
  CHECK(world.times(5) == "logged 12:0..12:0 12:0");
  CHECK(world.times(7) == "unseen 20:0..25:0 25:0");
  CHECK(world.times(9) == "logged 40:0..40:0 40:0");
}

TEST_CASE("an object's first record soon after another hub started may be of its list") {
  for (const std::int64_t minute : {33, 36}) {
    World world;
    world.add(1, {World::node(8)});                  // 3
    world.add(10, {{"self", {}, ConfigChanged{}}});  // 4
    world.epoch = 2;
    world.add(30, {World::start()});      // 5
    world.add(minute, {World::node(7)});  // 6
    world.add(60, {World::node(6)});      // 7
    CHECK(world.times(6) == (minute == 33 ? "unseen 5:0..33:0 33:0" : "logged 36:0..36:0 36:0"));
    CHECK(world.times(7) == "logged 60:0..60:0 60:0");
  }
}

TEST_CASE("what is seen after a silence became so at some time since the last word before it") {
  World world;
  world.add(1, {World::node(8), World::synced("c1", Kind::node)});   // 3, 4
  world.add(20, {{"c1", {}, SourceStale{Kind::node, ""}}});          // 5
  world.add(30, {{"c1", {}, SourceLost{Kind::node, ""}}});           // 6
  world.add(40, {World::node(7)});                                   // 7, of the list
  world.add(41, {World::node(6), World::synced("c1", Kind::node)});  // 8, 9
  world.add(50, {World::node(5)});                                   // 10
  CHECK(world.times(7) == "unseen 15:0..40:0 40:0");
  // A record of the object is a later word.
  CHECK(world.times(8) == "unseen 40:0..41:0 41:0");
  CHECK(world.times(10) == "logged 50:0..50:0 50:0");
}

TEST_CASE("the sign of life that a change itself gives does not make it current") {
  World world;
  world.add(1, {World::node(8), World::synced("c1", Kind::node)});   // 3, 4
  world.add(20, {{"c1", {}, SourceStale{Kind::node, ""}}});          // 5
  world.add(40, {World::synced("c1", Kind::node), World::node(7)});  // 6, 7
  CHECK(world.times(7) == "unseen 15:0..40:0 40:0");
}

TEST_CASE("what a new hub lists became so at some time since the last one heard of its source") {
  World world;
  world.add(1, {World::node(8), World::synced("c1", Kind::node)});  // 3, 4
  world.add(10, {{"self", {}, ConfigChanged{}}});                   // 5
  world.epoch = 2;
  world.add(30, {World::start()});                                   // 6
  world.add(31, {World::node(7), World::synced("c1", Kind::node)});  // 7, 8
  world.add(32, {World::node(6)});                                   // 9
  // Up to staleAfter before the last event a silence was not noticed yet.
  CHECK(world.times(7) == "unseen 5:0..31:0 31:0");
  CHECK(world.times(9) == "logged 32:0..32:0 32:0");
}

TEST_CASE("of quotas managedFields say who wrote them and when, until another write is seen") {
  World world;
  const auto queue = [](std::vector<FieldWriter> writers) {
    return World::seen("hub", Kind::cluster_queue, ClusterQueueFacts{}, std::move(writers));
  };
  const FieldWriter alice{"alice", "Update", "", "1970-01-01T00:02:00Z", 0};
  const FieldWriter bob{"bob", "Apply", "", "1970-01-01T00:06:30Z", 0};
  world.add(3, {queue({alice}), World::synced("hub", Kind::cluster_queue)});  // 3, 4
  world.add(7, {queue({bob, alice})});                                        // 5
  world.add(8, {queue({bob, alice})});                                        // 6: its use alone
  CHECK(world.times(3) == "said 2:0..2:0 3:0 by alice");
  CHECK(world.times(5) == "said 6:30..6:30 7:0 by bob");
  CHECK(world.times(6) == "logged 8:0..8:0 8:0");
}

TEST_CASE("a claim that is seen for the first time was there since its creation") {
  World world;
  ClaimFacts claim;
  claim.created = at(2);
  world.add(5, {World::seen("hub", Kind::claim, claim)});
  claim.deleting = true;
  world.add(6, {World::seen("hub", Kind::claim, claim)});
  CHECK(world.times(3) == "created 2:0..2:0 5:0");
  CHECK(world.times(4) == "logged 6:0..6:0 6:0");
}

TEST_CASE("a write of ours is made between its intent and the answer that accepts it") {
  World world;
  const auto intent = [] {
    PatchIntended intended;
    intended.cluster = "hub";
    intended.target = {Kind::cluster_queue, "", "x"};
    return EventDraft{"self", {}, intended};
  };
  world.add(5, {intent()});                                            // 3
  world.add(6, {{"self", {}, PatchAccepted{Seq{3}, 200, "u", "9"}}});  // 4
  world.add(7, {intent()});                                            // 5
  CHECK(world.times(3) == "answered 5:0..6:0 6:0");
  CHECK(world.times(4) == "answered 5:0..6:0 6:0");
  CHECK(world.times(5) == "none");
}

}  // namespace
}  // namespace event_times
}  // namespace fairlead
