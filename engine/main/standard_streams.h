// Standard input and output of the commands: what is wrong with them is said, never passed over.
#pragma once

#include "engine/base/result.h"

namespace fairlead {

/// `bad_input` if nothing can come from standard input: it is closed, a terminal (on which the
/// program would wait without a word) or a directory.
[[nodiscard]] Result<void> expect_readable_input();

/// Flushes standard output. `unavailable` if not all of it could be written.
[[nodiscard]] Result<void> flush_output();

}  // namespace fairlead
