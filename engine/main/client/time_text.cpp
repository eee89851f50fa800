#include "engine/main/client/time_text.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <ctime>

namespace fairlead {

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr Duration kDayLength = hours(24);
// `14:07` may be so far ahead: a person who asks for the end of the present hour means today's.
constexpr Duration kAheadMax = hours(1);
constexpr std::size_t kDateSize = 10;  // of 2026-11-21
constexpr std::string_view kZones = "/usr/share/zoneinfo/";

// At the ends of what LogTime holds it stays there.
LogTime shifted(LogTime time, Duration by) {
  if (by.ns > 0 && time.ns >= INT64_MAX - by.ns) return {INT64_MAX - 1};
  if (by.ns < 0 && time.ns < INT64_MIN - by.ns) return {INT64_MIN};
  return {time.ns + by.ns};
}
Duration reversed(Duration span) { return {-span.ns}; }

bool fits(std::string_view text, std::string_view shape) {
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (shape[i] == '0' ? text[i] < '0' || text[i] > '9' : text[i] != shape[i]) return false;
  return true;
}

// A span before now: as Go writes durations, with days before the rest (`3d`, `1d12h`).
std::optional<Duration> read_span(std::string_view text) {
  std::int64_t days = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), days);
  const auto digits = static_cast<std::size_t>(end - text.data());
  if (error != std::errc{} || digits == text.size() || text[digits] != 'd')
    return parse_go_duration(text);
  const std::string_view rest = text.substr(digits + 1);
  const auto span = rest.empty() ? Duration{} : parse_go_duration(rest);
  constexpr std::int64_t kDaysMax = 36'500;  // a century: no log is older
  if (days < 0 || days > kDaysMax || !span) return std::nullopt;
  return Duration{days * kDayLength.ns + span->ns};
}

// now, end, end-2h, -2h.
std::optional<LogTime> read_distance(std::string_view text, const TimeFrame& frame) {
  LogTime from = frame.now;
  if (text.starts_with("end")) from = frame.end;
  if (text.starts_with("end") || text.starts_with("now"))
    text.remove_prefix(3);
  else if (!text.starts_with('-'))
    return std::nullopt;
  if (text.empty()) return from;
  if (!text.starts_with('-')) return std::nullopt;
  const auto span = read_span(text.substr(1));
  if (!span) return std::nullopt;
  return LogTime{span->ns > from.ns ? 0 : from.ns - span->ns};
}

// An offset at the end of a time (`Z`, `+01:00`), which is removed from `text`.
std::optional<Duration> take_offset(std::string_view& text) {
  if (text.ends_with('Z')) {
    text.remove_suffix(1);
    return Duration{};
  }
  constexpr std::size_t kOffsetSize = 6;
  if (text.size() <= kOffsetSize) return std::nullopt;
  const std::string_view at = text.substr(text.size() - kOffsetSize);
  if (!fits(at, "+00:00") && !fits(at, "-00:00")) return std::nullopt;
  const auto digit = [at](std::size_t i) { return at[i] - '0'; };
  const Duration size = minutes((digit(1) * 10 + digit(2)) * 60 + digit(4) * 10 + digit(5));
  text.remove_suffix(kOffsetSize);
  return at[0] == '-' ? reversed(size) : size;
}

// The parts of `2026-11-21 14:07`, `yesterday`, `14:07:30`.
struct DayAndTime {
  std::string_view day;   // empty: none was written
  std::string_view time;  // the same
};

std::optional<DayAndTime> split(std::string_view text) {
  const bool is_time = text.size() > 2 && text[2] == ':';
  if (is_time) return DayAndTime{{}, text};
  std::size_t day = kDateSize;
  for (const std::string_view word : {"yesterday", "today"})
    if (text.starts_with(word)) day = word.size();
  if (text.size() < day) return std::nullopt;
  DayAndTime parts{text.substr(0, day), text.substr(day)};
  if (parts.time.empty()) return parts;
  if (parts.time.size() == 1 || (parts.time[0] != ' ' && parts.time[0] != 'T')) return std::nullopt;
  parts.time.remove_prefix(1);
  return parts;
}

std::string time_in_full(std::string_view time) {
  if (time.empty()) return "00:00:00";
  return std::string(time) + (fits(time, "00:00") ? ":00" : "");
}

std::string date_of(LogTime wall_clock) { return to_rfc3339(wall_clock).substr(0, kDateSize); }

std::optional<LogTime> read_wall_clock(std::string_view date, std::string_view time) {
  return parse_rfc3339(std::string(date) + "T" + time_in_full(time) + "Z");
}

