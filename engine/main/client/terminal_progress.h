// The progress of long work, for a person who waits for it at a terminal.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "engine/log/event_log.h"
#include "engine/main/client/progress_line.h"

namespace fairlead {

/// A line on stderr while work takes longer than a second (progress_line.h), gone with this: how
/// long it takes until something is reached, then how far it is. Any thread may call it.
class TerminalProgress {
 public:
  explicit TerminalProgress(std::string doing);
  ~TerminalProgress();
  TerminalProgress(const TerminalProgress&) = delete;
  TerminalProgress& operator=(const TerminalProgress&) = delete;

  void reached(std::uint64_t done, std::uint64_t total);

 private:
  void wait();

  std::mutex mutex_;  // guards the next three
  ProgressLine line_;
  bool known_ = false;  // how far it is
  bool done_ = false;
  std::condition_variable wake_;
  std::thread thread_;
};

/// Returns a function that shows such a line until its last copy is destroyed. Empty if stderr is
/// no terminal: pipes get no line.
std::function<void(std::uint64_t done, std::uint64_t total)> progress_on_terminal(
    const std::string& doing);
/// The progress of a walk over a log.
LogProgress log_progress_on_terminal(const std::string& doing);

}  // namespace fairlead
