// The figures of a hub as Prometheus text. Names follow Kubernetes components where the meaning
// matches; what only Fairlead has and could be mistaken for another's begins with fairlead_.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/runtime/hub_figures.h"
#include "schema/event.h"

namespace fairlead {

/// What a connection to one API server counted.
struct ConnectionFigures {
  SourceName source;
  std::map<int, std::uint64_t> requests_by_code;  ///< 0: no answer
  std::map<Kind, bool> synced;                    ///< kinds that are watched
  std::uint64_t relists = 0;
};

/// The whole page of /metrics.
std::string metrics_text(const HubFigures& hub, const std::vector<ConnectionFigures>& connections);

}  // namespace fairlead
