// Verdicts: what denies, who passes, what an override does, what is said.
#include <catch2/catch.hpp>

#include "tests/unit/admission/stage.h"

namespace fairlead::admission_test {
namespace {

const ClaimFacts kGood = claim_facts({{"cpu", "10"}}, {row("q", "od", {{"cpu", "5"}})});
const ClaimFacts kBad = claim_facts({{"cpu", "x"}}, {});

TEST_CASE("judge: the rules stand in the order of the schema's table") {
  std::vector<AdmissionRule> order;
  for (const AdmissionRuleFunction& rule : admission_rules()) order.push_back(rule.rule);
  REQUIRE(order.size() == kAdmissionRules.size());
  for (std::size_t i = 0; i < order.size(); ++i) CHECK(order[i] == kAdmissionRules[i].rule);
}

TEST_CASE("judge: what carries a deletionTimestamp is admitted, so that finalizers can go") {
  Stage stage;
  auto request = update(Kind::claim, "k", kGood, kBad);
  CHECK(stage.judged(request).denied());
  request.object->deleting = true;
  CHECK(stage.judged(request).findings.empty());
}

TEST_CASE("judge: before the hub is synced claimInvalid alone is asked") {
  Stage stage;
  stage.claims(kGood, "older");
  AdmissionView view = view_of(stage.state);
  view.state = ViewState::unsynced;
  const auto taken = judge(view, create(Kind::claim, "newer", kGood));
  CHECK(taken.unsynced);
  CHECK(taken.findings.empty());
  CHECK(warnings_of(taken) == Texts{"the hub has not read the cluster yet: of its rules only "
                                    "claimInvalid was asked"});
  CHECK(judge(view, create(Kind::claim, "newer", kBad)).denied());
}

TEST_CASE("judge: an override turns a denial into a warning, but of an invalid claim") {
  Stage stage;
  stage.claims(kGood, "older");
  auto request = create(Kind::claim, "newer", kGood);
  CHECK(stage.judged(request).denied());
  request.object->annotations["override"] = "";
  CHECK(stage.judged(request).denied());
  request.object->annotations["override"] = " \n";
  CHECK(stage.judged(request).denied());
  request.object->annotations["override"] = " INC-7 ";
  const auto verdict = stage.judged(request);
  CHECK_FALSE(verdict.denied());
  CHECK(verdict.overridden());
  CHECK(verdict.override_reason == "INC-7");
  CHECK(verdict.refused == std::vector{AdmissionRule::cluster_taken});
  CHECK(warnings_of(verdict)[0] == "admitted by fairlead.io/override: INC-7");

  request.object->facts = kBad;
  CHECK(stage.judged(request).denied());
  CHECK(stage.judged(request).refused ==
        std::vector{AdmissionRule::claim_invalid, AdmissionRule::cluster_taken});
  // A refused user does not read that the request was admitted.
  for (const std::string& warning : warnings_of(stage.judged(request)))
    CHECK(warning.find("admitted") == std::string::npos);
}

TEST_CASE("judge: an override that nothing needed is not mentioned") {
  Stage stage;
  auto request = create(Kind::claim, "k", kGood);
  request.object->annotations["override"] = "to be safe";
  CHECK_FALSE(stage.judged(request).overridden());
  CHECK(stage.judged(request).findings.empty());
}

TEST_CASE("judge: of a DELETE the stored object carries the override") {
  Stage stage;
  stage.claims(kGood);
  stage.sets(AdmissionRule::queue_in_use, RuleAction::deny);
  auto request = remove(Kind::cluster_queue, "q", ClusterQueueFacts{});
  CHECK(stage.judged(request).denied());
  request.old_object->annotations["override"] = "moved";
  CHECK(stage.judged(request).overridden());
}

TEST_CASE("judge: an action of the configuration counts, off is not asked") {
  Stage stage;
  stage.claims(kGood, "older");
  const auto request = create(Kind::claim, "newer", kGood);
  stage.sets(AdmissionRule::cluster_taken, RuleAction::warn);
  CHECK(stage.judged(request).findings.size() == 1);
  CHECK(stage.judged(request).refused.empty());
  stage.sets(AdmissionRule::cluster_taken, RuleAction::off);
  CHECK(stage.judged(request).findings.empty());
}

TEST_CASE("passes: the hub by its user name, and controllers of kube-system") {
  AdmissionRequest request = create(Kind::claim, "k", kGood);
  CHECK_FALSE(passes(request, ""));
  CHECK_FALSE(passes(request, "system:serviceaccount:fairlead:fairlead"));
  request.user = "system:serviceaccount:fairlead:fairlead";
  CHECK(passes(request, "system:serviceaccount:fairlead:fairlead"));
  request.user = "";
  CHECK_FALSE(passes(request, ""));
  request.groups = {"system:authenticated", "system:serviceaccounts:kube-system"};
  CHECK(passes(request, ""));
}

TEST_CASE("warnings: at most eight, short and printable, the last says how many more") {
  AdmissionVerdict verdict;
  for (int i = 0; i < 44; ++i)
    verdict.findings.push_back({AdmissionRule::owned_quota,
                                RuleAction::warn,
                                {"f", CauseType::invalid, std::to_string(i)}});
  auto warnings = warnings_of(verdict);
  REQUIRE(warnings.size() == kWarningsMax);
  CHECK(warnings[0] == "f: 0");
  CHECK(warnings[6] == "f: 6");
  CHECK(warnings[7] == "and 37 more");
  verdict.findings.resize(8);
  warnings = warnings_of(verdict);
  REQUIRE(warnings.size() == 8);
  CHECK(warnings[7] == "f: 7");
  verdict.findings.resize(1);
  verdict.findings[0].objection.message = "a\nb\x7f\xc3\xa4" + std::string(300, 'x');
  warnings = warnings_of(verdict);
  CHECK(warnings[0].size() == kWarningCharactersMax);
  CHECK(warnings[0].starts_with("f: a b ?xxx"));
  CHECK(warnings[0].ends_with("xxx..."));
}

TEST_CASE("warnings: a finding that denies is no warning as well") {
  AdmissionVerdict verdict;
  verdict.findings.push_back({AdmissionRule::bad_base, RuleAction::deny, {"f", {}, "m"}});
  CHECK(warnings_of(verdict).empty());
  CHECK(verdict.denied());
}

TEST_CASE("printable: exactly as long as allowed") {
  CHECK(printable("abcdef", 6) == "abcdef");
  CHECK(printable("abcdefg", 6) == "abc...");
  CHECK(printable("\xf0\x9f\x98\x80!", 6) == "?!");
  CHECK(printable("", 6).empty());
}

}  // namespace
}  // namespace fairlead::admission_test
