#include "engine/main/client/terminal_progress.h"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <utility>

namespace fairlead {

using SteadyClock = std::chrono::steady_clock;

TerminalProgress::TerminalProgress(std::string doing)
    : line_(std::cerr, std::move(doing), SteadyClock::now()), thread_([this] { wait(); }) {}

TerminalProgress::~TerminalProgress() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void TerminalProgress::reached(std::uint64_t done, std::uint64_t total) {
  const std::lock_guard lock(mutex_);
  known_ = true;
  line_.show(done, total, SteadyClock::now());
}

void TerminalProgress::wait() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; }))
    if (!known_) line_.wait(SteadyClock::now());
}

std::function<void(std::uint64_t, std::uint64_t)> progress_on_terminal(const std::string& doing) {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [line = std::make_shared<TerminalProgress>(doing)](
             std::uint64_t done, std::uint64_t total) { line->reached(done, total); };
}

LogProgress log_progress_on_terminal(const std::string& doing) {
  auto progress = progress_on_terminal(doing);
  if (!progress) return {};
  return [progress = std::move(progress)](Seq done, Seq last) { progress(done.value, last.value); };
}

}  // namespace fairlead
