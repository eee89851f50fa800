// The appender: one thread that puts events into the log, and the only place that reads the clock.
//
// Batches of drafts wait in a bounded queue; the thread takes what has piled up, appends it as one
// group commit, and only when that is durable hands each batch its events. One sync is shared by
// all that waited for it, so the log gets faster the more is asked of it. An error is handed to
// every batch that it concerns; after a failed commit that is every later one, because the log is
// read-only for good.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/base/time.h"
#include "engine/log/event_log.h"

namespace fairlead {

/// Whether events after a batch may share its time.
enum class Moment {
  open,     ///< later events may have the same time
  settled,  ///< time has passed: the next event is strictly later (TimerFired)
};

/// Drafts that are appended together, in order, and who wants to know.
struct AppendBatch {
  std::vector<EventDraft> drafts;
  Epoch epoch;
  Moment moment = Moment::open;
  /// Called once on the appender's thread, in the order of submission: the events as stored, or why
  /// they are not. It must not block and must not submit.
  std::function<void(Result<std::vector<Event>>)> done;
};

/// Bounds of an Appender. Reaching queue_batches_max makes submit wait and is counted.
struct AppenderLimits {
  std::size_t queue_batches_max = 1024;
  std::size_t commit_events_max = 4096;  ///< a single larger batch is committed alone
};

/// What an Appender has done, for metrics.
struct AppenderCounters {
  std::uint64_t batches = 0;
  std::uint64_t events = 0;
  std::uint64_t commits = 0;
  std::uint64_t errors = 0;      ///< batches that got an error
  std::uint64_t queue_full = 0;  ///< times that submit had to wait
};

/// Owns the thread, not the log nor the clock, which must outlive it. Any thread may submit.
class Appender {
 public:
  Appender(EventLog& log, Clock& clock, AppenderLimits limits);
  /// Appends what is queued, then ends.
  ~Appender();
  Appender(const Appender&) = delete;
  Appender& operator=(const Appender&) = delete;

  /// Queues a batch; waits while the queue is full.
  void submit(AppendBatch batch);
  /// Waits until everything submitted before has been handed back.
  void drain();
  AppenderCounters counters() const;

 private:
  void run();
  std::vector<AppendBatch> take_group();
  void commit(std::vector<AppendBatch> group);
  LogTime time_of_next();

  EventLog& log_;
  Clock& clock_;
  const AppenderLimits limits_;
  Moment last_moment_ = Moment::open;  ///< of the appender's thread

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<AppendBatch> queue_;
  std::size_t in_flight_ = 0;  ///< batches taken but not handed back
  bool stopping_ = false;
  AppenderCounters counters_;
  std::thread thread_;
};

}  // namespace fairlead
