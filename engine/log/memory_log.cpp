#include "engine/log/memory_log.h"

#include <algorithm>
#include <utility>

#include "engine/log/hash_chain.h"
#include "schema/codec.h"
#include "schema/event_json.h"

namespace fairlead {

class MemoryReader final : public EventReader {
 public:
  MemoryReader(const MemoryLog& log, Seq from, Seq last) : log_(&log), next_(from), last_(last) {}

  Result<std::optional<Event>> next() override {
    if (next_ > last_) return std::optional<Event>();
    // Events never move, but finding one reads what an append changes.
    const std::lock_guard lock(log_->mutex_);
    if (next_ <= log_->base_.last) return was_pruned(next_, fairlead::next(log_->base_.last));
    return std::optional<Event>(log_->at(std::exchange(next_, fairlead::next(next_))));
  }

 private:
  const MemoryLog* log_;
  Seq next_;
  Seq last_;
};

MemoryLog::MemoryLog() = default;
MemoryLog::~MemoryLog() = default;

Result<std::vector<Event>> MemoryLog::append(std::vector<EventDraft>&& drafts, LogTime time,
                                             Epoch epoch, Durability) {
  if (drafts.empty()) return std::vector<Event>();
  const std::lock_guard lock(mutex_);
  std::vector<EventDraft> owned(drafts.begin(), drafts.end());
  Result<Commit> made = make_commit(tail_, owned, time, epoch);
  if (!made) return made.error();
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const Event& event = made->events[i];
    events_.push_back(event);
    if (!drafts[i].raw.empty()) raw_[event.seq] = drafts[i].raw;
    if (const ObjectKey* key = object_of(event.fact))
      by_object_[{holder_of(event), *key}].push_back(event.seq);
    if (is_sign(event)) signs_[event.source].push_back(event.seq);
    if (const auto* started = std::get_if<EpochStarted>(&event.fact))
      versions_[event.epoch] = started->program_version;
  }
  bytes_ += made->payload.size() - size_table_bytes(drafts.size());
  tail_ = tail_after(*made);
  commits_.push_back(tail_);
  return std::move(made->events);
}

Result<std::unique_ptr<EventReader>> MemoryLog::read(Seq from) const {
  const std::lock_guard lock(mutex_);
  const Seq first = next(base_.last);
  if (from == Seq{}) from = first;
  if (from < first) return was_pruned(from, first);
  return std::unique_ptr<EventReader>(std::make_unique<MemoryReader>(*this, from, tail_.last));
}

Result<Seq> MemoryLog::last_at(LogTime time) const {
  const std::lock_guard lock(mutex_);
  if (base_.last.value > 0 && time < base_.last_time) return was_pruned_at(base_);
  const auto later =
      std::upper_bound(events_.begin(), events_.end(), time,
                       [](LogTime t, const Event& event) { return t < event.log_time; });
  return Seq{base_.last.value + static_cast<std::uint64_t>(later - events_.begin())};
}

Result<std::optional<std::string>> MemoryLog::raw(Seq seq) const {
  const std::lock_guard lock(mutex_);
  const auto found = raw_.find(seq);
  return found == raw_.end() ? std::optional<std::string>() : std::optional(found->second);
}

Result<void> MemoryLog::prune_before(Seq seq) {
  const std::lock_guard lock(mutex_);
  for (; !commits_.empty() && commits_.front().last < seq; commits_.pop_front())
    base_ = commits_.front();
  const Seq first = next(base_.last);
  for (; !events_.empty() && events_.front().seq < first; events_.pop_front())
    bytes_ -= encode(events_.front()).size();
  forget_seqs_before(first);
  return {};
}

void MemoryLog::forget_seqs_before(Seq first) {
  const auto forget = [first](auto& seqs_of) {
    for (auto at = seqs_of.begin(); at != seqs_of.end();) {
      auto& seqs = at->second;
      seqs.erase(seqs.begin(), std::ranges::lower_bound(seqs, first));
      at = seqs.empty() ? seqs_of.erase(at) : std::next(at);
    }
  };
  forget(by_object_);
  forget(signs_);
  raw_.erase(raw_.begin(), raw_.lower_bound(first));
  const Epoch oldest = events_.empty() ? Epoch{UINT64_MAX} : events_.front().epoch;
  versions_.erase(versions_.begin(), versions_.lower_bound(oldest));
}

Result<void> MemoryLog::drop_raw_before(Seq seq) {
  const std::lock_guard lock(mutex_);
  raw_.erase(raw_.begin(), raw_.lower_bound(seq));
  return {};
}

Result<std::vector<Seq>> MemoryLog::history(std::string_view source, const ObjectKey& key) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_object_.find({SourceName(source), key});
  return found == by_object_.end() ? std::vector<Seq>() : found->second;
}

Result<std::vector<Seq>> MemoryLog::signs(std::string_view source) const {
  const std::lock_guard lock(mutex_);
  const auto found = signs_.find(SourceName(source));
  return found == signs_.end() ? std::vector<Seq>() : found->second;
}

Seq MemoryLog::first_seq() const {
  const std::lock_guard lock(mutex_);
  return next(base_.last);
}
Seq MemoryLog::last_seq() const {
  const std::lock_guard lock(mutex_);
  return tail_.last;
}
LogTime MemoryLog::last_time() const {
  const std::lock_guard lock(mutex_);
  return tail_.last_time;
}
Digest MemoryLog::chain() const {
  const std::lock_guard lock(mutex_);
  return tail_.chain;
}

Result<Digest> MemoryLog::chain_at(Seq seq) const {
  const std::lock_guard lock(mutex_);
  if (seq == base_.last) return base_.chain;
  const auto commit = std::ranges::lower_bound(commits_, seq, {}, &LogTail::last);
  // The chain has a value after whole commits only.
  if (commit == commits_.end() || commit->last != seq) return no_commit_ends_at(seq);
  return commit->chain;
}

Result<LogStat> MemoryLog::stat() const {
  const std::lock_guard lock(mutex_);
  LogStat stat;
  for (const auto& [seq, object] : raw_) stat.raw_bytes += object.size();
  for (const Event& event : events_) count_event(stat, event);
  stat.bytes = bytes_;
  stat.last = tail_.last;
  stat.last_time = tail_.last_time;
  if (!versions_.empty()) stat.program_version = versions_.rbegin()->second;
  return stat;
}

Result<LogVerdict> MemoryLog::verify(const LogProgress& /*progress*/) const {
  const std::lock_guard lock(mutex_);
  LogVerdict verdict;
  LogTail before = base_;
  for (const LogTail& commit : commits_) {
    std::vector<std::string> records;
    for (Seq seq = next(before.last); seq <= commit.last; seq = next(seq))
      records.push_back(encode(at(seq)));
    if (extend_chain(before.chain, records) != commit.chain) {
      verdict.broken_at = next(before.last);
      verdict.what = "the hash chain does not hold";
      return verdict;
    }
    verdict.events += records.size();
    before = commit;
  }
  return verdict;
}

}  // namespace fairlead
