// Adds up use over log time, from events and from moments of the fold, period by period.
//
// An observation may count from an earlier time than that of its event (ObjectObserved::read), at
// most kReadBack earlier. So changes wait in the order of the times from which they count, and are
// applied when no earlier one can come any more. A period is finished kReadBack after its end, when
// an event after its end was seen: it says whether a hub ran until then.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/state.h"
#include "replay/usage/usage_change.h"
#include "replay/usage/usage_ledger.h"

namespace fairlead {

/// The rows of each view in one period.
struct UsagePeriod {
  Millis from = 0;
  Millis to = 0;
  std::map<UsageView, UsageRows> views;
  /// Used amounts of Workloads by the row of their queue; empty unless a view is of Workloads.
  UsageRows of_queues;
};

/// Owned by one thread.
class UsageMeter {
 public:
  /// `cuts` are where periods begin and end: ascending, at least two.
  UsageMeter(std::vector<UsageView> views, std::deque<Millis> cuts);

  /// Begins with what is known at the first cut; `state` has the events before it.
  void begin(const State& state);
  /// Takes in the next event.
  void note(const Event& event);
  /// Takes in a capacity at a time that is not before the last event's.
  void note(LogTime time, UsageCapacityChange change);
  /// Takes in that no event follows.
  void end();
  /// Whether nothing that follows concerns the periods.
  bool finished() const { return cuts_.size() < 2; }
  /// Returns the periods that are finished and were not returned yet.
  std::vector<UsagePeriod> take_finished() { return std::exchange(finished_, {}); }

 private:
  struct QueueName {
    SourceName source;
    std::string name;
    friend auto operator<=>(const QueueName&, const QueueName&) = default;
  };
  struct WorkloadName {
    SourceName source;
    NamespacedName id;
    friend auto operator<=>(const WorkloadName&, const WorkloadName&) = default;
  };
  struct CountedWorkload {
    UsageWorkload workload;
    std::string queue_uid;  // when it was counted
  };

  void wait(LogTime time, UsageChange change);
  void note_object(const Event& event, const ObjectObserved& seen);
  void settle(Millis until);
  void cut();
  void apply(Millis at, const UsageQueueChange& change);
  void apply(Millis at, const UsageWorkloadChange& change);
  void apply(Millis at, const SilenceSign& sign);
  void apply(Millis at, const UsageHubChange& change);
  void apply(Millis at, const UsageCapacityChange& change);
  void apply(Millis at, const UsageAliasChange& change);
  void move_pair(Millis at, const QueueName& name, const UsageQueue& queue, const UsePair& pair,
                 const UsageLedger::Change& change);
  void move_workload(Millis at, const WorkloadName& name, const CountedWorkload& counted,
                     int members);
  void give_capacity(Millis at, UsageLedger& ledger, const UsageRowKey& key);
  UsageCapacity capacity_of(const UsageRowKey& key) const;

  std::deque<Millis> cuts_;  // the first: where the open period began
  std::map<UsageView, UsageLedger> ledgers_;
  UsageLedger of_queues_;
  bool of_workloads_ = false;
  StreamClocks clocks_;
  std::multimap<Millis, UsageChange> waiting_;
  std::map<QueueName, LogTime> queue_since_;  // from when its last observation counts
  std::map<QueueName, UsageQueue> queues_;
  std::map<WorkloadName, CountedWorkload> workloads_;
  std::map<UsageCapacityKey, UsageCapacity> capacities_;
  std::map<UsageCapacityKey, std::set<UsageRowKey>> rows_of_;  // of views with capacity
  std::map<std::string, std::string> aliases_;
  std::optional<LogTime> last_event_;
  std::vector<UsagePeriod> finished_;
};

/// Returns what a Workload counts as; nullopt if that is nothing.
std::optional<UsageWorkload> usage_workload(const NamespacedName& id, const WorkloadFacts& facts);

}  // namespace fairlead
