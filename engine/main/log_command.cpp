#include "engine/main/log_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>

#include "engine/main/commands.h"
#include "engine/main/exit_code.h"
#include "engine/main/position.h"
#include "replay/history.h"
#include "schema/event_json.h"

namespace fairlead {
namespace {

constexpr int kDone = 0;
constexpr int kAnswerIsNo = 1;

std::string chain_text(const LogVerdict& verdict) {
  return verdict.broken_at ? "broken@" + std::to_string(verdict.broken_at->value) : "ok";
}

Json stat_json(const LogStat& stat, const LogVerdict& verdict) {
  const bool empty = stat.events == 0;
  Json epochs = Json::array();
  for (const Epoch epoch : stat.epochs) epochs.push_back(epoch.value);
  return {{"first_seq", stat.first.value},
          {"last_seq", stat.last.value},
          {"events", stat.events},
          {"bytes", stat.bytes},
          {"raw_bytes", stat.raw_bytes},
          {"first_time", empty ? Json(nullptr) : Json(to_rfc3339(stat.first_time))},
          {"last_time", empty ? Json(nullptr) : Json(to_rfc3339(stat.last_time))},
          {"epochs", epochs},
          {"chain", chain_text(verdict)},
          {"program_version", stat.program_version}};
}

void print_stat(const LogStat& stat, const LogVerdict& verdict, std::ostream& out) {
  out << "events           " << stat.events << '\n';
  if (stat.events > 0)
    out << "seq              " << stat.first.value << " to " << stat.last.value << '\n'
        << "time             " << to_rfc3339(stat.first_time) << " to "
        << to_rfc3339(stat.last_time) << '\n';
  out << "bytes            " << stat.bytes << " (raw objects " << stat.raw_bytes << ")\n"
      << "epochs          ";
  for (const Epoch epoch : stat.epochs) out << ' ' << epoch.value;
  out << '\n'
      << "program version  " << stat.program_version << '\n'
      << "chain            " << chain_text(verdict);
  if (verdict.broken_at) out << " (" << verdict.what << ')';
  out << '\n';
}

/// Which events to print, understood.
struct Filter {
  Seq from{};  ///< 0: the first that is kept
  Seq to{UINT64_MAX};
  std::string kind;
  std::string namespace_;
  std::string name;

  bool accepts(const Event& event) const {
    const ObjectKey* object = object_of(event.fact);
    if (!name.empty() && (object == nullptr || object->name != name)) return false;
    if (!namespace_.empty() && (object == nullptr || object->namespace_ != namespace_))
      return false;
    return kind.empty() || kind == fact_name(event.fact) ||
           (object != nullptr && kind == info(object->kind).name);
  }
};

Error bad_flag(const char* flag, const std::string& expected, const std::string& given) {
  return {ErrorCode::bad_input,
          std::string(flag) + ": expected " + expected + ", got \"" + given + "\""};
}

bool known_kind(const std::string& word) {
  if (std::any_of(kKinds.begin(), kKinds.end(),
                  [&word](const KindInfo& row) { return row.name == word; }))
    return true;
  const auto names = fact_names();
  return std::find(names.begin(), names.end(), word) != names.end();
}

Result<Filter> understand(const EventLog& log, const LogSelection& selection) {
  Filter filter;
  if (!selection.from.empty()) {
    const auto position = parse_position(log, "--from", selection.from);
    if (!position) return position.error();
    const auto from = first_event(log, *position);
    if (!from) return from.error();
    filter.from = *from;
  }
  if (!selection.to.empty()) {
    const auto position = parse_position(log, "--to", selection.to);
    if (!position) return position.error();
    const auto to = last_event(log, *position);
    if (!to && to.error().code != ErrorCode::gone) return to.error();
    filter.to = to ? *to : Seq{};  // every event that is kept is later
  }
  if (!selection.kind.empty() && !known_kind(selection.kind))
    return bad_flag("--kind", "a kind (ClusterQueue) or a fact (PatchIntended)", selection.kind);
  filter.kind = selection.kind;
  const std::size_t slash = selection.object.find('/');
  if (slash != std::string::npos) filter.namespace_ = selection.object.substr(0, slash);
  filter.name = slash == std::string::npos ? selection.object : selection.object.substr(slash + 1);
  if (!selection.object.empty() && filter.name.empty())
    return bad_flag("--object", "NAME or NAMESPACE/NAME", selection.object);
  return filter;
}

void print_event(const Event& event, const std::optional<std::string>& raw, LogOutput output,
                 std::ostream& out) {
  if (output == LogOutput::json) {
    Json line = to_json(event);
    if (raw) line["raw"] = Json::parse(*raw, nullptr, false);
    out << to_text(line) << '\n';
    return;
  }
  out << event.seq.value << ' ' << to_rfc3339(event.log_time) << ' ' << event.source << ' '
      << fact_name(event.fact);
  if (const ObjectKey* object = object_of(event.fact))
    out << ' ' << info(object->kind).name << ' '
        << (object->namespace_.empty() ? object->name : object->namespace_ + "/" + object->name);
  out << '\n';
  if (raw) out << "  " << *raw << '\n';
}

/// Prints until the selection ends; the error that ended the reading, if one did.
Result<void> print_events(const EventLog& log, const LogSelection& selection, LogOutput output,
                          std::ostream& out) {
  const auto filter = understand(log, selection);
  if (!filter) return filter.error();
  const auto reader = log.read(filter->from);
  if (!reader) return reader.error();
  while (out) {
    const auto event = (*reader)->next();
    if (!event) return event.error();
    if (!*event || (*event)->seq > filter->to) break;
    if (!filter->accepts(**event)) continue;
    std::optional<std::string> object;
    if (selection.raw) {
      auto raw = log.raw((*event)->seq);
      if (!raw) return raw.error();
      object = *std::move(raw);
    }
    print_event(**event, object, output, out);
  }
  return {};
}

}  // namespace

int report_log_error(const Error& error, std::ostream& err) {
  err << "fairlead log: " << error.message << '\n';
  const bool wrong_place = error.code == ErrorCode::not_found ||
                           error.code == ErrorCode::incompatible || error.code == ErrorCode::gone;
  return exit_code_for(wrong_place ? ErrorCode::bad_input : error.code);
}

int finish_log_output(int exit_code, std::ostream& out, std::ostream& err) {
  if (out.flush()) return exit_code;
  return report_log_error({ErrorCode::unavailable, "cannot write the output"}, err);
}

int log_stat(const LogPlace& place, LogOutput output, std::ostream& out, std::ostream& err) {
  const auto history = open_history(place.data, place.bundle);
  if (!history) return report_log_error(history.error(), err);
  const auto stat = history->log->stat();
  if (!stat) return report_log_error(stat.error(), err);
  const auto verdict = history->log->verify_chain();
  if (!verdict) return report_log_error(verdict.error(), err);
  if (output == LogOutput::json)
    out << to_text(stat_json(*stat, *verdict)) << '\n';
  else
    print_stat(*stat, *verdict, out);
  return finish_log_output(verdict->broken_at ? kAnswerIsNo : kDone, out, err);
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
  const auto verdict = log.verify();
  if (!verdict) return report_log_error(verdict.error(), err);
  if (output == LogOutput::json) {
    Json json{{"chain", chain_text(*verdict)}, {"events", verdict->events}};
    if (verdict->broken_at) {
      json["first_bad_seq"] = verdict->broken_at->value;
      json["what"] = verdict->what;
    } else {
      json["digest"] = log.chain().hex();
    }
    out << to_text(json) << '\n';
  } else if (verdict->broken_at) {
    out << "broken at seq " << verdict->broken_at->value << ": " << verdict->what << '\n';
  } else {
    out << "ok: " << verdict->events << " events, chain " << log.chain().hex() << '\n';
  }
  return finish_log_output(verdict->broken_at ? kAnswerIsNo : kDone, out, err);
}

namespace {

/// What was typed. Owned by the callbacks of the subcommands.
struct LogOptions {
  LogPlace place;
  std::string file;
  std::string position;
  std::string output;
  LogSelection selection;

