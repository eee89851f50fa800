#include "engine/main/commands/open_browser.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <system_error>
#include <thread>

namespace fairlead {

Result<void> open_browser(const std::string& url) {
  const char* const chosen = std::getenv("BROWSER");
  std::string program = chosen != nullptr && *chosen != '\0' ? chosen : "xdg-open";
  std::string argument = url;
  const std::array<char*, 3> arguments{program.data(), argument.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, stream, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_addclosefrom_np(&files, STDERR_FILENO + 1);
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, program.c_str(), &files, &attributes, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0)
    return Error{ErrorCode::unavailable, "cannot run " + program + " ($BROWSER, else xdg-open): " +
                                             std::generic_category().message(failed)};
  std::thread([child] { (void)::waitpid(child, nullptr, 0); }).detach();
  return {};
}

}  // namespace fairlead
