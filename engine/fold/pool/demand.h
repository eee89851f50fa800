// What a namespace asks for: its quotas cut into slices, within its tenant's limit.
#pragma once

#include <cstdint>
#include <string>

#include "engine/fold/pool/pool_state.h"

namespace fairlead {

/// The quota of a namespace; a dimension that no ResourceQuota names is absent.
struct NamespaceQuota {
  std::optional<Amount> cpu;
  std::optional<Amount> memory;

  /// Whether the namespace is in the pool.
  bool any() const { return cpu || memory; }
};
/// Returns, for each dimension, the smallest (or the largest, as `which` says) value in its quotas
/// without scopes.
NamespaceQuota quota_of(const PoolNamespace& of, PoolQuotas which);

/// How many slices a namespace should have.
struct SliceDemand {
  std::int64_t slices = 0;
  std::string reason;  ///< why it is not what the quota alone would give; empty: it is
  bool fixed = false;  ///< too many slices: it keeps the slices that it has, in their size
};
/// Returns how many slices of size `unit` the quota is cut into: rounded up, by the dimension that
/// gives more.
SliceDemand demand_of(const NamespaceQuota& quota, const CpuMemory& unit, std::int64_t has,
                      std::int64_t slices_max);

/// Returns how many slices of `unit` the namespace may have beside the others of its tenant;
/// INT64_MAX without a limit.
std::int64_t allowed_slices(const PoolTenant& tenant, const PoolNamespace& of,
                            const CpuMemory& unit);
/// Returns the first dimension, cpu or memory, in which `slices` of `unit` pass the tenant's limit;
/// empty if none does.
std::string passed_limit(const PoolTenant& tenant, const PoolNamespace& of, const CpuMemory& unit,
                         std::int64_t slices);

}  // namespace fairlead
