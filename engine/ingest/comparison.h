// What of an object counts as a change: it is compared with what State holds of it.
#pragma once

#include "engine/ingest/watch_fact.h"

namespace fairlead {

struct State;

/// Returns whether State holds the object with the observed facts.
bool is_unchanged(const State& state, const SourceName& source, const ObjectSeen& seen);

/// Returns whether `seen` is a ClusterQueue that State holds and that differs from it in nothing
/// but the amounts in use, reserved and borrowed, which change with each admission.
bool is_known_but_for_amounts(const State& state, const SourceName& source, const ObjectSeen& seen);

/// Drops the labels of a Workload that usage.labels does not list: they are not kept, so that their
/// changes are no events.
void drop_unlisted_labels(const Configuration& configuration, ObjectSeen& seen);

}  // namespace fairlead
