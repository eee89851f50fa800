#include "engine/log/log_contents.h"

#include <chrono>

#include "engine/log/acknowledged.h"
#include "engine/log/pack.h"
#include "engine/log/wal_scan.h"

namespace fairlead {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{250};

/// Checks that one stored pack continues the log; what is wrong otherwise.
std::optional<std::string> continue_with(const PackHeader& pack, Seq key, LogTail& tail) {
  if (key != next(tail.last) || pack.first != key)
    return "the next events in the log begin at seq " + std::to_string(key.value);
  if (pack.previous != tail.chain) return "the hash chain does not continue";
  if (pack.first_time < tail.last_time || pack.last_time < pack.first_time) return "time goes back";
  tail = {pack.last(), pack.last_time, pack.digest};
  return std::nullopt;
}

/// Tells how far a long walk has come, but not of a short one.
class Progress {
 public:
  Progress(const LogProgress& told, Seq last) : told_(told), last_(last) {}

  void reached(Seq seq) {
    if (!told_ || ++calls_ % 256 != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - spoken_ < kProgressInterval) return;
    spoken_ = now;
    told_(seq, last_);
  }

 private:
  const LogProgress& told_;
  Seq last_;
  std::uint64_t calls_ = 0;
  std::chrono::steady_clock::time_point spoken_ = std::chrono::steady_clock::now();
};

Seq last_key(const Store& store) {
  const std::unique_ptr<rocksdb::Iterator> packs(store.db->NewIterator({}, store.events));
  packs->SeekToLast();
  return packs->Valid() ? seq_of_key(packs->key()) : Seq{0};
}

/// The pack that holds `seq`, or the last before it, if it is whole; where it begins in `key`.
std::optional<PackHeader> pack_at(rocksdb::Iterator& packs, Seq seq, Seq& key) {
  packs.SeekForPrev(seq_key(seq));
  if (!packs.Valid()) return std::nullopt;
  key = seq_of_key(packs.key());
  const auto header = read_pack_header(packs.value().ToStringView());
  return header ? std::optional(*header) : std::nullopt;
}

/// Looks at the two ends and at the mark. Whether all is well there; then `contents.tail` is set.
bool ends_are_whole(LogContents& contents, const std::optional<Acknowledged>& mark) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> packs(
      contents.store->db->NewIterator(options, contents.store->events));
  packs->SeekToFirst();
  contents.tail = contents.base;
  if (!packs->Valid()) return packs->status().ok() && (!mark || mark->seq <= contents.base.last);
  const auto first = read_pack_header(packs->value().ToStringView());
  LogTail after_first = contents.base;
  if (!first || continue_with(*first, seq_of_key(packs->key()), after_first)) return false;

  Seq key;
  const auto last = pack_at(*packs, Seq{UINT64_MAX}, key);
  if (!last || last->first != key) return false;
  contents.tail = {last->last(), last->last_time, last->digest};
  if (last->first != first->first) {
    const auto before = pack_at(*packs, Seq{key.value - 1}, key);
    if (!before || before->first != key) return false;
    LogTail tail{before->last(), before->last_time, before->digest};
    if (continue_with(*last, last->first, tail)) return false;
  }
  if (!mark || mark->seq < contents.base.last) return true;
  if (mark->seq == contents.base.last) return mark->chain == contents.base.chain;
  const auto marked = pack_at(*packs, mark->seq, key);
  return marked && marked->first == key && marked->last() == mark->seq &&
         marked->digest == mark->chain;
}

/// What the witnesses say of a log that ends well.
std::optional<LogDamage> missing_after(const LogContents& contents, std::uint64_t last_batch,
                                       const std::optional<Acknowledged>& mark) {
  const Seq after = next(contents.tail.last);
  if (last_batch > contents.store->db->GetLatestSequenceNumber() + 1)
    return LogDamage{after, "the write-ahead log is damaged before its last commit"};
  if (mark && mark->seq > contents.tail.last)
    return LogDamage{after, "the log ends here, but was acknowledged up to seq " +
                                std::to_string(mark->seq.value)};
  return std::nullopt;
}

}  // namespace

Result<LogTail> walk_packs(const Store& store, const LogTail& base,
                           const std::optional<Acknowledged>& mark, const LogProgress& told,
                           std::optional<LogDamage>& damage) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = 4u << 20;
  const std::unique_ptr<rocksdb::Iterator> packs(store.db->NewIterator(options, store.events));
  Progress progress(told, last_key(store));
  LogTail tail = base;
  for (packs->SeekToFirst(); packs->Valid(); packs->Next()) {
    const auto header = read_pack_header(packs->value().ToStringView());
    const Seq expected = next(tail.last);
    if (!header) {
      if (header.error().code == ErrorCode::incompatible) return header.error();
      damage = LogDamage{expected, header.error().message};
      return tail;
    }
    LogTail reached = tail;
    auto fault = continue_with(*header, seq_of_key(packs->key()), reached);
    if (!fault && mark && reached.last == mark->seq && reached.chain != mark->chain)
      fault = "the events are not those that were acknowledged";
    if (fault) {
      damage = LogDamage{expected, *std::move(fault)};
      return tail;
    }
    tail = reached;
    progress.reached(tail.last);
  }
  if (!packs->status().ok())
    damage = LogDamage{next(tail.last), translate(packs->status(), "cannot read").message};
  return tail;
}

Result<LogContents> judge_log(const LogPaths& paths, rocksdb::Env* env, JudgeDepth depth,
                              const LogProgress& told) {
  // The witnesses that a writer may move forward meanwhile are heard before the log itself.
  const std::optional<Acknowledged> mark = read_acknowledged(paths.mark);
  const Result<std::uint64_t> last_batch = last_batch_in_directory(paths.store);
  if (!last_batch) return last_batch.error();
  Result<std::shared_ptr<Store>> store = open_store_for_reading(paths.store, env);
  if (!store) return store.error();

  LogContents contents;
  contents.store = *std::move(store);
  const auto base = read_base(*contents.store);
  if (!base) {
    contents.damage = LogDamage{{1}, base.error().message};
    return contents;
  }
  contents.base = contents.tail = *base;
  // Only a log whose ends are in doubt is walked to find where it is damaged.
  if (depth == JudgeDepth::ends && ends_are_whole(contents, mark)) {
    contents.damage = missing_after(contents, *last_batch, mark);
    if (!contents.damage) return contents;
  }
  contents.damage.reset();
  const auto tail = walk_packs(*contents.store, *base, mark, told, contents.damage);
  if (!tail) return tail.error();
  contents.tail = *tail;
  if (!contents.damage) contents.damage = missing_after(contents, *last_batch, mark);
  return contents;
}

}  // namespace fairlead
