#include "engine/log/memory_log.h"

#include <algorithm>

#include "engine/log/hash_chain.h"
#include "schema/codec.h"
#include "schema/event_json.h"

namespace fairlead {

class MemoryReader final : public EventReader {
 public:
  MemoryReader(const MemoryLog& log, std::size_t index, std::size_t end)
      : log_(&log), index_(index), end_(end) {}

  Result<std::optional<Event>> next() override {
    if (index_ >= end_) return std::optional<Event>();
    // Events never move, but finding one by its index reads what an append changes.
    const std::lock_guard lock(log_->mutex_);
    return std::optional<Event>(log_->events_[index_++]);
  }

 private:
  const MemoryLog* log_;
  std::size_t index_;
  std::size_t end_;
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
  commits_.push_back({events_.size(), made->events.size(), made->digest});
  bytes_ += made->payload.size() - size_table_bytes(drafts.size());
  for (std::size_t i = 0; i < drafts.size(); ++i) {
    const Event& event = made->events[i];
    events_.push_back(event);
    if (!drafts[i].raw.empty()) raw_[event.seq] = drafts[i].raw;
    if (const ObjectKey* key = object_of(event.fact))
      by_object_[{holder_of(event), *key}].push_back(event.seq);
    if (is_sign(event)) signs_[event.source].push_back(event.seq);
  }
  tail_ = tail_after(*made);
  return std::move(made->events);
}

// Seqs are dense from 1, so the event with seq n has the index n - 1.
Result<std::unique_ptr<EventReader>> MemoryLog::read(Seq from) const {
  const std::lock_guard lock(mutex_);
  const std::size_t index = from.value == 0 ? 0 : static_cast<std::size_t>(from.value - 1);
  return std::unique_ptr<EventReader>(std::make_unique<MemoryReader>(*this, index, events_.size()));
}

Result<Seq> MemoryLog::last_at(LogTime time) const {
  const std::lock_guard lock(mutex_);
  const auto later =
      std::upper_bound(events_.begin(), events_.end(), time,
                       [](LogTime t, const Event& event) { return t < event.log_time; });
  return Seq{static_cast<std::uint64_t>(later - events_.begin())};
}

Result<std::optional<std::string>> MemoryLog::raw(Seq seq) const {
  const std::lock_guard lock(mutex_);
  const auto found = raw_.find(seq);
  return found == raw_.end() ? std::optional<std::string>() : std::optional(found->second);
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

Seq MemoryLog::first_seq() const { return {1}; }
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
  if (seq.value == 0) return Digest{};
  const std::lock_guard lock(mutex_);
  const auto ends_before = [](const StoredCommit& commit, std::uint64_t last) {
    return commit.first + commit.count < last;
  };
  const auto commit = std::lower_bound(commits_.begin(), commits_.end(), seq.value, ends_before);
  // The chain has a value after whole commits only.
  if (commit == commits_.end() || commit->first + commit->count != seq.value)
    return no_commit_ends_at(seq);
  return commit->digest;
}

Result<LogStat> MemoryLog::stat() const {
  const std::lock_guard lock(mutex_);
  LogStat stat;
  stat.bytes = bytes_;
  for (const auto& [seq, object] : raw_) stat.raw_bytes += object.size();
  for (const Event& event : events_) count_event(stat, event);
  return stat;
}

Result<LogVerdict> MemoryLog::verify(const LogProgress& /*progress*/) const {
  const std::lock_guard lock(mutex_);
  LogVerdict verdict;
  Digest previous;
  for (const StoredCommit& commit : commits_) {
    std::vector<std::string> records;
    for (std::size_t i = 0; i < commit.count; ++i)
      records.push_back(encode(events_[commit.first + i]));
    if (extend_chain(previous, records) != commit.digest) {
      verdict.broken_at = events_[commit.first].seq;
      verdict.what = "the hash chain does not hold";
      return verdict;
    }
    previous = commit.digest;
    verdict.events += commit.count;
  }
  return verdict;
}

}  // namespace fairlead
