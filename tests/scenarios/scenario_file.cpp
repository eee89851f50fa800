#include "tests/scenarios/scenario_file.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "connectors/kube/document/object_input.h"
#include "engine/runtime/configuration.h"
#include "tests/scenarios/language/language.h"

namespace fairlead {
namespace {

const std::filesystem::path kScenarios = "tests/scenarios";

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  INFO(path.string());
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool takes(const std::string& line, const std::string& directive, std::string& rest) {
  if (!line.starts_with(directive)) return false;
  rest = line.substr(directive.size());
  return true;
}

}  // namespace

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

const std::vector<std::filesystem::path>& scenario_files() {
  // Catch2 runs a test from its beginning for each of its sections, of which every file is one.
  static const std::vector<std::filesystem::path> found = [] {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(kScenarios))
      if (entry.path().extension() == ".txt" && entry.path().stem() != "CMakeLists")
        files.push_back(entry.path());
    std::sort(files.begin(), files.end());
    return files;
  }();
  return found;
}

std::string scenario_name(const std::filesystem::path& file) {
  return file.lexically_relative(kScenarios).replace_extension().string();
}

ScenarioHead read_head(std::istream& in) {
  ScenarioHead head;
  std::string line, rest;
  bool in_title = true;  // further down a `#` is the input's
  while (std::getline(in, line)) {
    head.text += line + "\n";
    if (line == "----") break;
    if (in_title && line.starts_with('#')) continue;
    if (takes(line, "args:", rest)) {
      for (std::string& word : words(rest)) head.arguments.push_back(std::move(word));
    } else if (takes(line, "args+:", rest)) {
      REQUIRE_FALSE(head.arguments.empty());
      for (const std::string& word : words(rest)) head.arguments.back() += word;
    } else if (takes(line, "show:", rest)) {
      for (std::string& word : words(rest)) head.show.insert(std::move(word));
    } else if (takes(line, "include:", rest)) {
      for (const std::string& file : words(rest)) head.input += contents(kScenarios / file);
    } else if (takes(line, "scenario:", rest)) {
      const ScenarioHead other = head_of_scenario(words(rest).at(0));
      head.input += other.input;
      head.arguments.insert(head.arguments.end(), other.arguments.begin(), other.arguments.end());
    } else {
      head.input += line + "\n";
      in_title = in_title && line.empty();
    }
  }
  return head;
}

ScenarioHead head_of_scenario(const std::string& file) {
  std::istringstream in(contents(kScenarios / file));
  return read_head(in);
}

Result<DryRunOptions> options_of(const ScenarioHead& head) {
  DryRunOptions options;
  const std::vector<std::string>& arguments = head.arguments;
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

Result<std::vector<InputLine>> lines_of(const ScenarioHead& head) {
  const auto input = language::expand(head.input);
  if (!input) return input.error();
  std::vector<InputLine> lines;
  if (auto read = read_objects_text(*input, "input", lines); !read) return read.error();
  return lines;
}

}  // namespace fairlead
