#include "schema/admission.h"

namespace fairlead {

std::optional<AdmissionRule> parse_admission_rule(std::string_view name) {
  for (const AdmissionRuleInfo& row : kAdmissionRules)
    if (row.name == name) return row.rule;
  return std::nullopt;
}

}  // namespace fairlead
