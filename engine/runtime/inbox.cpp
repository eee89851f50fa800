#include "engine/runtime/inbox.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace fairlead {

Inbox::Inbox(std::size_t facts_max) : facts_max_(std::max<std::size_t>(facts_max, 1)) {}

void Inbox::push(WatchFact fact) {
  std::unique_lock lock(mutex_);
  emptied_.wait(lock, [this, &fact] { return closed_ || has_place(fact.source); });
  if (closed_) return;
  std::deque<WatchFact>& queue = facts_[fact.source];
  queue.push_back(std::move(fact));
  ++waiting_;
  filled_.notify_one();
}

void Inbox::push(WriteAnswer answer) {
  const std::lock_guard lock(mutex_);
  answers_.push_back(std::move(answer));
  filled_.notify_one();
}

bool Inbox::offer(AdmissionDecided note) {
  const std::lock_guard lock(mutex_);
  if (closed_ || notes_.size() >= kInboxNotesMax) return false;
  notes_.push_back(std::move(note));
  filled_.notify_one();
  return true;
}

void Inbox::ask_for_configuration() {
  const std::lock_guard lock(mutex_);
  configuration_ = true;
  filled_.notify_one();
}

void Inbox::ask_to_stop() {
  const std::lock_guard lock(mutex_);
  ++stops_;
  filled_.notify_one();
}

void Inbox::wake() {
  const std::lock_guard lock(mutex_);
  woken_ = true;
  filled_.notify_one();
}

int Inbox::stops() const {
  const std::lock_guard lock(mutex_);
  return stops_;
}

bool Inbox::has_something() const {
  return waiting_ > 0 || !answers_.empty() || !notes_.empty() || configuration_ || woken_ ||
         stops_ != stops_dequeued_;
}

bool Inbox::has_place(const SourceName& source) const {
  if (waiting_ >= facts_max_) return false;
  const auto queue = facts_.find(source);
  return queue == facts_.end() || queue->second.size() < std::max<std::size_t>(facts_max_ / 4, 1);
}

// Each pass gives every source the same share, starting behind the source that was served last;
// room that sources with few facts leave is shared out in another pass.
void Inbox::dequeue_in_turn(std::vector<WatchFact>& out, std::size_t facts_max) {
  // Each pass dequeues one fact at least, because no queue is empty: it ends.
  while (waiting_ > 0 && out.size() < facts_max) {
    const std::size_t share = std::max<std::size_t>((facts_max - out.size()) / facts_.size(), 1);
    auto at = facts_.upper_bound(served_);
    for (std::size_t left = facts_.size(); left > 0 && out.size() < facts_max; --left) {
      if (at == facts_.end()) at = facts_.begin();
      std::deque<WatchFact>& queue = at->second;
      const std::size_t count = std::min({share, queue.size(), facts_max - out.size()});
      const auto end = queue.begin() + static_cast<std::ptrdiff_t>(count);
      std::move(queue.begin(), end, std::back_inserter(out));
      queue.erase(queue.begin(), end);
      waiting_ -= count;
      served_ = at->first;
      at = queue.empty() ? facts_.erase(at) : std::next(at);
    }
  }
}

Inbox::Content Inbox::dequeue(Duration wait, std::size_t facts_max) {
  std::unique_lock lock(mutex_);
  if (wait.ns > 0)
    filled_.wait_for(lock, std::chrono::nanoseconds(wait.ns), [this] { return has_something(); });
  Content content;
  dequeue_in_turn(content.facts, facts_max);
  content.more_facts = waiting_ > 0;
  content.answers = std::exchange(answers_, {});
  content.notes = std::exchange(notes_, {});
  content.configuration = std::exchange(configuration_, false);
  woken_ = false;
  content.stops = stops_dequeued_ = stops_;
  // All of them: each producer waits for a place of its own source.
  emptied_.notify_all();
  return content;
}

void Inbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  facts_.clear();
  waiting_ = 0;
  emptied_.notify_all();
}

std::size_t Inbox::depth() const {
  const std::lock_guard lock(mutex_);
  return waiting_ + answers_.size();
}

}  // namespace fairlead
