// In which namespace of the hub a kind is watched, for kinds that are not watched in all of them.
#pragma once

#include <string>

#include "schema/configuration.h"
#include "schema/kind.h"

namespace fairlead {

/// Returns the namespace in which `kind` is watched on the hub, so that a Role suffices to read it;
/// empty: all namespaces. Placements are watched in all of them where that is allowed; only those
/// of this namespace count, so it suffices where the others may not be read.
inline std::string hub_namespace(Kind kind, const Configuration& configuration) {
  const bool one = kind == Kind::secret || kind == Kind::placement_decision;
  return one || kind == Kind::placement ? configuration.kueue_namespace : "";
}

}  // namespace fairlead
