#include "engine/main/client/time_text.h"

#include <catch2/catch.hpp>

#include "engine/main/client/position.h"

namespace fairlead {
namespace {

LogTime at(const char* text) { return *parse_rfc3339(text); }

// Of a hub at 14:30; its last event was at 14:17:05.
TimeFrame frame(TimeZone zone = {}) {
  return {at("2026-11-21T14:30:00Z"), at("2026-11-21T14:17:05Z"), zone};
}

std::string read(std::string_view text, const TimeFrame& in = frame()) {
  const auto time = read_time(text, in);
  return time ? to_rfc3339(*time) : "none";
}

TEST_CASE("times are read as people say them") {
  CHECK(read("now") == "2026-11-21T14:30:00Z");
  CHECK(read("end") == "2026-11-21T14:17:05Z");
  CHECK(read("-2h") == "2026-11-21T12:30:00Z");
  CHECK(read("now-90s") == "2026-11-21T14:28:30Z");
  CHECK(read("end-2h") == "2026-11-21T12:17:05Z");
  CHECK(read("-3d") == "2026-11-18T14:30:00Z");
  CHECK(read("-1d12h") == "2026-11-20T02:30:00Z");
  CHECK(read("14:07") == "2026-11-21T14:07:00Z");
  CHECK(read("14:07:30.25") == "2026-11-21T14:07:30.25Z");
  CHECK(read("today") == "2026-11-21T00:00:00Z");
  CHECK(read("yesterday") == "2026-11-20T00:00:00Z");
  CHECK(read("yesterday 23:00") == "2026-11-20T23:00:00Z");
  CHECK(read("2026-11-21") == "2026-11-21T00:00:00Z");
  CHECK(read("2026-11-21 14:07") == "2026-11-21T14:07:00Z");
  CHECK(read("2026-11-21T14:07") == "2026-11-21T14:07:00Z");
  CHECK(read("2026-11-21T14:07:00+01:00") == "2026-11-21T13:07:00Z");
  CHECK(read("-90000d") == "none");
  CHECK(read("-2000h") == "2026-08-30T06:30:00Z");
}

TEST_CASE("a time of day that is more than an hour ahead was yesterday") {
  CHECK(read("15:00") == "2026-11-21T15:00:00Z");
  CHECK(read("23:50") == "2026-11-20T23:50:00Z");
  // On 2026-01-01 yesterday is another year's.
  const LogTime midnight = at("2026-01-01T00:10:00Z");
  CHECK(read("23:50", {midnight, midnight, {}}) == "2025-12-31T23:50:00Z");
}

TEST_CASE("what is no time is not read as one") {
  for (const char* text :
       {"", "noon", "14", "14:7", "25:00", "2026-11-31", "2026-11-21 ", "nowhere", "end+2h", "-",
        "-2", "-x", "yesterday14:07", "2026-11-21x14:07", "Z"})
    CHECK(read(text) == "none");
}

TEST_CASE("a zone's times are read and shown with its offset, in summer and in winter") {
  const auto zone = choose_time_zone("Europe/Berlin");
  REQUIRE(zone.has_value());
  const TimeFrame berlin = frame(*zone);
  CHECK(read("14:07", berlin) == "2026-11-21T13:07:00Z");
  CHECK(read("2026-07-01 14:07", berlin) == "2026-07-01T12:07:00Z");
  CHECK(read("2026-11-21", berlin) == "2026-11-20T23:00:00Z");
  // An offset that is written counts instead.
  CHECK(read("14:07Z", berlin) == "2026-11-21T14:07:00Z");
  CHECK(read("14:07+02:00", berlin) == "2026-11-21T12:07:00Z");
  CHECK(read("yesterday-05:00", berlin) == "2026-11-20T05:00:00Z");
  CHECK(to_text(at("2026-07-01T12:07:00.5Z"), *zone) == "2026-07-01T14:07:00.5+02:00");
  CHECK(in_zone("from 2026-11-21T14:07:00.123Z (seq 5) to 1970-01-01T00:00:00Z", *zone) ==
        "from 2026-11-21T15:07:00.123+01:00 (seq 5) to 1970-01-01T01:00:00+01:00");
  CHECK(in_zone("2026-13-21T14:07:00Z 2026-11-21T14:07:00", *zone) ==
        "2026-13-21T14:07:00Z 2026-11-21T14:07:00");
  // What is shown is read back, also where the zone is not known.
  CHECK(read("2026-11-21T15:07:00.123+01:00") == "2026-11-21T14:07:00.123Z");
  CHECK(with_offset("14:07", berlin) == "14:07+01:00");
  CHECK(with_offset("yesterday", berlin) == "yesterday+01:00");
  CHECK(with_offset("2026-07-01 14:07", berlin) == "2026-07-01T14:07:00+02:00");
  for (const char* same : {"seq:12", "12", "-2h", "now", "14:07Z", "noon", ""})
    CHECK(with_offset(same, berlin) == same);
  CHECK_FALSE(choose_time_zone("Europe/Nowhere").has_value());
  CHECK_FALSE(choose_time_zone("../../../etc/passwd").has_value());
}

TEST_CASE("which moment was taken is said of times that were not written in full") {
  CHECK(note_of({{"--from", "seq:3"}, {"--to", "2026-11-21T14:07:00Z"}}, frame()) == "");
  CHECK(note_of({{"--from", "yesterday"}, {"--to", "-2h"}}, frame()) ==
        "--from yesterday is 2026-11-20T00:00:00Z, --to -2h is 2026-11-21T12:30:00Z");
}

}  // namespace
}  // namespace fairlead
