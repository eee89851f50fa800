// A snapshot that is saved while the hub goes on.
//
// Saving takes some 2.5 us a node, for which nothing else could be done: a second and more of a
// million nodes. So a forked child saves the State as it was, while the kernel copies the pages
// that the hub changes meanwhile. The child has one thread and does nothing but what
// SnapshotStore::save() does; it ends with the hub's process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>

#include "snapshots/snapshot_store.h"

namespace fairlead {

class AsideSave {
 public:
  /// A child that takes longer is ended, and its save has failed.
  static constexpr std::chrono::minutes kPatience{10};

  /// Begins to save as SnapshotStore::save() does. Returns null if the machine gives no process or
  /// memory for it; the caller can save by itself then. The child ends when the calling thread
  /// does.
  static std::unique_ptr<AsideSave> begin(SnapshotStore& store, const State& state,
                                          const Digest& chain);
  /// Gives up what is still under way, which leaves no snapshot.
  ~AsideSave();
  AsideSave(const AsideSave&) = delete;
  AsideSave& operator=(const AsideSave&) = delete;

  /// Returns the result once, as soon as there is one; does not wait.
  std::optional<Result<SnapshotInfo>> result();

 private:
  AsideSave(pid_t child, int answer, SnapshotInfo info);
  void end();
  Result<SnapshotInfo> answered() const;

  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  pid_t child_;        ///< 0: it has ended
  int answer_;         ///< the pipe that it writes to
  SnapshotInfo info_;  ///< what is known before
};

}  // namespace fairlead
