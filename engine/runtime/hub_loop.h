// The hub's thread: takes from the inbox, steps the core, sends what it returns.
//
// Everything that decides is in hub_core.h; here is waiting, and the order of an end: streams are
// not listened to any more, writes under way get a short grace, the rest is logged as unknown.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "engine/apply/patch_sink.h"
#include "engine/runtime/hub_core.h"
#include "engine/runtime/inbox.h"
#include "engine/runtime/intake.h"

namespace fairlead {

/// How long a stopping hub waits for answers of writes under way.
inline constexpr Duration kStopGrace = seconds(5);
/// While kinds of the hub are awaited, it is asked this often which of them are absent.
inline constexpr Duration kAbsenceInterval = milliseconds(250);
/// The inbox is looked at this often at the latest, and the figures with it.
inline constexpr Duration kIdleMax = seconds(1);

/// The figures of the last round. Written by the hub's thread, read by any.
class HubStatus {
 public:
  void set(const HubFigures& figures);
  /// The hub cannot go on; stays so.
  void fail();
  HubFigures figures() const;
  /// Planning and able to write its log.
  bool ready() const;

 private:
  mutable std::mutex mutex_;
  HubFigures figures_;
  bool failed_ = false;
};

/// What the loop needs from around it. All are called on the hub's thread.
struct HubPorts {
  /// Where writes to that API server go; null if it is not connected.
  std::function<PatchSink*(const std::string& cluster)> sink_of;
  /// Kinds that the hub certainly does not serve at present.
  std::function<std::set<Kind>()> absent_kinds;
  /// Reads the configuration again; nullopt (and a word to the operator) if the old one stays.
  std::function<std::optional<Configuration>()> read_configuration;
  std::function<void(const Recommendation&)> recommend;
  /// Sends a notice as well as can be; empty: nobody is told.
  std::function<void(const Notice&)> notify{};
  /// How long the machine needs for a span of the core's clock; empty: as long.
  std::function<Duration(Duration)> on_the_machine{};
};

class HubLoop {
 public:
  /// All outlive the loop, and the inbox every answer of the sinks. `core` is started.
  HubLoop(HubCore& core, Inbox& inbox, HubStatus& status, HubPorts ports);
  /// Runs until the inbox says stop, and ends cleanly. An error: the log takes no more; nothing was
  /// sent that it does not hold. The process should then end (exit code 3) and start again from the
  /// log: what the disk holds after a failed sync only a fresh opening can tell.
  Result<void> run();

 private:
  Result<void> round(Inbox::Content content);
  Result<void> finish(int stops);
  Duration wait() const;
  void send(WriteRequest request);
  void publish();

  HubCore& core_;
  Inbox& inbox_;
  HubStatus& status_;
  const HubPorts ports_;
};

}  // namespace fairlead
