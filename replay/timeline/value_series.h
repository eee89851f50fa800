// The values of a folded log over its time: each as the steps at which it moved.
//
// A fold samples its state when a moment closes. That is the fold of the log, for the series of the
// audit page, or that of a what-if, for the lines beside them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "engine/fold/state.h"
#include "replay/timeline/moment_values.h"
#include "replay/timeline/step_series.h"

namespace fairlead {

/// The lines of one pair, in the order of kPairLines.
struct PairSeries {
  std::array<StepSeries, kPairLines.size()> lines;
};
/// The lines of one capacity value of a cluster, in the order of kCapacityLines.
struct CapacitySeries {
  std::array<StepSeries, kCapacityLines.size()> lines;
};
/// The lines of one name of a worker list, in the order of kWorkerLines.
struct WorkerSeries {
  std::string cluster;  ///< OCM's name; empty: it never had one
  std::array<StepSeries, kWorkerLines.size()> lines;
};
/// A pair by flavor and resource, as its queue spells the resource.
using PairName = std::pair<std::string, std::string>;

/// Whether steps name the event after which they hold. Those of a what-if do not: its events are in
/// no log.
enum class StepSeqs : std::uint8_t { of_log, none };

class ValueSeries {
 public:
  explicit ValueSeries(StepSeqs seqs = StepSeqs::of_log) : seqs_(seqs) {}

  /// Adds the values of a state whose moment is closed. Its time is not before that of the last
  /// call; `dirty` is what changed since then, and `observed` names the hub ClusterQueues that
  /// events since then were about.
  void sample(const State& state, const DirtySet& dirty, const std::set<std::string>& observed);

  /// By ClusterQueue of the hub.
  const std::map<std::string, std::map<PairName, PairSeries>>& queues() const { return queues_; }
  const std::map<std::string, std::map<CapacityKey, CapacitySeries>>& clusters() const {
    return clusters_;
  }
  /// By worker list and name of a MultiKueueCluster.
  const std::map<std::string, std::map<std::string, WorkerSeries>>& lists() const { return lists_; }

 private:
  Step step_at(const State& state, Int128 value, StepWriter writer) const;
  void sample_everything(const State& state);
  void sample_queue(const State& state, const std::string& queue);
  void sample_cluster(const State& state, const std::string& cluster);
  void sample_list(const State& state, const std::string& placement);

  StepSeqs seqs_;
  std::map<std::string, std::map<PairName, PairSeries>> queues_;
  std::map<std::string, std::map<CapacityKey, CapacitySeries>> clusters_;
  std::map<std::string, std::map<std::string, WorkerSeries>> lists_;
};

}  // namespace fairlead
