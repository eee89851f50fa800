// Places where a test ends the process as a power cut would: between two steps that must survive
// it. Only `fairlead-stops` has them, which tests build with the option FAIRLEAD_STOP_POINTS; in
// `fairlead` a stop point is nothing at all. FAIRLEAD_STOP_AT=name:n names one and its n-th
// passing.
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
    "append.before_mark",  // of what is acknowledged
    "append.after_mark",
    "send.before",  // the intent is in the log
    "send.after",   // handed to the connection
    "answer.before_log",
    "answer.after_log",
    "snapshot.before_write",  // when the hub ends, and every so many events
    "snapshot.before_sync",
    "snapshot.before_rename",
    "snapshot.after_rename",
};

/// The name of one of kStopPoints; any other does not compile.
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

/// Whether `spec` ("name:n") was understood: stop_point(name) then kills the process at its n-th
/// passing. Called once, before any thread starts.
bool arm_stop_point(std::string_view spec);

/// SIGKILL, if it is this one's turn. From any thread.
void stop_point(StopPoint point);

/// Whether the next stop_point(point) is going to stop.
bool stops_next(StopPoint point);

}  // namespace stop_points_on

#else

inline namespace stop_points_off {

constexpr void stop_point(StopPoint) {}

}  // namespace stop_points_off

#endif

}  // namespace fairlead
