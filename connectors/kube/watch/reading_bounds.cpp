#include "connectors/kube/watch/reading_bounds.h"

#include <algorithm>
#include <utility>

namespace fairlead {

ReadingBounds::ReadingBounds(const WatchedCollection& collection, const ReflectorSettings& settings)
    : collection_(collection), settings_(settings) {
  bounds_changed();
}

void ReadingBounds::bounds_changed() {
  budget_.set(settings_.changes_per_minute, static_cast<std::int64_t>(settings_.nodes_max) * 2);
}

// Pods of a member, of which only metadata is kept, are as many as its workloads need.
bool ReadingBounds::too_many(std::size_t objects) const {
  const Kind kind = collection_.kind();
  const bool bounded = kind == Kind::node || is_read_at_tenant(kind);
  if (!bounded || collection_.scope().part == ObjectPart::metadata) return false;
  return settings_.nodes_max > 0 && objects > settings_.nodes_max;
}

void ReadingBounds::count_changes(LogTime now, const ReportedFacts& facts) {
  if (collection_.kind() != Kind::node) return;
  std::int64_t changes = 0;
  for (; counted_ < facts.size(); ++counted_) {
    const auto& fact = facts[counted_];
    if (std::holds_alternative<ObjectSeen>(fact) || std::holds_alternative<ObjectMissing>(fact))
      ++changes;
  }
  if (changes > 0) budget_.spend(now, changes);
}

Duration ReadingBounds::exceed(LogTime now, StaleCause cause) {
  const bool again = pause_.ns > 0 && now < pause_ends_ + settings_.lost_after;
  pause_ =
      !again ? settings_.backoff_first : std::min(Duration{pause_.ns * 2}, settings_.stale_after);
  exceeded_ = true;
  if (cause != StaleCause::too_many_changes) return pause_;
  return std::max(pause_, std::min(budget_.recovery(now), Duration{settings_.lost_after.ns / 2}));
}

bool ReadingBounds::end() { return std::exchange(exceeded_, false); }

bool ReadingBounds::still_too_many(std::int64_t others) const {
  // With the first object they are more than the bound.
  return settings_.nodes_max > 0 && std::cmp_greater_equal(others, settings_.nodes_max);
}

std::string ReadingBounds::describe(StaleCause cause) const {
  if (cause == StaleCause::too_many_changes)
    return "more than " + std::to_string(settings_.changes_per_minute) +
           " changes a minute (members.changesPerMinute): none are read for a while, "
           "capacity counts as stale";
  return "more than " + std::to_string(settings_.nodes_max) +
         (collection_.kind() == Kind::node
              ? " (members.nodesMax): no more are read, capacity counts as stale"
              : " (pool.tenantObjectsMax): no more are read");
}

}  // namespace fairlead
