#include "engine/base/stop_point.h"

#ifdef FAIRLEAD_STOP_POINTS

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <string>

namespace fairlead {

inline namespace stop_points_on {

namespace {

// Global, because a stop point ends the whole process, from whichever thread.
std::string armed_name;
std::atomic<long> passings_left{0};

}  // namespace

bool arm_stop_point(std::string_view spec) {
  const std::size_t colon = spec.find(':');
  if (colon == std::string_view::npos) return false;
  const std::string_view name = spec.substr(0, colon), count = spec.substr(colon + 1);
  long passings = 0;
  const auto [end, error] = std::from_chars(count.data(), count.data() + count.size(), passings);
  const bool known = std::find(kStopPoints.begin(), kStopPoints.end(), name) != kStopPoints.end();
  if (!known || error != std::errc{} || end != count.data() + count.size() || passings < 1)
    return false;
  armed_name = name;
  passings_left = passings;
  return true;
}

void stop_point(StopPoint point) {
  if (point.name() != armed_name || passings_left.fetch_sub(1) != 1) return;
  ::kill(::getpid(), SIGKILL);
  for (;;) ::pause();  // kill() may return before the signal arrives
}

bool stops_next(StopPoint point) { return point.name() == armed_name && passings_left == 1; }

}  // namespace stop_points_on

}  // namespace fairlead

#endif
