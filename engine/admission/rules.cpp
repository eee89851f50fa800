#include "engine/admission/rules.h"

#include <array>

namespace fairlead {

std::string_view text_of(CauseType cause) {
  switch (cause) {
    case CauseType::invalid: return "FieldValueInvalid";
    case CauseType::duplicate: return "FieldValueDuplicate";
    case CauseType::forbidden: return "FieldValueForbidden";
  }
  return "";
}

Question question_of(const AdmissionView& view, const AdmissionRequest& request) {
  Question question{view, request, std::nullopt};
  if (request.key.kind != Kind::claim || !request.object) return question;
  const auto* proposed = std::get_if<ClaimFacts>(&request.object->facts);
  const auto* stored =
      request.old_object ? std::get_if<ClaimFacts>(&request.old_object->facts) : nullptr;
  // An update of labels, finalizers or status must pass, even if the stored spec would be refused
  // today: it may be older than a rule, or than an alias.
  if (proposed && (!stored || stored->spec != proposed->spec))
    question.understood = understand(proposed->spec, view.terms->aliases);
  return question;
}

std::span<const AdmissionRuleFunction> admission_rules() {
  static constexpr std::array<AdmissionRuleFunction, kAdmissionRules.size()> kRules{{
      {AdmissionRule::claim_invalid, claim_invalid},
      {AdmissionRule::cluster_taken, cluster_taken},
      {AdmissionRule::over_capacity, over_capacity},
      {AdmissionRule::nominal_above_capacity, nominal_above_capacity},
      {AdmissionRule::unknown_target, unknown_target},
      {AdmissionRule::below_usage, below_usage},
      {AdmissionRule::claim_in_use, claim_in_use},
      {AdmissionRule::owned_quota, owned_quota},
      {AdmissionRule::bad_base, bad_base},
      {AdmissionRule::queue_in_use, queue_in_use},
      {AdmissionRule::flavor_in_use, flavor_in_use},
      {AdmissionRule::cluster_in_use, cluster_in_use},
  }};
  return kRules;
}

}  // namespace fairlead
