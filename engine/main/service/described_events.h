// What `log cat -o text` prints about events: the words of replay/audit/event_changes.h.
#pragma once

#include "engine/main/client/log_page.h"

namespace fairlead {

/// Returns the words for events of `log`, which outlives them.
EventWords describe_changes(const ReadableLog& log);

}  // namespace fairlead
