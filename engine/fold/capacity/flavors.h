// The hub's ResourceFlavors. Internal to the fold, except flavor_exists.
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// Whether the hub has this ResourceFlavor now.
bool flavor_exists(const State& state, const std::string& flavor);

/// Folds an observation of a flavor; `facts` is null if it is gone. A gone flavor stays in force as
/// last known, for nodes and members, while a claim or a member's quota work names it: when Kueue's
/// CRDs are replaced all flavors go and come back, and that must not empty a member or the hub.
void observe_flavor(State& state, const std::string& flavor, const ResourceFlavorFacts* facts,
                    Seq seq);

/// Drops the gone flavors that no claim and no work names any more. Callers call it when a claim or
/// a work may have stopped naming one.
void release_gone_flavors(State& state);

}  // namespace fairlead
