#include "engine/main/waiting_line.h"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <utility>

namespace fairlead {

WaitingLine::WaitingLine(std::string doing) : doing_(std::move(doing)) {
  if (::isatty(STDERR_FILENO) != 0) thread_ = std::thread([this] { show(); });
}

WaitingLine::~WaitingLine() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void WaitingLine::show() {
  constexpr int kQuietSeconds = 2;
  bool shown = false;
  std::unique_lock lock(mutex_);
  for (int passed = 1; !wake_.wait_for(lock, std::chrono::seconds(1), [this] { return done_; });
       ++passed) {
    if (passed < kQuietSeconds) continue;
    std::cerr << '\r' << doing_ << ": " << passed << " s" << std::flush;
    shown = true;
  }
  if (shown) std::cerr << "\r\x1b[K" << std::flush;  // ECMA-48: erase the line
}

}  // namespace fairlead
