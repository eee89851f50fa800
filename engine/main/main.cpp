// `fairlead`: one binary, a subcommand for each job. As `kubectl-fairlead` it is a kubectl plugin.
#include <fcntl.h>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "engine/base/stop_point.h"
#include "engine/main/commands.h"
#include "engine/main/exit_code.h"
#include "engine/main/hub_client.h"
#include "engine/main/standard_streams.h"

namespace {

// The next file that is opened would get the number of a standard descriptor that the caller
// closed, and diagnostics would be written into it. So each closed one becomes a descriptor on
// which reading (0) or writing (1, 2) fails, as it does on a closed one. False if there is no
// /dev/null.
bool occupy_standard_descriptors() {
  constexpr std::array<int, 3> kFails{O_WRONLY, O_RDONLY, O_RDONLY};
  for (int descriptor = 0; descriptor < 3; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0 &&
        ::open("/dev/null", kFails.at(static_cast<std::size_t>(descriptor))) != descriptor)
      return false;
  return true;
}

// Returns the exit code after a command line that runs no command: help and version are no errors.
int exit_after(const CLI::App& app, const CLI::ParseError& error) {
  // CLI11 reports a missing option before an unknown one; a misspelt option is both, and its name
  // helps more.
  const std::vector<std::string> unknown = app.remaining(true);
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::RequiredError) &&
      !unknown.empty()) {
    std::cerr << "fairlead: unknown option or argument: " << unknown.front()
              << "\nRun with --help for more information.\n";
    return 2;
  }
  if (app.exit(error) != 0) return 2;
  const auto written = fairlead::flush_output();
  if (written) return fairlead::kDone;
  std::cerr << "fairlead: " << written.error().message << "\n";
  return fairlead::exit_code_for(written.error().code);
}

}  // namespace

int main(int argc, char** argv) {
  if (!occupy_standard_descriptors()) return 3;
  // Files of this program hold a hub's objects and, for `dev`, credentials: only the owner may read
  // them.
  ::umask(::umask(077) | 077);
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
  fairlead::add_log_command(app, fairlead::reach_hub, exit_code);
  fairlead::add_replay_command(app, exit_code);
  fairlead::add_audit_command(app, exit_code);
  fairlead::add_what_if_command(app, exit_code);
  fairlead::add_serve_command(app, exit_code);
  fairlead::add_snapshot_command(app, exit_code);
  fairlead::add_completion_command(app, exit_code);
  fairlead::add_man_command(app, exit_code);
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
    return exit_after(app, error);
  }
  return exit_code;
}
