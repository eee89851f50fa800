// What damping costs and saves, in numbers: the totals of a run, of history or of a counterfactual.
//
// For a (cluster, flavor, resource): `usable` is the usable capacity before damping; `promised` is
// what the hub's ClusterQueues carry of the cluster: the contributions of their last accepted
// writes or, for pairs whose value was right without a write, the contributions that add up to it
// (before overbooking); `wanted` is what the cluster's claim assigns. All are step functions of log
// time:
//
//   over-quota   max(0, promised - usable): quota without a node behind it
//   under-quota  max(0, min(usable, wanted) - promised): capacity that is wanted and not promised
//
// A flavor that bounds (it matched a node, or the claim is Strict) is measured by itself; where
// only totals bound, a resource of the cluster is measured as a whole, under the empty flavor. A
// cluster counts from its first value until it is detached. Integers throughout: amounts times
// nanoseconds in 128 bits; reported values are rounded down once, at the end.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/json.h"
#include "engine/fold/state.h"

namespace fairlead {

/// The totals of a span of log time.
struct Totals {
  std::uint64_t writes = 0;             ///< all writes but writes of statuses
  std::uint64_t queue_writes = 0;       ///< of these, of ClusterQueues
  std::uint64_t nominations = 0;        ///< of Workloads' statuses, not in `writes`
  std::uint64_t status_writes = 0;      ///< of other statuses, neither
  Duration over_quota;                  ///< time with any over-quota, summed over keys
  std::map<std::string, Int128> over;   ///< by resource: amount times nanoseconds
  std::map<std::string, Int128> under;  ///< likewise for under-quota
  std::uint64_t safe_shrinks = 0;       ///< spans of over-quota that ended
  Duration slowest_shrink;              ///< the longest span, an unended one included
};

/// Fields: Totals in ui/answers.d.ts.
Json to_json(const Totals& totals);

/// Integrates as time goes on. Not thread safe.
class TotalsMeter {
 public:
  /// Records that a moment of `state` closed; `dirty` names what changed since the last call.
  void decided(const State& state, const DirtySet& dirty);
  /// Counts an intended write.
  void wrote(const PatchIntended& intent);
  /// Returns the totals of everything until `end`.
  Totals totals(LogTime end) const;

 private:
  struct Sums {
    Int128 usable = 0, promised = 0, wanted = 0;
  };
  struct Gauge {
    LogTime since;
    Amount over = 0;
    Amount under = 0;
    std::optional<LogTime> over_since;  ///< begin of the running span
    Sums now;                           ///< sums of the measurement in progress
  };
  /// The order of CapacityKey, also for keys whose texts are owned elsewhere.
  struct CapacityKeyOrder {
    using is_transparent = void;
    using View = std::pair<std::string_view, std::string_view>;  ///< flavor, resource

    bool operator()(const CapacityKey& a, const CapacityKey& b) const { return a < b; }
    bool operator()(const CapacityKey& a, const View& b) const { return view_of(a) < b; }
    bool operator()(const View& a, const CapacityKey& b) const { return a < view_of(b); }

   private:
    static View view_of(const CapacityKey& key) { return {key.flavor, key.resource}; }
  };
  struct Measured {
    std::map<CapacityKey, Int128> promised;
    std::map<CapacityKey, Gauge, CapacityKeyOrder> gauges;
  };
  /// What a queue carries, and the seq of the write that set it; 0: no write did.
  struct Carried {
    std::vector<Contribution> parts;
    Seq by;
  };
  void add_queue(const State& state, const std::string& name, std::set<std::string>& feeding);
  void measure(const State& state, const std::string& cluster);
  static void sum_up(const Cluster& cluster, const Claim* claim, Measured& measured);
  static void integrate(Totals& totals, const CapacityKey& key, Gauge& gauge, LogTime until);
  static void end_span(Totals& totals, Gauge& gauge);

  Totals totals_;
  std::map<std::string, Carried> carried_;    ///< by queue
  std::map<std::string, Measured> clusters_;  ///< by name
};

}  // namespace fairlead
