// `fairlead replay`: fold a log again, and hold what was written against what this program would
// write.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <iostream>
#include <memory>

#include "engine/log/rocksdb_log.h"
#include "engine/main/commands.h"
#include "engine/main/exit_code.h"
#include "engine/main/write_line.h"
#include "replay/verify.h"

namespace fairlead {

namespace {

struct ReplayCommandOptions {
  std::string data = "fairlead-data";
  std::string from, to;
  bool verify = false;
  bool until_differs = false;
  std::string output = "text";
};

// `12`, `seq:12` or a time. Of a time: the last event that is not later.
Result<Seq> read_position(const EventLog& log, const std::string& option, std::string_view text) {
  std::string_view digits = text;
  if (digits.starts_with("seq:")) digits.remove_prefix(4);
  Seq seq;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), seq.value);
  if (read.ec == std::errc{} && read.ptr == digits.data() + digits.size()) return seq;
  const auto time = parse_rfc3339(text);
  if (time) return log.last_at(*time);
  return Error{ErrorCode::bad_input,
               option + ": expected a seq (12 or seq:12) or an RFC 3339 time, got \"" +
                   std::string(text) + "\""};
}

// The first event of the range that begins at `text`.
Result<Seq> read_start(const EventLog& log, const std::string& text) {
  if (const auto time = parse_rfc3339(text); time && time->ns > 0) {
    auto before = log.last_at(LogTime{time->ns - 1});
    if (!before) return before.error();
    return next(*before);
  }
  return read_position(log, "--from", text);
}

Json side(Seq seq, LogTime time, const PatchIntended& intent) {
  return Json::parse(write_line(seq, time, intent));
}

Json to_json(const ReplayReport& report) {
  const bool none = report.events == 0;
  Json out{{"events", report.events},
           {"last_seq", report.state.seq.value},
           {"first_time", none ? Json(nullptr) : Json(to_rfc3339(report.first_time))},
           {"last_time", none ? Json(nullptr) : Json(to_rfc3339(report.last_time))},
           {"compared", report.compared},
           {"differing", report.differing},
           {"checkpoints", report.checkpoints},
           {"differs_at", nullptr}};
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

void print_text(std::ostream& out, const ReplayReport& report, Comparison comparison) {
  out << "events      " << report.events << '\n';
  if (report.events > 0)
    out << "time        " << to_rfc3339(report.first_time) << " to " << to_rfc3339(report.last_time)
        << '\n';
  if (comparison == Comparison::none) return;
  out << "writes      " << report.compared << " compared, " << report.differing << " differ\n";
  if (report.bad_checkpoint)
    out << "checkpoint  " << report.bad_checkpoint->value << " counts other events\n";
  if (const auto& first = report.first) {
    out << "differs at  " << first->seq.value << " in " << first->what << '\n'
        << "recorded    " << write_line(first->seq, first->time, first->recorded) << '\n'
        << "planned     "
        << (first->planned ? write_line(first->seq, first->time, *first->planned) : "nothing")
        << '\n';
  }
  if (report.holds()) out << "this program would have written the same\n";
}

std::function<void(std::uint64_t, std::uint64_t)> progress_on_terminal() {
  if (::isatty(STDERR_FILENO) == 0) return {};
  return [](std::uint64_t done, std::uint64_t total) {
    std::cerr << "\r" << done << " of " << total << " events" << std::flush;
  };
}

Result<int> run_replay(const ReplayCommandOptions& options) {
  auto log = RocksdbLog::open(options.data, OpenMode::read);
  if (!log) {
    Error error = log.error();
    if (error.code == ErrorCode::not_found) error.code = ErrorCode::bad_input;
    return error;
  }
  ReplayOptions how;
  if (options.verify) how.comparison = Comparison::all;
  if (options.until_differs) how.comparison = Comparison::until_differs;
  how.progress = progress_on_terminal();
  if (!options.from.empty()) {
    auto from = read_start(**log, options.from);
    if (!from) return from.error();
    how.from = *from;
  }
  if (!options.to.empty()) {
    auto to = read_position(**log, "--to", options.to);
    if (!to) return to.error();
    how.to = *to;
  }
  auto report = replay(**log, how);
  if (!report) return report.error();
  if (options.output == "json")
    std::cout << to_text(to_json(*report)) << '\n';
  else
    print_text(std::cout, *report, how.comparison);
  std::cout << std::flush;
  if (!std::cout) return Error{ErrorCode::unavailable, "cannot write the output"};
  return report->holds() ? 0 : 1;
}

}  // namespace

void add_replay_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ReplayCommandOptions>();
  CLI::App* replay = app.add_subcommand(
      "replay", "Fold a log again; with --verify: would this program have written the same?");
  replay->add_option("--data", options->data, "Data directory, also of a running hub")
      ->capture_default_str();
  replay->add_option("--from", options->from,
                     "Compare writes from here on: a seq or an RFC 3339 time");
  replay->add_option("--to", options->to, "Fold to here: a seq or an RFC 3339 time");
  replay->add_flag("--verify", options->verify,
                   "Derive every write again; exit 1, and the first that differs, if one does");
  replay->add_flag("--until-differs", options->until_differs,
                   "As --verify, and stop at the first that differs");
  replay->add_option("-o,--output", options->output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  replay->callback([options, &exit_code] {
    const auto answer = run_replay(*options);
    if (answer) {
      exit_code = *answer;
      return;
    }
    std::cerr << "fairlead replay: " << answer.error().message << '\n';
    exit_code = exit_code_for(answer.error().code);
  });
}

}  // namespace fairlead
