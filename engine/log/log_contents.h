// Private to the RocksDB log: what a log on disk holds, and whether it is all there.
//
// Judging opens nothing for writing and changes no byte, so that damage can still be looked at
// afterwards. Four witnesses are heard: the packs (dense seqs, chained digests, own checks),
// RocksDB's checksums, the write-ahead log (wal_scan.h) and the acknowledged mark (acknowledged.h).
// Its verdict:
//
//   the packs have a gap, a bad check or a broken link at seq S              damaged at S
//   they end at L, and the write-ahead log holds a batch that began later
//     than the one after L                                                   damaged at L + 1
//   they end at L, and the mark says that a later seq was acknowledged       damaged at L + 1
//   they pass the mark with another digest than it says                      damaged at the mark
//   else                                                                     whole; bytes behind L
//   are a torn tail
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "engine/log/commit.h"
#include "engine/log/rocksdb_store.h"

namespace fairlead {

/// The files of a data directory.
struct LogPaths {
  explicit LogPaths(const std::filesystem::path& directory)
      : data(directory),
        store(data / "log"),
        fresh(data / "log.new"),
        mark(data / "acknowledged"),
        lock(data / "writer.lock") {}

  std::filesystem::path data;
  std::filesystem::path store;  ///< RocksDB
  std::filesystem::path fresh;  ///< RocksDB while it is being made; renamed to `store`
  std::filesystem::path mark;
  std::filesystem::path lock;
};

/// Where a log is not what was written.
struct LogDamage {
  Seq at;
  std::string what;

  std::string text() const { return "damaged at seq " + std::to_string(at.value) + ": " + what; }
};

/// A log open for reading and what it holds before the damage, if there is any.
struct LogContents {
  std::shared_ptr<Store> store;
  LogTail tail;
  std::optional<LogDamage> damage;
};

/// Opens the log of a data directory for reading and judges it. An error only if nothing of it can
/// be read.
Result<LogContents> judge_log(const LogPaths& paths, rocksdb::Env* env);

}  // namespace fairlead
