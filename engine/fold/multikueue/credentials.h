// How Kueue may reach a cluster: by a ClusterProfile or by a kubeconfig in a Secret.
#pragma once

#include <optional>
#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// What there is at this moment, of the objects in the Kueue namespace.
Credential credential_of(const State& state, const std::string& cluster);
/// Keeps the cluster's record as its objects are; true if it changed.
bool refresh_credential(State& state, const std::string& cluster, Seq seq);
/// The cluster's record; null if nothing was ever asked of it.
const CredentialRecord* find_credential(const State& state, const std::string& cluster);

/// What a MultiKueueCluster of the cluster should name: a profile beats a Secret; one of a listed
/// worker is changed only after `settle` (to a profile) or `credential_grace` (from it), the
/// longest of its lists. Without a credential the last one. Both empty: nothing that could be
/// written. `next` is lowered to the moment at which that changes by itself.
Credential source_for(const State& state, const std::string& worker, const std::string& cluster,
                      LogTime& next);

}  // namespace fairlead
