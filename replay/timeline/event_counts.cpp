#include "replay/timeline/event_counts.h"

#include <algorithm>

#include "engine/base/quantity.h"

namespace fairlead {

namespace {

// The greatest multiple of `width` that is not later than `time`.
LogTime begin_of_bucket(LogTime time, Duration width) {
  std::int64_t rest = time.ns % width.ns;
  if (rest < 0) rest += width.ns;
  return LogTime{time.ns - rest};
}

void add_to_last(std::vector<CountBucket>& buckets, LogTime begin, const EventCounts& counts) {
  if (buckets.empty() || buckets.back().begin < begin) buckets.push_back({begin, {}});
  buckets.back().counts += counts;
}

}  // namespace

EventCounts& EventCounts::operator+=(const EventCounts& more) {
  events += more.events;
  ours += more.ours;
  foreign += more.foreign;
  losses += more.losses;
  return *this;
}

void CountsOverTime::add(LogTime time, const EventCounts& counts) {
  contents_.total += counts;
  add_to_last(contents_.buckets, begin_of_bucket(time, contents_.width), counts);
  while (contents_.buckets.size() > kCountBucketsMax) widen();
}

void CountsOverTime::widen() {
  contents_.width = Duration{contents_.width.ns * 2};
  std::vector<CountBucket> wider;
  for (const CountBucket& bucket : contents_.buckets)
    add_to_last(wider, begin_of_bucket(bucket.begin, contents_.width), bucket.counts);
  contents_.buckets = std::move(wider);
}

std::vector<CountBucket> CountsOverTime::between(LogTime from, LogTime to, std::size_t buckets,
                                                 Duration& width) const {
  const Int128 span = Int128{to.ns} - from.ns + 1;
  // One bucket more than whole ones may begin in the span.
  const Int128 whole = std::max<Int128>(1, static_cast<Int128>(buckets) - 1);
  const Int128 times =
      std::max<Int128>(1, (span + whole * contents_.width.ns - 1) / (whole * contents_.width.ns));
  width = Duration{static_cast<std::int64_t>(times * contents_.width.ns)};
  std::vector<CountBucket> found;
  for (const CountBucket& bucket : contents_.buckets)
    if (bucket.begin.ns + contents_.width.ns > from.ns && bucket.begin <= to)
      add_to_last(found, begin_of_bucket(bucket.begin, width), bucket.counts);
  return found;
}

}  // namespace fairlead
