// Claims: which is in force for a cluster, and what its assignments are granted. Internal to the
// fold.
#pragma once

#include <string>

#include "engine/fold/state.h"

namespace fairlead {

/// A claim was seen in a new state.
void observe_claim(State& state, const ObjectObserved& seen, Seq seq);
/// A claim is gone.
void forget_claim(State& state, const std::string& name);
/// The claims of `cluster` are granted anew when the present moment closes.
void reopen_claims_of(State& state, const std::string& cluster);
/// The claims that name `queue` are granted anew.
void reopen_claims_naming(State& state, const std::string& queue);
/// Every claim is understood and granted anew (the configuration changed).
void reopen_every_claim(State& state);
/// Derives the grants of the claims that are open.
void close_claims(State& state, Touched& touched);

}  // namespace fairlead
