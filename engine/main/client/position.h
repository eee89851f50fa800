// Positions in a log, as people write them: `12` or `seq:12`, or a time (time_text.h). Of a running
// hub times are counted from now, of a copy from its last event, which may be old. Every command
// reads them here, so a spelling means the same position everywhere.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/log/event_log.h"
#include "engine/main/client/time_text.h"

namespace fairlead {

/// An event, or a moment.
using Position = std::variant<Seq, LogTime>;

/// The text about positions in --help.
inline constexpr const char* kPositionHelp =
    "a seq (12 or seq:12) or a time (14:07, yesterday, 2026-11-21, \"2026-11-21 14:07\", RFC 3339, "
    "now, -2h, -3d, end-2h)";

/// What times in a log are counted from: `now` of the hub that appends to it, which is not earlier
/// than its last event; nullopt: of a copy.
TimeFrame frame_of(const ReadableLog& log, TimeZone zone = {}, std::optional<LogTime> now = {});
/// Returns a position so that it means the same in every frame: times as RFC 3339. A text that is
/// not a position is returned as it is.
std::string absolute(const std::string& text, const TimeFrame& frame);
/// Does so for several members, each of which may be empty.
void make_absolute(std::initializer_list<std::string*> texts, const TimeFrame& frame);

/// "--from yesterday is 2026-11-20T00:00:00Z, --to ...": tells a person which moments the texts
/// mean that are neither a seq nor a full time; empty: there are none.
std::string note_of(
    std::initializer_list<std::pair<std::string_view, std::string_view>> options_and_texts,
    const TimeFrame& frame);

/// Reads a position in `log`. Fails with `bad_input`, naming `option` (`--as-of`), if it is none.
Result<Position> parse_position(const ReadableLog& log, std::string_view option,
                                std::string_view text);
Result<Position> parse_position(const TimeFrame& frame, std::string_view option,
                                std::string_view text);

/// Returns the first event at or after a position: where a range begins. It may be behind the log's
/// last event.
Result<Seq> first_event(const ReadableLog& log, const Position& position);

/// Returns the last event at or before a position: where a range ends, and the event behind "as
/// of". 0 if every event is later. Fails with `gone` if it is before the events that the log keeps,
/// and with `corrupt` if it is behind damage.
Result<Seq> last_event(const ReadableLog& log, const Position& position);

/// Likewise, but reads the position as it was written for `option`.
Result<Seq> first_event(const ReadableLog& log, std::string_view option, std::string_view text);
Result<Seq> last_event(const ReadableLog& log, std::string_view option, std::string_view text);

}  // namespace fairlead
