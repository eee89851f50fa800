#include "engine/log/rocksdb/log_contents.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <vector>

#include "engine/log/acknowledged.h"
#include "engine/log/pack.h"
#include "engine/log/rocksdb/lost_tables.h"
#include "engine/log/rocksdb/wal_scan.h"

namespace fairlead {
namespace {

constexpr std::chrono::milliseconds kProgressInterval{250};

/// Advances `tail` over a pack that continues it. Returns the fault of one that does not.
std::optional<std::string> continue_with(const PackHeader& pack, Seq key, LogTail& tail) {
  // The key too: a pack that was stored under another seq is damage, even if it continues the
  // chain.
  if (key != next(tail.last) || pack.first != key)
    return "the next events in the log begin at seq " + std::to_string(key.value);
  if (pack.previous != tail.chain) return "the hash chain does not continue";
  if (pack.first_time < tail.last_time || pack.last_time < pack.first_time) return "time goes back";
  tail = {pack.last(), pack.last_time, pack.digest};
  return std::nullopt;
}

/// Reports the progress of a walk that lasts longer than kProgressInterval.
class Progress {
 public:
  Progress(const LogProgress& report, Seq last) : report_(report), last_(last) {}

  void reached(Seq seq) {
    if (!report_ || ++calls_ % 256 != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - spoken_ < kProgressInterval) return;
    spoken_ = now;
    report_(seq, last_);
  }

 private:
  const LogProgress& report_;
  Seq last_;
  std::uint64_t calls_ = 0;
  std::chrono::steady_clock::time_point spoken_ = std::chrono::steady_clock::now();
};

Seq last_key(const Store& store) {
  const std::unique_ptr<rocksdb::Iterator> packs(store.db->NewIterator({}, store.events));
  // An end that cannot be read gives 0. The result is only reported; the walk itself finds the
  // fault.
  packs->SeekToLast();
  return packs->Valid() ? seq_of_key(packs->key()) : Seq{0};
}

/// Returns the header of the pack that holds `seq`, or of the last before it, and its key in `key`;
/// nullopt if there is none or it is damaged.
std::optional<PackHeader> pack_at(rocksdb::Iterator& packs, Seq seq, Seq& key) {
  packs.SeekForPrev(seq_key(seq));
  if (!packs.Valid()) return std::nullopt;
  key = seq_of_key(packs.key());
  const auto header = read_pack_header(packs.value().ToStringView());
  return header ? std::optional(*header) : std::nullopt;
}

/// Judges the first pack and the last two; `packs` is positioned at the first. Sets
/// `contents.tail`. The link between the last two shows a last pack that does not belong there.
bool both_ends(rocksdb::Iterator& packs, LogContents& contents) {
  const auto first = read_pack_header(packs.value().ToStringView());
  LogTail after_first = contents.base;
  if (!first || continue_with(*first, seq_of_key(packs.key()), after_first)) return false;
  Seq key;
  const auto last = pack_at(packs, Seq{UINT64_MAX}, key);
  if (!last || last->first != key) return false;
  contents.tail = {last->last(), last->last_time, last->digest};
  if (last->first == first->first) return true;
  // The last pack may be of another log. It verifies alone; only its link to the pack before it
  // fails.
  const auto before = pack_at(packs, Seq{key.value - 1}, key);
  if (!before || before->first != key) return false;
  LogTail tail{before->last(), before->last_time, before->digest};
  return !continue_with(*last, last->first, tail);
}

/// Returns the watermark sources, the watermark among them, that a log which begins at `base` can
/// be compared with, sorted by seq.
std::vector<WatermarkSource> sources_of(const std::optional<Acknowledged>& mark,
                                        std::span<const WatermarkSource> others,
                                        const LogTail& base) {
  std::vector<WatermarkSource> sources(others.begin(), others.end());
  if (mark) sources.push_back({mark->seq, mark->chain, "acknowledged"});
  // Sources about pruned events cannot be compared with anything any more.
  std::erase_if(sources, [&](const WatermarkSource& source) { return source.seq < base.last; });
  std::sort(sources.begin(), sources.end(),
            [](const WatermarkSource& one, const WatermarkSource& other) {
              return std::tie(one.seq, one.file) < std::tie(other.seq, other.file);
            });
  return sources;
}

std::string contradicts(const WatermarkSource& source) {
  return "the events up to seq " + std::to_string(source.seq.value) +
         " are not those that were acknowledged: the hash chain differs from what the file \"" +
         source.file + "\" says";
}

/// Judges the two ends and the watermark sources up to the end. Returns true if they are whole;
/// `contents.tail` is set then. missing_after() judges later watermark sources.
bool ends_are_whole(LogContents& contents, std::span<const WatermarkSource> sources) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const std::unique_ptr<rocksdb::Iterator> packs(
      contents.store->db->NewIterator(options, contents.store->events));
  packs->SeekToFirst();
  contents.tail = contents.base;
  // An iterator is invalid in an empty log and in an unreadable one: its status differs.
  if (!packs->Valid() && !packs->status().ok()) return false;
  if (packs->Valid() && !both_ends(*packs, contents)) return false;
  return std::all_of(sources.begin(), sources.end(), [&](const WatermarkSource& source) {
    if (source.seq == contents.base.last) return source.chain == contents.base.chain;
    if (source.seq > contents.tail.last) return true;
    Seq key;
    const auto pack = pack_at(*packs, source.seq, key);
    return pack && pack->first == key && pack->last() == source.seq && pack->digest == source.chain;
  });
}

/// Moves `damage` to the first seq of the pack that holds its seq, because a commit is readable as
/// a whole or not at all. Returns where the packs before it end.
LogTail tail_before(const LogContents& contents, LogDamage& damage) {
  const std::unique_ptr<rocksdb::Iterator> packs(
      contents.store->db->NewIterator({}, contents.store->events));
  Seq key;
  const auto holding = pack_at(*packs, damage.at, key);
  if (holding && holding->last() >= damage.at) damage.at = holding->first;
  const auto before = pack_at(*packs, Seq{damage.at.value - 1}, key);
  if (!before || damage.at <= next(contents.base.last)) return contents.base;
  return {before->last(), before->last_time, before->digest};
}

/// Returns what the write-ahead log and the watermark sources prove missing behind a log that ends
/// well.
std::optional<LogDamage> missing_after(const LogContents& contents, std::uint64_t last_batch,
                                       bool marked, std::span<const WatermarkSource> sources) {
  const Seq after = next(contents.tail.last);
  // A batch may begin intact right behind the last one and be torn later on. Only one that begins
  // after it proves that it had been synced.
  if (last_batch > contents.store->db->GetLatestSequenceNumber() + 1)
    return LogDamage{after, "the write-ahead log is damaged before its last commit"};
  if (!sources.empty() && sources.back().seq > contents.tail.last)
    return LogDamage{after, "the log ends here, but was acknowledged up to seq " +
                                std::to_string(sources.back().seq.value) + ", as the file \"" +
                                sources.back().file + "\" says"};
  if (!marked && contents.tail.last.value > 0)
    return LogDamage{after,
                     "the log ends here, but how far it had come is not known: the file "
                     "\"acknowledged\" is gone or damaged"};
  return std::nullopt;
}

}  // namespace

