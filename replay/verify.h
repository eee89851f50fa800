// Folds a log again and compares every recorded write with what this program would write.
//
// Each run of intents that were appended together was planned on the state just before it. That
// state follows from the log alone; so planning on it again must give the same writes, or this
// program acts differently from the one that wrote the log. uids and resourceVersions are not
// compared: the hub stamps the newest that its streams reported, which the log need not hold. A
// Checkpoint holds the digest of the state before it; if the same fold version wrote it, the digest
// here must agree.
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

/// How recorded writes are compared.
enum class Comparison : std::uint8_t {
  none,           ///< fold only
  all,            ///< compare to the end
  until_differs,  ///< stop at the first difference
};

struct ReplayOptions {
  Seq from{1};            ///< intents before it are folded but not compared
  std::optional<Seq> to;  ///< the last event that is folded; none: the log's last
  Comparison comparison = Comparison::none;
  /// Called now and then with the number of folded events and the total; may be empty.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
  /// Asked as often; true ends the replay with a report of what was folded. May be empty.
  std::function<bool()> cancelled;
};

/// A recorded write that this program would not make in the same way.
struct Difference {
  Seq seq;
  LogTime time;
  std::string what;  ///< the first thing that differs: "body", "nothing is planned"
  PatchIntended recorded;
  std::optional<PatchIntended> planned;  ///< none: this program would write nothing
};

struct ReplayReport {
  std::uint64_t events = 0;    ///< folded
  std::uint64_t compared = 0;  ///< intents that were compared with the plan
  std::uint64_t differing = 0;
  /// Intents of the range before `begin`: the state that they were planned on was pruned.
  std::uint64_t not_compared = 0;
  Seq begin{1};                       ///< the first event that could be folded
  std::uint64_t checkpoints = 0;      ///< that agree with the state and the log
  std::optional<Difference> first;    ///< the first that differs
  std::optional<Seq> bad_checkpoint;  ///< the first that does not agree
  LogTime first_time, last_time;
  State state;  ///< at the end

  bool holds() const { return !first && !bad_checkpoint; }
  /// The range has intents, and none of them could be compared.
  bool tells_nothing() const { return compared == 0 && not_compared > 0; }
};

/// Reads `log` from its first event, or from the newest snapshot before `options.from` (if the
/// log's beginning was pruned and there is none: from its oldest). The same log gives the same
/// report. `snapshots` may be null. Fails if the log cannot be read, and with `not_found` if events
/// were pruned and no snapshot replaces them.
Result<ReplayReport> replay(const ReadableLog& log, const SnapshotSource* snapshots,
                            const ReplayOptions& options);

/// Returns what differs between a recorded and a planned intent, uid and resourceVersion aside;
/// empty if nothing does.
std::string difference_between(const PatchIntended& recorded, const PatchIntended& planned);

}  // namespace fairlead
