// `fairlead`: one binary, a subcommand for each job. As `kubectl-fairlead` it is a kubectl plugin.
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <iostream>

#include "engine/base/descriptors.h"
#include "engine/base/stop_point.h"
#include "engine/main/program.h"

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

}  // namespace

int main(int argc, char** argv) {
  if (!occupy_standard_descriptors()) return 3;
  static_cast<void>(fairlead::descriptor_shares());  // before anything is opened
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
  return fairlead::run_program(argc, argv);
}
