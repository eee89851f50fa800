// One thread that writes while its owner prepares what is written next.
//
// At most one piece of work is under way: the next is taken when it has ended well. So commits
// reach the disk in order, each synced before the next begins, and how far the owner can be ahead
// of the disk is bounded. After a failure nothing more is begun.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/base/result.h"

namespace fairlead {

/// Owned by one thread; the work runs on another, which begins with the first work.
class WriteBehind {
 public:
  WriteBehind() = default;
  /// Waits for what is under way.
  ~WriteBehind();
  WriteBehind(const WriteBehind&) = delete;
  WriteBehind& operator=(const WriteBehind&) = delete;

  /// Begins `work` when what is under way has ended; the error of that, if it failed: then `work`
  /// is not begun.
  Result<void> begin(std::function<Result<void>()> work);
  /// Waits for what is under way; its error, if it failed.
  Result<void> settle();

 private:
  void run();
  Result<void> settled(std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<Result<void>()> work_;  ///< under way, or about to be; empty: none
  std::optional<Error> failed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace fairlead
