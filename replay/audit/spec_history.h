// The changes of an object's spec over time, from the log's index of that object. Internal to the
// audit.
#pragma once

#include <vector>

#include "replay/audit/audit_moment.h"
#include "replay/audit/audit_span.h"

namespace fairlead {

/// Returns the changes of the object's fields (spec_values.h) in a span, by seq: SettingChange in
/// ui/answers.d.ts. If the log's beginning was pruned, the first observation is compared with a
/// snapshot; without one it is the initial value and no change.
Result<std::vector<Json>> spec_history(const AuditSource& source, const ObjectKey& key,
                                       const EventSpan& span, EventLookup& lookup);
/// Returns the index of the last event before `from` that observed the object, or in which it was
/// gone; 0 if there is none. `seqs` are the events about the object.
std::size_t last_shown_before(const std::vector<Seq>& seqs, Seq from, EventLookup& lookup);

/// Reads "cohort/NAME", "resourceflavor/NAME", "admissioncheck/NAME" or
/// "localqueue/NAMESPACE/NAME"; nullopt for any other text.
std::optional<ObjectKey> object_named(const std::string& text);

/// Returns an ObjectHistory of such an object, without "unseen".
Result<AuditAnswer> audit_history_object(const AuditSource& source, const ObjectKey& key,
                                         const EventSpan& span);

}  // namespace fairlead
