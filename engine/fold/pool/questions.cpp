#include "engine/fold/pool/questions.h"

#include <set>

#include "engine/fold/pool/demand.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/super_clusters.h"

namespace fairlead {

namespace {

std::string short_dimension(const ClusterForNamespace& row, const CpuMemory& unit) {
  const auto fits = [&](Amount usable, Int128 others, Amount one) {
    return usable - others >= Int128{one} * (row.slices + 1);
  };
  if (!row.usable || !fits(row.usable->cpu, row.others.cpu, unit.cpu)) return "cpu";
  return fits(row.usable->memory, row.others.memory, unit.memory) ? "" : "memory";
}

}  // namespace

const char* standing_name(ClusterStanding standing) {
  switch (standing) {
    case ClusterStanding::open: return "open";
    case ClusterStanding::closed: return "closed";
    case ClusterStanding::away: return "away";
    case ClusterStanding::gone: return "gone";
  }
  return "";
}

std::optional<CpuMemory> slice_of(const PoolNamespace& of) {
  return of.taken_up ? std::optional(of.unit) : of.slice;
}

std::int64_t expected_slices(const Configuration& configuration, const PoolNamespace& of) {
  const auto slice = slice_of(of);
  if (!slice) return 0;
  const PoolSettings& settings = configuration.pool;
  return demand_of(quota_of(of, settings.quotas), *slice, of.slices, settings.slices_max).slices;
}

std::vector<ClusterForNamespace> clusters_for(PoolReader state, const PoolNamespace& of) {
  const Pool& pool = state.pool;
  const auto slice = slice_of(of);
  std::set<std::string> ids;
  for (const auto& [id, cluster] : pool.clusters) ids.insert(id);
  for (const auto& [id, share] : of.shares)
    if (share.listed) ids.insert(id);
  std::vector<ClusterForNamespace> rows;
  for (const std::string& id : ids) {
    ClusterForNamespace row;
    row.id = id;
    row.standing = standing_of(state, id);
    if (const auto at = pool.clusters.find(id); at != pool.clusters.end()) {
      row.cluster = at->second.cluster;
      if (at->second.known) row.usable = accepted_of(at->second);
    }
    if (const auto at = of.shares.find(id); at != of.shares.end()) {
      row.slices = at->second.slices;
      row.listed = at->second.listed;
    }
    row.others = others_at(state.pool, of, id);
    if (slice) {
      row.room = room_at(state, of, id, *slice);
      row.short_of = short_dimension(row, *slice);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace fairlead
