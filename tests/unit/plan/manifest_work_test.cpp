#include "engine/plan/members/manifest_work.h"

#include <catch2/catch.hpp>

namespace fairlead::manifest_work_test {
namespace {

const std::string kCluster = "c1";

// A joined member c1 whose claim was granted 5 cpu of od in queue q.
struct Member {
  State state;
  Cluster& cluster = state.clusters[kCluster];
  Queue& queue = state.queues.by_name["q"];
  Claim& claim = state.claims.by_name["k"];

  Member() {
    state.now = LogTime{} + seconds(1000);
    state.flavors.by_name["od"] = {{{"type", "od"}}, {}, {}, ""};
    state.flavors.by_name["spot"] = {};
    cluster.presence.managed = ManagedClusterFacts{};
    cluster.known = true;
    cluster.member.named["q"] = {"od"};
    queue.present = true;
    queue.facts.groups = {{{"cpu", "pods"},
                           {{"od", {quota("cpu", 2000), quota("pods", 100)}},
                            {"spot", {quota("cpu", 9000), quota("pods", 100)}}}}};
    claim.terms = ClaimTerms{};
    claim.terms->cluster = kCluster;
    claim.terms->rows = {{"q", "od", "cpu", "cpu", 5000, 0, 0}};
    claim.grants = {{claim.terms->rows[0], 5000, {}}};
    claim.winner = claim.known = true;
    state.claims.of_cluster[kCluster] = {"k"};
    state.claims.of_queue["q"] = {"k"};
  }
  static ResourceQuota quota(const std::string& resource, Amount amount) {
    return {resource, to_quantity(resource, amount), *Quantity::parse("1"), {}};
  }
  std::vector<Proposal> works() {
    HubQuotas quotas(state);
    return emit_works(state, kCluster, quotas);
  }
  std::set<std::string> queues() {
    HubQuotas quotas(state);
    return queues_at_member(state, kCluster, quotas);
  }
  std::set<std::string> flavors() {
    HubQuotas quotas(state);
    return flavors_at_member(state, kCluster, quotas);
  }
};

TEST_CASE("manifest work: a member gets the named flavors, its grant, and the rest as on the hub") {
  Member member;
  const auto works = member.works();
  REQUIRE(works.size() == 1);
  const Json manifests = Json::parse(works[0].intent.body)["spec"]["workload"]["manifests"];
  REQUIRE(manifests.size() == 2);
  CHECK(manifests[0]["spec"] == Json::parse(R"({"nodeLabels": {"type": "od"}})"));
  // No limit, no cohort; what no claim assigns in the queue keeps the hub's value.
  CHECK(manifests[1]["spec"] == Json::parse(R"({"resourceGroups": [
    {"coveredResources": ["cpu", "pods"], "flavors": [{"name": "od", "resources": [
      {"name": "cpu", "nominalQuota": "5"}, {"name": "pods", "nominalQuota": "100"}]}]}]})"));
  CHECK(std::get<ManifestWorkFacts>(*works[0].intent.expected).quotas ==
        std::vector<WorkQuota>{{"q", "od", "cpu", 5000}, {"q", "od", "pods", 100}});
  CHECK(member.flavors() == std::set<std::string>{"od"});
}

TEST_CASE("manifest work: its agent is asked for single values, as it reports no lists") {
  Member member;
  const auto works = member.works();
  REQUIRE(works.size() == 1);
  const Json configs = Json::parse(works[0].intent.body)["spec"]["manifestConfigs"];
  const auto of_queue = std::find_if(configs.begin(), configs.end(), [](const Json& config) {
    return config["resourceIdentifier"]["resource"] == "clusterqueues";
  });
  REQUIRE(of_queue != configs.end());
  CHECK((*of_queue)["feedbackRules"] == Json::parse(R"x([{"type": "JSONPaths", "jsonPaths": [
    {"name": "active", "path": ".status.conditions[?(@.type==\"Active\")].status"},
    {"name": "usage/od/cpu",
     "path": ".status.flavorsUsage[?(@.name==\"od\")].resources[?(@.name==\"cpu\")].total"},
    {"name": "usage/od/pods",
     "path": ".status.flavorsUsage[?(@.name==\"od\")].resources[?(@.name==\"pods\")].total"}
  ]}])x"));
}

TEST_CASE("manifest work: LocalQueues go in a second work, with their Namespaces") {
  Member member;
  member.state.queues.local[{"team", "lq"}] = {"q", {}, {}};
  member.state.queues.local[{"team", "other"}] = {"not at the member", {}, {}};
  const auto works = member.works();
  REQUIRE(works.size() == 2);
  CHECK(works[1].intent.target.name == "fairlead-queues");
  CHECK(std::get<ManifestWorkFacts>(*works[1].intent.expected).local_queues ==
        std::vector<WorkLocalQueue>{{"team", "lq", "q"}});
  // In a KubeStellar space a policy brings them.
  member.state.configuration.member_mode = MemberMode::binding_policy;
  CHECK(has_policies(member.state));
  CHECK(member.works().size() == 1);
}

