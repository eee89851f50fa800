// `fairlead plan`: prints what the hub would write for the given objects and changes, or with
// --admit what its webhook would object to in proposed ones.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "connectors/kube/document/object_input.h"
#include "connectors/kube/projection/projection.h"
#include "engine/base/printable.h"
#include "engine/fold/evolve.h"
#include "engine/log/memory_log.h"
#include "engine/log/rocksdb/rocksdb_log.h"
#include "engine/main/client/configuration_options.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/standard_streams.h"
#include "engine/main/client/terminal_progress.h"
#include "engine/main/commands/commands.h"
#include "engine/main/commands/structured_output.h"
#include "engine/main/commands/write_line.h"
#include "engine/plan/emit.h"
#include "engine/runtime/build_commit.h"
#include "engine/runtime/configuration_dra.h"
#include "replay/dry_run.h"
#include "replay/history.h"
#include "replay/proposals.h"
#include "replay/table.h"
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
  bool detailed_exit_code = false;
  std::vector<std::string> admit;
  std::string data;
};

// What is printed, and whether the answer is "yes".
struct PlanAnswer {
  std::string text{};
  int exit_code = kDone;
  std::string summary{};  ///< for a person who sees machine output on a terminal
};

// Which way a quota goes, by the rule that decides it.
Tint tint_of(const PlannedWrite& write) {
  const std::string& rule = write.intent.reason.rule;
  if (rule.ends_with("/shrink")) return Tint::falls;
  return rule.ends_with("/grow") ? Tint::rises : Tint::none;
}

void print_table(std::ostream& out, const std::vector<PlannedWrite>& writes) {
  std::vector<TableRow> rows{{"TIME", "CLUSTER", "VERB", "OBJECT", "RULE", "CHANGE"}};
  std::vector<Tint> tints{Tint::heading};
  for (const PlannedWrite& write : writes) {
    const PatchIntended& intent = write.intent;
    const std::string name = intent.target.namespace_.empty()
                                 ? intent.target.name
                                 : intent.target.namespace_ + "/" + intent.target.name;
    rows.push_back({to_rfc3339(write.time), intent.cluster, std::string(text_of(intent.verb)),
                    std::string(info(intent.target.kind).name) + " " + name, intent.reason.rule,
                    intent.reason.text});
    tints.push_back(tint_of(write));
  }
  if (!shows_colours()) tints.clear();
  out << narrow_table_text(rows, SIZE_MAX, tints);
}

// "3 writes to 2 objects: 2 claims/grow, 1 claims/shrink".
std::string summary_of(const std::vector<PlannedWrite>& writes) {
  if (writes.empty()) return "nothing would be written";
  std::map<std::string, std::size_t> rules;
  std::set<std::pair<std::string, ObjectKey>> objects;
  for (const PlannedWrite& write : writes) {
    ++rules[write.intent.reason.rule];
    objects.emplace(write.intent.cluster, write.intent.target);
  }
  const auto counted = [](std::size_t many, const std::string& what) {
    return std::to_string(many) + " " + what + (many == 1 ? "" : "s");
  };
  std::string text = counted(writes.size(), "write") + " to " + counted(objects.size(), "object");
  const char* between = ": ";
  for (const auto& [rule, many] : rules) {
    text += between + std::to_string(many) + " " + rule;
    between = ", ";
  }
  return text;
}

