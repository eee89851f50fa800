// `fairlead audit`: questions about the past, of a data directory, a bundle or a running hub.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <memory>
#include <thread>

#include "engine/base/printable.h"
#include "engine/main/client/audit_question.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/hub_client.h"
#include "engine/main/client/log_place.h"
#include "engine/main/client/page_link.h"
#include "engine/main/client/position.h"
#include "engine/main/client/standard_streams.h"
#include "engine/main/client/terminal_progress.h"
#include "engine/main/commands/commands.h"
#include "engine/main/commands/structured_output.h"
#include "engine/runtime/build_commit.h"
#include "replay/history.h"
#include "replay/waiting/waiting.h"

namespace fairlead {

namespace {

struct AuditCommandOptions {
  LogPlace place;
  std::string output = "text";
  bool follow = false;
  std::string url;  ///< a link of the page; empty: a question is named
  bool exact = false;
  AuditQuestion question;
};

Error no_answer(const LogPlace& place) {
  return {ErrorCode::unavailable, (place.hub.server.empty() ? "the hub" : place.hub.server) +
                                      ": answered something else than an answer of a hub"};
}

Result<AuditAnswer> ask_hub(const AuditCommandOptions& options, TimeZone zone) {
  const auto ask = reach_hub(options.place.hub);
  if (!ask) return ask.error();
  AuditQuestion question = options.question;
  for (std::string* time : {&question.as_of, &question.from, &question.to})
    *time = with_offset(*time, frame_here(zone));
  const auto answer = (*ask)(to_target(question));
  if (!answer) return answer.error();
  Json document = read_json(*answer);
  if (document.is_object()) return AuditAnswer{std::move(document)};
  return no_answer(options.place);
}

Result<AuditAnswer> ask(AuditCommandOptions& options, TimeZone zone,
                        const FoldProgress& progress = {}) {
  const auto hub = asks_hub(options.place);
  if (!hub) return hub.error();
  if (*hub) return ask_hub(options, zone);
  auto history = open_history(options.place.data, options.place.bundle, build_identity());
  if (!history) return history.error();
  AuditQuestion question = options.question;
  make_absolute(question, frame_of(*history->log, zone));
  return answer_question({*history->log, history->for_questions(), nullptr, {}, progress},
                         question);
}

Result<std::string> printed(const AuditAnswer& answer, const AuditCommandOptions& options,
                            TimeZone zone) {
  if (options.output == "json") return to_text(without_words(answer.document)) + "\n";
  if (options.output == "yaml") return to_yaml_text(without_words(answer.document));
  auto text = if_well_shaped([&] {
    return audit_text({document_in_zone(answer.document, zone)},
                      {shows_colours() ? TextFor::terminal : TextFor::file,
                       options.output == "wide", options.exact});
  });
  if (!text) return no_answer(options.place);
  return *std::move(text);
}

// Prints one answer.
Result<void> print_answer(const AuditAnswer& answer, const AuditCommandOptions& options,
                          TimeZone zone) {
  const auto text = printed(answer, options, zone);
  if (!text) return text.error();
  if (const std::string note = text_in(answer.document, "note"); !note.empty())
    std::cerr << "fairlead audit: " << printable(note) << '\n';
  std::cout << *text;
  return flush_output();
}

// Names a row of a quota or a history.
std::string row_name(const Json& row) {
  std::string name;
  for (const char* key : {"seq", "queue", "flavor", "resource", "field"})
    name += to_text(member(row, key)) + " ";
  return name;
}

// Whether a row of a history may still change: a write that is neither refused nor observed.
bool is_open(const Json& row) {
  return row.contains("tookEffect") && row["tookEffect"].is_null() &&
         text_in(member(row, "answer"), "outcome") != "rejected";
}

// Remembers what was printed, and leaves in answers what is new.
class NewRows {
 public:
  /// Returns whether there is any.
  bool keep_new(Json& document) {
    bool any = first_;
    for (const char* list : {"rows", "settings", "effective"}) {
      if (!list_in(document, list).is_array() || !document.contains(list)) continue;
      Json found = Json::array();
      for (const Json& row : document[list]) {
        if (is_open(row)) continue;
        std::string& known = printed_[list + row_name(row)];
        if (known == to_text(row)) continue;
        known = to_text(row);
        found.push_back(row);
        any = true;
      }
      document[list] = std::move(found);
    }
    first_ = false;
    return any;
  }

