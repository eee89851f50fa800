// State: everything that the fold knows, as plain values.
//
// Two engines that fold the same events hold equal states. Walks over containers are in the order
// of their content; where a lookup goes by hash, that order cannot be observed (name_map.h,
// name_table.h). A Memo holds what can be derived again, may hold pointers into the same State, and
// is left out of comparisons and snapshots. One thread owns a State; others get copies or nothing.
//
// Each room has its part in a header beside its rules. Reading order: cluster_state.h (a member and
// its capacity), claims/claim_state.h (what an administrator assigns), queues/queue_state.h (hub
// ClusterQueues), multikueue/multikueue_state.h, dispatch/dispatch_state.h
// (devices for Workloads), pool/pool_state.h (tenants), writes/write_state.h
// (what we sent), usage/usage_state.h (what queues were granted and used), then State.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/fold/capacity/liveness.h"
#include "engine/fold/claims/claim_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/deadlines.h"
#include "engine/fold/dirty_set.h"
#include "engine/fold/fleet_claims/fleet_claim_state.h"
#include "engine/fold/memo.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/name_map.h"
#include "engine/fold/pool/pool_state.h"
#include "engine/fold/queues/queue_state.h"
#include "engine/fold/usage/usage_state.h"
#include "engine/fold/writes/write_state.h"
#include "schema/event.h"

namespace fairlead {

/// Whether State notes that the hub's stream of this kind is silent.
constexpr bool is_silence_noted(Kind kind) {
  return is_of_every_quota(kind) || kind == Kind::workload;
}

/// What State holds. Large: plain data, the list of the rooms' parts.
struct StateFields {
  Seq seq;        ///< of the last event
  Seq input_seq;  ///< of the last event whose source is not kSelf
  LogTime now;
  Epoch epoch;
  Configuration configuration;
  Seq configuration_seq;

  FlavorTables flavors;
  NameMap<Cluster> clusters;
  std::set<std::string> dirty_clusters;  ///< whose present moment is not decided yet
  ClaimTables claims;
  QueueTables queues;
  MultiKueue multikueue;
  DeviceSearches searches;
  Dispatch dispatch;
  FleetClaims fleet;
  Pool pool;
  std::set<std::string> kueue_versions;   ///< seen on the hub
  std::array<Liveness, 2> hub_streams{};  ///< ClusterMetrics, ManagedCluster
  std::set<Kind> silent;  ///< of is_silence_noted(), without a live hub stream; only reported
  WriteTables writes;
  UsageTables usage;
  Deadlines deadlines;
  bool all_dirty = false;  ///< the configuration or a flavor changed: all is planned

  friend bool operator==(const StateFields&, const StateFields&) = default;
};

/// What copies, moves, destroys and compares all of it is compiled once, in state.cpp.
struct State : StateFields {
  using Base = StateFields;

  State();
  State(const State& other);
  State(State&& other) noexcept;
  State& operator=(const State& other);
  State& operator=(State&& other) noexcept;
  ~State();

  friend bool operator==(const State& a, const State& b);
};

}  // namespace fairlead
