// `fairlead plan`: prints what the hub would write for the given objects and changes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <sstream>

#include "connectors/kube/document/object_input.h"
#include "engine/log/memory_log.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/commands.h"
#include "engine/main/configuration_options.h"
#include "engine/main/exit_code.h"
#include "engine/main/standard_streams.h"
#include "engine/main/write_line.h"
#include "engine/plan/emit.h"
#include "replay/rehearsal.h"
#include "snapshots/data_directory.h"

namespace fairlead {

namespace {

struct PlanOptions {
  std::vector<std::string> files;
  ConfigurationOptions configuration;
  std::string until;
  std::string log;
  std::string output = "json";
  bool no_feedback = false;
};

void print_table(std::ostream& out, const std::vector<PlannedWrite>& writes) {
  std::vector<std::vector<std::string>> rows{
      {"TIME", "CLUSTER", "VERB", "OBJECT", "RULE", "CHANGE"}};
  for (const PlannedWrite& write : writes) {
    const PatchIntended& intent = write.intent;
    const std::string name = intent.target.namespace_.empty()
                                 ? intent.target.name
                                 : intent.target.namespace_ + "/" + intent.target.name;
    rows.push_back({to_rfc3339(write.time), intent.cluster, std::string(to_string(intent.verb)),
                    std::string(info(intent.target.kind).name) + " " + name, intent.reason.rule,
                    intent.reason.text});
  }
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i)
      line +=
          i + 1 == row.size() ? row[i] : row[i] + std::string(widths[i] + 2 - row[i].size(), ' ');
    out << line << '\n';
  }
}

void print_state(std::ostream& out, const Rehearsal& rehearsal) {
  for (const auto& [id, object] : rehearsal.written_objects())
    out << "{\"cluster\":" << to_text(Json(std::get<0>(id))) << ",\"object\":" << to_text(object)
        << "}\n";
}

// Makes the log: in memory, or in a data directory without one, to answer questions about it later.
Result<std::unique_ptr<EventLog>> make_log(const std::string& directory) {
  if (directory.empty()) return std::unique_ptr<EventLog>(std::make_unique<MemoryLog>());
  auto log = open_data_directory(directory, OpenMode::write);
  if (!log) return log.error();
  if ((*log)->last_seq() != Seq{})
    return Error{ErrorCode::bad_input, "--log " + directory + ": there is a log already"};
  return std::unique_ptr<EventLog>(*std::move(log));
}

Result<std::string> rehearse(const PlanOptions& options, std::istream& in) {
  auto configuration = effective_configuration(options.configuration);
  if (!configuration) return configuration.error();
  RehearsalOptions rehearsal_options{
      *configuration, options.no_feedback ? Feedback::none : Feedback::assumed, {}};
  if (!options.until.empty()) {
    rehearsal_options.until = parse_rfc3339(options.until);
    if (!rehearsal_options.until)
      return Error{ErrorCode::bad_input,
                   "--until: expected an RFC 3339 time before 2262-04-11T23:47:16Z, got \"" +
                       options.until + "\""};
  }
  if (std::find(options.files.begin(), options.files.end(), "-") != options.files.end())
    if (auto readable = expect_readable_input(); !readable) return readable.error();
  auto lines = read_objects(options.files, in);
  if (!lines) return lines.error();
  if (rehearsal_options.until && !lines->empty() && *rehearsal_options.until < lines->front().time)
    return Error{ErrorCode::bad_input, "--until " + options.until +
                                           " is before the first object of the input, at " +
                                           to_rfc3339(lines->front().time)};
  auto log = make_log(options.log);
  if (!log) return log.error();
  Rehearsal rehearsal(**log, std::move(rehearsal_options));
  if (auto done = rehearsal.run(*lines); !done) return done.error();
  std::ostringstream out;
  if (options.output == "table" || options.output == "text")
    print_table(out, rehearsal.writes());
  else if (options.output == "state")
    print_state(out, rehearsal);
  else
    for (const PlannedWrite& write : rehearsal.writes())
      out << write_line(write.seq, write.time, write.intent) << '\n';
  return out.str();
}

}  // namespace

void add_plan_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* plan = app.add_subcommand(
      "plan", "What the hub would write, given these objects and changes; no cluster, no log");
  plan->add_option("files", options->files,
                   "YAML or JSON objects, or watch events as `kubectl get --watch "
                   "--output-watch-events -o json` prints them; - is "
                   "standard input")
      ->required();
  add_configuration_options(*plan, options->configuration);
  plan->add_option("--until", options->until,
                   "Run time to here (RFC 3339); default: until no deadline is left")
      ->check([](const std::string& time) {
        return std::string(time.empty() ? "expected an RFC 3339 time, got nothing" : "");
      });
  plan->add_option("--log", options->log,
                   "Keep the plan's own log in this data directory, for audit, replay and log");
  plan->add_flag("--no-feedback", options->no_feedback,
                 "Writes stay unanswered until the input shows their result");
  plan->add_option("-o,--output", options->output,
                   "json: one line per write; table: for people; state: the objects at the end")
      ->check(CLI::IsMember({"json", "table", "text", "state"}));
  plan->callback([options, &exit_code] {
    auto printed = rehearse(*options, std::cin);
    if (!printed) {
      std::cerr << "fairlead plan: " << printed.error().message << '\n';
      exit_code = exit_code_for(printed.error().code);
      return;
    }
    std::cout << *printed;
    const auto written = flush_output();
    if (!written) std::cerr << "fairlead plan: " << written.error().message << '\n';
    exit_code = written ? kDone : exit_code_for(written.error().code);
  });
}

}  // namespace fairlead
