#include "engine/runtime/progress_line.h"

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
    CHECK(out.str() == "\r\033[Kfolding: 3000 of 8000 events (37%), 2000/s");
    line.show(3500, 8000, kBegin + Millis(1699));
    line.show(4000, 8000, kBegin + Millis(1700));
    CHECK(out.str().ends_with("2000/s\r\033[Kfolding: 4000 of 8000 events (50%), 2500/s"));
  }
  CHECK(out.str().ends_with("2500/s\r\033[K"));
  CHECK(out.str().find('\n') == std::string::npos);
}

TEST_CASE("no events and no time divide nothing") {
  std::ostringstream out;
  ProgressLine line(out, "", kBegin);
  line.show(0, 0, kBegin + Millis(1000));
  CHECK(out.str() == "\r\033[K0 of 0 events (100%), 0/s");
}

}  // namespace
}  // namespace fairlead
