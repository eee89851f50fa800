#include "engine/main/commands/log_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <memory>
#include <system_error>
#include <thread>

#include "engine/base/printable.h"
#include "engine/main/client/event_filter.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/position.h"
#include "engine/main/client/standard_streams.h"
#include "engine/main/client/terminal_progress.h"
#include "engine/main/commands/commands.h"
#include "replay/history.h"
#include "schema/event_json.h"
#include "snapshots/data_directory.h"

namespace fairlead {
int report_log_error(const Error& error, std::ostream& err) {
  err << "fairlead log: " << printable_lines(error.message) << '\n';
  // A place without a log that this program reads is a mistake in the command line, and so is a seq
  // that retention has dropped. What is wrong with the log itself has an exit code of its own.
  const bool wrong_place = error.code == ErrorCode::not_found ||
                           error.code == ErrorCode::incompatible || error.code == ErrorCode::gone;
  return exit_code_for(wrong_place ? ErrorCode::bad_input : error.code);
}

int finish_log_output(int exit_code, std::ostream& out, std::ostream& err) {
  if (out.flush()) return exit_code;
  return report_log_error({ErrorCode::unavailable, "standard output cannot be written"}, err);
}

int log_stat(const LogPlace& place, LogOutput output, std::ostream& out, std::ostream& err,
             TimeZone zone) {
  const auto history = open_history(place.data, place.bundle);
  if (!history) return report_log_error(history.error(), err);
  auto progress = progress_on_terminal("checking the chain: ");
  std::optional<ReplicationReport> replication;
  if (const auto* log = dynamic_cast<const RocksdbLog*>(history->log.get()))
    if (auto end = log->ring_place(); end && *end) {
      replication.emplace();
      replication->place = **std::move(end);
    }
  const auto printed = print_stat(*history->log, output, out, zone, replication);
  progress = {};
  if (!printed) return report_log_error(printed.error(), err);
  return finish_log_output(*printed, out, err);
}

int log_cat(const LogPlace& place, const LogSelection& selection, LogOutput output,
            std::ostream& out, std::ostream& err) {
  const auto history = open_history(place.data, place.bundle);
  if (!history) return report_log_error(history.error(), err);
  if (const auto note = note_on_times(*history->log, selection); note && !note->empty())
    err << "fairlead log: " << printable(*note) << '\n';
  const auto printed = print_events(*history->log, selection, output, out);
  const int finished = finish_log_output(kDone, out, err);
  return printed ? finished : report_log_error(printed.error(), err);
}

int log_verify(LogPlace place, LogOutput output, std::ostream& out, std::ostream& err,
               const ReachHub& reach) {
  const auto history = open_history_of(place, reach, progress_of_copy());
  if (!history) {
    const int exit_code = report_log_error(history.error(), err);
    return history.error().code == ErrorCode::corrupt ? kAnswerIsNo : exit_code;
  }
  const ReadableLog& log = *history->log;
  const auto verdict =
      verify_with(log, *history->snapshots, log_progress_on_terminal("verifying: "));
  if (!verdict) return report_log_error(verdict.error(), err);
  const auto unused = without_voucher(log, *history->snapshots);
  if (!unused) return report_log_error(unused.error(), err);
  if (output == LogOutput::json) {
    Json json{{"chain", chain_text(*verdict)}, {"events", verdict->events}};
    if (verdict->broken_at) {
      json["first_bad_seq"] = verdict->broken_at->value;
      json["what"] = verdict->what;
    } else {
      json["digest"] = log.chain().hex();
    }
    for (const Seq seq : *unused) json["unused_snapshots"].push_back(seq.value);
    out << to_text(json) << '\n';
  } else if (verdict->broken_at) {
    out << "broken at seq " << verdict->broken_at->value << ": " << verdict->what << '\n';
  } else {
    out << "ok: " << verdict->events << " events, chain " << log.chain().hex() << '\n';
  }
  if (output == LogOutput::text)
    for (const Seq seq : *unused)
      out << "snapshot " << seq.value << " is not used: no Checkpoint of the log names its state\n";
  return finish_log_output(verdict->broken_at ? kAnswerIsNo : kDone, out, err);
}

namespace {

/// The options of one subcommand. Its callback owns them.
struct LogOptions {
  LogPlace place;
  std::string file;
  std::string position;
  bool force = false;
  bool follow = false;
  std::string output;
  LogSelection selection;

