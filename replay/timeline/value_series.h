// The values of a folded log over its time: each as the steps at which it moved.
//
// A fold samples its state when a moment closes. It is the fold of the log, for the series of the
// audit page, or the fold of a what-if, for the lines beside them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "engine/fold/state.h"
#include "replay/timeline/moment_values.h"
#include "replay/timeline/pool_values.h"
#include "replay/timeline/step_series.h"

namespace fairlead {

/// Lines in the order of their names.
template <std::size_t n>
struct SeriesOfLines {
  using Contents = std::array<StepSeries, n>;
  Contents lines;

  const Contents& contents() const { return lines; }
  void adopt(Contents contents) { lines = std::move(contents); }
};
/// The lines of one pair, in the order of kPairLines.
using PairSeries = SeriesOfLines<kPairLines.size()>;
/// The lines of one capacity value of a cluster, in the order of kCapacityLines.
using CapacitySeries = SeriesOfLines<kCapacityLines.size()>;
/// The lines of one name of a worker list, in the order of kWorkerLines.
struct WorkerSeries {
  std::string cluster;  ///< OCM's name; empty: it never had one
  std::array<StepSeries, kWorkerLines.size()> lines;

  using Contents = std::pair<std::string, std::array<StepSeries, kWorkerLines.size()>>;
  Contents contents() const { return {cluster, lines}; }
  void adopt(Contents contents) { std::tie(cluster, lines) = std::move(contents); }
};
/// The lines of a namespace at one super cluster, in the order of kShareLines.
using ShareSeries = SeriesOfLines<kShareLines.size()>;
/// The lines of one resource of a super cluster, in the order of kOfferLines.
using OfferSeries = SeriesOfLines<kOfferLines.size()>;
/// The lines of one resource of a tenant, in the order of kTenantLines.
using TenantSeries = SeriesOfLines<kTenantLines.size()>;

/// What events were about since the last sample: values of it may have moved although nothing is
/// planned for it.
struct ObservedNames {
  std::set<std::string> queues;           ///< ClusterQueues of the hub
  std::set<PoolNamespaceKey> namespaces;  ///< of tenants
  std::set<std::string> members;
  bool tenants = false;  ///< one came or went, or has another limit

  void note(const Event& event);
};

/// A pair by flavor and resource, as its queue spells the resource.
using PairName = std::pair<std::string, std::string>;

/// The number of steps that all series together keep, 48 bytes of memory each.
inline constexpr std::size_t kStepsOfAllMax = 1'000'000;
/// The number of steps that a series may keep however many series there are.
inline constexpr std::size_t kStepsOfEachMin = 64;

/// Whether steps name the event after which they hold. The steps of a what-if do not: its events
/// are in no log.
enum class StepSeqs : std::uint8_t { of_log, none };

class ValueSeries {
 public:
  /// At most `steps_max` steps are kept of all series together, but for a few of each.
  explicit ValueSeries(StepSeqs seqs = StepSeqs::of_log, std::size_t steps_max = kStepsOfAllMax)
      : seqs_(seqs), steps_max_(steps_max) {}

  /// Adds the values of a state whose moment is closed. Its time is not before the last call's;
  /// `dirty` is what changed since then, and `observed` what events since then were about.
  void sample(const State& state, const DirtySet& dirty, const ObservedNames& observed);

  /// By ClusterQueue of the hub.
  const std::map<std::string, std::map<PairName, PairSeries>>& queues() const {
    return contents_.queues;
  }
  const std::map<std::string, std::map<CapacityKey, CapacitySeries>>& clusters() const {
    return contents_.clusters;
  }
  /// By worker list and name of a MultiKueueCluster.
  const std::map<std::string, std::map<std::string, WorkerSeries>>& lists() const {
    return contents_.lists;
  }
  /// By TENANT/NAME and super cluster id; "": of the namespace itself.
  const std::map<std::string, std::map<std::string, ShareSeries>>& namespaces() const {
    return contents_.namespaces;
  }
  /// By id and canonical resource.
  const std::map<std::string, std::map<std::string, OfferSeries>>& super_clusters() const {
    return contents_.super_clusters;
  }
  /// By name, of cpu and memory.
  const std::map<std::string, std::map<std::string, TenantSeries>>& tenants() const {
    return contents_.tenants;
  }

  struct Contents {
    std::map<std::string, std::map<PairName, PairSeries>> queues;
    std::map<std::string, std::map<CapacityKey, CapacitySeries>> clusters;
    std::map<std::string, std::map<std::string, WorkerSeries>> lists;
    std::map<std::string, std::map<std::string, ShareSeries>> namespaces;
    std::map<std::string, std::map<std::string, OfferSeries>> super_clusters;
    std::map<std::string, std::map<std::string, TenantSeries>> tenants;
    std::uint64_t most = kStepsMax;  ///< steps of one series
    std::uint64_t steps = 0;         ///< of all series
  };
  const Contents& contents() const { return contents_; }
  void adopt(Contents contents) { contents_ = std::move(contents); }

 private:
  /// What the lines of capacity of a pair are the sums of, so that one cluster's change does not
  /// cost all claims of the queue.
  struct SumOfParts {
    PairName name;
    CapacityParts parts;
    CapacityValues sum;
  };

  void sample_capacity(const State& state, const std::string& cluster,
                       const std::set<std::string>& done);
  void sample_part(const State& state, const std::string& name, const Cluster& cluster,
                   const AssignmentRow& row);
  void push(StepSeries& series, const State& state, Int128 value,
            StepWriter writer = StepWriter::none);
  void reduce();
  void sample_everything(const State& state);
  void sample_queue(const State& state, const std::string& queue);
  void sample_cluster(const State& state, const std::string& cluster);
  void sample_list(const State& state, const std::string& placement);
  void sample_pool(const State& state, const DirtySet& dirty, const ObservedNames& observed);
  void sample_namespace(const State& state, const PoolNamespaceKey& key);
  void sample_super_cluster(const State& state, const std::string& id);
  void sample_tenant(const State& state, const std::string& name);
  void sample_namespaces_of(const State& state, const std::string& tenant);
  void sample_whole_pool(const State& state);
  template <class Series, class Values>
  void push_all(std::map<std::string, Series>& parts, const State& state,
                const std::map<std::string, Values>& now, StepWriter writer = StepWriter::none);

  StepSeqs seqs_;
  std::size_t steps_max_;
  std::map<std::string, std::map<QuotaKey, SumOfParts>> sums_;  // by queue, of its last sample
  Contents contents_;
};

}  // namespace fairlead
