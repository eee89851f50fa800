#include "engine/fold/capacity/largest_nodes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace fairlead {
namespace {

NodeSize node_of(Amount cpu, Amount memory, Amount gpus = 0) {
  NodeSize size{{"cpu", cpu}, {"memory", memory}};
  if (gpus > 0) size.insert(size.begin() + 1, {"example.com/gpu", gpus});
  return size;
}

TEST_CASE("largest nodes: a size covers another that has no more of anything") {
  CHECK(covers(node_of(4, 8), node_of(4, 8)));
  CHECK(covers(node_of(4, 8, 1), node_of(4, 7)));
  CHECK_FALSE(covers(node_of(4, 8), node_of(4, 7, 1)));
  CHECK_FALSE(covers(node_of(4, 8), node_of(5, 1)));
  CHECK(amount_in(node_of(4, 8), "memory") == 8);
  CHECK(amount_in(node_of(4, 8), "example.com/gpu") == 0);
}

TEST_CASE(
    "largest nodes: none is outdated before it is begun, and while a largest one is missing") {
  LargestNodes largest;
  largest.add(node_of(1, 1));
  CHECK(largest.is_outdated());
  largest.begin();
  for (int i = 0; i < 2; ++i) largest.add(node_of(8, 8));
  largest.add(node_of(2, 2));
  largest.add(node_of(1, 16));
  CHECK(largest.sizes() == std::vector{node_of(1, 16), node_of(8, 8)});
  largest.remove(node_of(2, 2));  // the others cover it
  largest.remove(node_of(8, 8));  // one is left
  CHECK_FALSE(largest.is_outdated());
  largest.remove(node_of(8, 8));  // the last one: it may have covered others
  CHECK(largest.is_outdated());
  largest.add(node_of(4, 4));
  CHECK(largest.is_outdated());
  largest.add(node_of(8, 8));  // a node that changed its readiness
  CHECK_FALSE(largest.is_outdated());
  largest.add(node_of(9, 16));
  CHECK(largest.sizes() == std::vector<NodeSize>{node_of(9, 16)});
}

// Nodes that come and go in any order leave the sizes that a search over all of them finds.
TEST_CASE("largest nodes: they are those that no other node covers") {
  std::mt19937 random(7);
  LargestNodes largest;
  std::vector<NodeSize> nodes;
  for (int step = 0; step < 2000; ++step) {
    if (nodes.empty() || random() % 3 != 0) {
      nodes.push_back(node_of(1 + random() % 6, 1 + random() % 6, random() % 3));
      largest.add(nodes.back());
    } else {
      const auto at = nodes.begin() + static_cast<std::ptrdiff_t>(random() % nodes.size());
      largest.remove(*at);
      nodes.erase(at);
    }
    if (largest.is_outdated()) {
      largest.begin();
      for (const NodeSize& size : nodes) largest.add(size);
    }
    std::vector<NodeSize> expected;
    for (const NodeSize& size : nodes)
      if (std::none_of(nodes.begin(), nodes.end(),
                       [&](const NodeSize& other) { return other != size && covers(other, size); }))
        expected.push_back(size);
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    REQUIRE(largest.sizes() == expected);
  }
}

}  // namespace
}  // namespace fairlead
