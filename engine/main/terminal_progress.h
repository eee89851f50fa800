// How far long work has come, for who waits for it at a terminal.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace fairlead {

/// Rewrites one line on stderr: `doing`, then how many events of how many. Empty where stderr is
/// no terminal: a pipe stays quiet.
std::function<void(std::uint64_t done, std::uint64_t total)> progress_on_terminal(
    const std::string& doing = "");

}  // namespace fairlead