TEST_CASE("manifest work: a LocalQueue of another owner that points elsewhere is a conflict") {
  Member member;
  member.state.queues.local[{"team", "lq"}] = {"q", {}, {}};
  const auto conflicts = [&] {
    HubQuotas quotas(member.state);
    return local_queue_conflicts(member.state, kCluster, quotas);
  };
  CHECK(conflicts().empty());
  member.cluster.member.local_queues[{"team", "lq"}] = {"q", {}, {}};
  CHECK_FALSE(points_elsewhere(member.cluster, {"team", "lq"}, "q"));
  CHECK(conflicts().empty());
  member.cluster.member.local_queues[{"team", "lq"}] = {"x", {}, {}};
  CHECK(points_elsewhere(member.cluster, {"team", "lq"}, "q"));
  CHECK(conflicts() == std::vector<std::string>{"team/lq"});
  CHECK(member.works().size() == 1);                                            // without it
  member.cluster.member.queue_work.facts.local_queues = {{"team", "lq", "x"}};  // ours, of before
  CHECK(conflicts().empty());
}

TEST_CASE("manifest work: a member is written while it is there, known, and not frozen") {
  Member member;
  const auto written = [&] { return member_is_written(member.state, kCluster); };
  REQUIRE(written());
  SECTION("it never joined") { member.cluster.presence.managed.reset(); }
  SECTION("it left") { member.cluster.presence.detached = true; }
  SECTION("it is lost") { member.cluster.liveness_at_close = Liveness::lost; }
  SECTION("its capacity is unknown") { member.cluster.known = false; }
  SECTION("its claim waits for a first value") { member.claim.known = false; }
  SECTION("members get nothing") { member.state.configuration.member_mode = MemberMode::none; }
  CHECK_FALSE(written());
  CHECK(member.works().empty());
  CHECK_FALSE(member_is_written(member.state, "none"));
}

TEST_CASE("manifest work: it is frozen while the hub has not shown what its work and claim name") {
  Member member;
  member.cluster.member.quota_work.facts.quotas = {{"q", "od", "cpu", 5000}};
  CHECK_FALSE(member_is_frozen(member.state, kCluster));
  SECTION("the flavor") { member.state.flavors.by_name.erase("od"); }
  SECTION("the queue") { member.state.queues.by_name.erase("q"); }
  CHECK(member_is_frozen(member.state, kCluster));
  member.claim.winner = false;  // no claim asks for it
  CHECK_FALSE(member_is_frozen(member.state, kCluster));
}

TEST_CASE("manifest work: a queue stays at the member until it is drained there") {
  Member member;
  CHECK(member.queues() == std::set<std::string>{"q"});
  member.claim.winner = false;
  member.claim.grants.clear();
  member.state.claims.of_queue.clear();
  CHECK(member.queues().empty());
  Work& work = member.cluster.member.quota_work;
  work.present = true;
  work.facts.applied = work.facts.available = {ConditionStatus::yes, "", 0};
  work.facts.quotas = {{"q", "od", "cpu", 1}};
  CHECK(member.queues() == std::set<std::string>{"q"});
  work.facts.quotas[0].nominal = 0;
  CHECK(member.queues().empty());
  work.facts.feedback = {{"q", ConditionStatus::yes, true, {{"od", "cpu", 1}}}};
  CHECK_FALSE(unused_at_member(member.cluster, "q"));
  CHECK(member.queues() == std::set<std::string>{"q"});
  work.facts.feedback.clear();
  work.facts.applied.status = ConditionStatus::no;
  CHECK(member.queues() == std::set<std::string>{"q"});
}

TEST_CASE("manifest work: a queue is unused where neither watch nor feedback tells of usage") {
  Cluster cluster;
  CHECK(unused_at_member(cluster, "q"));
  cluster.member.queues["q"].usage = {{"od", "cpu", 0}};
  cluster.member.quota_work.facts.feedback = {
      {"other", ConditionStatus::yes, true, {{"od", "cpu", 5}}}};
  CHECK(unused_at_member(cluster, "q"));
  cluster.member.queues["q"].usage = {{"od", "cpu", 0}, {"od", "memory", 1}};
  CHECK_FALSE(unused_at_member(cluster, "q"));
}

}  // namespace
}  // namespace fairlead::manifest_work_test
