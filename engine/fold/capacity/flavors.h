// The hub's ResourceFlavors, and in which ClusterQueues and claims they are used. Internal to the
// fold, except flavor_exists.
#pragma once

#include <string>
#include <vector>

#include "engine/fold/capacity/capacity_state.h"
#include "engine/fold/capacity/node_count.h"
#include "engine/fold/claims/claim_spec.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Whether the hub has this ResourceFlavor now.
bool flavor_exists(const FlavorTables& flavors, const std::string& flavor);

/// Folds an observation of a flavor; `facts` is null if it is gone. A gone flavor stays in force as
/// last known, for nodes and members, while a claim or a member's quota work names it: when Kueue's
/// CRDs are replaced all flavors go and come back, and that must not empty a member or the hub.
void observe_flavor(FlavorRoom state, const std::string& flavor, const ResourceFlavorFacts* facts,
                    Seq seq);

/// Drops the gone flavors that no claim and no work names any more. Callers call it when a claim or
/// a work may have stopped naming one.
void release_gone_flavors(FlavorRoom state);

/// Notes that a ClusterQueue has other resource groups; null: it is not there. Quotas do not
/// matter.
void note_groups(StateView<FlavorTables, const LogPosition> state,
                 const std::vector<ResourceGroup>* before, const std::vector<ResourceGroup>* after);
/// Adds the rows of a valid claim to the uses, or takes them out.
void note_rows(StateView<FlavorTables, const LogPosition> state, const ClaimTerms& terms,
               Sign sign);
/// Puts the uses in force that the events of the closing moment left, and counts the nodes again if
/// a resource has other candidates by them.
void adopt_uses(CapacityRoom state);

}  // namespace fairlead
