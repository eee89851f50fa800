// The running account: one line per entry of the script and one per write of the hub, for a reader
// who knows neither.
//
// The hub's lines are read from its log, the same one that `fairlead log cat` prints, so each can
// be looked up afterwards.
#pragma once

#include <cstdint>
#include <deque>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/time.h"
#include "schema/event.h"

namespace fairlead {

/// What an account has printed, for its last lines.
struct AccountCounts {
  std::uint64_t faults = 0;
  std::uint64_t events = 0;  ///< in the log
  std::uint64_t writes = 0;  ///< intended
  std::uint64_t accepted = 0;
  std::uint64_t refused = 0;  ///< rejected, or without an answer
};

/// Owned by one thread; `out` outlives it.
class Account {
 public:
  /// Prints times as spans since `start`.
  Account(std::ostream& out, LogTime start) : out_(out), start_(start) {}

  void log_fault(LogTime at, std::string_view who, std::string_view what);
  /// Reads the next event of the log. Only writes and refusals are printed.
  void consume(const Event& event);
  const AccountCounts& counts() const { return counts_; }

 private:
  void remember(const Event& event);
  std::string cause_of(const PatchIntended& intent) const;
  void line(LogTime at, std::string_view who, std::string_view what);

  std::ostream& out_;
  const LogTime start_;
  AccountCounts counts_;
  std::deque<std::pair<Seq, std::string>> causes_;  ///< objects of other writers, newest last
};

/// Describes a write without its cause: `ClusterQueue high-priority-queue: on-demand cpu 500 ->
/// 456`.
std::string describe_write(const PatchIntended& intent);

/// Formats hours, minutes and seconds: `1:02:03`.
std::string to_elapsed(Duration span);

}  // namespace fairlead
