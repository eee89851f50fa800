#include "engine/main/commands/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

#include "engine/base/printable.h"
#include "engine/base/spelling.h"
#include "engine/main/client/exit_code.h"
#include "engine/main/client/hub_client.h"
#include "engine/main/client/standard_streams.h"
#include "engine/main/commands/commands.h"
#include "engine/main/commands/help_text.h"
#include "engine/main/commands/log_replicate.h"
#include "engine/main/service/described_events.h"
#include "engine/main/service/left_index.h"

namespace fairlead {

namespace {

// The names of commands below `app`, or of its options.
std::vector<std::string> known_words(const CLI::App& app, const std::string& wanted) {
  std::vector<std::string> words;
  if (wanted.starts_with('-')) {
    for (const CLI::Option* option : all_options(app))
      for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
    return words;
  }
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(command->get_name());
  return words;
}

// ", did you mean --until?" of a word that the innermost command of the line does not know.
std::string meant(const CLI::App& app, const std::string& word) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const std::string near = nearest(known_words(*command, word), word.substr(0, word.find('=')));
  return near.empty() ? "" : "; did you mean " + near + "?";
}

// Returns the exit code after a command line that runs no command: help and version are not errors.
int exit_after(const CLI::App& app, const CLI::ParseError& error) {
  // CLI11 reports a missing option before an unknown one; a misspelt option is both, and its name
  // helps more.
  const std::vector<std::string> unknown = app.remaining(true);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
      !unknown.empty()) {
    std::cerr << "fairlead: unknown option or argument: " << printable(unknown.front())
              << meant(app, unknown.front()) << "\nRun with --help for more information.\n";
    return 2;
  }
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) && !unknown.empty())
    if (const std::string hint = meant(app, unknown.front()); !hint.empty())
      std::cerr << "fairlead: " << printable(unknown.front()) << " is not known" << hint << '\n';
  if (app.exit(error) != 0) return 2;
  const auto written = flush_output();
  if (written) return kDone;
  std::cerr << "fairlead: " << printable_lines(written.error().message) << "\n";
  return exit_code_for(written.error().code);
}

}  // namespace

int run_program(int argc, char** argv) {
  CLI::App app{
      "Fairlead keeps Kueue quota equal to the capacity of a hub's clusters, and can say why it "
      "was what it was.",
      "fairlead"};
  wrap_help(app);
  app.set_version_flag("--version", "fairlead " FAIRLEAD_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;
  add_hub_command(app, exit_code);
  add_dev_command(app, exit_code);
  add_plan_command(app, exit_code);
  add_log_command(app, {reach_hub, leave_index_in, describe_changes}, exit_code);
  add_replicate_commands(*app.get_subcommand("log"), exit_code);
  add_replay_command(app, exit_code);
  add_audit_command(app, exit_code);
  add_what_if_command(app, exit_code);
  add_usage_command(app, exit_code);
  add_serve_command(app, exit_code);
  add_snapshot_command(app, exit_code);
  add_completion_command(app, exit_code);
  add_man_command(app, exit_code);
  add_examples(app);
  const auto commands = app.get_subcommands([](CLI::App*) { return true; });
  if (argc > 1 && argv[1][0] != '-' &&
      std::none_of(commands.begin(), commands.end(),
                   [&](const CLI::App* command) { return command->check_name(argv[1]); })) {
    std::cerr << "fairlead: no command is called \"" << printable(argv[1]) << '"'
              << meant(app, argv[1]) << "; see fairlead --help\n";
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return exit_after(app, error);
  }
  return exit_code;
}

}  // namespace fairlead
