#include "engine/admission/admission_view.h"

namespace fairlead {

std::string FirstNames::text() const {
  std::string all;
  for (const std::string& name : first) all += (all.empty() ? "" : ", ") + name;
  if (count > first.size()) all += " and " + std::to_string(count - first.size()) + " more";
  return all;
}

RuleAction AdmissionTerms::action(AdmissionRule rule) const {
  const auto set = rules.find(rule);
  const RuleAction action = set == rules.end() ? info(rule).action : set->second;
  // The fold refuses an invalid claim in any case: off would only hide that from its author.
  const bool silenced = rule == AdmissionRule::claim_invalid && action == RuleAction::off;
  return silenced ? RuleAction::warn : action;
}

AdmissionTerms admission_terms(const Configuration& configuration) {
  return {configuration.resource_aliases, configuration.webhook_rules};
}

namespace {

Amount amount_at(const PairAmounts& amounts, const QuotaKey& pair) {
  const auto at = amounts.find(pair);
  return at == amounts.end() ? 0 : at->second;
}

}  // namespace

// The same places as those that a claim's status reads for `overcommitted`.
std::optional<Amount> usage_of(const AdmissionView& view, const std::string& cluster,
                               const std::string& queue, const QuotaKey& pair) {
  const ClusterEntry* at = view.clusters.find(cluster);
  if (!at) return std::nullopt;
  if (const auto there = at->usage.find(queue); there != at->usage.end())
    return amount_at(there->second, pair);
  if (at->has_member) return std::nullopt;
  const QueueEntry* hub = view.queues.find(queue);
  if (!hub || !hub->present) return std::nullopt;
  const auto assigned = hub->pairs.find(pair);
  // The hub reports usage for all clusters together: it is this cluster's only where no other claim
  // in force assigns the pair.
  if (assigned == hub->pairs.end() || assigned->second.in_force != 1) return std::nullopt;
  return amount_at(hub->usage, pair);
}

}  // namespace fairlead
