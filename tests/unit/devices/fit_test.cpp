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

}  // namespace
}  // namespace fairlead
