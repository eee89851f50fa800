// A pipeline stage: one thread that works while its owner prepares what comes next.
//
// Works run one after the other, in the order in which they were begun; after a failure no other
// runs. A bounded queue limits how far the owner can be ahead. A work that waits behind the one
// under way saves the thread a sleep between the two. The stages of the log, and why linking and
// packing are two of them: docs/decisions/0018-pipelined-append.md.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/base/result.h"

namespace fairlead {

/// Owned by one thread; the works run on another, which starts with the first work.
class PipelineStage {
 public:
  /// `works_max` (at least 1) bounds the works that have not ended, including the one under way.
  explicit PipelineStage(std::size_t works_max) : works_max_(works_max) {}
  /// Waits for the works that were begun.
  ~PipelineStage();
  PipelineStage(const PipelineStage&) = delete;
  PipelineStage& operator=(const PipelineStage&) = delete;

  /// Waits until there is room and enqueues `work`. Fails with the error of an earlier work if one
  /// failed; `work` never runs then.
  Result<void> begin(std::function<Result<void>()> work);
  /// Waits for the works that were begun. Returns the error of the one that failed, if one did.
  Result<void> flush();

 private:
  void run();
  Result<void> outcome() const;

  const std::size_t works_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<Result<void>()>> works_;  ///< the first is under way
  std::optional<Error> failed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace fairlead
