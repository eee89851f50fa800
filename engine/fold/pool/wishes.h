// Which namespaces want a decision about their slices, and for which of them room that grew may be
// enough. Internal to the fold.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "engine/fold/pool/pool_state.h"
#include "engine/fold/rooms.h"

namespace fairlead {

/// Notes that the namespace, which takes part and is taken up, wants a decision, and what the
/// decision depends on. If it wanted one before, its turn stays.
void note_wish(PoolRoom state, const PoolNamespaceKey& key);
/// Notes that the namespace wants no decision.
void forget_wish(Pool& pool, const PoolNamespaceKey& key);

/// Leaves out the namespaces whose decision would be the same as before, because less is free in
/// all clusters together than they need.
class WorthDeciding {
 public:
  explicit WorthDeciding(PoolRoom state) : state_(state) {}

  /// Returns the namespaces that want a decision and may get another one.
  std::set<PoolNamespaceKey> all();
  /// Whether the namespace, which wants a decision, is one of all().
  bool contains(const PoolNamespaceKey& key);
  /// Notes that a decision changed what is free.
  void note_change() { free_.clear(); }

 private:
  Int128 free_slices(const std::pair<Amount, Amount>& slice);

  PoolRoom state_;
  std::map<std::pair<Amount, Amount>, Int128> free_;  ///< by the cpu and the memory of a slice
};

}  // namespace fairlead
