// The progress of long work, for a person who waits for it at a terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace fairlead {

/// Returns a function that rewrites one line on stderr while work takes longer than a second:
/// `doing`, how many events of how many, in percent, and how many a second. The line is erased when
/// the last copy of the function is destroyed. Empty if stderr is no terminal: pipes get no line.
std::function<void(std::uint64_t done, std::uint64_t total)> progress_on_terminal(
    const std::string& doing = "");

}  // namespace fairlead
