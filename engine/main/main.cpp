// `fairlead`: one binary, a subcommand for each job. As `kubectl-fairlead` it is a kubectl plugin.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "engine/base/stop_point.h"
#include "engine/main/commands.h"
#include "engine/main/question_service.h"

int main(int argc, char** argv) {
#ifdef FAIRLEAD_STOP_POINTS
  if (const char* spec = std::getenv("FAIRLEAD_STOP_AT");
      spec != nullptr && !fairlead::arm_stop_point(spec)) {
    std::cerr << "fairlead: no stop point: " << spec << "\n";
    return 2;
  }
#endif
  CLI::App app{
      "Fairlead keeps Kueue quota equal to the capacity of a hub's clusters, and can say why it "
      "was what it was.",
      "fairlead"};
  app.set_version_flag("--version", "fairlead " FAIRLEAD_VERSION);
  app.require_subcommand(1);
  int exit_code = 0;
  fairlead::add_hub_command(app, exit_code);
  fairlead::add_dev_command(app, exit_code);
  fairlead::add_plan_command(app, exit_code);
  fairlead::add_log_command(app, fairlead::ask_hub, exit_code);
  fairlead::add_replay_command(app, exit_code);
  fairlead::add_audit_command(app, exit_code);
  fairlead::add_what_if_command(app, exit_code);
  fairlead::add_snapshot_command(app, exit_code);
  const auto commands = app.get_subcommands([](CLI::App*) { return true; });
  if (argc > 1 && argv[1][0] != '-' &&
      std::none_of(commands.begin(), commands.end(),
                   [&](const CLI::App* command) { return command->check_name(argv[1]); })) {
    std::cerr << "fairlead: no command is called \"" << argv[1] << "\"; see fairlead --help\n";
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;  // help and version are no errors
  }
  return exit_code;
}
