// The hub's ResourceFlavors. Internal to the fold, except flavor_exists.
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// Whether the hub has that ResourceFlavor now.
bool flavor_exists(const State& state, const std::string& flavor);

/// A flavor was seen, or is gone (`facts` is null). One that is gone stays in force as it was last
/// known, for nodes and for members, while a claim or a member's quota work names it: with Kueue's
/// CRDs all flavors go and come back, and neither may empty a member or the hub.
void observe_flavor(State& state, const std::string& flavor, const ResourceFlavorFacts* facts,
                    Seq seq);

/// Drops the gone flavors that no claim and no work names any more. To be called when a claim or a
/// work may have ceased to name one.
void release_gone_flavors(State& state);

}  // namespace fairlead
