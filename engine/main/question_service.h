// Questions about the past over HTTP: what a running hub answers, and how the command asks it.
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
class AuditService {
 public:
  /// `log` outlives it.
  AuditService(const EventLog& log, const std::filesystem::path& data);
  /// JSON: the answer's document, or {"error"} with 400 (a bad question) or 500.
  HttpReply reply(std::string_view target) const;

 private:
  const EventLog& log_;
  SnapshotStore snapshots_;
};

/// Asks a running hub at `http://HOST:PORT`. bad_input if the hub says that the question is bad.
Result<AuditAnswer> ask_server(const std::string& server, const AuditQuestion& question);

}  // namespace fairlead
