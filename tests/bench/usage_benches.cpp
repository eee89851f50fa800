// Reports about use over a month in which queues of a hub change all the time, from the sums by
// hour that are kept beside the log. They must not take longer where more happened.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/service/left_index.h"
#include "engine/runtime/build_commit.h"
#include "replay/usage/usage_report.h"
#include "snapshots/folded_states.h"
#include "tests/bench/benches.h"

namespace fairlead::bench {
namespace {

constexpr std::int64_t kMonthDays = 30;
constexpr std::uint64_t kQueuesOfUse = 50;
constexpr std::uint64_t kEventsOfCommit = 100;
constexpr std::uint64_t kEventsOfTinyMonth = 5'000;
constexpr LogTime kMonthBegin{1'767'225'600'000'000'000};  // 2026-01-01

ClusterQueueFacts used_queue(std::uint64_t round) {
  ClusterQueueFacts facts;
  const auto units = [](std::uint64_t count) {
    return Quantity(Int128{static_cast<std::int64_t>(count)} * 1'000'000'000,
                    QuantityFormat::decimal_si);
  };
  FlavorQuotas flavor{"on-demand", {}};
  for (const char* resource : {"cpu", "memory", "nvidia.com/gpu"}) {
    flavor.resources.push_back({resource, units(40 + round % 3), std::nullopt, std::nullopt});
    facts.usage.push_back({"on-demand", resource, static_cast<Amount>(round % 53)});
  }
  facts.groups = {{{"cpu", "memory", "nvidia.com/gpu"}, {flavor}}};
  facts.cohort = "all";
  return facts;
}

struct MonthOfUse {
  std::filesystem::path directory;
  std::uint64_t events = 0;
};

// Ten million events take minutes to write: FAIRLEAD_BENCH_LONG=1 asks for them.
bool is_long() { return std::getenv("FAIRLEAD_BENCH_LONG") != nullptr; }
std::string scale() { return is_long() ? "10,000,000 events" : "200,000 events"; }
std::uint64_t events_of(const Place& place) {
  if (place.size == Size::tiny) return kEventsOfTinyMonth;
  return is_long() ? 10'000'000 : 200'000;
}

std::shared_ptr<const MonthOfUse> write_month(const std::filesystem::path& directory,
                                              std::uint64_t events) {
  auto month = std::make_shared<MonthOfUse>(MonthOfUse{directory, events});
  const auto log = need(RocksdbLog::open(month->directory, OpenMode::write));
  const std::uint64_t commits = month->events / kEventsOfCommit;
  const std::int64_t step = hours(24 * kMonthDays).ns / static_cast<std::int64_t>(commits);
  for (std::uint64_t commit = 0; commit < commits; ++commit) {
    std::vector<EventDraft> drafts;
    for (std::uint64_t i = 0; i < kEventsOfCommit; ++i) {
      const std::uint64_t round = commit * kEventsOfCommit + i;
      const std::string name = "queue-" + std::to_string(round % kQueuesOfUse);
      ObjectObserved seen;
      seen.key = {Kind::cluster_queue, "", name};
      seen.version = "v1beta2";
      seen.uid = name;
      seen.resource_version = std::to_string(round + 1);
      seen.facts = used_queue(round / kQueuesOfUse + round % kQueuesOfUse);
      drafts.push_back({SourceName(kHub), Seq{}, std::move(seen), {}});
    }
    const LogTime time{kMonthBegin.ns + step * static_cast<std::int64_t>(commit)};
    need(log->append(std::move(drafts), time, Epoch{1}, Durability::pending));
  }
  need(log->wait_durable());
  need(leave_index(*log, month->directory, month->events / 10));
  std::cerr << month->events << " events, sums of "
            << std::filesystem::file_size(usage_file(month->directory)) << " bytes\n";
  return month;
}

enum class Sums { kept, folded };

// Milliseconds of a report, cut at midnights, that begins and ends within an hour.
double report_took(const MonthOfUse& month, std::int64_t days, Sums sums = Sums::kept) {
  return 1000 * seconds_of([&] {
           const auto log = need(RocksdbLog::open(month.directory, OpenMode::read));
           const SnapshotsForQuestions states(*log, month.directory, build_identity());
           std::optional<UsageHours> hours_kept;
           if (sums == Sums::kept) {
             hours_kept = saved_usage_hours(month.directory, *log);
             if (!hours_kept) give_up("the sums by hour were not used");
           }
           UsageRequest request;
           const LogTime first = kMonthBegin + hours(24 * (kMonthDays - days));
           request.cuts.push_back(first + minutes(10));
           for (std::int64_t day = 1; day < days; ++day)
             request.cuts.push_back(first + hours(24 * day));
           request.cuts.push_back(log->last_time());
           const UsageReport report =
               need(usage_report({*log, &states}, request, hours_kept ? &*hours_kept : nullptr));
           if (report.rows.size() < kQueuesOfUse) give_up("queues are missing");
           keep(usage_csv(report, UsageUnit::seconds).size());
         });
}

auto prepare_report(std::int64_t days) {
  return [days](const Place& place) {
    const auto month = write_month(place.directory / "month", events_of(place));
    const auto tenth =
        write_month(place.directory / "tenth", std::max(events_of(place) / 10, kEventsOfTinyMonth));
    return Trial{[month, days] { return report_took(*month, days); },
                 [tenth, days] { return report_took(*tenth, days); }};
  };
}

// What is folded again: the first and the last part of an hour of the span.
auto prepare_exact(const Place& place) {
  const auto month = write_month(place.directory / "month", events_of(place));
  return Trial{[month] { return report_took(*month, kMonthDays); },
               [month] { return report_took(*month, kMonthDays, Sums::folded); }};
}

}  // namespace

// The page's bars (2 s, and 300 ms for a day) are of the long month; the ratios are of every scale.
void add_usage_benches(Suite& suite) {
  suite.add({"usage/a month of " + scale() + ", by days", "of a tenth", "ms", Better::less, 2,
             prepare_report(kMonthDays)});
  suite.add({"usage/a day of that month", "of a tenth", "ms", Better::less, 2, prepare_report(1)});
  suite.add(
      {"usage/that month from the sums", "folding it", "ms", Better::less, 0.5, prepare_exact});
}

}  // namespace fairlead::bench
