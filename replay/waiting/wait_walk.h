// Walks a log for the record of who waited.
#pragma once

#include <functional>
#include <vector>

#include "replay/audit/audit.h"
#include "replay/waiting/wait_recorder.h"

namespace fairlead {

/// Gives events in the order of the times from which they count. An observation that was held back
/// (ObjectObserved::read) counts from when it was read, which may be before events that the log has
/// in front of it.
class EventsByEffect {
 public:
  /// `use` receives each event with its time; times ascend.
  using Use = std::function<void(const Event& event, LogTime time)>;
  explicit EventsByEffect(Use use) : use_(std::move(use)) {}

  /// Takes in the next event of the log. It is used once no later one can count from before it.
  void add(const Event& event);
  /// Uses what is left.
  void finish();

 private:
  void use_until(LogTime time);

  Use use_;
  Duration held_back_;  // the longest that the configuration allowed so far
  std::multimap<LogTime, Event> waiting_;
  LogTime used_;
};

/// Where a record ends.
struct WaitEnd {
  Seq last;      ///< the last event of the record
  LogTime time;  ///< at most of the log's last event
};
/// Finds it. Fails with `bad_input` if the log begins later or is empty, with `corrupt` if it is
/// damaged before.
Result<WaitEnd> wait_end(const AuditSource& source, const AuditPosition& as_of);

/// Records everything up to `end`. Where the beginning of the log was pruned it begins with the
/// oldest snapshot. `each` receives every event, too; may be empty.
Result<WaitRecorder> record_waits(const AuditSource& source, const WaitScope& scope,
                                  const WaitEnd& end,
                                  const std::function<void(const Event&)>& each = {});

}  // namespace fairlead
