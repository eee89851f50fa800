// Shares: the slices of each namespace at each super cluster, and the sums over all of them.
//
// The sums follow every change, so that what a namespace may get at a cluster is computed from two
// numbers, not from all namespaces. Internal to the fold, except the queries.
#pragma once

#include <optional>
#include <string>

#include "engine/fold/pool/lookup.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Marks the namespaces that want more slices in tenants with a limit whose number of slices
/// changed: they may get some, or have another reason.
void mark_limited_dirty(Pool& pool);

/// Notes that more fits at `id` than before, for namespaces that want slices and for pods that
/// wait.
void note_room(Pool& pool, const std::string& id);

/// Sets how many slices the namespace has at `id`: 0 keeps the id in its placements, nullopt takes
/// it out.
void set_share(PoolRoom state, const PoolNamespaceKey& key, const std::string& id,
               std::optional<std::int64_t> wanted);
/// Sets the slice in which the namespace's shares are counted.
void set_unit(PoolRoom state, const PoolNamespaceKey& key, const CpuMemory& unit);
/// Takes the pod out of the sums of PoolPod::cluster, or puts it in.
void uncount_pod(PoolRoom state, const PoolNamespaceKey& key, const PoolPod& pod);
void count_pod(PoolRoom state, const PoolNamespaceKey& key, const PoolPod& pod);
/// Counts again what super clusters say that the namespace holds, because it was taken up, is gone
/// or has another uid, or because its tenant has been connected or lost.
void recount_said(PoolRoom state, const PoolNamespaceKey& key);
/// Counts again what the namespaces of a member say, because its id has changed.
void recount_member(PoolRoom state, const std::string& member);
/// Counts one namespace of a super cluster, or takes it out before it is forgotten.
void count_super_namespace(PoolRoom state, const std::pair<std::string, std::string>& id);
void uncount_super_namespace(PoolRoom state, const std::pair<std::string, std::string>& id);
/// Compares what is held at `id` with what was accepted there.
void recompute_overflow(Pool& pool, const std::string& id);

/// Returns the placements that the shares make: each listed id.
SliceMap placements_of(const PoolNamespace& of);
/// Returns how many slices the pods of the namespace at a share fill: what may not move.
std::int64_t needed_slices(const PoolNamespace& of, const PoolShare& share);
/// Returns what all other namespaces and strangers hold at `id`.
CpuMemorySum others_at(const Pool& pool, const PoolNamespace& of, const std::string& id);
/// Returns how many slices of `unit` fit at an open cluster beside all other namespaces; 0 at
/// clusters that are not open.
std::int64_t room_at(PoolReader state, const PoolNamespace& of, const std::string& id,
                     const CpuMemory& unit);
/// Returns the larger of the slices and the pods of a share, in both dimensions.
CpuMemorySum held_by(const PoolNamespace& of, const PoolShare& share);
/// Returns what was accepted of a cluster in the two dimensions of a slice; zeros if it is unknown.
CpuMemory accepted_of(const SuperCluster& cluster);

}  // namespace fairlead
