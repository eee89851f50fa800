// Positions in a log, as people write them: `12` or `seq:12`, `2026-01-01T14:07:00Z`, or `-2h`,
// counted back from the log's last event (not from now: the last event of a copied log may be old).
// Every command reads them here, so a spelling means the same position everywhere.
#pragma once

#include <string_view>
#include <variant>

#include "engine/log/event_log.h"

namespace fairlead {

/// An event, or a moment.
using Position = std::variant<Seq, LogTime>;

/// The text about positions in --help.
inline constexpr const char* kPositionHelp =
    "a seq (12 or seq:12), an RFC 3339 time, or a time before the last event (-2h)";

/// Reads a position in `log`. Fails with `bad_input`, naming `option` (`--as-of`), if it is none.
Result<Position> parse_position(const EventLog& log, std::string_view option,
                                std::string_view text);

/// Returns the first event at or after a position: where a range begins. It may be behind the log's
/// last event.
Result<Seq> first_event(const EventLog& log, const Position& position);

/// Returns the last event at or before a position: where a range ends, and the event behind "as
/// of". 0 if every event is later. Fails with `gone` if it is before the events that the log keeps,
/// and with `corrupt` if it is behind damage.
Result<Seq> last_event(const EventLog& log, const Position& position);

/// The same for a position as it was written for `option`.
Result<Seq> first_event(const EventLog& log, std::string_view option, std::string_view text);
Result<Seq> last_event(const EventLog& log, std::string_view option, std::string_view text);

}  // namespace fairlead
