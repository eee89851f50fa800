// Which claim is in force for a cluster, and the settings that it gives.
#pragma once

#include <string>

#include "engine/fold/claims/claim_state.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Returns the claim in force for the cluster; null if it has none.
const Claim* winning_claim(const ClaimTables& claims, const std::string& cluster);

/// Returns the debounce settings in force for a cluster: the configuration's, overridden by the
/// annotations of its claim.
DebounceSettings settings_of(TermsReader state, const std::string& cluster);

/// Returns the write interval of those settings.
Duration write_interval_of(TermsReader state, const std::string& cluster);

/// Returns the settings and the headroom, derived again only after a claim or the configuration
/// changed. `cluster` is the one called `name`.
const ClusterTerms& terms_of(TermsReader state, const std::string& name, Cluster& cluster);

}  // namespace fairlead
