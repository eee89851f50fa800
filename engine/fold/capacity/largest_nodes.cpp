#include "engine/fold/capacity/largest_nodes.h"

#include <algorithm>

namespace fairlead {

Amount amount_in(const NodeSize& size, const std::string& resource) {
  const auto at = std::lower_bound(
      size.begin(), size.end(), resource,
      [](const auto& entry, const std::string& wanted) { return entry.first < wanted; });
  return at == size.end() || at->first != resource ? 0 : at->second;
}

bool covers(const NodeSize& large, const NodeSize& small) {
  return std::all_of(small.begin(), small.end(), [&](const auto& entry) {
    return amount_in(large, entry.first) >= entry.second;
  });
}

// A size whose last node went stays as an entry of 0 nodes until the next begin(). While it is
// there, a node that comes may be left out because that entry covers it: is_outdated() then says
// so, unless a node of that size comes back, which covers it as before. A node that changes is
// removed and added again, so this is the usual case.
void LargestNodes::add(NodeSize size) {
  if (!begun_) return;
  for (Entry& entry : largest_) {
    if (entry.size == size) {
      ++entry.nodes;
      return;
    }
    if (covers(entry.size, size)) return;
  }
  std::erase_if(largest_, [&](const Entry& entry) { return covers(size, entry.size); });
  largest_.push_back({std::move(size), 1});
}

void LargestNodes::remove(const NodeSize& size) {
  for (Entry& entry : largest_)
    if (entry.size == size) --entry.nodes;
}

bool LargestNodes::is_outdated() const {
  return !begun_ || std::any_of(largest_.begin(), largest_.end(),
                                [](const Entry& entry) { return entry.nodes == 0; });
}

void LargestNodes::begin() {
  begun_ = true;
  largest_.clear();
}

std::vector<NodeSize> LargestNodes::sizes() const {
  std::vector<NodeSize> sizes;
  for (const Entry& entry : largest_) sizes.push_back(entry.size);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

}  // namespace fairlead
