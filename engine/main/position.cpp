#include "engine/main/position.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

namespace fairlead {
namespace {

std::optional<Seq> parse_seq(std::string_view text) {
  if (text.starts_with("seq:")) text.remove_prefix(4);
  Seq seq;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seq.value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return seq;
}

}  // namespace

Result<Position> parse_position(const EventLog& log, std::string_view option,
                                std::string_view text) {
  if (const auto seq = parse_seq(text)) return Position(*seq);
  if (text.starts_with('-')) {
    if (const auto ago = parse_go_duration(text.substr(1)))
      return Position(LogTime{std::max<std::int64_t>(0, log.last_time().ns - ago->ns)});
  } else if (const auto time = parse_rfc3339(text)) {
    return Position(*time);
  }
  return Error{ErrorCode::bad_input, std::string(option) + ": expected " + kPositionHelp +
                                         ", got \"" + std::string(text) + "\""};
}

Result<Seq> first_event(const EventLog& log, const Position& position) {
  if (const auto* seq = std::get_if<Seq>(&position)) return *seq;
  const LogTime time = std::get<LogTime>(position);
  if (time.ns <= 0) return log.first_seq();
  const auto before = log.last_at({time.ns - 1});
  if (before) return next(*before);
  if (before.error().code == ErrorCode::gone) return log.first_seq();
  return before.error();
}

Result<Seq> last_event(const EventLog& log, const Position& position) {
  if (auto known = expect_before_damage(log, position); !known) return known.error();
  if (const auto* seq = std::get_if<Seq>(&position)) return std::min(*seq, log.last_seq());
  return log.last_at(std::get<LogTime>(position));
}

Result<Seq> first_event(const EventLog& log, std::string_view option, std::string_view text) {
  const auto position = parse_position(log, option, text);
  if (!position) return position.error();
  return first_event(log, *position);
}

Result<Seq> last_event(const EventLog& log, std::string_view option, std::string_view text) {
  const auto position = parse_position(log, option, text);
  if (!position) return position.error();
  return last_event(log, *position);
}

}  // namespace fairlead
