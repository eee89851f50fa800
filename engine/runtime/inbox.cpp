#include "engine/runtime/inbox.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

namespace fairlead {

Inbox::Inbox(std::size_t facts_max) : facts_max_(std::max<std::size_t>(facts_max, 1)) {}

void Inbox::push(WatchFact fact) {
  std::unique_lock lock(mutex_);
  emptied_.wait(lock, [this] { return closed_ || facts_.size() < facts_max_; });
  if (closed_) return;
  facts_.push_back(std::move(fact));
  filled_.notify_one();
}

void Inbox::push(WriteAnswer answer) {
  const std::lock_guard lock(mutex_);
  answers_.push_back(std::move(answer));
  filled_.notify_one();
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

bool Inbox::has_something() const {
  return !facts_.empty() || !answers_.empty() || configuration_ || stops_ != stops_told_;
}

Inbox::Content Inbox::take(Duration wait, std::size_t facts_max) {
  std::unique_lock lock(mutex_);
  if (wait.ns > 0)
    filled_.wait_for(lock, std::chrono::nanoseconds(wait.ns), [this] { return has_something(); });
  Content content;
  if (facts_.size() <= facts_max) {
    content.facts = std::exchange(facts_, {});
  } else {
    const auto end = facts_.begin() + static_cast<std::ptrdiff_t>(facts_max);
    content.facts.assign(std::make_move_iterator(facts_.begin()), std::make_move_iterator(end));
    facts_.erase(facts_.begin(), end);
    content.more_facts = true;
  }
  content.answers = std::exchange(answers_, {});
  content.configuration = std::exchange(configuration_, false);
  content.stops = stops_told_ = stops_;
  emptied_.notify_all();
  return content;
}

void Inbox::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  facts_.clear();
  emptied_.notify_all();
}

std::size_t Inbox::depth() const {
  const std::lock_guard lock(mutex_);
  return facts_.size() + answers_.size();
}

}  // namespace fairlead
