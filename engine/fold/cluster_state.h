// A cluster as State holds it: its presence, its sources of capacity, what became of that capacity,
// and what is known of the cluster as a member.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/cluster_terms.h"
#include "engine/fold/capacity/largest_nodes.h"
#include "engine/fold/capacity/liveness.h"
#include "engine/fold/capacity/node_bases.h"
#include "engine/fold/devices/device_capacity_state.h"
#include "engine/fold/devices/device_search_state.h"
#include "engine/fold/devices/device_state.h"
#include "engine/fold/members/member_state.h"
#include "engine/fold/memo.h"
#include "engine/fold/name_table.h"
#include "engine/fold/observed.h"
#include "engine/fold/seen_workload.h"
#include "schema/event.h"

namespace fairlead {

/// Whether the hub knows the cluster, and since which event.
struct ClusterPresence {
  using FieldsInPlace = void;
  std::optional<ManagedClusterFacts> managed;
  Seq managed_seq;
  Seq changed_seq;  ///< what made it join or leave, or have a ManagedCluster
  std::set<std::pair<std::string, std::string>>
      profiles;             ///< (namespace, name) of those MultiKueue::profiles that name it
  bool detached = false;    ///< it was joined and is not any more
  bool claim_seen = false;  ///< a claim has existed since it joined

  friend bool operator==(const ClusterPresence&, const ClusterPresence&) = default;
};

/// What the sources of capacity reported last, and the liveness of their streams.
struct ClusterReports {
  using FieldsInPlace = void;
  bool nodes_known = false;
  NameTable<NodeRecord> nodes;
  bool metrics_known = false;
  bool metrics_empty =
      false;  ///< the newest ClusterMetrics has no node or is gone: the last value stays
  NameTable<NodeRecord> metrics_nodes;
  bool totals_known = false;
  std::map<std::string, Amount> totals;
  std::array<Liveness, 3> liveness{};  ///< by CapacitySource
  std::optional<LogTime> unavailable_since;
  /// When the configuration stopped naming it as a member whose Nodes are read; they were, and are
  /// not yet read again.
  std::optional<LogTime> unwatched_since;
  Seq liveness_seq;

  friend bool operator==(const ClusterReports&, const ClusterReports&) = default;
};

/// The cluster as a member that gets quota of its own: what was written for it, and what it is
/// known to admit.
struct ClusterMember {
  using FieldsInPlace = void;
  std::map<std::string, std::set<std::string>> named;  ///< queue -> flavors that claims named
  /// By name, those that are present: kQuotaWork and, where it would become too large, more.
  std::map<std::string, Work> quota_works;
  Work queue_work;
  Policy policy;
  std::map<MemberPair, Amount> confirmed;  ///< quota that the member is known to admit
  /// What the hub had of a pair before it was ours: it keeps that much until the member confirms
  /// it.
  std::map<MemberPair, Amount> taken_over;
  bool written = false;  ///< whether the cluster had a member when the last moment closed
  std::map<std::string, MemberQueue> queues;  ///< where the member is watched
  std::map<std::pair<std::string, std::string>, LocalQueueFacts> local_queues;  ///< observed there
  std::map<std::string, CohortFacts> cohorts;                                   ///< observed there
  std::map<NamespacedName, SeenWorkload> workloads;                             ///< observed there
  /// Of has_noted_silence(): those whose streams are not current. Only questions about the past
  /// ask.
  std::set<Kind> silent;
  bool workloads_listed = false;  ///< its Workloads were read once
  /// ClusterQueues there that differ from the applied work, and from when on that counts.
  std::map<std::string, LogTime> deviating;

  friend bool operator==(const ClusterMember&, const ClusterMember&) = default;
};

/// What a super cluster offers to tenants. It counts by what the member itself reports, so that it
/// stays as it is when the hub's ManagedCluster goes or comes back.
struct ClusterPool {
  using FieldsInPlace = void;
  bool member = false;       ///< its own API server was heard of
  bool offered = false;      ///< a member, and pool.clusters has an entry for it
  std::int64_t percent = 0;  ///< the pool's part; 0 where nothing is offered
  LogTime first_seen;        ///< when it became a super cluster
  std::int64_t eligible_nodes = 0;
  std::map<std::string, PoolValue> values;  ///< by canonical resource
  bool valued = false;                      ///< a value was measured
  bool known = false;                       ///< the first values were accepted
  LogTime first_valued;
  LogTime last_changed;
  Liveness liveness = Liveness::live;  ///< at the last close; lost until it is live again
  std::optional<LogTime> lost_since;
  /// After a loss: when it takes new slices again.
  std::optional<LogTime> counted_again_at;
  Memo<LargestNodes> largest;  ///< of the eligible nodes

