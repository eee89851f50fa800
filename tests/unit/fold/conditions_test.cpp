// Active and AllClustersUsed of an AdmissionCheck. nominations_test.cpp has DispatcherReady, and
// docs/multikueue.md the reasons.
#include "engine/fold/multikueue/conditions.h"

#include <catch2/catch.hpp>

#include "engine/fold/close.h"
#include "engine/fold/multikueue/multikueue_close.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/writes/outcomes.h"

namespace fairlead::conditions_test {
namespace {

// A check of Placement kueue-system/gpu at 1000 s, whose list has no name yet.
struct Hub {
  State state;
  CheckRecord& check = state.multikueue.checks["mk"];
  AdmissionCheckFacts& facts = check.seen.facts;
  WorkerList& list = state.multikueue.lists["gpu"];

  explicit Hub(Duration settle = {}) {
    at(1000);
    state.multikueue.placements[{"kueue-system", "gpu"}] = {};
    check.ours = check.good = true;
    check.placement = "gpu";
    facts.controller_name = kPlacementController;
    facts.parameters_api_group = "cluster.open-cluster-management.io";
    facts.parameters_kind = "Placement";
    facts.parameters_name = "gpu";
    list.use = ListUse::live;
    list.windows.settle = state.configuration.multikueue.settle = settle;
  }
  void at(std::int64_t second) { state.now = LogTime{} + seconds(second); }
  Worker& decided(const std::string& cluster) {
    list.decided.insert(cluster);
    Worker& worker = list.workers["gpu-" + cluster];
    worker.cluster = cluster;
    worker.decided = worker.credential = worker.usable_name = true;
    return worker;
  }
  Worker& listed(const std::string& cluster) {
    Worker& worker = decided(cluster);
    worker.listed = true;
    list.names.push_back("gpu-" + cluster);
    return worker;
  }
  // The API server refuses a write of that object.
  void refuses(Kind kind, const std::string& name) {
    PatchIntended intent;
    intent.cluster = std::string(kHub);
    intent.target = {kind, "", name};
    note_intent(state, intent, Seq{5});
    hand_on(state, note_rejected(state, {Seq{5}, 403, "Forbidden"}, Seq{6}));
  }
  const ConditionWish& active() {
    recompute_check(state, "mk");
    return check.active;
  }
  const ConditionWish& used() {
    recompute_check(state, "mk");
    return check.used;
  }
  bool says(const std::string& words) {
    INFO(active().message);
    return check.active.message.find(words) != std::string::npos;
  }
  LogTime deadline() const {
    const auto found = state.deadlines.all().find(CheckDeadline{"mk"});
    return found == state.deadlines.all().end() ? kForever : found->second;
  }
};

TEST_CASE("conditions: parameters that name no Placement are reported by what is wrong with them") {
  Hub hub;
  hub.check.good = false;
  const auto message = [&] {
    CHECK(hub.active().status == ConditionStatus::no);
    CHECK(hub.active().reason == "BadParameters");
    return hub.active().message;
  };
  const std::string head = "AdmissionCheck mk: spec.parameters ";
  hub.facts.parameters_name.clear();
  CHECK(message() == head + "has no name");
  hub.facts.parameters_kind = "Node";
  CHECK(message() == head + "has kind \"Node\", expected Placement");
  hub.facts.parameters_api_group = "v1";
  CHECK(message() == head + "has apiGroup \"v1\", expected cluster.open-cluster-management.io");
  hub.facts.parameters_api_group = hub.facts.parameters_kind = "";
  CHECK(message() == head + "is missing, expected a Placement");
}

// The first that applies: each step removes the reason of the step before.
TEST_CASE("conditions: Active is False for the first filter that leaves no cluster") {
  Hub hub;
  MultiKueue& all = hub.state.multikueue;
  all.placements.clear();
  CHECK(hub.active().reason == "PlacementNotFound");
  all.placements[{"elsewhere", "gpu"}] = {};
  CHECK(hub.says("the one in namespace elsewhere is not used"));
  all.placements[{"kueue-system", "gpu"}] = {};
  const WorkerList list = std::move(all.lists.extract("gpu").mapped());
  CHECK(hub.active().reason == "NoClustersAvailable");
  all.lists["gpu"] = list;
  WorkerList& present = all.lists["gpu"];
  CHECK(hub.active().reason == "NoClustersAvailable");

  present.decided = {"a"};
  Worker& worker = present.workers["gpu-a"];
  worker.cluster = "a";
  worker.decided = true;
  present.foreign = "not ours";
  CHECK(hub.active().reason == "CredentialsMissing");
  CHECK(hub.says("without a credential: a"));
  worker.credential = true;
  CHECK(hub.active().reason == "MultiKueueConfigError");
  CHECK(hub.says("was not made by Fairlead"));
  present.foreign.clear();
  hub.refuses(Kind::multikueue_cluster, "gpu-a");
  CHECK(hub.active().reason == "MultiKueueConfigError");
  CHECK(hub.says("MultiKueueCluster gpu-a: Forbidden"));
  hub.state.writes.by_key.clear();
  CHECK(hub.active().reason == "NameTaken");
  worker.usable_name = true;
  present.running["gpu-a"] = {};
  CHECK(hub.active().reason == "WaitingForRunningCopies");
  present.running.clear();
  present.names = {"gpu-a"};
  CHECK(hub.active() == ConditionWish{ConditionStatus::yes, "Active",
                                      "MultiKueueConfig and MultiKueueCluster generated"});
}

TEST_CASE("conditions: Secrets that cannot be read are named where a credential is missed") {
  Hub hub;
  hub.decided("a").credential = false;
  hub.state.multikueue.unreadable = {Kind::secret};
  CHECK(hub.says("Secrets in namespace kueue-system cannot be read; without a credential: a"));
}

TEST_CASE("conditions: Active becomes False after settle, and then changes its reason at once") {
  Hub hub(seconds(2));
  hub.listed("a");
  REQUIRE(hub.active().status == ConditionStatus::yes);
  hub.list.workers["gpu-a"].credential = false;
  CHECK(hub.active().status == ConditionStatus::yes);
  CHECK(hub.deadline() == LogTime{} + seconds(1002));
  SECTION("it was so for a moment") {
    hub.at(1001);
    hub.list.workers["gpu-a"].credential = true;
    CHECK(hub.active().status == ConditionStatus::yes);
    CHECK(hub.deadline() == kForever);
    hub.list.workers["gpu-a"].credential = false;  // counts anew
    CHECK(hub.active().status == ConditionStatus::yes);
    CHECK(hub.deadline() == LogTime{} + seconds(1003));
  }
  SECTION("it lasted") {
    hub.at(1002);
    CHECK(hub.active().reason == "CredentialsMissing");
    hub.list.decided.clear();
    CHECK(hub.active().reason == "NoClustersAvailable");
    hub.decided("a");
    CHECK(hub.active().status == ConditionStatus::yes);
  }
}

TEST_CASE("conditions: what a check has from before this log stays until another is known") {
  Hub hub(seconds(2));
  SECTION("True while False has not lasted") {
    hub.facts.active = {ConditionStatus::yes, "Active", 1};
    CHECK(hub.active() == ConditionWish{ConditionStatus::yes, "Active", "Active"});
    hub.at(1002);
    CHECK(hub.active().reason == "NoClustersAvailable");
  }
  SECTION("False needs no time to be False again") {
    hub.facts.active = {ConditionStatus::no, "CredentialsMissing", 1};
    CHECK(hub.active().reason == "NoClustersAvailable");
  }
  SECTION("True where there is a cluster and no config yet") {
    hub.decided("a");
    CHECK(hub.active() == ConditionWish{});
    hub.facts.active = {ConditionStatus::yes, "Active", 1};
    CHECK(hub.active() == ConditionWish{ConditionStatus::yes, "Active", "Active"});
  }
}

TEST_CASE("conditions: remarks follow the message") {
  Hub hub;
  hub.listed("a");
  hub.facts.settings = {{"settle", "soon"}};
  hub.refuses(Kind::multikueue_config, "gpu");
  hub.state.multikueue.unreadable = {Kind::workload};
  hub.state.multikueue.followers = {"q"};
  hub.state.queues.by_name["q"].facts.admission_checks = {"mk"};
  hub.state.queues.by_name["q"].workers.malformed = "no percentage";
  CHECK(hub.active().status == ConditionStatus::yes);
  CHECK(hub.says("generated; annotation fairlead.io/multikueue.settle: \"soon\" is ignored"));
  CHECK(hub.says("; MultiKueueConfig gpu: Forbidden"));
  CHECK(hub.says("; ClusterQueue q: no percentage"));
  CHECK(hub.says("; workloads cannot be read"));
  hub.state.queues.by_name["q"].facts.admission_checks = {"another"};
  CHECK_FALSE(hub.says("ClusterQueue q"));
}

TEST_CASE("conditions: AllClustersUsed names what is left out, and the first reason that applies") {
  Hub hub;
  hub.listed("a");
  CHECK(hub.used().status == ConditionStatus::yes);
  hub.state.multikueue.crds["multikueueconfigs.kueue.x-k8s.io"].facts.clusters_max = 1;
  hub.decided("e");
  CHECK(hub.used().reason == "TooManyClusters");
  CHECK(hub.used().message ==
        "1 of 2 clusters of Placement kueue-system/gpu used, left out: e (no place left)");
  hub.decided("d").left_out = LeftOut::name_invalid;
  CHECK(hub.used().reason == "NameInvalid");
  hub.decided("c").left_out = LeftOut::name_taken;
  CHECK(hub.used().reason == "NameTaken");
  hub.decided("b").left_out = LeftOut::credentials_missing;
  CHECK(hub.used().reason == "CredentialsMissing");
  CHECK(hub.used().message ==
        "1 of 5 clusters of Placement kueue-system/gpu used, left out: b (no credential), "
        "c (MultiKueueCluster gpu-c has another owner), "
        "d (MultiKueueCluster gpu-d would not be a valid name), e (no place left)");
  hub.list.workers["gpu-b"].decided = false;  // the Placement does not select it any more
  CHECK(hub.used().reason == "NameTaken");
}

TEST_CASE("conditions: AllClustersUsed changes when the new one has lasted for settle") {
  Hub hub(seconds(2));
  hub.listed("a");
  REQUIRE(hub.used().status == ConditionStatus::yes);
  hub.facts.all_clusters_used = {ConditionStatus::yes, "AllClustersUsed", 1};  // is written
  hub.decided("b").left_out = LeftOut::credentials_missing;
  CHECK(hub.used().status == ConditionStatus::yes);
  CHECK(hub.deadline() == LogTime{} + seconds(1002));
  hub.at(1001);
  hub.decided("c").left_out = LeftOut::credentials_missing;  // other words, the same reason
  CHECK(hub.used().status == ConditionStatus::yes);
  CHECK(hub.deadline() == LogTime{} + seconds(1002));
  hub.at(1002);
  CHECK(hub.used().reason == "CredentialsMissing");
  hub.at(1010);
  hub.decided("d").left_out = LeftOut::credentials_missing;
  CHECK(hub.used().message.find("d (no credential)") == std::string::npos);
  CHECK(hub.deadline() == LogTime{} + seconds(1012));
  hub.at(1012);
  CHECK(hub.used().message.find("d (no credential)") != std::string::npos);
}

TEST_CASE("conditions: an AllClustersUsed that another writer removed is written at once") {
  Hub hub(seconds(2));
  hub.listed("a");
  REQUIRE(hub.used().status == ConditionStatus::yes);
  hub.decided("b").left_out = LeftOut::credentials_missing;
  CHECK(hub.used().reason == "CredentialsMissing");
}

TEST_CASE("conditions: AllClustersUsed exists with a config") {
  Hub hub;
  hub.decided("a");
  CHECK(hub.used() == ConditionWish{});
  hub.list.names = {"gpu-a"};
  CHECK(hub.used().status == ConditionStatus::yes);
  hub.list.names.clear();
  CHECK(hub.used() == ConditionWish{});
}

TEST_CASE("conditions: the last Active of a check that is deleted is False, before its config") {
  Hub hub;
  hub.listed("a");
  hub.check.ours = false;
  hub.facts.deleting = true;
  hub.facts.active = {ConditionStatus::yes, "Active", 1};
  CHECK(left_placement(hub.check) == "gpu");
  CHECK(hub.active() == ConditionWish{});  // its config still exists
  hub.list.dissolve = true;
  CHECK(hub.active() == ConditionWish{ConditionStatus::no, "NoClustersAvailable",
                                      "AdmissionCheck mk is being deleted, and MultiKueueConfig "
                                      "gpu with it"});
  CHECK(hub.check.used == ConditionWish{});
  hub.facts.active = {ConditionStatus::no, "NoClustersAvailable", 1};
  CHECK(hub.active() == ConditionWish{});  // it has been written
  hub.facts.all_clusters_used = {ConditionStatus::yes, "AllClustersUsed", 1};
  CHECK(hub.active().status == ConditionStatus::no);  // the same write removes the other one
}

TEST_CASE("conditions: the list that a check leaves is that of its last good parameters") {
  Hub hub;
  CHECK(left_placement(hub.check).empty());
  hub.facts.deleting = true;
  CHECK(leaving_checks_of(hub.state, "gpu") == std::vector<const CheckRecord*>{&hub.check});
  CHECK(leaving_checks_of(hub.state, "other").empty());
  hub.check.placement.clear();  // first observed while it was being deleted
  CHECK(left_placement(hub.check) == "gpu");
  hub.check.good = false;
  CHECK(left_placement(hub.check).empty());
  hub.check.good = true;
  hub.facts.controller_name = kMultiKueueController;
  CHECK(left_placement(hub.check).empty());
}

}  // namespace
}  // namespace fairlead::conditions_test
