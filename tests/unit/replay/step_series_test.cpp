#include "replay/timeline/step_series.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "replay/timeline/event_counts.h"

namespace fairlead {
namespace {

Step at(std::int64_t second, Int128 value) {
  return {LogTime{seconds(second).ns}, Seq{static_cast<std::uint64_t>(second)}, value,
          StepWriter::none};
}

std::vector<Int128> values(const std::vector<Step>& steps) {
  std::vector<Int128> found;
  for (const Step& step : steps) found.push_back(step.value);
  return found;
}

LogTime time_at(std::int64_t second) { return LogTime{seconds(second).ns}; }

TEST_CASE("a step without a new value is dropped, one of the same time replaces the last") {
  StepSeries series;
  series.push(at(1, kNoValue));
  CHECK(series.steps().empty());
  series.push(at(1, 5));
  series.push(at(2, 5));
  CHECK(series.steps().size() == 1);
  series.push(at(3, 7));
  series.push(at(3, 8));
  REQUIRE(series.steps().size() == 2);
  CHECK(series.steps().back().value == 8);
  series.push(at(3, 5));
  CHECK(series.steps().size() == 1);
  series.push(at(4, kNoValue));
  CHECK(series.steps().back().value == kNoValue);
}

TEST_CASE("a span has the step that is in force at its beginning") {
  const std::vector<Step> steps{at(10, 1), at(20, 2), at(30, 3), at(40, 4)};
  CHECK(values(steps_between(steps, time_at(25), time_at(30), 100)) == std::vector<Int128>{2, 3});
  CHECK(values(steps_between(steps, time_at(20), time_at(20), 100)) == std::vector<Int128>{2});
  CHECK(values(steps_between(steps, time_at(1), time_at(10), 100)) == std::vector<Int128>{1});
  CHECK(steps_between(steps, time_at(1), time_at(9), 100).empty());
  CHECK(values(steps_between(steps, time_at(50), time_at(60), 100)) == std::vector<Int128>{4});
}

TEST_CASE("a dip of one second in a million is in every reduction") {
  std::vector<Step> steps;
  for (std::int64_t second = 0; second < 100'000; ++second)
    steps.push_back(at(second * 10, 100 + second % 7));
  steps[61'803].value = 1;
  steps[31'415].value = kNoValue;
  for (const std::size_t points : {5u, 50u, 777u, 5000u}) {
    const auto reduced = steps_between(steps, time_at(0), time_at(1'000'000), points);
    CHECK(reduced.size() <= points);
    const auto found = values(reduced);
    CHECK(std::count(found.begin(), found.end(), Int128{1}) == 1);
    CHECK(std::count(found.begin(), found.end(), kNoValue) == 1);
    CHECK(*std::max_element(found.begin(), found.end(), [](Int128 a, Int128 b) {
      return (a == kNoValue ? 0 : a) < (b == kNoValue ? 0 : b);
    }) == 106);
    CHECK(reduced.front() == steps.front());
    CHECK(reduced.back() == steps.back());
    CHECK(std::is_sorted(reduced.begin(), reduced.end(),
                         [](const Step& a, const Step& b) { return a.time < b.time; }));
  }
}

TEST_CASE("a series is bounded, keeps its extremes and says that it left steps out") {
  StepSeries series;
  for (std::int64_t second = 0; second < 200'000; ++second)
    series.push(at(second, second == 777 ? -9 : second % 2));
  CHECK(series.reduced());
  CHECK(series.steps().size() < kStepsMax);
  const auto least =
      std::min_element(series.steps().begin(), series.steps().end(),
                       [](const Step& a, const Step& b) { return a.value < b.value; });
  CHECK(*least == at(777, -9));
  CHECK(series.steps().back() == at(199'999, 1));
}

std::uint64_t events_in(const std::vector<CountBucket>& buckets) {
  std::uint64_t sum = 0;
  for (const CountBucket& bucket : buckets) sum += bucket.counts.events;
  return sum;
}

TEST_CASE("counts over a week are bounded, and a sum over any buckets is the number of events") {
  CountsOverTime counts;
  const std::uint64_t events = 604'800;
  for (std::uint64_t second = 0; second < events; ++second)
    counts.add(time_at(static_cast<std::int64_t>(second)),
               {.events = 1, .ours = second % 100 == 0 ? 1u : 0u, .foreign = 0, .losses = 0});
  CHECK(counts.total() == EventCounts{events, events / 100, 0, 0});
  for (const std::size_t buckets : {1u, 2u, 60u, 400u, 2000u}) {
    Duration width;
    const auto found =
        counts.between(time_at(0), time_at(static_cast<std::int64_t>(events)), buckets, width);
    CHECK(found.size() <= buckets);
    CHECK(found.size() >= buckets / 2);
    CHECK(events_in(found) == events);
    for (const CountBucket& bucket : found) CHECK(bucket.begin.ns % width.ns == 0);
  }
}

TEST_CASE("counts of a short span are those of its seconds") {
  CountsOverTime counts;
  for (const std::int64_t second : {10, 10, 11, 15, 90})
    counts.add(time_at(second), {.events = 1, .ours = 0, .foreign = 0, .losses = 0});
  Duration width;
  const auto found = counts.between(time_at(10), time_at(15), 100, width);
  CHECK(width == seconds(1));
  REQUIRE(found.size() == 3);
  CHECK(found[0].counts.events == 2);
  CHECK(found[2].begin == time_at(15));
}

}  // namespace
}  // namespace fairlead
