// `fairlead audit`: questions about the past, of a data directory, a bundle or a running hub.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "engine/base/printable.h"
#include "engine/main/audit_question.h"
#include "engine/main/commands.h"
#include "engine/main/exit_code.h"
#include "engine/main/hub_client.h"
#include "engine/main/position.h"
#include "engine/main/standard_streams.h"
#include "engine/main/structured_output.h"
#include "replay/history.h"

namespace fairlead {

namespace {

struct AuditCommandOptions {
  std::string data, bundle;
  HubPlace hub;
  std::string output = "text";
  AuditQuestion question;
};

Error no_answer(const HubPlace& hub) {
  return {ErrorCode::unavailable, hub.server + ": answered something else than an answer of a hub"};
}

Result<AuditAnswer> ask(const AuditCommandOptions& options) {
  if (!options.hub.server.empty()) {
    if (!options.data.empty() || !options.bundle.empty())
      return Error{ErrorCode::bad_input, "expected one of --data, --bundle and --server"};
    const auto ask = reach_hub(options.hub);
    if (!ask) return ask.error();
    const auto answer = (*ask)(to_target(options.question));
    if (!answer) return answer.error();
    Json document = read_json(*answer);
    if (document.is_object()) return AuditAnswer{std::move(document)};
    return no_answer(options.hub);
  }
  const bool none = options.data.empty() && options.bundle.empty();
  auto history = open_history(none ? "fairlead-data" : options.data, options.bundle);
  if (!history) return history.error();
  return answer_question({*history->log, history->snapshots.get()}, options.question);
}

Result<std::string> printed(const AuditAnswer& answer, const AuditCommandOptions& options) {
  if (options.output == "json") return to_text(answer.document) + "\n";
  if (options.output == "yaml") return to_yaml_text(answer.document);
  auto text = if_well_shaped(
      [&] { return audit_text(answer, shows_colours() ? TextFor::terminal : TextFor::file); });
  if (!text) return no_answer(options.hub);
  return *std::move(text);
}

void run(const AuditCommandOptions& options, int& exit_code) {
  if (const std::string missing = missing_subject(options.question); !missing.empty()) {
    std::cerr << "fairlead " << missing << '\n';
    exit_code = exit_code_for(ErrorCode::bad_input);
    return;
  }
  auto answer = ask(options);
  if (!answer) {
    std::cerr << "fairlead audit: " << printable_lines(answer.error().message) << '\n';
    exit_code = exit_code_for(answer.error().code);
    return;
  }
  const auto text = printed(*answer, options);
  if (!text) {
    std::cerr << "fairlead audit: " << printable_lines(text.error().message) << '\n';
    exit_code = exit_code_for(text.error().code);
    return;
  }
  if (const std::string note = text_in(answer->document, "note"); !note.empty())
    std::cerr << "fairlead audit: " << printable(note) << '\n';
  std::cout << *text;
  const auto written = flush_output();
  if (!written) std::cerr << "fairlead audit: " << printable_lines(written.error().message) << '\n';
  exit_code = written ? kDone : exit_code_for(written.error().code);
}

using Options = std::shared_ptr<AuditCommandOptions>;

CLI::App* add_subject(CLI::App& audit, const char* name, const char* description,
                      const Options& options, int& exit_code) {
  CLI::App* subject = audit.add_subcommand(name, description);
  subject->add_option("--data", options->data,
                      "Data directory, also of a running hub (default: fairlead-data)");
  subject->add_option("--bundle", options->bundle, "A file that `fairlead log export` wrote");
  add_server_options(*subject, *subject, options->hub);
  subject->add_option("-o,--output", options->output, "text, json or yaml")
      ->check(CLI::IsMember({"text", "json", "yaml"}))
      ->capture_default_str();
  subject->callback([options, name, &exit_code] {
    options->question.subject = name;
    run(*options, exit_code);
  });
  return subject;
}

void add_as_of(CLI::App* subject, const Options& options) {
  subject->add_option("--as-of", options->question.as_of,
                      std::string(kPositionHelp) + "; default: the log's end");
}

void add_pair(CLI::App* subject, const Options& options) {
  subject->add_option("queue", options->question.pair.queue,
                      "ClusterQueue, or workload/NAMESPACE/NAME for what each cluster lacks");
  subject->add_option("flavor", options->question.pair.flavor, "ResourceFlavor");
  subject->add_option("resource", options->question.pair.resource,
                      "Resource, as the queue spells it or its alias");
}

void add_span(CLI::App* subject, const Options& options) {
  subject->add_option("--from", options->question.from, std::string("From here: ") + kPositionHelp);
  subject->add_option("--to", options->question.to, "To here, included");
}

void add_namespace(CLI::App* subject, const Options& options) {
  subject->add_option("--namespace", options->question.namespace_,
                      "In place of a queue: TENANT/NAME, a tenant's namespace in the super cluster "
                      "pool");
}

// The options of questions about the super cluster pool.
void add_pool(CLI::App* subject, const Options& options) {
  add_namespace(subject, options);
  subject->add_option("--pod", options->question.pod,
                      "In place of a queue: TENANT/NAMESPACE/NAME, a pod of a tenant");
  add_span(subject, options);
}

// Adds the options that name a quota, a Workload or a list of workers.
void add_pair_or_workers(CLI::App* subject, const Options& options) {
  subject->add_option("queue", options->question.pair.queue,
                      "ClusterQueue, or multikueueconfig/NAME for who is in that list and why, or "
                      "workload/NAMESPACE/NAME for where its devices are");
  subject->add_option("flavor", options->question.pair.flavor,
                      "ResourceFlavor; of a list: only this cluster");
  subject->add_option("resource", options->question.pair.resource,
                      "Resource, as the queue spells it or its alias");
}

}  // namespace

void add_audit_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<AuditCommandOptions>();
  CLI::App* audit = app.add_subcommand(
      "audit", "Ask about the past: what a quota was, who changed it, and why it was so");
  audit->require_subcommand(1);

