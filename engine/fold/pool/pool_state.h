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
#include <tuple>
#include <utility>
#include <vector>

#include "engine/fold/capacity/liveness.h"
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
using PoolPodKey = std::tuple<std::string, std::string, std::string>;

/// A member that offers capacity to the pool, by its id.
struct SuperCluster {
  std::string cluster;  ///< the member's name
  bool known = false;   ///< its first values were accepted; the last ones stand while it is away
  std::map<std::string, Amount> accepted;  ///< P: by canonical resource, after damping
  Liveness liveness = Liveness::live;
  std::optional<LogTime> lost_since;  ///< while `liveness` is lost
  /// After a loss: when it takes new slices again; kForever while that is not known.
  std::optional<LogTime> counted_again_at;
  bool draining = false;
  LogTime first_seen;  ///< when it became a super cluster
  Seq seq;             ///< of the event that changed it last

  friend bool operator==(const SuperCluster&, const SuperCluster&) = default;
};

/// What a namespace may do with a super cluster, in the order of what is given up first.
enum class ClusterStanding : std::uint8_t {
  open,    ///< it takes new slices and pods
  closed,  ///< it keeps what it has: no value yet, stale, or back only lately
  away,    ///< lost, or an id that no member has: it keeps what it has
  gone,    ///< away for lostGrace, or drained: its slices move
};

/// What a namespace has at one super cluster.
struct PoolShare {
  std::int64_t slices = 0;
  bool listed = false;  ///< in the namespace's placements, perhaps with 0
  LogTime grown;        ///< when `slices` grew last
  /// Requests of the pods that carry the id and are not over, and their number. They count where
  /// the share is listed.
  std::map<std::string, Int128> pods;
  std::int64_t pod_count = 0;

  friend bool operator==(const PoolShare&, const PoolShare&) = default;
};

/// The text of the annotation fairlead.io/pool-reason of one object.
struct PoolReason {
  std::string current;  ///< what is true now; empty: nothing is missing
  LogTime since;        ///< since when it is
  std::string written;  ///< what should stand there: follows `current` after pool.settle

  friend bool operator==(const PoolReason&, const PoolReason&) = default;
};

/// A pod of a tenant's namespace.
struct PoolPod {
  Observed<PodFacts> seen;
  std::string cluster;  ///< the id that it has or gets: as observed, or as decided since
  std::optional<LogTime> waits_since;
  PoolReason reason;

  friend bool operator==(const PoolPod&, const PoolPod&) = default;
};

/// What another writer did to the placements annotation since the last decision.
enum class PlacementEdit : std::uint8_t {
  none,
  cleared,  ///< absent or {}: everything is chosen again
  changed,  ///< PoolNamespace::edit has the value
};

/// A namespace of a tenant.
struct PoolNamespace {
  std::optional<Observed<NamespaceFacts>> seen;  ///< absent: only objects in it were observed
  std::map<std::string, Observed<ResourceQuotaFacts>> quotas;
  std::map<std::string, PoolPod> pods;

  bool taken_up = false;           ///< it is in the pool, and a slice of it was read
  std::optional<CpuMemory> slice;  ///< the last good value of the slice annotation
  CpuMemory unit;                  ///< the slice in force, in which shares count
  std::map<std::string, PoolShare> shares;  ///< by id
  std::optional<SliceMap> observed;  ///< the annotation as it stands; empty if it cannot be read
  SliceMap last_value;               ///< the last value that could be read
  std::optional<SliceMap> written;   ///< the value of our last write
  PlacementEdit edited{};
  SliceMap edit;
  std::optional<LogTime> wants_since;  ///< since when it has wanted a decision without a break
  PoolReason reason;
  std::vector<Seq> because;  ///< events that led to the present shares, ascending
  std::string rule;          ///< of the last decision, e.g. "pool/place"

  friend bool operator==(const PoolNamespace&, const PoolNamespace&) = default;
};

/// A tenant's API server.
struct PoolTenant {
  bool reachable = true;   ///< as its source last reported
  bool first_seen = false;  ///< its first list was taken up as it stood
  std::map<std::string, PoolNamespace> namespaces;

  friend bool operator==(const PoolTenant&, const PoolTenant&) = default;
};

/// A VirtualCluster of the hub.
struct PoolVirtualCluster {
  Observed<VirtualClusterFacts> seen;
  bool reached = false;  ///< it was Running once
  bool failed = false;   ///< Error after that, and not Running since

  friend bool operator==(const PoolVirtualCluster&, const PoolVirtualCluster&) = default;
};

/// Everything about the pool.
struct Pool {
  std::map<NamespacedName, PoolVirtualCluster> virtual_clusters;
  std::map<std::string, PoolTenant> tenants;                      ///< by name
  std::map<std::string, Observed<ConfigMapFacts>> infos;          ///< by member
  /// By member and name: namespaces that were made there for a tenant's.
  std::map<std::pair<std::string, std::string>, Observed<NamespaceFacts>> super_namespaces;

  std::map<std::string, SuperCluster> clusters;  ///< by id
  std::set<std::string> unlearnt;                ///< members whose id was not read yet
  std::map<std::string, LogTime> unknown;        ///< ids of no member: since when they are named

  std::set<std::string> open_tenants;  ///< whose present moment is not decided yet
  std::set<PoolNamespaceKey> open_namespaces;
  std::set<std::string> open_clusters;  ///< ids
  bool all_open = false;                ///< the configuration changed

  friend bool operator==(const Pool&, const Pool&) = default;
};

}  // namespace fairlead
