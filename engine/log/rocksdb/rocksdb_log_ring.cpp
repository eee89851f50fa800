// RocksdbLog as the local copy of a replicated log: commits that come with their place in the
// chain.
#include <sstream>

#include "engine/log/rocksdb/log_contents.h"
#include "engine/log/rocksdb/object_index.h"
#include "engine/log/rocksdb/rocksdb_log.h"

namespace fairlead {

namespace {

constexpr const char* kRingKey = "ring";

// "LOG SLOTS NEXT VERSION BASE": the end of the log is stored with the events.
std::string ring_text(const RingPlace& place) {
  return place.log + " " + std::to_string(place.slots) + " " + std::to_string(place.next) + " " +
         std::to_string(place.version) + " " + std::to_string(place.base);
}

std::optional<RingPlace> read_ring_text(const std::string& text) {
  std::istringstream words(text);
  RingPlace place;
  words >> place.log >> place.slots >> place.next >> place.version >> place.base;
  if (!words || !words.eof() || place.slots == 0) return std::nullopt;
  return place;
}

}  // namespace

Result<void> RocksdbLog::store(const ChainedCommit& commit, const RingPlace& place) {
  if (auto before = wait_durable(); !before) return before;
  const LogTail end = tail();
  if (commit.header.first != next(end.last) || commit.header.previous != end.chain)
    return Error{ErrorCode::corrupt, "seq " + std::to_string(commit.header.first.value) +
                                         ": the hash chain does not continue"};
  rocksdb::WriteBatch batch;
  rocksdb::Status status = batch.Put(store_->events, seq_key(commit.header.first),
                                     rocksdb::Slice(commit.pack.data(), commit.pack.size()));
  auto news = news_of_epochs(commit.events, epochs_ahead_);
  for (const auto& [epoch, version] : news)
    if (status.ok()) status = batch.Put(store_->meta, epoch_key(epoch), version);
  CommitIndex index;
  for (std::size_t i = 0; i < commit.events.size(); ++i) {
    index.add(commit.events[i], i);
    if (status.ok() && i < commit.raw.size() && !commit.raw[i].empty())
      status = batch.Put(store_->raw, seq_key(commit.events[i].seq), commit.raw[i]);
  }
  if (status.ok()) status = index.put(batch, *store_, commit.header.first);
  if (status.ok()) status = batch.Put(store_->meta, kRingKey, ring_text(place));
  if (!status.ok()) return stop_writing(translate(status, "cannot make a commit ready"));
  for (const auto& [epoch, version] : news) epochs_ahead_[epoch] = version;
  ahead_ = {commit.header.last(), commit.header.last_time, commit.header.digest};
  chain_ahead_ = ahead_.chain;
  return write(batch, ahead_, news);
}

Result<std::optional<RingPlace>> RocksdbLog::ring_place() const {
  std::string text;
  const rocksdb::Status status = store_->db->Get({}, store_->meta, kRingKey, &text);
  if (status.IsNotFound()) return std::optional<RingPlace>();
  if (!status.ok()) return translate(status, "cannot read the log's place in its ring");
  auto place = read_ring_text(text);
  if (!place)
    return Error{ErrorCode::corrupt,
                 directory_.string() + ": \"" + text + "\" is no place in a ring"};
  const LogTail end = tail();
  place->last = end.last;
  place->chain = end.chain;
  return place;
}

Result<void> RocksdbLog::set_ring_place(const std::optional<RingPlace>& place) {
  if (auto durable = wait_durable(); !durable) return durable;
  // Synced like a commit: judging the write-ahead log assumes that each batch was durable before
  // the next one began.
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status =
      place ? store_->db->Put(options, store_->meta, kRingKey, ring_text(*place))
            : store_->db->Delete(options, store_->meta, kRingKey);
  if (!status.ok())
    return stop_writing(translate(status, "cannot note the ring in " + directory_.string()));
  return {};
}

}  // namespace fairlead
