// A dry run as a scenario shows it: one line a write, or a header and what it says below it,
// where the line would be longer than 100 columns. A JSON body becomes a line `/path: value` a
// field.
//
//   00:01:00 apply ClusterQueue q  on-demand: cpu 5, memory 10Gi; spot: cpu 3 (lend 2)
//   00:01:00 status ClusterResourceClaim c  FullyGranted=False/Reduced; q/on-demand cpu 5 of 8
//   FlavorCapacity
#pragma once

#include <set>
#include <string>

#include "replay/dry_run.h"

namespace fairlead {

/// `show` holds kinds, and the words `status`, `state` and `raw`; scenario_test.cpp
/// says what they choose.
std::string render(const DryRun& dry_run, const std::set<std::string>& show);

}  // namespace fairlead
