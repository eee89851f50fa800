// What this program was built from.
#pragma once

#include <string_view>

namespace fairlead {

/// Returns the first twelve digits of the commit, with `-modified` where the tree had other
/// changes; "unknown" for a build outside of a git checkout.
std::string_view build_commit();

}  // namespace fairlead
