#include "tests/bench/resident.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "tests/bench/bench.h"

namespace fairlead::bench {

double resident_bytes() {
  std::ifstream pages("/proc/self/statm");
  double program = 0, resident = 0;
  if (!(pages >> program >> resident)) give_up("/proc/self/statm says nothing");
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double grown_since(double before) { return std::max(0.0, resident_bytes() - before); }

double peak_bytes_of(const std::function<void()>& work) {
  constexpr double kKibibyte = 1024;
  const double before = resident_bytes();
  if (!(std::ofstream("/proc/self/clear_refs") << "5" << std::flush))  // the peak begins anew
    give_up("/proc/self/clear_refs cannot be written");
  work();
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double peak = 0;
    if (word == "VmHWM:" && status >> peak) return peak * kKibibyte - before;
  }
  give_up("/proc/self/status says nothing of a peak");
}

double figure_of_a_process(const std::function<double()>& measure) {
  int ends[2];
  if (::pipe(ends) != 0) give_up("no pipe");
  const pid_t child = ::fork();
  if (child < 0) give_up("no process");
  double figure = 0;
  if (child == 0) {
    figure = measure();
    ::_exit(::write(ends[1], &figure, sizeof figure) == sizeof figure ? 0 : 3);
  }
  ::close(ends[1]);
  const bool reported = ::read(ends[0], &figure, sizeof figure) == sizeof figure;
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
  if (!reported) give_up("a process that measures ended without a figure");
  return figure;
}

}  // namespace fairlead::bench
