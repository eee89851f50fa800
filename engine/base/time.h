// Log time: the only time in the core.
//
// LogTime and Duration are integers of nanoseconds, LogTime since the Unix epoch in UTC. Only the
// drivers around the core read a Clock.
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

/// The time of an event: nanoseconds since 1970-01-01T00:00:00Z.
struct LogTime {
  std::int64_t ns = 0;

  friend auto operator<=>(LogTime, LogTime) = default;
};

/// Later than every other LogTime: "no deadline".
inline constexpr LogTime kForever{INT64_MAX};

/// Returns `time + span`; kForever instead of overflowing. `span` must not be negative.
constexpr LogTime operator+(LogTime time, Duration span) {
  return time.ns > INT64_MAX - span.ns ? kForever : LogTime{time.ns + span.ns};
}
constexpr Duration operator-(LogTime later, LogTime earlier) { return {later.ns - earlier.ns}; }

/// Prints RFC 3339 in UTC with up to 9 fractional digits, without trailing zeros:
/// `2026-01-01T00:00:15Z`, `2026-01-01T00:00:15.25Z`.
std::string to_rfc3339(LogTime time);
/// Reads RFC 3339 with any offset and up to 9 fractional digits; nullopt if it is none.
std::optional<LogTime> parse_rfc3339(std::string_view text);

/// Prints a duration as Go does: `0s`, `15s`, `1m30s`, `1h0m0s`, `250ms`.
std::string to_go_duration(Duration span);
/// Parses a duration as Go does (`15s`, `1h30m`, `1.5s`, `250ms`), without a sign; nullopt if it is
/// malformed or does not fit.
std::optional<Duration> parse_go_duration(std::string_view text);

/// The drivers' source of time. Two implementations: the machine's clock and a virtual one.
class Clock {
 public:
  virtual ~Clock() = default;
  /// Returns the current time. It may go back when an operator sets the clock; log time does not.
  virtual LogTime now() = 0;
};

}  // namespace fairlead
