// Scenarios: text files that read as documents. One file is one case: a title, the input of
// `fairlead plan`, `----`, and what it must write.
//
//   # A title in prose, as many lines as it takes.
//   args: --set debounce.growWindow=0s --no-feedback --until 1970-01-01T00:10:00Z
//   show: ClusterQueue ManifestWork status state
//   include: base.yaml
//   <YAML documents and JSON lines, exactly as `fairlead plan` reads them>
//   ----
//   <expected lines>
//
// `show:` chooses what is printed: kinds of written objects (default: all), `status` for statuses
// too (of a claim: conditions that are not as usual, and grants), `raw` for the bodies as sent,
// `state` for the objects at the end instead of the writes. FAIRLEAD_REWRITE=1 writes what came out
// into the files; its diff is for a person to read, never to commit unread.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "connectors/kube/object_input.h"
#include "engine/fold/evolve.h"
#include "engine/log/memory_log.h"
#include "engine/runtime/configuration.h"
#include "replay/rehearsal.h"
#include "snapshots/state_codec.h"
#include "tests/scenarios/rendering.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;
const fs::path kFolder = "tests/scenarios";

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

struct Scenario {
  std::string head;  ///< everything before the expected part, with the `----`
  std::string expected;
  std::string input;
  std::vector<std::string> arguments;
  std::set<std::string> show;
};

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

bool takes(const std::string& line, const std::string& directive, std::string& rest) {
  if (line.rfind(directive, 0) != 0) return false;
  rest = line.substr(directive.size());
  return true;
}

Scenario read_scenario(const fs::path& path) {
  Scenario scenario;
  std::istringstream in(contents(path));
  std::string line;
  std::string rest;
  bool in_head = true;
  while (std::getline(in, line)) {
    scenario.head += line + "\n";
    if (line == "----") break;
    if (in_head && line.rfind('#', 0) == 0) continue;
    if (takes(line, "args:", rest)) {
      for (std::string& word : words(rest)) scenario.arguments.push_back(std::move(word));
    } else if (takes(line, "show:", rest)) {
      for (std::string& word : words(rest)) scenario.show.insert(std::move(word));
    } else if (takes(line, "include:", rest)) {
      for (const std::string& file : words(rest)) scenario.input += contents(kFolder / file);
    } else {
      scenario.input += line + "\n";
      in_head = in_head && line.empty();
    }
  }
  std::ostringstream expected;
  expected << in.rdbuf();
  scenario.expected = expected.str();
  return scenario;
}

Result<RehearsalOptions> options_of(const Scenario& scenario) {
  RehearsalOptions options;
  const std::vector<std::string>& arguments = scenario.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--no-feedback") {
      options.feedback = Feedback::none;
    } else if (arguments[i] == "--set" && i + 1 < arguments.size()) {
      if (auto set = apply_setting(options.configuration, arguments[++i]); !set) return set.error();
    } else if (arguments[i] == "--until" && i + 1 < arguments.size()) {
      options.until = parse_rfc3339(arguments[++i]);
      REQUIRE(options.until);
    } else {
      FAIL("unknown argument " << arguments[i]);
    }
  }
  return options;
}

Result<std::string> run(const Scenario& scenario, MemoryLog& log) {
  auto options = options_of(scenario);
  if (!options) return options.error();
  std::vector<InputLine> lines;
  if (auto read = read_objects_text(scenario.input, "input", lines); !read) return read.error();
  Rehearsal rehearsal(log, std::move(*options));
  if (auto done = rehearsal.run(lines); !done) return done.error();
  return render(rehearsal, scenario.show);
}

std::vector<fs::path> scenario_files() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

TEST_CASE("scenarios: every file's writes are as it says") {
  const std::vector<fs::path> files = scenario_files();
  REQUIRE_FALSE(files.empty());
  for (const fs::path& path : files) {
    DYNAMIC_SECTION(path.stem().string()) {
      const Scenario scenario = read_scenario(path);
      REQUIRE(scenario.head.size() > 5);
      MemoryLog log;
      const auto printed = run(scenario, log);
      const std::string text = printed ? *printed : "error: " + printed.error().message + "\n";
      if (std::getenv("FAIRLEAD_REWRITE") != nullptr) {
        std::ofstream(path, std::ios::binary) << scenario.head << text;
      }
      INFO(path.string());
      CHECK(text == scenario.expected);
    }
  }
}

// Folds `log`, going through a snapshot after every event that `through` names.
template <class Through>
State fold(const MemoryLog& log, Through through) {
  State state;
  Touched touched;
  auto reader = log.read(Seq{1});
  REQUIRE(reader.has_value());
  for (;;) {
    auto event = (*reader)->next();
    REQUIRE(event.has_value());
    if (!*event) return state;
    evolve(state, **event, touched);
    if (!through((*event)->seq)) continue;
    auto again = decode_state(encode_state(state));
    REQUIRE(again.has_value());
    REQUIRE((*again == state));
    state = std::move(*again);
  }
}

TEST_CASE("scenarios: a snapshot at any event, or at every event, changes nothing") {
  for (const fs::path& path : scenario_files()) {
    INFO(path.string());
    MemoryLog log;
    (void)run(read_scenario(path), log);
    const std::string whole = encode_state(fold(log, [](Seq) { return false; }));
    CHECK(encode_state(fold(log, [](Seq) { return true; })) == whole);
    CHECK(encode_state(fold(log, [](Seq seq) { return seq.value % 7 == 3; })) == whole);
  }
}

}  // namespace
}  // namespace fairlead
