// How capacity moves while a log is folded: what is accepted of each flavor in each cluster, and
// what its nodes that are not eligible would offer.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/fold/state.h"
#include "replay/usage/usage_change.h"

namespace fairlead {

/// Owned by one thread.
class CapacityWatch {
 public:
  /// Notes the nodes that may count otherwise when the moment closes.
  void note(const Event& event);
  /// Returns what changed since the last call. The moment of `state` is closed; `dirty` is what
  /// changed since then.
  std::vector<UsageCapacityChange> changes(const State& state, const DirtySet& dirty);

 private:
  using Amounts = std::map<CapacityKey, Int128>;
  /// What decides, beside its facts, for which flavors a node counts.
  struct Terms {
    std::map<std::string, ResourceFlavorFacts> flavors;
    std::set<std::string> gone;
    CandidateTable candidates;
    std::map<std::string, std::string> aliases;
  };

  bool counts_by(const State& state) const;
  void count_nodes(const State& state, const std::string& cluster);
  void count_node(const State& state, const std::string& cluster, const std::string& node);
  void move(const std::string& cluster, const std::string& node, Amounts now);
  void compare(const State& state, const std::string& cluster,
               std::vector<UsageCapacityChange>& out);

  std::optional<Terms> terms_;  // of the last count
  std::map<std::string, std::optional<CapacitySource>> source_of_;
  std::set<std::pair<std::string, std::string>> touched_;          // (cluster, node)
  std::set<std::string> relisted_;                                 // clusters with all their nodes
  std::map<std::string, std::map<std::string, Amounts>> down_of_;  // by cluster and node
  std::map<std::string, Amounts> down_;
  std::map<std::string, std::map<CapacityKey, std::pair<Int128, Int128>>> reported_;
};

}  // namespace fairlead
