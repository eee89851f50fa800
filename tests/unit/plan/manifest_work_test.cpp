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
  // The claim assigns 5 of a resource of another queue, which is there.
  void names(const std::string& name) {
    const std::string resource = "example.com/r10";
    state.queues.by_name[name].present = true;
    cluster.member.named[name] = {"od"};
    claim.terms->rows.push_back({name, "od", resource, resource, 5, 0, 0});
    claim.grants.push_back({claim.terms->rows.back(), 5, {}});
    state.claims.of_queue[name] = {"k"};
  }
  void forgets(const std::string& name) {
    std::erase_if(claim.terms->rows, [&](const auto& row) { return row.cluster_queue == name; });
    std::erase_if(claim.grants, [&](const auto& grant) { return grant.row.cluster_queue == name; });
    state.claims.of_queue.erase(name);
    state.queues.by_name[name].present = false;
    for (auto& [work, record] : cluster.member.quota_works)
      for (WorkQuota& quota : record.facts.quotas)
        if (quota.cluster_queue == name) quota.nominal = 0;
  }
  // The works are written, and their agent has applied them.
  void apply(const std::vector<PatchIntended>& works) {
    for (const PatchIntended& written : works) {
      Work& work = cluster.member.quota_works[written.target.name];
      work.present = true;
      work.uid = "u";
      work.facts = std::get<ManifestWorkFacts>(*written.expected);
      work.facts.applied = work.facts.available = {ConditionStatus::yes, "", work.generation};
    }
  }
  std::vector<PatchIntended> works() {
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
  const Json manifests = Json::parse(works[0].body)["spec"]["workload"]["manifests"];
  REQUIRE(manifests.size() == 2);
  CHECK(manifests[0]["spec"] == Json::parse(R"({"nodeLabels": {"type": "od"}})"));
  // No limit, no cohort; what no claim assigns in the queue keeps the hub's value.
  CHECK(manifests[1]["spec"] == Json::parse(R"({"resourceGroups": [
    {"coveredResources": ["cpu", "pods"], "flavors": [{"name": "od", "resources": [
      {"name": "cpu", "nominalQuota": "5"}, {"name": "pods", "nominalQuota": "100"}]}]}]})"));
  CHECK(std::get<ManifestWorkFacts>(*works[0].expected).quotas ==
        std::vector<WorkQuota>{{"q", "od", "cpu", 5000}, {"q", "od", "pods", 100}});
  CHECK(member.flavors() == std::set<std::string>{"od"});
}

TEST_CASE("manifest work: its agent is asked for single values, as it reports no lists") {
  Member member;
  const auto works = member.works();
  REQUIRE(works.size() == 1);
  const Json configs = Json::parse(works[0].body)["spec"]["manifestConfigs"];
  const auto of_queue = std::find_if(configs.begin(), configs.end(), [](const Json& config) {
    return config["resourceIdentifier"]["resource"] == "clusterqueues";
  });
  REQUIRE(of_queue != configs.end());
  CHECK((*of_queue)["feedbackRules"] == Json::parse(R"x([{"type": "JSONPaths", "jsonPaths": [
    {"name": "active", "path": ".status.conditions[?(@.type==\"Active\")].status"},
    {"name": "activeReason", "path": ".status.conditions[?(@.type==\"Active\")].reason"},
    {"name": "usage/od/cpu",
     "path": ".status.flavorsUsage[?(@.name==\"od\")].resources[?(@.name==\"cpu\")].total"},
    {"name": "usage/od/pods",
     "path": ".status.flavorsUsage[?(@.name==\"od\")].resources[?(@.name==\"pods\")].total"}
  ]}])x"));
}

