// The use of a worker list, its windows and its end: engine/fold/multikueue/multikueue_close.cpp,
// and docs/decisions/0026-a-worker-list-moves-late.md. membership_test.cpp has the rule itself.
#include "engine/fold/multikueue/multikueue_close.h"

#include <catch2/catch.hpp>

#include "engine/fold/multikueue/names.h"
#include "engine/fold/multikueue/observe_multikueue.h"
#include "engine/fold/objects.h"

namespace fairlead::multikueue_close_test {
namespace {

using Names = std::vector<std::string>;

// Check mk of Placement gpu at 1000 s, with a Secret for each cluster.
struct Hub {
  State state;
  MultiKueue& all = state.multikueue;
  DirtySet dirty;
  Seq last{10};

  Hub() {
    at(1000);
    MultiKueueSettings& set = state.configuration.multikueue;
    set.settle = seconds(2);
    set.move_window = seconds(120);
    set.drain_timeout = seconds(3600);
    set.empty_grace = set.credential_grace = seconds(600);
    check("mk", "gpu");
    sees({Kind::placement, "kueue-system", "gpu"}, PlacementFacts{});
  }
  void at(std::int64_t second) { state.now = LogTime{} + seconds(second); }
  Seq sees(const ObjectKey& key, std::optional<Facts> facts, const std::string& uid = "u") {
    ObjectObserved seen;
    seen.key = key;
    seen.uid = uid;
    if (facts) seen.facts = *std::move(facts);
    fold_object(state, std::string(kHub), key, facts ? &seen : nullptr, last = next(last));
    return last;
  }
  static AdmissionCheckFacts facts_of(const std::string& placement) {
    AdmissionCheckFacts facts;
    facts.controller_name = kPlacementController;
    facts.parameters_api_group = "cluster.open-cluster-management.io";
    facts.parameters_kind = "Placement";
    facts.parameters_name = placement;
    return facts;
  }
  void check(const std::string& name, const std::string& placement,
             std::map<std::string, std::string> settings = {}) {
    AdmissionCheckFacts facts = facts_of(placement);
    facts.settings = std::move(settings);
    sees({Kind::admission_check, "", name}, facts);
  }
  void no_check(const std::string& name) { sees({Kind::admission_check, "", name}, std::nullopt); }
  void decides(Names clusters) {
    sees({Kind::placement_decision, "kueue-system", "gpu-1"},
         PlacementDecisionFacts{"gpu", std::move(clusters)});
  }
  void secret(const std::string& cluster, Names keys = {"kubeconfig"}) {
    sees({Kind::secret, "kueue-system", "kueue-admin-" + cluster + "-kubeconfig"},
         SecretFacts{std::move(keys), {}});
  }
  void config(Names names, const std::string& placement = "gpu") {
    MultiKueueConfigFacts facts;
    facts.clusters = std::move(names);
    facts.mark = config_mark(placement);
    sees({Kind::multikueue_config, "", placement}, facts);
    for (const std::string& name : facts.clusters) {
      MultiKueueClusterFacts worker;
      worker.mark = config_mark(placement);
      sees({Kind::multikueue_cluster, "", name}, worker);
    }
  }
  void runs(const std::string& workload, const std::string& worker, bool finished = false) {
    WorkloadFacts facts;
    facts.checks = {{"mk", "Ready"}};
    facts.cluster_name = worker;
    facts.finished = finished;
    sees({Kind::workload, "team", workload}, facts, workload);
  }
  // Closes the moment and returns the list.
  WorkerList& closed(const std::string& placement = "gpu") {
    while (const auto due = state.deadlines.dequeue_due(state.now))
      if (const auto* list = std::get_if<ListDeadline>(&*due))
        mark_list_dirty(state.multikueue, list->placement);
    dirty = {};
    recompute_multikueue(state, dirty);
    return all.lists[placement];
  }
  LogTime deadline(const std::string& placement = "gpu") const {
    const auto found = state.deadlines.all().find(ListDeadline{placement});
    return found == state.deadlines.all().end() ? kForever : found->second;
  }
  // The list is [gpu-a], and nothing waits.
  Hub& with_a() {
    decides({"a"});
    secret("a");
    config({"gpu-a"});
    closed();
    at(1100);
    REQUIRE_FALSE(closed().wish);
    return *this;
  }
};

TEST_CASE("multikueue: a list is in use while a check of ours with good parameters names it") {
  Hub hub;
  CHECK(hub.closed().use == ListUse::live);
  AdmissionCheckFacts bad = Hub::facts_of("");
  hub.sees({Kind::admission_check, "", "mk"}, bad);
  CHECK(hub.closed().use == ListUse::kept);  // its parameters were good once
  hub.check("other", "gpu");
  CHECK(hub.closed().use == ListUse::live);
  hub.no_check("other");
  hub.no_check("mk");
  CHECK(hub.closed().use == ListUse::none);
}

TEST_CASE("multikueue: a list is kept as it is while what moves it cannot be read") {
  for (const Kind kind :
       {Kind::multikueue_cluster, Kind::placement, Kind::placement_decision, Kind::workload}) {
    Hub hub;
    hub.with_a();
    hub.all.unreadable = {kind};
    hub.decides({});
    WorkerList& list = hub.closed();
    CHECK(list.use == ListUse::kept);
    CHECK_FALSE(list.dissolve);
    hub.no_check("mk");
    hub.at(9000);
    CHECK_FALSE(hub.closed().dissolve);
  }
}

TEST_CASE("multikueue: each window is the longest of the list's checks") {
  Hub hub;
  hub.with_a().check("mk", "gpu", {{"settle", "9s"}, {"moveWindow", "1s"}});
  CHECK(hub.closed().windows.settle == seconds(9));
  CHECK(hub.closed().windows.move_window == seconds(1));
  hub.check("other", "gpu");  // counts with the configured values
  CHECK(hub.closed().windows.settle == seconds(9));
  CHECK(hub.closed().windows.move_window == seconds(120));
  hub.no_check("mk");
  hub.no_check("other");
  CHECK(hub.closed().windows.settle == seconds(2));
}

TEST_CASE("multikueue: the first names are wished for after settle") {
  Hub hub;
  hub.decides({"b", "a"});
  hub.secret("a");
  hub.secret("b");
  CHECK_FALSE(hub.closed().wish);
  CHECK(hub.deadline() == LogTime{} + seconds(1002));
  hub.at(1002);
  CHECK(hub.closed().wish == Names{"gpu-a", "gpu-b"});
  CHECK(hub.all.lists["gpu"].rule == "growth");
  CHECK(hub.dirty.placements == std::set<std::string>{"gpu"});
}

TEST_CASE("multikueue: a list that no check uses ends once nothing runs there") {
  Hub hub;
  hub.with_a();
  SECTION("at once") {
    hub.no_check("mk");
    CHECK(hub.closed().dissolve);
    CHECK(hub.all.lists["gpu"].rule == "unused");
    CHECK(hub.all.lists["gpu"].causes.back() == hub.last);
  }
  SECTION("when the Workload is finished") {
    hub.runs("w", "gpu-a");
    hub.closed();
    hub.no_check("mk");
    CHECK_FALSE(hub.closed().dissolve);
    hub.runs("w", "gpu-a", true);
    CHECK(hub.closed().dissolve);
  }
  SECTION("after drainTimeout") {
    hub.runs("w", "gpu-a");
    hub.closed();
    hub.no_check("mk");
    CHECK_FALSE(hub.closed().dissolve);
    CHECK(hub.deadline() == LogTime{} + seconds(4700));
    hub.at(4700);
    CHECK(hub.closed().dissolve);
  }
  SECTION("not if a check uses it again") {
    hub.runs("w", "gpu-a");
    hub.closed();
    hub.no_check("mk");
    hub.closed();
    hub.check("mk", "gpu");
    hub.at(4700);
    CHECK_FALSE(hub.closed().dissolve);
    CHECK_FALSE(hub.all.lists["gpu"].unused_since);
  }
}

TEST_CASE("multikueue: a list that a check leaves stays until the check's new list has names") {
  Hub hub;
  hub.with_a();
  hub.check("mk", "new");
  CHECK_FALSE(hub.closed().dissolve);
  hub.config({"new-a"}, "new");
  CHECK(hub.closed().dissolve);
}

TEST_CASE("multikueue: a list of which nothing is selected is frozen, and ends after emptyGrace") {
  Hub hub;
  hub.with_a();
  hub.decides({});
  WorkerList& list = hub.closed();
  CHECK(list.frozen_since == hub.state.now);
  CHECK_FALSE(list.dissolve);
  CHECK(hub.deadline() == LogTime{} + seconds(1220));  // the end of moveWindow, for nominations
  hub.at(1699);
  CHECK_FALSE(hub.closed().dissolve);
  SECTION("at its end") {
    hub.at(1700);
    CHECK(hub.closed().dissolve);
    CHECK(list.rule == "dissolve");
  }
  SECTION("a cluster that returns ends the wait") {
    hub.decides({"a"});
    hub.closed();
    CHECK_FALSE(list.frozen_since);
    hub.at(1700);
    CHECK_FALSE(hub.closed().dissolve);
  }
  SECTION("a change of the use does not begin it anew") {
    hub.sees({Kind::admission_check, "", "mk"}, Hub::facts_of(""));
    hub.closed();
    hub.check("mk", "gpu");
    hub.closed();
    hub.at(1700);
    CHECK(hub.closed().dissolve);
  }
}

TEST_CASE("multikueue: a Placement that is gone freezes its list") {
  Hub hub;
  hub.with_a();
  hub.sees({Kind::placement, "kueue-system", "gpu"}, std::nullopt);
  CHECK(hub.closed().frozen_since == hub.state.now);
}

TEST_CASE("multikueue: a member that lost its credential is selected until the grace is over") {
  Hub hub;
  hub.with_a();
  hub.secret("a", {});
  const auto member = [&]() -> const Worker& { return hub.closed().workers.at("gpu-a"); };
  CHECK(member().selected);
  CHECK(hub.deadline() == LogTime{} + seconds(1700));
  SECTION("it is over") {
    hub.at(1700);
    CHECK_FALSE(member().selected);
    CHECK(member().left_out == LeftOut::credentials_missing);
    CHECK(member().since == hub.state.now);
  }
  SECTION("while Secrets cannot be read none is known to be lost") {
    hub.all.unreadable = {Kind::secret};
    hub.at(9000);
    CHECK(member().selected);
  }
  SECTION("what is not in the list has no grace") {
    hub.decides({"a", "b"});
    hub.secret("b");
    REQUIRE(hub.closed().workers.at("gpu-b").selected);
    hub.secret("b", {});
    CHECK_FALSE(hub.closed().workers.at("gpu-b").selected);
  }
}

TEST_CASE("multikueue: a worker that left while a Workload ran there waits for its end") {
  Hub hub;
  hub.decides({"a", "b"});
  hub.secret("a");
  hub.secret("b");
  hub.config({"gpu-a", "gpu-b"});
  hub.runs("w", "gpu-b");
  hub.closed();
  hub.config({"gpu-a"});  // another writer took gpu-b out
  WorkerList& list = hub.closed();
  REQUIRE(list.running.contains("gpu-b"));
  CHECK(list.workers.at("gpu-b").standing == Standing::waits_copies);
  hub.at(2000);
  hub.runs("w", "gpu-b", true);
  hub.closed();
  CHECK(list.running.at("gpu-b").over_since == hub.state.now);
  CHECK(hub.deadline() == hub.state.now + kCopiesGone);
  hub.state.now = hub.state.now + kCopiesGone;
  hub.closed();
  CHECK_FALSE(list.running.contains("gpu-b"));
  CHECK(list.wish == Names{"gpu-a", "gpu-b"});
}

TEST_CASE("multikueue: what holds a worker of a list") {
  Hub hub;
  hub.with_a();
  WorkloadFacts facts;
  CHECK_FALSE(holds(hub.state, "gpu", facts));
  facts.checks = {{"mk", "Ready"}};
  CHECK(holds(hub.state, "gpu", facts));
  facts.finished = true;
  CHECK_FALSE(holds(hub.state, "gpu", facts));
  facts.finished = false;
  facts.deleting = true;
  CHECK_FALSE(holds(hub.state, "gpu", facts));
  facts.deleting = false;
  facts.checks = {{"kueues", "Ready"}};  // Kueue's own check on the config
  AdmissionCheckFacts own;
  own.controller_name = kMultiKueueController;
  own.parameters_name = "gpu";
  hub.sees({Kind::admission_check, "", "kueues"}, own);
  CHECK(holds(hub.state, "gpu", facts));
  facts.checks.clear();
  CHECK(holds(hub.state, "none", facts));  // of a list that no check uses every Workload does
}

TEST_CASE("multikueue: the bound of a list is that of the served CRD") {
  Hub hub;
  CHECK(workers_max(hub.state.multikueue) == 20);
  CustomResourceDefinitionFacts facts;
  hub.sees({Kind::custom_resource_definition, "", "multikueueconfigs.kueue.x-k8s.io"}, facts);
  CHECK(workers_max(hub.state.multikueue) == 20);
  facts.clusters_max = 10;
  hub.sees({Kind::custom_resource_definition, "", "multikueueconfigs.kueue.x-k8s.io"}, facts);
  CHECK(workers_max(hub.state.multikueue) == 10);
}

TEST_CASE("multikueue: a config is ours by both marks, or because it is the add-on's to adopt") {
  Hub hub;
  hub.config({"gpu-a"});
  CHECK(is_own_config(hub.state, "gpu"));
  auto& mark = hub.all.configs["gpu"].facts.mark;
  mark.managed = false;
  CHECK_FALSE(is_own_config(hub.state, "gpu"));
  mark = {true, ""};
  CHECK_FALSE(is_own_config(hub.state, "gpu"));
  hub.all.checks["mk"].seen.facts.finalizers = {std::string(kAddonFinalizer)};
  CHECK_FALSE(is_own_config(hub.state, "gpu"));
  hub.state.configuration.multikueue.adopt_ocm_addon = true;
  CHECK(is_own_config(hub.state, "gpu"));
  CHECK_FALSE(is_own_config(hub.state, "none"));
}

}  // namespace
}  // namespace fairlead::multikueue_close_test