 private:
  std::map<std::string, std::string> printed_;
  bool first_ = true;
};

// Asks again and again, and prints what differs, until the output fails.
Result<void> follow(AuditCommandOptions& options, TimeZone zone) {
  if (!options.place.bundle.empty() || !options.question.to.empty() ||
      !options.question.as_of.empty())
    return Error{ErrorCode::bad_input,
                 "--follow is about now: expected no --bundle, --to and --as-of"};
  NewRows rows;
  for (;;) {
    using SteadyClock = std::chrono::steady_clock;
    const auto begin = SteadyClock::now();
    auto answer = ask(options, zone);
    if (!answer) return answer.error();
    if (rows.keep_new(answer->document))
      if (auto printed = print_answer(*answer, options, zone); !printed) return printed;
    // An answer that takes long must not keep a core busy.
    constexpr int kRest = 9;
    std::this_thread::sleep_for(std::max<SteadyClock::duration>(
        std::chrono::seconds(1), kRest * (SteadyClock::now() - begin)));
  }
}

Result<void> answer(AuditCommandOptions& options) {
  if (std::string missing = missing_subject(options.question); !missing.empty())
    return Error{ErrorCode::bad_input, std::move(missing)};
  const auto zone = zone_of(options.place);
  if (!zone) return zone.error();
  if (options.follow) return follow(options, *zone);
  const auto answered = ask(options, *zone, progress_on_terminal("folding the log: "));
  if (!answered) return answered.error();
  return print_answer(*answered, options, *zone);
}

void run(AuditCommandOptions& options, int& exit_code) {
  const auto answered = answer(options);
  if (answered) return;
  const std::string& message = answered.error().message;
  const char* const name = message.starts_with("audit ") ? "fairlead " : "fairlead audit: ";
  std::cerr << name << printable_lines(message) << '\n';
  const bool is_unknown_name = answered.error().code == ErrorCode::not_found;
  exit_code = is_unknown_name ? kAnswerIsNo : exit_code_for(answered.error().code);
}

// Says so where the log is another one than the link was made of. A hub's is not asked.
void compare_log(const PageLink& link, const LogPlace& place) {
  if (link.chain.empty() || (place.data.empty() && place.bundle.empty())) return;
  const auto history = open_history(place.data, place.bundle);
  const auto chain = history ? history->log->chain_at(link.seq) : history.error();
  if (!chain || !chain->hex().starts_with(link.chain))
    std::cerr << "fairlead audit: the link is of another log: its chain at seq " << link.seq.value
              << " is " << printable(link.chain) << '\n';
}

// Prints the command of a link, and what it answers where that is a question of `audit`.
void run_link(AuditCommandOptions& options, int& exit_code) {
  const auto link = read_page_link(options.url);
  if (!link) {
    std::cerr << "fairlead audit: " << printable_lines(link.error().message) << '\n';
    exit_code = exit_code_for(link.error().code);
    return;
  }
  LogPlace& place = options.place;
  const HubBehindApiServer& behind = place.hub.behind;
  const bool named = !place.data.empty() || !place.bundle.empty() || !place.hub.server.empty() ||
                     !behind.kubeconfig.empty() || !behind.context.empty();
  if (!named) place.hub.server = link->server;
  std::vector<std::string> words = link->words;
  if (!place.hub.server.empty()) words.insert(words.end(), {"--server", place.hub.server});
  if (!place.data.empty()) words.insert(words.end(), {"--data", place.data.string()});
  if (!place.bundle.empty()) words.insert(words.end(), {"--bundle", place.bundle.string()});
  const std::string line = printable(shell_line(words));
  if (!link->question) {
    std::cout << line << '\n';
    if (!flush_output()) exit_code = exit_code_for(ErrorCode::unavailable);
    return;
  }
  std::cerr << line << '\n';
  compare_log(*link, place);
  options.question = *link->question;
  run(options, exit_code);
}

void add_answer_options(CLI::App& command, AuditCommandOptions& options, NamespaceOption meaning) {
  add_place_options(command, options.place, meaning);
  add_zone_options(command, options.place);
  command
      .add_option("-o,--output", options.output,
                  "text: fits 80 columns; wide: every column; json; yaml")
      ->check(CLI::IsMember({"text", "wide", "json", "yaml"}))
      ->capture_default_str();
  command.add_flag("--exact", options.exact,
                   "In tables, amounts as Kubernetes has them (782758232064, 547200m) and not as "
                   "people read them (729Gi, 547.2)");
}

using Options = std::shared_ptr<AuditCommandOptions>;

void add_subject(CLI::App& audit, const AuditSubject& subject, const Options& options,
                 int& exit_code) {
  CLI::App* command = audit.add_subcommand(std::string(subject.name), subject.help);
  add_answer_options(
      *command, *options,
      subject.takes("namespace") ? NamespaceOption::asked_about : NamespaceOption::of_hub);
  for (const auto& [parameter, form, help] : subject.arguments) {
    const std::string name(parameter.name);
    command
        ->add_option(form == AuditForm::option ? "--" + name : name,
                     options->question.*parameter.value, help)
        ->required(form == AuditForm::required_word);
  }
  if (subject.follows)
    command->add_flag("--follow,-f", options->follow,
                      "Go on with what changes, until it is ended (Ctrl-C)");
  command->callback([options, &subject, &exit_code] {
    options->question.subject = subject.name;
    run(*options, exit_code);
  });
}

}  // namespace

void add_audit_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AuditCommandOptions>();
  CLI::App* audit = app.add_subcommand(
      "audit", "Ask about the past: what a quota was, who changed it, and why it was so");
  audit->require_subcommand(0, 1);
  audit->add_option(
      "--url", options->url,
      "Link of the audit page: prints the command that gives the same answer, and runs "
      "it");
  add_answer_options(*audit, *options, NamespaceOption::of_hub);
  audit->callback([audit, options, &exit_code] {
    if (!audit->get_subcommands().empty()) return;
    if (!options->url.empty()) return run_link(*options, exit_code);
    std::cout << audit->help("fairlead");
    if (!flush_output()) exit_code = exit_code_for(ErrorCode::unavailable);
  });

  for (const AuditSubject& subject : audit_subjects()) {
    add_subject(*audit, subject, options, exit_code);
    // The question of everyone who has a job: `kubectl fairlead waiting`.
    if (subject.name == "waiting") add_subject(app, subject, options, exit_code);
  }
}

}  // namespace fairlead
