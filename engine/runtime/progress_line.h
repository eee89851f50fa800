// One line on a terminal that shows the progress of long work.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <utility>

namespace fairlead {

/// Rewrites its line in place. Work of less than a second shows none, and the destructor erases the
/// line. Not thread safe; `out` outlives it.
class ProgressLine {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The work begins at `begin`; `doing` is printed before the numbers and may be empty.
  ProgressLine(std::ostream& out, std::string doing, Time begin);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows that `done` of `total` events are done at `now`: "40000 of 139017 events (28%),
  /// 52000/s". The rate is that since the first call. The line changes at most five times a second.
  void show(std::uint64_t done, std::uint64_t total, Time now);

 private:
  std::ostream& out_;
  const std::string doing_;
  const Time begin_;
  std::optional<std::pair<std::uint64_t, Time>>
      first_;  ///< the first call; a fold may begin in the middle of a log
  std::optional<Time> rewritten_;
};

}  // namespace fairlead
