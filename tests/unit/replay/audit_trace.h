// Logs for questions about the past: a scenario's head (scenario_file.h), folded by a dry run into
// a log, and after the `----`:
//
//   $ why qa od cpu --as-of 1970-01-01T00:02:00Z
//   <what it must print>
#pragma once

#include <filesystem>
#include <istream>
#include <string>
#include <vector>

#include "engine/log/memory_log.h"
#include "engine/main/client/audit_question.h"
#include "tests/scenarios/scenario_file.h"

namespace fairlead {

/// One file: everything before `----`, and the commands behind it.
struct AuditTrace {
  ScenarioHead head;
  std::vector<std::string> commands;  ///< without `$ `
  std::string expected;               ///< everything behind the `----`
};

AuditTrace read_trace(const std::filesystem::path& path);
AuditTrace read_trace(std::istream& in);
/// Answers a question about now as a hub does, from a copy of State that has only the nodes which
/// the question reads.
Result<AuditAnswer> answer_from_present(const MemoryLog& log, const AuditQuestion& question);
/// Runs the input as a dry run into `log`.
void rehearse(const AuditTrace& trace, MemoryLog& log);
/// Answers a command such as `why qa od cpu --as-of 12 [-o json]` from the log, as the program
/// prints it.
std::string ask(const MemoryLog& log, const std::string& command);

}  // namespace fairlead
