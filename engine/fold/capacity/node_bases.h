// The memory that the facts of a cluster's nodes share.
#pragma once

#include <cstdint>
#include <string_view>

#include "schema/facts.h"
#include "schema/packed_bases.h"

namespace fairlead {

/// Nodes of a pool have most labels and amounts in common, and a large fleet has a million nodes:
/// docs/decisions/0021-memory-of-a-node.md.
struct NodeBases {
  PackedBases<std::string_view> labels;
  PackedBases<std::int64_t> amounts;

  /// Returns equal facts that take as little memory as those before them allow, and hold none of
  /// the memory of `facts`: an event's was made by another thread, between values that are gone.
  NodeFacts share(const NodeFacts& facts) {
    return {labels.share(facts.labels), facts.taints, facts.unschedulable, facts.ready,
            amounts.share(facts.allocatable)};
  }
};

}  // namespace fairlead
