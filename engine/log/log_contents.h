// Private to the RocksDB log: what a log on disk holds, and whether it is all there.
//
// Judging opens nothing for writing and changes no byte, so that damage can still be looked at
// afterwards. Heard are the packs (dense seqs, chained digests, own checks), RocksDB's checksums,
// the write-ahead log (wal_scan.h) and the witnesses beside the log (witness.h): the acknowledged
// mark and the snapshots. The verdict:
//
//   the packs have a gap, a bad check or a broken link at seq S              damaged at S
//   they end at L, and the write-ahead log holds a batch that began later
//     than the one after L                                                   damaged at L + 1
//   they end at L, and a witness names a later seq                           damaged at L + 1
//   they pass a witness's seq with another digest than it says               damaged at the commit
//                                                                            that holds this seq
//   there are some, they end at L, and there is no mark (acknowledged.h)     damaged at L + 1
//   the manifest lacks a table that holds entries of seq S (lost_tables.h)   damaged at S
//   else                                                                     whole; bytes behind L
//                                                                            are a torn tail
//
// Of pruned events nothing can be said any more: witnesses of them are not heard.
//
// A writer hears all of that about every pack before it adds one. A reader must begin in
// milliseconds, however long the log: it looks at the two ends, the witnesses that it was given and
// the write-ahead log, and meets damage in between when it gets there (PackReader follows the
// chain).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/log/acknowledged.h"
#include "engine/log/commit.h"
#include "engine/log/rocksdb_store.h"
#include "engine/log/witness.h"

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
  LogTail base;  ///< where pruned events ended; the kept ones go on from it
  LogTail tail;
  std::optional<LogDamage> damage;
};

enum class JudgeDepth : std::uint8_t {
  ends,  ///< first and last packs, witnesses and the write-ahead log; every pack only if one of
         ///< them is wrong
  all,   ///< every pack
};

/// Opens the log of a data directory for reading and judges it, with its mark and `witnesses`. An
/// error only if nothing of it can be read.
Result<LogContents> judge_log(const LogPaths& paths, rocksdb::Env* env, JudgeDepth depth,
                              const LogProgress& told, std::span<const LogWitness> witnesses);

/// Walks every pack without decompressing it. Returns where the good ones end; `damage` is set if
/// that is not the end of the log, or `witnesses` (by seq, none before `base`) say otherwise.
/// `incompatible` if a newer program wrote a pack.
Result<LogTail> walk_packs(const Store& store, const LogTail& base,
                           std::span<const LogWitness> witnesses, const LogProgress& told,
                           std::optional<LogDamage>& damage);

}  // namespace fairlead
