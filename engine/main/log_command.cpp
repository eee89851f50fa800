#include "engine/main/log_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <memory>

#include "engine/log/rocksdb_log.h"
#include "engine/main/commands.h"
#include "engine/main/exit_code.h"
#include "schema/event_json.h"

namespace fairlead {
namespace {

constexpr int kDone = 0;
constexpr int kAnswerIsNo = 1;
constexpr int kOperatingFailure = 3;

/// A directory without a log, or with somebody else's, was named by mistake: that is bad input.
int report(const Error& error, std::ostream& err) {
  err << "fairlead log: " << error.message << '\n';
  const bool wrong_directory =
      error.code == ErrorCode::not_found || error.code == ErrorCode::incompatible;
  return wrong_directory ? exit_code_for(ErrorCode::bad_input) : exit_code_for(error.code);
}

int finish(int exit_code, std::ostream& out, std::ostream& err) {
  if (out.flush()) return exit_code;
  err << "fairlead log: cannot write the output\n";
  return kOperatingFailure;
}

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
  out << "bytes            " << stat.bytes << '\n' << "epochs          ";
  for (const Epoch epoch : stat.epochs) out << ' ' << epoch.value;
  out << '\n'
      << "program version  " << stat.program_version << '\n'
      << "chain            " << chain_text(verdict);
  if (verdict.broken_at) out << " (" << verdict.what << ')';
  out << '\n';
}

/// Which events to print, understood.
struct Filter {
  Seq from{1};
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

std::optional<Seq> parse_seq(std::string_view text) {
  if (text.starts_with("seq:")) text.remove_prefix(4);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return Seq{value};
}

/// The seq that bounds a range from below or from above.
enum class Bound : std::uint8_t { lower, upper };
Result<Seq> resolve(const EventLog& log, const char* flag, const std::string& text, Bound bound) {
  if (const auto seq = parse_seq(text)) return *seq;
  const auto time = parse_rfc3339(text);
  if (!time) return bad_flag(flag, "a seq (12, seq:12) or an RFC 3339 time", text);
  if (bound == Bound::upper) return log.last_at(*time);
  const auto before = log.last_at({time->ns - 1});
  if (!before) return before.error();
  return next(*before);
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
    auto from = resolve(log, "--from", selection.from, Bound::lower);
    if (!from) return from.error();
    filter.from = *from;
  }
  if (!selection.to.empty()) {
    auto to = resolve(log, "--to", selection.to, Bound::upper);
    if (!to) return to.error();
    filter.to = *to;
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

void print_event(const Event& event, LogOutput output, std::ostream& out) {
  if (output == LogOutput::json) {
    out << to_text(to_json(event)) << '\n';
    return;
  }
  out << event.seq.value << ' ' << to_rfc3339(event.log_time) << ' ' << event.source << ' '
      << fact_name(event.fact);
  if (const ObjectKey* object = object_of(event.fact))
    out << ' ' << info(object->kind).name << ' '
        << (object->namespace_.empty() ? object->name : object->namespace_ + "/" + object->name);
  out << '\n';
}

}  // namespace

int log_stat(const std::filesystem::path& data, LogOutput output, std::ostream& out,
             std::ostream& err) {
  const auto log = RocksdbLog::open(data, OpenMode::read);
  if (!log) return report(log.error(), err);
  const auto stat = (*log)->stat();
  if (!stat) return report(stat.error(), err);
  const auto verdict = (*log)->verify();
  if (!verdict) return report(verdict.error(), err);
  if (output == LogOutput::json)
    out << to_text(stat_json(*stat, *verdict)) << '\n';
  else
    print_stat(*stat, *verdict, out);
  return finish(verdict->broken_at ? kAnswerIsNo : kDone, out, err);
}

int log_cat(const std::filesystem::path& data, const LogSelection& selection, LogOutput output,
            std::ostream& out, std::ostream& err) {
  const auto log = RocksdbLog::open(data, OpenMode::read);
  if (!log) return report(log.error(), err);
  const auto filter = understand(**log, selection);
  if (!filter) return report(filter.error(), err);
  auto reader = (*log)->read(filter->from);
  if (!reader) return report(reader.error(), err);
  while (out) {
    const auto event = (*reader)->next();
    if (!event) {
      static_cast<void>(finish(kDone, out, err));
      return report(event.error(), err);
    }
    if (!*event || (*event)->seq > filter->to) break;
    if (filter->accepts(**event)) print_event(**event, output, out);
  }
  return finish(kDone, out, err);
}

int log_verify(const std::filesystem::path& data, LogOutput output, std::ostream& out,
               std::ostream& err) {
  const auto log = RocksdbLog::open(data, OpenMode::read);
  if (!log) {
    const int exit_code = report(log.error(), err);
    return log.error().code == ErrorCode::corrupt ? kAnswerIsNo : exit_code;
  }
  const auto verdict = (*log)->verify();
  if (!verdict) return report(verdict.error(), err);
  if (output == LogOutput::json) {
    Json json{{"chain", chain_text(*verdict)}, {"events", verdict->events}};
    if (verdict->broken_at) {
      json["first_bad_seq"] = verdict->broken_at->value;
      json["what"] = verdict->what;
    } else {
      json["digest"] = (*log)->chain().hex();
    }
    out << to_text(json) << '\n';
  } else if (verdict->broken_at) {
    out << "broken at seq " << verdict->broken_at->value << ": " << verdict->what << '\n';
  } else {
    out << "ok: " << verdict->events << " events, chain " << (*log)->chain().hex() << '\n';
  }
  return finish(verdict->broken_at ? kAnswerIsNo : kDone, out, err);
}

namespace {

/// What was typed. Owned by the callbacks of the subcommands.
struct LogOptions {
  std::string data;
  std::string output;
  LogSelection selection;

