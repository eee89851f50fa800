#include "engine/fold/queues/orchestration.h"

#include <catch2/catch.hpp>

#include "engine/fold/state.h"

namespace fairlead {
namespace {

EffectiveQuotas quotas_of(const std::string& name) {
  return {{"kueue.x-k8s.io", "DynamicQuotaOrchestrator", name}, {}};
}

Queue queue_in(const std::string& cohort) {
  Queue queue;
  queue.present = true;
  queue.seq = Seq{7};
  queue.facts.cohort = cohort;
  return queue;
}

}  // namespace

TEST_CASE("the Cohorts above a queue are those that are known, each once") {
  State state;
  CHECK(cohorts_above(state.queues, queue_in("")).empty());
  CHECK(cohorts_above(state.queues, queue_in("a")) == std::vector<std::string>{"a"});
  state.queues.cohorts["a"].facts.parent = "b";
  CHECK(cohorts_above(state.queues, queue_in("a")) == std::vector<std::string>{"a", "b"});
  state.queues.cohorts["b"].facts.parent = "a";
  CHECK(cohorts_above(state.queues, queue_in("b")) == std::vector<std::string>{"b", "a"});
  state.queues.cohorts["a"].facts.parent = "a";
  CHECK(cohorts_above(state.queues, queue_in("a")) == std::vector<std::string>{"a"});
}

TEST_CASE("what the queue shows counts before what the nearest Cohort does") {
  State state;
  Queue queue = queue_in("a");
  CHECK_FALSE(orchestration_of(state.queues, queue));
  state.queues.cohorts["a"] = {{"b", std::nullopt}, Seq{3}};
  state.queues.cohorts["b"] = {{"", quotas_of("far")}, Seq{4}};
  auto found = orchestration_of(state.queues, queue);
  REQUIRE(found);
  CHECK(found->seq == Seq{4});
  CHECK(text_of(*found) == "DynamicQuotaOrchestrator.kueue.x-k8s.io far (Cohort b)");
  state.queues.cohorts["a"].facts.effective = quotas_of("near");
  found = orchestration_of(state.queues, queue);
  REQUIRE(found);
  CHECK(found->cohort == "a");
  queue.facts.effective = EffectiveQuotas{{"", "Divider", "own"}, {}};
  found = orchestration_of(state.queues, queue);
  REQUIRE(found);
  CHECK(found->seq == queue.seq);
  CHECK(text_of(*found) == "Divider own");
}

TEST_CASE("an orchestrator that is not named, or in part, is said to be so") {
  CHECK(text_of(OrchestratorRef{}) == "an orchestrator that is not named");
  CHECK(text_of(OrchestratorRef{"kueue.x-k8s.io", "", ""}) == "an orchestrator that is not named");
  CHECK(text_of(OrchestratorRef{"g", "Divider", ""}) == "Divider.g without a name");
  CHECK(text_of(OrchestratorRef{"g", "", "own"}) == "an orchestrator named own");
  CHECK(text_of(Orchestration{{}, "", Seq{1}}) == "an orchestrator that the queue does not name");
  CHECK(text_of(Orchestration{{}, "b", Seq{1}}) == "an orchestrator that Cohort b does not name");
  CHECK(text_of(Orchestration{{"", "Divider", ""}, "b", Seq{1}}) ==
        "Divider without a name (Cohort b)");
}

TEST_CASE("a Cohort concerns the queues below it and no others") {
  State state;
  state.queues.by_name["below"] = queue_in("a");
  state.queues.by_name["below"].contested = {{"od", "cpu"}};
  state.queues.by_name["beside"] = queue_in("c");
  state.queues.by_name["beside"].contested = {{"od", "cpu"}};
  state.queues.by_name["alone"] = queue_in("");
  const CohortFacts a{"b", std::nullopt};
  observe_cohort(state, "a", &a, Seq{5});
  // No orchestrator sets the quota: the conflict stays.
  CHECK_FALSE(state.queues.by_name["below"].contested.empty());
  state.queues.dirty.clear();
  const CohortFacts b{"", quotas_of("production")};
  observe_cohort(state, "b", &b, Seq{6});
  CHECK(state.queues.dirty == std::set<std::string>{"below"});
  CHECK(state.queues.by_name["below"].contested.empty());  // about what is not in force any more
  CHECK_FALSE(state.queues.by_name["beside"].contested.empty());
  state.queues.dirty.clear();
  observe_cohort(state, "b", nullptr, Seq{7});
  CHECK(state.queues.dirty == std::set<std::string>{"below"});
  CHECK_FALSE(state.queues.cohorts.contains("b"));
}

TEST_CASE("an edit of a Cohort's own quotas or weight plans no queue again") {
  State state;
  state.queues.by_name["below"] = queue_in("a");
  CohortFacts cohort{"org"};
  observe_cohort(state, "a", &cohort, Seq{5});
  state.queues.dirty.clear();
  cohort.terms = CohortTerms{{{{"cpu"}, {}}}, Quantity::parse("2")};
  observe_cohort(state, "a", &cohort, Seq{6});
  CHECK(state.queues.dirty.empty());
  CHECK(state.queues.cohorts.at("a").facts == cohort);
  CHECK(state.queues.cohorts.at("a").seq == Seq{6});
  cohort.parent = "other";
  observe_cohort(state, "a", &cohort, Seq{7});
  CHECK(state.queues.dirty == std::set<std::string>{"below"});
}

}  // namespace fairlead
