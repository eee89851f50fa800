#include "engine/fold/capacity/liveness.h"

#include <algorithm>

#include "engine/fold/capacity/cluster.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/devices/search_index.h"

namespace fairlead {

Liveness liveness_of(LivenessReader state, const Cluster& cluster,
                     const DebounceSettings& settings) {
  Liveness liveness = Liveness::live;
  if (cluster.source) {
    const auto which = static_cast<std::size_t>(*cluster.source);
    const Liveness stream = cluster.reports.liveness[which];
    liveness = stream == Liveness::overrun ? Liveness::stale : stream;
    const auto& unwatched = cluster.reports.unwatched_since;
    if (*cluster.source == CapacitySource::nodes && unwatched &&
        *unwatched + settings.lost_after <= state.now)
      liveness = Liveness::lost;
    if (*cluster.source != CapacitySource::nodes)
      // The index is 0 or 1: `nodes` is the first source, and hub_streams has the other two in
      // order.
      liveness = std::max(liveness, state.hub_streams[which - 1]);
  }
  // A server that only hides its devices is not lost.
  if (cluster.device_capacity.published && state.configuration.dra.quota &&
      cluster.device_capacity.stream != Liveness::live)
    liveness = std::max(liveness, Liveness::stale);
  if (cluster.reports.unavailable_since) {
    const bool lost = *cluster.reports.unavailable_since + settings.lost_after <= state.now;
    liveness = std::max(liveness, lost ? Liveness::lost : Liveness::stale);
  }
  return liveness;
}

Liveness pool_liveness_of(LivenessReader state, const Cluster& cluster,
                          const DebounceSettings& settings) {
  const Liveness liveness = liveness_of(state, cluster, settings);
  if (cluster.source) return liveness;
  const Liveness nodes = cluster.reports.liveness[static_cast<std::size_t>(CapacitySource::nodes)];
  return std::max(liveness, nodes == Liveness::overrun ? Liveness::stale : nodes);
}

void observe_liveness(CapacityRoom state, const SourceName& source, std::optional<Kind> kind,
                      const std::string& cluster, Liveness liveness, Seq seq) {
  const auto set = [&](const std::string& name, CapacitySource which) {
    Cluster& target = mark_cluster_dirty(state, name);
    Liveness& stream = target.reports.liveness[static_cast<std::size_t>(which)];
    if (stream != liveness) note_stream(state, name);
    stream = liveness;
    if (which == CapacitySource::nodes && liveness == Liveness::live)
      target.reports.unwatched_since.reset();
    target.reports.liveness_seq = seq;
  };
  const auto set_slices = [&](const std::string& name) {
    Cluster& target = mark_cluster_dirty(state, name);
    const bool listed = liveness == Liveness::live;
    if (target.device_capacity.stream != liveness || (listed && !target.search.slices_listed))
      note_stream(state, name);
    target.device_capacity.stream = liveness;
    target.search.slices_listed = target.search.slices_listed || listed;
  };
  if (!kind) {
    for (std::size_t which = 0; which < 3; ++which)
      set(cluster, static_cast<CapacitySource>(which));
    set_slices(cluster);
  } else if (*kind == Kind::node) {
    if (source != kHub) set(source, CapacitySource::nodes);
  } else if (*kind == Kind::resource_slice) {
    if (source == kHub) return;
    set_slices(source);
    mark_cluster_dirty(state, source).reports.liveness_seq = seq;
  } else if (source == kHub && (*kind == Kind::cluster_metrics || *kind == Kind::managed_cluster)) {
    const bool metrics = *kind == Kind::cluster_metrics;
    Liveness& stream = state.hub_streams[metrics ? 0 : 1];
    if (stream == liveness) return;
    stream = liveness;
    for (auto& [name, target] : state.clusters) {
      mark_cluster_dirty(state, name);
      target.reports.liveness_seq = seq;
    }
  }
}

// A lost line of the configuration takes nothing away at once. The fold does it, not the reader of
// the stream: so the time counts on over a restart.
void observe_members(CapacityRoom state, const std::vector<MemberKubeconfig>& before,
                     const std::vector<MemberKubeconfig>& after, Seq seq) {
  for (const MemberKubeconfig& member : before) {
    const bool stays = std::any_of(after.begin(), after.end(), [&](const MemberKubeconfig& other) {
      return other.cluster == member.cluster;
    });
    const auto known = state.clusters.find(member.cluster);
    if (stays || known == state.clusters.end() || !known->second.reports.nodes_known) continue;
    ClusterReports& reports = mark_cluster_dirty(state, member.cluster).reports;
    Liveness& stream = reports.liveness[static_cast<std::size_t>(CapacitySource::nodes)];
    if (stream == Liveness::lost) continue;
    if (stream != Liveness::stale) note_stream(state, member.cluster);
    stream = Liveness::stale;
    reports.unwatched_since = state.now;
    reports.liveness_seq = seq;
  }
}

}  // namespace fairlead
