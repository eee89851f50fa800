// Where in a log something moves: the span that a page draws which was asked for none.
#pragma once

#include "replay/timeline/timeline.h"
#include "replay/timeline/timeline_answers.h"

namespace fairlead {

/// Returns the part of `whole` in which values moved, writes were intended and losses happened,
/// with a margin. Where a stretch without any of these takes more than nine tenths of what is left,
/// it is what comes after it or, behind the last of them, what came before. What a first list
/// showed does not count as a move. Returns `whole` where that part is more than half of it, or
/// nothing moved.
TimelineSpan span_of_moments(const Timeline& timeline, const TimelineSpan& whole);

}  // namespace fairlead
