#include "engine/runtime/pool_counts.h"

namespace fairlead {

namespace {

void count_reason(PoolCounts& counts, const char* kind, const Boxed<PoolReason>& reason) {
  const std::string& written = value_of(reason).written;
  if (written.empty()) return;
  ++counts.waiting[{kind, written.substr(0, written.find(':'))}];
}

}  // namespace

PoolCounts count_pool(const State& state) {
  PoolCounts counts;
  for (const auto& [name, tenant] : state.pool.tenants)
    for (const auto& [each, of] : tenant.namespaces) {
      count_reason(counts, "Namespace", of.reason);
      for (const auto& [since, pod] : of.waiting)
        count_reason(counts, "Pod", of.pods.at(pod).reason);
    }
  return counts;
}

}  // namespace fairlead
