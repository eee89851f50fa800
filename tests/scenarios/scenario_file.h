// The head of a scenario file: everything before `----`. Scenarios of the plan and of `audit` share
// it; what follows differs.
//
//   # A title in prose, as many lines as it takes.
//   args: --set debounce.growWindow=0s --no-feedback --until 1970-01-01T00:10:00Z
//   show: ClusterQueue status        (what is printed; of the plan's scenarios)
//   include: small.yaml              (an input file in tests/scenarios)
//   scenario: works/member-queue.txt (arguments and input of a file in tests/scenarios)
//   <facts in words, and YAML or JSON as `fairlead plan` reads it: README.md>
//   ----
#pragma once

#include <filesystem>
#include <istream>
#include <set>
#include <string>
#include <vector>

#include "engine/log/event_log.h"
#include "replay/dry_run.h"

namespace fairlead {

struct ScenarioHead {
  std::string text;  ///< as in the file, with the `----`
  std::string input;
  std::vector<std::string> arguments;
  std::set<std::string> show;
};

/// The files of tests/scenarios, in order of their paths.
const std::vector<std::filesystem::path>& scenario_files();
/// `capacity/headroom` of a file.
std::string scenario_name(const std::filesystem::path& file);

/// Reads up to and with `----`; `in` is behind it then.
ScenarioHead read_head(std::istream& in);
/// The head of `file` in tests/scenarios.
ScenarioHead head_of_scenario(const std::string& file);

/// What its arguments say; bad_input for a setting that is refused.
Result<DryRunOptions> options_of(const ScenarioHead& head);
/// The input's lines; bad_input if it is not understood.
Result<std::vector<InputLine>> lines_of(const ScenarioHead& head);

/// The words of a line.
std::vector<std::string> words(const std::string& text);

}  // namespace fairlead
