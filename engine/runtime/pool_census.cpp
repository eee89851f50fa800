#include "engine/runtime/pool_census.h"

#include "engine/runtime/claim_census.h"

namespace fairlead {

namespace {

void count_reason(PoolCounts& counts, const char* kind, const PoolReason& reason) {
  if (reason.written.empty()) return;
  ++counts.waiting[{kind, reason.written.substr(0, reason.written.find(':'))}];
}

}  // namespace

const PoolCounts& PoolCensus::of(const State& state, LogTime now) {
  if (now < due_) return counts_;
  due_ = now + kCensusInterval;
  counts_ = {};
  for (const auto& [name, tenant] : state.pool.tenants)
    for (const auto& [each, of] : tenant.namespaces) {
      count_reason(counts_, "Namespace", of.reason);
      for (const auto& [since, pod] : of.waiting)
        count_reason(counts_, "Pod", of.pods.at(pod).reason);
    }
  return counts_;
}

}  // namespace fairlead
