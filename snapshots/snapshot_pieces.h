// Reading the snapshots of a data directory one after another and piece by piece, for a program
// that sends them on: list() would read all of them, bytes() a whole one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "snapshots/snapshot_store.h"

namespace fairlead {

/// Returns the envelope of the first good snapshot at or after `seq`, of any fold version; nullopt
/// if there is none. Reads only files up to that one.
std::optional<SnapshotInfo> first_snapshot_from(const SnapshotStore& store, Seq seq);
/// Returns the size of what SnapshotStore::bytes() returns. Fails with `not_found` if there is no
/// such snapshot.
Result<std::uint64_t> snapshot_bytes(const SnapshotStore& store, Seq seq);
/// Returns `count` bytes of that from `offset` on, and does not check them. Fails with `not_found`
/// if the snapshot, or some of these bytes, are not there.
Result<std::string> snapshot_piece(const SnapshotStore& store, Seq seq, std::uint64_t offset,
                                   std::uint64_t count);

}  // namespace fairlead
