// Objects of tenants that lack something of the super cluster pool, counted by what they lack.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "engine/fold/state.h"

namespace fairlead {

struct PoolCounts {
  /// (kind, reason without its details) -> objects. No name of a tenant or of what it asks for is
  /// in it.
  std::map<std::pair<std::string, std::string>, std::size_t> waiting;
};

/// Counts the objects whose annotation fairlead.io/pool-reason has a text, or gets one by a write
/// that is planned. Walks all namespaces.
PoolCounts count_pool(const State& state);

}  // namespace fairlead
