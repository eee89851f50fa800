// Capacity facts of one cluster: taking them in, and deciding a moment. Internal to the fold.
//
// Facts at one log time change sums; nothing is decided until that time closes. Then the debounce
// layers 1 to 3 move the accepted values.
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// Begins a moment of the cluster, if it is not open yet, and returns the cluster (made if it is
/// new).
Cluster& open_cluster(State& state, const std::string& name);
/// The same for a change of what its nodes offer, or for a deadline of its windows. Where nothing
/// else happens in that moment, and nothing accepted moves, the cluster's writes stay as they are.
Cluster& open_capacity(State& state, const std::string& name);

void observe_node(State& state, const std::string& cluster, const std::string& node,
                  const NodeFacts* facts, Seq seq);
void observe_metrics(State& state, const std::string& cluster, const ClusterMetricsFacts* facts,
                     Seq seq);
void observe_managed_cluster(State& state, const std::string& cluster,
                             const ManagedClusterFacts* facts, Seq seq);
void observe_profile(State& state, const ObjectKey& key, const ClusterProfileFacts* facts);
/// A source of the cluster (all of them where `kind` is none) became live, stale or lost.
void observe_liveness(State& state, const SourceName& source, std::optional<Kind> kind,
                      const std::string& cluster, Liveness liveness, Seq seq);
/// A relist or bookmark of `kind` from `source`: the second observation that a hold waits for.
void observe_sign_of_life(State& state, const SourceName& source, std::optional<Kind> kind,
                          const std::string& cluster);
/// Aliases, sources or flavors changed: every sum is made anew.
void recount_everything(State& state);

/// Keeps `cluster.releases` as the flaps of `node` say under `settings`.
void schedule_release(Cluster& cluster, const std::string& node, FlapPenalty& flap,
                      const DebounceSettings& settings);

/// Decides the present moment of the cluster and sets its next deadline.
void close_cluster(State& state, const std::string& name, Touched& touched);

/// When an accepted value of the cluster changed last. The epoch if none did.
LogTime still_since(const Cluster& cluster);

/// The debounce settings in force for a cluster: the configuration's, with the annotations of its
/// claim over them.
DebounceSettings settings_of(const State& state, const std::string& cluster);
/// Of those, the write interval.
Duration write_interval_of(const State& state, const std::string& cluster);
/// The same, with the headroom: derived when a claim or the configuration changed, else as it was.
/// `cluster` is the one of that name.
const ClusterTerms& terms_of(const State& state, const std::string& name, Cluster& cluster);
/// The one live claim of the cluster; null if it has none.
const Claim* winning_claim(const State& state, const std::string& cluster);
/// Sum over flavors of what is accepted of `resource`.
Int128 accepted_total(const Cluster& cluster, const std::string& resource);
/// The liveness of the source in force, with the ManagedCluster's own word.
Liveness liveness_of(const State& state, const Cluster& cluster, const DebounceSettings& settings);

/// Whether quota for this cluster also goes to the member itself (members.mode).
bool has_member(const State& state, const Cluster& cluster);

}  // namespace fairlead
