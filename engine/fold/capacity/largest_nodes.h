// The largest nodes of a super cluster: every other node has no more of anything than one of these.
// These few tell whether some node can hold a pod alone.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schema/event.h"

namespace fairlead {

/// What a node offers, whatever runs there: its amounts above 0 by canonical resource, in the order
/// of the resources.
using NodeSize = std::vector<std::pair<std::string, Amount>>;

/// Returns how much of the resource a node of that size offers.
Amount amount_in(const NodeSize& size, const std::string& resource);
/// Whether a node of size `large` holds whatever one of size `small` holds.
bool covers(const NodeSize& large, const NodeSize& small);

/// The largest of a cluster's nodes, which come and go one by one.
///
/// Thousands of nodes have a few sizes that no other size covers, so a node that comes costs a
/// comparison with each of these, and most nodes that go cost no more. What a largest node covered
/// is not kept: where the last one of its size went, all nodes are added again.
class LargestNodes {
 public:
  void add(NodeSize size);
  /// `size` was added.
  void remove(const NodeSize& size);

  /// Whether it has to be derived from all nodes before it is asked: it has none yet, or a node
  /// went that covered others.
  bool is_outdated() const;
  /// Forgets all nodes, and begins anew.
  void begin();
  /// Returns the sizes in their order. It is not outdated.
  std::vector<NodeSize> sizes() const;

 private:
  struct Entry {
    NodeSize size;
    std::int64_t nodes = 0;  ///< that have just this size; 0: the last one went
  };
  bool begun_ = false;
  std::vector<Entry> largest_;
};

}  // namespace fairlead
