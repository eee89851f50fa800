// The hub ClusterQueue: base quota plus grants, overlaid on the observed list.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/fold/queues/orchestration.h"
#include "engine/fold/queues/queues.h"
#include "engine/plan/claims/written_status.h"
#include "engine/plan/emit.h"
#include "engine/plan/queues/resource_groups.h"

namespace fairlead {

/// What keeps a queue from being written at all, in the order in which it is checked.
enum class QueueBar : std::uint8_t { none, absent, orchestrated, deleting, automated };
QueueBar queue_bar(const State& state, const std::string& name);

/// Why a pair of ours is left as observed.
enum class PairBar : std::uint8_t {
  unknown_capacity,  ///< every claim that names it waits for its cluster's first value
  withheld,          ///< Kueue's rules leave it no place; QueueWish::withheld has the reason
  no_place,          ///< it is 0, assigned by no claim in force, and has no place in the list
  contested,         ///< another writer keeps changing it (Queue::contested)
};

/// What a hub queue should have, whether or not it may be written now.
struct QueueWish {
  bool emitted = false;                       ///< no QueueBar
  std::optional<Orchestration> orchestrated;  ///< the orchestrator that sets the quota in force
  std::map<QuotaKey, PairBar> kept;           ///< pairs that are left as observed
  std::vector<ResourceGroup> groups;
  std::map<QuotaKey, GrantReason> withheld;
  std::vector<Contribution> contributions;
  Direction direction = Direction::other;
  bool differs = false;
};
QueueWish wish_for_queue(const State& state, const std::string& name, HubQuotas& quotas);

/// The wishes of one State and the quotas that they are made of, each derived once, and again only
/// when one of its inputs changed. All claims that name a queue feed it, so deriving every wish
/// again in each round would mostly give the same results.
class QueueWishes {
 public:
  explicit QueueWishes(const State& state) : state_(state), quotas_(state) {}
  const QueueWish& of(const std::string& queue);
  HubQuotas& quotas() { return quotas_; }
  /// The last accepted statuses of claims, each parsed once.
  WrittenStatuses& statuses() { return statuses_; }

  /// Drops what follows from `changed`, which is all that was marked dirty since the round before.
  /// The caller calls it before each round.
  void go_on(const DirtySet& changed);

 private:
  /// The inputs of queues' wishes from a cluster, except the grants of its claims and what its
  /// member confirmed: a change of those two touches the queue.
  struct ClusterInputs {
    bool has_member = false;
    std::set<std::string> settled;  ///< queues that claims named (is_settled)
    bool counted_again_at = false;

    friend bool operator==(const ClusterInputs&, const ClusterInputs&) = default;
  };
  void forget(const std::string& queue);
  void forget_all();
  void compare(const std::string& cluster);
  void look_at(const std::string& queue);

  const State& state_;
  HubQuotas quotas_;
  std::map<std::string, QueueWish> made_;
  std::set<std::string> fleeting_;  // in made_, but objects change them without touching them
  std::map<std::string, ClusterInputs> inputs_;
  std::map<std::string, std::uint64_t> as_of_;  // Queue::changed when the wish was last checked
  WrittenStatuses statuses_;
};

/// Returns the apply that makes the queue as wished, whether or not it may be sent now. The wish
/// must differ and be emitted.
PatchIntended queue_intent(const State& state, const std::string& name, QueueWish wish);

/// Returns the apply of spec.resourceGroups if the queue differs from the wish and may be written.
/// If a version of Kueue moves quota out of spec, another emitter replaces this one.
Proposed emit_queue(const State& state, const std::string& name, QueueWishes& wishes);

}  // namespace fairlead
