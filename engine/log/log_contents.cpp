#include "engine/log/log_contents.h"

#include "engine/log/acknowledged.h"
#include "engine/log/pack.h"
#include "engine/log/wal_scan.h"

namespace fairlead {
namespace {

/// Checks that one stored pack continues the log; what is wrong otherwise.
std::optional<std::string> continue_with(const PackHeader& pack, Seq key, LogTail& tail) {
  if (key != next(tail.last) || pack.first != key)
    return "the next events in the log begin at seq " + std::to_string(key.value);
  if (pack.previous != tail.chain) return "the hash chain does not continue";
  if (pack.first_time < tail.last_time || pack.last_time < pack.first_time) return "time goes back";
  tail = {pack.last(), pack.last_time, pack.digest};
  return std::nullopt;
}

/// Walks every pack without decompressing it.
Result<void> walk_packs(LogContents& contents, const std::optional<Acknowledged>& mark) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = 2u << 20;
  const std::unique_ptr<rocksdb::Iterator> packs(
      contents.store->db->NewIterator(options, contents.store->events));
  for (packs->SeekToFirst(); packs->Valid(); packs->Next()) {
    const auto header = read_pack_header(packs->value().ToStringView());
    const Seq expected = next(contents.tail.last);
    if (!header) {
      if (header.error().code == ErrorCode::incompatible) return header.error();
      contents.damage = LogDamage{expected, header.error().message};
      return {};
    }
    LogTail tail = contents.tail;
    auto fault = continue_with(*header, seq_of_key(packs->key()), tail);
    if (!fault && mark && tail.last == mark->seq && tail.chain != mark->chain)
      fault = "the events are not those that were acknowledged";
    if (fault) {
      contents.damage = LogDamage{expected, *std::move(fault)};
      return {};
    }
    contents.tail = tail;
  }
  if (!packs->status().ok())
    contents.damage =
        LogDamage{next(contents.tail.last), translate(packs->status(), "cannot read").message};
  return {};
}

}  // namespace

Result<LogContents> judge_log(const LogPaths& paths, rocksdb::Env* env) {
  // The witnesses that a writer may move forward meanwhile are heard before the log itself.
  const std::optional<Acknowledged> mark = read_acknowledged(paths.mark);
  const Result<std::uint64_t> last_batch = last_batch_in_directory(paths.store);
  if (!last_batch) return last_batch.error();
  Result<std::shared_ptr<Store>> store = open_store_for_reading(paths.store, env);
  if (!store) return store.error();

  LogContents contents;
  contents.store = *std::move(store);
  if (auto walked = walk_packs(contents, mark); !walked) return walked.error();
  if (contents.damage) return contents;
  const Seq after = next(contents.tail.last);
  if (*last_batch > contents.store->db->GetLatestSequenceNumber() + 1)
    contents.damage = LogDamage{after, "the write-ahead log is damaged before its last commit"};
  else if (mark && mark->seq > contents.tail.last)
    contents.damage = LogDamage{after, "the log ends here, but was acknowledged up to seq " +
                                           std::to_string(mark->seq.value)};
  return contents;
}

}  // namespace fairlead
