// Named points in the program at which a crash test kills the process, between two steps whose
// order matters to recovery. Only the program `fairlead-stops` has them, which tests build with the
// option FAIRLEAD_STOP_POINTS; in `fairlead` a stop point compiles to nothing.
// FAIRLEAD_STOP_AT=name:n selects one and its n-th passing.
#pragma once

#include <array>
#include <string_view>

namespace fairlead {

/// Every stop point, in the order in which one change passes them. tests/e2e reads this list and
/// stops at each.
inline constexpr std::array<std::string_view, 14> kStopPoints{
    "append.before_write",  // of the write-ahead log
    "append.half_written",  // a torn write
    "append.before_sync",
    "append.after_sync",
    "append.before_mark",  // the durable watermark (engine/log/acknowledged.h)
    "append.after_mark",
    "send.before",  // the intent is in the log
    "send.after",   // handed to the connection
    "answer.before_log",
    "answer.after_log",
    "snapshot.before_write",  // a snapshot or the page's index: at the end, and after some events
    "snapshot.before_sync",
    "snapshot.before_rename",
    "snapshot.after_rename",
};

/// The name of one of kStopPoints. Any other name does not compile.
class StopPoint {
 public:
  consteval StopPoint(const char* name) : name_(name) {
    bool known = false;
    for (const std::string_view point : kStopPoints) known = known || point == name_;
    if (!known) throw "not one of kStopPoints";
  }
  constexpr std::string_view name() const { return name_; }

 private:
  std::string_view name_;
};

#ifdef FAIRLEAD_STOP_POINTS

inline namespace stop_points_on {

/// Arms the point that `spec` ("name:n") selects: stop_point(name) kills the process at its n-th
/// passing. Returns false if `spec` is malformed. Must be called before any other thread starts.
bool arm_stop_point(std::string_view spec);

/// Kills the process with SIGKILL if this is the armed passing. May be called from any thread.
void stop_point(StopPoint point);

/// Returns whether the next stop_point(point) will kill the process.
bool stops_next(StopPoint point);

}  // namespace stop_points_on

#else

inline namespace stop_points_off {

constexpr void stop_point(StopPoint) {}

}  // namespace stop_points_off

#endif

}  // namespace fairlead
