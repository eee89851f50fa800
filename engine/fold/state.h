// State: everything the fold knows, as plain values.
//
// Two engines that evolve the same events hold equal states. All containers are ordered by content,
// so nothing depends on addresses or hash order. One thread owns a State; others get copies or
// nothing.
//
// Reading order: Cluster (capacity of one member), Claim (what an administrator assigns), Queue (a
// hub ClusterQueue), Work (what was sent to a member), WriteState (what we sent for one object),
// State.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/claim_spec.h"
#include "engine/fold/cluster_terms.h"
#include "engine/fold/damping.h"
#include "engine/fold/deadlines.h"
#include "engine/fold/liveness.h"
#include "engine/fold/memo.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/name_table.h"
#include "engine/fold/write_state.h"
#include "schema/event.h"

namespace fairlead {

// ---- capacity of one member cluster ----

/// How a node counts at present.
struct CountedNode {
  std::string flavor;  ///< the winning ResourceFlavor; empty: it counts nowhere
  bool eligible = false;

  friend bool operator==(const CountedNode&, const CountedNode&) = default;
};

/// A node and the newest event that reported it.
struct NodeRecord {
  NodeFacts facts;
  Seq seq;
  CountedNode counted;      ///< while its source is in force; else as if it counted nowhere
  bool suppressed = false;  ///< as counted: its flaps keep it out of CapacityValue::growing

  friend bool operator==(const NodeRecord&, const NodeRecord&) = default;
};

/// A (flavor, resource) of one cluster. The flavor is empty where capacity is known only as totals.
struct CapacityKey {
  std::string flavor;
  std::string resource;  ///< canonical

  friend auto operator<=>(const CapacityKey&, const CapacityKey&) = default;
};

/// What let an accepted value fall.
enum class FallCause : std::uint8_t {
  shrink_window,       ///< it had been above `usable` for the whole shrinkWindow
  claim_edit,          ///< an edit or delete of the claim
  cordon,              ///< a node was cordoned
  mass_shrink_hold,    ///< a loss was held for the whole massShrinkHold
  second_observation,  ///< a held loss was observed again, or confirmed
  source_back,         ///< the source had been lost until then
};

/// The change of a cluster's capacity source.
struct SourceChange {
  CapacitySource from{};
  CapacitySource to{};
  Seq seq;     ///< of the event that changed it
  LogTime at;  ///< of that event

  friend bool operator==(const SourceChange&, const SourceChange&) = default;
};

/// A first value that replaced the values of another source.
struct Revaluation {
  SourceChange change;  ///< the last one before
  LogTime at;           ///< when the value was accepted

  friend bool operator==(const Revaluation&, const Revaluation&) = default;
};

/// The capacity of one key: what the nodes offer and what debounce makes of it.
struct CapacityValue {
  Int128 offered = 0;  ///< sum of allocatable of eligible nodes
  Int128 growing = 0;  ///< the same without nodes that flap
  DampedValue damped;
  FallCause fell_by = FallCause::shrink_window;  ///< the last time
  std::optional<Revaluation> revalued;  ///< where its first value was not the cluster's first
  /// The newest kBecauseMax events that changed it: those that led to `damped.accepted`, and behind
  /// them the `pending` ones that came since and may yet move it.
  std::vector<Seq> because;
  std::uint32_t pending = 0;
  LogTime moved;  ///< when `damped.accepted` changed last

  friend bool operator==(const CapacityValue&, const CapacityValue&) = default;
};

/// The sums of the nodes of one flavor that report the same resources, so that a key is looked up
/// once.
struct SumLane {
  std::string flavor;
  std::vector<std::string> resources;  ///< as nodes report them, in their order; none is an alias
  std::vector<CapacityValue*> sums;    ///< of Cluster::capacity, one a resource
};
/// The bound on the lanes of a cluster; one more empties them.
inline constexpr std::size_t kSumLanesMax = 16;

/// No list of deciding events is longer; the newest are kept.
inline constexpr std::size_t kBecauseMax = 16;
/// Adds an event to such a list, unless it is the newest there. Returns whether it was added.
inline bool remember(std::vector<Seq>& because, Seq seq) {
  if (seq == Seq{} || (!because.empty() && because.back() == seq)) return false;
  if (because.size() == kBecauseMax) because.erase(because.begin());
  because.push_back(seq);
  return true;
}

/// Adds an event that changed `value`, or decided about it. Does nothing for Seq{}.
inline void remember_change(CapacityValue& value, Seq seq) {
  if (remember(value.because, seq))
    value.pending = std::min(value.pending + 1, static_cast<std::uint32_t>(value.because.size()));
}

/// A mass loss that waits for a second observation (layer 3).
struct Hold {
  LogTime since;
  std::map<std::string, Amount> before;  ///< usable totals by resource before the loss

