#include "engine/plan/members/binding_policy.h"

#include <catch2/catch.hpp>

namespace fairlead::binding_policy_test {
namespace {

const std::string kCluster = "c1";

// A member c1 in a KubeStellar space, whose claim names od in queue q; a LocalQueue uses q.
struct Space {
  State state;
  Cluster& cluster = state.clusters[kCluster];
  Policy& policy = cluster.member.policy;

  Space() {
    state.now = LogTime{} + seconds(1000);
    state.configuration.member_mode = MemberMode::binding_policy;
    state.flavors.by_name["od"] = {};
    cluster.presence.managed = ManagedClusterFacts{};
    cluster.presence.managed->labelled = true;
    cluster.known = true;
    cluster.member.named["q"] = {"od"};
    Queue& queue = state.queues.by_name["q"];
    queue.present = true;
    queue.facts.groups = {{{"cpu"}, {{"od", {{"cpu", to_quantity("cpu", 0), {}, {}}}}}}};
    Claim& claim = state.claims.by_name["k"];
    claim.terms = ClaimTerms{};
    claim.terms->cluster = kCluster;
    claim.terms->rows = {{"q", "od", "cpu", "cpu", 5000, 0, 0}};
    claim.grants = {{claim.terms->rows[0], 5000, {}}};
    claim.winner = claim.known = true;
    state.claims.of_cluster[kCluster] = {"k"};
    state.claims.of_queue["q"] = {"k"};
    state.queues.local[{"team", "lq"}] = {"q", {}, {}};
  }
  Proposed proposed() {
    HubQuotas quotas(state);
    return emit_policy(state, kCluster, quotas);
  }
  bool due() {
    HubQuotas quotas(state);
    return policy_is_due(state, kCluster, quotas);
  }
  // The policy is there as we would write it.
  void stands() {
    const Proposed proposal = proposed();
    REQUIRE(proposal);
    policy.present = true;
    policy.generation = policy.facts.observed_generation = 1;
    policy.facts = std::get<BindingPolicyFacts>(*proposal->expected);
    policy.facts.observed_generation = 1;
  }
  std::string trouble() {
    const auto found = policy_trouble(state, kCluster);
    return found ? found->reason : "";
  }
};

TEST_CASE("binding policy: it names every object, creates Namespaces only, and no ClusterQueue") {
  Space space;
  const Proposed proposal = space.proposed();
  REQUIRE(proposal);
  CHECK(proposal->reason.rule == "members/create");
  CHECK(proposal->reason.text == "namespaces team, resourceflavors od, localqueues team/lq");
  CHECK(Json::parse(proposal->body)["spec"] == Json::parse(R"({
    "clusterSelectors": [{"matchLabels": {"name": "c1"}}],
    "downsync": [
      {"apiGroup": "", "resources": ["namespaces"], "objectNames": ["team"], "createOnly": true},
      {"apiGroup": "kueue.x-k8s.io", "resources": ["resourceflavors"], "objectNames": ["od"]},
      {"apiGroup": "kueue.x-k8s.io", "resources": ["localqueues"], "objectNames": ["lq"],
       "namespaces": ["team"]}]})"));
}

TEST_CASE("binding policy: what is as desired is not written, what another writer changed is") {
  Space space;
  CHECK(space.due());
  space.stands();
  CHECK_FALSE(space.proposed());
  CHECK_FALSE(space.due());
  space.policy.facts.spec_digest = sha256("another");
  CHECK(space.due());
  REQUIRE(space.proposed());
  CHECK(space.proposed()->reason.rule == "members/update");
}

TEST_CASE(
    "binding policy: a Namespace stays that it once named, a LocalQueue elsewhere stays out") {
  Space space;
  space.stands();
  space.cluster.member.local_queues[{"team", "lq"}] = {"x", {}, {}};
  const Proposed proposal = space.proposed();
  REQUIRE(proposal);
  CHECK(proposal->reason.text == "namespaces team, resourceflavors od");
}

TEST_CASE("binding policy: a ResourceFlavor stays that it once named") {
  Space space;
  space.stands();
  space.policy.facts.flavors = {"od", "spot"};
  REQUIRE(space.proposed());
  CHECK(space.proposed()->reason.text ==
        "namespaces team, resourceflavors od, resourceflavors spot, localqueues team/lq");
}

TEST_CASE("binding policy: a policy of another owner, or on its way out, is left alone") {
  Space space;
  space.stands();
  space.policy.facts.spec_digest = sha256("another");
  SECTION("another owner") {
    space.policy.facts.ours = false;
    CHECK_FALSE(space.due());
    CHECK(space.trouble() == "BindingPolicyConflict");
  }
  SECTION("being deleted") { space.policy.facts.deleting = true; }
  SECTION("another mode") { space.state.configuration.member_mode = MemberMode::automatic; }
  CHECK_FALSE(space.proposed());
}

TEST_CASE("binding policy: that of a cluster that is gone is removed") {
  Space space;
  space.stands();
  space.cluster.presence.managed.reset();
  space.cluster.presence.detached = true;
  const Proposed proposal = space.proposed();
  REQUIRE(proposal);
  CHECK(proposal->verb == Verb::remove);
  CHECK(proposal->reason.text == "the cluster is gone");
}

TEST_CASE(
    "binding policy: the first trouble is reported, what the space says only of this generation") {
  Space space;
  CHECK(space.trouble().empty());  // there is none yet
  space.stands();
  CHECK(space.trouble().empty());
  space.policy.facts.synced.status = ConditionStatus::no;
  CHECK(space.trouble() == "SpaceRejected");
  space.policy.facts.error = "a fault";
  CHECK(policy_trouble(space.state, kCluster)->message == "BindingPolicy fairlead-c1: a fault");
  CHECK_FALSE(awaits_space(space.state, kCluster));
  space.policy.generation = 2;
  CHECK(space.trouble().empty());
  CHECK(awaits_space(space.state, kCluster));
  space.cluster.presence.managed->labelled = false;
  CHECK(space.trouble() == "ClusterNotLabelled");
  WriteState& write =
      space.state.writes
          .by_key[{std::string(kHub), {Kind::binding_policy, "", "fairlead-c1"}, false}];
  write.refusal = Refusal{Seq{9}, 422, "Invalid", sha256("wish"), space.state.now, 1};
  CHECK(space.trouble() == "HubRejected");
}

}  // namespace
}  // namespace fairlead::binding_policy_test
