#include "engine/main/client/standard_streams.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

#include "engine/base/printable.h"

namespace fairlead {

Result<void> expect_readable_input() {
  const auto refuse = [](const char* what) {
    return Error{ErrorCode::bad_input,
                 std::string("-: standard input is ") + what +
                     "; expected objects from a pipe or a file (`plan - <FILE`)"};
  };
  struct stat found{};
  // (main() replaces a closed descriptor by one that cannot be read, so that no file gets its
  // number.)
  const int flags = ::fcntl(STDIN_FILENO, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) return refuse("closed");
  if (::fstat(STDIN_FILENO, &found) == 0 && S_ISDIR(found.st_mode)) return refuse("a directory");
  if (::isatty(STDIN_FILENO) != 0) return refuse("a terminal");
  return {};
}

bool shows_colours() {
  const char* const terminal = std::getenv("TERM");
  const char* const without = std::getenv("NO_COLOR");
  const bool refused = without != nullptr && *without != '\0';
  return ::isatty(STDOUT_FILENO) != 0 && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb" && !refused;
}

bool asks_on_terminal(const std::string& question) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0) return false;
  std::cerr << printable(question) << " [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

Result<void> flush_output() {
  errno = 0;
  if (std::cout.flush()) return {};
  std::string what = "standard output cannot be written";
  if (errno != 0) what += ": " + std::generic_category().message(errno);
  return Error{ErrorCode::unavailable, std::move(what)};
}

}  // namespace fairlead
