#include "engine/main/client/position.h"

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

TimeFrame frame_of(const ReadableLog& log, TimeZone zone, std::optional<LogTime> now) {
  const LogTime end = log.last_time();
  return {std::max(now.value_or(end), end), end, zone};
}

std::string absolute(const std::string& text, const TimeFrame& frame) {
  if (parse_seq(text)) return text;
  const auto time = read_time(text, frame);
  return time ? to_rfc3339(*time) : text;
}

void make_absolute(std::initializer_list<std::string*> texts, const TimeFrame& frame) {
  for (std::string* text : texts)
    if (!text->empty()) *text = absolute(*text, frame);
}

std::string note_of(
    std::initializer_list<std::pair<std::string_view, std::string_view>> options_and_texts,
    const TimeFrame& frame) {
  std::string note;
  for (const auto& [option, text] : options_and_texts) {
    if (text.empty() || parse_seq(text) || parse_rfc3339(text)) continue;
    if (const auto time = read_time(text, frame))
      note.append(note.empty() ? "" : ", ")
          .append(option)
          .append(" ")
          .append(text)
          .append(" is ")
          .append(to_text(*time, frame.zone));
  }
  return note;
}

Result<Position> parse_position(const ReadableLog& log, std::string_view option,
                                std::string_view text) {
  return parse_position(frame_of(log), option, text);
}

Result<Position> parse_position(const TimeFrame& frame, std::string_view option,
                                std::string_view text) {
  if (const auto seq = parse_seq(text)) return Position(*seq);
  if (const auto time = read_time(text, frame)) return Position(*time);
  return Error{ErrorCode::bad_input, std::string(option) + ": expected " + kPositionHelp +
                                         ", got \"" + std::string(text) + "\""};
}

Result<Seq> first_event(const ReadableLog& log, const Position& position) {
  if (const auto* seq = std::get_if<Seq>(&position)) return *seq;
  const LogTime time = std::get<LogTime>(position);
  if (time.ns <= 0) return log.first_seq();
  const auto before = log.last_at({time.ns - 1});
  if (before) return next(*before);
  if (before.error().code == ErrorCode::gone) return log.first_seq();
  return before.error();
}

Result<Seq> last_event(const ReadableLog& log, const Position& position) {
  if (auto known = expect_before_damage(log, position); !known) return known.error();
  if (const auto* seq = std::get_if<Seq>(&position)) return std::min(*seq, log.last_seq());
  return log.last_at(std::get<LogTime>(position));
}

Result<Seq> first_event(const ReadableLog& log, std::string_view option, std::string_view text) {
  const auto position = parse_position(log, option, text);
  if (!position) return position.error();
  return first_event(log, *position);
}

Result<Seq> last_event(const ReadableLog& log, std::string_view option, std::string_view text) {
  const auto position = parse_position(log, option, text);
  if (!position) return position.error();
  return last_event(log, *position);
}

}  // namespace fairlead
