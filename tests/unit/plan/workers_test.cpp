// MultiKueueClusters and the MultiKueueConfig that lists them: engine/plan/multikueue/workers.cpp,
// declared in multikueue.h. Why: docs/decisions/0027-ownership-on-the-multikueue-path.md.
#include <catch2/catch.hpp>

#include "engine/fold/close.h"
#include "engine/fold/multikueue/credentials.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/writes/outcomes.h"
#include "engine/plan/multikueue/multikueue.h"

namespace fairlead::workers_test {
namespace {

using Names = std::vector<std::string>;
const std::string kSecret = "kueue-admin-a-kubeconfig";

// A list of Placement gpu that should become [gpu-a], by events 5 and 6.
struct Hub {
  State state;
  MultiKueue& all = state.multikueue;
  WorkerList& list = all.lists["gpu"];
  Worker& worker = list.workers["gpu-a"];
  std::vector<PatchIntended> proposals;

  Hub() {
    list.use = ListUse::live;
    list.wish = Names{"gpu-a"};
    list.rule = "growth";
    list.causes = {Seq{6}, Seq{5}};
    worker.cluster = "a";
    worker.decided = worker.selected = worker.usable_name = true;
    worker.causes = {Seq{5}};
    all.secrets[{"kueue-system", kSecret}].facts.keys = {"kubeconfig"};
    all.secrets[{"kueue-system", kSecret}].seq = Seq{6};
    refresh_credential(state, "a", Seq{6});
  }
  // The MultiKueueCluster as we made it.
  Observed<MultiKueueClusterFacts>& made(const std::string& name, const std::string& cluster) {
    auto& object = all.clusters[name];
    object.uid = "u";
    object.version = "v1beta2";
    object.resource_version = "7";
    object.seq = Seq{8};
    object.facts.mark = worker_mark(state.configuration, "gpu", cluster);
    object.facts.secret = "kueue-admin-" + cluster + "-kubeconfig";
    return object;
  }
  Observed<MultiKueueConfigFacts>& has_config(Names names) {
    auto& config = all.configs["gpu"];
    config.uid = "c";
    config.version = "v1beta2";
    config.resource_version = "9";
    config.facts.mark = config_mark("gpu");
    config.facts.clusters = list.names = std::move(names);
    return config;
  }
  const std::vector<PatchIntended>& workers() {
    proposals.clear();
    emit_workers(state, "gpu", proposals);
    return proposals;
  }
  const std::vector<PatchIntended>& config() {
    proposals.clear();
    emit_worker_list(state, "gpu", proposals);
    return proposals;
  }
  // The names of those that are removed, of all that there are.
  Names removed() {
    proposals.clear();
    std::set<std::string> names;
    for (const auto& [name, object] : all.clusters) names.insert(name);
    emit_worker_removals(state, names, proposals);
    Names out;
    for (const PatchIntended& one : proposals) {
      CHECK(one.verb == Verb::remove);
      CHECK(one.target.kind == Kind::multikueue_cluster);
      out.push_back(one.target.name);
    }
    return out;
  }
};

TEST_CASE("workers: a name that should be in the list gets a MultiKueueCluster with our mark") {
  Hub hub;
  REQUIRE(hub.workers().size() == 1);
  CHECK(hub.proposals[0].rank == Rank::worker);
  const PatchIntended& intent = hub.proposals[0];
  CHECK(intent.verb == Verb::apply);
  CHECK(Json::parse(intent.body) == Json::parse(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueCluster",
    "metadata": {"name": "gpu-a", "labels": {"app.kubernetes.io/managed-by": "fairlead"},
      "annotations": {"fairlead.io/owner": "placement/gpu"}},
    "spec": {"clusterSource": {"kubeConfig":
      {"location": "kueue-admin-a-kubeconfig", "locationType": "Secret"}}}})"));
  CHECK(intent.reason.rule == "multikueue/cluster");
  CHECK(intent.reason.text == "cluster a: no MultiKueueCluster -> Secret kueue-admin-a-kubeconfig");
  CHECK(intent.reason.because == std::vector<Seq>{Seq{5}, Seq{6}});
}

TEST_CASE("workers: the source is a field of the spec itself in Kueue's older version") {
  Hub hub;
  hub.state.kueue_versions = {"v1beta1"};
  REQUIRE(hub.workers().size() == 1);
  const Json body = Json::parse(hub.proposals[0].body);
  CHECK(body["apiVersion"] == "kueue.x-k8s.io/v1beta1");
  CHECK(body["spec"]["kubeConfig"]["location"] == kSecret);
}

TEST_CASE("workers: one that is as wanted is not written, another source or mark is") {
  Hub hub;
  auto& object = hub.made("gpu-a", "a");
  object.facts.active = {ConditionStatus::yes, "Active", 1};
  CHECK(hub.workers().empty());
  SECTION("another source") { object.facts.secret = "by-hand"; }
  SECTION("no mark, of an object that is taken over") { object.facts.mark = {}; }
  REQUIRE(hub.workers().size() == 1);
  const PatchIntended& intent = hub.proposals[0];
  CHECK(intent.uid == "u");
  CHECK(intent.resource_version == "7");
  CHECK(intent.force);
  CHECK(std::get<MultiKueueClusterFacts>(*intent.expected).active == object.facts.active);
  object.facts.deleting = true;
  CHECK(hub.workers().empty());
}

TEST_CASE("workers: a ClusterProfile is named instead of a Secret") {
  Hub hub;
  auto& profile = hub.all.profiles[{"kueue-system", "p"}];
  profile.facts = {"a", true, {"gcp"}};
  hub.state.clusters["a"].presence.profiles = {{"kueue-system", "p"}};
  refresh_credential(hub.state, "a", Seq{7});
  REQUIRE(hub.workers().size() == 1);
  CHECK(Json::parse(hub.proposals[0].body)["spec"] ==
        Json::parse(R"({"clusterSource": {"clusterProfileRef": {"name": "p"}}})"));
}

TEST_CASE("workers: what no MultiKueueCluster is made for") {
  Hub hub;
  REQUIRE(hub.workers().size() == 1);
  SECTION("a list that is left as it is") { hub.list.use = ListUse::kept; }
  SECTION("a list that ends") { hub.list.dissolve = true; }
  SECTION("a list whose config is another owner's") { hub.list.foreign = "not ours"; }
  SECTION("a name that is taken") { hub.worker.usable_name = false; }
  SECTION("a name of no cluster") { hub.worker.cluster.clear(); }
  SECTION("a name of another naming profile") {
    hub.state.configuration.multikueue.profile = NamingProfile::cluster;
  }
  SECTION("a cluster without a credential") {
    hub.all.secrets.clear();
    hub.all.credentials.clear();
    refresh_credential(hub.state, "a", Seq{7});
  }
  SECTION("a name that another writer added to the list") {
    hub.list.wish.reset();
    hub.list.names = {"gpu-a"};
    hub.worker.listed = true;
    hub.worker.selected = false;
  }
  SECTION("a name of which the write is not answered") {
    PatchIntended intent = hub.proposals[0];
    note_intent(hub.state, intent, Seq{9});
  }
  CHECK(hub.workers().empty());
}

TEST_CASE("workers: a leaver that we made keeps its MultiKueueCluster as long as it is listed") {
  Hub hub;
  hub.list.wish.reset();
  hub.list.names = {"gpu-a"};
  hub.worker.listed = true;
  hub.worker.selected = false;
  hub.all.sources["gpu-a"] = {"", kSecret};  // it was removed by hand
  CHECK(hub.workers().size() == 1);
}

TEST_CASE("workers: a config names what exists, in the order of the wish") {
  Hub hub;
  CHECK(hub.config().empty());  // its MultiKueueCluster is not there
  hub.made("gpu-a", "a");
  hub.made("gpu-b", "b");
  hub.list.workers["gpu-b"].cluster = "b";
  hub.list.wish = Names{"gpu-b", "gpu-a"};
  REQUIRE(hub.config().size() == 1);
  CHECK(hub.proposals[0].rank == Rank::worker_list);
  const PatchIntended& intent = hub.proposals[0];
  CHECK(Json::parse(intent.body) == Json::parse(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "MultiKueueConfig",
    "metadata": {"name": "gpu", "labels": {"app.kubernetes.io/managed-by": "fairlead"},
      "annotations": {"fairlead.io/owner": "placement/gpu"}},
    "spec": {"clusters": ["gpu-b", "gpu-a"]}})"));
  CHECK(intent.reason.rule == "multikueue/growth");
  CHECK(intent.reason.text == "Placement kueue-system/gpu: [] -> [gpu-b, gpu-a]");
  CHECK(intent.reason.because == std::vector<Seq>{Seq{5}, Seq{6}});
}

TEST_CASE("workers: a config waits for the MultiKueueClusters of its new names") {
  Hub hub;
  hub.made("gpu-a", "a");
  hub.list.wish = Names{"gpu-a", "gpu-b"};
  CHECK(hub.config().empty());
  SECTION("one of another owner is none") {
    hub.made("gpu-b", "b").facts.mark = {};
    CHECK(hub.config().empty());
  }
  SECTION("one whose write was refused is left out") {
    PatchIntended intent;
    intent.cluster = std::string(kHub);
    intent.target = {Kind::multikueue_cluster, "", "gpu-b"};
    note_intent(hub.state, intent, Seq{9});
    CHECK(hub.config().empty());
    hand_on(hub.state, note_rejected(hub.state, {Seq{9}, 403, "Forbidden"}, Seq{10}));
    REQUIRE(hub.config().size() == 1);
    CHECK(std::get<MultiKueueConfigFacts>(*hub.proposals[0].expected).clusters == Names{"gpu-a"});
  }
  SECTION("a name that is in the list is not waited for") {
    hub.has_config({"gpu-b"});
    CHECK(hub.config().size() == 1);
  }
}

TEST_CASE("workers: a config that is there is changed, and only its names") {
  Hub hub;
  hub.made("gpu-a", "a");
  auto& config = hub.has_config({"gpu-b"});
  config.facts.quota_management = "Manual";
  REQUIRE(hub.config().size() == 1);
  const PatchIntended& intent = hub.proposals[0];
  CHECK(intent.uid == "c");
  CHECK(intent.resource_version == "9");
  CHECK(intent.force);
  CHECK(std::get<MultiKueueConfigFacts>(*intent.expected).quota_management == "Manual");
  CHECK_FALSE(Json::parse(intent.body)["spec"].contains("quotaManagement"));
  config.facts.clusters = {"gpu-a"};
  CHECK(hub.config().empty());
  config.facts.mark = {};  // it is adopted: only the mark is missing
  CHECK(hub.config().size() == 1);
  config.facts.deleting = true;
  CHECK(hub.config().empty());
  config.facts.deleting = false;
  hub.list.wish.reset();
  CHECK(hub.config().empty());
}

TEST_CASE("workers: a config is deleted after Active of its checks is not True") {
  Hub hub;
  auto& config = hub.has_config({"gpu-a"});
  hub.list.dissolve = true;
  hub.list.rule = "dissolve";
  CheckRecord& check = hub.all.checks["mk"];
  check.ours = true;
  check.placement = "gpu";
  check.seen.facts.controller_name = kPlacementController;
  check.seen.facts.active = {ConditionStatus::yes, "Active", 1};
  CHECK(hub.config().empty());
  check.ours = false;
  check.seen.facts.deleting = true;  // the last condition of a check that goes is waited for, too
  CHECK(hub.config().empty());
  check.seen.facts.active.status = ConditionStatus::no;
  REQUIRE(hub.config().size() == 1);
  CHECK(hub.proposals[0].rank == Rank::release);
  CHECK(hub.proposals[0].verb == Verb::remove);
  CHECK(hub.proposals[0].uid == "c");
  CHECK(hub.proposals[0].reason.rule == "multikueue/dissolve");
  SECTION("an unmarked one is not ours to delete") { config.facts.mark = {}; }
  SECTION("one that is being deleted goes by itself") { config.facts.deleting = true; }
  SECTION("none") { hub.all.configs.clear(); }
  CHECK(hub.config().empty());
}

TEST_CASE("workers: a MultiKueueCluster that no list needs is removed") {
  Hub hub;
  hub.made("gpu-a", "a");
  hub.made("gpu-b", "b");
  hub.made("gpu-c", "c");
  hub.has_config({"gpu-b"});
  CHECK(hub.removed() == Names{"gpu-c"});  // gpu-a is wished, gpu-b listed
  CHECK(hub.proposals[0].rank == Rank::release);
  CHECK(hub.proposals[0].reason.because == std::vector<Seq>{Seq{8}});
  SECTION("what a config of another owner names is needed") {
    hub.all.configs["by-hand"].facts.clusters = {"gpu-c"};
    CHECK(hub.removed().empty());
  }
  SECTION("only what is marked") {
    hub.all.clusters["gpu-c"].facts.mark = {};
    CHECK(hub.removed().empty());
  }
  SECTION("once") {
    hub.all.clusters["gpu-c"].facts.deleting = true;
    CHECK(hub.removed().empty());
  }
  SECTION("when no list wishes it any more") {
    hub.list.wish.reset();
    CHECK(hub.removed() == Names{"gpu-a", "gpu-c"});
  }
}

}  // namespace
}  // namespace fairlead::workers_test
