// Debounce layer 0: whose bursts are held back, and whose never.
#include "engine/ingest/coalescer.h"

#include <catch2/catch.hpp>
#include <set>

using namespace fairlead;

namespace {

constexpr Duration kWindow = seconds(5);

WatchFact seen(Kind kind, const std::string& version) {
  ObjectSeen object;
  object.key = {kind, is_namespaced(kind) ? "n" : "", "x"};
  object.resource_version = version;
  return {std::string(kHub), std::move(object)};
}

WatchFact missing(Kind kind) {
  return {std::string(kHub), ObjectMissing{{kind, is_namespaced(kind) ? "n" : "", "x"}, "", ""}};
}

// Returns the fact if it passes.
std::optional<WatchFact> offered(Coalescer& coalescer, WatchFact fact, LogTime now) {
  if (coalescer.hold_back(fact, now)) return std::nullopt;
  return fact;
}

}  // namespace

TEST_CASE("only what tells of capacity or of amounts in use is held back, whatever the interval") {
  const std::set<Kind> held{Kind::node, Kind::cluster_metrics, Kind::managed_cluster,
                            Kind::cluster_queue};
  for (const KindInfo& row : kKinds) {
    INFO(row.name);
    Coalescer coalescer;
    const LogTime begin{seconds(100).ns};
    const auto first = offered(coalescer, seen(row.kind, "1"), begin);
    REQUIRE(first.has_value());
    coalescer.passed(*first, begin, kWindow);
    const LogTime soon = begin + milliseconds(1);
    const bool passes = !held.contains(row.kind);
    for (const std::string version : {"2", "3"}) {
      const auto next = offered(coalescer, seen(row.kind, version), soon);
      CHECK(next.has_value() == passes);
      if (next) {
        CHECK(std::get<ObjectSeen>(next->said).resource_version == version);
        coalescer.passed(*next, soon, kWindow);
      }
    }
    CHECK(offered(coalescer, missing(row.kind), soon).has_value() == passes);
    CHECK(coalescer.next_due() == (passes ? kForever : begin + kWindow));
    CHECK(coalescer.dequeue_due(begin + kWindow).size() == (passes ? 0 : 1));
  }
}

TEST_CASE("an object that is gone is forgotten after its interval, one that came back is not") {
  Coalescer coalescer;
  const LogTime begin{seconds(100).ns};
  const auto passes = [&](WatchFact fact, LogTime now) {
    const auto passed = offered(coalescer, std::move(fact), now);
    REQUIRE(passed.has_value());
    coalescer.passed(*passed, now, kWindow);
  };
  passes(seen(Kind::node, "1"), begin);
  passes(missing(Kind::managed_cluster), begin);
  passes(missing(Kind::node), begin + kWindow);
  CHECK(coalescer.size() == 1);  // the ManagedCluster's interval is over
  passes(seen(Kind::node, "2"), begin + kWindow + kWindow);
  passes(seen(Kind::cluster_metrics, "1"), begin + kWindow + kWindow + seconds(1));
  CHECK(coalescer.size() == 2);
  CHECK_FALSE(offered(coalescer, seen(Kind::node, "3"), begin + kWindow + kWindow + seconds(1)));
}

TEST_CASE("an object whose interval is over is forgotten, one that holds a fact is not") {
  Coalescer coalescer;
  const LogTime begin{seconds(100).ns};
  coalescer.passed(*offered(coalescer, seen(Kind::node, "1"), begin), begin, kWindow);
  coalescer.passed(*offered(coalescer, seen(Kind::managed_cluster, "1"), begin), begin, kWindow);
  CHECK_FALSE(offered(coalescer, seen(Kind::managed_cluster, "2"), begin + seconds(1)));
  coalescer.forget_over(begin + seconds(4));
  CHECK(coalescer.size() == 2);
  coalescer.forget_over(begin + kWindow);
  CHECK(coalescer.size() == 1);
  CHECK(coalescer.dequeue_due(begin + kWindow).size() == 1);
  CHECK(coalescer.size() == 0);
  CHECK(offered(coalescer, seen(Kind::node, "2"), begin + kWindow).has_value());
}

