#include "engine/fold/pool/wishes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/fold/pool/demand.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/pool/shares.h"
#include "engine/fold/pool/super_clusters.h"

namespace fairlead {

namespace {

using Need = SliceWishes::Need;

// Whether the share counts with exactly its slices in the sums of its cluster, and stays there.
// Then what is free for the namespace at that cluster is what would be free for a namespace that
// has nothing there.
bool counts_as_its_slices(PoolReader state, const PoolNamespace& of, const std::string& id,
                          const PoolShare& share) {
  const CpuMemorySum slices{Int128{of.unit.cpu} * share.slices,
                            Int128{of.unit.memory} * share.slices};
  return share.counted == slices &&
         (share.slices == 0 || standing_of(state, id) != ClusterStanding::gone);
}

// Returns what the namespace needs if it wants more slices and nothing else; nullopt if its
// decision depends on more: an edit, another slice, slices that should move, pods beyond its
// slices.
std::optional<Need> need_of(PoolReader state, const PoolNamespace& of) {
  const PoolSettings& settings = state.configuration.pool;
  const SliceDemand demand =
      demand_of(quota_of(of, settings.quotas), *of.slice, of.slices, settings.slices_max);
  if (of.edited != PlacementEdit::none || *of.slice != of.unit || demand.slices <= of.slices)
    return std::nullopt;
  if (!std::all_of(of.shares.begin(), of.shares.end(), [&](const auto& entry) {
        return counts_as_its_slices(state, of, entry.first, entry.second);
      }))
    return std::nullopt;
  const std::int64_t least = settings.partial ? 1 : demand.slices - of.slices;
  return Need{{of.unit.cpu, of.unit.memory}, least};
}

void erase_wish(SliceWishes& wishes, const PoolNamespaceKey& key) {
  wishes.others.erase(key);
  const auto at = wishes.needs.find(key);
  if (at == wishes.needs.end()) return;
  wishes.lacking.erase({at->second, key});
  wishes.needs.erase(at);
}

void file_wish(PoolReader state, SliceWishes& wishes, const PoolNamespaceKey& key) {
  erase_wish(wishes, key);
  if (const auto need = need_of(state, *find_namespace(state.pool, key))) {
    wishes.lacking.emplace(*need, key);
    wishes.needs.emplace(key, *need);
  } else {
    wishes.others.insert(key);
  }
}

// Returns the index. A copy of State begins without one, so it is derived here.
SliceWishes& wishes_of(PoolRoom state) {
  SliceWishes& wishes = *state.pool.wishes;
  if (!std::exchange(wishes.derived, true))
    for (const PoolNamespaceKey& key : state.pool.wanting) file_wish(state, wishes, key);
  return wishes;
}

}  // namespace

void note_wish(PoolRoom state, const PoolNamespaceKey& key) {
  PoolNamespace& of = *find_namespace(state.pool, key);
  if (!of.wants_since) of.wants_since = state.now;
  state.pool.wanting.insert(key);
  if (state.pool.wishes->derived) file_wish(state, *state.pool.wishes, key);
}

void forget_wish(Pool& pool, const PoolNamespaceKey& key) {
  pool.wanting.erase(key);
  erase_wish(*pool.wishes, key);
}

// A namespace that lacks slices and nothing else gets them if so many are free in all clusters
// together, or, with pool.partial, if one is (divide_slices). No more is free for it than for a
// namespace that has nothing, so the ones left out would be decided as before. The wishes for one
// size of slice are next to each other, the smallest first.
std::set<PoolNamespaceKey> WorthDeciding::all() {
  const SliceWishes& wishes = wishes_of(state_);
  std::set<PoolNamespaceKey> worth = wishes.others;
  for (auto at = wishes.lacking.begin(); at != wishes.lacking.end();) {
    const auto slice = at->first.first;
    const Int128 free = free_slices(slice);
    for (; at != wishes.lacking.end() && at->first.first == slice && at->first.second <= free; ++at)
      worth.insert(at->second);
    // On to the first wish of another size: no need is greater than INT64_MAX slices.
    if (at != wishes.lacking.end() && at->first.first == slice)
      at = wishes.lacking.upper_bound({{slice, INT64_MAX}, {"\xff", ""}});
  }
  return worth;
}

bool WorthDeciding::contains(const PoolNamespaceKey& key) {
  const SliceWishes& wishes = wishes_of(state_);
  const auto need = wishes.needs.find(key);
  return need == wishes.needs.end() || need->second.second <= free_slices(need->second.first);
}

// Returns how many slices of that size are free in all open clusters together, for a namespace that
// has nothing there.
Int128 WorthDeciding::free_slices(const std::pair<Amount, Amount>& slice) {
  const auto [at, added] = free_.try_emplace(slice, 0);
  if (!added) return at->second;
  const PoolNamespace nothing;
  for (const auto& [id, standing] : state_.pool.standings)
    if (standing == ClusterStanding::open)
      at->second += room_at(state_, nothing, id, {slice.first, slice.second});
  return at->second;
}

}  // namespace fairlead
