// Logs for questions about the past: the input of `fairlead plan`, rehearsed into a log.
//
//   # A title in prose.
//   args: --set debounce.growWindow=0s --no-feedback --until 1970-01-01T00:10:00Z
//   scenario: 16-cordon.txt          (arguments and input of a file in tests/scenarios)
//   include: small.yaml              (an input file in tests/scenarios)
//   <YAML documents and JSON lines>
//   ----
//   $ why qa od cpu --as-of 1970-01-01T00:02:00Z
//   <what it must print>
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/log/memory_log.h"
#include "engine/main/audit_question.h"
#include "replay/rehearsal.h"

namespace fairlead {

/// One file: everything before `----`, and the commands behind it.
struct AuditTrace {
  std::string head;  ///< with the `----`
  std::string input;
  std::vector<std::string> arguments;
  std::vector<std::string> commands;  ///< without `$ `
  std::string expected;               ///< everything behind the `----`
};

AuditTrace read_trace(const std::filesystem::path& path);
/// Rehearses the input into `log`.
void rehearse(const AuditTrace& trace, MemoryLog& log);
/// `why qa od cpu --as-of 12 [-o json]` asked of the log, as the command would print it.
std::string ask(const MemoryLog& log, const std::string& command);

}  // namespace fairlead
