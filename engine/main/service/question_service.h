// Questions over HTTP about the past and the log: the side that answers, of a hub or of `serve`. A
// command's is hub_client.h.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/main/client/audit_question.h"
#include "engine/main/service/page_service.h"
#include "engine/main/service/served_log.h"
#include "engine/main/service/usage_sums.h"
#include "engine/runtime/http_endpoint.h"

namespace fairlead {

/// Answers from a log and its snapshots and, what is asked about now, from a copy of what the hub
/// holds (present_state.h). Any thread may call it; one question is answered at a time.
class QuestionService {
 public:
  explicit QuestionService(ServedLogSource source)
      : source_(std::move(source)),
        page_(std::make_unique<PageService>()),
        usage_(std::make_unique<UsageSums>()) {}
  /// Answers a target below kAuditPath, kLogPath or kPageApiPath in JSON, but for the pages of an
  /// export (bundle_page.h): the answer's document, or {"error"} with 400 (a bad question) or 500.
  HttpReply reply(std::string_view target) const;
  /// Folds the log on for the page's next question, or adds up use by hour, a small part of it, and
  /// returns whether there is nothing to do: it is at its end, the page was never asked for, or a
  /// question took longer than a second meanwhile. Fails as the log fails to be read.
  Result<bool> follow() const;
  /// Saves the index of the page beside the log, as PageService::save_index() does, and the sums of
  /// use; not if a question is answered for longer than `patience`.
  Result<void> save_index(std::uint64_t events_min, Duration patience) const;
  /// Returns a text that differs once the log has grown. It never waits for a question.
  std::string version() const;

 private:
  std::optional<State> present_for(const AuditQuestion& question) const;

  ServedLogSource source_;
  std::unique_ptr<PageService> page_;
  std::unique_ptr<UsageSums> usage_;
  mutable std::timed_mutex one_at_a_time_;
};

}  // namespace fairlead
