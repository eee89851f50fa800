// Where a debounce setting in force comes from: the configuration, or an annotation of the claim.
// Internal to the audit.
#pragma once

#include <string>
#include <vector>

#include "replay/audit_moment.h"

namespace fairlead {

/// The settings that the text of a layer names, as they are in force for a cluster: [{"name",
/// "value", "from" "configuration"|"claim", "claim" (of an annotation its name, else null), "seq",
/// "time" (of the event that set it; null where the log keeps it no more, then with "pruned":
/// true)}]. Of an annotation the log is walked back to where it took its value, a claim's events
/// only.
Result<std::vector<Json>> settings_behind(const AuditSource& source, const State& state,
                                          const std::string& cluster, const std::string& layer,
                                          EventLookup& lookup);

}  // namespace fairlead
