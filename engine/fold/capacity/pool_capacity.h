// What a super cluster offers to tenants: the sums over its nodes, whatever their flavors, and what
// damping makes of them. Internal to the fold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/cluster_terms.h"
#include "engine/fold/capacity/damping_layers.h"
#include "engine/fold/capacity/liveness.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Returns the pool's entry for a member; null if it offers nothing to tenants.
const PoolCluster* pool_entry_of(const PoolSettings& settings, const std::string& member);
/// Sets whether and how much the cluster offers to the pool, as the configuration says.
void set_pool_terms(StateView<const Configuration, const LogPosition> state,
                    const std::string& name, Cluster& cluster);
/// Returns the headroom of the pool in that cluster: the entry's own, else the configuration's.
CanonicalHeadroom pool_headroom_of(const Configuration& configuration, const std::string& name);
/// Whether the node counts for the pool: Ready, schedulable, and every NoSchedule or NoExecute
/// taint is tolerated by pool.tolerations.
bool is_eligible_for_pool(const PoolSettings& settings, const NodeFacts& node);

/// Adds a node that counts to the sums (`sign` 1), or subtracts it (-1). `cause` is the event
/// behind it.
void add_to_pool(const Configuration& configuration, Cluster& cluster, const NodeRecord& node,
                 int sign, Seq cause);
/// Counts it for growing again, because its suppression ended.
void grow_pool(const Configuration& configuration, Cluster& cluster, const NodeRecord& node);
/// Notes that the node was cordoned: what it took falls at once.
void note_pool_cordon(const Configuration& configuration, Cluster& cluster, const NodeRecord& node);
/// Returns the largest of the nodes that count; nullopt where the cluster is known by totals alone.
std::optional<std::vector<NodeSize>> largest_nodes_of(const Configuration& configuration,
                                                      Cluster& cluster);
/// Empties the sums before they are counted again.
void clear_pool_sums(Cluster& cluster);
/// Counts the totals of a ManagedCluster, which has no nodes.
void add_totals_to_pool(Cluster& cluster);

/// Returns what claims may use of `usable`: the share that is not the pool's.
Amount rest_for_claims(const Cluster& cluster, Amount usable);
/// Returns the part of `usable` that is the pool's.
Amount part_of_pool(const Cluster& cluster, Amount usable);

/// Returns usable_amount without rounding, in hundredths of a unit.
Int128 usable_hundredths(Int128 offered, std::string_view resource,
                         const CanonicalHeadroom& headroom);
/// Whether a value fell against what was measured last. `headroom` is pool_headroom_of.
bool pool_falls(const Cluster& cluster, const CanonicalHeadroom& headroom);
/// Feeds the present sums to the step functions.
void measure_pool(Cluster& cluster, const CanonicalHeadroom& headroom, LogTime now);
/// Folds a change of liveness. When the source is live again growth waits for a whole window, and
/// after a loss new slices do for as long. A source that was lost is so until it is live.
void update_pool_liveness(Cluster& cluster, Liveness is, const DebounceSettings& settings,
                          LogTime now);
/// Accepts the first values, or lets each value step (layer 2). `lets_fall`: as SetRules has it.
void close_pool(Cluster& cluster, const DebounceSettings& settings, FallCause lets_fall,
                LogTime now);
/// Returns what holds all values of the pool's part, as the last close left it.
Gate pool_gate_of(const Cluster& cluster);
/// Returns when a value may next move if nothing happens; kForever if none may.
LogTime next_pool_deadline(Cluster& cluster, const DebounceSettings& settings, LogTime now);

}  // namespace fairlead
