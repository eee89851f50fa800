// Where on the hub the kinds are watched that are not watched everywhere.
#pragma once

#include <string>

#include "schema/configuration.h"
#include "schema/kind.h"

namespace fairlead {

/// The namespace in which that kind is watched on the hub, so that a Role suffices to read it;
/// empty: everywhere. Placements are looked for everywhere, but only those of this namespace count,
/// so where the others may not be read they are not.
inline std::string hub_namespace(Kind kind, const Configuration& configuration) {
  const bool one = kind == Kind::secret || kind == Kind::placement_decision;
  return one || kind == Kind::placement ? configuration.kueue_namespace : "";
}

}  // namespace fairlead
