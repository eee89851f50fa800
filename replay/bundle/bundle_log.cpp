#include <algorithm>

#include "engine/log/pack_verification.h"
#include "replay/bundle/bundle.h"
#include "schema/codec.h"
#include "schema/event_json.h"
#include "snapshots/snapshot_store.h"

namespace fairlead {
namespace {

using Packs = std::vector<Bundle::Pack>;

/// The pack that holds `seq`; the end if none does.
Packs::const_iterator pack_holding(const Packs& packs, Seq seq) {
  return std::lower_bound(
      packs.begin(), packs.end(), seq,
      [](const Bundle::Pack& pack, Seq wanted) { return pack.header.last() < wanted; });
}

class BundleReader final : public EventReader {
 public:
  BundleReader(std::shared_ptr<const Bundle> bundle, Seq from)
      : bundle_(std::move(bundle)), pack_(pack_holding(bundle_->packs, from)), next_(from) {}

  Result<std::optional<Event>> next() override {
    if (index_ == records_.records.size()) {
      if (pack_ == bundle_->packs.end()) return std::optional<Event>();
      auto unpacked = unpack(pack_->value, pack_->header);
      if (!unpacked) return in_context("seq " + std::to_string(next_.value), unpacked.error());
      records_ = *std::move(unpacked);
      index_ = static_cast<std::size_t>(next_.value - pack_->header.first.value);
      ++pack_;
    }
    auto event = decode(records_.records[index_]);
    if (!event) return in_context("seq " + std::to_string(next_.value), event.error());
    if (event->seq != next_)
      return Error{ErrorCode::corrupt,
                   "seq " + std::to_string(next_.value) + ": another seq is stored in its place"};
    ++index_;
    next_ = fairlead::next(next_);
    return std::optional<Event>(*std::move(event));
  }

 private:
  std::shared_ptr<const Bundle> bundle_;
  Packs::const_iterator pack_;
  Seq next_;
  UnpackedRecords records_;
  std::size_t index_ = 0;
};

}  // namespace

Result<std::optional<std::string>> BundleLog::raw(Seq) const {
  return std::optional<std::string>();
}

Result<std::unique_ptr<EventReader>> BundleLog::read(Seq from) const {
  if (from.value == 0) from = first_seq();
  if (from < first_seq()) return was_pruned(from, first_seq());
  return std::unique_ptr<EventReader>(std::make_unique<BundleReader>(bundle_, from));
}

Result<Seq> BundleLog::last_at(LogTime time) const {
  if (bundle_->base.last.value > 0 && time < bundle_->base.last_time)
    return was_pruned_at(bundle_->base);
  // A commit has one time, so its first event decides.
  const auto later = std::upper_bound(
      bundle_->packs.begin(), bundle_->packs.end(), time,
      [](LogTime t, const Bundle::Pack& pack) { return t < pack.header.first_time; });
  return later == bundle_->packs.begin() ? bundle_->base.last : std::prev(later)->header.last();
}

Result<void> BundleLog::index_events() const {
  auto index = std::make_unique<Index>();
  BundleReader reader(bundle_, first_seq());
  for (;;) {
    const auto event = reader.next();
    if (!event) return event.error();
    if (!*event) break;
    if (const ObjectKey* key = object_of((*event)->fact))
      index->by_object[{holder_of(**event), *key}].push_back((*event)->seq);
    if (is_sign(**event)) index->signs[(*event)->source].push_back((*event)->seq);
  }
  index_ = std::move(index);
  return {};
}

Result<std::vector<Seq>> BundleLog::history(std::string_view source, const ObjectKey& key) const {
  const std::lock_guard lock(mutex_);
  if (index_ == nullptr)
    if (auto indexed = index_events(); !indexed) return indexed.error();
  const auto found = index_->by_object.find({SourceName(source), key});
  return found == index_->by_object.end() ? std::vector<Seq>() : found->second;
}

Result<std::vector<Seq>> BundleLog::signs(std::string_view source) const {
  const std::lock_guard lock(mutex_);
  if (index_ == nullptr)
    if (auto indexed = index_events(); !indexed) return indexed.error();
  const auto found = index_->signs.find(source);
  return found == index_->signs.end() ? std::vector<Seq>() : found->second;
}

Seq BundleLog::first_seq() const { return next(bundle_->base.last); }
Seq BundleLog::last_seq() const { return bundle_->tail.last; }
LogTime BundleLog::last_time() const { return bundle_->tail.last_time; }
Digest BundleLog::chain() const { return bundle_->tail.chain; }

Result<Digest> BundleLog::chain_at(Seq seq) const {
  if (seq == bundle_->base.last) return bundle_->base.chain;
  const auto pack = pack_holding(bundle_->packs, seq);
  if (pack == bundle_->packs.end() || pack->header.last() != seq) return no_commit_ends_at(seq);
  return pack->header.digest;
}

Result<LogStat> BundleLog::stat() const {
  LogStat stat;
  stat.events = bundle_->tail.last.value - bundle_->base.last.value;
  stat.bytes = bundle_->file->bytes();
  stat.last = bundle_->tail.last;
  stat.last_time = bundle_->tail.last_time;
  if (stat.events > 0) {
    stat.first = first_seq();
    stat.first_time = bundle_->packs.front().header.first_time;
  }
  for (const auto& [epoch, version] : bundle_->epochs) {
    stat.epochs.push_back(epoch);
    if (!version.empty()) stat.program_version = version;
  }
  return stat;
}

Result<LogVerdict> BundleLog::verify(const LogProgress& report) const {
  PackVerification verification(bundle_->base, {});
  PacedProgress progress(report);
  for (const Bundle::Pack& pack : bundle_->packs) {
    if (!verification.check_pack(pack.value)) return verification.verdict;
    progress.reached(verification.expected(), last_seq());
  }
  verification.check_epochs(bundle_->epochs);
  return verification.verdict;
}

Result<LogVerdict> BundleLog::verify_chain() const {
  // open_bundle() has followed the chain, and read_sections() has compared each digest.
  LogVerdict verdict;
  verdict.events = bundle_->tail.last.value - bundle_->base.last.value;
  return verdict;
}

Result<std::vector<SnapshotInfo>> BundleSnapshots::list() const {
  std::vector<SnapshotInfo> infos;
  for (const Bundle::StoredSnapshot& snapshot : bundle_->snapshots) infos.push_back(snapshot.info);
  return infos;
}

Result<std::optional<Snapshot>> BundleSnapshots::newest(Seq seq) const {
  for (auto at = bundle_->snapshots.rbegin(); at != bundle_->snapshots.rend(); ++at)
    if (at->info.seq <= seq)
      // One that is damaged or of another fold is passed over: an earlier one gives the same state.
      if (auto snapshot = read_snapshot(at->bytes)) return std::optional(*std::move(snapshot));
  return std::optional<Snapshot>();
}

Result<std::string> BundleSnapshots::bytes(Seq seq) const {
  for (const Bundle::StoredSnapshot& snapshot : bundle_->snapshots)
    if (snapshot.info.seq == seq) return std::string(snapshot.bytes);
  return Error{ErrorCode::not_found, "there is no snapshot of seq " + std::to_string(seq.value)};
}

}  // namespace fairlead
