// `fairlead usage`: who was granted what, and who used it.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "engine/base/printable.h"
#include "engine/fold/evolve.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/hub_client.h"
#include "engine/main/client/log_place.h"
#include "engine/main/client/position.h"
#include "engine/main/client/standard_streams.h"
#include "engine/main/client/terminal_progress.h"
#include "engine/main/client/usage_question.h"
#include "engine/main/commands/commands.h"
#include "engine/runtime/build_commit.h"
#include "engine/runtime/queue_use_text.h"
#include "replay/history.h"
#include "replay/usage/idle_candidates.h"

namespace fairlead {

namespace {

struct UsageCommandOptions {
  LogPlace place;
  UsageQuestion question;
  std::string unit = "seconds";
  std::string output = "text";
  bool idle_candidates = false;
};

Error bad_question(const std::string& what) { return {ErrorCode::bad_input, what}; }

Result<void> check_usage(const UsageCommandOptions& options) {
  const UsageQuestion& question = options.question;
  if (options.output == "openmetrics" &&
      !(question.from.empty() && question.every.empty() && question.by == "queue"))
    return bad_question(
        "-o openmetrics is of counters from the log's begin, by queue: expected no --from, --every "
        "and other --by");
  if (options.output == "focus" && question.by != "queue")
    return bad_question("-o focus is by queue: expected no other --by");
  if (options.idle_candidates && (question.by != "queue" || !question.every.empty()))
    return bad_question("--idle-candidates is by queue: expected no --every and other --by");
  if (options.idle_candidates && options.output != "text" && options.output != "json")
    return bad_question("--idle-candidates: expected -o text or json");
  return {};
}

// The counters that the hub had at the end of the span.
Result<std::string> open_metrics(const AuditSource& source, const UsageReport& report) {
  const auto state = state_at(source.log, source.snapshots, report.known, source.progress);
  if (!state) return state.error();
  return queue_use_text(queue_counters(state->usage, report.request.cuts.back()),
                        MetricsForm::open_metrics) +
         "# EOF\n";
}

Result<std::string> idle_output(const AuditSource& source, const UsageReport& report,
                                const std::string& output, UsageUnit unit) {
  const auto state = state_at(source.log, source.snapshots, report.known, source.progress);
  if (!state) return state.error();
  const auto pairs = idle_candidates(report, *state);
  return output == "json" ? to_text(idle_json(report, pairs, unit)) + "\n"
                          : idle_text(report, pairs);
}

Result<std::string> printed_usage(const AuditSource& source, const UsageReport& report,
                                  const UsageCommandOptions& options) {
  const UsageUnit unit = options.unit == "hours" ? UsageUnit::hours : UsageUnit::seconds;
  if (options.idle_candidates) return idle_output(source, report, options.output, unit);
  if (options.output == "json") return to_text(usage_json(report, unit)) + "\n";
  if (options.output == "csv") return usage_csv(report, unit);
  if (options.output == "focus") return usage_focus(report);
  if (options.output == "openmetrics") return open_metrics(source, report);
  return usage_text(report);
}

Result<void> run_usage(UsageCommandOptions& options) {
  if (auto right = check_usage(options); !right) return right;
  const auto zone = zone_of(options.place);
  if (!zone) return zone.error();
  auto history = open_history_of(options.place, reach_hub, progress_of_copy(), build_identity());
  if (!history) return history.error();
  UsageQuestion& question = options.question;
  make_absolute({&question.from, &question.to}, frame_of(*history->log, *zone));
  AuditSource source{*history->log,
                     history->for_questions(),
                     nullptr,
                     {},
                     progress_on_terminal("folding the log: ")};
  const auto request = usage_request(source, question, *zone, options.place.time_zone);
  if (!request) return request.error();
  std::optional<UsageHours> hours;
  if (!question.exact && !options.place.data.empty())
    hours = saved_usage_hours(options.place.data, source.log);
  const auto report = usage_report(source, *request, hours ? &*hours : nullptr);
  if (!report) return report.error();
  const auto text = printed_usage(source, *report, options);
  if (!text) return text.error();
  source.progress = {};  // its line is gone before the answer
  std::cout << *text;
  return flush_output();
}

void add_usage_options(CLI::App& usage, UsageCommandOptions& options) {
  add_place_options(usage, options.place);
  add_zone_options(usage, options.place);
  UsageQuestion& question = options.question;
  usage.add_option(
      "--from", question.from,
      std::string("From here, included: ") + kPositionHelp + "; default: the log's first event");
  usage.add_option("--to", question.to, "To here, not included; default: the log's last event");
  usage
      .add_option("--by", question.by,
                  "A row per queue, cohort, flavor, resource or cluster, as ClusterQueues report "
                  "it; or per namespace, owner or label:KEY, as Workloads add up")
      ->capture_default_str();
  usage
      .add_option("--every", question.every,
                  "Rows per 1h, 1d or month of the zone; default: one period")
      ->check(CLI::IsMember({"1h", "1d", "month"}));
  usage.add_option("--unit", options.unit, "seconds: resource-seconds, exactly; hours: 2 decimals")
      ->check(CLI::IsMember({"seconds", "hours"}))
      ->capture_default_str();
  usage
      .add_option("-o,--output", options.output,
                  "text: a table in hours; json; csv: RFC 4180; openmetrics: counters from the "
                  "log's begin; focus: costs by `usage.prices`, as FOCUS names them")
      ->check(CLI::IsMember({"text", "json", "csv", "openmetrics", "focus"}))
      ->capture_default_str();
  usage.add_flag("--idle-candidates", options.idle_candidates,
                 "Queues by what they were granted and did not use, with the Workloads that wait "
                 "and would have fitted there");
  usage.add_flag("--exact-from-log", question.exact,
                 "Fold all of the span, although sums by hour may be kept: the answer is the same");
}

}  // namespace

void add_usage_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<UsageCommandOptions>();
  CLI::App* usage = app.add_subcommand(
      "usage", "Who was granted what, who used it, and who did not: by queue, team and cluster");
  add_usage_options(*usage, *options);
  usage->callback([options, &exit_code] {
    const auto done = run_usage(*options);
    if (done) return;
    std::cerr << "fairlead usage: " << printable_lines(done.error().message) << '\n';
    exit_code = exit_code_for(done.error().code);
  });
}

}  // namespace fairlead
