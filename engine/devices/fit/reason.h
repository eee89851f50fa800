// Why a gang does not fit: the first reason that applies, found with searches for parts of it.
#pragma once

#include <cstdint>

#include "engine/devices/fit/gang_search.h"
#include "engine/devices/fit/plan.h"

namespace fairlead::fitting {

/// Searches for the reason, with as many steps as the question allows for the gang itself.
class Reasons {
 public:
  Reasons(ClusterDeviceIndex& devices, const FitQuestion& question, const Resolver& resolver)
      : devices_(devices), question_(question), resolver_(resolver) {}

  /// Returns why the gang, for which `search` found nothing, does not fit.
  FitRefusal of(const GangPlan& gang, const GangSearch& search);

 private:
  FitRefusal of_pod(const GangPlan& alone, const Findings& findings);
  FitRefusal of_gang();
  GangOutcome search(const GangPlan& gang);

  ClusterDeviceIndex& devices_;
  const FitQuestion& question_;
  const Resolver& resolver_;
  std::int64_t steps_ = 0;
};

}  // namespace fairlead::fitting
