// Folds the capacity facts of one cluster and closes its moments. Internal to the fold.
//
// Facts at one log time change sums; nothing is decided until that moment closes. Then the debounce
// layers 1 to 3 move the accepted values.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/capacity/damping_layers.h"
#include "engine/fold/capacity/dirty_clusters.h"
#include "engine/fold/capacity/liveness.h"
#include "engine/fold/changes.h"
#include "engine/fold/claims/terms.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/dirty_set.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Folds that the cluster's own API server was heard of: it may be a super cluster.
void note_member(FlavorRoom state, const std::string& name);
/// The observe functions fold one object; `facts` is null if it is gone.
void observe_node(CapacityRoom state, const std::string& cluster, const std::string& node,
                  const NodeFacts* facts, Seq seq);
void observe_metrics(CapacityRoom state, const std::string& cluster,
                     const ClusterMetricsFacts* facts, Seq seq);
/// Returns that the cluster joined or left, if it did, as does the next one.
Changes observe_managed_cluster(CapacityRoom state, const std::string& cluster,
                                const ManagedClusterFacts* facts, Seq seq);
/// `facts` is null if the profile is gone. Called before MultiKueue::profiles follows: that has the
/// cluster which the profile named until now.
Changes observe_profile(CapacityRoom state, const ObjectKey& key, const ClusterProfileFacts* facts);
/// Folds that a source of the cluster (all of them if `kind` is empty) is live, stale or lost.
void observe_liveness(CapacityRoom state, const SourceName& source, std::optional<Kind> kind,
                      const std::string& cluster, Liveness liveness, Seq seq);
/// Folds that the configuration names other members. The Nodes of a member that it no longer names
/// are not read: their stream is stale at once, and lost after lostAfter.
void observe_members(CapacityRoom state, const std::vector<MemberKubeconfig>& before,
                     const std::vector<MemberKubeconfig>& after, Seq seq);
/// Folds a relist or bookmark of `kind` from `source`: the second observation that a hold waits
/// for.
void observe_sign_of_life(CapacityRoom state, const SourceName& source, std::optional<Kind> kind,
                          const std::string& cluster);
/// Computes every sum again, because aliases, sources or flavors changed.
void recount_everything(FlavorRoom state);
/// Counts the nodes of every cluster again, because FlavorTables::candidates changed with the event
/// `edit` of the moment that closes.
void recount_for_uses(FlavorRoom state, Seq edit);

/// Sets the entry of `node` in `cluster.releases` to the end of its suppression under `settings`.
void schedule_release(Cluster& cluster, const std::string& node, FlapPenalty& flap,
                      const DebounceSettings& settings);

/// Closes the present moment of the cluster and sets its next deadline, which is `next_touch` of
/// its works (members/member_deviation.h) or an earlier one. Returns what of its accepted capacity
/// changed.
Changes recompute_cluster(CapacityRoom state, const std::string& name, LogTime next_touch,
                          DirtySet& dirty);

/// Returns what holds all values of the cluster, as the last close left it.
Gate gate_of(const Cluster& cluster);
/// Returns when an accepted value of the cluster changed last; LogTime{} if none did.
LogTime still_since(const Cluster& cluster);

/// Returns the sum over flavors of the accepted values of `resource`.
Int128 accepted_total(const Cluster& cluster, const std::string& resource);
/// Returns the worse of the liveness of the source in force and what the ManagedCluster's
/// condition Available reports.
Liveness liveness_of(LivenessReader state, const Cluster& cluster,
                     const DebounceSettings& settings);

/// Returns the liveness of the super cluster: a member may be lost before a Node of it was
/// observed.
Liveness pool_liveness_of(LivenessReader state, const Cluster& cluster,
                          const DebounceSettings& settings);

/// Whether quota for this cluster also goes to the member itself (members.mode).
bool has_member(const Configuration& configuration, const Cluster& cluster);

}  // namespace fairlead
