// Who clears nominations, and what an AdmissionCheck says of it.
#include "engine/fold/multikueue/nominations.h"

#include <catch2/catch.hpp>

#include "engine/fold/multikueue/multikueue_close.h"
#include "engine/fold/multikueue/names.h"
#include "engine/fold/multikueue/observe_multikueue.h"
#include "engine/fold/objects.h"

namespace fairlead {
namespace {

ObjectObserved policy(const std::string& name, MutatingAdmissionPolicyFacts facts) {
  ObjectObserved seen;
  seen.key = {Kind::mutating_admission_policy, "", name};
  seen.facts = facts;
  return seen;
}

void observe(State& state, const ObjectObserved& seen, Seq seq) {
  fold_object(state, std::string(kHub), seen.key, &seen, seq);
}

// A hub with the dispatcher on, and one check of ours.
State with_dispatcher(ClearedBy cleared_by) {
  State state;
  state.configuration.multikueue.dispatcher = true;
  state.configuration.multikueue.settle = {};
  state.configuration.multikueue.cleared_by = cleared_by;
  ObjectObserved check;
  check.key = {Kind::admission_check, "", "multikueue"};
  AdmissionCheckFacts facts;
  facts.controller_name = kPlacementController;
  check.facts = facts;
  observe(state, check, Seq{1});
  return state;
}

const ConditionWish& dispatcher_condition(State& state) {
  DirtySet dirty;
  recompute_multikueue(state, dirty);
  return state.multikueue.checks.at("multikueue").dispatcher;
}

TEST_CASE("the first policy that clears nominations, and is not being deleted, is the clearer") {
  State state = with_dispatcher(ClearedBy::policy);
  CHECK_FALSE(clearer_of_nominations(state));
  observe(state, policy("a", {false, false}), Seq{2});
  observe(state, policy("b", {true, true}), Seq{3});
  CHECK_FALSE(clearer_of_nominations(state));
  CHECK(state.multikueue.clearer_seq == Seq{});
  observe(state, policy("d", {true, false}), Seq{4});
  observe(state, policy("c", {true, false}), Seq{5});
  CHECK((clearer_of_nominations(state) == Clearer{ClearedBy::policy, "c"}));
  CHECK(state.multikueue.clearer_seq == Seq{5});
  fold_object(state, std::string(kHub), {Kind::mutating_admission_policy, "", "d"}, nullptr,
              Seq{6});
  CHECK(state.multikueue.clearer_seq == Seq{5});
  fold_object(state, std::string(kHub), {Kind::mutating_admission_policy, "", "c"}, nullptr,
              Seq{7});
  CHECK_FALSE(clearer_of_nominations(state));
  CHECK(state.multikueue.clearer_seq == Seq{7});
}

TEST_CASE("the configuration's word for Kueue's gate is enough") {
  State state = with_dispatcher(ClearedBy::merge_patch);
  CHECK((clearer_of_nominations(state) == Clearer{ClearedBy::merge_patch, ""}));
  CHECK(dispatcher_condition(state).status == ConditionStatus::yes);
}

TEST_CASE("a record from before the setting nominates without asking, and says nothing") {
  State state = with_dispatcher(ClearedBy::unasked);
  CHECK((clearer_of_nominations(state) == Clearer{ClearedBy::unasked, ""}));
  CHECK(dispatcher_condition(state) == ConditionWish{});
}

TEST_CASE("what clears nominations opens the checks and their Workloads only with the dispatcher") {
  State state = with_dispatcher(ClearedBy::policy);
  dispatcher_condition(state);
  observe(state, policy("a", {true, false}), Seq{2});
  CHECK(state.multikueue.dirty_checks == std::set<std::string>{"multikueue"});
  dispatcher_condition(state);
  state.configuration.multikueue.dispatcher = false;
  fold_object(state, std::string(kHub), {Kind::mutating_admission_policy, "", "a"}, nullptr,
              Seq{3});
  CHECK(state.multikueue.dirty_checks.empty());
}

TEST_CASE("policies that may not be read are named where one is missed, and not in Active") {
  State state = with_dispatcher(ClearedBy::policy);
  observe_unreadable(state.multikueue, Kind::mutating_admission_policy, Seq{2});
  const std::string words = "mutatingadmissionpolicies cannot be read";
  CHECK(dispatcher_condition(state).reason == "ClearingPolicyMissing");
  const CheckRecord& check = state.multikueue.checks.at("multikueue");
  CHECK(check.dispatcher.message.find(words) != std::string::npos);
  CHECK(check.active.reason == "BadParameters");
  CHECK(check.active.message.find(words) == std::string::npos);
  observe_readable(state.multikueue, Kind::mutating_admission_policy, Seq{3});
  CHECK(dispatcher_condition(state).message.find(words) == std::string::npos);
  observe(state, policy("a", {true, false}), Seq{4});
  CHECK(dispatcher_condition(state).message == "MutatingAdmissionPolicy a clears nominations");
}

}  // namespace
}  // namespace fairlead
