// Facts of Kueue's ClusterQueues and Cohorts.
#pragma once

#include "schema/facts.h"

namespace fairlead::samples {

ResourceGroup resource_group();
/// With texts that are not canonical.
ResourceGroup spelled_group();
/// With every field set that its first version had.
ClusterQueueFacts cluster_queue();
EffectiveQuotas effective_quotas();
SharingTerms sharing_terms();
CohortTerms cohort_terms();

}  // namespace fairlead::samples
