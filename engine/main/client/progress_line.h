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

  /// The work begins at `begin`; `doing` is printed first.
  ProgressLine(std::ostream& out, std::string doing, Time begin);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  /// Shows that `done` of `total` events are done at `now`: "40000 of 139017 events (28%), 52000/s,
  /// 2 s left". The rate is that since the first call; it begins anew if less is done than before,
  /// because another walk began. The line changes at most five times a second.
  void show(std::uint64_t done, std::uint64_t total, Time now);
  /// Shows how long the work takes already, where nothing else is known yet: "3 s".
  void wait(Time now);

 private:
  bool is_due(Time now) const;
  void rewrite(const std::string& text, Time now);

  std::ostream& out_;
  const std::string doing_;
  const Time begin_;
  std::optional<std::pair<std::uint64_t, Time>>
      first_;               ///< the first call; a fold may begin in the middle of a log
  std::uint64_t last_ = 0;  ///< what was done at the last call
  std::optional<Time> rewritten_;
};

}  // namespace fairlead
