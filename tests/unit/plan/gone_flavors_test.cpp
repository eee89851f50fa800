// ResourceFlavors that leave the hub. The writes of the whole story are scenarios
// (flavor-gone-and-back, flavor-retired); here is what State keeps, and for how long.
#include <catch2/catch.hpp>
#include <string>

#include "engine/fold/capacity/flavors.h"
#include "engine/fold/capacity/node_count.h"
#include "engine/fold/evolve.h"
#include "engine/log/memory_log.h"
#include "engine/plan/members/manifest_work.h"
#include "engine/plan/plan.h"
#include "replay/dry_run.h"

namespace fairlead {
namespace {

const std::string kHubObjects = R"json(
{"type":"ADDED","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"any"}}}
{"type":"ADDED","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"big"},"spec":{"nodeLabels":{"size":"big"}}}}
{"type":"ADDED","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ClusterQueue","metadata":{"name":"q"},"spec":{"resourceGroups":[{"coveredResources":["cpu"],"flavors":[{"name":"any","resources":[{"name":"cpu","nominalQuota":"0"}]},{"name":"big","resources":[{"name":"cpu","nominalQuota":"0"}]}]}]}}}
{"type":"ADDED","cluster":"east","object":{"apiVersion":"v1","kind":"Node","metadata":{"name":"e1","labels":{"size":"big"}},"status":{"allocatable":{"cpu":"32"},"conditions":[{"type":"Ready","status":"True"}]}}}
)json";
const std::string kMember = R"json(
{"type":"ADDED","object":{"apiVersion":"cluster.open-cluster-management.io/v1","kind":"ManagedCluster","metadata":{"name":"east"},"status":{"conditions":[{"type":"ManagedClusterConditionAvailable","status":"True"}]}}}
)json";

// A claim of `flavor` for the cluster east.
std::string claim(const std::string& type, const std::string& time, const std::string& flavor) {
  return R"({"type":")" + type + R"(","time":"1970-01-01T)" + time +
         R"(Z","object":{"apiVersion":"galaxy.kubestellar.io/v1alpha1","kind":"ClusterResourceClaim","metadata":{"name":"k","uid":"u"},"spec":{"clusterName":"east","nominalResources":{"cpu":"20"},"resourceAssignments":[{"clusterQueueName":"q","flavor":")" +
         flavor + R"(","resources":{"cpu":"10"}}]}}})" + "\n";
}

std::string flavor_big(const std::string& type, const std::string& time,
                       const std::string& size = "big") {
  return R"({"type":")" + type + R"(","time":"1970-01-01T)" + time +
         R"(Z","object":{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":"ResourceFlavor","metadata":{"name":"big"},"spec":{"nodeLabels":{"size":")" +
         size + R"("}}}})" + "\n";
}

State after(const std::string& text) {
  std::vector<InputLine> lines;
  REQUIRE(read_objects_text(text, "story", lines).has_value());
  MemoryLog log;
  DryRun dry_run(log, {});
  REQUIRE(dry_run.run(lines).has_value());
  State state;
  DirtySet dirty;
  auto reader = log.read(Seq{1});
  REQUIRE(reader.has_value());
  for (;;) {
    auto event = (*reader)->next();
    REQUIRE(event.has_value());
    if (!*event) break;
    evolve(state, **event, dirty);
  }
  close_moment(state, dirty);
  return state;
}

const std::string& flavor_of_node(const State& state) {
  const Cluster& cluster = state.clusters.at("east");
  return flavor_for(state, cluster, *cluster.reports.nodes.find("e1"), "cpu").name;
}

TEST_CASE("a flavor that nothing names is forgotten when it goes") {
  const State state =
      after(kHubObjects + claim("ADDED", "00:00:00", "any") + flavor_big("DELETED", "00:10:00"));
  CHECK(!state.flavors.by_name.contains("big"));
  CHECK(state.flavors.gone.empty());
  CHECK(flavor_of_node(state) == "any");
}

TEST_CASE("a flavor that a claim names counts as it was until it is back") {
  const std::string gone =
      kHubObjects + claim("ADDED", "00:00:00", "big") + flavor_big("DELETED", "00:10:00");
  const State without = after(gone);
  CHECK(!flavor_exists(without.flavors, "big"));
  CHECK(without.flavors.gone == std::set<std::string>{"big"});
  CHECK(flavor_of_node(without) == "big");
  CHECK(without.claims.by_name.at("k").grants.front().granted == 10'000);

  const State same = after(gone + flavor_big("ADDED", "00:20:00"));
  CHECK(flavor_exists(same.flavors, "big"));
  CHECK(same.flavors.gone.empty());
  CHECK(same.queues.by_name.at("q").facts == without.queues.by_name.at("q").facts);

  const State other = after(gone + flavor_big("ADDED", "00:20:00", "huge"));
  CHECK(flavor_exists(other.flavors, "big"));
  CHECK(flavor_of_node(other) == "any");
}

TEST_CASE("a gone flavor goes for good with the last claim that names it") {
  const State state =
      after(kHubObjects + claim("ADDED", "00:00:00", "big") + flavor_big("DELETED", "00:10:00") +
            claim("MODIFIED", "00:20:00", "any"));
  CHECK(!state.flavors.by_name.contains("big"));
  CHECK(state.flavors.gone.empty());
  CHECK(flavor_of_node(state) == "any");
}

TEST_CASE("a gone flavor stays while it is in a member's quota work") {
  const State state =
      after(kHubObjects + kMember + claim("ADDED", "00:00:00", "big") +
            flavor_big("DELETED", "00:10:00") + claim("MODIFIED", "00:20:00", "any"));
  CHECK(state.flavors.gone == std::set<std::string>{"big"});
  const std::vector<WorkQuota>& quotas =
      state.clusters.at("east").member.quota_works.at("fairlead-quota").facts.quotas;
  REQUIRE(quotas.size() == 2);
  CHECK(quotas[1].flavor == "big");
  CHECK(quotas[1].nominal == 10'000);  // the hub still promises it: a withheld pair is not lowered
  CHECK(flavor_of_node(state) == "big");
  CHECK(!member_is_frozen(state, "east"));
}

TEST_CASE("a member whose work has a flavor that was never seen is frozen, if the claim names it") {
  State state = after(kHubObjects + kMember + claim("ADDED", "00:00:00", "big"));
  CHECK(!member_is_frozen(state, "east"));
  State never_seen = state;
  never_seen.flavors.by_name.erase("big");
  CHECK(member_is_frozen(never_seen, "east"));
  State no_queue = state;
  no_queue.queues.by_name.erase("q");
  CHECK(member_is_frozen(no_queue, "east"));
  never_seen.claims.by_name.at("k").terms->rows.front().flavor = "any";
  CHECK(!member_is_frozen(never_seen, "east"));
}

}  // namespace
}  // namespace fairlead
