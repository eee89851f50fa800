#include "engine/runtime/progress_line.h"

namespace fairlead {

namespace {

constexpr std::chrono::milliseconds kQuiet{1000};
constexpr std::chrono::milliseconds kRewrite{200};
constexpr const char* kErase = "\r\033[K";

// Whole events a second; 0 if no time has passed.
std::uint64_t rate_of(std::uint64_t events, std::chrono::steady_clock::duration time) {
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return spent > 0 ? events * 1000 / static_cast<std::uint64_t>(spent) : 0;
}

}  // namespace

ProgressLine::ProgressLine(std::ostream& out, std::string doing, Time begin)
    : out_(out), doing_(std::move(doing)), begin_(begin) {}

ProgressLine::~ProgressLine() {
  if (rewritten_) out_ << kErase << std::flush;
}

void ProgressLine::show(std::uint64_t done, std::uint64_t total, Time now) {
  if (!first_) first_ = {done, now};
  if (now - begin_ < kQuiet || (rewritten_ && now - *rewritten_ < kRewrite)) return;
  rewritten_ = now;
  out_ << kErase << doing_ << done << " of " << total << " events ("
       << (total == 0 ? 100 : done * 100 / total) << "%), "
       << rate_of(done - first_->first, now - first_->second) << "/s" << std::flush;
}

}  // namespace fairlead
