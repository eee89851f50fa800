// Which nodes a pod may be on, before a device is tried, and on which of them an error would keep
// it from every node (docs/decisions/0042-an-error-on-one-node-counts-for-all.md).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/devices/fit/plan.h"
#include "engine/devices/fit/taken.h"

namespace fairlead::fitting {

/// Remembers its answers for one search: plans and nodes by number.
class NodeFilter {
 public:
  NodeFilter(ClusterDeviceIndex& devices, const FitQuestion& question, const GangPlan& gang);

  /// Whether the node satisfies the pod and the claims that it names: ready, not cordoned, taints
  /// tolerated, labels as wanted, where its allocated claims are.
  bool is_usable(std::uint32_t plan, const DeviceNode& node);
  /// Whether a node may have enough devices that were free before the search, for one pod.
  /// `node`: its number. False only if the search would find no solution and meet no error there.
  bool may_fit(std::uint32_t plan, std::uint32_t node);
  /// Returns the numbers of the nodes on which the search for one pod may end in an error, whatever
  /// is taken.
  const std::vector<std::uint32_t>& fallible(std::uint32_t plan);

 private:
  enum class Known : std::uint8_t { unknown, yes, no };

  bool usable(const PodPlan& plan, const DeviceNode& node) const;
  bool taints_tolerated(const PodDeviceFacts& pod, const DeviceNode& node) const;
  bool is_where(const Pin& pin, const DeviceNode& node) const;
  /// What is known about a plan: the tallies of its asks in order, null for an ask for nothing, and
  /// fallible().
  struct OfPlan {
    std::vector<const NodeTallies*> tallies;
    std::vector<std::uint32_t> fallible;
  };
  const OfPlan& of(std::uint32_t plan);
  OfPlan look_at(const PodPlan& plan);
  bool is_fallible(const PodPlan& plan, const std::vector<const NodeTallies*>& tallies,
                   DeviceNode& node);

  ClusterDeviceIndex& devices_;
  const FitQuestion& question_;
  const GangPlan& gang_;
  const std::vector<DeviceNode*>& nodes_;
  std::vector<Known> usable_;                   // [plan * nodes + node]
  std::vector<std::optional<OfPlan>> of_plan_;  // by plan
};

/// Whether a device plugin of the node offers the extended resource that the request is made for:
/// then it asks for no device there, but for an amount.
bool is_offered(const Request& request, const DeviceNode& node);
/// Returns the amount that a request of an extended resource asks for.
inline Amount amount_of(const Request& request) { return request.asks.front().facts->count; }

/// Returns the first pool with a slice for the node that is not complete; null if there is none.
const IndexedPool* incomplete_pool(ClusterDeviceIndex& devices, DeviceNode& node);

/// Whether the labels satisfy the nodeSelector and the required node affinity of the pod.
bool is_wanted(const PodDeviceFacts& pod, const DeviceNode& node);

}  // namespace fairlead::fitting
