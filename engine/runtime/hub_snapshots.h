// When a hub takes a snapshot, and how it is saved: by the hub's thread, or of a large State by a
// child process while the hub goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "engine/log/event_log.h"
#include "engine/runtime/diagnostics.h"
#include "snapshots/aside_save.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {

/// From this many nodes on a snapshot is saved by a child process: with fewer it takes some 25 ms.
inline constexpr std::size_t kSavedAsideNodes = 10'000;

class HubSnapshots {
 public:
  /// Where a snapshot is saved.
  enum class Saving : std::uint8_t { here, aside };

  /// `store` may be null: none are taken. `stops` returns how often the hub was asked to stop: a
  /// snapshot that is being saved here when it is asked (again) is given up; empty: never. `now`
  /// returns a monotonic time.
  HubSnapshots(SnapshotStore* store, EventLog& log, std::size_t aside_nodes,
               std::function<int()> stops, std::function<LogTime()> now, Logger logger);

  /// The log was folded from `newest`.
  void begin_with(const SnapshotInfo& newest);
  /// The log has this Checkpoint. A follower counts from it, and so takes its snapshots where the
  /// leader does: the log vouches for them.
  void noted(const Checkpoint& checkpoint);
  /// Whether one is due after an event other than a Checkpoint.
  bool is_due(const State& state) const;
  /// Whether one at the end is worth its time: the next start folds what came since the last one.
  bool last_pays(const State& state) const;
  /// Gives up what is under way. Later saves are given up only if the hub is asked to stop again.
  void wind_down();

  /// Takes a snapshot of `state`, which is exactly what the log folds to up to `chain`, the digest
  /// of a commit that is durable. Returns the
  /// Checkpoint to append next; if the snapshot is saved aside, it has no digest of State. Returns
  /// nothing if it failed, which is logged and costs a longer start.
  std::optional<Checkpoint> take(const State& state, const Digest& chain, Saving saving);
  /// Returns the Checkpoint of a snapshot that was saved aside meanwhile. Call it now and then.
  std::optional<Checkpoint> collect(const State& state);

  Seq last() const { return last_; }
  /// How many were saved by this process.
  std::uint64_t taken() const { return taken_; }

 private:
  bool begin_aside(const State& state, const Digest& chain);
  std::optional<Checkpoint> report(const Result<SnapshotInfo>& saved, const State& state);
  void apply_retention(const State& state);

  SnapshotStore* const store_;
  EventLog& log_;
  const std::size_t aside_nodes_;
  const std::function<int()> stops_;
  const std::function<LogTime()> now_;
  const Logger logger_;

  Seq last_;
  std::uint64_t last_bytes_ = 0;
  LogTime began_;
  std::unique_ptr<AsideSave> saving_;  ///< null: none is under way
  int stops_known_ = 0;
  std::uint64_t taken_ = 0;
};

}  // namespace fairlead
