// ClusterQueues and Cohorts in few words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/kinds/queues.h"

namespace fairlead::waiting {

struct Limits {
  std::optional<std::int64_t> borrowing{};
  std::optional<std::int64_t> lending{};
};

/// A group with one flavor and one resource; amounts in whole units.
inline ResourceGroup group_of(const std::string& flavor, const std::string& resource,
                              std::int64_t nominal, const Limits& limits = {}) {
  ResourceQuota quota;
  quota.name = resource;
  quota.nominal = *Quantity::parse(std::to_string(nominal));
  if (limits.borrowing) quota.borrowing_limit = *Quantity::parse(std::to_string(*limits.borrowing));
  if (limits.lending) quota.lending_limit = *Quantity::parse(std::to_string(*limits.lending));
  return {{resource}, {{flavor, {quota}}}};
}

inline ClusterQueueFacts queue_of(std::vector<ResourceGroup> groups, std::string cohort = "") {
  ClusterQueueFacts facts;
  facts.groups = std::move(groups);
  facts.cohort = std::move(cohort);
  return facts;
}

inline CohortFacts cohort_of(std::vector<ResourceGroup> groups, std::string parent = "") {
  CohortFacts facts;
  facts.parent = std::move(parent);
  facts.terms = CohortTerms{std::move(groups), std::nullopt};
  return facts;
}

}  // namespace fairlead::waiting
