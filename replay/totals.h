// What damping costs and saves, as numbers: the totals of a run, real or imagined.
//
// For a (cluster, flavor, resource): `usable` is what debounce calls U; `promised` is what the
// hub's ClusterQueues carry of the cluster, by the contributions of their last accepted writes, or
// where pairs stood right without one, of what they come to (before overbooking); `wanted` is what
// the cluster's claim assigns. All are step functions of log time:
//
//   over-quota   max(0, promised - usable): quota that no node is behind
//   under-quota  max(0, min(usable, wanted) - promised): capacity that somebody wants and is not
//                promised
//
// A flavor that bounds (it won a node, or the claim is Strict) is measured by itself; where only
// totals bound, a resource of the cluster is measured as a whole, under the empty flavor. A cluster
// counts from its first value on, and not after it was detached. Integers throughout: amounts times
// nanoseconds in 128 bits; what is reported is rounded down once, at the end.
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
  std::uint64_t writes = 0;             ///< of objects: ClusterQueues, ManifestWorks, claims
  std::uint64_t queue_writes = 0;       ///< of these, of ClusterQueues
  std::uint64_t status_writes = 0;      ///< of claims' statuses, not in `writes`
  Duration over_quota;                  ///< time with any over-quota, summed over keys
  std::map<std::string, Int128> over;   ///< by resource: amount times nanoseconds
  std::map<std::string, Int128> under;  ///< the same of under-quota
  std::uint64_t safe_shrinks = 0;       ///< spans of over-quota that ended
  Duration slowest_shrink;              ///< the longest span, an unended one included
};

/// {"writes", "queueWrites", "statusWrites", "overQuotaSeconds", "overQuotaResourceHours",
/// "underQuotaResourceHours" (by resource, in its units: cpu in cores; cpu and devices to the
/// thousandth), "safeShrinks",
/// "slowestShrinkSeconds"}.
Json to_json(const Totals& totals);

/// Integrates as time goes on. Not thread safe.
class TotalsMeter {
 public:
  /// A moment of `state` was decided; `touched` names what changed since the last call.
  void decided(const State& state, const Touched& touched);
  /// A write was intended.
  void wrote(const PatchIntended& intent);
  /// Everything until `end`.
  Totals totals(LogTime end) const;

 private:
  struct Sums {
    Int128 usable = 0, promised = 0, wanted = 0;
  };
  struct Gauge {
    LogTime since;
    Amount over = 0;
    Amount under = 0;
    std::optional<LogTime> over_since;  ///< the span that is told so far: not ended, or just now
    Sums now;                           ///< what is being measured
  };
  /// The order of CapacityKey, also of keys whose texts somebody else owns.
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
  /// What a queue carries, and the write that it is of; none: it was not written.
  struct Carried {
    std::vector<Contribution> parts;
    Seq by;
  };
  void take_queue(const State& state, const std::string& name, std::set<std::string>& feeding);
  void measure(const State& state, const std::string& cluster);
  static void sum_up(const Cluster& cluster, const Claim* claim, Measured& measured);
  static void integrate(Totals& totals, const CapacityKey& key, Gauge& gauge, LogTime until);
  static void end_span(Totals& totals, Gauge& gauge);

  Totals totals_;
  std::map<std::string, Carried> carried_;    ///< by queue
  std::map<std::string, Measured> clusters_;  ///< by name
};

}  // namespace fairlead
