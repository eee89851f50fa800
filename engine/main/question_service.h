// Questions over HTTP about the past and the log: what a running hub answers, and how a command
// asks.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "engine/main/audit_question.h"
#include "engine/runtime/http_endpoint.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

/// Answers from the hub's log and the snapshots of its data directory; never from its State, which
/// belongs to another thread. May be asked from any one thread at a time.
class QuestionService {
 public:
  /// `log` outlives it.
  QuestionService(const EventLog& log, const std::filesystem::path& data);
  /// Of targets below kAuditPath and kLogPath. JSON: the answer's document, or {"error"} with 400
  /// (a bad question) or 500.
  HttpReply reply(std::string_view target) const;

 private:
  const EventLog& log_;
  SnapshotStore snapshots_;
};

/// The JSON that a running hub at `http://HOST:PORT` answers to GET `target`. bad_input if the hub
/// says that the question is bad.
Result<std::string> ask_hub(const std::string& server, const std::string& target);

}  // namespace fairlead