  friend bool operator==(const ClusterPool&, const ClusterPool&) = default;
};

/// One cluster. The fields of its own are the capacity of the source in force: the moment's
/// observation, the damping of it and the accepted values. They stay together because
/// recompute_cluster decides all of them in one step. A part that says FieldsInPlace has its fields
/// in a snapshot as if they were the cluster's own, so that snapshots keep their format; their
/// order must not change. Large: for these two reasons.
struct Cluster {
  ClusterPresence presence;
  ClusterReports reports;

  // From nodes to accepted
  std::optional<CapacitySource> source;  ///< in force
  std::optional<SourceChange>
      source_change;  ///< the last one, if a value of another had been accepted
  std::int64_t eligible_nodes = 0;
  /// In the open moment nothing but what the nodes offer can have changed.
  Memo<bool> only_capacity;
  NameTable<FlapPenalty> flaps;
  std::set<std::pair<LogTime, std::string>>
      releases;  ///< of suppressed nodes, under `release_settings`
  DebounceSettings release_settings;
  Memo<ClusterTerms> terms;      ///< see terms_of
  Memo<NodeBases> bases;         ///< of the facts of its nodes
  std::vector<NodeKind> kinds;   ///< of its nodes; CountedNode::kind
  std::set<CapacityKey> mapped;  ///< pairs: the flavor ever won the resource of a node
  std::map<CapacityKey, CapacityValue> capacity;
  Memo<std::vector<SumLane>> lanes;  ///< emptied when a key of `capacity` or a kind goes
  // The lifecycle of accepted values. Only a ManagedCluster reports totals; the other sources
  // report flavors. A cluster that joins again begins anew.
  //   valued  known
  //   no      no     No source in force has reported a value: first_valued says nothing.
  //   yes     no     One has. Its first value is waited for, from first_valued on.
  //   yes     yes    If totals_accepted is what the source in force reports: it was accepted, and
  //                  moves by steps. Else values of the former source stay accepted, and the first
  //                  one of the source in force is waited for, as in the row above.
  //   no      yes    The source in force reports totals where flavors were accepted, or flavors
  //                  where totals were, and has not reported yet. The former values stay.
  bool valued = false;           ///< the source in force has reported a value
  bool known = false;            ///< a first value was accepted
  bool totals_accepted = false;  ///< what is accepted is totals (flavorless keys)
  LogTime first_valued;          ///< when it was valued, or when its source was live again
  LogTime last_changed;          ///< of any usable value
  std::optional<Hold> hold;
  Observation observation;
  Liveness liveness_at_close = Liveness::live;  ///< at the last close
  Seq liveness_at_close_seq;                    ///< of the event that made it so
  std::optional<LogTime>
      counted_again_at;  ///< after a loss: when the hub counts it again; kForever while lost

  Seq claim_seq;  ///< what changed last which claim is in force: a claim, its edit or its end

  ClusterMember member;
  ClusterPool pool;
  DeviceObjects devices;
  DeviceCapacityPart device_capacity;
  DeviceSearch search;

  bool joined() const { return presence.managed.has_value() || !presence.profiles.empty(); }
  bool stale() const { return liveness_at_close == Liveness::stale; }
  bool lost() const { return liveness_at_close == Liveness::lost; }

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

/// Where the objects of each kind are (held.h).
auto& table_of(KindOf<NodeFacts>, Of<ClusterReports> auto& part) { return part.nodes; }
auto& table_of(KindOf<ClusterQueueFacts>, Of<ClusterMember> auto& part) { return part.queues; }
auto& table_of(KindOf<LocalQueueFacts>, Of<ClusterMember> auto& part) { return part.local_queues; }
auto& table_of(KindOf<CohortFacts>, Of<ClusterMember> auto& part) { return part.cohorts; }
auto& table_of(KindOf<WorkloadFacts>, Of<ClusterMember> auto& part) { return part.workloads; }

}  // namespace fairlead
