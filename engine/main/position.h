// Places in a log, as people write them: `12` or `seq:12`, `2026-01-01T14:07:00Z`, or `-2h`,
// counted back from the log's last event (not from now: a log that was copied away has no now).
// Every command reads them here, so one spelling means one place everywhere.
#pragma once

#include <string_view>
#include <variant>

#include "engine/log/event_log.h"

namespace fairlead {

/// An event, or a moment.
using Position = std::variant<Seq, LogTime>;

/// What the options that take a position say in --help.
inline constexpr const char* kPositionHelp =
    "a seq (12 or seq:12), an RFC 3339 time, or a time before the last event (-2h)";

/// Reads a position in `log`; `option` (`--as-of`) is named if it is none (`bad_input`).
Result<Position> parse_position(const EventLog& log, std::string_view option,
                                std::string_view text);

/// The first event at or after a position: where a range begins. It may lie behind the log's last.
Result<Seq> first_event(const EventLog& log, const Position& position);

/// The last event at or before a position: where a range ends, and the event behind "as of". 0 if
/// every event is later; `gone` if that was before the events that the log keeps, `corrupt` if it
/// lies behind damage.
Result<Seq> last_event(const EventLog& log, const Position& position);

/// The same of a position as it was written for `option`.
Result<Seq> first_event(const EventLog& log, std::string_view option, std::string_view text);
Result<Seq> last_event(const EventLog& log, std::string_view option, std::string_view text);

}  // namespace fairlead
