// Keeps the index of the audit page (replay/timeline/timeline_file.h) up with the log of a hub, so
// that the page of a long log is there at once.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/main/question_service.h"
#include "engine/runtime/diagnostics.h"

namespace fairlead {

/// Folds the log on a thread of its own, of low priority, in small parts between the questions, and
/// saves the index after half a million events and when it is destroyed. It works from the log and
/// never waits for the hub, nor the hub for it.
class IndexKeeper {
 public:
  /// `questions` outlives it.
  IndexKeeper(const QuestionService& questions, Logger logger);
  ~IndexKeeper();
  IndexKeeper(const IndexKeeper&) = delete;
  IndexKeeper& operator=(const IndexKeeper&) = delete;

 private:
  void run();
  void save(std::uint64_t events_min);

  const QuestionService& questions_;
  const Logger logger_;
  std::mutex mutex_;  // guards ending_
  std::condition_variable wake_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace fairlead
