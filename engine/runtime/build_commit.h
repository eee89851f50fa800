// What this program was built from.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

/// Returns the first twelve digits of the commit, with `-modified` where the tree had other
/// changes; "unknown" for a build outside of a git checkout.
std::string_view build_commit();

/// Returns the version and the commit: programs that may act differently differ in it.
std::string build_identity();

}  // namespace fairlead
