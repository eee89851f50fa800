// Times as people write and read them: `14:07`, `yesterday`, `-3d`, `2026-11-21 14:07`, `end-2h`.
// One grammar for command lines, `--where` and URLs, so that a time that one answer shows is
// understood by every question.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/base/json.h"
#include "engine/base/result.h"
#include "engine/base/time.h"

namespace fairlead {

/// The text about times in --help.
inline constexpr const char* kTimeHelp =
    "a time: 14:07, yesterday, 2026-11-21, \"2026-11-21 14:07\", RFC 3339, now, -2h or -3d before "
    "now, end-2h before the last event";

/// UTC, or the zone that choose_time_zone() gave to this process.
class TimeZone {
 public:
  TimeZone() = default;
  static TimeZone chosen() {
    TimeZone zone;
    zone.chosen_ = true;
    return zone;
  }

  bool is_utc() const { return !chosen_; }
  /// How far its clocks are ahead of UTC at a moment.
  Duration offset_at(LogTime moment) const;
  /// The moment at which its clocks show `wall_clock`, which is written as if it were UTC. Of a
  /// time that clocks skip or show twice, one that is an hour away at most.
  LogTime moment_of(LogTime wall_clock) const;

 private:
  bool chosen_ = false;
};

/// Returns the zone `name` (Europe/Berlin) of the machine's database; empty: the zone of TZ, else
/// the machine's own. It is the process's from then on, so commands alone call this, before they
/// have threads. Fails with `bad_input` if the machine knows no such zone.
Result<TimeZone> choose_time_zone(const std::string& name);

/// What a time is counted from that is not written in full.
struct TimeFrame {
  LogTime now{};    ///< of a running hub; of a copy, `end`
  LogTime end{};    ///< the time of the log's last event
  TimeZone zone{};  ///< of a time that is written without one
};

/// Reads a time; nullopt if `text` is none. `14:07` means today, or yesterday if that would be more
/// than an hour after `frame.now`, because questions are about the past. A date alone means 00:00
/// of that day. An offset (`14:07+01:00`, `yesterdayZ`) replaces the frame's zone.
std::optional<LogTime> read_time(std::string_view text, const TimeFrame& frame);

/// Returns `text` so that it means the same where the zone is not known: with the zone's offset at
/// the frame's now. Anything but a time without a zone is returned as it is.
std::string with_offset(const std::string& text, const TimeFrame& frame);

/// RFC 3339 with the zone's offset: `2026-11-21T15:07:00+01:00`; in UTC as to_rfc3339().
std::string to_text(LogTime time, TimeZone zone);
/// Every RFC 3339 time in UTC that the text has, in the zone.
std::string in_zone(const std::string& text, TimeZone zone);
/// Does so for every string in a document.
Json document_in_zone(Json document, TimeZone zone);

}  // namespace fairlead
