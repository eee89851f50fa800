// States of a log that this program folded, kept beside it where its snapshots are far apart, so
// that a question about the past need not fold from the beginning: DATA/folded/NAME/SEQ.snapshot.
//
// No Checkpoint of the log vouches for them, and an imported log must not grow to get one. So only
// questions use them, which the log itself would answer equally, later. What verifies, prunes,
// exports or starts a hub does not see them. NAME follows from the program that folded and from the
// directory that holds the log on this machine: a state of another program, or one that came with a
// copied directory, is not used. They are derived, and may be deleted at any time. Why so:
// docs/decisions/0055-folded-states-beside-an-imported-log.md.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "snapshots/snapshot_store.h"

namespace fairlead {

class FoldedStates final : public SnapshotSource {
 public:
  /// Of the log in the directory `data`. `program` differs between programs that may fold
  /// differently: its version and commit.
  FoldedStates(const std::filesystem::path& data, std::string_view program);

  /// Nothing where another account may write the directories (engine/log/private_files.h).
  Result<std::vector<SnapshotInfo>> list() const override;
  Result<std::optional<Snapshot>> newest(Seq seq) const override;
  Result<std::string> bytes(Seq seq) const override;
  bool vouches_itself() const override { return true; }
  /// The nearest one at or before `seq`, by the names of the files.
  std::optional<Seq> nearest(Seq seq) const;

  /// Removes what other programs left.
  void remove_others() const;
  /// Saves the state after `state.seq` as SnapshotStore::save() does; the caller folded it from the
  /// log.
  Result<SnapshotInfo> save(const State& state, const Digest& chain);

  /// Removes the folded states of a data directory, of every program.
  static void remove_all(const std::filesystem::path& data);

 private:
  bool is_private() const;

  std::filesystem::path data_;
  SnapshotStore store_;
};

/// What a question is answered from: the snapshots for which the log vouches, and the folded states
/// between them.
class SnapshotsForQuestions final : public SnapshotSource {
 public:
  /// `log`, which is in `data`, outlives it; `program` is that of FoldedStates.
  SnapshotsForQuestions(const ReadableLog& log, const std::filesystem::path& data,
                        std::string_view program)
      : log_(log), snapshots_(data), folded_(data, program) {}

  Result<std::vector<SnapshotInfo>> list() const override;
  Result<std::optional<Snapshot>> newest(Seq seq) const override;
  Result<std::string> bytes(Seq seq) const override { return snapshots_.bytes(seq); }
  bool vouches_itself() const override { return true; }

 private:
  const ReadableLog& log_;
  SnapshotStore snapshots_;
  FoldedStates folded_;
};

}  // namespace fairlead
