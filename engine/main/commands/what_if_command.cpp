// `fairlead whatif`: history under another configuration.
#include <CLI/CLI.hpp>
#include <iostream>
#include <memory>

#include "engine/base/printable.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/hub_client.h"
#include "engine/main/client/log_place.h"
#include "engine/main/client/position.h"
#include "engine/main/client/standard_streams.h"
#include "engine/main/client/terminal_progress.h"
#include "engine/main/client/what_if_question.h"
#include "engine/main/commands/commands.h"
#include "engine/main/commands/structured_output.h"
#include "engine/runtime/build_commit.h"
#include "replay/history.h"

namespace fairlead {

namespace {

struct WhatIfCommandOptions {
  LogPlace place;
  WhatIfQuestion question;
  std::string output = "text";
};

Result<void> run(WhatIfCommandOptions& options) {
  // Errors in the settings are reported before anything is opened.
  if (auto right = check_what_if(options.question); !right) return right;
  const auto zone = zone_of(options.place);
  if (!zone) return zone.error();
  auto history = open_history_of(options.place, reach_hub, progress_of_copy(), build_identity());
  if (!history) return history.error();
  make_absolute({&options.question.from, &options.question.to}, frame_of(*history->log, *zone));
  auto how = what_if_options(*history->log, options.question);
  if (!how) return how.error();
  how->progress = progress_on_terminal("folding: ");
  auto result = what_if({*history->log, history->for_questions()}, *how);
  how->progress = {};  // its line is gone before the answer
  if (!result) return result.error();
  if (options.output == "json")
    std::cout << to_text(to_json(*result)) << '\n';
  else if (options.output == "yaml")
    std::cout << to_yaml_text(to_json(*result));
  else
    std::cout << in_zone(what_if_text(*result), *zone);
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
  add_place_options(*what_if, options->place);
  add_zone_options(*what_if, options->place);
  add_configuration_options(*what_if, options->question.configuration);
  what_if->add_option(
      "--from", options->question.from,
      std::string("The worlds part here: ") + kPositionHelp +
          "; default: the log's beginning, of a pruned one the first place that can be folded");
  what_if->add_option("--to", options->question.to,
                      "To here, included; default: the log's last event. Of a time: every deadline "
                      "until then runs, behind the last event as if nothing else happened");
  what_if->add_option("-o,--output", options->output, "text, json or yaml")
      ->check(CLI::IsMember({"text", "json", "yaml"}))
      ->capture_default_str();
  what_if->callback([options, &exit_code] {
    const auto done = run(*options);
    if (done) return;
    std::cerr << "fairlead whatif: " << printable_lines(done.error().message) << '\n';
    exit_code = exit_code_for(done.error().code);
  });
}

}  // namespace fairlead
