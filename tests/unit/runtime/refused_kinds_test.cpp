// Kinds that the hub may not read: whom that keeps waiting, and what is said of it.
#include <algorithm>
#include <set>

#include "engine/runtime/hub_core.h"
#include "engine/runtime/hub_scope.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

TEST_CASE("what the hub may not read keeps it waiting only where quotas need it") {
  HubBench bench;
  bench.at_once();
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  std::vector<Kind> needed;
  std::set<Kind> optional;
  for (const Kind kind : every_hub_kind())
    if (may_stay_unread(kind) && is_read_on_hub(kind, bench.configuration))
      optional.insert(kind);
    else
      needed.push_back(kind);
  CHECK(optional.size() == 8);
  for (WatchFact& fact : bench.member.list({Kind::node})) bench.core->offer(std::move(fact));
  for (WatchFact& fact : bench.hub.list(needed)) bench.core->offer(std::move(fact));
  bench.settle();
  CHECK(bench.core->awaited() == optional);
  // Silence of what quotas follow from is no answer, nor is the word of a member.
  bench.core->offer({"hub", StreamLost{Kind::local_queue}});
  bench.core->offer({"cluster2", StreamLost{Kind::secret}});
  bench.settle();
  CHECK(bench.core->awaited() == optional);
  bench.diagnostics.clear();
  for (const Kind kind : optional) {
    CHECK_FALSE(bench.core->stats().planning);
    bench.core->offer({"hub", StreamLost{kind}});
    bench.settle();
  }
  CHECK(bench.core->stats().planning);
  CHECK(bench.quotas() == "500 500");
  const auto reports = [&](const std::string& kind, const std::string& namespace_) {
    return std::count_if(bench.diagnostics.begin(), bench.diagnostics.end(),
                         [&](const std::string& line) {
                           return line.find("cannot be read on the hub") != std::string::npos &&
                                  line.find("kind=" + kind) != std::string::npos &&
                                  line.find("namespace=" + namespace_) != std::string::npos;
                         });
  };
  CHECK(reports("Secret", "kueue-system") == 1);
  CHECK(reports("PlacementDecision", "kueue-system") == 1);
  CHECK(reports("Workload", "\"*\"") == 1);
  CHECK((folded(events_of(*bench.log)) == bench.core->state()));
}

TEST_CASE("of a refused kind nothing is gone before it is listed") {
  HubBench bench;
  bench.at_once();
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  for (const Kind kind : every_hub_kind())
    if (kind == Kind::workload)
      bench.core->offer({"hub", StreamLost{kind}});
    else
      for (WatchFact& fact : bench.hub.list({kind})) bench.core->offer(std::move(fact));
  bench.settle();
  CHECK(bench.core->stats().planning);
  // Its list comes after all: as with any other first list.
  for (WatchFact& fact : bench.hub.list({Kind::workload})) bench.core->offer(std::move(fact));
  bench.settle();
  CHECK(bench.core->stats().planning);
  CHECK((folded(events_of(*bench.log)) == bench.core->state()));
}

TEST_CASE("where policies are written, they are waited for") {
  HubBench bench;
  bench.at_once();
  bench.configuration.member_mode = MemberMode::binding_policy;
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  for (const Kind kind : every_hub_kind())
    if (kind == Kind::binding_policy)
      bench.core->offer({"hub", StreamLost{kind}});
    else
      for (WatchFact& fact : bench.hub.list({kind})) bench.core->offer(std::move(fact));
  bench.settle();
  CHECK(bench.core->awaited() == std::set{Kind::binding_policy});
  CHECK_FALSE(bench.core->stats().planning);
  for (WatchFact& fact : bench.hub.list({Kind::binding_policy})) bench.core->offer(std::move(fact));
  bench.settle();
  CHECK(bench.core->stats().planning);
}

TEST_CASE("a kind that the configuration does not use is not waited for") {
  HubBench bench;
  bench.configuration.member_mode = MemberMode::none;
  bench.start();
  CHECK_FALSE(bench.core->awaited().contains(Kind::manifest_work));
  CHECK_FALSE(bench.core->awaited().contains(Kind::binding_policy));
  CHECK_FALSE(bench.core->awaited().contains(Kind::topology));
  CHECK_FALSE(bench.core->awaited().contains(Kind::mutating_admission_policy));
  for (const Kind kind :
       {Kind::virtual_cluster, Kind::namespace_, Kind::resource_quota, Kind::pod, Kind::config_map})
    CHECK_FALSE(bench.core->awaited().contains(kind));
  CHECK(bench.core->awaited().size() == every_hub_kind().size() - 13);
}

TEST_CASE("devices of members are read where a setting needs them, templates only to place") {
  const auto read = [](const DraSettings& dra) {
    Configuration configuration;
    configuration.dra = dra;
    std::set<Kind> kinds;
    for (const KindInfo& row : kKinds)
      if (is_of_devices(row.kind) && are_devices_read(row.kind, configuration))
        kinds.insert(row.kind);
    return kinds;
  };
  const std::set<Kind> counted{Kind::resource_slice, Kind::device_class, Kind::resource_claim,
                               Kind::device_taint_rule};
  std::set<Kind> all = counted;
  all.insert(Kind::resource_claim_template);
  CHECK(read({}) == counted);
  DraSettings off, dispatch, claims;
  off.quota = dispatch.quota = false;
  dispatch.dispatch = claims.fleet_claims = true;
  CHECK(read(off).empty());
  CHECK(read(dispatch) == all);
  CHECK(read(claims) == all);
  for (const Kind kind : all) CHECK_FALSE(is_read_on_hub(kind, {}));
}

TEST_CASE("VirtualClusters are read where the pool has clusters, and nothing else of it") {
  HubBench bench;
  bench.configuration.pool.clusters.push_back({"*", 100, {}, {}, false});
  bench.start();
  CHECK(bench.core->awaited().contains(Kind::virtual_cluster));
  for (const Kind kind : {Kind::namespace_, Kind::resource_quota, Kind::pod, Kind::config_map})
    CHECK_FALSE(bench.core->awaited().contains(kind));
}

TEST_CASE("a kind that a new configuration uses is waited for before anything is written") {
  HubBench bench;
  bench.at_once();
  bench.run();
  CHECK(bench.quotas() == "500 500");
  bench.configuration.member_mode = MemberMode::binding_policy;
  REQUIRE(bench.core->reconfigure(bench.configuration).has_value());
  CHECK(bench.core->awaited() ==
        std::set{Kind::manifest_work, Kind::binding_policy, Kind::topology});
  CHECK_FALSE(bench.core->stats().planning);
  bench.core->offer(bench.member.remove(HubBench::node("on-demand-0")));
  bench.settle();
  CHECK(bench.quotas() == "500 500");
  for (WatchFact& fact :
       bench.hub.list({Kind::manifest_work, Kind::binding_policy, Kind::topology}))
    bench.core->offer(std::move(fact));
  bench.settle();
  CHECK(bench.core->stats().planning);
  CHECK(bench.quotas() == "400 500");
  bench.configuration.member_mode = MemberMode::none;
  REQUIRE(bench.core->reconfigure(bench.configuration).has_value());
  bench.settle();
  CHECK(bench.core->stats().planning);
  CHECK((folded(events_of(*bench.log)) == bench.core->state()));
}

}  // namespace
}  // namespace fairlead
