// Private to the RocksDB log: judges what a log on disk holds and whether it is complete.
//
// Judging opens nothing for writing and changes no byte, so that damage can still be examined
// afterwards. The evidence is the packs (dense seqs, chained digests, own checks), RocksDB's
// checksums, the write-ahead log (wal_scan.h) and the sources of the watermark
// (watermark_source.h): the mark beside the log and the snapshots. The verdict:
//
//   the packs have a gap, a bad check or a broken link at seq S              damaged at S
//   they end at L, and the write-ahead log holds a batch that began later
//     than the one after L                                                   damaged at L + 1
//   they end at L, and a watermark source names a later seq                  damaged at L + 1
//   they pass a source's seq with a digest that is not the source's          damaged at the commit
//                                                                            that holds this seq
//   there are some, they end at L, and there is no watermark (acknowledged.h)
//                                                                            damaged at L + 1
//   the manifest lacks a table that holds entries of seq S (lost_tables.h)   damaged at S
//   else                                                                     whole; bytes behind L
//                                                                            are a torn tail
//
// Watermark sources of pruned events are ignored: nothing is left to compare them with.
//
// A writer judges every pack before it appends one. A reader must begin in milliseconds, however
// long the log: it judges the two ends, the sources that it was given and the write-ahead log,
// and finds damage in between when it reads there (PackReader follows the chain).
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/log/acknowledged.h"
#include "engine/log/commit.h"
#include "engine/log/rocksdb/rocksdb_store.h"
#include "engine/log/watermark_source.h"

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
  LogTail base;  ///< where pruned events ended; the first kept commit continues it
  LogTail tail;
  std::optional<LogDamage> damage;
};

enum class InspectDepth : std::uint8_t {
  ends,  ///< first and last packs, watermark sources and the write-ahead log; every pack only if
         ///< one of them is wrong
  all,   ///< every pack
};

/// Opens the log of a data directory for reading and judges it by its watermark and `sources`.
/// Calls `report` with the progress of a walk. Fails only if no event can be read; the result
/// reports damage.
Result<LogContents> inspect_log(const LogPaths& paths, rocksdb::Env* env, InspectDepth depth,
                                const LogProgress& report,
                                std::span<const WatermarkSource> sources);

/// Walks every pack without decompressing it and returns where the good ones end. Sets `damage` if
/// that is not the end of the log or a watermark source contradicts it; `sources` are sorted by
/// seq, none before `base`. `report` receives the progress. Fails with `incompatible` if a newer
/// program wrote a pack.
Result<LogTail> walk_packs(const Store& store, const LogTail& base,
                           std::span<const WatermarkSource> sources, const LogProgress& report,
                           std::optional<LogDamage>& damage);

}  // namespace fairlead
