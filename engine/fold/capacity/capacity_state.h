// The part of State about capacity: what the nodes of a cluster offer, and what damping makes of
// it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/fold/capacity/damping.h"
#include "engine/fold/observed.h"
#include "schema/event.h"

namespace fairlead {

/// How a node counts for the resources of one candidate set (CandidateTable).
struct NodeFlavor {
  std::string name;  ///< the candidate that wins the node; empty: none matches
  bool eligible = false;

  friend auto operator<=>(const NodeFlavor&, const NodeFlavor&) = default;
};

/// Nodes of one cluster that count alike. A cluster has a few kinds, so that what a node keeps of
/// its flavors does not grow with their number.
struct NodeKind {
  std::vector<NodeFlavor> flavors;  ///< by candidate set
  std::int64_t nodes = 0;           ///< how many; the place of a kind without nodes is used again

  friend bool operator==(const NodeKind&, const NodeKind&) = default;
};

/// How a node counts at present.
struct CountedNode {
  std::uint32_t kind = 0;  ///< one more than its place in Cluster::kinds; 0: it counts nowhere
  bool eligible = false;   ///< for the resources of one set at least
  bool in_pool = false;    ///< eligible for the super cluster pool, whatever its flavors

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
  flavor_use,          ///< its flavor, or one that wins its nodes, came into use or went out of it
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
  /// The newest kCausesKeptMax events that changed it: those that led to `damped.accepted`, and
  /// behind them the `pending` ones that came since and may yet move it.
  std::vector<Seq> causes;
  std::uint32_t pending = 0;
  LogTime moved;  ///< when `damped.accepted` changed last

  friend bool operator==(const CapacityValue&, const CapacityValue&) = default;
};

/// The sums of the nodes of one kind that report the same resources, so that a key is looked up
/// once.
struct SumLane {
  std::uint32_t kind = 0;
  std::vector<std::string> resources;  ///< as nodes report them, in their order; none is an alias
  std::vector<CapacityValue*> sums;  ///< of Cluster::capacity, one per resource; null: not counted
};
/// The bound on the lanes of a cluster; one more empties them.
inline constexpr std::size_t kSumLanesMax = 16;

/// No list of deciding events is longer; the newest are kept.
inline constexpr std::size_t kCausesKeptMax = 16;
/// Adds an event to such a list, unless it is the newest there. Returns whether it was added.
inline bool remember(std::vector<Seq>& causes, Seq seq) {
  if (seq == Seq{} || (!causes.empty() && causes.back() == seq)) return false;
  if (causes.size() == kCausesKeptMax) causes.erase(causes.begin());
  causes.push_back(seq);
  return true;
}

/// Adds an event that changed `value`, or decided about it. Does nothing for Seq{}.
inline void remember_change(CapacityValue& value, Seq seq) {
  if (remember(value.causes, seq))
    value.pending = std::min(value.pending + 1, static_cast<std::uint32_t>(value.causes.size()));
}

/// A mass loss that waits for a second observation (layer 3).
struct Hold {
  LogTime since;
  std::map<std::string, Amount> before;  ///< usable totals by resource before the loss

  friend bool operator==(const Hold&, const Hold&) = default;
};

/// What the pool has of one resource of a super cluster.
struct PoolValue {
  CapacityValue capacity;  ///< of the pool's part
  /// The usable value of the whole member, as measured last, in hundredths of a unit. Rounded, a
  /// loss of exactly half could look greater than half.
  Int128 whole = 0;

  friend bool operator==(const PoolValue&, const PoolValue&) = default;
};

/// What cordons at one log time took from the pool.
struct PoolObservation {
  std::set<std::string> at_once;           ///< resources whose falls count at once
  std::map<std::string, Int128> cordoned;  ///< what cordons took
  std::int64_t cordoned_nodes = 0;
  std::int64_t eligible_before = 0;  ///< eligible nodes when the moment began

  friend bool operator==(const PoolObservation&, const PoolObservation&) = default;
};

/// Which flavors stand with which resource in ClusterQueues and claims: resource, as spelled there,
/// and flavor, each of which need not exist.
using FlavorUses = std::map<std::string, std::set<std::string>>;

/// The candidates of each resource: the flavors that stand with it, or all of the hub where none
/// does. Resources with equal candidates share a set, so that a node is matched once for them. Set
/// 0 is all flavors.
struct CandidateTable {
  std::map<std::string, std::uint32_t, std::less<>> set_of;  ///< by canonical resource; absent: 0
  std::map<std::string, std::vector<std::uint32_t>> sets_with;  ///< by flavor, ascending, without 0
  std::uint32_t sets = 1;

  std::uint32_t of(std::string_view resource) const {
    const auto at = set_of.find(resource);
    return at == set_of.end() ? 0 : at->second;
  }

  friend bool operator==(const CandidateTable&, const CandidateTable&) = default;
};

/// The ResourceFlavors of the hub, and where they are used.
struct FlavorTables {
  std::map<std::string, ResourceFlavorFacts> by_name;  ///< also `gone`, as last observed
  std::set<std::string> gone;  ///< left the hub while a claim or a member's work names them
  std::map<std::string, Seq> seqs;
  /// By resource and flavor: in how many resource groups and rows of valid claims they stand now.
  std::map<std::string, std::map<std::string, std::int64_t>> uses;
  FlavorUses in_force;        ///< `uses` when the last moment closed: nodes are counted by them
  std::optional<Seq> edited;  ///< the event of the open moment by which `uses` gained or lost one
  CandidateTable candidates;  ///< as `in_force` and `by_name` make them
  std::map<std::string, TopologyFacts> topologies;

  friend bool operator==(const FlavorTables&, const FlavorTables&) = default;
};

/// All changes of a cluster at one log time. Emptied when that time closes.
struct Observation {
  bool changed = false;           ///< the source in force reported something, also a relist
  std::set<std::uint32_t> kinds;  ///< that got their first node; mapped if they have one at the end
  bool at_once_all = false;       ///< a claim edit or delete: every fall counts at once
  std::set<CapacityKey> at_once;  ///< a cordon: falls of these keys count at once
  std::set<CapacityKey> moved;    ///< their flavors' uses were edited: their falls count at once
  std::map<CapacityKey, Int128> cordoned;  ///< what cordons took
  std::int64_t cordoned_nodes = 0;
  std::int64_t eligible_before = 0;  ///< eligible nodes when the moment began
  Seq sign;                          ///< the newest relist or bookmark
  PoolObservation pool;

  friend bool operator==(const Observation&, const Observation&) = default;
};

/// Where its objects are (held.h).
auto& table_of(KindOf<TopologyFacts>, Of<FlavorTables> auto& part) { return part.topologies; }

}  // namespace fairlead
