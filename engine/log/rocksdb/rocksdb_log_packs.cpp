// RocksdbLog's operations on whole group commits: passing them to a caller, pruning the oldest, and
// moving the newest from the write-ahead log to tables.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "engine/log/pack.h"
#include "engine/log/rocksdb/log_contents.h"
#include "engine/log/rocksdb/rocksdb_log.h"

namespace fairlead {

namespace fs = std::filesystem;

std::map<Epoch, std::string> RocksdbLog::epochs() const {
  const std::lock_guard lock(mutex_);
  return epochs_;
}

Result<void> RocksdbLog::for_each_pack(
    Seq from, Seq last,
    const std::function<Result<PackWalk>(const PackHeader&, std::string_view pack)>& visit) const {
  auto before = from == Seq{} ? Result<LogTail>(base()) : tail_through({from.value - 1});
  if (!before) return before.error();
  LogTail tail = *before;
  if (from != Seq{} && next(tail.last) != from)
    return Error{ErrorCode::bad_input,
                 "no group commit begins with seq " + std::to_string(from.value)};
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> packs(store_->db->NewIterator(options, store_->events));
  for (packs->Seek(seq_key(next(tail.last))); packs->Valid() && tail.last < last; packs->Next()) {
    const std::string where = "seq " + std::to_string(next(tail.last).value);
    const auto header = read_pack_header(packs->value().ToStringView());
    if (!header) return in_context(where, header.error());
    if (header->first != next(tail.last) || header->previous != tail.chain)
      return Error{ErrorCode::corrupt, where + ": the hash chain does not continue"};
    const auto visited = visit(*header, packs->value().ToStringView());
    if (!visited) return visited.error();
    if (*visited == PackWalk::stop) return {};
    tail = {header->last(), header->last_time, header->digest};
  }
  if (!packs->status().ok()) return translate(packs->status(), "cannot read the log");
  if (tail.last < last)
    return Error{ErrorCode::corrupt,
                 "the log ends early, at seq " + std::to_string(tail.last.value)};
  return {};
}

Result<PackHeader> RocksdbLog::pack_holding(Seq seq) const {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> packs(store_->db->NewIterator(options, store_->events));
  packs->SeekForPrev(seq_key(seq));
  const std::string where = "seq " + std::to_string(seq.value);
  if (!packs->status().ok()) return translate(packs->status(), where + ": cannot read the log");
  if (!packs->Valid()) return Error{ErrorCode::corrupt, where + " is not in the log"};
  auto header = read_pack_header(packs->value().ToStringView());
  if (!header) return in_context(where, header.error());
  if (seq < header->first || header->last() < seq)
    return Error{ErrorCode::corrupt, where + " is not in the log"};
  return header;
}

Result<LogTail> RocksdbLog::tail_through(Seq seq) const {
  if (seq >= last_seq()) return tail();
  if (seq < first_seq()) return base();
  const auto header = pack_holding(seq);
  if (!header) return header.error();
  return LogTail{header->last(), header->last_time, header->digest};
}

Result<LogTail> RocksdbLog::tail_before(Seq seq) const {
  if (seq > last_seq()) return tail();
  if (seq <= first_seq()) return base();
  const auto header = pack_holding(seq);
  if (!header) return header.error();
  return tail_through({header->first.value - 1});
}

Result<void> RocksdbLog::prune_before(Seq seq) {
  if (auto durable = wait_durable(); !durable) return durable;
  if (seq <= first_seq()) return {};
  const auto cut = tail_before(seq);
  if (!cut) return cut.error();
  if (cut->last < first_seq()) return {};
  // Where no event is kept, every epoch goes, too.
  Epoch oldest{UINT64_MAX};  // of the kept events
  if (cut->last < last_seq()) {
    const auto reader = read(next(cut->last));
    if (!reader) return reader.error();
    const auto first = (*reader)->next();
    if (!first) return first.error();
    oldest = (*first)->epoch;
  }
  std::map<Epoch, std::string> epochs = epochs_;
  const std::string first_key = seq_key(next(cut->last));
  // One batch: a crash leaves the log with either the old beginning or the new one.
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Put(store_->meta, "base", base_bytes(*cut));
  for (rocksdb::ColumnFamilyHandle* family : {store_->events, store_->raw})
    if (status.ok()) status = batch.DeleteRange(family, seq_key({0}), first_key);
  // Epochs never decrease from event to event: those before the first kept one's have no event
  // left.
  while (status.ok() && !epochs.empty() && epochs.begin()->first < oldest) {
    status = batch.Delete(store_->meta, epoch_key(epochs.begin()->first));
    epochs.erase(epochs.begin());
  }
  rocksdb::WriteOptions options;
  options.sync = true;
  if (status.ok()) status = store_->db->Write(options, &batch);
  if (!status.ok())
    return stop_writing(translate(status, "cannot prune the log in " + directory_.string()));
  {
    const std::lock_guard lock(mutex_);
    base_ = *cut;
    epochs_ = std::move(epochs);
    epochs_ahead_ = epochs_;
  }
  // Only once the batch is durable: a compaction must not drop index entries of events that a crash
  // brings back.
  store_->pruned_entries.first = next(cut->last).value;
  return free_pruned();
}

Result<void> RocksdbLog::move_to_tables() {
  if (auto durable = wait_durable(); !durable) return durable;
  const rocksdb::Status status =
      store_->db->Flush({}, {store_->events, store_->raw, store_->by_object, store_->meta});
  if (!status.ok())
    return translate(status, "cannot empty the write-ahead log in " + directory_.string());
  return {};
}

Result<void> RocksdbLog::make_durable() const {
  std::error_code error;
  for (const fs::directory_entry& file : fs::directory_iterator(directory_ / "log", error)) {
    if (file.path().extension() != ".log") continue;
    const int descriptor = ::open(file.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) continue;  // its contents are in tables by now, which are synced
    const bool synced = ::fsync(descriptor) == 0;
    ::close(descriptor);
    if (!synced) return Error{ErrorCode::unavailable, file.path().string() + ": cannot be synced"};
  }
  if (error) return Error{ErrorCode::unavailable, directory_.string() + ": " + error.message()};
  return {};
}

/// Compacts the tables that still hold pruned events. The events are deleted whether or not this
/// succeeds. The keys of `by_object` begin with the kind, not the seq, so it is compacted whole.
Result<void> RocksdbLog::free_pruned() {
  const std::string end = seq_key(first_seq());
  const rocksdb::Slice until(end);
  for (rocksdb::ColumnFamilyHandle* family : {store_->events, store_->raw, store_->by_object}) {
    const bool by_seq = family != store_->by_object;
    const rocksdb::Status status =
        store_->db->CompactRange({}, family, nullptr, by_seq ? &until : nullptr);
    if (!status.ok())
      return translate(status, directory_.string() + ": pruned, but the disk was not freed");
  }
  return {};
}

}  // namespace fairlead
