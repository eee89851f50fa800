// The border at which text goes to a person: a terminal, a pager, a line of diagnostics.
//
// Names, messages and reasons come from API servers that others run. Shown as they are, an escape
// code in one would act on the reader's terminal, a line break would forge a line, and a mark of
// direction (CVE-2021-42574) would show a text in another order. JSON output needs none of this:
// its strings are escaped.
#pragma once

#include <string>
#include <string_view>

#include "engine/base/json.h"

namespace fairlead {

/// Returns `text` on one line and without effects: control characters (C0, DEL, C1), line and
/// paragraph separators, marks of direction and bytes that are not UTF-8 are spelled as JSON spells
/// them (`\n`, `\u001b`), a byte as `\xff`.
std::string printable(std::string_view text);

/// Likewise for a text of several lines, which keeps its line breaks.
std::string printable_lines(std::string_view text);

/// Returns `document` with printable strings and keys.
Json printable_document(const Json& document);

}  // namespace fairlead
