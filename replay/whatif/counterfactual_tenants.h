// What tenants' objects look like where other writes were made to them than in history.
#pragma once

#include "engine/fold/state.h"
#include "engine/ingest/watch_fact.h"

namespace fairlead {

/// Gives a tenant's Namespace or Pod of history the annotations that the counterfactual wrote,
/// where it shows those that history's own writes left. What other writers wrote stays.
void translate_tenant(ObjectSeen& seen, const SourceName& source, const State& history,
                      const State& counterfactual);

}  // namespace fairlead
