// The settings from claims and configuration for the capacity of one cluster.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/quantity.h"
#include "schema/configuration.h"

namespace fairlead {

struct ClaimTerms;

/// The headroom in force for a cluster.
struct CanonicalHeadroom {
  struct Row {
    std::string resource;  ///< canonical
    std::int64_t percent = 0;
    Amount reserved = 0;
  };
  std::vector<Row> rows;  ///< a few; a resource without a row has no headroom

  /// Returns the row of `resource`; adds one of zeros if there is none.
  Row& row_of(std::string_view resource);
};

/// Returns the configuration's headroom; a map that `terms` has replaces the configuration's map of
/// that kind whole. `terms` may be null.
CanonicalHeadroom headroom_of(const Configuration& configuration, const ClaimTerms* terms);

/// The settings of a cluster that its claim may override.
struct ClusterTerms {
  DebounceSettings settings;
  CanonicalHeadroom headroom;
  std::uint64_t as_of = 0;  ///< one more than State::terms_changes when they were derived; 0: never
};

}  // namespace fairlead
