// Parses the annotations of a hub ClusterQueue that define its quota. Internal to the fold.
#pragma once

#include <string>

#include "engine/fold/claims/claim_spec.h"
#include "engine/fold/queues/queue_state.h"

namespace fairlead {

/// Parses fairlead.io/base-quota: JSON, flavor -> resource -> quantity >= 0. If `text` is invalid,
/// returns the amounts of `before` with the error in `malformed`.
BaseQuota read_base_quota(const std::string& text, const ResourceAliases& aliases,
                          BaseQuota before);
/// Parses fairlead.io/quota-from, quota-percent and quota-reserve into `quota`. If one of them is
/// invalid, sets `malformed` and leaves the terms as they were.
void read_worker_terms(const WorkerQuotaTerms& annotations, const ResourceAliases& aliases,
                       WorkerQuota& quota);

}  // namespace fairlead
