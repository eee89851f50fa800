// The events between two places of a log. Internal to the audit.
#pragma once

#include "replay/audit/audit.h"

namespace fairlead {

/// The first and the last event of a span; without one, the last is before the first.
struct EventSpan {
  Seq begin;
  Seq end;
};
/// Returns the events from `from` to `to`, both included. Fails with `bad_input` if the log begins
/// after the span or is damaged in it, or if `to` is before `from`.
Result<EventSpan> span_between(const ReadableLog& log, const AuditPosition& from,
                               const AuditPosition& to);

}  // namespace fairlead
