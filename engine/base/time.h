// Log time: the only time the core knows.
//
// LogTime is nanoseconds since the Unix epoch, UTC, as an integer. Durations are integers of
// nanoseconds too. Only the shell around the core asks a Clock.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead {

/// A span of time in nanoseconds; never negative in configuration, may be negative as a difference.
struct Duration {
  std::int64_t ns = 0;

  friend auto operator<=>(Duration, Duration) = default;
};

constexpr Duration milliseconds(std::int64_t n) { return {n * 1'000'000}; }
constexpr Duration seconds(std::int64_t n) { return {n * 1'000'000'000}; }
constexpr Duration minutes(std::int64_t n) { return seconds(n * 60); }
constexpr Duration hours(std::int64_t n) { return minutes(n * 60); }

/// A moment of the log: nanoseconds since 1970-01-01T00:00:00Z.
struct LogTime {
  std::int64_t ns = 0;

  friend auto operator<=>(LogTime, LogTime) = default;
};

/// Later than every other LogTime: "no deadline".
inline constexpr LogTime kForever{INT64_MAX};

/// `time + span`, staying at kForever instead of overflowing.
constexpr LogTime operator+(LogTime time, Duration span) {
  return time.ns > INT64_MAX - span.ns ? kForever : LogTime{time.ns + span.ns};
}
constexpr Duration operator-(LogTime later, LogTime earlier) { return {later.ns - earlier.ns}; }

/// RFC 3339 in UTC; fractional digits only where there are some (up to 9, trailing zeros dropped):
/// `2026-01-01T00:00:15Z`, `2026-01-01T00:00:15.25Z`.
std::string to_rfc3339(LogTime time);
/// Reads RFC 3339 with any offset and up to 9 fractional digits; nullopt if it is none.
std::optional<LogTime> parse_rfc3339(std::string_view text);

/// As Go prints a duration: `0s`, `15s`, `1m30s`, `1h0m0s`, `250ms`.
std::string to_go_duration(Duration span);
/// As Go reads one (`15s`, `1h30m`, `1.5s`, `250ms`), without a sign; nullopt if it is none or too
/// long.
std::optional<Duration> parse_go_duration(std::string_view text);

/// Where the shell gets time from. Two implementations: the machine's clock and a virtual one.
class Clock {
 public:
  virtual ~Clock() = default;
  /// The present moment; may go back (an operator sets a clock): the log does not.
  virtual LogTime now() = 0;
};

}  // namespace fairlead
