// How far long work has come, for who waits for it at a terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace fairlead {

/// Rewrites one line on stderr while work goes on that takes longer than a second: `doing`, how
/// many events of how many, in percent, and how many a second. The line is erased when the last
/// copy of what is returned goes. Empty where stderr is no terminal: a pipe stays quiet.
std::function<void(std::uint64_t done, std::uint64_t total)> progress_on_terminal(
    const std::string& doing = "");

}  // namespace fairlead
