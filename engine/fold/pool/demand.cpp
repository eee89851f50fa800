#include "engine/fold/pool/demand.h"

#include <algorithm>

namespace fairlead {

namespace {

// The smaller of the two names that a ResourceQuota may give one dimension.
std::optional<Amount> said_in(const ResourceQuotaFacts& quota, const std::string& resource) {
  std::optional<Amount> least;
  // `cpu` and `requests.cpu` of a ResourceQuota mean the same to Kubernetes, which enforces both.
  for (const std::string& name : {resource, "requests." + resource})
    if (const auto at = quota.hard.find(name); at != quota.hard.end())
      least = least ? std::min(*least, at->second) : at->second;
  return least;
}

void combine(std::optional<Amount>& all, const std::optional<Amount>& one, PoolQuotas which) {
  if (!one) return;
  if (!all)
    all = one;
  else
    all = which == PoolQuotas::min ? std::min(*all, *one) : std::max(*all, *one);
}

Int128 rounded_up(Amount amount, Amount unit) {
  return amount <= 0 ? Int128{0} : (Int128{amount} + unit - 1) / unit;
}

// What the tenant's other namespaces have.
CpuMemorySum of_others(const PoolTenant& tenant, const PoolNamespace& of) {
  return {tenant.slices.cpu - Int128{of.unit.cpu} * of.slices,
          tenant.slices.memory - Int128{of.unit.memory} * of.slices};
}

}  // namespace

NamespaceQuota quota_of(const PoolNamespace& of, PoolQuotas which) {
  NamespaceQuota quota;
  for (const auto& [name, seen] : of.quotas) {
    if (seen.facts.scoped) continue;
    combine(quota.cpu, said_in(seen.facts, "cpu"), which);
    combine(quota.memory, said_in(seen.facts, "memory"), which);
  }
  return quota;
}

SliceDemand demand_of(const NamespaceQuota& quota, const CpuMemory& unit, std::int64_t has,
                      std::int64_t slices_max) {
  if (!quota.any()) return {};
  if (!quota.cpu) return {0, "NoQuota: cpu", false};
  if (!quota.memory) return {0, "NoQuota: memory", false};
  if (unit.cpu > *quota.cpu) return {0, "SliceAboveQuota: cpu", false};
  if (unit.memory > *quota.memory) return {0, "SliceAboveQuota: memory", false};
  const Int128 slices =
      std::max(rounded_up(*quota.cpu, unit.cpu), rounded_up(*quota.memory, unit.memory));
  if (slices > slices_max) return {has, "TooManySlices: " + std::to_string(saturate(slices)), true};
  return {saturate(slices), "", false};
}

std::int64_t allowed_slices(const PoolTenant& tenant, const PoolNamespace& of,
                            const CpuMemory& unit) {
  const CpuMemorySum others = of_others(tenant, of);
  Int128 allowed = INT64_MAX;
  if (const auto at = tenant.limit.find("cpu"); at != tenant.limit.end())
    // A slice is never 0 in a dimension: read_slice() refuses that.
    allowed = std::min(allowed, (at->second - others.cpu) / unit.cpu);
  if (const auto at = tenant.limit.find("memory"); at != tenant.limit.end())
    allowed = std::min(allowed, (at->second - others.memory) / unit.memory);
  return saturate(std::max(Int128{0}, allowed));
}

std::string passed_limit(const PoolTenant& tenant, const PoolNamespace& of, const CpuMemory& unit,
                         std::int64_t slices) {
  const CpuMemorySum others = of_others(tenant, of);
  if (const auto at = tenant.limit.find("cpu");
      at != tenant.limit.end() && others.cpu + Int128{unit.cpu} * slices > at->second)
    return "cpu";
  if (const auto at = tenant.limit.find("memory");
      at != tenant.limit.end() && others.memory + Int128{unit.memory} * slices > at->second)
    return "memory";
  return "";
}

}  // namespace fairlead
