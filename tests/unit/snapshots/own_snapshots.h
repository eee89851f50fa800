// Snapshots that a test folded itself, at places where its log has no Checkpoint.
#pragma once

#include "snapshots/snapshot_source.h"

namespace fairlead {

class OwnSnapshots final : public SnapshotSource {
 public:
  /// `source` must outlive this.
  explicit OwnSnapshots(const SnapshotSource& source) : source_(source) {}
  Result<std::vector<SnapshotInfo>> list() const override { return source_.list(); }
  Result<std::optional<Snapshot>> newest(Seq seq) const override { return source_.newest(seq); }
  Result<std::string> bytes(Seq seq) const override { return source_.bytes(seq); }
  bool vouches_itself() const override { return true; }

 private:
  const SnapshotSource& source_;
};

}  // namespace fairlead
