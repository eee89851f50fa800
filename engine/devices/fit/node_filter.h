// Which nodes a pod may be on, before a device is tried.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/devices/fit/plan.h"
#include "engine/devices/fit/taken.h"

namespace fairlead::fitting {

/// Remembers its answers for one search: plans and nodes by number.
class NodeFilter {
 public:
  NodeFilter(ClusterDeviceIndex& devices, const FitQuestion& question, const GangPlan& gang);

  /// Whether the node follows the rules of the pod and of the claims that it names: ready, not
  /// cordoned, taints tolerated, labels as wanted, where its allocated claims are.
  bool is_usable(std::uint32_t plan, const DeviceNode& node);
  /// Whether the devices that nobody used before the search may be enough for one pod. False only
  /// if the search would find none and meet no error on the way.
  bool may_fit(std::uint32_t plan, DeviceNode& node);

 private:
  enum class Known : std::uint8_t { unknown, yes, no };

  bool usable(const PodPlan& plan, const DeviceNode& node) const;
  bool taints_tolerated(const PodDeviceFacts& pod, const DeviceNode& node) const;
  bool is_where(const Pin& pin, const DeviceNode& node) const;
  bool enough(const PodPlan& plan, DeviceNode& node);
  Known& at(std::vector<Known>& known, std::uint32_t plan, const DeviceNode& node) const {
    return known[plan * nodes_ + node.number];
  }

  ClusterDeviceIndex& devices_;
  const FitQuestion& question_;
  const GangPlan& gang_;
  std::size_t nodes_;
  std::vector<Known> usable_;
  std::vector<Known> may_fit_;
};

/// Whether the labels satisfy the nodeSelector and the required node affinity of the pod.
bool is_wanted(const PodDeviceFacts& pod, const DeviceNode& node);

}  // namespace fairlead::fitting
