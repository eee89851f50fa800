#include "snapshots/data_directory.h"

#include <utility>
#include <vector>

#include "snapshots/snapshot_store.h"

namespace fairlead {
namespace {

WatermarkSource source_of(const SnapshotInfo& info) {
  return {info.seq, info.log_digest, "snapshots/" + snapshot_file_name(info.seq)};
}

/// Read before the log is opened: a running hub saves later snapshots meanwhile, of events that the
/// opened log need not have.
Result<std::vector<WatermarkSource>> sources_in(const SnapshotStore& store, OpenMode mode) {
  std::vector<WatermarkSource> sources;
  // A reader inspects only the ends of the log, and the newest snapshot names the latest commit.
  if (mode == OpenMode::read) {
    if (const auto newest = store.newest_info()) sources.push_back(source_of(*newest));
    return sources;
  }
  const auto infos = store.list();
  if (!infos) return infos.error();
  for (const SnapshotInfo& info : *infos) sources.push_back(source_of(info));
  return sources;
}

}  // namespace

Result<std::unique_ptr<RocksdbLog>> open_data_directory(const std::filesystem::path& directory,
                                                        OpenMode mode,
                                                        const LogProgress& progress) {
  const SnapshotStore store(directory);
  if (mode == OpenMode::write)
    if (auto ours = store.expect_writable(); !ours) return ours.error();
  const auto sources = sources_in(store, mode);
  if (!sources) return sources.error();
  return RocksdbLog::open(directory, mode, progress, *sources);
}

Result<LogVerdict> verify_with(const ReadableLog& log, const SnapshotSource& snapshots,
                               const LogProgress& progress) {
  auto verdict = log.verify(progress);
  if (!verdict || verdict->broken_at) return verdict;
  const auto infos = snapshots.list();
  if (!infos) return infos.error();
  for (const SnapshotInfo& info : *infos) {
    if (next(info.seq) < log.first_seq() || info.seq > log.last_seq()) continue;
    const auto chain = log.chain_at(info.seq);
    const bool placed = chain && *chain == info.log_digest;
    if (placed && voucher_of(log, info) != Voucher::denied) continue;
    const std::string file = "the file \"snapshots/" + snapshot_file_name(info.seq) + "\" ";
    verdict->broken_at = info.seq;
    verdict->what = placed ? file + "holds another state than the Checkpoint behind it names"
                           : "the hash chain differs from what " + file + "says";
    return verdict;
  }
  return verdict;
}

Result<std::vector<Seq>> without_voucher(const ReadableLog& log, const SnapshotSource& snapshots) {
  const auto infos = snapshots.list();
  if (!infos) return infos.error();
  std::vector<Seq> seqs;
  for (const SnapshotInfo& info : *infos)
    if (next(info.seq) >= log.first_seq() && voucher_of(log, info) == Voucher::none)
      seqs.push_back(info.seq);
  return seqs;
}

}  // namespace fairlead
