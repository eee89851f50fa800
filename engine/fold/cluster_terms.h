// What claims and configuration say about the capacity of one cluster.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "schema/configuration.h"

namespace fairlead {

/// The headroom in force for a cluster.
struct CanonicalHeadroom {
  struct Row {
    std::string resource;  ///< canonical
    std::int64_t percent = 0;
    Amount reserved = 0;
  };
  std::vector<Row> rows;  ///< a few; a resource without one has none

  Row& row_of(std::string_view resource);
};

/// Both settings of a cluster that its claim may override.
struct ClusterTerms {
  DebounceSettings settings;
  CanonicalHeadroom headroom;
  std::uint64_t as_of = 0;  ///< one more than State::terms_changes when they were derived; 0: never
};

}  // namespace fairlead
