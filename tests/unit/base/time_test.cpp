#include "engine/base/time.h"

#include <catch2/catch.hpp>

namespace fairlead {
namespace {

TEST_CASE("A log time prints as RFC 3339 with the fractional digits it has") {
  CHECK(to_rfc3339({0}) == "1970-01-01T00:00:00Z");
  CHECK(to_rfc3339({1767225615'000000000}) == "2026-01-01T00:00:15Z");
  CHECK(to_rfc3339({1767225615'250000000}) == "2026-01-01T00:00:15.25Z");
  CHECK(to_rfc3339({1767225615'000000001}) == "2026-01-01T00:00:15.000000001Z");
  CHECK(to_rfc3339({951782400'000000000}) == "2000-02-29T00:00:00Z");
  CHECK(to_rfc3339({-1}) == "1969-12-31T23:59:59.999999999Z");
  CHECK(to_rfc3339(kForever) == "2262-04-11T23:47:16.854775807Z");
  CHECK(to_rfc3339({INT64_MIN}) == "1677-09-21T00:12:43.145224192Z");
}

TEST_CASE("RFC 3339 is read with any offset and up to nine fractional digits") {
  CHECK(parse_rfc3339("2026-01-01T00:00:15Z") == LogTime{1767225615'000000000});
  CHECK(parse_rfc3339("2026-01-01T02:00:15+02:00") == LogTime{1767225615'000000000});
  CHECK(parse_rfc3339("2025-12-31T16:30:15-07:30") == LogTime{1767225615'000000000});
  CHECK(parse_rfc3339("2026-01-01T00:00:15.123456789Z") == LogTime{1767225615'123456789});
  CHECK(parse_rfc3339("2026-01-01t00:00:15.5z") == LogTime{1767225615'500000000});
  CHECK(parse_rfc3339("1969-12-31T23:59:59.999999999Z") == LogTime{-1});
}

TEST_CASE("A time that is none is refused") {
  for (const char* text : {"",
                           "now",
                           "2026-01-01",
                           "2026-01-01T00:00:15",
                           "2026-01-01 00:00:15Z",
                           "2026-13-01T00:00:15Z",
                           "2026-02-29T00:00:15Z",
                           "2026-01-00T00:00:00Z",
                           "2026-01-01T24:00:00Z",
                           "2026-01-01T00:60:00Z",
                           "2026-01-01T00:00:60Z",
                           "2026-01-01T00:00:15.Z",
                           "2026-01-01T00:00:15.1234567890Z",
                           "2026-01-01T00:00:15+2:00",
                           "2026-01-01T00:00:15+24:00",
                           "2026-01-01T00:00:15Zx",
                           "1600-01-01T00:00:00Z",
                           "9999-01-01T00:00:00Z",
                           "2262-04-11T23:47:16.854775807Z",
                           "-026-01-01T00:00:15Z"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_rfc3339(text));
  }
}

TEST_CASE("Every day of eight centuries survives printing and reading") {
  int days = 0;
  for (std::int64_t ns = INT64_MIN + 1; ns < INT64_MAX - 86400'000000000; ns += 86400'000000000) {
    const auto again = parse_rfc3339(to_rfc3339({ns}));
    if (again != LogTime{ns}) FAIL_CHECK(to_rfc3339({ns}));
    ++days;
  }
  CHECK(days > 200000);
}

TEST_CASE("Durations print as Go prints them") {
  CHECK(to_go_duration({0}) == "0s");
  CHECK(to_go_duration(seconds(15)) == "15s");
  CHECK(to_go_duration(seconds(90)) == "1m30s");
  CHECK(to_go_duration(hours(1)) == "1h0m0s");
  CHECK(to_go_duration(minutes(5)) == "5m0s");
  CHECK(to_go_duration(milliseconds(250)) == "250ms");
  CHECK(to_go_duration(milliseconds(1500)) == "1.5s");
  CHECK(to_go_duration({1}) == "1ns");
  CHECK(to_go_duration({1500}) == "1.5\u00b5s");
  CHECK(to_go_duration({1'000'001}) == "1.000001ms");
  CHECK(to_go_duration(seconds(-90)) == "-1m30s");
  CHECK(to_go_duration({INT64_MIN}) == "-2562047h47m16.854775808s");
  CHECK(to_go_duration({INT64_MAX}) == "2562047h47m16.854775807s");
}

TEST_CASE("Durations are read as Go reads them, without a sign") {
  CHECK(parse_go_duration("0") == Duration{0});
  CHECK(parse_go_duration("0s") == Duration{0});
  CHECK(parse_go_duration("15s") == seconds(15));
  CHECK(parse_go_duration("1h30m") == minutes(90));
  CHECK(parse_go_duration("1.5s") == milliseconds(1500));
  CHECK(parse_go_duration(".5s") == milliseconds(500));
  CHECK(parse_go_duration("1.s") == seconds(1));
  CHECK(parse_go_duration("250ms") == milliseconds(250));
  CHECK(parse_go_duration("3us") == Duration{3000});
  CHECK(parse_go_duration("3\u00b5s") == Duration{3000});
  CHECK(parse_go_duration("3\u03bcs") == Duration{3000});
  CHECK(parse_go_duration("7ns") == Duration{7});
  CHECK(parse_go_duration("1m1h") == minutes(61));
  CHECK(parse_go_duration("2562047h47m16.854775807s") == Duration{INT64_MAX});
  CHECK(parse_go_duration("0.3333333333333333333h") == Duration{1'199'999'999'999});
}

TEST_CASE("A duration that is none, is signed or does not fit is refused") {
  for (const char* text : {"", "s", "15", "15 s", "-15s", "+15s", ".s", "1.5", "1x", "1h-1m", "h1",
                           "2562047h47m16.854775808s", "99999999999999999999h", "1d"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_go_duration(text));
  }
}

TEST_CASE("Adding to a time stops at forever") {
  CHECK(LogTime{5} + Duration{7} == LogTime{12});
  CHECK(kForever + seconds(1) == kForever);
  CHECK(LogTime{INT64_MAX - 1} + Duration{2} == kForever);
}

}  // namespace
}  // namespace fairlead
