#include "engine/plan/claims/claim_release.h"

#include <catch2/catch.hpp>

#include "engine/fold/members/works.h"
#include "engine/fold/writes/outcomes.h"

namespace fairlead::claim_release_test {
namespace {

// A deleted claim of 5 cpu in queue q of a cluster with a member, of which nothing is left.
struct Hub {
  State state;
  Cluster& cluster = state.clusters["c1"];
  Queue& queue = state.queues.by_name["q"];
  Claim& claim = state.claims.by_name["k"];

  Hub() {
    state.now = LogTime{} + seconds(1000);
    state.flavors.by_name["od"] = {};
    cluster.presence.managed = ManagedClusterFacts{};
    cluster.known = true;
    queue.present = true;
    shows(0);
    claim.terms = ClaimTerms{};
    claim.terms->cluster = "c1";
    claim.terms->rows = {{"q", "od", "cpu", "cpu", 5000, 0, 0}};
    claim.grants = {{claim.terms->rows[0], 0, GrantReason::claim_deleted}};
    claim.facts.deleting = claim.known = true;
    state.claims.of_cluster["c1"] = {"k"};
    state.claims.of_queue["q"] = {"k"};
  }
  void shows(Amount cpu) {
    queue.facts.groups = {{{"cpu"}, {{"od", {{"cpu", to_quantity("cpu", cpu), {}, {}}}}}}};
  }
  // The quota work is there, as applied.
  Work& work() {
    Work& work = cluster.member.quota_works["fairlead-quota"];
    work.present = true;
    work.facts.applied = work.facts.available = {ConditionStatus::yes, "", 0};
    work.facts.quotas = {{"q", "od", "cpu", 0}};
    return work;
  }
  std::optional<ReleaseBar> bar() {
    QueueWishes wishes(state);
    return release_bar(state, claim, wishes);
  }
  std::string reason() {
    const auto found = bar();
    return found ? found->reason : "";
  }
};

TEST_CASE("claim release: with nothing left there is no bar") {
  Hub hub;
  CHECK_FALSE(hub.bar());
  hub.claim.terms.reset();  // it was never valid
  CHECK_FALSE(hub.bar());
}

TEST_CASE("claim release: the hub comes first: what it still promises, or has not answered") {
  Hub hub;
  hub.work();
  hub.shows(5000);
  hub.queue.written = {{{"od", "cpu"}, 5000}};
  hub.queue.written_groups = hub.queue.facts.groups;
  hub.queue.contributed = {{"c1", "od", "cpu", 5000}};
  REQUIRE(hub.bar());
  CHECK(hub.bar()->reason == "WaitingForHub");
  CHECK(hub.bar()->message == "ClusterQueue q still has quota of c1 in od cpu");
  hub.shows(0);
  PatchIntended intent;
  intent.cluster = kHub;
  intent.target = {Kind::cluster_queue, "", "q"};
  note_intent(hub.state, intent, Seq{5});
  CHECK(hub.bar()->message == "ClusterQueue q: its last write is not answered, or not seen yet");
}

TEST_CASE("claim release: then the member's work, for the first thing in its way") {
  Hub hub;
  Work& work = hub.work();
  SECTION("it exists") {
    hub.cluster.member.queues["q"] = {};  // watched, and unused
    CHECK(hub.reason() == "WaitingForMember");
    CHECK(hub.bar()->message == "ManifestWork c1/fairlead-quota is not deleted yet");
  }
  SECTION("it is not applied") {
    work.facts.applied.status = ConditionStatus::no;
    CHECK(hub.bar()->message.starts_with(
        "ManifestWork c1/fairlead-quota is not reported as applied and available"));
  }
  SECTION("workloads run") {
    hub.cluster.member.queues["q"].usage = {{"od", "cpu", 1}};
    CHECK(hub.reason() == "QuotaInUse");
    CHECK(hub.bar()->message.starts_with("workloads run at the member on ClusterQueue q"));
  }
  SECTION("it is being deleted") {
    work.facts.deleting = true;
    work.facts.finalizers = {"x/y", "z"};
    hub.cluster.member.queues["q"] = {};
    CHECK(hub.reason() == "WaitingForWork");
    CHECK(hub.bar()->message ==
          "ManifestWork c1/fairlead-quota is being deleted and waits for its finalizers: x/y, z; "
          "the member still has ClusterQueue q");
  }
  SECTION("the member cannot be written") {
    hub.cluster.liveness_at_close = Liveness::lost;
    CHECK(hub.reason() == "WaitingForMember");
    CHECK(hub.bar()->message.find("stays as it is while c1 is lost") != std::string::npos);
  }
  SECTION("the second work is still there") {
    work = {};
    hub.cluster.member.queue_work.present = true;
    CHECK(hub.bar()->message.starts_with("ManifestWork c1/fairlead-queues"));
  }
}

TEST_CASE("claim release: nothing is waited for of a cluster that is gone, unknown or a claim's") {
  Hub hub;
  hub.work();
  REQUIRE(hub.bar());
  SECTION("detached") { hub.cluster.presence.detached = true; }
  SECTION("nothing was ever heard of it") { hub.claim.terms->cluster = "c2"; }
  SECTION("no member") { hub.state.configuration.member_mode = MemberMode::none; }
  SECTION("another claim took the cluster over") {
    Claim& other = hub.state.claims.by_name["k2"];
    other.terms = hub.claim.terms;
    other.terms->rows.clear();
    other.winner = other.known = true;
    hub.state.claims.of_cluster["c1"].insert("k2");
  }
  CHECK_FALSE(hub.bar());
}

TEST_CASE("claim release: with our finalizer alone left, the server's refusal is reported") {
  Hub hub;
  QueueWishes wishes(hub.state);
  CHECK_FALSE(finalizer_bar(hub.state, "k", hub.claim, wishes));
  WriteState& write = hub.state.writes.by_key[{std::string(kHub), {Kind::claim, "", "k"}, false}];
  write.refusal = Refusal{Seq{9}, 403, "Forbidden", sha256("wish"), hub.state.now, 1};
  const auto bar = finalizer_bar(hub.state, "k", hub.claim, wishes);
  REQUIRE(bar);
  CHECK(bar->reason == "HubRejected");
  CHECK(bar->message.starts_with("finalizer fairlead.io/claim cannot be removed: "));
  write.refusal->intent = Digest{};  // a conflict is tried again by itself
  CHECK_FALSE(finalizer_bar(hub.state, "k", hub.claim, wishes));
}

}  // namespace
}  // namespace fairlead::claim_release_test