std::optional<LogTime> read_day_and_time(std::string_view text, const TimeFrame& frame) {
  const auto offset = take_offset(text);
  const auto parts = split(text);
  if (!parts) return std::nullopt;
  const LogTime now = shifted(frame.now, offset ? *offset : frame.zone.offset_at(frame.now));
  const LogTime day_before = shifted(now, reversed(kDayLength));
  std::string date(parts->day);
  if (date.empty() || date == "today") date = date_of(now);
  if (date == "yesterday") date = date_of(day_before);
  auto wall_clock = read_wall_clock(date, parts->time);
  if (!wall_clock) return std::nullopt;
  if (parts->day.empty() && *wall_clock > now + kAheadMax)
    wall_clock = read_wall_clock(date_of(day_before), parts->time);
  return offset ? shifted(*wall_clock, reversed(*offset)) : frame.zone.moment_of(*wall_clock);
}

// How many characters at the beginning of `text` are an RFC 3339 time in UTC; 0: none are.
std::size_t utc_time_size(std::string_view text) {
  constexpr std::string_view kShape = "0000-00-00T00:00:00";
  if (!fits(text.substr(0, kShape.size()), kShape)) return 0;
  std::size_t end = kShape.size();
  if (end < text.size() && text[end] == '.')
    end = std::min(text.find_first_not_of("0123456789", end + 1), text.size());
  return end < text.size() && text[end] == 'Z' ? end + 1 : 0;
}

}  // namespace

Duration TimeZone::offset_at(LogTime moment) const {
  if (!chosen_) return {};
  const std::time_t at = moment.ns / kSecondNs;
  std::tm local{};
  return ::localtime_r(&at, &local) == nullptr ? Duration{} : seconds(local.tm_gmtoff);
}

LogTime TimeZone::moment_of(LogTime wall_clock) const {
  // The offset before a change of clocks may be another one than behind it.
  const LogTime near = shifted(wall_clock, reversed(offset_at(wall_clock)));
  return shifted(wall_clock, reversed(offset_at(near)));
}

Result<TimeZone> choose_time_zone(const std::string& name) {
  if (!name.empty()) {
    struct stat found{};
    const std::string file = std::string(kZones) + name;
    if (name == "UTC") return TimeZone();
    if (name.starts_with('/') || name.find("..") != name.npos ||
        ::stat(file.c_str(), &found) != 0 || !S_ISREG(found.st_mode))
      return Error{ErrorCode::bad_input,
                   "--time-zone: expected a zone of this machine such as Europe/Berlin, got \"" +
                       name + "\""};
    ::setenv("TZ", name.c_str(), 1);
  }
  ::tzset();
  return TimeZone::chosen();
}

std::optional<LogTime> read_time(std::string_view text, const TimeFrame& frame) {
  if (const auto time = parse_rfc3339(text)) return time;
  if (const auto time = read_distance(text, frame)) return time;
  return read_day_and_time(text, frame);
}

std::string with_offset(const std::string& text, const TimeFrame& frame) {
  std::string_view rest = text;
  if (frame.zone.is_utc() || parse_rfc3339(text) || take_offset(rest)) return text;
  if (!read_day_and_time(text, frame)) return text;
  const auto parts = split(text);
  // A date says which offset its day has.
  if (parts->day.size() == kDateSize && fits(parts->day, "0000-00-00"))
    return to_text(*read_day_and_time(text, frame), frame.zone);
  constexpr std::size_t kWithoutOffset = 19;  // 2026-11-21T15:07:00
  const std::string now = to_text(LogTime{frame.now.ns / kSecondNs * kSecondNs}, frame.zone);
  return text + now.substr(kWithoutOffset);
}

std::string to_text(LogTime time, TimeZone zone) {
  if (zone.is_utc()) return to_rfc3339(time);
  const Duration offset = zone.offset_at(time);
  const std::int64_t size = std::abs(offset.ns) / minutes(1).ns;
  std::string text = to_rfc3339(shifted(time, offset));
  text.pop_back();
  const auto two = [](std::int64_t number) {
    return (number < 10 ? "0" : "") + std::to_string(number);
  };
  return text + (offset.ns < 0 ? "-" : "+") + two(size / 60) + ":" + two(size % 60);
}

std::string in_zone(const std::string& text, TimeZone zone) {
  if (zone.is_utc()) return text;
  std::string shown;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = utc_time_size(std::string_view(text).substr(i));
    const auto time =
        size > 0 ? parse_rfc3339(std::string_view(text).substr(i, size)) : std::nullopt;
    shown += time ? to_text(*time, zone) : text.substr(i, 1);
    i += time ? size : 1;
  }
  return shown;
}

Json document_in_zone(Json document, TimeZone zone) {
  if (document.is_string()) return in_zone(document.get<std::string>(), zone);
  if (document.is_structured())
    for (Json& part : document) part = document_in_zone(std::move(part), zone);
  return document;
}

}  // namespace fairlead
