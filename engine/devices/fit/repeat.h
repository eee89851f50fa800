// Whether a solution that was found before can still be taken: no search, for each device is known.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/devices/fit/node_filter.h"
#include "engine/devices/fit/plan.h"
#include "engine/devices/fit/taken.h"

namespace fairlead::fitting {

class Repeat {
 public:
  Repeat(ClusterDeviceIndex& devices, const FitQuestion& question, const Resolver& resolver);

  /// Whether all of `pods` can be taken, one after the other. It does not matter that entries or
  /// devices of the solution have been left out since.
  bool acquire(const std::vector<FitPod>& pods);

 private:
  bool acquire(const FitPod& pod);
  bool acquire(const PodPlan& plan, const FitClaim& claim, const DeviceNode& node);
  bool acquire_of_plugin(const PodPlan& plan, std::uint32_t claim, Amount amount,
                         const DeviceNode& node);
  bool acquire(const PodPlan& plan, std::uint32_t claim, const FitDevice& device,
               const DeviceNode& node);

  ClusterDeviceIndex& devices_;
  GangPlan plans_;  // one of each pod set, as its pods are alone
  NodeFilter filter_;
  Taken taken_;
};

}  // namespace fairlead::fitting
