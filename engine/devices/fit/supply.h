// A bound on how many pods fit, which is much cheaper to find than whether they fit.
//
// A gang that is too big by one would otherwise be tried in every order. A bound may be too great,
// never too small: what it cuts off had no solution. Devices, shares, counters and the amounts of
// device plugins are counted.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/devices/fit/node_filter.h"
#include "engine/devices/fit/plan.h"
#include "engine/devices/fit/taken.h"

namespace fairlead::fitting {

class Supply {
 public:
  Supply(ClusterDeviceIndex& devices, Taken& taken, NodeFilter& filter, const GangPlan& gang);

  /// Whether `count` more pods of the plan may fit beside what is taken, if no other pods come.
  /// Asked between two pods. After much counting it says yes at once: a search that the bound does
  /// not shorten ends by its steps.
  bool may_hold(std::uint32_t plan, std::int64_t count);

 private:
  // What was counted when the pools had these versions, which only rise.
  struct Counted {
    std::uint64_t versions = 0;
    std::int64_t pods = -1;
  };
  // How many picks devices with this value of an attribute can serve.
  struct PicksOfValue {
    std::string_view value;
    std::int64_t picks = 0;
  };
  struct CountedPicks {
    std::uint64_t version = 0;
    std::int64_t picks = -1;
  };

  bool nodes_may_hold(std::uint32_t plan, std::int64_t count);
  bool pools_may_hold(const PodPlan& plan, std::int64_t count);
  std::int64_t pods_on(const PodPlan& plan, DeviceNode& node);
  std::int64_t pods_by_plugin(const Request& request, const DeviceNode& node) const;
  std::int64_t pods_by(const PodPlan& plan, const Request& request, DeviceNode& node);
  std::int64_t pods_by_value(const ClaimPlan& claim, const Ask& ask, DeviceNode& node);
  // By the values of an attribute, of devices that have it; all together if its name is empty.
  std::vector<PicksOfValue> picks_on(const Ask& ask, DeviceNode& node, std::string_view attribute);
  void count_picks(const Ask& ask, IndexedPool& pool, std::uint32_t begin, std::uint32_t end,
                   std::string_view attribute, std::vector<PicksOfValue>& picks);
  static std::int64_t sum(const std::vector<PicksOfValue>& picks);
  std::int64_t need_of(const PodPlan& plan, const Ask& ask) const;
  bool is_exclusive(const Ask& ask, DeviceNode& node);

  ClusterDeviceIndex& devices_;
  Taken& taken_;
  NodeFilter& filter_;
  const GangPlan& gang_;
  std::int64_t work_ = 0;                           // devices and nodes looked at
  std::vector<std::vector<Counted>> nodes_;         // by plan, then node
  std::vector<const Ask*> pool_asks_;               // whose picks are counted by pool...
  std::vector<std::vector<CountedPicks>> by_pool_;  // ...by ask, then pool
};

}  // namespace fairlead::fitting