  friend bool operator==(const Hold&, const Hold&) = default;
};

/// All changes of a cluster at one log time. Emptied when that time closes.
struct Observation {
  bool changed = false;           ///< the source in force reported something, also a relist
  std::set<std::string> won;      ///< flavors that won a node; mapped if they have one at the end
  bool at_once_all = false;       ///< a claim edit or delete: every fall counts at once
  std::set<CapacityKey> at_once;  ///< a cordon: falls of these keys count at once
  std::map<CapacityKey, Int128> cordoned;  ///< what cordons took
  std::int64_t cordoned_nodes = 0;
  std::int64_t eligible_before = 0;  ///< eligible nodes when the time opened
  Seq sign;                          ///< the newest relist or bookmark

  friend bool operator==(const Observation&, const Observation&) = default;
};

/// A ManifestWork of ours as last observed.
struct Work {
  bool present = false;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  ManifestWorkFacts facts;
  Seq seq;

  /// Whether its agent reports Applied and Available for the present generation.
  bool settled() const;

  friend bool operator==(const Work&, const Work&) = default;
};

/// The BindingPolicy of a cluster as last observed.
struct Policy {
  bool present = false;
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  BindingPolicyFacts facts;
  Seq seq;

  friend bool operator==(const Policy&, const Policy&) = default;
};

/// A ClusterQueue of a watched member.
struct MemberQueue {
  std::vector<ResourceGroup> groups;
  std::vector<FlavorUsage> usage;  ///< what runs on it
  Seq seq;
  std::optional<EffectiveQuotas> effective;  ///< what its Kueue uses instead of `groups`

  friend bool operator==(const MemberQueue&, const MemberQueue&) = default;
};

/// A pair of a queue at a member.
struct MemberPair {
  std::string cluster_queue;
  std::string flavor;
  std::string resource;  ///< canonical

  friend auto operator<=>(const MemberPair&, const MemberPair&) = default;
};

struct Cluster {
  // Presence
  std::optional<ManagedClusterFacts> managed;
  Seq managed_seq;
  Seq presence_seq;  ///< what made it join or leave, or have a ManagedCluster
  std::set<std::pair<std::string, std::string>>
      profiles;             ///< (namespace, name) of its ClusterProfiles
  bool detached = false;    ///< it was joined and is not any more
  bool claim_seen = false;  ///< a claim has existed since it joined

  // Sources
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
  Seq liveness_seq;

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
  Memo<ClusterTerms> terms;                          ///< see terms_of
  std::map<std::string, std::int64_t> flavor_nodes;  ///< how many nodes each flavor has now
  std::set<std::string> mapped;                      ///< flavors that ever won a node
  std::map<CapacityKey, CapacityValue> capacity;
  Memo<std::vector<SumLane>> lanes;  ///< emptied when a key of `capacity` goes
  bool valued = false;               ///< the source in force has reported a value
  bool known = false;                ///< the first value was accepted
  bool totals_accepted = false;      ///< what is accepted is totals (flavorless keys)
  LogTime first_valued;
  LogTime last_changed;  ///< of any usable value
  std::optional<Hold> hold;
  Observation observation;
  Liveness was = Liveness::live;  ///< at the last close
  Seq was_seq;                    ///< of the event that made it so
  std::optional<LogTime>
      hub_opens;  ///< after a loss: when the hub counts it again; kForever while lost

  Seq claim_seq;  ///< what changed last which claim is in force: a claim, its edit or its end

  // At the member
  std::map<std::string, std::set<std::string>> named;  ///< queue -> flavors that claims named
  Work quota_work;
  Work queue_work;
  Policy policy;
  std::map<MemberPair, Amount> confirmed;            ///< quota that the member is known to admit
  std::map<std::string, MemberQueue> member_queues;  ///< where the member is watched
  std::map<std::pair<std::string, std::string>, std::string>
      member_local_queues;  ///< observed there -> clusterQueue
  /// ClusterQueues there that differ from the applied work, and from when on that counts.
  std::map<std::string, LogTime> deviating;

