// When a source was heard last before the log says that it is silent. Internal to the audit.
#pragma once

#include "replay/audit/audit_moment.h"

namespace fairlead {

/// Where an event is, and when.
struct EventPlace {
  Seq seq;
  LogTime time;
};

/// Returns staleAfter as configured at an event; the default if that configuration was pruned.
Result<Duration> stale_after_at(const ReadableLog& log, Seq seq);

/// Returns when objects of a kind were reported last by a source that was found silent at
/// `noticed`. Silence is noticed after `stale_after`, so that is at most so long before; a source
/// with more objects than are read becomes stale at once, right after its last report.
LogTime last_word_of(EventLookup& lookup, const SourceName& source, Kind kind,
                     const EventPlace& noticed, Duration stale_after);

}  // namespace fairlead
