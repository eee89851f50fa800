// Benchmarks: what Fairlead does, against a bound that is measured in the same run.
//
// An absolute figure depends on the machine as much as on the program, so every bench names a bound
// (the same bytes written plainly, the iterator alone) and is judged by its ratio to it. The bound
// and the measured code run in turn, several times, in one process; figures are medians. To add
// benches write a file with one function that adds them to a Suite, declare it in benches.h and
// call it in main.cpp:
//
//   void add_digest_benches(Suite& suite) {
//     suite.add({"digest/4 KB", "memcpy of the same bytes", "MB/s", Better::more, 0.1,
//                [](const Place& place) {
//                  auto bytes = std::make_shared<std::string>(
//                      place.size == Size::tiny ? 4096 : 64 << 20, 'x');
//                  return Trial{[bytes] { return hashed_per_second(*bytes); },
//                               [bytes] { return copied_per_second(*bytes); }};
//                }});
//   }
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"

namespace fairlead::bench {

/// How much is measured: what the table promises, or just enough to prove that a bench works.
enum class Size : std::uint8_t { full, tiny };

/// Where a bench runs.
struct Place {
  Size size = Size::full;
  std::filesystem::path directory;  ///< empty, on a disk, for this bench alone; removed afterwards
};

/// Which direction of a figure is good.
enum class Better : std::uint8_t {
  more,  ///< measured / bound is at least the limit (events a second)
  less,  ///< measured / bound is at most the limit (bytes, milliseconds)
};

/// One bench, ready to run: each call runs one repetition and returns its figure. The closures own
/// the data that both need. A fixed bound is returned as a constant.
struct Trial {
  std::function<double()> measured;
  std::function<double()> bound;
};

struct Bench {
  std::string name;   ///< "append/64 x 300 B": area first, so that --only takes a prefix
  std::string bound;  ///< description of the bound
  std::string unit;   ///< of both figures
  Better better = Better::more;
  double limit = 1;  ///< of the ratio; 0 with Better::more: for information only
  std::function<Trial(const Place&)> prepare;
};

/// The benches of this program, in the order of the table.
class Suite {
 public:
  void add(Bench bench) { benches_.push_back(std::move(bench)); }
  const std::vector<Bench>& benches() const { return benches_; }

 private:
  std::vector<Bench> benches_;
};

/// Returns the seconds that `work` takes.
template <class Work>
double seconds_of(Work&& work) {
  const auto begin = std::chrono::steady_clock::now();
  std::forward<Work>(work)();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns the CPU seconds that `work` takes, of all threads of the program together.
template <class Work>
double cpu_seconds_of(Work&& work) {
  const auto now = [] {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
  };
  const double begin = now();
  std::forward<Work>(work)();
  return now() - begin;
}

/// Prints `why` and ends the program with exit code 3: a bench that cannot do its work measures
/// nothing.
[[noreturn]] inline void give_up(const std::string& why) {
  std::fprintf(stderr, "fairlead-bench: %s\n", why.c_str());
  std::exit(3);
}

/// Returns the value of a Result, or gives up with its error.
template <class T>
T need(Result<T> result) {
  if (!result) give_up(result.error().message);
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

/// Keeps the optimiser from removing the computation of `value`.
template <class T>
void keep(const T& value) {
  asm volatile("" : : "r,m"(value) : "memory");
}

}  // namespace fairlead::bench