void print_state(std::ostream& out, const DryRun& dry_run) {
  for (const auto& [id, object] : dry_run.written_objects())
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

Error bad_options(const std::string& what) { return {ErrorCode::bad_input, what}; }

Result<void> check_options(const PlanOptions& options) {
  if (options.admit.empty() && !options.data.empty())
    return bad_options("--data is the hub's log that --admit judges by: expected --admit, too");
  if (options.files.empty() == options.data.empty())
    return bad_options(options.admit.empty() ? "expected files with objects"
                                             : "expected either files with live objects or --data");
  if (!options.admit.empty() && (options.output == "state" || options.output == "yaml"))
    return bad_options("-o " + options.output +
                       " is of writes: with --admit expected json or table");
  const auto from_input = [](const std::vector<std::string>& files) {
    return std::count(files.begin(), files.end(), "-");
  };
  if (from_input(options.files) > 0 && from_input(options.admit) > 0)
    return bad_options("standard input can be the live or the proposed objects, not both");
  if (from_input(options.files) + from_input(options.admit) == 0) return {};
  return expect_readable_input();
}

// A kind that is read is meant to be: an object of it in a version that is not read is reported,
// once a kind.
void report_unread(const std::vector<InputLine>& lines) {
  std::set<Kind> reported;
  for (const InputLine& line : lines) {
    const auto [group, version] = split_api_version(line.api_version);
    const auto kind = find_kind(group, line.kind);
    if (line.seen || !kind || reads_version(*kind, version) || !reported.insert(*kind).second)
      continue;
    std::cerr << "fairlead plan: warning: " << line.file << ":" << line.line << ": "
              << printable(line.kind + " of " + line.api_version) << " is not read, only "
              << info(*kind).versions << ": its objects count as absent\n";
  }
}

Result<PlanAnswer> check_proposed(const PlanOptions& options, const State& state,
                                  const LiveAnnotations& live, std::istream& in) {
  auto proposed = read_objects(options.admit, in);
  if (!proposed) return proposed.error();
  report_unread(*proposed);
  const auto judged = check_proposals(state, live, *proposed);
  return PlanAnswer{options.output == "json" ? proposals_json(judged) : proposals_table(judged),
                    any_denied(judged) ? kAnswerIsNo : kDone};
}

// Judges by the State that a hub's log ends with.
Result<PlanAnswer> check_against_log(const PlanOptions& options, std::istream& in) {
  auto history = open_history(options.data, "", build_identity());
  if (!history) return history.error();
  const ReadableLog& log = *history->log;
  auto state = state_at(log, history->for_questions(), log.last_seq(),
                        progress_on_terminal("folding the log: "));
  if (!state) return state.error();
  DirtySet dirty;
  close_moment(*state, dirty);
  return check_proposed(options, *state, {}, in);
}

Result<DryRunOptions> dry_run_options(const PlanOptions& options) {
  auto configuration = effective_configuration(options.configuration);
  if (!configuration) return configuration.error();
  DryRunOptions made{*configuration, options.no_feedback ? Feedback::none : Feedback::assumed, {}};
  if (options.until.empty()) return made;
  made.until = parse_rfc3339(options.until);
  if (!made.until)
    return bad_options("--until: expected an RFC 3339 time before 2262-04-11T23:47:16Z, got \"" +
                       options.until + "\"");
  return made;
}

PlanAnswer answer_of(const PlanOptions& options, const DryRun& dry_run) {
  const std::vector<PlannedWrite>& writes = dry_run.writes();
  PlanAnswer answer;
  std::ostringstream out;
  if (options.output == "table" || options.output == "text") {
    print_table(out, writes);
    out << summary_of(writes) << '\n';
  } else if (options.output == "state") {
    print_state(out, dry_run);
  } else {
    for (const PlannedWrite& write : writes) {
      const std::string line = write_line(write.seq, write.time, write.intent);
      out << (options.output == "yaml" ? "---\n" + to_yaml_text(read_own_json(line)) : line + "\n");
    }
    answer.summary = summary_of(writes);
  }
  if (options.detailed_exit_code && !writes.empty()) answer.exit_code = kWouldChange;
  answer.text = out.str();
  return answer;
}

Result<PlanAnswer> plan_dry(const PlanOptions& options, std::istream& in) {
  if (auto checked = check_options(options); !checked) return checked.error();
  if (!options.data.empty()) return check_against_log(options, in);
  auto made = dry_run_options(options);
  if (!made) return made.error();
  for (const std::string& what : gated_mappings(made->configuration.dra.device_class_mappings))
    std::cerr << "fairlead plan: warning: " << what << '\n';
  auto lines = read_objects(options.files, in);
  if (!lines) return lines.error();
  report_unread(*lines);
  if (made->until && !lines->empty() && *made->until < lines->front().time)
    return bad_options("--until " + options.until +
                       " is before the first object of the input, at " +
                       to_rfc3339(lines->front().time));
  auto log = make_log(options.log);
  if (!log) return log.error();
  DryRun dry_run(**log, *std::move(made));
  if (auto done = dry_run.run(*lines); !done) return done.error();
  if (!options.admit.empty())
    return check_proposed(options, dry_run.state(), live_annotations(*lines), in);
  return answer_of(options, dry_run);
}

}  // namespace

void add_plan_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PlanOptions>();
  CLI::App* plan = app.add_subcommand(
      "plan", "What the hub would write, given these objects and changes; no cluster, no log");
  plan->add_option("files", options->files,
                   "YAML or JSON objects, or watch events as `kubectl get --watch "
                   "--output-watch-events -o json` prints them; - is "
                   "standard input");
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
  plan->add_option("--admit", options->admit,
                   "Files of proposed objects: print what the webhook would say of them, instead "
                   "of writes; exit code 1 if it denies one");
  plan->add_option("--data", options->data,
                   "With --admit: judge by a hub's data directory instead of live objects");
  plan->add_option("-o,--output", options->output,
                   "json: one line per write or finding; table: for people; state: the objects at "
                   "the end; yaml: the writes, a document each")
      ->check(CLI::IsMember({"json", "table", "text", "state", "yaml"}));
  plan->add_flag("--detailed-exitcode", options->detailed_exit_code,
                 "Exit with 4 where something would be written");
  plan->callback([options, &exit_code] {
    auto answer = plan_dry(*options, std::cin);
    if (!answer) {
      std::cerr << "fairlead plan: " << printable_lines(answer.error().message) << '\n';
      exit_code = exit_code_for(answer.error().code);
      return;
    }
    std::cout << answer->text;
    const auto written = flush_output();
    if (written && ::isatty(STDERR_FILENO) != 0 && !answer->summary.empty())
      std::cerr << answer->summary << '\n';
    if (!written)
      std::cerr << "fairlead plan: " << printable_lines(written.error().message) << '\n';
    exit_code = written ? answer->exit_code : exit_code_for(written.error().code);
  });
}

}  // namespace fairlead
