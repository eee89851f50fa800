// The lines of a what-if's world, and what-ifs that are folded in parts.
#include <algorithm>
#include <catch2/catch.hpp>

#include "replay/timeline/timeline.h"
#include "tests/unit/replay/audit_trace.h"
#include "tests/unit/replay/what_if_asked.h"

namespace fairlead {
namespace {

bool is_answered(const AuditTrace& trace) {
  const auto& arguments = trace.head.arguments;
  return std::find(arguments.begin(), arguments.end(), "--no-feedback") == arguments.end();
}

// Times and values alone, one a line: the events of a what-if have no seq.
std::string values_of(const StepSeries& series) {
  std::string values;
  for (const Step& step : series.steps())
    values += to_rfc3339(step.time) + " " +
              (step.value == kNoValue ? "none" : amount_text("cpu", step.value)) + "\n";
  return values;
}

// Returns the nominal, desired and accepted lines of all pairs.
std::string lines_of(const ValueSeries& values) {
  std::string text;
  for (const auto& [queue, pairs] : values.queues())
    for (const auto& [name, series] : pairs)
      for (const PairLine line : {PairLine::nominal, PairLine::desired, PairLine::accepted})
        text += queue + " " + name.first + " " + name.second + "\n" +
                values_of(series.lines.at(static_cast<std::size_t>(line)));
  return text;
}

TEST_CASE("under the configuration that was in force the lines are those of history") {
  std::size_t compared = 0;
  for (const std::filesystem::path& path : scenario_files()) {
    // At its end an administrator sets the value that we had written: that is taken for our write.
    if (scenario_name(path) == "queues/foreign-overwrite-ends") continue;
    const AuditTrace trace = read_trace(path);
    if (!is_answered(trace)) continue;
    INFO(scenario_name(path));
    MemoryLog log;
    rehearse(trace, log);
    Timeline timeline;
    REQUIRE(timeline.advance(log, nullptr, UINT64_MAX).has_value());
    WhatIfOptions options = under({});
    options.values = std::make_shared<ValueSeries>(StepSeqs::none);
    asked(log, options);
    const std::string lines = lines_of(timeline.values());
    CHECK(lines_of(*options.values) == lines);
    compared += lines.size();
  }
  CHECK(compared > 10'000);
}

TEST_CASE("a what-if in parts is the same as at once") {
  const std::vector<std::string> settings{"debounce.growWindow=10s", "debounce.shrinkWindow=0s"};
  MemoryLog log;
  rehearse(read_trace("tests/scenarios/debounce/flapping-node-is-suppressed.txt"), log);
  const Json whole = to_json(asked(log, under(settings)));
  for (const std::uint64_t events : {1u, 3u, 1000u}) {
    auto run = WhatIfRun::begin({log, nullptr}, under(settings));
    REQUIRE(run.has_value());
    CHECK(run->last() == log.last_seq());
    std::optional<WhatIf> result;
    for (Seq before{}; !result; before = run->seq()) {
      CHECK(run->seq() >= before);
      auto advanced = run->advance({log, nullptr}, events);
      REQUIRE(advanced.has_value());
      result = *std::move(advanced);
    }
    CHECK(to_json(*result) == whole);
  }
}

}  // namespace
}  // namespace fairlead
