// The words of the validating webhook: its rules, what a rule may do, and what was decided.
//
// They are in the schema because the configuration names rules (webhook.rules) and the log records
// decisions (AdmissionDecided). The rules themselves are in engine/admission.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "schema/words.h"

namespace fairlead {

/// What the webhook checks, in the order in which findings are reported. Stored as this number.
enum class AdmissionRule : std::uint8_t {
  claim_invalid,
  cluster_taken,
  over_capacity,
  nominal_above_capacity,
  unknown_target,
  below_usage,
  claim_in_use,
  owned_quota,
  bad_base,
  queue_in_use,
  flavor_in_use,
  cluster_in_use,
};

/// What a rule does with a request that breaks it.
enum class RuleAction : std::uint8_t {
  deny,
  warn,
  off,  ///< the rule is not asked
};

/// A row of the table of rules.
struct AdmissionRuleInfo {
  AdmissionRule rule;
  std::string_view name;  ///< as the configuration file, the log and every output spell it
  RuleAction action;      ///< where the configuration says nothing
};
inline constexpr std::array<AdmissionRuleInfo, 12> kAdmissionRules{{
    {AdmissionRule::claim_invalid, "claimInvalid", RuleAction::deny},
    {AdmissionRule::cluster_taken, "clusterTaken", RuleAction::deny},
    {AdmissionRule::over_capacity, "overCapacity", RuleAction::warn},
    {AdmissionRule::nominal_above_capacity, "nominalAboveCapacity", RuleAction::warn},
    {AdmissionRule::unknown_target, "unknownTarget", RuleAction::warn},
    {AdmissionRule::below_usage, "belowUsage", RuleAction::warn},
    {AdmissionRule::claim_in_use, "claimInUse", RuleAction::warn},
    {AdmissionRule::owned_quota, "ownedQuota", RuleAction::warn},
    {AdmissionRule::bad_base, "badBase", RuleAction::deny},
    {AdmissionRule::queue_in_use, "queueInUse", RuleAction::warn},
    {AdmissionRule::flavor_in_use, "flavorInUse", RuleAction::warn},
    {AdmissionRule::cluster_in_use, "clusterInUse", RuleAction::warn},
}};

constexpr const AdmissionRuleInfo& info(AdmissionRule rule) {
  return kAdmissionRules[static_cast<std::size_t>(rule)];
}
/// Returns the rule of a name such as `ownedQuota`; nothing for any other text.
std::optional<AdmissionRule> parse_admission_rule(std::string_view name);

/// As the configuration file spells it.
template <>
inline constexpr std::array<std::pair<std::string_view, RuleAction>, 3> kWordsOf<RuleAction>{{
    {"deny", RuleAction::deny},
    {"warn", RuleAction::warn},
    {"off", RuleAction::off},
}};

/// What was asked for. Server-side apply is a create or an update.
enum class AdmissionOperation : std::uint8_t { create, update, remove };
/// As an AdmissionReview spells it.
template <>
inline constexpr std::array<std::pair<std::string_view, AdmissionOperation>, 3>
    kWordsOf<AdmissionOperation>{{
        {"CREATE", AdmissionOperation::create},
        {"UPDATE", AdmissionOperation::update},
        {"DELETE", AdmissionOperation::remove},
    }};

/// What became of a request that at least one rule would deny.
enum class AdmissionOutcome : std::uint8_t {
  denied,
  overridden,  ///< admitted, because the object has the annotation fairlead.io/override
};
template <>
inline constexpr std::array<std::pair<std::string_view, AdmissionOutcome>, 2>
    kWordsOf<AdmissionOutcome>{{
        {"denied", AdmissionOutcome::denied},
        {"overridden", AdmissionOutcome::overridden},
    }};

}  // namespace fairlead