  bool joined() const { return managed.has_value() || !profiles.empty(); }
  bool lost() const { return was == Liveness::lost; }

  friend bool operator==(const Cluster&, const Cluster&) = default;
};

// ---- claims ----

/// What one assignment row was granted, and why not all of it.
struct Grant {
  AssignmentRow row;
  Amount granted = 0;
  std::string reason;  ///< CamelCase; empty when granted in full

  friend bool operator==(const Grant&, const Grant&) = default;
};

/// What closing the present moment does with an open claim: all, or only what is named.
enum class ClaimOpening : std::uint8_t {
  all,                ///< derives the grants and plans the claim with its cluster
  status,             ///< plans the claim: nothing changed that the grants follow from
  grants,             ///< derives the grants, and does the rest if they moved
  status_and_grants,  ///< both of these
};

struct Claim {
  std::string uid;
  std::string resource_version;
  std::int64_t generation = 0;
  ClaimFacts facts;
  Seq seq;
  std::optional<ClaimTerms> terms;  ///< of the last valid spec
  Seq terms_seq;                    ///< of the event that brought `terms`
  Seq edited_seq;                   ///< of the newest event with another spec
  std::optional<ClaimFault> fault;  ///< of the newest spec, if it is invalid
  std::vector<std::string> warnings;
  bool winner = false;         ///< the one live claim of its cluster
  bool known = false;          ///< the grants follow from an accepted value
  std::vector<Grant> grants;   ///< in the order of terms->rows
  Memo<ClaimOpening> opening;  ///< while open: what has to be done when the moment closes

  friend bool operator==(const Claim&, const Claim&) = default;
};

// ---- hub queues ----

/// A (flavor, resource) of a ClusterQueue; the resource is canonical.
using QuotaKey = CapacityKey;

/// The base quota that is added to grants (annotation fairlead.io/base-quota).
struct BaseQuota {
  std::map<QuotaKey, Amount> amounts;
  std::string
      malformed;  ///< what is wrong with the newest annotation; the amounts are the last good ones

  friend bool operator==(const BaseQuota&, const BaseQuota&) = default;
};

/// The source of a worker's share of a hub queue. `nobody`: the worker is not watched, and no claim
/// assigns it quota of the queue.
enum class ShareFrom : std::uint8_t { member, claims, nobody };

/// The share of one worker in a hub queue that follows its workers.
struct WorkerShare {
  ShareFrom from = ShareFrom::nobody;
  bool counted = false;  ///< it is in the list; the values of a newcomer do not count yet
  std::map<QuotaKey, DampedValue> values;  ///< sums over the ClusterQueues behind its LocalQueues
  bool known = false;                      ///< the first values were accepted
  LogTime first_valued;
  LogTime last_changed;
  Liveness was = Liveness::live;  ///< of the cluster, at the last close
  std::vector<Seq> because;       ///< events that changed a value, the newest kBecauseMax

  friend bool operator==(const WorkerShare&, const WorkerShare&) = default;
};

/// The quota of a hub queue that follows its MultiKueue workers (annotation
/// fairlead.io/quota-from).
struct WorkerQuota {
  bool asked = false;                  ///< the annotation asks for it
  bool follows = false;                ///< asked, and one of its AdmissionChecks names a Placement
  std::int64_t percent = 100;          ///< of the workers' sum
  std::map<QuotaKey, Amount> reserve;  ///< subtracted after that
  std::string
      malformed;       ///< what is wrong with the newest annotations; the last good terms are used
  bool known = false;  ///< every worker has reported first values: nothing is written before
  std::map<std::string, WorkerShare> shares;  ///< by OCM cluster
  /// Of clusters that the Placements no longer select: the events that removed them.
  std::map<std::string, std::vector<Seq>> left;

  friend bool operator==(const WorkerQuota&, const WorkerQuota&) = default;
};

/// When something was written, and by which intent.
struct WrittenAt {
  Seq seq;
  LogTime time;

