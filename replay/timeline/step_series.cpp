#include "replay/timeline/step_series.h"

#include <algorithm>

namespace fairlead {

namespace {

// A bucket keeps its first, least, greatest and last step, and the first without a value: a gap is
// seen as well as a dip.
constexpr std::size_t kStepsOfBucket = 5;

void append_extremes(std::span<const Step> bucket, std::vector<Step>& out) {
  const Step* least = nullptr;
  const Step* greatest = nullptr;
  const Step* gap = nullptr;
  for (const Step& step : bucket) {
    if (step.value == kNoValue) {
      gap = gap ? gap : &step;
      continue;
    }
    if (!least || step.value < least->value) least = &step;
    if (!greatest || step.value > greatest->value) greatest = &step;
  }
  std::vector<const Step*> kept{&bucket.front(), least, greatest, gap, &bucket.back()};
  std::erase(kept, nullptr);
  // All point into one array, so they are in the order of time.
  std::sort(kept.begin(), kept.end());
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (const Step* step : kept) out.push_back(*step);
}

std::vector<Step> with_extremes(std::span<const Step> steps, std::size_t points) {
  std::vector<Step> out;
  // Wide, because nanoseconds of years times buckets exceed 64 bits.
  const auto buckets = static_cast<Int128>(std::max<std::size_t>(1, points / kStepsOfBucket));
  const std::int64_t begin = steps.front().time.ns;
  const Int128 span = Int128{steps.back().time.ns} - begin + 1;
  for (std::size_t first = 0; first < steps.size();) {
    const Int128 bucket = (Int128{steps[first].time.ns} - begin) * buckets / span;
    std::size_t end = first + 1;
    while (end < steps.size() && (Int128{steps[end].time.ns} - begin) * buckets / span == bucket)
      ++end;
    append_extremes(steps.subspan(first, end - first), out);
    first = end;
  }
  return out;
}

}  // namespace

std::vector<Step> steps_between(std::span<const Step> steps, LogTime from, LogTime to,
                                std::size_t points) {
  const auto later = [](LogTime time, const Step& step) { return time < step.time; };
  auto begin = std::upper_bound(steps.begin(), steps.end(), from, later);
  const auto end = std::upper_bound(begin, steps.end(), to, later);
  // The step before sets the value that is in force at `from`.
  if (begin != steps.begin()) --begin;
  const std::span<const Step> found(begin, end);
  if (found.size() <= std::max(points, kStepsOfBucket)) return {found.begin(), found.end()};
  return with_extremes(found, points);
}

void StepSeries::push(const Step& step, std::size_t most) {
  std::vector<Step>& steps = contents_.steps;
  // A moment may be sampled again once it is closed: its later value replaces the earlier one, and
  // may be no step any more.
  if (!steps.empty() && steps.back().time == step.time) steps.pop_back();
  // A series begins with its first value, since before it there is none anyway.
  if (steps.empty() ? step.value == kNoValue : steps.back().value == step.value) return;
  steps.push_back(step);
  reduce(most);
}

void StepSeries::reduce(std::size_t most) {
  if (contents_.steps.size() < most) return;
  // To half, so that a series is only reduced again after `most / 2` more steps: the cost of a step
  // stays constant.
  contents_.steps = with_extremes(contents_.steps, most / 2);
  contents_.reduced = true;
}

}  // namespace fairlead