  LogOutput format() const { return output == "json" ? LogOutput::json : LogOutput::text; }
};

std::shared_ptr<LogOptions> add_options(CLI::App& command, const std::string& output) {
  auto options = std::make_shared<LogOptions>();
  options->output = output;
  command.add_option("--data", options->data, "Data directory of a hub, running or not")
      ->required();
  command.add_option("-o,--output", options->output, "text or json; default " + output)
      ->check(CLI::IsMember({"text", "json"}));
  return options;
}

}  // namespace

void add_log_command(CLI::App& app, int& exit_code) {
  CLI::App* log =
      app.add_subcommand("log", "Look at the event log of a data directory, and check it");
  log->require_subcommand(1);

  CLI::App* stat =
      log->add_subcommand("stat", "What is in the log, and whether its hash chain holds");
  stat->callback([options = add_options(*stat, "text"), &exit_code] {
    exit_code = log_stat(options->data, options->format(), std::cout, std::cerr);
  });

  CLI::App* cat = log->add_subcommand("cat", "Print events, one JSON line each");
  const auto cat_options = add_options(*cat, "json");
  LogSelection& selection = cat_options->selection;
  cat->add_option("--from", selection.from, "First event: a seq or an RFC 3339 time");
  cat->add_option("--to", selection.to, "Last event: a seq or an RFC 3339 time");
  cat->add_option("--kind", selection.kind,
                  "Only events about this kind (ClusterQueue), or this fact (PatchIntended)");
  cat->add_option("--object", selection.object,
                  "Only events about this object: NAME or NAMESPACE/NAME");
  cat->callback([cat_options, &exit_code] {
    exit_code = log_cat(cat_options->data, cat_options->selection, cat_options->format(), std::cout,
                        std::cerr);
  });

  CLI::App* verify = log->add_subcommand(
      "verify", "Recompute the chain and every record; exit 1 with the first bad seq");
  verify->callback([options = add_options(*verify, "text"), &exit_code] {
    exit_code = log_verify(options->data, options->format(), std::cout, std::cerr);
  });
}

}  // namespace fairlead
