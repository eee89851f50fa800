// The statuses of AdmissionChecks and Workloads: engine/plan/multikueue/statuses.cpp, declared in
// multikueue.h. docs/multikueue.md has the rules.
#include <catch2/catch.hpp>

#include "engine/fold/claims/claim_status_observation.h"
#include "engine/fold/close.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/writes/outcomes.h"
#include "engine/plan/multikueue/multikueue.h"
#include "tests/support/edit_workload.h"

namespace fairlead::statuses_test {
namespace {

const ConditionWish kActive{ConditionStatus::yes, "Active", "generated"};
const NamespacedName kId{"team", "w"};

// AdmissionCheck mk of Placement gpu, which is ours, and Workload team/w that waits for it.
struct Hub {
  State state;
  CheckRecord& check = state.multikueue.checks["mk"];
  AdmissionCheckFacts& facts = check.seen.facts;
  WorkloadRecord& record = state.multikueue.workloads[kId];
  std::vector<PatchIntended> proposals;
  Seq last{100};

  Hub() {
    at(1000);
    check.ours = true;
    check.placement = "gpu";
    check.seen.uid = "c";
    check.seen.version = "v1beta2";
    check.seen.resource_version = "7";
    check.seen.generation = 3;
    check.seen.seq = Seq{11};
    facts.controller_name = kPlacementController;
    auto seen = edit(record.seen);
    seen->uid = "w";
    seen->version = "v1beta2";
    seen->resource_version = "8";
    seen->generation = 5;
    seen->seq = Seq{12};
    seen->facts.checks = {{"mk", "Pending"}, {"other", "Pending"}};
  }
  void at(std::int64_t second) { state.now = LogTime{} + seconds(second); }
  const std::vector<PatchIntended>& of_check() {
    proposals.clear();
    emit_check(state, "mk", proposals);
    return proposals;
  }
  const std::vector<PatchIntended>& of_workload() {
    proposals.clear();
    emit_workload(state, kId, proposals);
    return proposals;
  }
  const PatchIntended& intent() const { return proposals.at(0); }
  Json status() const { return Json::parse(intent().body)["status"]; }
  // The API server accepts the write that was proposed, and the watch reports it.
  void writes() {
    const PatchIntended sent = intent();
    note_intent(state, sent, last = next(last));
    hand_on(state, note_accepted(state, {last, 200, sent.uid, ""}));
    if (sent.target.kind == Kind::admission_check)
      facts = std::get<AdmissionCheckFacts>(*sent.expected);
    else
      edit(record.seen)->facts = std::get<WorkloadFacts>(*sent.expected);
  }
};

TEST_CASE("statuses: the conditions of a check are written by force, with its generation") {
  Hub hub;
  CHECK(hub.of_check().empty());  // nothing is known to say
  hub.state.multikueue.lists["gpu"].causes = {Seq{9}};
  hub.check.active = kActive;
  hub.check.used = {ConditionStatus::no, "TooManyClusters", "one is left out"};
  REQUIRE(hub.of_check().size() == 1);
  CHECK(hub.proposals[0].rank == Rank::status);
  CHECK(hub.intent().verb == Verb::apply_status);
  CHECK(hub.intent().force);
  CHECK(Json::parse(hub.intent().body) == Json::parse(R"({
    "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "AdmissionCheck",
    "metadata": {"name": "mk", "resourceVersion": "7", "uid": "c"},
    "status": {"conditions": [
      {"type": "Active", "status": "True", "reason": "Active", "message": "generated",
       "observedGeneration": 3, "lastTransitionTime": "1970-01-01T00:16:40Z"},
      {"type": "AllClustersUsed", "status": "False", "reason": "TooManyClusters",
       "message": "one is left out",
       "observedGeneration": 3, "lastTransitionTime": "1970-01-01T00:16:40Z"}]}})"));
  CHECK(hub.intent().reason.rule == "multikueue/condition");
  CHECK(hub.intent().reason.because == std::vector<Seq>{Seq{9}, Seq{11}});
}

TEST_CASE("statuses: conditions that are as desired are not written, each difference is") {
  Hub hub;
  hub.check.active = kActive;
  hub.facts.active = {ConditionStatus::yes, "Active", 3};
  CHECK(hub.of_check().empty());
  SECTION("the status") { hub.facts.active.status = ConditionStatus::no; }
  SECTION("the reason") { hub.facts.active.reason = "Ready"; }
  SECTION("the generation") { hub.facts.active.observed_generation = 2; }
  SECTION("a condition that should not be there") {
    hub.facts.all_clusters_used = {ConditionStatus::yes, "AllClustersUsed", 3};
  }
  SECTION("one that is missing, by the event that changed what clears nominations") {
    hub.check.dispatcher = {ConditionStatus::yes, "DispatcherReady", "a policy does"};
    hub.state.multikueue.clearer_seq = Seq{40};
    REQUIRE(hub.of_check().size() == 1);
    CHECK(hub.intent().reason.because == std::vector<Seq>{Seq{11}, Seq{40}});
  }
  CHECK(hub.of_check().size() == 1);
}

TEST_CASE("statuses: another message is written, and only another status has a new time") {
  Hub hub;
  hub.check.active = kActive;
  hub.of_check();
  hub.writes();
  CHECK(hub.of_check().empty());
  hub.at(1100);
  hub.check.active.message = "generated; something is ignored";
  REQUIRE(hub.of_check().size() == 1);
  CHECK(hub.status()["conditions"][0]["lastTransitionTime"] == "1970-01-01T00:16:40Z");
  hub.check.active = {ConditionStatus::no, "NoClustersAvailable", "none"};
  REQUIRE(hub.of_check().size() == 1);
  CHECK(hub.status()["conditions"][0]["lastTransitionTime"] == "1970-01-01T00:18:20Z");
}

TEST_CASE("statuses: a message that a write without an answer may have left is written again") {
  Hub hub;
  hub.check.active = kActive;
  hub.of_check();
  hub.writes();
  hub.at(1100);
  hub.check.active.message = "generated; something is ignored";
  REQUIRE(hub.of_check().size() == 1);
  note_intent(hub.state, hub.intent(), Seq{200});
  hand_on(hub.state, note_unknown(hub.state, {Seq{200}, "timeout"}));
  const ObjectKey mk{Kind::admission_check, "", "mk"};
  const WriteKey key{std::string(kHub), mk, true};
  SECTION("it is shown at another version, and facts have no messages") {
    hand_on(hub.state, note_observed(hub.state, std::string(kHub),
                                     {mk, "v1beta2", "c", "9", 3, hub.facts, {}}));
  }
  SECTION("nothing is shown until the doubt is over") {
    hub.at(1110);
    hand_on(hub.state, reach_write_deadline(hub.state, key));
  }
  hub.check.active = kActive;
  REQUIRE(hub.of_check().size() == 1);
  CHECK(hub.status()["conditions"][0]["message"] == kActive.message);
  CHECK(hub.status()["conditions"][0]["lastTransitionTime"] == "1970-01-01T00:16:40Z");
}

TEST_CASE("statuses: what another writer changed is restored a minute after our last write") {
  Hub hub;
  hub.check.active = kActive;
  hub.of_check();
  hub.writes();
  hub.facts.active.reason = "Theirs";
  hub.state.now = hub.state.now + kStatusRestoreInterval;
  hub.state.now.ns -= 1;
  CHECK(hub.of_check().empty());
  SECTION("the minute is over") { hub.state.now.ns += 1; }
  SECTION("something else is desired now") {
    hub.check.active = {ConditionStatus::no, "NoClustersAvailable", "none"};
  }
  CHECK(hub.of_check().size() == 1);
}

TEST_CASE("statuses: the add-on's finalizer goes when nothing of the add-on is left") {
  Hub hub;
  hub.state.configuration.multikueue.adopt_ocm_addon = true;
  hub.check.ours = false;
  hub.facts.deleting = true;
  hub.facts.finalizers = {"first", std::string(kAddonFinalizer), "last"};
  SECTION("and the others stay") {
    REQUIRE(hub.of_check().size() == 1);
    CHECK(hub.proposals[0].rank == Rank::release);
    CHECK(hub.intent().verb == Verb::patch);
    CHECK(Json::parse(hub.intent().body) == Json::parse(R"({"metadata":
      {"finalizers": ["first", "last"], "resourceVersion": "7"}})"));
  }
  SECTION("the last one leaves no list") {
    hub.facts.finalizers = {std::string(kAddonFinalizer)};
    REQUIRE(hub.of_check().size() == 1);
    CHECK(Json::parse(hub.intent().body)["metadata"]["finalizers"].is_null());
  }
  SECTION("not before the config") {
    hub.state.multikueue.configs["gpu"].facts.mark = config_mark("gpu");
    CHECK(hub.of_check().empty());
    CheckRecord& other = hub.state.multikueue.checks["other"];
    other.ours = true;
    other.placement = "gpu";  // the config is for that one now
    CHECK(hub.of_check().size() == 1);
  }
  SECTION("not where the add-on's objects are not adopted") {
    hub.state.configuration.multikueue.adopt_ocm_addon = false;
    CHECK(hub.of_check().empty());
  }
  SECTION("not while the check is there") {
    hub.facts.deleting = false;
    CHECK(hub.of_check().empty());
  }
}

TEST_CASE("statuses: our checks on a Workload are Ready, and no other check is written") {
  Hub hub;
  REQUIRE(hub.of_workload().size() == 1);
  CHECK(hub.proposals[0].rank == Rank::status);
  CHECK(hub.intent().verb == Verb::apply_status);
  CHECK(hub.intent().force);
  CHECK(hub.status() == Json::parse(R"({"admissionChecks": [{"name": "mk", "state": "Ready"}]})"));
  CHECK(hub.intent().reason.rule == "multikueue/ready");
  CHECK(hub.intent().reason.text == "Kueue dispatches only when every check is Ready: mk Pending");
  CHECK(hub.intent().reason.because == std::vector<Seq>{Seq{11}, Seq{12}});
  hub.writes();
  CHECK(hub.record.seen->facts.checks ==
        std::vector<WorkloadCheck>{{"mk", "Ready"}, {"other", "Pending"}});
  CHECK(hub.of_workload().empty());
  edit(hub.record.seen)->facts.checks[0].state = "Pending";  // after an eviction
  CHECK(hub.of_workload().size() == 1);
}

TEST_CASE("statuses: which Workloads get none") {
  Hub hub;
  SECTION("finished") { edit(hub.record.seen)->facts.finished = true; }
  SECTION("being deleted") { edit(hub.record.seen)->facts.deleting = true; }
  SECTION("with another controller's checks") { hub.facts.controller_name = "other"; }
  SECTION("of which the last write is not answered") {
    hub.of_workload();
    const PatchIntended sent = hub.intent();
    note_intent(hub.state, sent, Seq{50});
  }
  SECTION("gone") { hub.state.multikueue.workloads.clear(); }
  SECTION("whose fleet claims are not reserved for it yet") {
    hub.state.configuration.dra.fleet_claims = true;
    edit(hub.record.seen)->facts.pod_sets.emplace_back().fleet.entries = {{"a", "site", ""}};
    hub.record.edit_devices().reservation.emplace();
  }
  CHECK(hub.of_workload().empty());
}

TEST_CASE("statuses: a nomination is written with the checks, and stays in what is written later") {
  Hub hub;
  edit(hub.record.seen)->facts.checks[0].state = "Ready";
  hub.record.decision.edit().nomination = {"gpu-a", "gpu-b"};
  hub.state.multikueue.clearer_seq = Seq{40};
  CHECK(hub.of_workload().empty());  // it is not ours to nominate
  hub.record.decision.edit().nominates = true;
  REQUIRE(hub.of_workload().size() == 1);
  CHECK(hub.status() == Json::parse(R"({"admissionChecks": [{"name": "mk", "state": "Ready"}],
    "nominatedClusterNames": ["gpu-a", "gpu-b"]})"));
  CHECK(hub.intent().reason.rule == "multikueue/nominate");
  CHECK(hub.intent().reason.because == std::vector<Seq>{Seq{11}, Seq{12}, Seq{40}});
  hub.writes();
  CHECK(hub.of_workload().empty());
  hub.record.decision.edit().nominates = false;
  edit(hub.record.seen)->facts.checks[0].state = "Pending";
  REQUIRE(hub.of_workload().size() == 1);
  CHECK(hub.status()["nominatedClusterNames"] == Json({"gpu-a", "gpu-b"}));
}

TEST_CASE("statuses: DevicesReserved names the worker, and the events of the reservation") {
  Hub hub;
  edit(hub.record.seen)->facts.checks[0].state = "Ready";
  hub.record.edit_devices().verdict = DeviceVerdict::reserved;
  hub.record.edit_devices().reservation.emplace().worker = "gpu-a";
  hub.record.edit_devices().reservation->causes = {Seq{30}};
  REQUIRE(hub.of_workload().size() == 1);
  CHECK(hub.status()["conditions"] == Json::parse(R"([
    {"type": "fairlead.io/DevicesReserved", "status": "True", "reason": "Reserved",
     "message": "gpu-a", "observedGeneration": 5,
     "lastTransitionTime": "1970-01-01T00:16:40Z"}])"));
  CHECK(hub.intent().reason.text == "DevicesReserved True Reserved gpu-a");
  CHECK(hub.intent().reason.because == std::vector<Seq>{Seq{11}, Seq{12}, Seq{30}});
  hub.writes();
  CHECK(hub.of_workload().empty());
}

TEST_CASE("statuses: the message of DevicesReserved False is of the moment of its reason") {
  Hub hub;
  edit(hub.record.seen)->facts.checks[0].state = "Ready";
  hub.record.edit_devices().verdict = DeviceVerdict::claim_not_found;
  hub.record.edit_devices().about = "entry a: FleetResourceClaim site";
  hub.of_workload();
  hub.writes();
  hub.record.edit_devices().about = "entry b: FleetResourceClaim other";
  CHECK(hub.of_workload().empty());  // another message alone is not written
  edit(hub.record.seen)->facts.checks[0].state = "Pending";
  REQUIRE(hub.of_workload().size() == 1);
  CHECK(hub.status()["conditions"][0]["message"] == "entry a: FleetResourceClaim site");
  hub.record.edit_devices().verdict = DeviceVerdict::class_not_found;
  hub.record.edit_devices().about = "class licences";
  REQUIRE(hub.of_workload().size() == 1);
  CHECK(hub.status()["conditions"][0]["message"] == "class licences");
}

TEST_CASE("statuses: a MultiKueueCluster that two lists need is written once") {
  Hub hub;
  hub.state.configuration.multikueue.profile = NamingProfile::cluster;
  auto& secret = hub.state.multikueue.secrets[{"kueue-system", "multikueue-a"}];
  secret.facts.keys = {"kubeconfig"};
  hub.state.multikueue.credentials["a"].now = {"", "multikueue-a"};
  for (const char* placement : {"gpu", "more"}) {
    WorkerList& list = hub.state.multikueue.lists[placement];
    list.use = ListUse::live;
    list.wish = std::vector<std::string>{"a"};
    Worker& worker = list.workers["a"];
    worker.cluster = "a";
    worker.usable_name = worker.selected = true;
  }
  DirtySet dirty;
  dirty.placements = {"gpu", "more"};
  const std::vector<PatchIntended> proposals = emit_multikueue(hub.state, dirty);
  REQUIRE(proposals.size() == 1);
  CHECK(proposals[0].target == ObjectKey{Kind::multikueue_cluster, "", "a"});
}

}  // namespace
}  // namespace fairlead::statuses_test
