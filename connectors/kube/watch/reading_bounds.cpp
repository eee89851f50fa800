#include "connectors/kube/watch/reading_bounds.h"

#include <algorithm>
#include <utility>

namespace fairlead {
namespace {

// The plentiful kinds of a server may together make as many changes a minute as this many single
// kinds: 500 a second by default. A cluster that starts 50 Pods a second, each with a claim, makes
// some 300 (a claim is made, allocated, reserved and deleted).
constexpr std::int64_t kSharedChangesTimes = 10;

// Whether a busy server may have more objects of the kind than Nodes: those that come with each
// Pod, Job or device.
bool is_plentiful(Kind kind) {
  return kind == Kind::pod || kind == Kind::workload || kind == Kind::resource_claim ||
         kind == Kind::resource_slice;
}

}  // namespace

ReadingBounds::ReadingBounds(const WatchedCollection& collection, const ReflectorSettings& settings,
                             ServerLoad& load)
    : collection_(collection), settings_(settings), load_(load) {
  bounds_changed();
}

bool ReadingBounds::shares() const { return is_plentiful(collection_.kind()); }

void ReadingBounds::bounds_changed() {
  const ReadingLimits& limits = settings_.limits;
  const auto burst = static_cast<std::int64_t>(limits.objects_max) * 2;
  budget_.set(limits.changes_per_minute, burst);
  load_.changes.set(limits.changes_per_minute * kSharedChangesTimes, burst);
}

bool ReadingBounds::too_many(std::size_t objects) const {
  const ReadingLimits& limits = settings_.limits;
  if (limits.objects_max == 0 || objects <= limits.objects_max) return false;
  return !shares() || load_.objects - known_ + objects > limits.shared_objects_max;
}

bool ReadingBounds::too_many_changes(LogTime now) const {
  return budget_.exceeded(now) && (!shares() || load_.changes.exceeded(now));
}

void ReadingBounds::count(LogTime now, std::size_t known, std::int64_t changes) {
  if (shares()) load_.objects = load_.objects - known_ + known;
  known_ = known;
  if (changes == 0) return;
  budget_.spend(now, changes);
  if (shares() && listed_) load_.changes.spend(now, changes);
}

bool ReadingBounds::may_list(LogTime now) {
  return std::exchange(list_after_pause_, false) || !too_many_changes(now);
}

Duration ReadingBounds::exceed(LogTime now, StaleCause cause) {
  const bool again = pause_.ns > 0 && now < pause_ends_ + settings_.lost_after;
  pause_ =
      !again ? settings_.backoff_first : std::min(Duration{pause_.ns * 2}, settings_.stale_after);
  exceeded_ = list_after_pause_ = true;
  if (cause != StaleCause::too_many_changes) return pause_;
  const Duration recovery = shares() ? std::min(budget_.recovery(now), load_.changes.recovery(now))
                                     : budget_.recovery(now);
  return std::max(pause_, std::min(recovery, Duration{settings_.lost_after.ns / 2}));
}

bool ReadingBounds::end() { return std::exchange(exceeded_, false); }

bool ReadingBounds::still_too_many(std::int64_t others) const {
  // With the first object they are more than the bound.
  return others >= 0 && too_many(static_cast<std::size_t>(others) + 1);
}

std::string ReadingBounds::describe(StaleCause cause) const {
  const ReadingLimits& limits = settings_.limits;
  const bool changes = cause == StaleCause::too_many_changes;
  std::string line = changes ? "more than " + std::to_string(limits.changes_per_minute) +
                                   " changes a minute (members.changesPerMinute)"
                             : "more than " + std::to_string(limits.objects_max) + " (" +
                                   std::string(limits.objects_setting) + ")";
  if (shares())
    line += ", and " +
            (changes ? std::to_string(limits.changes_per_minute * kSharedChangesTimes)
                     : std::to_string(limits.shared_objects_max)) +
            " of Pods, Workloads, ResourceClaims and ResourceSlices together";
  line += changes ? ": none are read for a while" : ": no more are read";
  return line + (collection_.kind() == Kind::node ? ", capacity counts as stale" : "");
}

}  // namespace fairlead
