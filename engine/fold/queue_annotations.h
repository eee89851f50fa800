// The annotations of a hub ClusterQueue that say what its quota is made of. Internal to the fold.
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// fairlead.io/base-quota: JSON, flavor -> resource -> quantity >= 0. What is wrong with `text` is
/// in `malformed`; then the amounts are those of `before`.
BaseQuota read_base_quota(const std::string& text, const ResourceAliases& aliases,
                          BaseQuota before);
/// fairlead.io/quota-from, quota-percent and quota-reserve. What is wrong with one of them is in
/// `malformed`; then the terms stay as they were.
void read_worker_terms(const WorkerQuotaTerms& annotations, const ResourceAliases& aliases,
                       WorkerQuota& quota);

}  // namespace fairlead
