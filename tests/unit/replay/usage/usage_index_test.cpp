// Sums by hour: a report that is made from them is the one that folds the log.
#include "replay/usage/usage_index.h"

#include <catch2/catch.hpp>
#include <filesystem>

#include "tests/unit/replay/usage/usage_log.h"

namespace fairlead {
namespace {

// Ten hours in which two queues change every seven minutes, with silence and a restart.
UsageLog ten_hours() {
  UsageLog log;
  for (std::int64_t minute = 0; minute < 600; minute += 7) {
    const std::int64_t round = minute / 7;
    if (minute == 210) log.silent(minute);
    if (minute == 245) log.heard(minute);
    if (minute == 350) log.start(minute);
    ClusterQueueFacts facts =
        queue_of({.nominal = 10 + round % 5, .used = round % 13, .reserved = round % 3});
    facts.cohort = round % 4 == 0 ? "left" : "right";
    log.queue(minute, round % 2 == 0 ? "a" : "b", facts);
  }
  log.tick(600);
  return log;
}

// Three days and an hour at both ends; two queues change every 53 minutes, one is made again.
// Midnights of UTC are at minutes 160, 1600, 3040 and 4480.
UsageLog three_days() {
  UsageLog log;
  for (std::int64_t minute = 100; minute < 4500; minute += 53) {
    const bool is_a = minute % 2 == 0;
    log.queue(minute, is_a ? "a" : "b", queue_of({.nominal = 10 + minute % 5, .used = minute % 13}),
              SourceName(kHub), is_a || minute < 2000 ? "1" : "2");
  }
  log.tick(4600);
  return log;
}

UsageHours hours_of(const UsageLog& log) {
  UsageHours hours;
  for (;;) {
    const auto at_end = add_hours(hours, log.source(), 10);  // in small parts
    REQUIRE(at_end.has_value());
    if (*at_end) return hours;
  }
}

std::string csv_of(const UsageLog& log, const UsageView& view,
                   const std::vector<std::int64_t>& cuts, const UsageHours* hours) {
  UsageRequest request{view, {}, "", "UTC"};
  for (const std::int64_t cut : cuts) request.cuts.push_back(UsageLog::at(cut));
  const auto report = usage_report(log.source(), request, hours);
  REQUIRE(report.has_value());
  return usage_csv(*report, UsageUnit::seconds);
}

TEST_CASE("A report from sums by hour is the report that folds the log") {
  const UsageLog log = ten_hours();
  const UsageHours hours = hours_of(log);
  CHECK(hours.days.size() == 1);  // ended at minute 160
  CHECK(hours.open.size() == 6);  // whole ones that are finished
  for (const UsageBy by : {UsageBy::queue, UsageBy::cohort, UsageBy::flavor, UsageBy::resource,
                           UsageBy::cluster, UsageBy::namespace_})
    for (const std::vector<std::int64_t>& cuts :
         {std::vector<std::int64_t>{0, 600}, {13, 17, 300, 411, 599}, {40, 100, 160, 220}, {5, 30}})
      CHECK(csv_of(log, {by, {}}, cuts, &hours) == csv_of(log, {by, {}}, cuts, nullptr));
}

TEST_CASE("Days that are over are kept as a whole and by hour, and give the same report") {
  const UsageLog log = three_days();
  const UsageHours hours = hours_of(log);
  CHECK(hours.days.size() == 4);
  CHECK(hours.open.size() == 1);
  for (const UsageBy by :
       {UsageBy::queue, UsageBy::cohort, UsageBy::flavor, UsageBy::resource, UsageBy::cluster})
    for (const std::vector<std::int64_t>& cuts : {std::vector<std::int64_t>{100, 4600},
                                                  {100, 1600},
                                                  {160, 1600, 3040},
                                                  {220, 280, 1360, 1420, 1600, 2980, 3100},
                                                  {170, 1441, 2879, 4500}})
      CHECK(csv_of(log, {by, {}}, cuts, &hours) == csv_of(log, {by, {}}, cuts, nullptr));
}

TEST_CASE("A day whose sums are damaged is no answer") {
  const UsageLog log = three_days();
  UsageHours hours = hours_of(log);
  for (auto& [day, views] : hours.days)
    for (auto& [view, frames] : views) frames.hours = "damaged";
  UsageRequest request{{}, {UsageLog::at(220), UsageLog::at(1600)}, "", "UTC"};
  const auto report = usage_report(log.source(), request, &hours);
  REQUIRE_FALSE(report.has_value());
  CHECK(report.error().code == ErrorCode::corrupt);
}

TEST_CASE("Saved sums are used for their log alone") {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / "fairlead-usage-sums";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  const UsageLog log = ten_hours();
  UsageHours hours = hours_of(log);
  hours.days[-86'400'000][{UsageBy::queue, {}}] = {"sums", "hours"};
  CHECK_FALSE(saved_usage_hours(folder, log.log()).has_value());
  REQUIRE(save_usage_hours(hours, folder).has_value());
  const auto saved = saved_usage_hours(folder, log.log());
  REQUIRE(saved.has_value());
  CHECK(saved->open == hours.open);
  CHECK(saved->days == hours.days);
  CHECK(saved->end == hours.end);
  UsageLog other;
  other.queue(0, "a", {.nominal = 1});
  CHECK_FALSE(saved_usage_hours(folder, other.log()).has_value());
  std::filesystem::resize_file(usage_file(folder), 100);
  CHECK_FALSE(saved_usage_hours(folder, log.log()).has_value());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fairlead
