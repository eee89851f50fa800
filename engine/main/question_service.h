// Questions over HTTP about the past and the log: the hub's side. A command's is hub_client.h.
#pragma once

#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>

#include "engine/main/audit_question.h"
#include "engine/runtime/http_endpoint.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

class RocksdbLog;

/// Answers from the hub's log and the snapshots of its data directory; never from its State, which
/// belongs to another thread. Any thread may call it; one question is answered at a time.
class QuestionService {
 public:
  /// `log` outlives it.
  QuestionService(const RocksdbLog& log, const std::filesystem::path& data);
  /// Answers a target below kAuditPath or kLogPath in JSON, but for the pages of an export
  /// (bundle_page.h): the answer's document, or {"error"} with 400 (a bad question) or 500.
  HttpReply reply(std::string_view target) const;

 private:
  const RocksdbLog& log_;
  SnapshotStore snapshots_;
  mutable std::mutex one_at_a_time_;
};

}  // namespace fairlead
