#include "engine/log/rocksdb/rocksdb_log.h"

#include <algorithm>
#include <system_error>

#include "engine/base/stop_point.h"
#include "engine/log/acknowledged.h"
#include "engine/log/pack.h"
#include "engine/log/pack_reader.h"
#include "engine/log/private_files.h"
#include "engine/log/rocksdb/damaged_file.h"
#include "engine/log/rocksdb/log_contents.h"
#include "engine/log/rocksdb/log_place.h"
#include "engine/log/rocksdb/object_index.h"
#include "engine/log/rocksdb/stopping_env.h"
#include "engine/log/writer_lock.h"
#include "schema/event_json.h"

namespace fairlead {
namespace {

namespace fs = std::filesystem;

/// Files of a running hub can vanish between being listed and being read: a reader tries again.
constexpr int kReadAttemptsMax = 4;

/// The first access to fresh memory is slow, so payload buffers up to this size are reused: one
/// that is being packed, one that is being linked and one that is being filled. Without it an event
/// of `append CPU/1024 x 2 KB` costs 1.9 us instead of 1.6, and its rate is a tenth less.
constexpr std::size_t kSpareBytesMax = std::size_t{16} << 20;
constexpr std::size_t kSparesMax = 3;

/// Fails if the log opened for writing does not end where the judged one did.
Result<void> expect_tail(const Store& store, const LogTail& base, const LogTail& tail) {
  const std::unique_ptr<rocksdb::Iterator> packs(store.db->NewIterator({}, store.events));
  packs->SeekToLast();
  if (!packs->status().ok()) return translate(packs->status(), "cannot read the log");
  if (!packs->Valid() && tail.last == base.last) return {};
  const auto header =
      packs->Valid() ? read_pack_header(packs->value().ToStringView()) : PackHeader{};
  if (header && header->digest == tail.chain) return {};
  return Error{ErrorCode::internal, "the log opened for writing is not the one that was judged"};
}

}  // namespace

RocksdbLog::RocksdbLog() = default;

RocksdbLog::~RocksdbLog() {
  static_cast<void>(
      wait_durable());  // a caller that needs the outcome has called wait_durable() itself
  if (mark_ != nullptr) static_cast<void>(mark_->sync());
}

Result<std::unique_ptr<RocksdbLog>> RocksdbLog::open(const fs::path& directory, OpenMode mode,
                                                     const LogProgress& progress,
                                                     std::span<const WatermarkSource> sources) {
  return open_with(stopping_env(), directory, mode, progress, sources);
}

Result<std::unique_ptr<RocksdbLog>> RocksdbLog::open_on(rocksdb::Env& env,
                                                        const fs::path& directory, OpenMode mode) {
  return open_with(&env, directory, mode, {}, {});
}

Result<std::unique_ptr<RocksdbLog>> RocksdbLog::open_with(
    rocksdb::Env* env, const fs::path& directory, OpenMode mode, const LogProgress& progress,
    std::span<const WatermarkSource> sources) {
  std::unique_ptr<RocksdbLog> log(new RocksdbLog);
  log->directory_ = directory;
  const Result<void> opened = mode == OpenMode::write
                                  ? log->open_for_writing(env, progress, sources)
                                  : log->open_for_reading(env, progress, sources);
  if (!opened) return with_damage_advice(directory, opened.error());
  return log;
}

Result<void> RocksdbLog::open_for_writing(rocksdb::Env* env, const LogProgress& progress,
                                          std::span<const WatermarkSource> sources) {
  const LogPaths paths(directory_);
  if (auto made = make_private_directory(paths.data); !made) return made.error();
  // Before the lock, whose file must not appear in another program's directory, and again under
  // it, because another process may have made the log meanwhile.
  const Result<bool> before = has_log(paths);
  if (!before) return before.error();
  Result<std::unique_ptr<WriterLock>> lock = WriterLock::acquire(paths.lock);
  if (!lock) return lock.error();
  lock_ = *std::move(lock);
  const Result<bool> found = has_log(paths);
  if (!found) return found.error();
  if (!*found)
    if (auto made = make_log(paths, env, sources); !made) return made.error();
  if (auto ours = expect_private(paths.store); !ours) return ours.error();

  Result<LogContents> contents = inspect_log(paths, env, InspectDepth::all, progress, sources);
  if (!contents) return contents.error();
  if (contents->damage)
    return Error{ErrorCode::corrupt,
                 "the log is " + contents->damage->text() +
                     "; it is not written to, and what is before that can still be read"};
  // Closed first: a writer drops the torn tail and deletes files that this instance may read.
  contents->store.reset();
  Result<std::shared_ptr<Store>> store = open_store_for_writing(paths.store, env);
  if (!store) return store.error();
  Result<std::unique_ptr<AcknowledgedFile>> mark = AcknowledgedFile::open(paths.mark);
  if (!mark) return mark.error();
  store_ = *std::move(store);
  mark_ = *std::move(mark);
  base_ = contents->base;
  tail_ = contents->tail;
  // Compactions may run since the store was opened. Until here the bound is 0 and drops nothing.
  store_->pruned_entries.first = first_seq().value;
  auto epochs = read_epochs(*store_);
  if (!epochs) return epochs.error();
  epochs_ = *std::move(epochs);
  ahead_ = tail_;
  chain_ahead_ = tail_.chain;
  epochs_ahead_ = epochs_;
  if (auto same = expect_tail(*store_, base_, tail_); !same) return same.error();
  // Both slots: an older watermark in the file is obsolete. It and the directory's entries are
  // durable before the first commit, so a log with events and no watermark has lost a file.
  if (!mark_->begin({tail_.last, tail_.chain}))
    return Error{ErrorCode::unavailable, paths.mark.string() + ": cannot be written"};
  return sync_entries(paths.data);
}

Result<void> RocksdbLog::open_for_reading(rocksdb::Env* env, const LogProgress& progress,
                                          std::span<const WatermarkSource> sources) {
  const LogPaths paths(directory_);
  const Result<bool> found = has_log(paths);
  if (!found) return found.error();
  if (!*found) {
    if (auto none = expect_none_before(paths, sources); !none) return none;
    return Error{ErrorCode::not_found, directory_.string() + " holds no Fairlead log"};
  }
  Result<LogContents> contents = inspect_log(paths, env, InspectDepth::ends, progress, sources);
  for (int attempt = 1; attempt < kReadAttemptsMax && (!contents || contents->damage); ++attempt)
    contents = inspect_log(paths, env, InspectDepth::ends, progress, sources);
  if (!contents) return contents.error();
  store_ = contents->store;
  base_ = contents->base;
  tail_ = contents->tail;
  auto epochs = read_epochs(*store_);
  if (!epochs) return epochs.error();
  epochs_ = *std::move(epochs);
  if (contents->damage) damage_ = std::make_unique<LogDamage>(*std::move(contents->damage));
  stopped_ = Error{ErrorCode::read_only, directory_.string() + ": the log was opened for reading"};
  return {};
}

LogTail RocksdbLog::tail() const {
  const std::lock_guard lock(mutex_);
  return tail_;
}

unsigned RocksdbLog::schema_version() const { return read_schema_version(*store_); }

LogTail RocksdbLog::base() const {
  const std::lock_guard lock(mutex_);
  return base_;
}

Error RocksdbLog::stop_writing(Error why) {
  const std::lock_guard lock(mutex_);
  stopped_ = Error{
      ErrorCode::read_only,
      directory_.string() + ": the log takes no more events since a commit failed: " + why.message};
  return why;
}

/// A group commit with its seqs, between preparing and writing.
struct RocksdbLog::Prepared {
  std::vector<Event> events;  ///< until they are moved to the caller
  PackHeader header;
  std::string payload;
  rocksdb::WriteBatch batch;
  LogTail reached;
  std::map<Epoch, std::string> news;  ///< epochs to list, with their program versions
};

Result<void> RocksdbLog::expect_writable() const {
  const std::lock_guard lock(mutex_);
  if (stopped_) return *stopped_;
  return {};
}

Result<std::shared_ptr<RocksdbLog::Prepared>> RocksdbLog::prepare(std::vector<EventDraft>& drafts,
                                                                  LogTime time, Epoch epoch) {
  const auto prepared = std::make_shared<Prepared>();
  std::string memory;
  {
    const std::lock_guard lock(mutex_);
    if (!spare_.empty()) {
      memory = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  Result<Commit> commit = make_unchained(ahead_, drafts, time, epoch, std::move(memory));
  if (!commit) return commit.error();
  prepared->header = header_of(*commit);
  prepared->reached = tail_after(*commit);
  prepared->payload = std::move(commit->payload);
  prepared->events = std::move(commit->events);
  prepared->news = news_of_epochs(prepared->events, epochs_ahead_);
  for (const auto& [begun, version] : prepared->news) epochs_ahead_[begun] = version;
  CommitIndex index;
  rocksdb::Status status;
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const Event& event = prepared->events[i];
    index.add(event, i);
    if (status.ok() && !drafts[i].raw.empty())
      status = prepared->batch.Put(store_->raw, seq_key(event.seq), drafts[i].raw);
  }
  if (status.ok()) status = index.put(prepared->batch, *store_, prepared->header.first);
  if (!status.ok()) return stop_writing(translate(status, "cannot make a commit ready"));
  return prepared;
}

/// Runs on the thread of linking_, or on the caller's when no stage has work, as append()
/// waits for. So chain_ahead_ has one user at a time, without a lock.
void RocksdbLog::link(Prepared& prepared) {
  PackHeader& header = prepared.header;
  header.previous = chain_ahead_;
  header.digest = extend_chain(header.previous, prepared.payload, header.count);
  prepared.reached.chain = chain_ahead_ = header.digest;
}

Result<void> RocksdbLog::pack_up(Prepared& prepared) {
  rocksdb::WriteBatch& batch = prepared.batch;
  rocksdb::Status status = batch.Put(store_->events, seq_key(prepared.header.first),
                                     pack(prepared.header, prepared.payload));
  for (const auto& [epoch, version] : prepared.news)
    if (status.ok()) status = batch.Put(store_->meta, epoch_key(epoch), version);
  if (!status.ok()) return stop_writing(translate(status, "cannot make a commit ready"));
  const std::lock_guard lock(mutex_);
  if (prepared.payload.capacity() <= kSpareBytesMax && spare_.size() < kSparesMax)
    spare_.push_back(std::move(prepared.payload));
  return {};
}

/// Never retries: after a failed sync the contents of the disk are unknown, and a second fsync can
/// succeed without having written the pages that the first one lost.
Result<void> RocksdbLog::write(rocksdb::WriteBatch& batch, const LogTail& reached,
                               std::map<Epoch, std::string>& news) {
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status = store_->db->Write(options, &batch);
  if (!status.ok())
    return stop_writing(translate(status, "cannot append to the log in " + directory_.string()));
  stop_point("append.before_mark");
  mark_->write({reached.last, reached.chain});
  stop_point("append.after_mark");
  const std::lock_guard lock(mutex_);
  tail_ = reached;
  for (auto& [epoch, version] : news) epochs_[epoch] = std::move(version);
  return {};
}

Result<std::vector<Event>> RocksdbLog::append(std::vector<EventDraft>&& drafts, LogTime time,
                                              Epoch epoch, Durability durability) {
  if (durability == Durability::pending) return append_pipelined(std::move(drafts), time, epoch);
  if (auto before = wait_durable(); !before) return before.error();
  if (drafts.empty()) return std::vector<Event>();
  auto prepared = prepare(drafts, time, epoch);
  if (!prepared) return prepared.error();
  link(**prepared);
  if (auto packed = pack_up(**prepared); !packed) return packed.error();
  if (auto written = write((*prepared)->batch, (*prepared)->reached, (*prepared)->news); !written)
    return written.error();
  ahead_ = (*prepared)->reached;
  return std::move((*prepared)->events);
}

Result<std::vector<Event>> RocksdbLog::append_pipelined(std::vector<EventDraft>&& drafts,
                                                        LogTime time, Epoch epoch) {
  if (auto writable = expect_writable(); !writable) return writable.error();
  if (drafts.empty()) return std::vector<Event>();
  auto prepared = prepare(drafts, time, epoch);
  if (!prepared) return prepared.error();
  std::vector<Event> events = std::move((*prepared)->events);
  // Right even if begin() fails below: it does so only after a stage failed, and then nothing more
  // is appended.
  ahead_ = (*prepared)->reached;
  const auto pack = [this, prepared = *prepared]() -> Result<void> {
    if (auto packed = pack_up(*prepared); !packed) return packed;
    return writing_.begin(
        [this, prepared] { return write(prepared->batch, prepared->reached, prepared->news); });
  };
  // Each stage has one thread and passes commits on in order, so they are linked, packed and
  // written in the order of their seqs.
  auto work = [this, pack, prepared = *prepared] {
    link(*prepared);
    return packing_.begin(pack);
  };
  if (auto begun = linking_.begin(std::move(work)); !begun) return begun.error();
  return events;
}

Result<void> RocksdbLog::wait_durable() {
  // In this order: when a stage is idle, it has handed all its commits to the next one.
  if (auto linked = linking_.flush(); !linked) return linked;
  if (auto packed = packing_.flush(); !packed) return packed;
  if (auto written = writing_.flush(); !written) return written;
  return expect_writable();
}

Result<std::unique_ptr<EventReader>> RocksdbLog::read(Seq from) const {
  const Seq first = first_seq();
  if (from.value == 0) from = first;
  if (from < first) return was_pruned(from, first);
  return std::unique_ptr<EventReader>(std::make_unique<PackReader>(
      store_, from, last_seq(), damage_ == nullptr ? std::optional<LogDamage>() : *damage_));
}

Result<Seq> RocksdbLog::last_at(LogTime time) const {
  const LogTail begin = base();
  const LogTail end = tail();
  if (end.last_time <= time) return end.last;
  if (begin.last.value > 0 && time < begin.last_time) return was_pruned_at(begin);
  // Log times never decrease, so the last pack that does not begin later is found by halving. The
  // middle is rounded up, so that one of the bounds moves each time.
  const std::unique_ptr<rocksdb::Iterator> packs(store_->db->NewIterator({}, store_->events));
  Seq low = begin.last;
  for (Seq high = end.last; low < high;) {
    const Seq middle{low.value + (high.value - low.value + 1) / 2};
    packs->SeekForPrev(seq_key(middle));
    if (!packs->Valid()) return translate(packs->status(), "cannot read the log");
    const auto header = read_pack_header(packs->value().ToStringView());
    if (!header) return in_context("seq " + std::to_string(middle.value), header.error());
    if (header->last_time <= time)
      low = std::min(header->last(), high);
    else if (header->first_time > time)
      high = Seq{header->first.value - 1};
    else
      return Error{ErrorCode::corrupt, "the events of a group commit have different times"};
  }
  return low;
}

Result<std::optional<std::string>> RocksdbLog::raw(Seq seq) const {
  std::string text;
  const rocksdb::Status status = store_->db->Get({}, store_->raw, seq_key(seq), &text);
  if (status.IsNotFound() || seq > last_seq()) return std::optional<std::string>();
  if (!status.ok())
    return translate(status, "cannot read the raw object of seq " + std::to_string(seq.value));
  return std::optional<std::string>(std::move(text));
}

Result<void> RocksdbLog::drop_raw_before(Seq seq) {
  if (auto durable = wait_durable(); !durable) return durable;
  // Synced like a commit: judging the write-ahead log assumes that each batch was durable before
  // the next one began.
  rocksdb::WriteOptions options;
  options.sync = true;
  const rocksdb::Status status =
      store_->db->DeleteRange(options, store_->raw, seq_key({0}), seq_key(seq));
  if (!status.ok())
    return stop_writing(translate(status, "cannot drop raw objects in " + directory_.string()));
  return {};
}

Result<std::vector<Seq>> RocksdbLog::history(std::string_view source, const ObjectKey& key) const {
  auto found = find_in_index(*store_, source, key, first_seq(), last_seq());
  if (!found) return with_damage_advice(directory_, found.error());
  return found;
}

Result<std::vector<Seq>> RocksdbLog::history_before(std::string_view source, const ObjectKey& key,
                                                    Seq before, std::size_t most) const {
  const Seq last{before.value == 0 ? 0 : std::min(last_seq().value, before.value - 1)};
  auto found = find_newest_in_index(*store_, source, key, first_seq(), last, most);
  if (!found) return with_damage_advice(directory_, found.error());
  return found;
}

Result<std::vector<Seq>> RocksdbLog::signs(std::string_view source) const {
  auto indexed = find_signs(*store_, source, first_seq(), last_seq());
  if (!indexed) return with_damage_advice(directory_, indexed.error());
  // A log begins with the start of a hub, which is a sign: events before the first indexed sign
  // were written by a program without this index and are read one by one. A pruned log need not
  // begin with a sign, so this holds only for one that was never pruned.
  std::vector<Seq> found;
  const auto reader = read({0});
  if (!reader) return reader.error();
  while (base().last == Seq{}) {
    const auto event = (*reader)->next();
    if (!event) return event.error();
    if (!*event || (*event)->seq >= indexed->first) break;
    if (is_sign(**event) && (*event)->source == source) found.push_back((*event)->seq);
  }
  found.insert(found.end(), indexed->seqs.begin(), indexed->seqs.end());
  return found;
}

Seq RocksdbLog::first_seq() const { return next(base().last); }
Seq RocksdbLog::last_seq() const { return tail().last; }
LogTime RocksdbLog::last_time() const { return tail().last_time; }
Digest RocksdbLog::chain() const { return tail().chain; }

Result<Digest> RocksdbLog::chain_at(Seq seq) const {
  const LogTail begin = base();
  if (seq == begin.last) return begin.chain;
  if (seq < begin.last || seq > last_seq()) return no_commit_ends_at(seq);
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> packs(store_->db->NewIterator(options, store_->events));
  packs->SeekForPrev(seq_key(seq));
  if (!packs->status().ok()) return translate(packs->status(), "cannot read the log");
  if (!packs->Valid()) return no_commit_ends_at(seq);
  const auto header = read_pack_header(packs->value().ToStringView());
  if (!header) return in_context("seq " + std::to_string(seq.value), header.error());
  if (header->last() != seq) return no_commit_ends_at(seq);
  return header->digest;
}

std::string RocksdbLog::damage() const {
  return damage_ == nullptr ? std::string() : damage_->text();
}

/// Counts the events before the damage by reading them: stored epochs and seqs cover all events.
LogStat RocksdbLog::count_events() const {
  LogStat stat;
  const auto reader = read({0});
  for (;;) {
    if (!reader) return stat;
    const auto event = (*reader)->next();
    if (!event || !*event) return stat;
    count_event(stat, **event);
  }
}

Result<LogStat> RocksdbLog::stat() const {
  LogStat stat = damage_ != nullptr ? count_events() : LogStat{};
  if (damage_ == nullptr) {
    const std::lock_guard lock(mutex_);
    stat.events = tail_.last.value - base_.last.value;
    stat.last = tail_.last;
    stat.last_time = tail_.last_time;
    stat.first = stat.events == 0 ? Seq{0} : next(base_.last);
    for (const auto& [epoch, version] : epochs_) {
      stat.epochs.push_back(epoch);
      if (!version.empty()) stat.program_version = version;
    }
  }
  if (stat.events > 0) {
    const auto reader = read(stat.first);
    if (!reader) return reader.error();
    const auto first = (*reader)->next();
    if (!first) return first.error();
    if (*first) stat.first_time = (*first)->log_time;
  }
  stat.raw_bytes = raw_bytes(*store_);
  std::error_code error;
  fs::directory_iterator files(directory_ / "log", error);
  for (; !error && files != fs::directory_iterator(); files.increment(error)) {
    // Files of a running writer vanish while they are counted.
    std::error_code gone;
    const auto size = files->file_size(gone);
    if (!gone) stat.bytes += size;
  }
  return stat;
}

Result<LogVerdict> RocksdbLog::verify(const LogProgress& progress) const {
  return verify_store(*store_, base(), last_seq(),
                      damage_ == nullptr ? std::optional<LogDamage>() : *damage_, progress);
}

Result<LogVerdict> RocksdbLog::verify_chain() const {
  const LogTail begin = base();
  std::optional<LogDamage> damage;
  const auto reached = walk_packs(*store_, begin, {}, {}, damage);
  if (!reached) return reached.error();
  if (!damage && damage_ != nullptr) damage = *damage_;
  LogVerdict verdict;
  verdict.events = std::min(reached->last, last_seq()).value - begin.last.value;
  if (damage) {
    verdict.broken_at = damage->at;
    verdict.what = damage->what;
  }
  return verdict;
}

}  // namespace fairlead
