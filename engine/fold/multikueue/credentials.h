// How Kueue may reach a cluster: by a ClusterProfile or by a kubeconfig in a Secret.
#pragma once

#include <optional>
#include <string>

#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Returns the present credential from the objects in the Kueue namespace.
Credential credential_of(MultiKueueReader state, const std::string& cluster);
/// Updates the cluster's record from its objects. Returns whether it changed.
bool refresh_credential(MultiKueueRoom state, const std::string& cluster, Seq seq);
/// Returns the cluster's record; null if it was never refreshed.
const CredentialRecord* find_credential(const MultiKueue& multikueue, const std::string& cluster);

/// Returns what a MultiKueueCluster of the cluster should name. A profile precedes a Secret. The
/// source of a listed worker changes only after `settle` (to a profile) or `credential_grace` (from
/// it), the longest of its lists; at once from a profile that Kueue does not use. Without a
/// credential it is the last one; both fields are empty if there is none that could be written.
/// Lowers `next` to the moment at which the result changes.
Credential source_for(MultiKueueReader state, const std::string& worker, const std::string& cluster,
                      LogTime& next);

}  // namespace fairlead
