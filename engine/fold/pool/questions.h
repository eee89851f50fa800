// What an administrator asks about a tenant's namespace: the numbers that decide about it, as they
// are at State::now. Queries for the audit; the fold itself does not call them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// open, closed, away or gone.
const char* standing_name(ClusterStanding standing);

/// Returns the slice in which a namespace is counted: the slice in force or, before the namespace
/// is taken up, what its annotation asks for; nullopt if none could be read.
std::optional<CpuMemory> slice_of(const PoolNamespace& of);

/// Returns how many slices of slice_of() the namespace should have.
std::int64_t expected_slices(const Configuration& configuration, const PoolNamespace& of);

/// A super cluster as a decision about one namespace finds it.
struct ClusterForNamespace {
  std::string id;
  std::string cluster;  ///< the member's name; empty: no member has the id
  ClusterStanding standing{};
  std::int64_t slices = 0;          ///< slices that the namespace has there
  bool listed = false;              ///< in its placements, perhaps with 0
  std::optional<CpuMemory> usable;  ///< what was accepted of it; nullopt: no value yet
  CpuMemorySum others;              ///< what other namespaces and strangers hold
  std::int64_t room = 0;            ///< slices that fit beside them; 0 unless open
  /// The first dimension in which not even one more slice fits, whatever the standing; empty if one
  /// does.
  std::string short_of;
};
/// Returns every super cluster and every id that the namespace lists, by id.
std::vector<ClusterForNamespace> clusters_for(PoolReader state, const PoolNamespace& of);

}  // namespace fairlead
