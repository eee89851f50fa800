// The search for devices, case by case: tests/unit/devices/fit/*.txt, whose README has the
// language.
#include "engine/devices/fit.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/unit/devices/fit_world.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

struct Case {
  std::string title;
  std::vector<std::string> lines;
  std::string expected;
};

// Cases are separated by blank lines. One without `----` is the beginning of all cases after it.
std::vector<Case> cases_of(const fs::path& path) {
  std::ifstream file(path);
  std::vector<Case> cases;
  std::vector<std::string> beginning;
  Case next;
  bool answered = false;
  const auto end_case = [&] {
    if (answered)
      cases.push_back(next);
    else
      beginning = next.lines;
    next = {{}, beginning, {}};
    answered = false;
  };
  for (std::string line; std::getline(file, line);) {
    if (line.empty()) {
      end_case();
    } else if (line == "----") {
      answered = true;
    } else if (line.starts_with("# ")) {
      next.title += (next.title.empty() ? "" : " ") + line.substr(2);
    } else if (answered) {
      next.expected += line + "\n";
    } else {
      next.lines.push_back(line);
    }
  }
  end_case();
  return cases;
}

std::vector<fs::path> files() {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator("tests/unit/devices/fit"))
    if (entry.path().extension() == ".txt") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

TEST_CASE("the search answers as the worlds in fit/ say") {
  REQUIRE(files().size() > 5);
  for (const fs::path& path : files())
    for (const Case& one : cases_of(path)) {
      INFO(path.filename().string() << ": " << one.title);
      FitWorld world;
      for (const std::string& line : one.lines) world.read(line);
      CHECK(world.answer() == one.expected);
    }
}

// A solution, and what became of it.
class Reserved {
 public:
  Reserved() {
    for (const char* line : {"class gpu", "node a", "slice s0 p of=2 on=a set:s{mem=3}",
                             "slice s1 p of=2 on=a d1{set:s.mem=1} d2{set:s.mem=1} d3{set:s.mem=1}",
                             "slice s2 q on=a d1{mem=8Gi,shared}", "pods main count=2", "entry e",
                             "request r class=gpu", "request s class=gpu"})
      world_.read(line);
    pods_ = fit(world_.devices(), world_.question()).pods;
  }
  bool still_fits_after(const std::string& line) {
    world_.read(line);
    return still_fits(world_.devices(), world_.question(), pods_);
  }
  std::vector<FitPod>& pods() { return pods_; }

 private:
  FitWorld world_;
  std::vector<FitPod> pods_;
};

TEST_CASE("a solution can be taken again while nothing that it needs has changed") {
  Reserved reserved;
  REQUIRE(reserved.pods().size() == 2);
  CHECK(reserved.still_fits_after("node a zone=x"));
  CHECK(reserved.still_fits_after("slice s3 r on=a d9"));
  CHECK(reserved.still_fits_after("slice s2 q on=a d1{mem=9Gi,shared}"));
}

TEST_CASE("it cannot when a device of it is used, tainted or gone, or its node unfit") {
  for (const char* line :
       {"used c p/d2", "rule r device=d3 taint:bad:NoSchedule",
        "slice s1 p of=2 on=a d1{set:s.mem=1} d2{set:s.mem=1}",
        "slice s1 p of=2 on=a d1{set:s.mem=1} d2{set:s.mem=1} d3{set:s.mem=2}",
        "slice s1 p of=3 on=a d1 d2 d3", "slice s2 q on=a d1{mem=4Gi,taint:bad:NoExecute,shared}",
        "class gpu when device.driver != \"d\"", "used c q/d1{mem=1Gi}", "node a cordoned",
        "slice s1 p of=2 on=b d1 d2 d3"}) {
    INFO(line);
    CHECK_FALSE(Reserved().still_fits_after(line));
  }
}

TEST_CASE("what a device plugin serves can be taken again while it is there") {
  const auto still_fits_after = [](const char* line) {
    FitWorld world;
    for (const char* each : {"class gpu gives=x.org/gpu", "node a offers:x.org/gpu=8",
                             "slice s p on=a d1 d2", "pods main count=2", "resource x.org/gpu=3"})
      world.read(each);
    const auto pods = fit(world.devices(), world.question()).pods;
    REQUIRE(plugin_uses_of(pods) ==
            std::vector<PluginUse>{{"a", "x.org/gpu", 3}, {"a", "x.org/gpu", 3}});
    world.read(line);
    return still_fits(world.devices(), world.question(), pods);
  };
  CHECK(still_fits_after("node a offers:x.org/gpu=6"));
  CHECK_FALSE(still_fits_after("node a offers:x.org/gpu=5"));
  CHECK_FALSE(still_fits_after("node a"));
  CHECK(still_fits_after("reserved other a:x.org/gpu=2"));
  CHECK_FALSE(still_fits_after("reserved other a:x.org/gpu=3"));
}

TEST_CASE("what was given up of a solution does not matter to the rest") {
  Reserved reserved;
  REQUIRE(reserved.pods().size() == 2);
  reserved.pods().pop_back();
  CHECK(reserved.still_fits_after("used c p/d3 q/d1{mem=8Gi}"));
  reserved.pods()[0].claims[0].devices.pop_back();
  CHECK(reserved.still_fits_after("used c p/d2 p/d3 q/d1{mem=8Gi}"));
}

}  // namespace
}  // namespace fairlead
