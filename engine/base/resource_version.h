// resourceVersions: texts that an API server gives its objects and lists.
//
// Kubernetes promises since 1.35 that they compare as numbers; from any other server they are
// opaque, and two that are opaque have no order.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead {

/// The number that `version` is; nullopt if it is opaque, also what 64 bits do not hold.
std::optional<std::uint64_t> version_number(std::string_view version);

/// Both are numbers, and `a` is the lower one.
bool is_lower_version(std::string_view a, std::string_view b);

/// Both are numbers, and a server at `version` has made `than`.
bool includes_version(std::string_view version, std::string_view than);

}  // namespace fairlead
