// Which parts of State the rules of each room change, and which (const) they read: from the lowest
// room to the highest, as in tests/style/layering.py.
//
// A Reader is what questions about a room read, a Room what its rules also change. To mark is to
// note in another room's part what that room derives again when the moment closes. A rule that is
// about less than its room takes a StateView of the parts that it needs.
#pragma once

#include "engine/fold/state_view.h"

namespace fairlead {

using Clusters = NameMap<Cluster>;

// claims/terms

struct TermsReader : StateView<const Configuration, const Clusters, const ClaimTables> {
  using StateView::StateView;
};

// capacity/nodes

/// How nodes count.
struct NodeReader : StateView<const Configuration, const FlavorTables> {
  using StateView::StateView;
};
/// How they count now.
struct CountReader : StateView<const Configuration, const FlavorTables, const LogPosition> {
  using StateView::StateView;
};
/// Marks clusters.
struct ClusterMarks : StateView<Clusters, DirtyClusters> {
  using StateView::StateView;
};

// devices

/// Marks clusters whose devices changed.
struct SearchMarks : StateView<const Configuration, DeviceSearches> {
  using StateView::StateView;
};
/// Folds objects about devices.
struct DeviceRoom : StateView<const Configuration, Clusters, DirtyClusters, DeviceSearches> {
  using StateView::StateView;
};
/// An index is derived from what others reserved in the cluster, too.
struct SearchReader : StateView<const Configuration, const FlavorTables, const Clusters,
                                const MultiKueue, const Dispatch, const FleetClaims, const Pool> {
  using StateView::StateView;
};
/// Marks the Workloads (Dispatch) and tenants' pods (Pool) that wait for devices.
struct SearchRoom
    : StateView<const Configuration, const FlavorTables, Clusters, DeviceSearches, const MultiKueue,
                Dispatch, const FleetClaims, Pool, const LogPosition> {
  using StateView::StateView;
};

// capacity

struct CapacityReader : StateView<const Configuration, const FlavorTables, const Clusters,
                                  const ClaimTables, const LogPosition> {
  using StateView::StateView;
};
struct LivenessReader : StateView<const Configuration, const HubStreams, const LogPosition> {
  using StateView::StateView;
};
/// What a change of flavors or of their uses makes count again.
struct FlavorRoom : StateView<const Configuration, FlavorTables, Clusters, DirtyClusters,
                              const ClaimTables, AllDirty, const LogPosition> {
  using StateView::StateView;
};
struct CapacityRoom : StateView<const Configuration, FlavorTables, Clusters, DirtyClusters,
                                const ClaimTables, const MultiKueue, DeviceSearches, Deadlines,
                                AllDirty, HubStreams, const LogPosition> {
  using StateView::StateView;
};

// members

struct MemberReader : StateView<const Clusters, const WriteTables, const LogPosition> {
  using StateView::StateView;
};
/// Marks queues. Drops flavors that no work names any more.
struct MemberRoom
    : StateView<const Configuration, FlavorTables, Clusters, DirtyClusters, const ClaimTables,
                QueueTables, const WriteTables, AllDirty, const LogPosition> {
  using StateView::StateView;
};

// claims/grants

struct ClaimReader : StateView<const Configuration, const Clusters, const ClaimTables,
                               const QueueTables, const WriteTables> {
  using StateView::StateView;
};
/// Marks clusters and queues. Notes in FlavorTables which flavors claims name, and in Clusters
/// what it keeps of pairs in use.
struct ClaimRoom
    : StateView<const Configuration, FlavorTables, Clusters, DirtyClusters, ClaimTables,
                QueueTables, const WriteTables, AllDirty, const LogPosition> {
  using StateView::StateView;
};

// queues

struct QueueReader
    : StateView<const Configuration, const Clusters, const ClaimTables, const MultiKueue,
                const QueueTables, const WriteTables, const LogPosition> {
  using StateView::StateView;
};
/// Marks claims and clusters. Notes in Clusters what is taken over from a queue. The set of the
/// queues that follow workers is in MultiKueue, whose rules add to it.
struct QueueRoom : StateView<const Configuration, Clusters, DirtyClusters, ClaimTables, MultiKueue,
                             QueueTables, const WriteTables, Deadlines, const LogPosition> {
  using StateView::StateView;
};
/// Also notes which flavors the queue names.
struct ObservedQueueRoom
    : StateView<const Configuration, FlavorTables, Clusters, DirtyClusters, ClaimTables, MultiKueue,
                QueueTables, const WriteTables, Deadlines, const LogPosition> {
  using StateView::StateView;
};

// fleet_claims

struct FleetReader
    : StateView<const Configuration, const FlavorTables, const Clusters, const FleetClaims> {
  using StateView::StateView;
};
/// Reserves devices in the index of a cluster. Marks Workloads, and the Dispatch and Pool that
/// wait for those devices.
struct FleetRoom : StateView<const Configuration, const FlavorTables, Clusters, DeviceSearches,
                             MultiKueue, Dispatch, FleetClaims, Pool, const LogPosition> {
  using StateView::StateView;
};

// dispatch

struct DispatchReader
    : StateView<const Configuration, const FlavorTables, const Clusters, const MultiKueue,
                const Dispatch, const FleetClaims, const Pool, const LogPosition> {
  using StateView::StateView;
};
/// Its part of a Workload is in the Workload's record (MultiKueue). Marks the Pool's pods.
struct DispatchRoom
    : StateView<const Configuration, const FlavorTables, Clusters, DeviceSearches, MultiKueue,
                Dispatch, FleetClaims, Pool, Deadlines, const LogPosition> {
  using StateView::StateView;
};

// multikueue

struct MultiKueueReader : StateView<const Configuration, const Clusters, const MultiKueue,
                                    const QueueTables, const WriteTables, const LogPosition> {
  using StateView::StateView;
};
/// It runs the dispatch.
struct MultiKueueRoom : StateView<const Configuration, const FlavorTables, Clusters, DeviceSearches,
                                  MultiKueue, Dispatch, FleetClaims, Pool, const QueueTables,
                                  const WriteTables, Deadlines, const LogPosition> {
  using StateView::StateView;
};

// pool

struct PoolReader
    : StateView<const Configuration, const FlavorTables, const Clusters, const MultiKueue,
                const Dispatch, const FleetClaims, const Pool, const LogPosition> {
  using StateView::StateView;
};
/// Reserves devices in the index of a cluster. Marks the Workloads that wait for them (Dispatch).
struct PoolRoom : StateView<const Configuration, const FlavorTables, Clusters, DeviceSearches,
                            const MultiKueue, Dispatch, const FleetClaims, Pool, const ClaimTables,
                            const WriteTables, Deadlines, const LogPosition> {
  using StateView::StateView;
};

// usage

struct UsageRoom : StateView<UsageTables, const LogPosition> {
  using StateView::StateView;
};

// writes/outcomes

/// What was written is noted in the part that it is about.
struct WriteRoom : StateView<const Configuration, Clusters, DirtyClusters, ClaimTables, MultiKueue,
                             QueueTables, Pool, WriteTables, Deadlines, const LogPosition> {
  using StateView::StateView;
};

}  // namespace fairlead
