// Kinds that the hub may not read: whom that keeps waiting, and what is said of it.
#include <algorithm>
#include <set>

#include "engine/runtime/leader.h"
#include "tests/unit/runtime/hub_bench.h"

namespace fairlead {
namespace {

Watch watch_under(const Configuration& configuration) {
  State state;
  state.configuration = configuration;
  return watch_of(state);
}

TEST_CASE("what the hub may not read keeps it waiting only where quotas need it") {
  HubBench bench;
  bench.at_once();
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  std::vector<Kind> needed;
  std::set<Kind> optional;
  for (const Kind kind : every_hub_kind())
    if (may_stay_unread(kind) && watch_under(bench.configuration).hub.reads(kind))
      optional.insert(kind);
    else
      needed.push_back(kind);
  CHECK(optional.size() == 8);
  for (WatchFact& fact : bench.member.list({Kind::node})) bench.leader->offer(std::move(fact));
  for (WatchFact& fact : bench.hub.list(needed)) bench.leader->offer(std::move(fact));
  bench.settle();
  CHECK(bench.leader->awaited() == optional);
  // Silence of what quotas follow from is no answer, nor is the word of a member.
  bench.leader->offer({"hub", StreamLost{Kind::local_queue}});
  bench.leader->offer({"cluster2", StreamLost{Kind::secret}});
  bench.settle();
  CHECK(bench.leader->awaited() == optional);
  bench.diagnostics.clear();
  for (const Kind kind : optional) {
    CHECK_FALSE(bench.leader->stats().planning);
    bench.leader->offer({"hub", StreamLost{kind}});
    bench.settle();
  }
  CHECK(bench.leader->stats().planning);
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
  CHECK((folded(events_of(*bench.log)) == bench.leader->state()));
}

TEST_CASE("of a refused kind nothing is gone before it is listed") {
  HubBench bench;
  bench.at_once();
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  for (const Kind kind : every_hub_kind())
    if (kind == Kind::workload)
      bench.leader->offer({"hub", StreamLost{kind}});
    else
      for (WatchFact& fact : bench.hub.list({kind})) bench.leader->offer(std::move(fact));
  bench.settle();
  CHECK(bench.leader->stats().planning);
  // Its list comes after all: as with any other first list.
  for (WatchFact& fact : bench.hub.list({Kind::workload})) bench.leader->offer(std::move(fact));
  bench.settle();
  CHECK(bench.leader->stats().planning);
  CHECK((folded(events_of(*bench.log)) == bench.leader->state()));
}

TEST_CASE("a member that refuses its Workloads and Cohorts gives quota as before") {
  HubBench bench;
  bench.at_once();
  bench.configuration.workloads.of_members = MemberWorkloads::yes;
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  bench.sync();
  bench.settle();
  CHECK(bench.quotas() == "500 500");
  for (const Kind kind : {Kind::workload, Kind::cohort})
    bench.leader->offer({"cluster2", StreamLost{kind}});
  bench.settle();
  // Workloads were never read there, which needs no event.
  auto lost = facts_in<SourceLost>(*bench.log);
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].kind == Kind::cohort);
  CHECK(bench.leader->stats().planning);
  const Cluster& member = bench.leader->state().clusters.at("cluster2");
  CHECK_FALSE(member.stale());
  CHECK_FALSE(member.lost());
  // Once they were read, the log says that they are not any more; capacity does not follow.
  bench.leader->offer({"cluster2", ListCompleted{Kind::workload, "1"}});
  bench.settle();
  bench.leader->offer({"cluster2", StreamLost{Kind::workload}});
  bench.settle();
  lost = facts_in<SourceLost>(*bench.log);
  REQUIRE(lost.size() == 2);
  CHECK(lost[1].kind == Kind::workload);
  CHECK_FALSE(bench.leader->state().clusters.at("cluster2").lost());
  CHECK(bench.quotas() == "500 500");
  CHECK((folded(events_of(*bench.log)) == bench.leader->state()));
}

