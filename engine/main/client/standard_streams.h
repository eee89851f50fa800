// Standard input and output of the commands: their failures are reported, never ignored.
#pragma once

#include <string>

#include "engine/base/result.h"

namespace fairlead {

/// Fails with `bad_input` if nothing can come from standard input: it is closed, a terminal (on
/// which the program would wait without a message) or a directory.
[[nodiscard]] Result<void> expect_readable_input();

/// Whether standard output is a terminal that shows colours: not where TERM is unset or "dumb", nor
/// where NO_COLOR is set to anything.
[[nodiscard]] bool shows_colours();

/// Prints a question on stderr and returns whether the answer on standard input is y or yes.
/// Returns false without asking if one of the two is not a terminal.
[[nodiscard]] bool asks_on_terminal(const std::string& question);

/// Flushes standard output. Fails with `unavailable` if not all of it could be written.
[[nodiscard]] Result<void> flush_output();

}  // namespace fairlead
