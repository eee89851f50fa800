#include "engine/plan/claims/capacity_condition.h"

#include <string_view>
#include <utility>

namespace fairlead {

namespace {

// Whether the cluster's Nodes are no longer read because there are too many. The reader stops one
// beyond the bound, so more than the bound are known.
bool has_too_many_nodes(const Configuration& configuration, const Cluster& cluster) {
  const std::int64_t bound = configuration.member_nodes_max;
  return bound > 0 && cluster.source == CapacitySource::nodes && cluster.stale() &&
         std::cmp_greater(cluster.reports.nodes.size(), bound);
}

// What of the cluster is not read for a while because it changed too often; empty: nothing is.
std::string_view changes_too_often(const Configuration& configuration, const Cluster& cluster) {
  if (!cluster.stale()) return "";
  if (cluster.source == CapacitySource::nodes && cluster.reports.liveness[0] == Liveness::overrun)
    return "nodes";
  const bool published = configuration.dra.quota && cluster.device_capacity.published;
  return published && cluster.device_capacity.stream == Liveness::overrun ? "devices" : "";
}

}  // namespace

ClaimCondition capacity_known(const Configuration& configuration, const std::string& cluster_name,
                              const Cluster* cluster) {
  constexpr std::string_view type = "CapacityKnown";
  if (!cluster || (!cluster->source && !cluster->presence.detached))
    return {type, "False", "NoCapacitySource", "no source knows the capacity of " + cluster_name};
  if (cluster->presence.detached)
    return {type, "False", "ClusterDetached", cluster_name + " has left"};
  // Both of these make the source stale too. They come first, because they name the setting.
  if (has_too_many_nodes(configuration, *cluster))
    return {type, "Unknown", "TooManyNodes",
            cluster_name + " has more than " + std::to_string(configuration.member_nodes_max) +
                " nodes (members.nodesMax); growth is frozen"};
  if (const std::string_view what = changes_too_often(configuration, *cluster); !what.empty())
    return {type, "Unknown", "TooManyChanges",
            cluster_name + " shows more changes of its " + std::string(what) + " than " +
                std::to_string(configuration.member_changes_per_minute) +
                " a minute (members.changesPerMinute); growth is frozen"};
  if (!cluster->known)
    return {type, "False", "WaitingForFirstValue", "the first value must hold still first"};
  if (cluster->lost()) return {type, "False", "ClusterLost", cluster_name + " is lost"};
  if (cluster->stale() && cluster->reports.unwatched_since)
    return {type, "Unknown", "SourceStale",
            "members.kubeconfigs names " + cluster_name + " no longer, since " +
                to_rfc3339(*cluster->reports.unwatched_since) +
                ": growth is frozen, and after lostAfter the hub counts nothing of it"};
  if (cluster->stale()) return {type, "Unknown", "SourceStale", "growth is frozen"};
  if (cluster->source == CapacitySource::cluster_metrics && cluster->reports.metrics_empty)
    return {type, "Unknown", "SourceEmpty", "ClusterMetrics names no node; the last value stays"};
  return {type, "True", "Accepted", "capacity is known"};
}

}  // namespace fairlead
