// One write as the JSON line that `fairlead plan` prints: other programs rely on it (docs/plan.md).
#pragma once

#include <string>

#include "schema/event.h"

namespace fairlead {

/// Returns the line without its newline: keys in the documented order, the body exactly as sent.
std::string write_line(Seq seq, LogTime time, const PatchIntended& intent);

}  // namespace fairlead
