#include "tests/simulation/kept_log.h"

#include <utility>

namespace fairlead::simulation {

Result<std::vector<Event>> KeptLog::append(std::vector<EventDraft>&& drafts, LogTime time,
                                           Epoch epoch, Durability durability) {
  auto events = log_->append(std::move(drafts), time, epoch, durability);
  if (!events) return events;
  pending_.insert(pending_.end(), events->begin(), events->end());
  if (durability == Durability::durable) (void)wait_durable();
  return events;
}

Result<void> KeptLog::wait_durable() {
  for (const Event& event : std::exchange(pending_, {})) acknowledged_(event);
  return {};
}

}  // namespace fairlead::simulation
