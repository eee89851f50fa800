// How many events, writes and losses there were over log time, in buckets of equal width. The width
// doubles as the log grows, so that a log of any length has a bounded number of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/time.h"

namespace fairlead {

/// What happened in one bucket.
struct EventCounts {
  std::uint64_t events = 0;
  std::uint64_t ours = 0;     ///< writes that we intended
  std::uint64_t foreign = 0;  ///< quotas and placements that another writer changed
  std::uint64_t losses = 0;   ///< sources that were lost, and losses of capacity that were held

  EventCounts& operator+=(const EventCounts& more);
  friend bool operator==(const EventCounts&, const EventCounts&) = default;
};

/// From `begin` on, until the next bucket at the soonest.
struct CountBucket {
  LogTime begin;
  EventCounts counts;
};

/// At most so many buckets are kept.
inline constexpr std::size_t kCountBucketsMax = 32'768;

class CountsOverTime {
 public:
  /// Adds counts at `time`, which is not before the last call's.
  void add(LogTime time, const EventCounts& counts);
  /// Returns the counts from `from` to `to` in at most `buckets` buckets (at least one), those
  /// without an event left out. Their width is returned in `width`: a multiple of that in which
  /// they are kept.
  std::vector<CountBucket> between(LogTime from, LogTime to, std::size_t buckets,
                                   Duration& width) const;
  /// Returns the sum of all.
  const EventCounts& total() const { return contents_.total; }

  struct Contents {
    Duration width = seconds(1);
    std::vector<CountBucket> buckets;  ///< ascending, `begin` a multiple of `width`
    EventCounts total;
  };
  const Contents& contents() const { return contents_; }
  void adopt(Contents contents) { contents_ = std::move(contents); }

 private:
  void widen();

  Contents contents_;
};

}  // namespace fairlead
