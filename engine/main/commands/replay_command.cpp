// `fairlead replay`: folds a log again, and compares the recorded writes with those that this
// program would make.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>

#include "engine/base/printable.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/hub_client.h"
#include "engine/main/client/log_place.h"
#include "engine/main/client/position.h"
#include "engine/main/client/standard_streams.h"
#include "engine/main/client/terminal_progress.h"
#include "engine/main/commands/commands.h"
#include "engine/main/commands/write_line.h"
#include "replay/audit/unseen.h"
#include "replay/history.h"
#include "replay/verify.h"

namespace fairlead {

namespace {

struct ReplayCommandOptions {
  LogPlace place;
  std::string from, to;
  bool verify = false;
  bool until_differs = false;
  double speed = 0;  ///< log seconds a second; 0: not played
  std::string output = "text";
};

/// The longest pause between two writes, so that a quiet night does not stop the play.
constexpr Duration kPauseMax = seconds(10);

Json side(Seq seq, LogTime time, const PatchIntended& intent) {
  return read_own_json(write_line(seq, time, intent));
}

// A report and, where writes were compared, what no hub observed in its span: the writes of this
// program follow from observations only.
struct Verdict {
  ReplayReport report;
  Json unseen;  ///< null: nothing was compared
};

Result<Verdict> judge(const AuditSource& source, const ReplayOptions& how) {
  auto report = replay(source.log, source.snapshots, how);
  if (!report) return report.error();
  Verdict verdict{*std::move(report), nullptr};
  if (how.comparison == Comparison::none) return verdict;
  const State& end = verdict.report.state;
  auto unseen = unseen_of_all(
      source, {std::max(how.from, verdict.report.begin), end.seq, verdict.report.last_time}, end);
  if (!unseen) return unseen.error();
  verdict.unseen = *std::move(unseen);
  return verdict;
}

Json to_json(const Verdict& verdict) {
  const ReplayReport& report = verdict.report;
  const bool none = report.events == 0;
  Json out{{"events", report.events},
           {"last_seq", report.state.seq.value},
           {"first_time", none ? Json(nullptr) : Json(to_rfc3339(report.first_time))},
           {"last_time", none ? Json(nullptr) : Json(to_rfc3339(report.last_time))},
           {"compared", report.compared},
           {"differing", report.differing},
           {"not_compared", report.not_compared},
           {"state_from_seq", report.begin.value - 1},
           {"checkpoints", report.checkpoints},
           {"differs_at", nullptr}};
  if (!verdict.unseen.is_null()) out["unseen"] = verdict.unseen;
  if (report.bad_checkpoint) out["differs_at"] = report.bad_checkpoint->value;
  if (const auto& first = report.first) {
    out["differs_at"] = first->seq.value;
    out["differs_in"] = first->what;
    out["recorded"] = side(first->seq, first->time, first->recorded);
    out["planned"] =
        first->planned ? side(first->seq, first->time, *first->planned) : Json(nullptr);
  }
  return out;
}

// The text for a replay that found no difference.
std::string good_news(const ReplayReport& report) {
  if (report.compared == 0) return "there is no write to compare";
  const std::string same = "this program would have written the same";
  return report.not_compared == 0 ? same : same + " from seq " + std::to_string(report.begin.value);
}

std::string text_of(const Verdict& verdict) {
  std::ostringstream out;
  const ReplayReport& report = verdict.report;
  out << "events      " << report.events << '\n';
  if (report.events > 0)
    out << "time        " << to_rfc3339(report.first_time) << " to " << to_rfc3339(report.last_time)
        << '\n';
  if (verdict.unseen.is_null()) return out.str();
  out << "writes      " << report.compared << " compared, " << report.differing << " differ\n";
  if (report.bad_checkpoint)
    out << "checkpoint  " << report.bad_checkpoint->value
        << " says otherwise of the log or the state\n";
  if (const auto& first = report.first) {
    out << "differs at  " << first->seq.value << " in " << first->what << '\n'
        << "recorded    " << write_line(first->seq, first->time, first->recorded) << '\n'
        << "planned     "
        << (first->planned ? write_line(first->seq, first->time, *first->planned) : "nothing")
        << '\n';
  }
  if (report.not_compared > 0)
    out << "not compared " << report.not_compared
        << (report.not_compared == 1 ? " write" : " writes") << " before seq " << report.begin.value
        << ": the log was pruned, and no earlier state is kept on which they could be decided\n";
  if (report.tells_nothing())
    out << "nothing could be compared\n";
  else if (report.holds())
    out << good_news(report) << '\n';
  out << unseen_text({{"unseen", verdict.unseen}});
  return out.str();
}

// Prints the recorded writes one after another, with the pauses of the log between them.
Result<int> play(const ReadableLog& log, Seq from, Seq to, double speed) {
  auto reader = log.read(from);
  if (!reader) return reader.error();
  std::optional<LogTime> last;
  for (;;) {
    auto event = (*reader)->next();
    if (!event) return event.error();
    if (!*event || (*event)->seq > to) return 0;
    const auto* intent = std::get_if<PatchIntended>(&(*event)->fact);
    if (intent == nullptr) continue;
    if (last) {
      const double pause = static_cast<double>(((*event)->log_time - *last).ns) / speed;
      std::this_thread::sleep_for(std::chrono::duration<double, std::nano>(
          std::min(pause, static_cast<double>(kPauseMax.ns))));
    }
    last = (*event)->log_time;
    std::cout << write_line((*event)->seq, *last, *intent) << '\n';
    if (auto written = flush_output(); !written) return written.error();
  }
}

// Reads the span of events. A span that ends before it begins, or begins behind the log, is
// refused: it holds nothing to compare, and the report would be "nothing differs".
Result<void> read_span(const ReadableLog& log, const ReplayCommandOptions& options,
                       ReplayOptions& how) {
  if (!options.from.empty()) {
    const auto from = first_event(log, "--from", options.from);
    if (!from) return from.error();
    how.from = *from;
    if (how.from > log.last_seq())
      return Error{ErrorCode::bad_input,
                   "--from " + options.from + " is behind the end of the log: seq " +
                       std::to_string(log.last_seq().value) + " at " + to_rfc3339(log.last_time())};
  }
  if (options.to.empty()) return {};
  const auto to = last_event(log, "--to", options.to);
  if (!to) return to.error();
  how.to = *to;
  if (options.from.empty() || how.from <= *to) return {};
  return Error{ErrorCode::bad_input, "no event lies between --from " + options.from +
                                         " (first: seq " + std::to_string(how.from.value) +
                                         ") and --to " + options.to + " (last: seq " +
                                         std::to_string(to->value) + ")"};
}

// Accepts a number above 0, by which pauses are divided.
CLI::Validator above_zero() {
  return CLI::Validator(
      [](std::string& text) {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && value > 0 && std::isfinite(value)
                   ? std::string()
                   : "expected a number above 0, got \"" + text + "\"";
      },
      "NUMBER > 0");
}

Result<int> run_replay(ReplayCommandOptions& options) {
  const auto zone = zone_of(options.place);
  if (!zone) return zone.error();
  const auto history = open_history_of(options.place, reach_hub, progress_of_copy());
  if (!history) return history.error();
  const ReadableLog& log = *history->log;
  make_absolute({&options.from, &options.to}, frame_of(log, *zone));
  ReplayOptions how;
  if (options.verify) how.comparison = Comparison::all;
  if (options.until_differs) how.comparison = Comparison::until_differs;
  how.progress = progress_on_terminal("folding: ");
  if (auto read = read_span(log, options, how); !read) return read.error();
  if (!how.to)
    if (auto whole = expect_before_damage(log, end_of(log)); !whole) return whole.error();
  if (options.speed > 0)
    return play(log, std::max(how.from, log.first_seq()), how.to.value_or(log.last_seq()),
                options.speed);
  const auto verdict = judge({log, history->snapshots.get()}, how);
  how.progress = {};  // its line is gone before the answer
  if (!verdict) return verdict.error();
  if (options.output == "json")
    std::cout << to_text(to_json(*verdict)) << '\n';
  else
    std::cout << in_zone(text_of(*verdict), *zone);
  if (auto written = flush_output(); !written) return written.error();
  return verdict->report.holds() && !verdict->report.tells_nothing() ? kDone : kAnswerIsNo;
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReplayCommandOptions>();
  CLI::App* replay = app.add_subcommand(
      "replay", "Fold a log again; with --verify: would this program have written the same?");
  add_place_options(*replay, options->place);
  add_zone_options(*replay, options->place);
  const std::string position = kPositionHelp;
  replay->add_option("--from", options->from, "Compare writes from here on: " + position);
  replay->add_option("--to", options->to, "Fold to here: " + position);
  CLI::Option* speed =
      replay
          ->add_option("--speed", options->speed,
                       "Instead: print the recorded writes with the pauses between them, this many "
                       "times as fast (no pause is longer than 10 s)")
          ->check(above_zero());
  replay
      ->add_flag("--verify", options->verify,
                 "Derive every write again; exit 1, and the first that differs, if one does, or if "
                 "none can be derived. Stretches in which no hub ran or a source was silent are "
                 "named")
      ->excludes(speed);
  replay
      ->add_flag("--until-differs", options->until_differs,
                 "As --verify, and stop at the first that differs")
      ->excludes(speed);
  replay->add_option("-o,--output", options->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  replay->callback([options, &exit_code] {
    const auto answer = run_replay(*options);
    if (answer) {
      exit_code = *answer;
      return;
    }
    std::cerr << "fairlead replay: " << printable_lines(answer.error().message) << '\n';
    exit_code = exit_code_for(answer.error().code);
  });
}

}  // namespace fairlead
