// Scenarios: text files that read as documents. One file is one case: a title, the input of
// `fairlead plan`, `----` (scenario_file.h), and what it must write.
//
// `show:` chooses what is printed: kinds of written objects (default: all), `status` for statuses
// too (of a claim: conditions that are not as usual, and grants), `raw` for the bodies as sent,
// `state` for the objects at the end instead of the writes. FAIRLEAD_REWRITE=1 writes what came out
// into the files; its diff is for a person to read, never to commit unread.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "engine/fold/evolve.h"
#include "engine/log/memory_log.h"
#include "snapshots/state_codec.h"
#include "tests/scenarios/rendering.h"
#include "tests/scenarios/scenario_file.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

struct Scenario {
  ScenarioHead head;
  std::string expected;
};

Scenario read_scenario(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  REQUIRE(in);
  Scenario scenario{read_head(in), ""};
  std::ostringstream expected;
  expected << in.rdbuf();
  scenario.expected = expected.str();
  return scenario;
}

/// What a scenario printed, and the State that its last plan was made of.
struct Ran {
  std::string text;
  State state;
};

Result<Ran> run(const Scenario& scenario, MemoryLog& log) {
  auto options = options_of(scenario.head);
  if (!options) return options.error();
  const auto lines = lines_of(scenario.head);
  if (!lines) return lines.error();
  DryRun dry_run(log, std::move(*options));
  if (auto done = dry_run.run(*lines); !done) return done.error();
  return Ran{render(dry_run, scenario.head.show), dry_run.state()};
}

TEST_CASE("scenarios: every file's writes are as it says") {
  const std::vector<fs::path> files = scenario_files();
  REQUIRE_FALSE(files.empty());
  for (const fs::path& path : files) {
    DYNAMIC_SECTION(scenario_name(path)) {
      const Scenario scenario = read_scenario(path);
      REQUIRE(scenario.head.text.size() > 5);
      MemoryLog log;
      const auto ran = run(scenario, log);
      const std::string text = ran ? ran->text : "error: " + ran.error().message + "\n";
      if (std::getenv("FAIRLEAD_REWRITE") != nullptr) {
        std::ofstream(path, std::ios::binary) << scenario.head.text << text;
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
  DirtySet dirty;
  auto reader = log.read(Seq{1});
  REQUIRE(reader.has_value());
  for (;;) {
    auto event = (*reader)->next();
    REQUIRE(event.has_value());
    if (!*event) return state;
    evolve(state, **event, dirty);
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
    const auto ran = run(read_scenario(path), log);
    const std::string whole = encode_state(fold(log, [](Seq) { return false; }));
    CHECK(encode_state(fold(log, [](Seq) { return true; })) == whole);
    CHECK(encode_state(fold(log, [](Seq seq) { return seq.value % 7 == 3; })) == whole);
    if (!ran) continue;
    // Whoever folds the log again, as `snapshot take` and `replay --verify` do, closes its moments
    // where the plan did.
    State again = fold(log, [](Seq) { return false; });
    DirtySet dirty;
    close_moment(again, dirty);
    CHECK(encode_state(again) == encode_state(ran->state));
  }
}

}  // namespace
}  // namespace fairlead
