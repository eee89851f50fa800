// The snapshots of a data directory: one file each, `DATA/snapshots/SEQ.snapshot`.
//
// A file is written beside its name, synced and renamed, so a crash leaves no half of one. It holds
// a SnapshotEnvelope (schema/codec.h) behind a digest of it: whatever bit is flipped, it is
// noticed, and the log is folded from the snapshot before.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "snapshots/snapshot_source.h"

namespace fairlead {

/// Reads what SnapshotSource::bytes gave. `incompatible` if another fold made it, `corrupt` if it
/// is not what was written.
Result<Snapshot> read_snapshot(std::string_view bytes);
/// What it says of itself, whoever made it. `corrupt` if its state decompresses to more than a log
/// can hold (state_frame.h).
Result<SnapshotInfo> read_snapshot_info(std::string_view bytes);

/// What was found of one.
struct SnapshotVerdict {
  SnapshotInfo info;  ///< with fold_version 0 only its seq, by the file's name: it cannot be read
  std::string fault;  ///< what is wrong with it; empty: nothing is
};

/// What pruning did, each by seq, ascending.
struct SnapshotPruning {
  std::vector<Seq> removed;
  std::vector<Seq> needed;  ///< kept beside the newest: the kept events of a pruned log go on there
  std::vector<SnapshotVerdict> faulty;  ///< damaged or of another log: neither counted nor removed
};

/// More are thinned out by a hub. With the default configuration that is not before the log of a
/// fleet of some ten thousand nodes has 25 million events.
inline constexpr std::size_t kSnapshotsMax = 1024;

/// How many events lie between two snapshots: `every`, or more where the last one was large, so
/// that snapshots take no more of the disk than events do and taking them no more time than
/// folding. A question about the past costs the fold of so many events at most.
std::uint64_t snapshot_spacing(std::int64_t every, std::uint64_t last_bytes);

/// The name of the file of a snapshot.
std::string snapshot_file_name(Seq seq);

class SnapshotStore final : public SnapshotSource {
 public:
  /// Of a data directory; nothing is read or made yet.
  explicit SnapshotStore(std::filesystem::path data_directory);

  /// Also of another fold; damaged ones are left out.
  Result<std::vector<SnapshotInfo>> list() const override;
  /// Every file, with what is wrong with it by its own bytes; the log is not asked.
  std::vector<SnapshotVerdict> survey() const;
  Result<std::optional<Snapshot>> newest(Seq seq) const override;
  Result<std::string> bytes(Seq seq) const override;

  /// What the newest good one says of itself, whatever fold made it; nullopt if there is none.
  std::optional<SnapshotInfo> newest_info() const;

  /// Writes the snapshot of `state`; `chain` is the log's digest after the commit that ends with
  /// state.seq. One that is there already is replaced.
  Result<SnapshotInfo> take(const State& state, const Digest& chain);
  /// Writes a snapshot that bytes() of another source gave. `corrupt`, naming the seq, if its state
  /// decompresses to more than a log can hold.
  Result<SnapshotInfo> keep(std::string_view bytes);
  /// Leaves the newest `count` good ones of each fold version and removes the older ones, but of a
  /// log whose beginning was pruned never the first that the kept events go on from. Those that end
  /// before what such a log keeps go.
  Result<SnapshotPruning> prune(const EventLog& log, std::size_t count);
  /// Leaves about `most`: where there are more, every second of the older half goes, so that the
  /// past stays covered, the further away the more thinly. What the kept events of a pruned log go
  /// on from stays. Returns what was removed.
  Result<std::vector<Seq>> thin(const EventLog& log, std::size_t most);
  /// Removes one; nothing if it is not there.
  Result<void> remove(Seq seq);
  /// Why nothing may be written here: the directory is a symbolic link, or another account may
  /// write it (engine/log/private_files.h). One that does not exist is none.
  Result<void> expect_writable() const;

  /// Where they are; it need not exist.
  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path directory_;
};

/// Holds every snapshot against the log, for `snapshot verify`: its bytes, its digests, its place
/// in the chain, and the state that the events fold to (of a log whose beginning was pruned: from
/// its first snapshot).
Result<std::vector<SnapshotVerdict>> verify_snapshots(const EventLog& log,
                                                      const SnapshotStore& store);

}  // namespace fairlead
