#include "engine/base/time.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace fairlead {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86400;
__extension__ using Wide = __int128;

struct Date {
  std::int64_t year = 1970;
  int month = 1;
  int day = 1;
};

/// Returns days since 1970-01-01 in the proleptic Gregorian calendar. Counts years from March, so
/// that a leap day is the last of its year, in eras of 400 years.
std::int64_t days_from(const Date& date) {
  // An era has 146097 days, five months from March have 153, and day 0 of era 0 (0000-03-01) is
  // 719468 days before 1970-01-01.
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t month_from_march = (date.month + 9) % 12;
  const std::int64_t day_of_year = (153 * month_from_march + 2) / 5 + date.day - 1;
  const std::int64_t day_of_era =
      year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

Date date_from(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t day_of_era = days - era * 146097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month_from_march = (5 * day_of_year + 2) / 153;
  const int month =
      static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month,
          static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1)};
}

int days_in_month(std::int64_t year, int month) {
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

std::string padded(std::int64_t value, std::size_t width) {
  std::string digits = std::to_string(value);
  return digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

/// Returns `.25` for 250000000 ns; empty for 0.
std::string fraction_text(std::int64_t ns) {
  if (ns == 0) return "";
  std::string digits = "." + padded(ns, 9);
  digits.erase(digits.find_last_not_of('0') + 1);
  return digits;
}

/// Reads a text from left to right. Once a step has failed, all later ones fail.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  bool good() const { return good_; }
  bool at_end() const { return good_ && rest_.empty(); }
  bool next_is_digit() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }

  bool accept(char wanted) {
    if (!good_ || rest_.empty() || rest_[0] != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) { good_ = accept(wanted); }
  void fail() { good_ = false; }

  /// Reads exactly `count` digits.
  std::int64_t number(std::size_t count) {
    std::int64_t value = 0;
    for (std::size_t i = 0; i < count && good_; ++i) {
      if (!next_is_digit()) {
        good_ = false;
        return 0;
      }
      value = value * 10 + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    return value;
  }

  /// Reads one to nine digits after a decimal point as nanoseconds.
  std::int64_t fraction() {
    std::int64_t value = 0;
    int places = 0;
    for (; good_ && next_is_digit(); ++places) {
      if (places == 9) break;
      value = value * 10 + (rest_[0] - '0');
      rest_.remove_prefix(1);
    }
    if (places == 0 || next_is_digit()) good_ = false;
    for (; places < 9; ++places) value *= 10;
    return value;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

/// Reads the offset of a time zone (`Z`, `+02:00`) in seconds.
std::int64_t scan_offset(Scanner& scan) {
  if (scan.accept('Z') || scan.accept('z')) return 0;
  const bool east = scan.accept('+');
  if (!east) scan.expect('-');
  const std::int64_t hour = scan.number(2);
  scan.expect(':');
  const std::int64_t minute = scan.number(2);
  if (hour > 23 || minute > 59) scan.fail();
  const std::int64_t size = hour * 3600 + minute * 60;
  return east ? size : -size;
}

struct DurationUnit {
  std::string_view text;
  std::int64_t ns;
};
/// Ordered so that a unit comes before its prefixes: the first match is the right one.
constexpr std::array<DurationUnit, 8> kDurationUnits{{{"ns", 1},
                                                      {"us", 1'000},
                                                      {"\u00b5s", 1'000},
                                                      {"\u03bcs", 1'000},
                                                      {"ms", 1'000'000},
                                                      {"s", kNsPerSecond},
                                                      {"m", 60 * kNsPerSecond},
                                                      {"h", 3600 * kNsPerSecond}}};

std::size_t count_digits(std::string_view text) {
  return std::min(text.find_first_not_of("0123456789"), text.size());
}

/// Reads one part of a Go duration, such as `1.5h`, and removes it from the front of `text`.
/// Returns nanoseconds, truncated as Go does.
std::optional<Wide> parse_duration_part(std::string_view& text) {
  const std::size_t whole_digits = count_digits(text);
  const std::string_view whole = text.substr(0, whole_digits);
  text.remove_prefix(whole_digits);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = text.substr(0, count_digits(text));
    text.remove_prefix(fraction.size());
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;
  for (const DurationUnit& unit : kDurationUnits) {
    if (!text.starts_with(unit.text)) continue;
    text.remove_prefix(unit.text.size());
    std::int64_t count = 0;
    if (!whole.empty()) {
      const auto [stop, error] = std::from_chars(whole.data(), whole.data() + whole.size(), count);
      if (error != std::errc{}) return std::nullopt;
    }
    Wide ns = Wide{count} * unit.ns;
    Wide scale = unit.ns;
    Wide part = 0;
    // Digits beyond 18 places are below a nanosecond in every unit.
    Wide divisor = 1;
    for (const char digit : fraction.substr(0, 18)) {
      part = part * 10 + (digit - '0');
      divisor *= 10;
    }
    ns += part * scale / divisor;
    return ns;
  }
  return std::nullopt;
}

}  // namespace

std::string to_rfc3339(LogTime time) {
  std::int64_t second = time.ns / kNsPerSecond;
  std::int64_t ns = time.ns % kNsPerSecond;
  if (ns < 0) {
    ns += kNsPerSecond;
    --second;
  }
  std::int64_t day = second / kSecondsPerDay;
  std::int64_t second_of_day = second % kSecondsPerDay;
  if (second_of_day < 0) {
    second_of_day += kSecondsPerDay;
    --day;
  }
  const Date date = date_from(day);
  return padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2) + "T" +
         padded(second_of_day / 3600, 2) + ":" + padded(second_of_day / 60 % 60, 2) + ":" +
         padded(second_of_day % 60, 2) + fraction_text(ns) + "Z";
}

std::optional<LogTime> parse_rfc3339(std::string_view text) {
  Scanner scan(text);
  Date date;
  date.year = scan.number(4);
  scan.expect('-');
  date.month = static_cast<int>(scan.number(2));
  scan.expect('-');
  date.day = static_cast<int>(scan.number(2));
  if (!scan.accept('T')) scan.expect('t');
  const std::int64_t hour = scan.number(2);
  scan.expect(':');
  const std::int64_t minute = scan.number(2);
  scan.expect(':');
  const std::int64_t second = scan.number(2);
  const std::int64_t ns = scan.accept('.') ? scan.fraction() : 0;
  const std::int64_t offset = scan_offset(scan);
  if (!scan.at_end() || date.month < 1 || date.month > 12 || date.day < 1 ||
      date.day > days_in_month(date.year, date.month) || hour > 23 || minute > 59 || second > 59)
    return std::nullopt;
  const std::int64_t unix_seconds =
      days_from(date) * kSecondsPerDay + hour * 3600 + minute * 60 + second - offset;
  const Wide total = Wide{unix_seconds} * kNsPerSecond + ns;
  // INT64_MAX is kForever, which is not a time.
  if (total < INT64_MIN || total >= INT64_MAX) return std::nullopt;
  return LogTime{static_cast<std::int64_t>(total)};
}

std::string to_go_duration(Duration span) {
  if (span.ns == 0) return "0s";
  const std::string sign = span.ns < 0 ? "-" : "";
  const std::uint64_t size =
      span.ns < 0 ? ~static_cast<std::uint64_t>(span.ns) + 1 : static_cast<std::uint64_t>(span.ns);
  const auto with_fraction = [](std::uint64_t ns, std::uint64_t unit, std::string_view name) {
    const std::uint64_t rest = ns % unit * (1'000'000'000 / unit);
    return std::to_string(ns / unit) + fraction_text(static_cast<std::int64_t>(rest)) +
           std::string(name);
  };
  if (size < 1'000) return sign + std::to_string(size) + "ns";
  if (size < 1'000'000) return sign + with_fraction(size, 1'000, "\u00b5s");
  if (size < 1'000'000'000) return sign + with_fraction(size, 1'000'000, "ms");
  const std::uint64_t minutes_total = size / 60'000'000'000;
  std::string text = sign;
  if (minutes_total >= 60) text += std::to_string(minutes_total / 60) + "h";
  if (minutes_total > 0) text += std::to_string(minutes_total % 60) + "m";
  return text + with_fraction(size % 60'000'000'000, 1'000'000'000, "s");
}

std::optional<Duration> parse_go_duration(std::string_view text) {
  if (text == "0") return Duration{0};
  if (text.empty()) return std::nullopt;
  Wide total = 0;
  while (!text.empty()) {
    const std::optional<Wide> part = parse_duration_part(text);
    if (!part) return std::nullopt;
    total += *part;
    if (total > INT64_MAX) return std::nullopt;
  }
  return Duration{static_cast<std::int64_t>(total)};
}

}  // namespace fairlead
