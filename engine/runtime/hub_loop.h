// The hub's thread: dequeues from the inbox, steps the leader, sends the requests that it returns.
//
// Every decision is in the core (engine/core/core.h); the loop waits, and stops in order: it drops
// further facts, gives writes under way a short grace, and logs the rest as unknown.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/apply/patch_sink.h"
#include "engine/core/batches.h"
#include "engine/runtime/inbox.h"
#include "engine/runtime/leader.h"
#include "engine/runtime/notice_queue.h"
#include "engine/runtime/system_clock.h"

namespace fairlead {

/// How long a stopping hub waits for answers of writes under way.
inline constexpr Duration kStopGrace = seconds(5);
/// While kinds of the hub are awaited, the loop asks this often which of them are absent.
inline constexpr Duration kAbsenceInterval = milliseconds(250);
/// The longest wait for the inbox; after it a round runs and the stats are published.
inline constexpr Duration kIdleMax = seconds(1);
/// The same while notices wait for their turn.
inline constexpr Duration kNoticeInterval = milliseconds(200);

/// The stats of the last round. Written by the hub's thread, read by any.
class HubStatus {
 public:
  /// `role` until the first set(): a hub that waits for a Lease does not lead yet.
  explicit HubStatus(HubRole role = HubRole::alone) { stats_.role.role = role; }
  void set(const HubStats& stats);
  /// The hub cannot go on; stays so.
  void fail();
  HubStats stats() const;
  /// Able to do its part: to plan and to write its log, or, as a follower, to answer from all that
  /// was in the log when it began.
  bool ready() const;

 private:
  mutable std::mutex mutex_;
  HubStats stats_;
  bool failed_ = false;
};

/// What the loop calls outside the core, always on the hub's thread.
struct HubPorts {
  /// Returns the sink for writes to that API server; null if it is not connected.
  std::function<PatchSink*(const std::string& cluster)> sink_of;
  /// Returns the kinds that the hub certainly does not serve at present.
  std::function<std::set<Kind>()> absent_kinds;
  /// Reads the configuration again; nullopt if the old one stays, which the port then logs.
  std::function<std::optional<Configuration>()> read_configuration;
  std::function<void(const Recommendation&)> recommend;
  /// Opens the streams of a Watch, with the settings of the configuration in force, and closes all
  /// others; empty: none are opened.
  std::function<void(const Configuration&, const Watch&)> follow{};
  /// Sends a notice once, without a guarantee; empty: notices are dropped. Called at the pace of a
  /// NoticeQueue.
  std::function<void(const Notice&)> notify{};
  /// Converts a span of the core's clock into time of the machine; empty: they are equal.
  std::function<Duration(Duration)> on_the_machine{};
  /// The loop has turned; empty: it is not watched. Called at least once in kIdleMax while it
  /// waits.
  std::function<void()> turned{};
  /// Returns a monotonic time.
  std::function<LogTime()> now{monotonic_now};
  /// Lets time pass where the caller's thread does everything, as in virtual time: at most this
  /// long, and until the inbox has something. Empty: time passes by itself.
  std::function<void(Duration)> pass{};
};

class HubLoop {
 public:
  /// All outlive the loop, and the inbox every answer of the sinks. `leader` has begun.
  HubLoop(Leader& leader, Inbox& inbox, HubStatus& status, HubPorts ports);
  /// Runs until the inbox asks it to stop, and ends cleanly. An error means that the log accepts no
  /// more events; nothing was sent that it does not hold. The process should then end (exit code 3)
  /// and start again from the log: only a fresh opening shows what the disk holds after a failed
  /// sync.
  Result<void> run();
  /// One turn of it, without a wait: for who has a clock and an order of its own. An error is
  /// run()'s.
  Result<void> round(Inbox::Content content);
  /// How long run() waits for the inbox before the next round.
  Duration wait() const;
  /// The end of run(), after a stop was asked for `content.stops` times. No other call follows.
  Result<void> finish(Inbox::Content content);
  /// Returns the stats, with the inbox's.
  HubStats stats() const;

 private:
  void send(WriteRequest request);
  void send_notices();

  Leader& leader_;
  Inbox& inbox_;
  HubStatus& status_;
  const HubPorts ports_;
  NoticeQueue notices_;
};

}  // namespace fairlead
