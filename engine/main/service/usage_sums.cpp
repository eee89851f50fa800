#include "engine/main/service/usage_sums.h"

namespace fairlead {

namespace {

// A question waits for so many events at most.
constexpr std::uint64_t kEventsOfHours = 20'000;

}  // namespace

Result<bool> UsageSums::follow(const ServedLog& served) {
  if (served.option != kDataOption) return true;
  if (!hours_) {
    hours_ = saved_usage_hours(served.path, *served.log).value_or(UsageHours());
    saved_end_ = hours_->end;
  }
  auto added = add_hours(*hours_, {*served.log, served.snapshots.get()}, kEventsOfHours);
  at_end_ = added && *added;
  return added;
}

Result<void> UsageSums::save(const ServedLog& served) {
  if (!at_end_ || hours_->end == saved_end_) return {};
  saved_end_ = hours_->end;  // also if that fails: a full disk is not asked again at once
  return save_usage_hours(*hours_, served.path);
}

}  // namespace fairlead
