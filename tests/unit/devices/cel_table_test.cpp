// Runs the tables of tests/unit/devices/cel/: devices, and what expressions say of them.
//
//   device NAME            a new device; the lines below it say what it publishes
//   driver D
//   attribute NAME VALUE   as DeviceAttributes has it: the type's letter, then the text
//   capacity NAME QUANTITY
//   shared                 allowMultipleAllocations
//   yes EXPRESSION         the verdict (yes, no, error, unsupported) on the device above
//     TEXT                 what is said of an error, or of what is not supported
//
// A verdict with a star is known to differ from what the library of Kubernetes says, which
// tests/conformance/test_cel.py asks; with a tilde, the library answers by chance. The comment
// above it says why.
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "engine/devices/cel.h"

using namespace fairlead;

namespace {

std::string word_of(SelectorVerdict verdict) {
  switch (verdict) {
    case SelectorVerdict::no: return "no";
    case SelectorVerdict::yes: return "yes";
    case SelectorVerdict::error: return "error";
    case SelectorVerdict::unsupported: return "unsupported";
  }
  return "";
}

/// Removes the first word of a line and returns it.
std::string take_word(std::string& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string word = line.substr(0, end);
  line.erase(0, std::min(end + 1, line.size()));
  return word;
}

/// Reads the lines of one table.
class CelTable {
 public:
  void read(std::string line) {
    if (line.starts_with("  ")) {
      const std::string said = line.substr(2);
      CHECK(said == said_);
      return;
    }
    if (line.empty() || line.starts_with('#')) return;
    const std::string word = take_word(line);
    if (word == "device") {
      driver_.clear();
      attributes_.clear();
      device_ = {};
    } else if (word == "driver") {
      driver_ = line;
    } else if (word == "attribute") {
      attributes_[take_word(line)] = line;
      device_.attributes = attributes_;
    } else if (word == "capacity") {
      const std::string name = take_word(line);
      capacities_.push_back({name, Quantity::parse(line).value(), {}});
      device_.capacity = capacities_;
    } else if (word == "shared") {
      device_.extras.emplace().shared = true;
    } else {
      expect(word.substr(0, word.find_first_of("*~")), line);
    }
  }
  int cases() const { return cases_; }
  int alike() const { return alike_; }

 private:
  void expect(const std::string& verdict, const std::string& expression) {
    ++cases_;
    const auto selector = CelSelector::compile(expression);
    std::string why;
    const auto said = selector.evaluate(driver_, device_, why);
    CHECK(word_of(said) == verdict);
    CHECK(selector.evaluate(driver_, device_) == said);
    CHECK(selector.supported() == (said != SelectorVerdict::unsupported));
    CHECK(selector.supported() == selector.unsupported().empty());
    CHECK(why.empty() == (said != SelectorVerdict::error));
    said_ = selector.supported() ? why : selector.unsupported();
    if (selector.supported()) expect_of_others(selector, said);
  }
  // A device that lacks one of its parts and looks the same to the expression has its verdict.
  void expect_of_others(const CelSelector& selector, SelectorVerdict said) {
    const std::string seen = selector.seen_of(driver_, device_);
    const auto expect_of = [&](const DeviceFacts& other) {
      if (selector.seen_of(driver_, other) != seen) return;
      ++alike_;
      CHECK(selector.evaluate(driver_, other) == said);
    };
    for (const auto& [name, value] : attributes_) {
      auto fewer = attributes_;
      fewer.erase(name);
      DeviceFacts other = device_;
      other.attributes = fewer;
      expect_of(other);
    }
    for (std::size_t i = 0; i < device_.capacity.size(); ++i) {
      auto fewer = capacities_;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      DeviceFacts other = device_;
      other.capacity = fewer;
      expect_of(other);
    }
    DeviceFacts other = device_;
    other.extras.reset();
    expect_of(other);
  }

  std::string driver_;
  std::map<std::string, std::string> attributes_;
  std::vector<DeviceCapacity> capacities_;
  DeviceFacts device_;
  std::string said_;
  int cases_ = 0;
  int alike_ = 0;  // devices that looked the same as another one
};

CelTable run_table(const std::filesystem::path& path) {
  CelTable table;
  std::ifstream in(path);
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    INFO(path.filename().string() << ":" << number << ": " << line);
    table.read(line);
  }
  return table;
}

}  // namespace

TEST_CASE("Expressions say of devices what the tables have") {
  int cases = 0, alike = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/unit/devices/cel")) {
    const CelTable table = run_table(entry.path());
    cases += table.cases();
    alike += table.alike();
  }
  CHECK(cases > 800);
  CHECK(alike > 800);
}
