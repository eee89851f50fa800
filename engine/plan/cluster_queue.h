// The hub ClusterQueue: base plus grants laid over the list that was read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/plan/emit.h"
#include "engine/plan/resource_groups.h"

namespace fairlead {

/// What a hub queue should have, whether or not it may be written now.
struct QueueWish {
  bool emitted = false;  ///< false: absent, in conflict, or Kueue writes the quota itself
  std::vector<ResourceGroup> groups;
  std::map<QuotaKey, std::string> withheld;
  std::vector<Contribution> contributions;
  bool lowers = false;
  bool differs = false;
};
QueueWish wish_for_queue(const State& state, const std::string& name);

/// The wishes of one round of planning, each made once.
class QueueWishes {
 public:
  explicit QueueWishes(const State& state) : state_(state) {}
  const QueueWish& of(const std::string& queue);

 private:
  const State& state_;
  std::map<std::string, QueueWish> made_;
};

/// The apply of spec.resourceGroups, if the queue differs from the wish and may be written.
/// A port: where Kueue moves quota out of spec, another emitter takes this one's place.
Proposed emit_queue(const State& state, const std::string& name, QueueWishes& wishes);

/// The events behind the pairs of a queue that differ: claims, capacity, the queue itself.
std::vector<Seq> seqs_behind(const State& state, const std::string& queue,
                             const std::map<QuotaKey, Amount>& pairs);

}  // namespace fairlead
