// How much quota each ClusterQueue of one API server may still use, as Kueue computes it.
//
// Source: Kueue pkg/cache/scheduler/resource_node.go (available, potentialAvailable, localQuota,
// updateCohortResourceNode) and pkg/resources/amount.go (saturating amounts, of which the greatest
// means unlimited). What flavorsReservation says is the usage. A Cohort that a queue names and that
// does not exist is one without quota of its own; where the parents of a Cohort form a cycle, the
// queues below have no quota.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/types.h"
#include "schema/kinds/queues.h"

namespace fairlead {

/// What a queue may use of one (flavor, resource).
struct QuotaRoom {
  Amount available = 0;  ///< now, borrowed quota included; 0 where others use too much
  Amount potential = 0;  ///< the most that the queue could use, were no quota in use

  friend bool operator==(const QuotaRoom&, const QuotaRoom&) = default;
};

/// The resource groups in force of a ClusterQueue, without amounts. Each (flavor, resource) has a
/// number: a slot.
struct QueueShape {
  struct Flavor {
    std::string name;
    std::vector<std::string> resources;
    std::size_t first_slot = 0;  ///< of its resources, in their order

    /// Returns the slot of a resource; nullopt if the flavor has no quota of it.
    std::optional<std::size_t> slot_of(std::string_view resource) const;
    friend bool operator==(const Flavor&, const Flavor&) = default;
  };
  struct Group {
    std::vector<std::string> resources;  ///< that it covers
    std::vector<Flavor> flavors;

    friend bool operator==(const Group&, const Group&) = default;
  };
  std::vector<Group> groups;
  std::size_t slots = 0;

  friend bool operator==(const QueueShape&, const QueueShape&) = default;
};

/// A queue with its rooms by slot.
struct QueueRooms {
  std::shared_ptr<const QueueShape> shape;  ///< null: the queue is not known
  std::vector<QuotaRoom> rooms;

  friend bool operator==(const QueueRooms& a, const QueueRooms& b) {
    return a.rooms == b.rooms &&
           (a.shape == b.shape || (a.shape && b.shape && *a.shape == *b.shape));
  }
};

/// The ClusterQueues and Cohorts of one API server. What was set counts from settle() on.
class QuotaTree {
 public:
  QuotaTree();
  ~QuotaTree();
  QuotaTree(QuotaTree&&) noexcept;
  QuotaTree& operator=(QuotaTree&&) noexcept;

  /// Takes in how a ClusterQueue is; null: it is gone. `causes` are the events that say so.
  void set_queue(const std::string& name, const ClusterQueueFacts* facts,
                 const std::vector<Seq>& causes);
  /// Takes in how a Cohort is; null: it is gone.
  void set_cohort(const std::string& name, const CohortFacts* facts,
                  const std::vector<Seq>& causes);

  /// The queues of one tree that was changed.
  struct Change {
    std::vector<std::string> queues;
    std::vector<Seq> causes;  ///< ascending
  };
  /// Computes anew what was changed since the last call.
  std::vector<Change> settle();

  /// Reads the rooms of a queue, as of the last settle(), into `out`.
  void read(const std::string& queue, QueueRooms& out) const;

 private:
  struct Tables;
  std::unique_ptr<Tables> tables_;
};

}  // namespace fairlead
