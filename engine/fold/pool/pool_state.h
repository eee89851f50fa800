// The part of State about the super cluster pool: the tenants and what they ask for, the super
// clusters and what they have, and where each tenant's slices and pods are.
//
// A tenant's ResourceQuota is cut into *slices* of cpu and memory. A namespace's *shares* say how
// many of its slices each super cluster holds; the sum of all shares never grows past what was
// accepted of a cluster's capacity. Reading order: SuperCluster, PoolShare, PoolPod,
// PoolNamespace, PoolTenant, Pool.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/boxed.h"
#include "engine/fold/capacity/largest_nodes.h"
#include "engine/fold/capacity/liveness.h"
#include "engine/fold/devices/device_search_state.h"
#include "engine/fold/devices/device_state.h"
#include "engine/fold/memo.h"
#include "engine/fold/observed.h"
#include "schema/event.h"

namespace fairlead {

/// An amount of the two dimensions of a slice: cpu in milli, memory in bytes.
struct CpuMemory {
  Amount cpu = 0;
  Amount memory = 0;

  friend bool operator==(const CpuMemory&, const CpuMemory&) = default;
};
/// A sum of such amounts.
struct CpuMemorySum {
  Int128 cpu = 0;
  Int128 memory = 0;

  friend bool operator==(const CpuMemorySum&, const CpuMemorySum&) = default;
};

/// Super cluster id -> slices: the value of the placements annotation. An id with 0 is listed.
using SliceMap = std::map<std::string, std::int64_t>;

/// The name of a tenant and of one of its namespaces.
using PoolNamespaceKey = std::pair<std::string, std::string>;
/// The name of a tenant, of one of its namespaces, and of a pod there.
struct PoolPodKey {
  std::string tenant;
  std::string namespace_;
  std::string pod;

  friend auto operator<=>(const PoolPodKey&, const PoolPodKey&) = default;
};

/// A member that offers capacity to the pool, by its id.
struct SuperCluster {
  std::string cluster;  ///< the member's name
  bool known = false;   ///< its first values were accepted; the last ones stay while it is away
  std::map<std::string, Amount> accepted;  ///< P: by canonical resource, after damping
  Liveness liveness = Liveness::live;
  std::optional<LogTime> lost_since;  ///< while `liveness` is lost
  /// After a loss: when it takes new slices again; kForever while that is not known.
  std::optional<LogTime> counted_again_at;
  bool draining = false;
  LogTime first_seen;  ///< when it became a super cluster
  /// The largest of its nodes: a pod that none of these could hold alone, no node can hold.
  /// nullopt: its nodes are not known, only their sums.
  std::optional<std::vector<NodeSize>> nodes;
  Seq nodes_seq;   ///< of the event that changed `nodes` last
  Seq nodes_grew;  ///< of the last event after which some node can hold what none could before
  Seq seq;         ///< of the event that last changed any of these

  friend bool operator==(const SuperCluster&, const SuperCluster&) = default;
};

/// What a namespace may do with a super cluster, in the order of what is given up first.
enum class ClusterStanding : std::uint8_t {
  open,    ///< it takes new slices and pods
  closed,  ///< it keeps what it has: no value yet, stale, or back too recently
  away,    ///< lost, or an id that no member has: it keeps what it has
  gone,    ///< away for lostGrace, or drained: its slices move
};

/// What a namespace holds at one super cluster.
struct PoolShare {
  std::int64_t slices = 0;
  bool listed = false;  ///< in the namespace's placements, perhaps with 0
  LogTime grown;        ///< when `slices` grew last
  /// The requests of the pods that carry the id and are not over, and the number of these pods.
  /// They count where the share is listed.
  std::map<std::string, Int128> pods;
  std::int64_t pod_count = 0;
  // What this share has added to PoolTotals.
  CpuMemorySum counted;
  CpuMemorySum counted_says;
  bool pods_counted = false;

  friend bool operator==(const PoolShare&, const PoolShare&) = default;
};

/// The text of the annotation fairlead.io/pool-reason of one object.
struct PoolReason {
  std::string current;  ///< what is true now; empty: nothing is missing
  LogTime since;        ///< since when `current` is true
  std::string written;  ///< what the annotation should be: follows `current` after pool.settle

  friend bool operator==(const PoolReason&, const PoolReason&) = default;
};
/// Returns the reason of an object. Most objects have none, neither current nor written.
inline const PoolReason& value_of(const Boxed<PoolReason>& reason) {
  static const PoolReason none;
  return reason ? *reason : none;
}

/// A pod of a tenant's namespace.
struct PoolPod {
  Observed<PodFacts> seen;
  std::string cluster;  ///< its super cluster's id, as observed or as decided since
  std::optional<LogTime> waits_since;
  Boxed<PoolReason> reason;
  Boxed<DeviceReservation> reserved;  ///< made with the decision for `cluster`
  Memo<Boxed<std::string>> asks;      ///< equal for pods that ask alike; absent: not derived

