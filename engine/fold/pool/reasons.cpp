#include "engine/fold/pool/reasons.h"

#include <algorithm>
#include <utility>

#include "engine/fold/cluster_state.h"
#include "engine/fold/pool/demand.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/super_clusters.h"

namespace fairlead {

namespace {

std::string slices_text(std::int64_t count, const CpuMemory& unit) {
  return std::to_string(count) + " more slices of cpu " + amount_text("cpu", unit.cpu) +
         ", memory " + amount_text("memory", unit.memory);
}

// Why a namespace has fewer slices than it should have.
ReasonText missing_slices(const PoolTenant& tenant, const PoolNamespace& of, const CpuMemory& unit,
                          std::int64_t wanted, std::int64_t missing) {
  if (std::string passed = passed_limit(tenant, of, unit, wanted); !passed.empty())
    return {"TenantLimit: " + passed, ReasonTopic::request};
  return {"DoesNotFit: " + slices_text(missing, unit), ReasonTopic::clusters};
}

std::string unavailable_clusters(PoolReader state, const PoolNamespace& of) {
  std::string ids;
  for (const auto& [id, share] : of.shares) {
    if (share.slices == 0) continue;
    const ClusterStanding standing = standing_of(state, id);
    if (standing != ClusterStanding::away && standing != ClusterStanding::gone) continue;
    ids += (ids.empty() ? "" : ",") + id;
  }
  return ids;
}

}  // namespace

// A reason about clusters counts only once each of them has had time for a first value
// (clusters_known_since); until then its `since` is kForever. Otherwise a start would tell every
// tenant that nothing fits.
void set_reason(PoolRoom state, const PoolPodKey& key, Boxed<PoolReason>& boxed, ReasonText now) {
  if (now.text.empty()) return boxed.reset();  // goes at once
  PoolReason& reason = boxed ? *boxed : boxed.emplace();
  const auto& known_since = state.pool.clusters_known_since;
  const bool counts = now.topic == ReasonTopic::request || known_since;
  if (now.text != reason.current) {
    reason.current = std::move(now.text);
    reason.since = counts ? state.now : kForever;
  } else if (reason.since == kForever && counts) {
    reason.since = known_since.value_or(state.now);
  }
  if (reason.current == reason.written || reason.since == kForever) return;
  const LogTime holds = reason.since + state.configuration.pool.settle;
  if (holds <= state.now)
    reason.written = reason.current;
  else
    state.pool.due.insert({holds, key});
}

void clear_reason(Boxed<PoolReason>& reason) {
  if (!reason) return;
  reason->current.clear();
  if (reason->written.empty()) reason.reset();
}

void note_written_reason(Boxed<PoolReason>& reason, const std::optional<std::string>& annotation) {
  if (!annotation || annotation->empty()) return;
  PoolReason& kept = reason ? *reason : reason.emplace();
  kept.written = *annotation;
}

ReasonText reason_of_namespace(PoolReader state, const PoolTenant& tenant,
                               const PoolNamespace& of) {
  const PoolSettings& settings = state.configuration.pool;
  const NamespaceQuota quota = quota_of(of, settings.quotas);
  if (!quota.any()) return {};
  if (of.bad_slice) return {"BadSlice", ReasonTopic::request};
  SliceDemand demand = demand_of(quota, *of.slice, of.slices, settings.slices_max);
  if (!demand.reason.empty()) return {std::move(demand.reason), ReasonTopic::request};
  if (*of.slice != of.unit)
    return missing_slices(tenant, of, *of.slice, demand.slices, demand.slices);
  if (of.slices < demand.slices)
    return missing_slices(tenant, of, of.unit, demand.slices, demand.slices - of.slices);
  if (std::string ids = unavailable_clusters(state, of); !ids.empty())
    return {"ClusterUnavailable: " + ids, ReasonTopic::clusters};
  return {};
}

LogTime clusters_known_at(PoolReader state) {
  LogTime known;
  if (state.pool.clusters_known_since || state.pool.tenants.empty()) return kForever;
  const Duration window = state.configuration.debounce.grow_window;
  for (const std::string& member : state.pool.unlearnt)
    if (awaits_id(state, member))
      known = std::max(known, state.clusters.at(member).pool.first_seen + window);
  for (const auto& [id, cluster] : state.pool.clusters)
    if (cluster.liveness == Liveness::live && !cluster.known)
      known = std::max(known, cluster.first_seen + window);
  return known;
}

void update_clusters_known(PoolRoom state) {
  Pool& pool = state.pool;
  if (pool.clusters_known_since || clusters_known_at(state) > state.now) return;
  pool.clusters_known_since = state.now;
  for (const auto& [name, tenant] : pool.tenants)
    for (const auto& [each, of] : tenant.namespaces) {
      pool.dirty_namespaces.insert({name, each});
      if (!of.waiting.empty()) pool.dirty_lists.insert({name, each});
    }
}

}  // namespace fairlead
