// Keeps the index of the audit page (replay/timeline/timeline_file.h) up with the log of a hub, so
// that the page of a long log is there at once.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "engine/main/service/question_service.h"
#include "engine/runtime/diagnostics.h"
#include "engine/runtime/loop_watch.h"

namespace fairlead {

/// Folds the log on a thread of its own, of low priority, in small parts between the questions, and
/// saves the index after half a million events and when it is destroyed. It begins when a page is
/// first shown. Until then the hub holds one State and folds each event once. The hub and this
/// thread never wait for each other.
class IndexKeeper {
 public:
  /// `questions` and `watch` outlive it.
  IndexKeeper(const QuestionService& questions, Logger logger, LoopWatch& watch);
  ~IndexKeeper();
  IndexKeeper(const IndexKeeper&) = delete;
  IndexKeeper& operator=(const IndexKeeper&) = delete;

 private:
  void run();
  void complain_of(const Result<void>& saved);

  const QuestionService& questions_;
  const Logger logger_;
  std::mutex mutex_;  // guards ending_
  std::condition_variable wake_;
  bool ending_ = false;
  std::unique_ptr<LoopWatch::Loop> watched_;
  std::thread thread_;
};

}  // namespace fairlead
