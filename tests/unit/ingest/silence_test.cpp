// What is logged of a hub whose streams fall silent.
#include <catch2/catch.hpp>

#include "tests/unit/ingest/ingest_bench.h"

namespace fairlead {
TEST_CASE(
    "that ClusterQueues or claims of the hub are silent is logged once, and that they are back") {
  for (const Kind kind : {Kind::cluster_queue, Kind::claim}) {
    IngestBench bench;
    CHECK_FALSE(bench.take("hub", {"hub", StreamAlive{kind, "1"}}));
    CHECK(bench.take("hub", {"hub", StreamStale{kind}}));
    CHECK(bench.state.silent == std::set{kind});
    CHECK_FALSE(bench.take("hub", {"hub", StreamStale{kind}}));
    CHECK_FALSE(bench.take("hub", {"hub", StreamLost{kind}}));
    CHECK(bench.take("hub", {"hub", StreamAlive{kind, "2"}}));
    CHECK(bench.state.silent.empty());
    CHECK_FALSE(bench.take("hub", {"hub", ListCompleted{kind, "3"}}));
    CHECK(bench.take("hub", {"hub", StreamLost{kind}}));
    CHECK(bench.take("hub", {"hub", ListCompleted{kind, "4"}}));
    CHECK(bench.state.silent.empty());
  }
}

TEST_CASE("that a member's queues or Cohorts are silent is logged once, and that they are back") {
  for (const Kind kind : {Kind::cluster_queue, Kind::cohort}) {
    IngestBench bench;
    const auto silent = [&] { return bench.state.clusters["member"].member.silent; };
    CHECK_FALSE(bench.take("member", {"member", StreamLost{kind}}));  // nothing is known of it
    REQUIRE(bench.shows("member", Kind::node, "n", NodeFacts()));
    CHECK_FALSE(bench.take("member", {"member", ListCompleted{kind, "1"}}));
    CHECK(bench.take("member", {"member", StreamStale{kind}}));
    CHECK(silent() == std::set{kind});
    CHECK_FALSE(bench.take("member", {"member", StreamLost{kind}}));
    CHECK(bench.take("member", {"member", StreamAlive{kind, "2"}}));
    CHECK(silent().empty());
    CHECK_FALSE(bench.take("member", {"member", StreamAlive{kind, "3"}}));
    CHECK(bench.take("member", {"member", StreamLost{kind}}));
    CHECK(bench.take("member", {"member", ListCompleted{kind, "4"}}));
    CHECK(silent().empty());
    CHECK(bench.state.silent.empty());
  }
}

TEST_CASE("the log says when a member's Workloads were first read, and when they are silent") {
  IngestBench bench;
  const auto& clusters = bench.state.clusters;
  // A member that refuses them, or does not serve them, was never read.
  CHECK_FALSE(bench.take("member", {"member", StreamLost{Kind::workload}}));
  CHECK_FALSE(bench.take("member", {"member", StreamStale{Kind::workload}}));
  CHECK(bench.take("member", {"member", ListCompleted{Kind::workload, "1"}}));
  CHECK(clusters.at("member").member.workloads_listed);
  CHECK_FALSE(bench.take("member", {"member", ListCompleted{Kind::workload, "2"}}));
  CHECK_FALSE(bench.take("member", {"member", StreamAlive{Kind::workload, "3"}}));
  CHECK(bench.take("member", {"member", StreamStale{Kind::workload}}));
  CHECK_FALSE(bench.take("member", {"member", StreamLost{Kind::workload}}));
  // What is of capacity there has its own stream.
  CHECK(clusters.at("member").reports.liveness[0] == Liveness::live);
  CHECK(bench.take("member", {"member", ListCompleted{Kind::workload, "4"}}));
  CHECK(clusters.at("member").member.silent.empty());
}

TEST_CASE("that Workloads of the hub are silent is logged, and that they are lost") {
  IngestBench bench;
  CHECK(bench.take("hub", {"hub", StreamStale{Kind::workload}}));
  CHECK(bench.state.silent == std::set{Kind::workload});
  CHECK(bench.state.multikueue.unreadable.empty());
  CHECK_FALSE(bench.take("hub", {"hub", StreamStale{Kind::workload}}));
  CHECK(bench.take("hub", {"hub", StreamLost{Kind::workload}}));
  CHECK(bench.state.multikueue.unreadable == std::set{Kind::workload});
  CHECK_FALSE(bench.take("hub", {"hub", StreamLost{Kind::workload}}));
  CHECK(bench.take("hub", {"hub", StreamAlive{Kind::workload, "2"}}));
  CHECK(bench.state.silent.empty());
  CHECK(bench.state.multikueue.unreadable.empty());
  CHECK_FALSE(bench.take("hub", {"hub", ListCompleted{Kind::workload, "3"}}));
  // Of the rest of that path only a loss matters.
  CHECK_FALSE(bench.take("hub", {"hub", StreamStale{Kind::secret}}));
}

TEST_CASE("silence of what no quota and no answer rests on is not logged") {
  IngestBench bench;
  CHECK_FALSE(bench.take("hub", {"hub", StreamStale{Kind::resource_flavor}}));
  CHECK_FALSE(bench.take("hub", {"hub", StreamStale{Kind::local_queue}}));
  CHECK_FALSE(bench.take("member", {"member", StreamStale{Kind::local_queue}}));
  CHECK(bench.state.silent.empty());
}

}  // namespace fairlead