  friend bool operator==(const WrittenAt&, const WrittenAt&) = default;
};

struct Queue {
  bool present = false;
  std::string uid;
  std::string version;
  std::string resource_version;
  std::int64_t generation = 0;
  ClusterQueueFacts facts;
  Seq seq;
  BaseQuota base;
  WorkerQuota workers;
  std::map<QuotaKey, Amount> written;  ///< our pairs in our last accepted write
  std::optional<std::vector<ResourceGroup>> written_groups;  ///< the whole list of that write
  std::vector<Contribution> contributed;                     ///< of that write
  WrittenAt written_at;                                      ///< that write
  /// By cluster and pair: our accepted write that changed what the cluster contributes.
  std::map<std::pair<std::string, QuotaKey>, WrittenAt> contributed_at;
  std::map<QuotaKey, Quantity>
      lending;  ///< the administrator's lendingLimit: last list that we did not write
  std::vector<LogTime> overwrites;            ///< foreign overwrites in the last ten minutes
  bool conflict = false;                      ///< kOverwritesAnswered is exceeded: not rewritten
  Memo<Derived<std::set<QuotaKey>>> claimed;  ///< pairs that claims name, as of terms_changes
  Memo<std::uint64_t> changed;  ///< quota_changes when what its quota follows from changed last

  friend bool operator==(const Queue&, const Queue&) = default;
};

/// A Cohort of the hub as last observed.
struct Cohort {
  CohortFacts facts;
  Seq seq;

  friend bool operator==(const Cohort&, const Cohort&) = default;
};

// ---- everything ----

struct State {
  Seq seq;        ///< of the last event
  Seq input_seq;  ///< of the last event whose source is not kSelf
  LogTime now;
  Epoch epoch;
  Configuration configuration;
  Seq configuration_seq;

  std::map<std::string, ResourceFlavorFacts> flavors;  ///< also `gone_flavors`, as last observed
  std::set<std::string> gone_flavors;  ///< left the hub while a claim or a member's work names them
  std::map<std::string, Seq> flavor_seqs;
  std::map<std::string, Cluster> clusters;
  Memo<NameTable<Cluster*>> opened;  ///< clusters that open_capacity has found, by hash
  std::map<std::string, Claim> claims;
  std::map<std::string, std::set<std::string>>
      claims_of_cluster;  ///< claims by the cluster they name
  std::map<std::string, std::set<std::string>>
      claims_of_queue;                ///< winners and unknowns that name the queue
  Memo<std::uint64_t> terms_changes;  ///< counts changes of claims and configuration
  std::map<std::string, Queue> queues;
  Memo<std::uint64_t> quota_changes;  ///< counts changes of the inputs of queues' quotas
  std::map<std::string, Cohort> cohorts;
  std::map<std::pair<std::string, std::string>, LocalQueueFacts>
      local_queues;  ///< (namespace, name) on the hub
  MultiKueue multikueue;
  std::set<std::string> kueue_versions;   ///< seen on the hub
  std::array<Liveness, 2> hub_streams{};  ///< ClusterMetrics, ManagedCluster
  std::set<Kind> silent;  ///< of is_of_every_quota, without a live hub stream; only reported
  std::map<WriteKey, WriteState, WriteKeyOrder> writes;
  std::map<Seq, WriteKey> outstanding;  ///< the unanswered intents of `writes`
  Deadlines deadlines;

  std::set<std::string> open_clusters;  ///< whose present moment is not decided yet
  std::set<std::string> open_claims;    ///< see Claim::opening
  std::set<std::string> open_queues;    ///< planned again with the claims that name them
  std::set<std::string> open_quotas;    ///< whose quota must be compared, nothing else
  bool all_open = false;                ///< the configuration or a flavor changed: all is planned

  friend bool operator==(const State&, const State&) = default;
};

/// What changed since it was last emptied: the planner derives these objects and no others.
struct Touched {
  std::set<std::string> clusters;
  /// Clusters where only what the nodes offer may have changed: no write follows from that alone.
  std::set<std::string> capacities;
  /// Those of `capacities` whose accepted values moved: their claims' resources and the numbers in
  /// their claims' statuses may follow. Grants that moved with them are in `claims`.
  std::set<std::string> accepted;
  std::set<std::string> claims;
  std::set<std::string> queues;
  std::set<std::string> placements;  ///< whose worker lists
  std::set<std::string> workers;     ///< MultiKueueClusters, by name
  std::set<std::string> checks;      ///< AdmissionChecks
  std::set<NamespacedName> workloads;
  bool everything = false;

  void merge(const Touched& other);
  bool empty() const;
};

}  // namespace fairlead
