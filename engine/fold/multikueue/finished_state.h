// The part of State about finished Workloads: in which order they are forgotten.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "engine/fold/observed.h"

namespace fairlead {

/// The finished Workloads of one API server.
struct FinishedWorkloads {
  std::map<NamespacedName, LogTime> since;  ///< when each was observed finished
  std::set<std::pair<LogTime, NamespacedName>> in_order;

  friend bool operator==(const FinishedWorkloads&, const FinishedWorkloads&) = default;
};

}  // namespace fairlead
