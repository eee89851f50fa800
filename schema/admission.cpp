#include "schema/admission.h"

namespace fairlead {

std::optional<AdmissionRule> parse_admission_rule(std::string_view name) {
  for (const AdmissionRuleInfo& row : kAdmissionRules)
    if (row.name == name) return row.rule;
  return std::nullopt;
}

std::string_view text_of(RuleAction action) {
  switch (action) {
    case RuleAction::deny: return "deny";
    case RuleAction::warn: return "warn";
    case RuleAction::off: return "off";
  }
  return "";
}

std::string_view text_of(AdmissionOperation operation) {
  switch (operation) {
    case AdmissionOperation::create: return "CREATE";
    case AdmissionOperation::update: return "UPDATE";
    case AdmissionOperation::remove: return "DELETE";
  }
  return "";
}

std::string_view text_of(AdmissionOutcome outcome) {
  switch (outcome) {
    case AdmissionOutcome::denied: return "denied";
    case AdmissionOutcome::overridden: return "overridden";
  }
  return "";
}

}  // namespace fairlead
