#include "engine/main/log_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "engine/base/printable.h"
#include "engine/main/commands.h"
#include "engine/main/event_filter.h"
#include "engine/main/exit_code.h"
#include "engine/main/position.h"
#include "replay/history.h"
#include "schema/event_json.h"
#include "snapshots/data_directory.h"

namespace fairlead {
int report_log_error(const Error& error, std::ostream& err) {
  err << "fairlead log: " << printable_lines(error.message) << '\n';
  const bool wrong_place = error.code == ErrorCode::not_found ||
                           error.code == ErrorCode::incompatible || error.code == ErrorCode::gone;
  return exit_code_for(wrong_place ? ErrorCode::bad_input : error.code);
}

int finish_log_output(int exit_code, std::ostream& out, std::ostream& err) {
  if (out.flush()) return exit_code;
  return report_log_error({ErrorCode::unavailable, "standard output cannot be written"}, err);
}

int log_stat(const LogPlace& place, LogOutput output, std::ostream& out, std::ostream& err) {
  const auto history = open_history(place.data, place.bundle);
  if (!history) return report_log_error(history.error(), err);
  const auto printed = print_stat(*history->log, output, out);
  if (!printed) return report_log_error(printed.error(), err);
  return finish_log_output(*printed, out, err);
}

int log_cat(const LogPlace& place, const LogSelection& selection, LogOutput output,
            std::ostream& out, std::ostream& err) {
  const auto history = open_history(place.data, place.bundle);
  if (!history) return report_log_error(history.error(), err);
  const auto printed = print_events(*history->log, selection, output, out);
  const int finished = finish_log_output(kDone, out, err);
  return printed ? finished : report_log_error(printed.error(), err);
}

int log_verify(const LogPlace& place, LogOutput output, std::ostream& out, std::ostream& err) {
  const auto history = open_history(place.data, place.bundle);
  if (!history) {
    const int exit_code = report_log_error(history.error(), err);
    return history.error().code == ErrorCode::corrupt ? kAnswerIsNo : exit_code;
  }
  const EventLog& log = *history->log;
  const auto verdict = verify_with(log, *history->snapshots);
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
  HubPlace hub;
  std::string file;
  std::string position;
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

/// Adds the options of commands that read: a data directory or a bundle. The caller may extend
/// their group.
CLI::Option_group* add_place(CLI::App& command, LogOptions& options) {
  CLI::Option_group* place = command.add_option_group("Log", "Where the log is");
  place->add_option("--data", options.place.data, "Data directory of a hub, running or not");
  place->add_option("--bundle", options.place.bundle, "File that `fairlead log export` wrote");
  place->require_option(1);
  return place;
}
/// The same, or a running hub.
void add_place_or_server(CLI::App& command, LogOptions& options) {
  add_server_options(command, *add_place(command, options), options.hub);
}

int ask_for(const ReachHub& reach, const char* subject, const LogOptions& options) {
  const auto ask = reach(options.hub);
  if (!ask) return report_log_error(ask.error(), std::cerr);
  const auto printed =
      print_from_hub(*ask, subject, options.selection, options.format(), std::cout);
  if (!printed) return report_log_error(printed.error(), std::cerr);
  return finish_log_output(*printed, std::cout, std::cerr);
}

void add_reading_commands(CLI::App& log, const ReachHub& reach, int& exit_code) {
  CLI::App* stat = nullptr;
  const auto stat_options = add_command(
      log, stat, "stat",
      "What is in the log, and whether its hash chain holds. For that every group commit's check "
      "and link is read, about a second for ten million events; `verify` recomputes the records "
      "too",
      "text");
  add_place_or_server(*stat, *stat_options);
  stat->callback([stat_options, reach, &exit_code] {
    exit_code = !stat_options->hub.server.empty()
                    ? ask_for(reach, "stat", *stat_options)
                    : log_stat(stat_options->place, stat_options->format(), std::cout, std::cerr);
  });

  CLI::App* cat = nullptr;
  const auto cat_options = add_command(log, cat, "cat", "Print events, one JSON line each", "json");
  add_place_or_server(*cat, *cat_options);
  LogSelection& selection = cat_options->selection;
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
  cat->callback([cat_options, reach, &exit_code] {
    exit_code = !cat_options->hub.server.empty()
                    ? ask_for(reach, "cat", *cat_options)
                    : log_cat(cat_options->place, cat_options->selection, cat_options->format(),
                              std::cout, std::cerr);
  });

  CLI::App* verify = nullptr;
  const auto verify_options =
      add_command(log, verify, "verify",
                  "Recompute the chain and every record; exit 1 with the first bad seq", "text");
  add_place(*verify, *verify_options);
  verify->callback([verify_options, &exit_code] {
    exit_code = log_verify(verify_options->place, verify_options->format(), std::cout, std::cerr);
  });
}

void add_moving_commands(CLI::App& log, const ReachHub& reach, int& exit_code) {
  const std::string position = kPositionHelp;
  CLI::App* out = nullptr;
  const auto out_options = add_command(
      log, out, "export",
      "Write events, snapshots and the configuration in force into one file that proves itself",
      "text");
  out->add_option("FILE", out_options->file, "The file; replaced if it is there")->required();
  CLI::Option_group* place = out->add_option_group("Log", "Where the log is");
  add_data(*place, *out_options, "Data directory of a hub, running or not");
  add_server_options(*out, *place, out_options->hub);
  place->require_option(1);
  out->add_option("--to", out_options->position,
                  "Last event: " + position + "; its group commit goes as a whole");
  out->callback([out_options, reach, &exit_code] {
    exit_code = out_options->hub.server.empty()
                    ? log_export(out_options->place.data, out_options->file, out_options->position,
                                 out_options->format(), std::cout, std::cerr)
                    : log_export(reach, out_options->hub, out_options->file, out_options->position,
                                 out_options->format(), std::cout, std::cerr);
  });

  CLI::App* in = nullptr;
  const auto in_options =
      add_command(log, in, "import",
                  "Make a data directory out of an exported file, if not one bit differs", "text");
  in->add_option("FILE", in_options->file, "File that `fairlead log export` wrote")->required();
  add_data(*in, *in_options, "New or empty directory")->required();
  in->callback([in_options, &exit_code] {
    exit_code = log_import(in_options->file, in_options->place.data, in_options->format(),
                           std::cout, std::cerr);
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

void add_log_command(CLI::App& app, const ReachHub& reach, int& exit_code) {
  CLI::App* log =
      app.add_subcommand("log", "Look at an event log, check it, move it and shorten it");
  log->require_subcommand(1);
  add_reading_commands(*log, reach, exit_code);
  add_moving_commands(*log, reach, exit_code);
}

}  // namespace fairlead
