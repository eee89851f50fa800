// How often a ring's commits are written: each costs the control plane some CPU and disk, so they
// are paced, and groups grow instead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/base/time.h"

namespace fairlead {

struct ReplicationPace {
  std::int64_t per_second = 5;                ///< commits; of an etcd 50
  std::int64_t burst = 50;                    ///< of an etcd 500
  std::int64_t bytes_per_second = 256 << 10;  ///< of packs; of an etcd 4 Mi

  friend bool operator==(const ReplicationPace&, const ReplicationPace&) = default;
};

/// Two token buckets: of commits, and of bytes with a burst of ten seconds. A commit may be begun
/// while neither is in debt. Times are monotonic.
class RingPace {
 public:
  explicit RingPace(const ReplicationPace& pace)
      : pace_(pace), commits_ns_(kSecond * pace.burst), bytes_ns_(kBytesBurst) {}

  /// A commit of `bytes` is begun at `now`.
  void begin(std::size_t bytes, LogTime now) {
    refill(now);
    commits_ns_ -= kSecond;
    bytes_ns_ -= static_cast<std::int64_t>(bytes) * kSecond / pace_.bytes_per_second;
  }
  /// Returns how long to wait at `now` before the next one; 0: not at all.
  Duration pause(LogTime now) {
    refill(now);
    const std::int64_t commits =
        commits_ns_ >= kSecond ? 0 : (kSecond - commits_ns_) / pace_.per_second;
    return {std::max({std::int64_t{0}, commits, -bytes_ns_})};
  }

 private:
  static constexpr std::int64_t kSecond = 1'000'000'000;
  static constexpr std::int64_t kBytesBurst = 10 * kSecond;

  void refill(LogTime now) {
    const std::int64_t passed = std::max<std::int64_t>(0, now.ns - filled_.ns);
    filled_ = std::max(filled_, now);
    const std::int64_t span = std::min(passed, 3600 * kSecond);
    commits_ns_ = std::min(kSecond * pace_.burst, commits_ns_ + span * pace_.per_second);
    bytes_ns_ = std::min(kBytesBurst, bytes_ns_ + span);
  }

  ReplicationPace pace_;
  std::int64_t commits_ns_;  ///< tokens, a billion per commit
  std::int64_t bytes_ns_;    ///< the time that is left to write bytes in; below 0: debt
  LogTime filled_;
};

}  // namespace fairlead
