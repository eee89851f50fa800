// The quota of one ClusterQueue, what its Workloads hold of it, and whether another one fits.
//
// As Kueue assigns flavors to a queue that borrows nothing: for each pod set and resource group the
// first flavor in which all of its requests fit, beside what the pod sets before it got.
// Not played: cohorts, limits, taints, affinity, topology.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/json.h"
#include "engine/base/quantity.h"

namespace fairlead {

class QuotaLedger {
 public:
  /// A queue without quota, in which nothing fits.
  QuotaLedger() = default;
  explicit QuotaLedger(const Json& cluster_queue);

  /// Counts what `workload` holds of this queue: what it was assigned, until it is finished; one
  /// without quota is pending unless it is deactivated.
  void count(const Json& workload);
  /// Counts nothing of `workload` any more. It has been counted.
  void forget(const Json& workload);

  struct Verdict {
    Json admission;            ///< status.admission of the Workload; null: it does not fit
    std::string message;       ///< why it does not fit, in Kueue's words
    bool exceeds_max = false;  ///< it would not fit in the empty queue
  };
  Verdict judge(const Json& workload) const;

  /// Returns the fields of `status` that say how much is used, as Kueue writes them.
  Json status() const;

 private:
  using Pair = std::pair<std::string, std::string>;  ///< flavor, resource
  using Amounts = std::map<Pair, Amount>;
  struct Group {
    std::vector<std::string> resources;
    std::vector<std::string> flavors;
  };
  struct Attempt {
    std::optional<std::string> flavor;  ///< absent: none fits
    bool exceeds_max = true;            ///< not even in an empty flavor
    std::vector<std::string> reasons;
  };

  void add(const Json& workload, int sign);
  Attempt attempt(const Group& group, const std::map<std::string, Amount>& requests,
                  const Amounts& assumed) const;
  Json usage_json(const Amounts& amounts) const;

  std::string name_;
  std::vector<Group> groups_;
  std::vector<Pair> order_;  ///< of the pairs in the spec
  Amounts nominal_, reserved_, used_;
  std::int64_t pending_ = 0, reserving_ = 0, admitted_ = 0;
};

/// Returns what the pods of `pod_set` request together, by resource. Any field may be missing or
/// of another type: a user may have written it.
std::map<std::string, Amount> requests_of(const Json& pod_set);

}  // namespace fairlead
