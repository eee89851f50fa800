// Opens the log of a data directory with its snapshots as watermark sources
// (engine/log/watermark_source.h).
//
// A snapshot is saved of durable events only and names their seq and the digest of the hash chain
// there, so a log that ends before it, or has another chain, is not the one that was written. The
// log knows nothing of snapshots; every program that opens a data directory does it here.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "engine/log/rocksdb/rocksdb_log.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

/// Opens as RocksdbLog::open does, with the same errors and the snapshots beside the log as
/// watermark sources: all of them for writing, where the whole log is read anyway, the newest good
/// one for reading. Ignores damaged snapshots. Opening for writing fails also as
/// SnapshotStore::expect_writable() does, because a start begins with the state in a snapshot: no
/// other account may exchange one.
Result<std::unique_ptr<RocksdbLog>> open_data_directory(const std::filesystem::path& directory,
                                                        OpenMode mode,
                                                        const LogProgress& progress = {});

/// Verifies as log.verify() does, and compares every good snapshot with the hash chain and with the
/// Checkpoint behind it.
Result<LogVerdict> verify_with(const ReadableLog& log, const SnapshotSource& snapshots,
                               const LogProgress& progress = {});

/// Returns the snapshots that no Checkpoint of the log names: they are not used.
Result<std::vector<Seq>> without_voucher(const ReadableLog& log, const SnapshotSource& snapshots);

}  // namespace fairlead
