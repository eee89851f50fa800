#include "tests/simulation/kept_log.h"

#include <utility>

#include "engine/base/check.h"

namespace fairlead::simulation {

void KeptLog::open(LifeRef life) {
  life_ = std::move(life);
  failed_ = false;
  const auto pending = static_cast<std::int64_t>(commits_.size() - durable_);
  const auto lost = static_cast<std::size_t>(faults_.below(pending + 1));
  if (lost > 0) {
    commits_.resize(commits_.size() - lost);
    log_ = std::make_unique<MemoryLog>();
    for (const Stored& commit : commits_) {
      const auto again = log_->append(commit.drafts, commit.time, commit.epoch);
      check(again.has_value(), "what was stored once can be stored again");
    }
  }
  make_durable();
}

Result<std::vector<Event>> KeptLog::store(std::vector<EventDraft>&& drafts, LogTime time,
                                          Epoch epoch) {
  Stored commit{drafts, time, epoch, {}};
  auto events = log_->append(std::move(drafts), time, epoch, Durability::durable);
  if (!events || events->empty()) return events;
  commit.events = *events;
  commits_.push_back(std::move(commit));
  return events;
}

Result<std::vector<Event>> KeptLog::append(std::vector<EventDraft>&& drafts, LogTime time,
                                           Epoch epoch, Durability durability) {
  const Error refusal{ErrorCode::read_only, "the disk failed"};
  if (failed_ || life_->over) return refusal;
  const bool dies = faults_.happens(FaultKind::deaths_at_append, name_);
  if (dies || faults_.happens(FaultKind::append_errors, name_)) {
    life_->over = dies;
    failed_ = true;
    // It may be there at the next opening, though its writer was told that it is not.
    if (faults_.first_way()) (void)store(std::move(drafts), time, epoch);
    return refusal;
  }
  auto events = store(std::move(drafts), time, epoch);
  if (events && durability == Durability::durable) make_durable();
  return events;
}

Result<void> KeptLog::wait_durable() {
  if (failed_ || life_->over) return Error{ErrorCode::read_only, "the disk failed"};
  make_durable();
  return {};
}

void KeptLog::make_durable() {
  for (; durable_ < commits_.size(); ++durable_)
    for (const Event& event : std::exchange(commits_[durable_].events, {})) acknowledged_(event);
}

}  // namespace fairlead::simulation
