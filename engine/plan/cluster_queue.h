// The hub ClusterQueue: base plus grants laid over the list that was read.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/fold/orchestration.h"
#include "engine/fold/queues.h"
#include "engine/plan/emit.h"
#include "engine/plan/resource_groups.h"
#include "engine/plan/told_status.h"

namespace fairlead {

/// What keeps a queue from being written at all.
enum class QueueBar : std::uint8_t { none, absent, orchestrated, conflict, deleting, automated };
QueueBar queue_bar(const State& state, const std::string& name);

/// Why a pair of ours is left as it stands.
enum class PairBar : std::uint8_t {
  unknown_capacity,  ///< every claim that names it waits for its cluster's first value
  withheld,          ///< Kueue's rules leave it no place; QueueWish::withheld has the reason
  no_place,          ///< it is 0, assigned by no claim in force, and has no place in the list
  waits_for_member,  ///< it stood before the claim, and the member is still made ready
};

/// What a hub queue should have, whether or not it may be written now.
struct QueueWish {
  bool emitted = false;                       ///< no QueueBar
  std::optional<Orchestration> orchestrated;  ///< who sets the quota in force instead
  std::map<QuotaKey, PairBar> kept;           ///< pairs that are left as they stand
  std::vector<ResourceGroup> groups;
  std::map<QuotaKey, std::string> withheld;
  std::vector<Contribution> contributions;
  bool lowers = false;
  bool differs = false;
};
QueueWish wish_for_queue(const State& state, const std::string& name, HubQuotas& quotas);

/// The wishes of one state and the quotas that they are made of, each made once, and again only
/// when something changed that it follows from: a queue is fed by all claims that name it, so in
/// the next round of planning nearly everything would come out as before.
class QueueWishes {
 public:
  explicit QueueWishes(const State& state) : state_(state), quotas_(state) {}
  const QueueWish& of(const std::string& queue);
  HubQuotas& quotas() { return quotas_; }
  /// The statuses that claims have, read once each.
  ToldStatuses& told() { return told_; }

  /// Before each round: forgets what follows from `changed`, all that was touched since the round
  /// before.
  void go_on(const Touched& changed);

 private:
  /// What a queue's wish depends on in a cluster, besides what its claims are granted and what the
  /// member confirmed: a change of those touches the queue.
  struct ClusterInputs {
    bool has_member = false;
    bool settled = false;
    bool hub_opens = false;

    friend bool operator==(const ClusterInputs&, const ClusterInputs&) = default;
  };
  void forget(const std::string& queue);
  void forget_all();
  void compare(const std::string& cluster);
  void look_at(const std::string& queue);

  const State& state_;
  HubQuotas quotas_;
  std::map<std::string, QueueWish> made_;
  std::set<std::string> fleeting_;  // of those: other objects change them without touching them
  std::map<std::string, ClusterInputs> inputs_;
  std::map<std::string, std::uint64_t> as_of_;  // Queue::changed when last looked at
  ToldStatuses told_;
};

/// The apply that would make the queue as wished, with the rank and direction it would have; the
/// wish must differ and be emitted. Whether it may be sent now is not looked at.
Proposal queue_proposal(const State& state, const std::string& name, QueueWish wish);

/// The apply of spec.resourceGroups, if the queue differs from the wish and may be written.
/// A port: where Kueue moves quota out of spec, another emitter takes this one's place.
Proposed emit_queue(const State& state, const std::string& name, QueueWishes& wishes);

}  // namespace fairlead