  CLI::App* quota = add_subject(*audit, "quota", "Quotas at a moment, and of what they are made",
                                options, exit_code);
  quota->add_option("queue", options->question.pair.queue, "ClusterQueue; default: all");
  add_as_of(quota, options);

  CLI::App* history = add_subject(
      *audit, "history",
      "Every change of a queue's quotas, limits and rules: who, when, why, how answered", options,
      exit_code);
  history->add_option(
      "queue", options->question.pair.queue,
      "ClusterQueue, or cohort/NAME, resourceflavor/NAME, admissioncheck/NAME, "
      "localqueue/NAMESPACE/NAME, or multikueueconfig/NAME for the changes of that list");
  history->add_option("--flavor", options->question.pair.flavor, "Only this ResourceFlavor");
  history->add_option("--resource", options->question.pair.resource, "Only this resource");
  add_span(history, options);
  add_namespace(history, options);
  history->add_option("--as-of", options->question.as_of, "With --namespace: the same as --to");

  CLI::App* diff = add_subject(*audit, "diff",
                               "What differs between two moments: configuration, "
                               "claims, capacity, grants, quotas, queues, Cohorts",
                               options, exit_code);
  diff->add_option("from", options->question.from, kPositionHelp)->required();
  diff->add_option("to", options->question.to, "The other moment, usually a later one")->required();
  diff->add_option("queue", options->question.pair.queue, "Only what concerns this ClusterQueue");

  CLI::App* why =
      add_subject(*audit, "why", "From a quota down to the nodes, the windows and the claim's edit",
                  options, exit_code);
  add_pair_or_workers(why, options);
  add_pool(why, options);
  add_as_of(why, options);

  CLI::App* why_not = add_subject(*audit, "why-not",
                                  "Which guard keeps a quota from being written, or from growing",
                                  options, exit_code);
  add_pair(why_not, options);
  add_pool(why_not, options);
  add_as_of(why_not, options);

  CLI::App* admissions = add_subject(
      *audit, "admissions", "Which changes the webhook refused, and which an override let pass",
      options, exit_code);
  admissions->add_option("--object", options->question.object,
                         "Only objects of this NAME or KIND/NAME");
  add_span(admissions, options);
}

}  // namespace fairlead
