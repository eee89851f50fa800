#include "tests/unit/replay/audit_trace.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "connectors/kube/object_input.h"
#include "engine/runtime/configuration.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;
const fs::path kScenarios = "tests/scenarios";

std::string contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  INFO(path.string());
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

bool takes(const std::string& line, const std::string& directive, std::string& rest) {
  if (!line.starts_with(directive)) return false;
  rest = line.substr(directive.size());
  return true;
}

// Fills everything but what stands behind the `----`.
void read_head(std::istream& in, AuditTrace& trace) {
  std::string line, rest;
  while (std::getline(in, line)) {
    trace.head += line + "\n";
    if (line == "----") return;
    if (line.starts_with('#') || line.starts_with("show:")) continue;
    if (takes(line, "args:", rest)) {
      for (std::string& word : words(rest)) trace.arguments.push_back(std::move(word));
    } else if (takes(line, "include:", rest)) {
      for (const std::string& file : words(rest)) trace.input += contents(kScenarios / file);
    } else if (takes(line, "scenario:", rest)) {
      std::istringstream scenario(contents(kScenarios / words(rest).at(0)));
      const std::string head = trace.head;
      read_head(scenario, trace);
      trace.head = head;
    } else {
      trace.input += line + "\n";
    }
  }
}

}  // namespace

AuditTrace read_trace(const fs::path& path) {
  AuditTrace trace;
  std::istringstream in(contents(path));
  read_head(in, trace);
  std::string line;
  while (std::getline(in, line)) {
    trace.expected += line + "\n";
    if (line.starts_with("$ ")) trace.commands.push_back(line.substr(2));
  }
  return trace;
}

void rehearse(const AuditTrace& trace, MemoryLog& log) {
  RehearsalOptions options;
  const std::vector<std::string>& arguments = trace.arguments;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--no-feedback") {
      options.feedback = Feedback::none;
    } else if (arguments[i] == "--set" && i + 1 < arguments.size()) {
      REQUIRE(apply_setting(options.configuration, arguments[++i]).has_value());
    } else if (arguments[i] == "--until" && i + 1 < arguments.size()) {
      options.until = parse_rfc3339(arguments[++i]);
      REQUIRE(options.until);
    } else {
      FAIL("unknown argument " << arguments[i]);
    }
  }
  std::vector<InputLine> lines;
  REQUIRE(read_objects_text(trace.input, "input", lines).has_value());
  Rehearsal rehearsal(log, std::move(options));
  REQUIRE(rehearsal.run(lines).has_value());
}

std::string ask(const MemoryLog& log, const std::string& command) {
  AuditQuestion question;
  bool json = false;
  std::vector<std::string> places;
  const std::vector<std::string> all = words(command);
  REQUIRE_FALSE(all.empty());
  question.subject = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) {
    const std::string value = i + 1 < all.size() ? all[i + 1] : "";
    if (all[i] == "--as-of")
      question.as_of = value, ++i;
    else if (all[i] == "--from")
      question.from = value, ++i;
    else if (all[i] == "--to")
      question.to = value, ++i;
    else if (all[i] == "--flavor")
      question.pair.flavor = value, ++i;
    else if (all[i] == "--resource")
      question.pair.resource = value, ++i;
    else if (all[i] == "-o")
      json = value == "json", ++i;
    else
      places.push_back(all[i]);
  }
  if (question.subject == "diff") {
    REQUIRE(places.size() >= 2);
    question.from = places[0];
    question.to = places[1];
    places.erase(places.begin(), places.begin() + 2);
  }
  if (!places.empty()) question.pair.queue = places[0];
  if (places.size() > 1) question.pair.flavor = places[1];
  if (places.size() > 2) question.pair.resource = places[2];
  auto answer = answer_question({log, nullptr}, question);
  if (!answer) return "error: " + answer.error().message + "\n";
  return json ? to_text(answer->document) + "\n" : audit_text(*answer);
}

}  // namespace fairlead
