// How long something took, counted in buckets as Prometheus reads them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/base/time.h"

namespace fairlead {

/// Counts durations from half a millisecond (a good disk's fsync) to a minute.
class Histogram {
 public:
  /// The upper bounds of the buckets, inclusive; longer ones are in the sum and the count alone.
  static constexpr std::array<Duration, 16> kBounds{
      {Duration{500'000}, milliseconds(1), Duration{2'500'000}, milliseconds(5), milliseconds(10),
       milliseconds(25), milliseconds(50), milliseconds(100), milliseconds(250), milliseconds(500),
       seconds(1), Duration{2'500'000'000}, seconds(5), seconds(10), seconds(30), minutes(1)}};

  void add(Duration took) {
    const auto at = std::lower_bound(kBounds.begin(), kBounds.end(), took);
    if (at != kBounds.end()) ++counts_.at(static_cast<std::size_t>(at - kBounds.begin()));
    ++count_;
    sum_.ns += took.ns;
    longest_ = std::max(longest_, took);
  }

  /// Returns how many were at most kBounds[bucket].
  std::uint64_t up_to(std::size_t bucket) const {
    std::uint64_t total = 0;
    for (std::size_t i = 0; i <= bucket; ++i) total += counts_.at(i);
    return total;
  }
  std::uint64_t count() const { return count_; }
  Duration sum() const { return sum_; }
  Duration longest() const { return longest_; }

 private:
  std::array<std::uint64_t, kBounds.size()> counts_{};
  std::uint64_t count_ = 0;
  Duration sum_;
  Duration longest_;
};

}  // namespace fairlead
