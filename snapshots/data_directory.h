// Opening the log of a data directory with everything that can tell whether it is whole.
//
// A snapshot is taken of durable events only and names their seq and the hash chain there, so a log
// that ends before it, or has another chain, is not the one that was written. The log itself knows
// nothing of snapshots; whoever opens a data directory does it here.
#pragma once

#include <filesystem>
#include <memory>

#include "engine/log/rocksdb_log.h"
#include "snapshots/snapshot_source.h"

namespace fairlead {

/// Opens as RocksdbLog::open does, with the same errors, with the snapshots beside the log as
/// witnesses: all of them for writing, where the whole log is read anyway, the newest good one for
/// reading. A damaged snapshot says nothing. Not opened for writing where nothing may be written
/// beside them either (SnapshotStore::expect_writable): a snapshot decides what a start begins
/// with.
Result<std::unique_ptr<RocksdbLog>> open_data_directory(const std::filesystem::path& directory,
                                                        OpenMode mode,
                                                        const LogProgress& progress = {});

/// As log.verify(), and every good snapshot is held against the chain.
Result<LogVerdict> verify_with(const EventLog& log, const SnapshotSource& snapshots);

}  // namespace fairlead
