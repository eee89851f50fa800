// The port from which snapshots are read: the data directory of a hub, or a bundle file.
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

/// The envelope of a snapshot, without its state.
struct SnapshotInfo {
  Seq seq;           ///< the last event folded into the state
  LogTime log_time;  ///< of that event
  std::uint32_t fold_version = 0;
  Digest state_digest;
  Digest log_digest;        ///< hash chain of the log after the group commit that ends with `seq`
  std::uint64_t bytes = 0;  ///< size as stored

  friend bool operator==(const SnapshotInfo&, const SnapshotInfo&) = default;
};

/// A snapshot with its decoded state.
struct Snapshot {
  SnapshotInfo info;
  State state;
};

/// Snapshots of one log. Calls may come from any thread.
class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;
  /// Returns all that can be read, by seq.
  virtual Result<std::vector<SnapshotInfo>> list() const = 0;
  /// Returns the newest good snapshot of this program's fold at or before `seq`; nullopt if there
  /// is none. Skips damaged ones and those of another fold.
  virtual Result<std::optional<Snapshot>> newest(Seq seq) const = 0;
  /// Returns the stored bytes of a snapshot (an encoded SnapshotEnvelope). Fails with `not_found`
  /// if there is none.
  virtual Result<std::string> bytes(Seq seq) const = 0;
  /// Whether newest() returns only states to which the log folds, so that the log need not vouch
  /// for them: this program folded it to make them, or they were checked. Never of files that
  /// another program may have written.
  virtual bool vouches_itself() const { return false; }
};

/// What a log says of a snapshot at its seq.
enum class Voucher : std::uint8_t {
  given,  ///< the Checkpoint behind it names this state: the log folds to it
  none,  ///< no Checkpoint follows: the hub was stopped between the two, or another program made it
  denied,  ///< the Checkpoint behind it names another state
};
Voucher voucher_of(const ReadableLog& log, const SnapshotInfo& snapshot);

/// Returns the newest good snapshot at or before `seq` that belongs to `log`: its digest is that of
/// the hash chain at its seq, and the Checkpoint behind it names its state. The chain's
/// digest alone is no proof, because a forger of a state can copy it from the log. Returns nullopt
/// if there is no such snapshot.
/// `snapshots` may be null.
Result<std::optional<Snapshot>> newest_of(const ReadableLog& log, const SnapshotSource* snapshots,
                                          Seq seq);

/// Succeeds if the log still has the events after `state`. Fails with `not_found` if some were
/// pruned.
Result<void> can_go_on(const ReadableLog& log, const State& state);

/// Returns `state` with the later events folded in, up to and including `seq`. Fails with
/// `not_found` if some were pruned. `progress` (may be empty) receives the count of folded events
/// now and then.
using FoldProgress = std::function<void(std::uint64_t done, std::uint64_t total)>;
Result<State> state_from(const ReadableLog& log, State state, Seq seq,
                         const FoldProgress& progress = {});
/// Returns the state after event `seq` (0: before the first), folded from the nearest snapshot. Its
/// moment is not closed: the log may have more events of it. `snapshots` may be null, `progress`
/// empty.
Result<State> state_at(const ReadableLog& log, const SnapshotSource* snapshots, Seq seq,
                       const FoldProgress& progress = {});
/// Returns the state at a time: every event until then is folded, every deadline until then has
/// run, and the moment is closed. `snapshots` may be null.
Result<State> state_at(const ReadableLog& log, const SnapshotSource* snapshots, LogTime time);

}  // namespace fairlead