  LogOutput format() const { return output == "json" ? LogOutput::json : LogOutput::text; }
};

/// Adds a subcommand with the options that all have.
std::shared_ptr<LogOptions> add_command(CLI::App& log, CLI::App*& command, const char* name,
                                        const char* about, const std::string& output) {
  auto options = std::make_shared<LogOptions>();
  options->output = output;
  command = log.add_subcommand(name, about);
  command->add_option("-o,--output", options->output, "text or json; default " + output)
      ->check(CLI::IsMember({"text", "json"}));
  return options;
}

CLI::Option* add_data(CLI::App& command, LogOptions& options, const char* about) {
  return command.add_option("--data", options.place.data, about);
}

int ask_for(const ReachHub& reach, const char* subject, const LogOptions& options) {
  const auto ask = reach(options.place.hub);
  if (!ask) return report_log_error(ask.error(), std::cerr);
  const auto printed =
      print_from_hub(*ask, subject, options.selection, options.format(), std::cout, std::cerr);
  if (!printed) return report_log_error(printed.error(), std::cerr);
  return finish_log_output(printed->exit_code, std::cout, std::cerr);
}

using FromLog = int (*)(const LogPlace&, const LogSelection&, LogOutput, std::ostream&,
                        std::ostream&);

int stat_of(const LogPlace& place, const LogSelection& selection, LogOutput output,
            std::ostream& out, std::ostream& err) {
  return log_stat(place, output, out, err, selection.zone);
}

/// Answers from a log on this machine, or has a hub answer.
int answer_from(LogOptions& options, const ReachHub& reach, const char* subject, FromLog from_log) {
  const auto hub = asks_hub(options.place);
  if (!hub) return report_log_error(hub.error(), std::cerr);
  const auto zone = zone_of(options.place);
  if (!zone) return report_log_error(zone.error(), std::cerr);
  options.selection.zone = *zone;
  return *hub ? ask_for(reach, subject, options)
              : from_log(options.place, options.selection, options.format(), std::cout, std::cerr);
}

/// Prints the selected events that the log has now, and returns its last event.
Result<Seq> print_present(const LogOptions& options, const AskHub& ask) {
  if (ask) {
    const auto printed =
        print_from_hub(ask, "cat", options.selection, options.format(), std::cout, std::cerr);
    if (!printed) return printed.error();
    if (printed->end) return *printed->end;
    return Error{ErrorCode::unavailable, "--follow: the hub is older and cannot be followed"};
  }
  const auto history = open_history(options.place.data, options.place.bundle);
  if (!history) return history.error();
  const ReadableLog& log = *history->log;
  if (auto printed = print_events(log, options.selection, options.format(), std::cout); !printed)
    return printed.error();
  return log.last_seq();
}

/// Prints events as they come, until the output fails.
Result<void> follow(LogOptions& options, const ReachHub& reach) {
  const auto hub = asks_hub(options.place);
  if (!hub) return hub.error();
  const auto zone = zone_of(options.place);
  if (!zone) return zone.error();
  options.selection.zone = *zone;
  if (!options.place.bundle.empty() || !options.selection.to.empty())
    return Error{ErrorCode::bad_input, "--follow is of a log that grows: not of --bundle or --to"};
  AskHub ask;
  if (*hub) {
    auto reached = reach(options.place.hub);
    if (!reached) return reached.error();
    ask = *std::move(reached);
  }
  for (;;) {
    const auto end = print_present(options, ask);
    if (!end) return end.error();
    if (!std::cout.flush()) return {};
    // The next round opens the log again, and reads on behind what it printed. `last` counted back
    // from an end that has moved.
    options.selection.from = "seq:" + std::to_string(next(*end).value);
    options.selection.last.clear();
    std::this_thread::sleep_for(std::chrono::seconds(1));
  }
}

void add_reading_commands(CLI::App& log, const LogWork& work, int& exit_code) {
  const ReachHub& reach = work.reach;
  CLI::App* stat = nullptr;
  const auto stat_options = add_command(
      log, stat, "stat",
      "What is in the log, and whether its hash chain holds. For that every group commit's check "
      "and link is read, about a second for ten million events; `verify` recomputes the records "
      "too",
      "text");
  add_place_options(*stat, stat_options->place);
  add_zone_options(*stat, stat_options->place);
  stat->callback([stat_options, reach, &exit_code] {
    exit_code = answer_from(*stat_options, reach, "stat", stat_of);
  });

  CLI::App* cat = nullptr;
  const auto cat_options = add_command(
      log, cat, "cat", "Print events, one JSON line each; with -o text, what each changed", "json");
  add_place_options(*cat, cat_options->place);
  add_zone_options(*cat, cat_options->place);
  LogSelection& selection = cat_options->selection;
  selection.describe = work.describe;
  const std::string position = kPositionHelp;
  cat->add_option("--from", selection.from, "First event: " + position);
  cat->add_option("--to", selection.to, "Last event: " + position);
  cat->add_option("--kind", selection.kind,
                  "Only events about this kind (ClusterQueue), or this fact (PatchIntended)");
  cat->add_option("--object", selection.object,
                  "Only events about this object: NAME or NAMESPACE/NAME");
  cat->add_option("--where", selection.where,
                  std::string("Only events of which hold ") + kWhereHelp);
  cat->add_option("--last", selection.last,
                  "Only so many of these events: those at the end of the log");
  cat->add_flag("--raw", selection.raw,
                "With the raw object that the hub keeps beside an event for a while, if it is "
                "still there");
  cat->add_flag("--follow,-f", cat_options->follow,
                "Go on with events as they are appended, until it is ended (Ctrl-C)");
  cat->callback([cat_options, reach, &exit_code] {
    if (cat_options->follow) {
      const auto followed = follow(*cat_options, reach);
      exit_code = followed ? kDone : report_log_error(followed.error(), std::cerr);
      return;
    }
    exit_code = answer_from(*cat_options, reach, "cat", log_cat);
  });

  CLI::App* verify = nullptr;
  const auto verify_options =
      add_command(log, verify, "verify",
                  "Recompute the chain and every record; exit 1 with the first bad seq", "text");
  add_place_options(*verify, verify_options->place);
  verify->callback([verify_options, reach, &exit_code] {
    exit_code =
        log_verify(verify_options->place, verify_options->format(), std::cout, std::cerr, reach);
  });
}

/// Whether the file may be written: it is new, --force is given, or a person agrees.
Result<void> expect_writable(const LogOptions& options) {
  std::error_code ignored;
  if (options.force || !std::filesystem::is_regular_file(options.file, ignored)) return {};
  if (asks_on_terminal(options.file + " is there already. Replace it?")) return {};
  return Error{ErrorCode::bad_input, options.file + " is there already; --force replaces it"};
}

int run_export(LogOptions& options, const ReachHub& reach) {
  const auto hub = asks_hub(options.place);
  if (!hub) return report_log_error(hub.error(), std::cerr);
  const auto zone = zone_of(options.place);
  if (!zone) return report_log_error(zone.error(), std::cerr);
  if (auto writable = expect_writable(options); !writable)
    return report_log_error(writable.error(), std::cerr);
  const LogPlace& place = options.place;
  const ExportedPart part{options.file, options.position, *zone};
  return *hub ? log_export(reach, place.hub, part, options.format(), std::cout, std::cerr)
              : log_export(place.data, part, options.format(), std::cout, std::cerr);
}

void add_moving_commands(CLI::App& log, const LogWork& work, int& exit_code) {
  const std::string position = kPositionHelp;
  CLI::App* out = nullptr;
  const auto out_options = add_command(
      log, out, "export",
      "Write events, snapshots and the configuration in force into one file that proves itself",
      "text");
  out->add_option("FILE", out_options->file, "The file")->required();
  out->add_flag("--force", out_options->force, "Replace the file if it is there");
  CLI::Option_group* place = out->add_option_group(
      "Log",
      "Where the log is; default: the directory fairlead-data if there is one here, else "
      "the hub of the kubeconfig's context");
  add_data(*place, *out_options, "Data directory of a hub, running or not");
  add_hub_options(*out, *place, out_options->place.hub);
  place->require_option(0, 1);
  add_zone_options(*out, out_options->place);
  out->add_option("--to", out_options->position,
                  "Last event: " + position + "; its group commit goes as a whole");
  out->callback([out_options, reach = work.reach, &exit_code] {
    exit_code = run_export(*out_options, reach);
  });

  CLI::App* in = nullptr;
  const auto in_options =
      add_command(log, in, "import",
                  "Make a data directory out of an exported file, if not one bit differs", "text");
  in->add_option("FILE", in_options->file, "File that `fairlead log export` wrote")->required();
  add_data(*in, *in_options, "New or empty directory")->required();
  in->callback([in_options, leave_index = work.leave_index, &exit_code] {
    const std::filesystem::path& data = in_options->place.data;
    exit_code = log_import(in_options->file, data, in_options->format(), std::cout, std::cerr);
    if (exit_code != kDone || !leave_index) return;
    if (const auto left = leave_index(data); !left)
      std::cerr << "fairlead log: the log is imported, but no index was made: "
                << printable_lines(left.error().message) << '\n';
  });

  CLI::App* prune = nullptr;
  const auto prune_options = add_command(
      log, prune, "prune",
      "Forget old events for good. A good snapshot at or after the cut is needed; the hash chain "
      "stays checkable from there. Not while a hub is writing the log",
      "text");
  add_data(*prune, *prune_options, "Data directory of a hub that is not running")->required();
  prune->add_option("--before", prune_options->position, "First event to keep: " + position)
      ->required();
  prune->callback([prune_options, &exit_code] {
    exit_code = log_prune(prune_options->place.data, prune_options->position,
                          prune_options->format(), std::cout, std::cerr);
  });
}

}  // namespace

void add_log_command(CLI::App& app, const LogWork& work, int& exit_code) {
  CLI::App* log =
      app.add_subcommand("log", "Look at an event log, check it, move it and shorten it");
  log->require_subcommand(1);
  add_reading_commands(*log, work, exit_code);
  add_moving_commands(*log, work, exit_code);
}

}  // namespace fairlead
