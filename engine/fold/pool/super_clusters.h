// The super clusters: members that offer a part of their capacity to tenants. Internal to the fold,
// except the queries.
#pragma once

#include <string>
#include <string_view>

#include "engine/fold/capacity/liveness.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// The ConfigMap of a super cluster that has its id in data.id.
inline constexpr std::string_view kSuperClusterInfoNamespace = "kube-system";
inline constexpr std::string_view kSuperClusterInfo = "supercluster-info";

/// The observe functions fold one object of the member `source`; `seen` is empty if it is gone.
void observe_super_cluster_info(StateView<Clusters, DirtyClusters, Pool> state,
                                const SourceName& source, const ObjectKey& key,
                                const Seen<ConfigMapFacts>& seen);
/// Folds whether the id of the member can be known: the stream of its ConfigMap is live or lost.
void observe_super_cluster_id(StateView<Clusters, DirtyClusters, Pool> state,
                              const SourceName& source, Liveness liveness);

/// Whether the id of the member is still being read: until then the member takes no part. A lost
/// member cannot be read, so its name is its id.
bool awaits_id(PoolReader state, const std::string& member);

/// Derives Pool::clusters of the members whose moment closes, and marks those that changed.
void recompute_super_clusters(PoolRoom state, const std::set<std::string>& members);
/// Returns when a super cluster, or an id that no member has, next changes its standing by time
/// alone; kForever if never.
LogTime next_super_cluster_deadline(PoolReader state);

/// Returns the standing of an id at State::now.
ClusterStanding standing_of(PoolReader state, const std::string& id);

}  // namespace fairlead