  friend bool operator==(const PoolPod&, const PoolPod&) = default;
};

/// What another writer did to the placements annotation since the last decision.
enum class PlacementEdit : std::uint8_t {
  none,
  cleared,  ///< absent or {}: everything is chosen again
  changed,  ///< PoolNamespace::edit has the value
};

/// What a namespace's pods may still get at one open super cluster.
struct PodRoom {
  std::string id;
  Int128 cpu = 0;  ///< of the share
  Int128 memory = 0;
  std::vector<std::pair<std::string, Int128>> machine;  ///< by resource that the cluster offers
  Seq nodes_seq;                                        ///< as SuperCluster has them
  Seq nodes_grew;

  friend bool operator==(const PodRoom&, const PodRoom&) = default;
};

/// The last look at the waiting pods of a namespace: while there is no more room than there was
/// then, the same pods find no place, for the same reasons.
struct PodLook {
  bool done = false;
  std::vector<std::string> listed;  ///< clusters that pods may be placed on, open or not
  std::vector<PodRoom> open;
  std::set<std::string> fresh;  ///< pods that began to wait or changed since
};

/// A namespace of a tenant. Large: plain data, what was observed, what was decided and what was
/// written.
struct PoolNamespace {
  std::optional<Observed<NamespaceFacts>> seen;  ///< absent: only objects in it were observed
  std::map<std::string, Observed<ResourceQuotaFacts>> quotas;
  std::map<std::string, PoolPod> pods;
  std::map<std::string, DeviceRecord<ResourceClaimFacts>> claims;
  std::map<std::string, DeviceRecord<ResourceClaimTemplateFacts>> templates;

  bool taken_up = false;           ///< it is in the pool, and its slice annotation was read
  std::optional<CpuMemory> slice;  ///< the last good value of the slice annotation
  bool bad_slice = false;          ///< the annotation cannot be read now
  CpuMemory unit;                  ///< the slice in force, in which shares are counted
  std::int64_t slices = 0;         ///< the sum over shares
  std::map<std::string, PoolShare> shares;  ///< by id
  std::optional<SliceMap> observed;         ///< the current annotation; empty if it cannot be read
  SliceMap last_value;                      ///< the last value that could be read
  std::optional<SliceMap> written;          ///< the value of our last write
  PlacementEdit edited{};
  SliceMap edit;
  std::optional<LogTime> wants_since;  ///< since when it has wanted a decision without a break
  Boxed<PoolReason> reason;
  std::string rule;         ///< of the last decision that changed shares, e.g. "pool/place"
  std::vector<Seq> causes;  ///< the events that led to it
  std::set<std::pair<LogTime, std::string>> waiting;  ///< pods without a cluster, first come first
  Memo<PodLook> look;

  friend bool operator==(const PoolNamespace&, const PoolNamespace&) = default;
};

/// A tenant's API server.
struct PoolTenant {
  bool admitted = false;     ///< by a VirtualCluster that was Running once, or by the configuration
  bool failed = false;       ///< its VirtualCluster is in phase Error
  std::set<Kind> silent;     ///< kinds whose streams are stale, lost, or not yet listed
  std::int64_t objects = 0;  ///< Namespaces, ResourceQuotas, Pods, claims and their templates
  bool crowded = false;      ///< it has more of them than pool.tenantObjectsMax
  bool first_seen = false;   ///< the placements of its first list were taken over
  bool takes_part = false;   ///< connected() at the last close
  Seq seq;                   ///< of the event that changed one of these
  std::map<std::string, Amount> limit;  ///< of cpu and memory; an absent dimension has none
  CpuMemorySum slices;                  ///< the sum of its namespaces' shares
  std::map<std::string, PoolNamespace> namespaces;

  bool connected() const { return admitted && !failed && !crowded && silent.empty(); }

  friend bool operator==(const PoolTenant&, const PoolTenant&) = default;
};

/// A VirtualCluster of the hub.
struct PoolVirtualCluster {
  Observed<VirtualClusterFacts> seen;
  std::string tenant;    ///< the name of its tenant: the syncer's cluster key
  bool reached = false;  ///< it was Running once
  bool failed = false;   ///< Error after that, and not Running since

  friend bool operator==(const PoolVirtualCluster&, const PoolVirtualCluster&) = default;
};

/// A namespace of a super cluster that was made for a tenant's namespace.
struct SuperNamespace {
  Observed<NamespaceFacts> seen;
  /// The id where it counts as a stranger in PoolTotals, and with how much; empty: it does not.
  std::string counted_at;
  CpuMemorySum counted;

  friend bool operator==(const SuperNamespace&, const SuperNamespace&) = default;
};

/// What namespaces have at one super cluster, summed.
struct PoolTotals {
  CpuMemorySum held;       ///< the sum over namespaces of the larger of its slices and its pods
  CpuMemorySum strangers;  ///< the sum over namespaces there that belong to no tenant's namespace
  CpuMemorySum says;       ///< what namespaces there say that tenants hold that are not connected
  std::map<std::string, Int128> pods;     ///< requests of the pods of all namespaces
  std::set<PoolNamespaceKey> namespaces;  ///< that list it

