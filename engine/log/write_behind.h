// One thread that works while its owner prepares what comes next.
//
// Works run one after the other, in the order in which they were begun; the next is taken only when
// the one before has ended well. How many may be there at once is bounded: so is how far the owner
// can be ahead. One that waits behind the one under way spares the thread a sleep between the two.
// After a failure nothing more is run.
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

/// Owned by one thread; the works run on another, which begins with the first.
class WriteBehind {
 public:
  /// `works_max` (at least 1) works may not have ended, the one under way counted.
  explicit WriteBehind(std::size_t works_max) : works_max_(works_max) {}
  /// Waits for what was begun.
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  /// Begins `work` as soon as there is room; the error of an earlier one, if that failed: then
  /// `work` is never run.
  Result<void> begin(std::function<Result<void>()> work);
  /// Waits for what was begun; the first error, if there was one.
  Result<void> settle();

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
