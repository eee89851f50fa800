// Finds where a debounce setting in force comes from: the configuration, or an annotation of the
// claim. Internal to the audit.
#pragma once

#include <string>
#include <vector>

#include "replay/audit/audit_moment.h"
#include "replay/audit/explain.h"

namespace fairlead {

/// Returns the settings that the text or the end of a layer follows from, as they are in force for
/// a cluster ("settings" of a Layer, ui/answers.d.ts). For an annotation it walks back over the
/// claim's events only, to the one that set the value.
Result<std::vector<Json>> settings_behind(const AuditSource& source, const State& state,
                                          const std::string& cluster, LayerName layer,
                                          EventLookup& lookup);

}  // namespace fairlead
