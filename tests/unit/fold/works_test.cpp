#include "engine/fold/members/works.h"

#include <catch2/catch.hpp>

#include "engine/fold/close.h"

namespace fairlead::works_test {
namespace {

const ObjectKey kWork{Kind::manifest_work, "c1", std::string(kQuotaWork)};

ManifestWorkFacts quotas(Amount od, std::optional<Amount> spot = std::nullopt) {
  ManifestWorkFacts facts;
  facts.quotas = {{"q", "od", "cpu", od}};
  if (spot) facts.quotas.push_back({"q", "spot", "cpu", *spot});
  return facts;
}

// A work of generation 2 whose conditions are of `applied` and `available`.
ObjectObserved work_of(ManifestWorkFacts facts, std::int64_t applied = 2,
                       std::int64_t available = 2) {
  facts.applied = {ConditionStatus::yes, "", applied};
  facts.available = {ConditionStatus::yes, "", available};
  return {kWork, "v1", "u", "7", 2, std::move(facts), {}};
}

PatchIntended intent_of(std::optional<Facts> expected) {
  PatchIntended intent;
  intent.target = kWork;
  intent.expected = std::move(expected);
  return intent;
}

const MemberPair kOd{"q", "od", "cpu"}, kSpot{"q", "spot", "cpu"};

TEST_CASE("works: the name of a policy holds its cluster") {
  CHECK(policy_name("c1") == "fairlead-c1");
  CHECK(cluster_of_policy("fairlead-c1") == "c1");
  CHECK(cluster_of_policy("other-c1").empty());
  CHECK(cluster_of_policy("fairlead-").empty());
}

TEST_CASE("works: a work is settled when both conditions are of its generation") {
  Work work{true, "u", "7", 2, quotas(1), Seq{1}};
  work.facts.applied = work.facts.available = {ConditionStatus::yes, "", 2};
  CHECK(work.applied_and_available());
  SECTION("not applied") { work.facts.applied.status = ConditionStatus::no; }
  SECTION("of an older generation") { work.facts.available.observed_generation = 1; }
  SECTION("unknown") { work.facts.available.status = ConditionStatus::unknown; }
  SECTION("on its way out") { work.facts.deleting = true; }
  SECTION("not there") { work.present = false; }
  CHECK_FALSE(work.applied_and_available());
}

TEST_CASE("works: what an applied work has is confirmed, of another only what was before") {
  State state;
  const auto& confirmed = state.clusters["c1"].member.confirmed;
  hand_on(state, observe_work(state, work_of(quotas(5000), 1), Seq{1}));
  CHECK(confirmed.empty());
  hand_on(state, observe_work(state, work_of(quotas(5000, 1000)), Seq{2}));
  CHECK(confirmed == std::map<MemberPair, Amount>{{kOd, 5000}, {kSpot, 1000}});
  CHECK(state.queues.dirty_quotas == std::set<std::string>{"q"});
  // Less of one, more of the other, and not applied yet: the least of both.
  hand_on(state, observe_work(state, work_of(quotas(3000, 9000), 1), Seq{3}));
  CHECK(confirmed == std::map<MemberPair, Amount>{{kOd, 3000}, {kSpot, 1000}});
  hand_on(state, observe_work(state, work_of(quotas(3000), 2, 1), Seq{4}));
  CHECK(confirmed == std::map<MemberPair, Amount>{{kOd, 3000}});
  hand_on(state, forget_work(state, kWork));
  CHECK(confirmed.empty());
  CHECK(state.clusters["c1"].member.quota_works.empty());
}

TEST_CASE("works: a work on its way admits the least of both, one that goes nothing") {
  State state;
  hand_on(state, observe_work(state, work_of(quotas(5000, 1000)), Seq{1}));
  const auto& confirmed = state.clusters["c1"].member.confirmed;
  expect_work(state, intent_of(quotas(7000, 400)));
  CHECK(confirmed == std::map<MemberPair, Amount>{{kOd, 5000}, {kSpot, 400}});
  expect_work(state, intent_of(std::nullopt));
  CHECK(confirmed.empty());
}

TEST_CASE("works: pairs are confirmed under canonical names") {
  State state;
  state.configuration.resource_aliases = {{"gpu", "nvidia.com/gpu"}};
  ManifestWorkFacts facts;
  facts.quotas = {{"q", "od", "gpu", 4}};
  hand_on(state, observe_work(state, work_of(facts), Seq{1}));
  CHECK(state.clusters["c1"].member.confirmed ==
        std::map<MemberPair, Amount>{{{"q", "od", "nvidia.com/gpu"}, 4}});
}

// A queue as its member's agent reports it.
WorkFeedback active(ConditionStatus status, std::string reason = "",
                    ConditionStatus synced = ConditionStatus::absent) {
  return {"q", status, false, {}, std::move(reason), synced};
}

TEST_CASE("works: a queue that the member calls inactive admits nothing new") {
  State state;
  const Cluster& cluster = state.clusters["c1"];
  ManifestWorkFacts facts = quotas(5000);
  hand_on(state, observe_work(state, work_of(facts), Seq{1}));
  facts = quotas(7000);
  SECTION("its agent reports the condition") {
    facts.feedback = {active(ConditionStatus::no, "TopologyNotFound")};
    hand_on(state, observe_work(state, work_of(facts), Seq{2}));
    CHECK(why_inactive(cluster, "q") == "TopologyNotFound");
    CHECK_FALSE(is_settled(cluster, "q"));
    CHECK(cluster.member.confirmed == std::map<MemberPair, Amount>{{kOd, 5000}});
    facts.feedback = {active(ConditionStatus::yes, "Ready")};
    hand_on(state, observe_work(state, work_of(facts), Seq{3}));
    CHECK(cluster.member.confirmed == std::map<MemberPair, Amount>{{kOd, 7000}});
  }
  SECTION("its agent reports feedback, and of this condition nothing") {
    facts.feedback = {active(ConditionStatus::absent, "", ConditionStatus::yes)};
    hand_on(state, observe_work(state, work_of(facts), Seq{2}));
    CHECK(cluster.member.confirmed == std::map<MemberPair, Amount>{{kOd, 5000}});
  }
  SECTION("its agent reports no feedback: it is not waited for") {
    for (const ConditionStatus synced : {ConditionStatus::absent, ConditionStatus::no}) {
      facts.feedback = {active(ConditionStatus::absent, "", synced)};
      hand_on(state, observe_work(state, work_of(facts), Seq{2}));
      CHECK(cluster.member.confirmed == std::map<MemberPair, Amount>{{kOd, 7000}});
    }
  }
  SECTION("the member is watched: what is observed there counts before what its agent reports") {
    state.clusters["c1"].member.queues["q"].active = ConditionStatus::no;
    state.clusters["c1"].member.queues["q"].reason = "Stopped";
    facts.feedback = {active(ConditionStatus::yes, "Ready")};
    hand_on(state, observe_work(state, work_of(facts), Seq{2}));
    CHECK(why_inactive(cluster, "q") == "Stopped");
    CHECK(cluster.member.confirmed == std::map<MemberPair, Amount>{{kOd, 5000}});
    state.clusters["c1"].member.queues["q"].active = ConditionStatus::yes;
    hand_on(state, observe_queue_at_member(state, "c1", "q"));
    CHECK(cluster.member.confirmed == std::map<MemberPair, Amount>{{kOd, 7000}});
  }
}

TEST_CASE("works: the names of quota works are numbered") {
  CHECK(quota_work_name(0) == "fairlead-quota");
  CHECK(quota_work_name(12) == "fairlead-quota-12");
  CHECK(quota_work_number("fairlead-quota") == 0u);
  CHECK(quota_work_number("fairlead-quota-12") == 12u);
  for (const char* other : {"fairlead-queues", "fairlead-quota-", "fairlead-quota-0",
                            "fairlead-quota-01", "fairlead-quota-1x", "fairlead-quota1", "x"})
    CHECK_FALSE(quota_work_number(other));
}

TEST_CASE("works: a queue that moves is admitted what both of its works have") {
  State state;
  const Cluster& cluster = state.clusters["c1"];
  hand_on(state, observe_work(state, work_of(quotas(5000, 1000)), Seq{1}));
  ObjectObserved second = work_of(quotas(4000, 1000), 1);
  second.key.name = "fairlead-quota-1";
  hand_on(state, observe_work(state, second, Seq{2}));
  CHECK_FALSE(is_settled(cluster, "q"));
  CHECK(cluster.member.confirmed == std::map<MemberPair, Amount>{{kOd, 4000}, {kSpot, 1000}});
  CHECK(works_with(cluster, "q") == std::vector<std::string>{"fairlead-quota", "fairlead-quota-1"});
  second = work_of(quotas(4000, 1000));
  second.key.name = "fairlead-quota-1";
  hand_on(state, observe_work(state, second, Seq{3}));
  CHECK(is_settled(cluster, "q"));
  // The first loses it: nothing changes for the member.
  ManifestWorkFacts rest;
  rest.quotas = {{"r", "od", "cpu", 1}};
  expect_work(state, intent_of(rest));
  CHECK(cluster.member.confirmed == std::map<MemberPair, Amount>{{kOd, 4000}, {kSpot, 1000}});
  hand_on(state, observe_work(state, work_of(rest), Seq{4}));
  CHECK(cluster.member.confirmed.at(kOd) == 4000);
  CHECK(works_with(cluster, "q") == std::vector<std::string>{"fairlead-quota-1"});
  hand_on(state, forget_work(state, second.key));
  CHECK_FALSE(cluster.member.confirmed.contains(kOd));
}

TEST_CASE("works: the second work is kept apart, others are not read") {
  State state;
  ObjectObserved seen = work_of(quotas(5000));
  seen.key.name = kQueueWork;
  hand_on(state, observe_work(state, seen, Seq{1}));
  const Cluster& cluster = state.clusters["c1"];
  CHECK(cluster.member.queue_work.present);
  CHECK(cluster.member.quota_works.empty());
  CHECK(cluster.member.confirmed.empty());
  seen.key.name = "fairlead-other";
  seen.key.namespace_ = "c2";
  hand_on(state, observe_work(state, seen, Seq{2}));
  CHECK_FALSE(state.clusters.contains("c2"));
  hand_on(state, forget_work(state, {Kind::manifest_work, "c1", std::string(kQueueWork)}));
  CHECK_FALSE(cluster.member.queue_work.present);
  hand_on(state, forget_work(state, {Kind::manifest_work, "c2",
                                     std::string(kQueueWork)}));  // of no cluster
  CHECK_FALSE(state.clusters.contains("c2"));
}

TEST_CASE("works: a policy belongs to the cluster in its name") {
  State state;
  ObjectObserved seen{
      {Kind::binding_policy, "", "fairlead-c1"}, "v1alpha1", "u", "7", 2, BindingPolicyFacts{}, {}};
  hand_on(state, observe_policy(state, seen, Seq{4}));
  CHECK(state.clusters.at("c1").member.policy.present);
  CHECK(state.clusters.at("c1").member.policy.seq == Seq{4});
  hand_on(state, forget_policy(state, seen.key));
  CHECK_FALSE(state.clusters.at("c1").member.policy.present);
  seen.key.name = "not-ours";
  hand_on(state, observe_policy(state, seen, Seq{5}));
  CHECK(state.clusters.size() == 1);
}

}  // namespace
}  // namespace fairlead::works_test