TEST_CASE("of what is held back the newest is taken out at the end of the window") {
  Coalescer coalescer;
  const LogTime begin{seconds(100).ns};
  coalescer.passed(*offered(coalescer, seen(Kind::node, "1"), begin), begin, kWindow);
  CHECK_FALSE(offered(coalescer, seen(Kind::node, "2"), begin + seconds(1)));
  CHECK_FALSE(offered(coalescer, seen(Kind::node, "3"), begin + seconds(2)));
  CHECK(coalescer.dequeue_due(begin + seconds(4)).empty());
  const auto due = coalescer.dequeue_due(begin + kWindow);
  REQUIRE(due.size() == 1);
  CHECK(std::get<ObjectSeen>(due[0].said).resource_version == "3");
}

TEST_CASE("an urgent change passes within the interval, in place of what was held back") {
  Coalescer coalescer;
  const LogTime begin{seconds(100).ns};
  coalescer.passed(seen(Kind::cluster_queue, "1"), begin, kWindow);
  CHECK_FALSE(offered(coalescer, seen(Kind::cluster_queue, "2"), begin + seconds(1)));
  WatchFact urgent = seen(Kind::cluster_queue, "3");
  CHECK_FALSE(coalescer.hold_back(urgent, begin + seconds(2), Urgency::at_once));
  CHECK(std::get<ObjectSeen>(urgent.said).read == LogTime{});
  CHECK(coalescer.next_due() == kForever);
  // The interval goes on.
  CHECK_FALSE(offered(coalescer, seen(Kind::cluster_queue, "4"), begin + seconds(3)));
  CHECK(coalescer.next_due() == begin + kWindow);
}

TEST_CASE(
    "a ClusterQueue that is held back says when its present state was read, a Node does not") {
  Coalescer coalescer;
  const LogTime begin{seconds(100).ns};
  const auto using_cpu = [](const std::string& version, Amount total) {
    WatchFact fact = seen(Kind::cluster_queue, version);
    ClusterQueueFacts facts;
    facts.usage.push_back({"spot", "cpu", total});
    std::get<ObjectSeen>(fact.said).facts = facts;
    return fact;
  };
  for (const Kind kind : {Kind::cluster_queue, Kind::node})
    coalescer.passed(seen(kind, "1"), begin, kWindow);
  CHECK_FALSE(offered(coalescer, using_cpu("2", 7), begin + seconds(1)));
  CHECK_FALSE(offered(coalescer, using_cpu("3", 8), begin + seconds(2)));
  CHECK_FALSE(offered(coalescer, using_cpu("4", 8), begin + seconds(3)));
  CHECK_FALSE(offered(coalescer, seen(Kind::node, "2"), begin + seconds(1)));
  for (const WatchFact& fact : coalescer.dequeue_due(begin + kWindow)) {
    const auto& due = std::get<ObjectSeen>(fact.said);
    CHECK(due.read == (due.key.kind == Kind::node ? LogTime{} : begin + seconds(2)));
    CHECK(due.resource_version == (due.key.kind == Kind::node ? "2" : "4"));
  }
  CHECK(coalescer.size() == 0);
}

TEST_CASE("another version of what is held back does not overtake it") {
  Coalescer coalescer;
  const LogTime begin{seconds(100).ns};
  const auto unchanged = [](const std::string& version) {
    return WatchFact{std::string(kHub),
                     ObjectUnchanged{{Kind::cluster_queue, "", "x"}, "v1beta2", "", version}};
  };
  coalescer.passed(seen(Kind::cluster_queue, "1"), begin, kWindow);
  CHECK(offered(coalescer, unchanged("2"), begin + seconds(1)));  // nothing is held
  CHECK_FALSE(offered(coalescer, seen(Kind::cluster_queue, "3"), begin + seconds(1)));
  CHECK_FALSE(offered(coalescer, unchanged("4"), begin + seconds(2)));
  SECTION("it is held back at that version") {
    const auto due = coalescer.dequeue_due(begin + kWindow);
    REQUIRE(due.size() == 1);
    CHECK(std::get<ObjectSeen>(due[0].said).resource_version == "4");
  }
  SECTION("or passes so, where a write awaits it") {
    WatchFact fact = unchanged("5");
    CHECK_FALSE(coalescer.hold_back(fact, begin + seconds(3), Urgency::at_once));
    REQUIRE(std::holds_alternative<ObjectSeen>(fact.said));
    CHECK(std::get<ObjectSeen>(fact.said).resource_version == "5");
    CHECK(std::get<ObjectSeen>(fact.said).read == begin + seconds(1));
    CHECK(coalescer.next_due() == kForever);
  }
}
