// Whether the loops of a hub turn: its own, and the loops of its connections, listeners and index.
//
// A process whose loop hangs (in a parser, on a disk, on a pipe that nobody reads) answers probes
// from the thread of its listener for ever, and its SIGTERM waits in a queue that no thread reads.
// So a thread of its own looks at each loop once a second. It waits for nothing that a loop may
// hold: no logger, no inbox.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "engine/base/time.h"

namespace fairlead {

struct LoopWatchSettings {
  Duration hung_after = seconds(30);   ///< without a turn; as long as a kubelet's three probes
  Duration end_within = seconds(20);   ///< after ask_to_end(), where a loop does not turn
  Duration end_at_most = seconds(60);  ///< after ask_to_end(), whatever turns
  Duration period = seconds(1);        ///< between two looks
};

/// Any thread may call it.
class LoopWatch {
 public:
  /// Gets a line about a loop that hangs, or turns again. Must not block.
  using Say = std::function<void(const std::string& line)>;
  /// Ends the process, which does not end otherwise; `why` is for the operator.
  using EndProcess = std::function<void(const std::string& why)>;
  /// Has a loop do a piece of work soon. Must not block.
  using Post = std::function<void(std::function<void()> work)>;

  LoopWatch(Say say, EndProcess end_process, LoopWatchSettings settings = {});
  /// All loops are forgotten before.
  ~LoopWatch();
  LoopWatch(const LoopWatch&) = delete;
  LoopWatch& operator=(const LoopWatch&) = delete;

  /// Looks from now on, on a thread of its own.
  void start();

  /// One that is watched, until this is destroyed. That is done before the loop ends.
  class Loop {
   public:
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;
    /// The loop turns. One that was given no Post calls it at least every ten seconds.
    void turned();

   private:
    friend class LoopWatch;
    struct Turns;
    Loop(LoopWatch& watch, std::shared_ptr<Turns> turns);
    LoopWatch& watch_;
    const std::shared_ptr<Turns> turns_;
  };
  /// `name` is for an operator. With `post` the watch asks the loop itself.
  [[nodiscard]] std::unique_ptr<Loop> watch(std::string name, Post post = {});

  /// Names the first loop that has not turned for LoopWatchSettings::hung_after, and for how long;
  /// empty: all turn.
  std::string hung() const;
  /// The process was asked to end: it ends within LoopWatchSettings::end_at_most.
  void ask_to_end();
  /// One look at the monotonic time `now`; start() calls it.
  void look(LogTime now);

 private:
  void run();
  std::string hung_at(LogTime now, Duration since) const;

  const Say say_;
  const EndProcess end_process_;
  const LoopWatchSettings settings_;
  mutable std::mutex mutex_;  // guards the rest
  std::condition_variable wake_;
  std::list<std::shared_ptr<Loop::Turns>> loops_;
  std::optional<LogTime> looked_;        // last
  std::optional<LogTime> asked_to_end_;  // at the first look behind it
  bool ends_ = false;                    // the process was asked to end
  bool stopping_ = false;                // the thread
  std::thread thread_;
};

/// Writes a line with time and level on stderr, if that takes it at once; else it is lost.
void say_at_once(const std::string& line);

}  // namespace fairlead
