// The subcommands of `fairlead`. Each function adds one to `app`; when it runs it leaves its exit
// code (0 done, 1 the answer is "no", 2 bad usage or input, 3 an operating failure) in `exit_code`.
#pragma once

#include <filesystem>
#include <functional>

#include "engine/main/client/hub_place.h"
#include "engine/main/client/log_page.h"

namespace CLI {
class App;
}

namespace fairlead {

void add_hub_command(CLI::App& app, int& exit_code);
void add_dev_command(CLI::App& app, int& exit_code);
void add_plan_command(CLI::App& app, int& exit_code);
/// Work that other parts of the program do for `fairlead log`.
struct LogWork {
  ReachHub reach{};  ///< prepares questions to running hubs
  /// Makes what a long log is left with (left_index.h) for a log that was imported.
  std::function<Result<void>(const std::filesystem::path& data)> leave_index{};
  DescribeEvents describe{};  ///< says what events changed
};
void add_log_command(CLI::App& app, const LogWork& work, int& exit_code);
void add_replay_command(CLI::App& app, int& exit_code);
void add_audit_command(CLI::App& app, int& exit_code);
void add_what_if_command(CLI::App& app, int& exit_code);
void add_usage_command(CLI::App& app, int& exit_code);
void add_serve_command(CLI::App& app, int& exit_code);
void add_snapshot_command(CLI::App& app, int& exit_code);
/// Both of these describe all commands of `app`, which outlives the call.
void add_completion_command(CLI::App& app, int& exit_code);
void add_man_command(CLI::App& app, int& exit_code);

}  // namespace fairlead
