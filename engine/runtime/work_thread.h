// A thread that does short pieces of work one after the other, with a bound on those that wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "engine/base/time.h"

namespace fairlead {

/// Any thread may offer work. The owner starts and stops it.
class WorkThread {
 public:
  /// Whether work that has its turn has waited longer than `patience`.
  enum class Turn : std::uint8_t { in_time, late };
  using Work = std::function<void(Turn)>;

  /// At most `waiting_max` pieces wait behind the one that is done.
  WorkThread(std::size_t waiting_max, Duration patience)
      : waiting_max_(waiting_max), patience_(patience) {}
  ~WorkThread() { stop(); }
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  void start();
  /// Waits for the piece that is done. What waits stays, and is not done.
  void stop();
  /// Drops what was not done. Call it after stop().
  void forget() { waiting_.clear(); }
  /// Queues `work`; false if too many wait already.
  [[nodiscard]] bool offer(Work work);

 private:
  struct Waiting {
    std::chrono::steady_clock::time_point since;
    Work work;
  };
  void run();

  const std::size_t waiting_max_;
  const Duration patience_;
  std::mutex mutex_;  // guards the next three
  std::condition_variable wake_;
  std::deque<Waiting> waiting_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace fairlead