Result<LogTail> walk_packs(const Store& store, const LogTail& base,
                           std::span<const WatermarkSource> sources, const LogProgress& report,
                           std::optional<LogDamage>& damage) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  options.readahead_size = 4u << 20;
  const std::unique_ptr<rocksdb::Iterator> packs(store.db->NewIterator(options, store.events));
  Progress progress(report, last_key(store));
  LogTail tail = base;
  auto source = sources.begin();
  for (; source != sources.end() && source->seq == base.last; ++source)
    if (source->chain != base.chain) {
      damage = LogDamage{next(base.last), contradicts(*source)};
      return tail;
    }
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
    // A source names the last event of a commit, so one inside a pack is of another log.
    for (; !fault && source != sources.end() && source->seq <= reached.last; ++source)
      if (source->seq < reached.last || source->chain != reached.chain)
        fault = contradicts(*source);
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

Result<LogContents> inspect_log(const LogPaths& paths, rocksdb::Env* env, InspectDepth depth,
                                const LogProgress& report,
                                std::span<const WatermarkSource> sources) {
  // A running writer advances the watermark and the write-ahead log. They are read before the log,
  // so that they never name a commit which the opened log cannot have yet.
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
  const std::vector<WatermarkSource> all = sources_of(mark, sources, *base);
  // A reader walks only a log whose ends are not whole, to find where it is damaged.
  if (depth == InspectDepth::all || !ends_are_whole(contents, all)) {
    const auto tail = walk_packs(*contents.store, *base, all, report, contents.damage);
    if (!tail) return tail.error();
    contents.tail = *tail;
  }
  if (!contents.damage)
    contents.damage = missing_after(contents, *last_batch, mark.has_value(), all);
  if (auto lost = lost_table(paths.store, contents)) {
    contents.tail = tail_before(contents, *lost);
    contents.damage = *std::move(lost);
  }
  return contents;
}

}  // namespace fairlead