  friend bool operator==(const PoolTotals&, const PoolTotals&) = default;
};

/// The namespaces of Pool::wanting by what they need, so that only those are looked at again for
/// which room that grew may be enough.
struct SliceWishes {
  /// The cpu and the memory of the slice, and how many of these have to be free in all clusters.
  using Need = std::pair<std::pair<Amount, Amount>, std::int64_t>;

  bool derived = false;
  std::set<std::pair<Need, PoolNamespaceKey>> lacking;  ///< they want more slices and nothing else
  std::map<PoolNamespaceKey, Need> needs;               ///< the same by namespace
  std::set<PoolNamespaceKey> others;  ///< their decision depends on more than that
};

/// Everything about the pool. Large: plain data: tables of what is known, indexes over them, and
/// what the close of the open moment looks at.
struct Pool {
  std::map<NamespacedName, PoolVirtualCluster> virtual_clusters;
  std::map<std::string, std::set<NamespacedName>> virtual_clusters_of;  ///< by tenant
  Seq tenancy_seq;  ///< of the event that last changed which tenants there are, or their access
  std::map<std::string, PoolTenant> tenants;              ///< by name
  std::map<std::string, Observed<ConfigMapFacts>> infos;  ///< by member
  /// By member and name: namespaces that were made there for tenants' namespaces.
  std::map<std::pair<std::string, std::string>, SuperNamespace> super_namespaces;
  /// Their keys, by the tenant's namespace that they were made for.
  std::map<PoolNamespaceKey, std::set<std::pair<std::string, std::string>>> made_for;

  std::map<std::string, SuperCluster> clusters;  ///< by id
  std::set<std::string> offering;                ///< members that offer a part to the pool
  std::set<std::string> unlearnt;                ///< members whose id is being read
  std::set<std::string> learnt;                  ///< members whose id was read once
  std::map<std::string, LogTime> unknown;        ///< ids without a member: named since when

  std::map<std::string, std::string> ids;            ///< member -> id, as counted in `totals`
  std::map<std::string, PoolTotals> totals;          ///< by id
  std::map<std::string, ClusterStanding> standings;  ///< by id, at the last close
  std::set<std::string> overflowing;                 ///< ids where more is held than was accepted
  std::set<PoolNamespaceKey> wanting;                ///< see PoolNamespace::wants_since
  Memo<SliceWishes> wishes;                          ///< of `wanting`
  std::set<PoolNamespaceKey> waiting;                ///< namespaces with pods that wait
  std::set<PoolPodKey> device_pods;                  ///< pods that wait and may use devices
  std::map<std::string, std::set<PoolPodKey>> reserved_on;  ///< pods, by member
  /// When the rest of a pod's reservation is dropped.
  std::set<std::pair<LogTime, PoolPodKey>> device_due;
  /// Namespaces whose write is due now. No pod is placed before these writes are sent, because the
  /// pods that have waited longest come first.
  std::set<PoolNamespaceKey> unwritten;
  /// When objects are looked at again, because a reason has then held for long enough, or they may
  /// be written again. The pod is empty for the Namespace itself.
  std::set<std::pair<LogTime, PoolPodKey>> due;
  /// Since when reasons about clusters count: every super cluster has had time for a first value.
  std::optional<LogTime> clusters_known_since;

  // What the close of the open moment looks at.
  bool all_dirty = false;  ///< the configuration changed
  bool deadline_reached = false;
  bool ids_dirty = false;      ///< a member may have another id
  bool room_grew = false;      ///< somewhere more slices fit than before
  bool lists_changed = false;  ///< an id is listed that was not, or no longer
  bool overflow_changed = false;
  std::set<std::string> dirty_tenants;
  std::set<std::string>
      dirty_limits;  ///< tenants whose number of slices changed (mark_limited_dirty)
  std::set<PoolNamespaceKey> dirty_namespaces;
  std::set<PoolNamespaceKey> dirty_lists;  ///< whose pods are all looked at again
  std::set<PoolPodKey> dirty_pods;
  std::set<PoolNamespaceKey> unlooked;   ///< whose pods are looked at when `unwritten` is empty
  std::set<std::string> dirty_clusters;  ///< ids whose accepted values or presence changed
  std::set<std::string> roomier;         ///< ids where pods may find more than at their last look
  std::set<std::string>
      dirty_devices;  ///< members that may answer pods with devices differently now
  std::set<std::string> freed_devices;  ///< members where a reservation ended

  friend bool operator==(const Pool&, const Pool&) = default;
};

/// Where the objects of each kind are (held.h).
auto& table_of(KindOf<VirtualClusterFacts>, Of<Pool> auto& part) { return part.virtual_clusters; }
auto& table_of(KindOf<ResourceQuotaFacts>, Of<PoolNamespace> auto& part) { return part.quotas; }
auto& table_of(KindOf<PodFacts>, Of<PoolNamespace> auto& part) { return part.pods; }
auto& table_of(KindOf<ResourceClaimFacts>, Of<PoolNamespace> auto& part) { return part.claims; }
auto& table_of(KindOf<ResourceClaimTemplateFacts>, Of<PoolNamespace> auto& part) {
  return part.templates;
}

}  // namespace fairlead
