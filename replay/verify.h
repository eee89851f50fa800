// Folds a log again and holds every recorded write against what this program would write.
//
// Each run of intents that were appended together was planned on the state just before it. That
// state follows from the log alone; so planning on it again must give the same writes, or this
// program acts differently from the one that wrote the log. uids and resourceVersions are not
// compared: the hub stamps the newest that its streams showed, which the log need not hold.
// A Checkpoint names the digest of the state before it: if the same fold wrote it, ours must agree.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/base/json.h"
#include "engine/fold/state.h"
#include "engine/log/event_log.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

/// What is done with the recorded writes.
enum class Comparison : std::uint8_t {
  none,           ///< fold only
  all,            ///< compare to the end
  until_differs,  ///< stop at the first difference
};

struct ReplayOptions {
  Seq from{1};            ///< intents before it are folded but not compared
  std::optional<Seq> to;  ///< the last event that is folded; none: the log's last
  Comparison comparison = Comparison::none;
  /// Told now and then how many of how many events are folded; may be empty.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// A recorded write that this program would not make so.
struct Difference {
  Seq seq;
  LogTime time;
  std::string what;  ///< the first thing that differs: "body", "nothing is planned"
  PatchIntended recorded;
  std::optional<PatchIntended> planned;  ///< none: nothing would be written
};

struct ReplayReport {
  std::uint64_t events = 0;    ///< folded
  std::uint64_t compared = 0;  ///< intents that were held against the plan
  std::uint64_t differing = 0;
  /// Intents of the range before `begin`: what they were planned on was pruned.
  std::uint64_t not_compared = 0;
  Seq begin{1};                       ///< the first event that could be folded
  std::uint64_t checkpoints = 0;      ///< that say of the state and the log what is true
  std::optional<Difference> first;    ///< the first that differs
  std::optional<Seq> bad_checkpoint;  ///< the first that says otherwise
  LogTime first_time, last_time;
  State state;  ///< at the end

  bool holds() const { return !first && !bad_checkpoint; }
  /// Intents are there, and none of them could be held against anything.
  bool tells_nothing() const { return compared == 0 && not_compared > 0; }
};

/// Reads `log` from its first event, or from the newest snapshot before `options.from` (of a log
/// whose beginning was pruned, where there is none: from its oldest). The same log gives the same
/// report. `snapshots` may be null. Errors: what cannot be read; not_found if events were pruned
/// and no snapshot stands for them.
Result<ReplayReport> replay(const EventLog& log, const SnapshotSource* snapshots,
                            const ReplayOptions& options);

/// What differs between a recorded intent and a planned one, uid and resourceVersion aside; empty
/// if nothing does.
std::string difference_between(const PatchIntended& recorded, const PatchIntended& planned);

}  // namespace fairlead