  LogOutput format() const { return output == "json" ? LogOutput::json : LogOutput::text; }
};

/// A subcommand with the options that all have.
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

/// For commands that read: a data directory or a bundle.
void add_place(CLI::App& command, LogOptions& options) {
  CLI::Option_group* place = command.add_option_group("Log", "Where the log is");
  place->add_option("--data", options.place.data, "Data directory of a hub, running or not");
  place->add_option("--bundle", options.place.bundle, "File that `fairlead log export` wrote");
  place->require_option(1);
}

void add_reading_commands(CLI::App& log, int& exit_code) {
  CLI::App* stat = nullptr;
  const auto stat_options = add_command(
      log, stat, "stat",
      "What is in the log, and whether its hash chain holds. For that every group commit's check "
      "and link is read, about a second for ten million events; `verify` recomputes the records "
      "too",
      "text");
  add_place(*stat, *stat_options);
  stat->callback([stat_options, &exit_code] {
    exit_code = log_stat(stat_options->place, stat_options->format(), std::cout, std::cerr);
  });

  CLI::App* cat = nullptr;
  const auto cat_options = add_command(log, cat, "cat", "Print events, one JSON line each", "json");
  add_place(*cat, *cat_options);
  LogSelection& selection = cat_options->selection;
  const std::string position = kPositionHelp;
  cat->add_option("--from", selection.from, "First event: " + position);
  cat->add_option("--to", selection.to, "Last event: " + position);
  cat->add_option("--kind", selection.kind,
                  "Only events about this kind (ClusterQueue), or this fact (PatchIntended)");
  cat->add_option("--object", selection.object,
                  "Only events about this object: NAME or NAMESPACE/NAME");
  cat->add_flag("--raw", selection.raw,
                "With the raw object that the hub keeps beside an event for a while, if it is "
                "still there");
  cat->callback([cat_options, &exit_code] {
    exit_code = log_cat(cat_options->place, cat_options->selection, cat_options->format(),
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

void add_moving_commands(CLI::App& log, int& exit_code) {
  const std::string position = kPositionHelp;
  CLI::App* out = nullptr;
  const auto out_options = add_command(
      log, out, "export",
      "Write events, snapshots and the configuration in force into one file that proves itself",
      "text");
  out->add_option("FILE", out_options->file, "The file; replaced if it is there")->required();
  add_data(*out, *out_options, "Data directory of a hub, running or not")->required();
  out->add_option("--to", out_options->position,
                  "Last event: " + position + "; its group commit goes as a whole");
  out->callback([out_options, &exit_code] {
    exit_code = log_export(out_options->place.data, out_options->file, out_options->position,
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
      "Forget old events for good. A good snapshot must stand at or after the cut; the hash chain "
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

void add_log_command(CLI::App& app, int& exit_code) {
  CLI::App* log =
      app.add_subcommand("log", "Look at an event log, check it, move it and shorten it");
  log->require_subcommand(1);
  add_reading_commands(*log, exit_code);
  add_moving_commands(*log, exit_code);
}

}  // namespace fairlead