TEST_CASE("where policies are written, they are waited for") {
  HubBench bench;
  bench.at_once();
  bench.configuration.member_mode = MemberMode::binding_policy;
  bench.hub.put(HubBench::claim(), HubBench::claim_facts());
  bench.start();
  for (const Kind kind : every_hub_kind())
    if (kind == Kind::binding_policy)
      bench.leader->offer({"hub", StreamLost{kind}});
    else
      for (WatchFact& fact : bench.hub.list({kind})) bench.leader->offer(std::move(fact));
  bench.settle();
  CHECK(bench.leader->awaited() == std::set{Kind::binding_policy});
  CHECK_FALSE(bench.leader->stats().planning);
  for (WatchFact& fact : bench.hub.list({Kind::binding_policy}))
    bench.leader->offer(std::move(fact));
  bench.settle();
  CHECK(bench.leader->stats().planning);
}

TEST_CASE("a kind that the configuration does not use is not waited for") {
  HubBench bench;
  bench.configuration.member_mode = MemberMode::none;
  bench.start();
  CHECK_FALSE(bench.leader->awaited().contains(Kind::manifest_work));
  CHECK_FALSE(bench.leader->awaited().contains(Kind::binding_policy));
  CHECK_FALSE(bench.leader->awaited().contains(Kind::topology));
  CHECK_FALSE(bench.leader->awaited().contains(Kind::mutating_admission_policy));
  for (const Kind kind :
       {Kind::virtual_cluster, Kind::namespace_, Kind::resource_quota, Kind::pod, Kind::config_map})
    CHECK_FALSE(bench.leader->awaited().contains(kind));
  CHECK(bench.leader->awaited().size() == every_hub_kind().size() - 13);
}

TEST_CASE("devices of members are read where a setting needs them, templates only to place") {
  const auto read = [](const DraSettings& dra) {
    Configuration configuration;
    configuration.dra = dra;
    std::set<Kind> kinds;
    for (const KindInfo& row : kKinds)
      if (is_of_devices(row.kind) && watch_under(configuration).member.reads(row.kind))
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
  for (const Kind kind : all) CHECK_FALSE(watch_under({}).hub.reads(kind));
}

TEST_CASE("VirtualClusters are read where the pool has clusters, and nothing else of it") {
  HubBench bench;
  bench.configuration.pool.clusters.push_back({"*", 100, {}, {}, false});
  bench.start();
  CHECK(bench.leader->awaited().contains(Kind::virtual_cluster));
  for (const Kind kind : {Kind::namespace_, Kind::resource_quota, Kind::pod, Kind::config_map})
    CHECK_FALSE(bench.leader->awaited().contains(kind));
}

TEST_CASE("a kind that a new configuration uses is waited for before anything is written") {
  HubBench bench;
  bench.at_once();
  bench.run();
  CHECK(bench.quotas() == "500 500");
  bench.configuration.member_mode = MemberMode::binding_policy;
  REQUIRE(bench.leader->reconfigure(bench.configuration).has_value());
  CHECK(bench.leader->awaited() ==
        std::set{Kind::manifest_work, Kind::binding_policy, Kind::topology});
  CHECK_FALSE(bench.leader->stats().planning);
  bench.leader->offer(bench.member.remove(HubBench::node("on-demand-0")));
  bench.settle();
  CHECK(bench.quotas() == "500 500");
  for (WatchFact& fact :
       bench.hub.list({Kind::manifest_work, Kind::binding_policy, Kind::topology}))
    bench.leader->offer(std::move(fact));
  bench.settle();
  CHECK(bench.leader->stats().planning);
  CHECK(bench.quotas() == "400 500");
  bench.configuration.member_mode = MemberMode::none;
  REQUIRE(bench.leader->reconfigure(bench.configuration).has_value());
  bench.settle();
  CHECK(bench.leader->stats().planning);
  CHECK((folded(events_of(*bench.log)) == bench.leader->state()));
}

}  // namespace
}  // namespace fairlead
