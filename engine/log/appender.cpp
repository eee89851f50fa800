#include "engine/log/appender.h"

#include <algorithm>
#include <iterator>

namespace fairlead {

Appender::Appender(EventLog& log, Clock& clock, AppenderLimits limits)
    : log_(log), clock_(clock), limits_(limits), thread_([this] { run(); }) {}

Appender::~Appender() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Appender::submit(AppendBatch batch) {
  std::unique_lock lock(mutex_);
  if (queue_.size() >= limits_.queue_batches_max) {
    ++counters_.queue_full;
    changed_.wait(lock, [this] { return queue_.size() < limits_.queue_batches_max; });
  }
  queue_.push_back(std::move(batch));
  changed_.notify_all();
}

void Appender::drain() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return queue_.empty() && in_flight_ == 0; });
}

AppenderCounters Appender::counters() const {
  const std::lock_guard lock(mutex_);
  return counters_;
}

void Appender::run() {
  for (;;) {
    std::vector<AppendBatch> group = take_group();
    if (group.empty()) return;
    commit(std::move(group));
  }
}

/// What can share one commit: one epoch, one time. Empty when there is nothing left to do.
std::vector<AppendBatch> Appender::take_group() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
  std::vector<AppendBatch> group;
  std::size_t events = 0;
  while (!queue_.empty()) {
    const AppendBatch& candidate = queue_.front();
    const bool fits =
        group.empty() || (candidate.epoch == group.front().epoch &&
                          events + candidate.drafts.size() <= limits_.commit_events_max);
    if (!fits) break;
    events += candidate.drafts.size();
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
    if (group.back().moment == Moment::settled) break;
  }
  in_flight_ = group.size();
  changed_.notify_all();
  return group;
}

LogTime Appender::time_of_next() {
  const LogTime earliest =
      last_moment_ == Moment::settled ? log_.last_time() + Duration{1} : log_.last_time();
  return std::max(earliest, clock_.now());
}

void Appender::commit(std::vector<AppendBatch> group) {
  std::vector<EventDraft> drafts;
  for (AppendBatch& batch : group)
    drafts.insert(drafts.end(), std::make_move_iterator(batch.drafts.begin()),
                  std::make_move_iterator(batch.drafts.end()));
  Result<std::vector<Event>> stored =
      log_.append_owned(std::move(drafts), time_of_next(), group.front().epoch);
  if (stored && !stored->empty()) last_moment_ = group.back().moment;
  std::size_t offset = 0;
  for (AppendBatch& batch : group) {
    if (!batch.done) {
      offset += batch.drafts.size();
      continue;
    }
    if (!stored) {
      batch.done(stored.error());
      continue;
    }
    const auto first = stored->begin() + static_cast<std::ptrdiff_t>(offset);
    const auto last = first + static_cast<std::ptrdiff_t>(batch.drafts.size());
    offset += batch.drafts.size();
    batch.done(std::vector<Event>(std::make_move_iterator(first), std::make_move_iterator(last)));
  }
  const std::lock_guard lock(mutex_);
  in_flight_ = 0;
  counters_.batches += group.size();
  ++counters_.commits;
  counters_.events += stored ? stored->size() : 0;
  counters_.errors += stored ? 0 : group.size();
  changed_.notify_all();
}

}  // namespace fairlead
