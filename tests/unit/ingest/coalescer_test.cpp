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

TEST_CASE("only what tells of capacity is held back, whatever ingestCoalesce says") {
  const std::set<Kind> held{Kind::node, Kind::cluster_metrics, Kind::managed_cluster};
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
