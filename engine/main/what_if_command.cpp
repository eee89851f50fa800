// `fairlead whatif`: history under another configuration.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "engine/main/commands.h"
#include "engine/main/configuration_options.h"
#include "engine/main/exit_code.h"
#include "engine/main/position.h"
#include "engine/main/standard_streams.h"
#include "engine/main/structured_output.h"
#include "engine/main/terminal_progress.h"
#include "engine/runtime/configuration.h"
#include "replay/history.h"
#include "replay/whatif/what_if.h"

namespace fairlead {

namespace {

struct WhatIfCommandOptions {
  std::string data, bundle;
  ConfigurationOptions configuration;
  std::string from, to;
  std::string output = "text";
};

// A file replaces the configuration in force; settings change it, and leave the rest as it was at
// each time.
Result<Configuration> changed(const ConfigurationOptions& options, Configuration actual) {
  if (!options.file.empty()) return effective_configuration(options);
  for (const std::string& setting : options.settings)
    if (auto applied = apply_setting(actual, setting); !applied)
      return in_context("--set " + setting, applied.error());
  return actual;
}

Result<void> run(const WhatIfCommandOptions& options) {
  if (options.configuration.file.empty() && options.configuration.settings.empty())
    return Error{ErrorCode::bad_input, "expected --set a.b=VALUE or --config FILE"};
  // Errors in the settings are reported before anything is folded.
  if (auto probe = changed(options.configuration, {}); !probe) return probe.error();
  const bool none = options.data.empty() && options.bundle.empty();
  auto history = open_history(none ? "fairlead-data" : options.data, options.bundle);
  if (!history) return history.error();
  WhatIfOptions how;
  how.configuration = [&options](const Configuration& actual) {
    return changed(options.configuration, actual);
  };
  how.progress = progress_on_terminal();
  if (!options.from.empty()) {
    const auto position = parse_position(*history->log, "--from", options.from);
    if (!position) return position.error();
    const auto first = first_event(*history->log, *position);
    if (!first) return first.error();
    how.from = *first;
    if (const auto* time = std::get_if<LogTime>(&*position)) how.from_time = *time;
  }
  if (!options.to.empty()) {
    const auto position = parse_position(*history->log, "--to", options.to);
    if (!position) return position.error();
    const auto last = last_event(*history->log, *position);
    if (!last) return last.error();
    how.to = *last;
    if (const auto* time = std::get_if<LogTime>(&*position)) how.to_time = *time;
  }
  auto result = what_if({*history->log, history->snapshots.get()}, how);
  how.progress = {};  // its line is gone before the answer
  if (!result) return result.error();
  if (options.output == "json")
    std::cout << to_text(to_json(*result)) << '\n';
  else if (options.output == "yaml")
    std::cout << to_yaml_text(to_json(*result));
  else
    std::cout << what_if_text(*result);
  if (auto written = flush_output(); !written) return written.error();
  return {};
}

}  // namespace

void add_what_if_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<WhatIfCommandOptions>();
  CLI::App* what_if = app.add_subcommand(
      "whatif",
      "Fold history under another configuration: the writes that would differ, and the totals.\n"
      "Three worlds are folded. HISTORY is what happened. SAME CONFIGURATION is history's own\n"
      "configuration in a world whose API server answers every write at once, WHAT IF the other\n"
      "configuration in that same world. Writes are compared between these two: only the\n"
      "configuration can make a difference, not an API server that was slow or refused. A write "
      "of\n"
      "SAME CONFIGURATION names its seq in history, and its time there if that was another one by\n"
      "more than a second. NOT AFFECTED are objects whose annotation overrides a changed setting.\n"
      "Lines that begin with 'not seen:' name stretches in which no hub ran or a source was "
      "silent:\n"
      "what changed then is in no world before it was seen.");
  what_if->add_option("--data", options->data,
                      "Data directory, also of a running hub (default: fairlead-data)");
  what_if->add_option("--bundle", options->bundle, "A file that `fairlead log export` wrote");
  add_configuration_options(*what_if, options->configuration);
  what_if->add_option(
      "--from", options->from,
      std::string("The worlds part here: ") + kPositionHelp +
          "; default: the log's beginning, of a pruned one the first place that can be folded");
  what_if->add_option("--to", options->to,
                      "To here, included; default: the log's last event. Of a time: every deadline "
                      "until then runs, behind the last event as if nothing else happened");
  what_if->add_option("-o,--output", options->output, "text, json or yaml")
      ->check(CLI::IsMember({"text", "json", "yaml"}))
      ->capture_default_str();
  what_if->callback([options, &exit_code] {
    const auto done = run(*options);
    if (done) return;
    std::cerr << "fairlead whatif: " << done.error().message << '\n';
    exit_code = exit_code_for(done.error().code);
  });
}

}  // namespace fairlead
