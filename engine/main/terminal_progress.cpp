#include "engine/main/terminal_progress.h"

#include <unistd.h>

#include <iostream>
#include <memory>

#include "engine/runtime/progress_line.h"

namespace fairlead {

std::function<void(std::uint64_t, std::uint64_t)> progress_on_terminal(const std::string& doing) {
  using SteadyClock = std::chrono::steady_clock;
  if (::isatty(STDERR_FILENO) == 0) return {};
  return
      [line = std::make_shared<ProgressLine>(std::cerr, doing, SteadyClock::now())](
          std::uint64_t done, std::uint64_t total) { line->show(done, total, SteadyClock::now()); };
}

}  // namespace fairlead
