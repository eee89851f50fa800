// Days of a hub folded again: with every write derived and compared, and under another
// configuration.
#include <functional>
#include <memory>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "replay/verify.h"
#include "replay/whatif/what_if.h"
#include "tests/bench/benches.h"
#include "tests/bench/flip_history.h"

namespace fairlead::bench {
namespace {

void verify(const ReadableLog& log) {
  ReplayOptions options;
  options.comparison = Comparison::all;
  const ReplayReport report = need(replay(log, nullptr, options));
  if (!report.holds() || report.compared == 0) give_up("a log that was just written does not hold");
}

void ask_what_if(const ReadableLog& log) {
  WhatIfOptions options;
  options.configuration = [](const Configuration& actual) {
    Configuration changed = actual;
    changed.debounce.shrink_window = minutes(5);
    return Result<Configuration>(changed);
  };
  if (need(what_if({log, nullptr}, options)).baseline.status_writes == 0)
    give_up("nothing happened");
}

/// Events a second of CPU time, the opening of the log included, as the command has it.
double events_per_second(const FlipHistory& history,
                         const std::function<void(const ReadableLog&)>& work) {
  const double seconds =
      cpu_seconds_of([&] { work(*need(RocksdbLog::open(history.directory, OpenMode::read))); });
  return static_cast<double>(history.events) / seconds;
}

using Work = void (*)(const ReadableLog&);

FlipSettings whole(const Place& place) {
  return place.size == Size::tiny ? FlipSettings{8, 4, 8, 4} : FlipSettings{};
}

auto prepare_rate(Work work, double bound) {
  return [work, bound](const Place& place) {
    const FlipHistory history = write_flips(place.directory / "flips", whole(place));
    return Trial{[history, work] { return events_per_second(history, work); },
                 [bound] { return bound; }};
  };
}

/// The whole beside `part` of it.
auto prepare_growth(Work work, FlipSettings (*part)(FlipSettings)) {
  return [work, part](const Place& place) {
    const FlipSettings all = whole(place);
    const FlipHistory history = write_flips(place.directory / "flips", all);
    const FlipHistory less = write_flips(place.directory / "less", part(all));
    return Trial{[history, work] { return events_per_second(history, work); },
                 [less, work] { return events_per_second(less, work); }};
  };
}

FlipSettings a_quarter_of_the_days(FlipSettings settings) {
  settings.days /= 4;
  return settings;
}

FlipSettings a_quarter_of_the_clusters(FlipSettings settings) {
  settings.clusters /= 4;
  return settings;
}

}  // namespace

void add_replay_benches(Suite& suite) {
  const std::string unit = "events/CPU s";
  suite.add({"verify/4 days, 50 clusters", "150000 events a CPU second", unit, Better::more, 1,
             prepare_rate(verify, 150'000)});
  suite.add({"verify/4 days, growth", "the same of one day", unit, Better::more, 0.8,
             prepare_growth(verify, a_quarter_of_the_days)});
  suite.add({"verify/50 clusters, growth", "the same of 12 clusters", unit, Better::more, 0.8,
             prepare_growth(verify, a_quarter_of_the_clusters)});
  suite.add({"whatif/4 days, 50 clusters", "50000 events a CPU second", unit, Better::more, 1,
             prepare_rate(ask_what_if, 50'000)});
  suite.add({"whatif/4 days, growth", "the same of one day", unit, Better::more, 0.8,
             prepare_growth(ask_what_if, a_quarter_of_the_days)});
  suite.add({"whatif/50 clusters, growth", "the same of 12 clusters", unit, Better::more, 0.8,
             prepare_growth(ask_what_if, a_quarter_of_the_clusters)});
}

}  // namespace fairlead::bench
