#include "engine/main/terminal_progress.h"

#include <unistd.h>

#include <iostream>

namespace fairlead {

std::function<void(std::uint64_t, std::uint64_t)> progress_on_terminal(const std::string& doing) {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [doing](std::uint64_t done, std::uint64_t total) {
    std::cerr << "\r" << doing << done << " of " << total << " events"
              << (done == total ? "\n" : "") << std::flush;
  };
}

}  // namespace fairlead