TEST_CASE("manifest work: what does not fit one is in more, and a queue that moves is never gone") {
  Member member;
  // Ten queues of 60 pairs: eight fill a work's 500 feedback paths.
  const std::vector<ResourceGroup> groups = [] {
    ResourceGroup group{{}, {{"od", {}}}};
    for (int i = 0; i < 60; ++i) {
      group.covered_resources.push_back("example.com/r" + std::to_string(10 + i));
      group.flavors[0].resources.push_back({group.covered_resources.back(), {}, {}, {}});
    }
    return std::vector{group};
  }();
  member.claim.terms->rows.clear();
  member.claim.grants.clear();
  for (char c = 'a'; c <= 'j'; ++c) {
    const std::string name(1, c);
    member.names(name);
    member.state.queues.by_name[name].facts.groups = groups;
  }
  const auto rows = [](const PatchIntended& work) {
    std::string text = work.target.name + ":";
    const auto& quotas = std::get<ManifestWorkFacts>(*work.expected).quotas;
    for (std::size_t i = 0; i < quotas.size(); i += 60) text += quotas[i].cluster_queue;
    return text;
  };
  auto works = member.works();
  REQUIRE(works.size() == 2);
  CHECK(rows(works[0]) == "fairlead-quota:abcdefgh");
  CHECK(rows(works[1]) == "fairlead-quota-1:ij");
  CHECK(Json::parse(works[1].body)["spec"]["deleteOption"]["selectivelyOrphans"]["orphaningRules"]
            .size() == 1);
  member.apply(works);
  CHECK(member.works().empty());
  // A queue that grows moves out the last one of its work. Until that one is applied where it goes,
  // its former work keeps it.
  member.state.queues.by_name["a"].facts.groups[0].flavors.push_back(
      {"spot", groups[0].flavors[0].resources});
  member.claim.terms->rows.push_back({"a", "spot", "example.com/r10", "example.com/r10", 1, 0, 0});
  member.claim.grants.push_back({member.claim.terms->rows.back(), 1, {}});
  member.cluster.member.named["a"].insert("spot");
  works = member.works();
  REQUIRE(works.size() == 2);
  CHECK(rows(works[0]) == "fairlead-quota:aabcdefgh");
  CHECK(rows(works[1]) == "fairlead-quota-1:hij");
  member.apply({works[0]});
  CHECK(rows(member.works().at(0)) == "fairlead-quota-1:hij");
  member.apply({works[1]});
  works = member.works();
  REQUIRE(works.size() == 1);
  CHECK(rows(works[0]) == "fairlead-quota:aabcdefg");
  member.apply(works);
  CHECK(member.works().empty());
  // Room in the first work calls none back; a new queue takes it.
  for (const char* gone : {"a", "b"}) member.forgets(gone);
  member.apply(member.works());
  member.names("k");
  member.state.queues.by_name["k"].facts.groups = groups;
  works = member.works();
  REQUIRE(works.size() == 1);
  CHECK(rows(works[0]) == "fairlead-quota:cdefgk");
  // Without its last queue a work goes.
  for (const char* gone : {"h", "i", "j"}) member.forgets(gone);
  works = member.works();
  REQUIRE(works.size() == 2);
  CHECK(works[1].target.name == "fairlead-quota-1");
  CHECK(works[1].verb == Verb::remove);
}

TEST_CASE("manifest work: LocalQueues go in a second work, with their Namespaces") {
  Member member;
  member.state.queues.local[{"team", "lq"}] = {"q", {}, {}};
  member.state.queues.local[{"team", "other"}] = {"not at the member", {}, {}};
  const auto works = member.works();
  REQUIRE(works.size() == 2);
  CHECK(works[1].target.name == "fairlead-queues");
  CHECK(std::get<ManifestWorkFacts>(*works[1].expected).local_queues ==
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
  member.cluster.member.quota_works["fairlead-quota"].facts.quotas = {{"q", "od", "cpu", 5000}};
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
  Work& work = member.cluster.member.quota_works["fairlead-quota"];
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
  cluster.member.quota_works["fairlead-quota"].facts.feedback = {
      {"other", ConditionStatus::yes, true, {{"od", "cpu", 5}}}};
  CHECK(unused_at_member(cluster, "q"));
  cluster.member.queues["q"].usage = {{"od", "cpu", 0}, {"od", "memory", 1}};
  CHECK_FALSE(unused_at_member(cluster, "q"));
}

}  // namespace
}  // namespace fairlead::manifest_work_test
