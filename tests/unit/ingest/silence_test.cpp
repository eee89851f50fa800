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

TEST_CASE("silence of what no quota rests on, or of a member's queues, is not logged") {
  IngestBench bench;
  CHECK_FALSE(bench.take("hub", {"hub", StreamStale{Kind::resource_flavor}}));
  CHECK_FALSE(bench.take("hub", {"hub", StreamStale{Kind::local_queue}}));
  CHECK_FALSE(bench.take("member", {"member", StreamStale{Kind::cluster_queue}}));
  CHECK(bench.state.silent.empty());
}

}  // namespace fairlead
