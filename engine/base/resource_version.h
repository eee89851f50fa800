// resourceVersions: texts by which an API server versions its objects and lists.
//
// Since 1.35 Kubernetes guarantees that they compare as numbers. Other servers may use opaque
// texts, which have no order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead {

/// Returns the number that `version` is; nullopt if it is opaque or does not fit 64 bits.
std::optional<std::uint64_t> version_number(std::string_view version);

/// Returns whether both are numbers and `a` is the lower one.
bool is_lower_version(std::string_view a, std::string_view b);

/// Returns whether both are numbers and `than` is not above `version`: a server at `version` has
/// already made `than`.
bool includes_version(std::string_view version, std::string_view than);

}  // namespace fairlead
