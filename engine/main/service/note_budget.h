// How many decisions of the webhook are recorded.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>

namespace fairlead {

/// Records in the long run, and at once after a pause; further ones are lost. The port knows no
/// caller, so bounds must keep a flood of refusals out of the log: a short one that leaves the
/// hub's thread its time, and one of a day (some 10 MiB) that leaves the disk its room.
inline constexpr std::int64_t kNotesPerSecond = 20;
inline constexpr std::int64_t kNotesAtOnce = 200;
inline constexpr std::int64_t kNotesPerDay = 10'000;

/// A token bucket for each bound; full at the beginning. Not thread-safe.
class NoteBudget {
 public:
  using Time = std::chrono::steady_clock::time_point;

  explicit NoteBudget(Time began) : earned_until_(began) {}

  /// Whether one more may be recorded at `now`, which never goes back; counts it if so.
  bool spend(Time now) {
    using std::chrono::nanoseconds;
    const std::int64_t earned =
        std::chrono::duration_cast<nanoseconds>(now - earned_until_).count();
    earned_until_ = now;
    // `earned` is cut first: after a long pause the sum could overflow.
    for (Bucket& each : buckets_)
      each.left_ns = std::min(each.most_ns, each.left_ns + std::min(earned, each.most_ns));
    const auto has_one = [](const Bucket& each) { return each.left_ns >= each.note_ns; };
    if (!std::all_of(buckets_.begin(), buckets_.end(), has_one)) return false;
    for (Bucket& each : buckets_) each.left_ns -= each.note_ns;
    return true;
  }

 private:
  // What may be recorded, each record as the time after which it is earned.
  struct Bucket {
    std::int64_t note_ns, most_ns, left_ns;
  };
  static constexpr std::int64_t kNsPerSecond = 1'000'000'000, kNsPerDay = 86'400 * kNsPerSecond;
  static constexpr std::int64_t kNoteNs = kNsPerSecond / kNotesPerSecond;
  static constexpr std::int64_t kAtOnceNs = kNoteNs * kNotesAtOnce;

  std::array<Bucket, 2> buckets_{
      {{kNoteNs, kAtOnceNs, kAtOnceNs}, {kNsPerDay / kNotesPerDay, kNsPerDay, kNsPerDay}}};
  Time earned_until_;
};

}  // namespace fairlead
