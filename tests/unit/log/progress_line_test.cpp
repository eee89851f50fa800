#include "engine/main/client/progress_line.h"

#include <catch2/catch.hpp>
#include <sstream>

namespace fairlead {
namespace {

using Millis = std::chrono::milliseconds;
constexpr ProgressLine::Time kBegin{};

TEST_CASE("work of up to a second shows no line") {
  std::ostringstream out;
  {
    ProgressLine line(out, "", kBegin);
    line.show(1000, 4000, kBegin + Millis(10));
    line.show(4000, 4000, kBegin + Millis(999));
  }
  CHECK(out.str().empty());
}

TEST_CASE("longer work shows how far it has come, in one line, which is gone at the end") {
  std::ostringstream out;
  {
    ProgressLine line(out, "folding: ", kBegin);
    line.show(1000, 8000, kBegin + Millis(500));
    line.show(3000, 8000, kBegin + Millis(1500));
    CHECK(out.str() == "\r\033[Kfolding: 3000 of 8000 events (37%), 2000/s, 3 s left");
    line.show(3500, 8000, kBegin + Millis(1699));
    line.show(4000, 8000, kBegin + Millis(1700));
    CHECK(out.str().ends_with(
        "3 s left\r\033[Kfolding: 4000 of 8000 events (50%), 2500/s, 2 s left"));
  }
  CHECK(out.str().ends_with("2 s left\r\033[K"));
  CHECK(out.str().find('\n') == std::string::npos);
}

TEST_CASE("no events and no time divide nothing") {
  std::ostringstream out;
  ProgressLine line(out, "", kBegin);
  line.show(0, 0, kBegin + Millis(1000));
  CHECK(out.str() == "\r\033[K0 of 0 events (100%), 0/s");
}

TEST_CASE("before it is known how far work is, the line says how long it takes") {
  std::ostringstream out;
  {
    ProgressLine line(out, "folding: ", kBegin);
    line.wait(kBegin + Millis(900));
    CHECK(out.str().empty());
    line.wait(kBegin + Millis(2900));
    CHECK(out.str() == "\r\033[Kfolding: 2 s");
    line.show(1000, 1'000'000, kBegin + Millis(3000));
    line.show(2000, 1'000'000, kBegin + Millis(4000));
  }
  CHECK(out.str().find("2000 of 1000000 events (0%), 1000/s, 17 min left") != std::string::npos);
  CHECK(out.str().ends_with("\r\033[K"));
}

TEST_CASE("a second walk has a rate of its own") {
  std::ostringstream out;
  ProgressLine line(out, "", kBegin);
  line.show(9000, 10'000, kBegin + Millis(1000));
  line.show(1000, 10'000, kBegin + Millis(2000));
  line.show(2000, 10'000, kBegin + Millis(3000));
  CHECK(out.str().ends_with("2000 of 10000 events (20%), 1000/s, 8 s left"));
}

}  // namespace
}  // namespace fairlead
