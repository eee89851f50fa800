// Which clusters a Workload may be dispatched to, and which of them is best. Internal to the fold.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "engine/devices/fit.h"
#include "engine/fold/cluster_state.h"
#include "engine/fold/dispatch/dispatch_state.h"
#include "engine/fold/dispatch/question.h"
#include "engine/fold/multikueue/multikueue_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// What keeps a worker from being a candidate, whatever fits there.
enum class Obstacle : std::uint8_t { none, leaving, not_watched, not_reachable, spent };
/// Returns the first that applies.
Obstacle obstacle_of(const NameMap<Cluster>& clusters, const WorkerList& list,
                     const std::string& worker, const DeviceDispatch& devices);

/// Returns the obstacle for a worker, whatever its place in the list.
Obstacle obstacle_at(const NameMap<Cluster>& clusters, const std::string& cluster,
                     const std::string& worker, const DeviceDispatch& devices);

/// The clusters among which a choice is made.
struct Choices {
  const std::set<std::string>* clusters = nullptr;  ///< null: all of the list
  std::string but;                                  ///< a worker that is left out; empty: none
};

/// Where a Workload can go.
struct Destination {
  std::string worker;
  std::string cluster;
  std::vector<FitPod> pods;
};

/// Answers which cluster is best, in one moment.
class Chooser {
 public:
  explicit Chooser(DispatchRoom state) : state_(state) {}

  /// Returns the best candidate; nullopt if there is none.
  std::optional<Destination> best(const NamespacedName& id, WorkloadRecord& record,
                                  const WorkerList& list, const Choices& among);
  /// Returns all candidates of the list but the worker `but`, the best first.
  std::vector<Destination> ranked(const NamespacedName& id, WorkloadRecord& record,
                                  const WorkerList& list, const std::string& but);
  /// Returns one worker as a candidate, a leaver too; nullopt if its pods do not fit there.
  std::optional<Destination> only(const NamespacedName& id, WorkloadRecord& record,
                                  const WorkerList& list, const std::string& worker);
  const ExtendedNames& names_of(const WorkerList& list);

 private:
  struct Asked {
    const FitAnswer& fit;
    std::optional<std::int64_t> free;
  };
  /// Of candidates the least one is best.
  using Value = std::tuple<std::int64_t, std::int64_t, std::size_t>;
  Asked ask(const NamespacedName& id, WorkloadRecord& record, const WorkerList& list,
            const std::string& cluster);
  Value value_of(const Asked& asked, std::size_t place) const;

  DispatchRoom state_;
  std::map<const WorkerList*, ExtendedNames> names_;
  FitAnswer uncached_;
};

}  // namespace fairlead
