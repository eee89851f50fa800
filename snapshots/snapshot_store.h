// The snapshots of a data directory: one file each, `DATA/snapshots/SEQ.snapshot`.
//
// A file is written under a temporary name, synced and renamed, so a crash leaves no partial one.
// It holds a SnapshotEnvelope (schema/codec.h) behind its SHA-256: a file with any bit flipped is
// skipped, and the log is folded from the snapshot before it.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "snapshots/snapshot_source.h"

namespace fairlead {

/// Decodes the bytes that SnapshotSource::bytes() returned. Fails with `incompatible` if another
/// fold version made the snapshot, with `corrupt` if it is not what was written.
Result<Snapshot> read_snapshot(std::string_view bytes);
/// Decodes the envelope alone, of any fold version. Fails with `corrupt` if its state decompresses
/// to more than a log can hold (state_frame.h).
Result<SnapshotInfo> read_snapshot_info(std::string_view bytes);

/// The result of checking one snapshot.
struct SnapshotVerdict {
  SnapshotInfo info;  ///< fold_version 0: unreadable, and only the seq from the file's name is set
  std::string fault;  ///< empty if it is good
};

/// The result of pruning; each list ascends by seq.
struct SnapshotPruning {
  std::vector<Seq> removed;
  std::vector<Seq> needed;  ///< kept beside the newest, because a pruned log can only be folded
                            ///< from there
  std::vector<SnapshotVerdict> faulty;  ///< damaged or of another log: neither counted nor removed
};

/// The number of snapshots beyond which a hub applies retention (SnapshotStore::thin). With the
/// default configuration a fleet of some ten thousand nodes reaches it after 25 million events.
inline constexpr std::size_t kSnapshotsMax = 1024;

/// Returns the number of events between two snapshots: `every`, or more if the last snapshot was
/// large (`last_bytes`), so that snapshots use no more disk than events do and saving them no more
/// time than folding. A question about the past folds at most about this many events.
std::uint64_t snapshot_spacing(std::int64_t every, std::uint64_t last_bytes);

/// Returns the file name of a snapshot: its seq in 20 digits, so that names sort by seq.
std::string snapshot_file_name(Seq seq);

class SnapshotStore final : public SnapshotSource {
 public:
  /// Names the snapshots of a data directory, or those in another folder of it; reads and creates
  /// nothing yet.
  explicit SnapshotStore(std::filesystem::path data_directory,
                         std::string_view folder = "snapshots");

  /// Includes those of other fold versions, leaves out damaged ones.
  Result<std::vector<SnapshotInfo>> list() const override;
  /// Checks every file by its own bytes, without the log and without decoding its state.
  std::vector<SnapshotVerdict> survey() const;
  Result<std::optional<Snapshot>> newest(Seq seq) const override;
  Result<std::string> bytes(Seq seq) const override;

  /// Returns the seq of the newest at or before `seq` by the names of the files, none of which is
  /// read.
  std::optional<Seq> nearest(Seq seq) const;
  /// Returns the envelope of the newest good one, of any fold version; nullopt if there is none.
  std::optional<SnapshotInfo> newest_info() const;

  /// Whether a save that is under way is given up, which leaves no file; empty: none is.
  using GivesUp = std::function<bool()>;
  /// Saves the snapshot of `state` and replaces one of the same seq. `chain` is the log's digest
  /// after the commit that ends with state.seq, which must be durable. Fails with `unavailable` if
  /// the state exceeds the bounds in state_frame.h, the file cannot be written, or it is given up.
  Result<SnapshotInfo> save(const State& state, const Digest& chain, const GivesUp& gives_up = {});
  /// Saves the bytes that bytes() of another source returned. Fails with `corrupt`, naming the seq,
  /// if the state decompresses to more than a log can hold.
  Result<SnapshotInfo> keep(std::string_view bytes);
  /// Keeps the newest `count` good ones of each fold version and removes the older ones. Of a
  /// pruned log it keeps also the first of each fold version from which the kept events can be
  /// folded, and removes all from which they cannot.
  Result<SnapshotPruning> prune(const ReadableLog& log, std::size_t count);
  /// Applies retention: if there are more than `most`, removes every second of the older half, so
  /// that snapshots get sparser the older they are. Of a pruned log it keeps the first from which
  /// the kept events can be folded. Removes also what a save that was cut off by a crash left; so
  /// only the log's writer may call it. Returns the removed seqs.
  Result<std::vector<Seq>> apply_retention(const ReadableLog& log, std::size_t most);
  /// Removes a snapshot; succeeds if there is none.
  Result<void> remove(Seq seq);
  /// Fails if nothing may be written here: with `unavailable` if the directory is a symbolic link,
  /// with `bad_input` if another account may write it (engine/log/private_files.h). Succeeds if it
  /// does not exist.
  Result<void> expect_writable() const;

  /// Returns the directory of the snapshots, which need not exist.
  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path directory_;
};

/// Compares every snapshot with the log, for `snapshot verify`: its bytes, its digests, its place
/// in the hash chain, and the state to which the events fold (for a pruned log from its first good
/// snapshot on).
Result<std::vector<SnapshotVerdict>> verify_snapshots(const ReadableLog& log,
                                                      const SnapshotStore& store);

}  // namespace fairlead
