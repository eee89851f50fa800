// The events about a tenant's namespace or pod: the decisions that were written, and every change
// of where it is placed. Internal to the audit.
#pragma once

#include <vector>

#include "replay/audit/audit_moment.h"

namespace fairlead {

/// The object of a question as the log names it.
ObjectKey object_of(const AuditPlacement& asked);

/// Fails with `bad_input`, naming what is known, unless the object exists.
Result<void> check_placement_named(const State& state, const AuditPlacement& asked);

/// {"seq", "time", "text"} of each event, ascending.
Json facts_json(EventLookup& lookup, const State& state, const std::vector<Seq>& because);

/// Returns "changes" of an answer: our writes of the object from `from` to `to`, the oldest first;
/// at most `most` of them, the newest.
Result<Json> decisions_between(const AuditSource& source, const AuditPlacement& asked,
                               const State& state, Seq from, Seq to, std::size_t most);

}  // namespace fairlead
