// Where snapshots come from: the data directory of a hub, or a bundle file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/fold/state.h"
#include "engine/log/event_log.h"

namespace fairlead {

/// What a snapshot says of itself, without its state.
struct SnapshotInfo {
  Seq seq;           ///< the last event folded into the state
  LogTime log_time;  ///< of that event
  std::uint32_t fold_version = 0;
  Digest state_digest;
  Digest log_digest;        ///< hash chain of the log after the group commit that ends with `seq`
  std::uint64_t bytes = 0;  ///< as stored

  friend bool operator==(const SnapshotInfo&, const SnapshotInfo&) = default;
};

/// A snapshot, read.
struct Snapshot {
  SnapshotInfo info;
  State state;
};

/// Snapshots of one log. Calls may come from any thread.
class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;
  /// All that can be read, by seq.
  virtual Result<std::vector<SnapshotInfo>> list() const = 0;
  /// The newest good snapshot of this program's fold at or before `seq`; nullopt if there is none.
  /// Damaged ones and those of another fold are passed over.
  virtual Result<std::optional<Snapshot>> newest(Seq seq) const = 0;
  /// The stored bytes of one (an encoded SnapshotEnvelope); not_found if there is none.
  virtual Result<std::string> bytes(Seq seq) const = 0;
};

/// The newest good snapshot at or before `seq` that is of `log`: its place in the hash chain is
/// right. nullopt if there is none. `snapshots` may be null.
Result<std::optional<Snapshot>> newest_of(const EventLog& log, const SnapshotSource* snapshots,
                                          Seq seq);

/// Whether the log still has what comes after `state`; not_found if events between were pruned.
Result<void> can_go_on(const EventLog& log, const State& state);

/// `state` with the events behind it folded in, up to and with `seq`. not_found if events between
/// were pruned. `progress` (may be empty) is told now and then how many of how many are folded.
using FoldProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;
Result<State> state_from(const EventLog& log, State state, Seq seq,
                         const FoldProgress& progress = {});
/// The state after event `seq` (0: before the first), from the nearest snapshot and the events
/// behind it. Not settled: what happens at its moment may still come. `snapshots` may be null.
Result<State> state_at(const EventLog& log, const SnapshotSource* snapshots, Seq seq);
/// The state at a time: everything until then taken in, every deadline until then run, the moment
/// decided. `snapshots` may be null.
Result<State> state_at(const EventLog& log, const SnapshotSource* snapshots, LogTime time);

}  // namespace fairlead
