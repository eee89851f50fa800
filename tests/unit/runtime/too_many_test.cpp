// A member that has more Nodes than members.nodesMax, or more changes than changesPerMinute.
#include <algorithm>

#include "tests/unit/runtime/hub_bench.h"

using namespace fairlead;

namespace {

const WatchFact kTooManyChanges{"cluster2", StreamStale{Kind::node, StaleCause::too_many_changes}};
const WatchFact kTooMany{"cluster2", StreamStale{Kind::node, StaleCause::too_many}};

HubBench bench_with_bound(std::int64_t nodes_max) {
  HubBench bench;
  bench.at_once();
  bench.configuration.member_nodes_max = nodes_max;
  return bench;
}

Json condition(const HubBench& bench, const std::string& type) {
  const Json body = Json::parse(bench.hub.status(HubBench::claim()));
  for (const Json& each : body["status"]["conditions"])
    if (each["type"] == type) return each;
  return {};
}

}  // namespace

TEST_CASE("a member past the bound is stale for that reason, until its list is within it") {
  HubBench bench = bench_with_bound(10);
  bench.run();
  CHECK(condition(bench, "CapacityKnown")["reason"] == "Accepted");

  bench.leader->offer(bench.add_node("on-demand-5", "on-demand"));
  bench.leader->offer(kTooMany);
  bench.advance(seconds(1));
  const Json stale = condition(bench, "CapacityKnown");
  CHECK(stale["status"] == "Unknown");
  CHECK(stale["reason"] == "TooManyNodes");
  CHECK(stale["message"] == "cluster2 has more than 10 nodes (members.nodesMax); growth is frozen");
  CHECK(bench.quotas() == "500 500");

  bench.leader->offer(bench.member.remove(HubBench::node("on-demand-0")));
  bench.leader->offer({"cluster2", ListCompleted{Kind::node, "900"}});
  bench.advance(seconds(1));
  CHECK(condition(bench, "CapacityKnown")["reason"] == "Accepted");
}

TEST_CASE("a silent member with as many Nodes as are allowed is just silent") {
  HubBench bench = bench_with_bound(10);
  bench.run();
  bench.leader->offer({"cluster2", StreamStale{Kind::node}});
  bench.advance(seconds(1));
  CHECK(condition(bench, "CapacityKnown")["reason"] == "SourceStale");
}

TEST_CASE("of a first list that is cut at the bound, what it showed is all that is kept") {
  HubBench bench = bench_with_bound(10);
  bench.run();
  bench.start();
  for (WatchFact& fact : bench.hub.list(every_hub_kind())) bench.leader->offer(std::move(fact));
  for (int i = 0; i < 11; ++i)
    bench.leader->offer(bench.add_node("other-" + std::to_string(i), "on-demand"));
  bench.leader->offer(kTooMany);
  bench.advance(seconds(1));
  const auto& nodes = bench.leader->state().clusters.at("cluster2").reports.nodes;
  CHECK(nodes.size() == 11);
  CHECK_FALSE(nodes.contains("on-demand-0"));
  CHECK(condition(bench, "CapacityKnown")["reason"] == "TooManyNodes");
}

TEST_CASE("a member that changes too often is stale for that reason, until it is listed again") {
  HubBench bench = bench_with_bound(20'000);
  bench.run();
  bench.leader->offer(kTooManyChanges);
  bench.leader->offer(kTooManyChanges);
  bench.leader->offer(bench.add_node("on-demand-5", "on-demand"));
  bench.advance(seconds(1));
  const Json stale = condition(bench, "CapacityKnown");
  CHECK(stale["status"] == "Unknown");
  CHECK(stale["reason"] == "TooManyChanges");
  CHECK(stale["message"] ==
        "cluster2 shows more changes of its nodes than 3000 a minute (members.changesPerMinute); "
        "growth is frozen");
  CHECK(bench.quotas() == "500 500");
  CHECK(bench.leader->state().clusters.at("cluster2").liveness_at_close == Liveness::stale);

  bench.leader->offer({"cluster2", ListCompleted{Kind::node, "900"}});
  bench.advance(seconds(1));
  CHECK(condition(bench, "CapacityKnown")["reason"] == "Accepted");
}

TEST_CASE("a member whose devices change too often is stale for that reason") {
  HubBench bench = bench_with_bound(20'000);
  bench.run();
  ObjectSeen slice;
  slice.key = {Kind::resource_slice, "", "gpu-0"};
  slice.version = "v1";
  slice.uid = "uid-slice";
  slice.resource_version = "700";
  slice.facts = ResourceSliceFacts{};
  bench.leader->offer({"cluster2", slice});
  bench.leader->offer({"cluster2", ListCompleted{Kind::resource_slice, "700"}});
  bench.advance(seconds(1));
  CHECK(condition(bench, "CapacityKnown")["reason"] == "Accepted");

  bench.leader->offer(
      {"cluster2", StreamStale{Kind::resource_slice, StaleCause::too_many_changes}});
  bench.advance(seconds(1));
  const Json stale = condition(bench, "CapacityKnown");
  CHECK(stale["reason"] == "TooManyChanges");
  CHECK(stale["message"] ==
        "cluster2 shows more changes of its devices than 3000 a minute "
        "(members.changesPerMinute); growth is frozen");
  // A kind that is no source of capacity makes nothing stale.
  bench.leader->offer({"cluster2", ListCompleted{Kind::resource_slice, "900"}});
  bench.leader->offer({"cluster2", StreamStale{Kind::local_queue, StaleCause::too_many_changes}});
  bench.advance(seconds(1));
  CHECK(condition(bench, "CapacityKnown")["reason"] == "Accepted");
}
