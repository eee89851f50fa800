#include "replay/timeline/moments_span.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace fairlead {

namespace {

// Before the first and behind the last moment, a twentieth of the span, so that neither is at the
// edge of a chart; at one moment alone as much as a window of debounce.
constexpr std::int64_t kMarginPart = 20;
constexpr Duration kMarginOfOne = seconds(300);

// The first value of a series is what the first list showed.
void add_moves(const StepSeries& series, std::vector<LogTime>& moments) {
  bool valued = false;
  for (const Step& step : series.steps()) {
    if (valued) moments.push_back(step.time);
    valued = valued || step.value != kNoValue;
  }
}

template <class Map>
void add_all_moves(const Map& map, std::vector<LogTime>& moments) {
  for (const auto& [name, parts] : map)
    for (const auto& [part, series] : parts)
      for (const StepSeries& line : series.lines) add_moves(line, moments);
}

std::vector<LogTime> moments_within(const Timeline& timeline, const TimelineSpan& whole) {
  std::vector<LogTime> moments;
  const ValueSeries& values = timeline.values();
  add_all_moves(values.queues(), moments);
  add_all_moves(values.clusters(), moments);
  add_all_moves(values.lists(), moments);
  for (const CountBucket& bucket : timeline.counts().contents().buckets)
    if (bucket.counts.ours + bucket.counts.foreign + bucket.counts.losses > 0)
      moments.push_back(std::max(bucket.begin, whole.from));
  std::erase_if(moments, [&](LogTime time) { return time < whole.from || whole.to < time; });
  std::sort(moments.begin(), moments.end());
  return moments;
}

bool hides_the_rest(LogTime from, LogTime to, const TimelineSpan& span) {
  return (Int128{to.ns} - from.ns) * 10 > (Int128{span.to.ns} - span.from.ns) * 9;
}

// Cuts the stretches off that hide the rest. At most one of a span does.
TimelineSpan without_quiet(const std::vector<LogTime>& moments, TimelineSpan span) {
  for (auto first = moments.begin();;) {
    if (hides_the_rest(moments.back(), span.to, span)) span.to = moments.back();
    LogTime before = span.from;
    const auto at = std::find_if(first, moments.end(), [&](LogTime time) {
      return hides_the_rest(std::exchange(before, time), time, span);
    });
    if (at == moments.end() || *at == span.from) return span;
    span.from = *at;
    first = at;
  }
}

}  // namespace

TimelineSpan span_of_moments(const Timeline& timeline, const TimelineSpan& whole) {
  const std::vector<LogTime> moments = moments_within(timeline, whole);
  if (moments.empty()) return whole;
  TimelineSpan span = without_quiet(moments, whole);
  const std::int64_t length = span.to.ns - span.from.ns;
  const Duration margin = length == 0 ? kMarginOfOne : Duration{length / kMarginPart};
  span.from = LogTime{std::max(whole.from.ns, span.from.ns - margin.ns)};
  span.to = LogTime{std::min(whole.to.ns, span.to.ns + margin.ns)};
  const bool narrow = (Int128{span.to.ns} - span.from.ns) * 2 < Int128{whole.to.ns} - whole.from.ns;
  return narrow ? span : whole;
}

}  // namespace fairlead
