#include "engine/main/client/progress_line.h"

namespace fairlead {

namespace {

constexpr std::chrono::milliseconds kQuiet{1000};
constexpr std::chrono::milliseconds kRewrite{200};
constexpr const char* kErase = "\r\033[K";
constexpr std::uint64_t kSecondsOfMinute = 60;

// Whole events a second; 0 if no time has passed.
std::uint64_t rate_of(std::uint64_t events, std::chrono::steady_clock::duration time) {
  const auto spent = std::chrono::duration_cast<std::chrono::milliseconds>(time).count();
  return spent > 0 ? events * 1000 / static_cast<std::uint64_t>(spent) : 0;
}

// ", 40 s left", rounded up; empty where it is not known.
std::string left_text(std::uint64_t events, std::uint64_t rate) {
  if (rate == 0) return "";
  const std::uint64_t left = (events + rate - 1) / rate;
  const bool minutes = left >= 2 * kSecondsOfMinute;
  const std::uint64_t shown = minutes ? (left + kSecondsOfMinute - 1) / kSecondsOfMinute : left;
  return ", " + std::to_string(shown) + (minutes ? " min left" : " s left");
}

}  // namespace

ProgressLine::ProgressLine(std::ostream& out, std::string doing, Time begin)
    : out_(out), doing_(std::move(doing)), begin_(begin) {}

ProgressLine::~ProgressLine() {
  if (rewritten_) out_ << kErase << std::flush;
}

bool ProgressLine::is_due(Time now) const {
  return now - begin_ >= kQuiet && (!rewritten_ || now - *rewritten_ >= kRewrite);
}

void ProgressLine::rewrite(const std::string& text, Time now) {
  rewritten_ = now;
  out_ << kErase << doing_ << text << std::flush;
}

void ProgressLine::show(std::uint64_t done, std::uint64_t total, Time now) {
  if (!first_ || done < last_) first_ = {done, now};
  last_ = done;
  if (!is_due(now)) return;
  const std::uint64_t rate = rate_of(done - first_->first, now - first_->second);
  rewrite(std::to_string(done) + " of " + std::to_string(total) + " events (" +
              std::to_string(total == 0 ? 100 : done * 100 / total) + "%), " +
              std::to_string(rate) + "/s" + left_text(total > done ? total - done : 0, rate),
          now);
}

void ProgressLine::wait(Time now) {
  if (!is_due(now)) return;
  const auto passed = std::chrono::duration_cast<std::chrono::seconds>(now - begin_);
  rewrite(std::to_string(passed.count()) + " s", now);
}

}  // namespace fairlead
