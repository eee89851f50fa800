// `fairlead`: one binary, a subcommand for each job. As `kubectl-fairlead` it is a kubectl plugin.
#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>

#ifdef FAIRLEAD_MIMALLOC
#include <mimalloc.h>
#endif

#include "engine/base/descriptors.h"
#include "engine/base/stop_point.h"
#include "engine/main/commands/program.h"

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

constexpr int kOperatingFailure = 3;

[[noreturn]] void end_without_memory() {
  std::fputs("fairlead: error: no memory is left; the process ends\n", stderr);
  std::_Exit(kOperatingFailure);
}

// The last barrier, of every thread: errors are Results, and an exception of a library ends in its
// folder. What still comes (no memory is left, no thread can be made, a defect) ends the process
// with an error and the exit code of an operating failure. Nothing is unwound: threads may wait for
// each other, and the log is whole at every moment.
[[noreturn]] void end_by_exception() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
    // Not by an exception: a bug. While one is on its way it is the end of what it unwinds: RocksDB
    // leaves threads that it made when it can make no more.
    if (std::uncaught_exceptions() == 0) std::abort();
    std::fputs("fairlead: error: memory or threads are exhausted; the process ends\n", stderr);
  } catch (const std::bad_alloc&) {
    end_without_memory();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fairlead: error: %.200s; the process ends\n", error.what());
  } catch (...) {
    std::fputs("fairlead: error: an unknown exception; the process ends\n", stderr);
  }
  std::_Exit(kOperatingFailure);
}

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(end_by_exception);
#ifdef FAIRLEAD_MIMALLOC
  // Its `operator new` aborts after this: it is C and throws nothing.
  mi_register_error([](int code, void*) { code == ENOMEM ? end_without_memory() : void(); },
                    nullptr);
#endif
  if (!occupy_standard_descriptors()) return kOperatingFailure;
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
